"""The files of the EstNLTK package: its analyser and its model, used without importing the package itself.

``import estnltk`` costs 2 s of CPU and 185 MB in every worker process, for layers and converters that tagging does
not need. The analyser (``estnltk.vabamorf``) imports in 10 ms when it is loaded by its path, under a name of our own.
"""

from __future__ import annotations

import sys
from functools import cache
from importlib import import_module
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from rehi.errors import EngineError

_PRIVATE = "_rehi_vabamorf"


@cache
def package_folder() -> Path:
    """Return the folder in which EstNLTK is installed, without importing it; EngineError if it is not."""
    spec = find_spec("estnltk")
    if spec is None or spec.origin is None:
        raise EngineError("Estonian names need the package estnltk: install it with `pip install estnltk`")
    return Path(spec.origin).parent


def model_file() -> Path:
    """Return the path of EstNLTK's model of names."""
    return _existing(package_folder() / "taggers" / "standard" / "ner" / "models" / "py3_default" / "model.bin")


def gazetteer_file() -> Path:
    """Return the path of the list of names that the model was trained with."""
    return _existing(package_folder() / "taggers" / "standard" / "ner" / "gazetteer" / "gazetteer.txt")


def lexicons() -> tuple[Path, Path]:
    """Return the paths of the analyser's and the disambiguator's newest lexicons."""
    folders = sorted(path for path in (package_folder() / "vabamorf" / "dct").glob("*") if path.is_dir())
    if not folders:
        raise EngineError(f"estnltk in {package_folder()} lacks its lexicons: install it again")
    return _existing(folders[-1] / "et.dct"), _existing(folders[-1] / "et3.dct")


@cache
def vabamorf_module() -> ModuleType:
    """Return the analyser's own module (a SWIG wrapper), loaded once per process."""
    folder = package_folder() / "vabamorf"
    spec = spec_from_file_location(
        _PRIVATE, _existing(folder / "__init__.py"), submodule_search_locations=[str(folder)]
    )
    if spec is None or spec.loader is None:
        raise EngineError(f"the analyser in {folder} can't be loaded: install estnltk again")
    module = module_from_spec(spec)
    sys.modules[_PRIVATE] = module
    try:
        spec.loader.exec_module(module)
        return import_module(_PRIVATE + ".vabamorf")
    except ImportError as error:
        sys.modules.pop(_PRIVATE, None)
        raise EngineError(f"the analyser in {folder} does not work on this machine: {error}") from error


def _existing(path: Path) -> Path:
    if not path.is_file():
        raise EngineError(f"estnltk lacks its file {path}: install it again")
    return path
