"""A lost catalogue: what a data folder still holds when its catalogue is gone or empty, and by which that is seen.

An empty catalogue is begun in an empty folder only. Whoever fills one from the archive, or from a backup, says so
(``House.begin_catalogue``); for all others it is lost, and nothing goes on before it was brought back.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from rehi.app.embedded import embedded_catalogue
from rehi.builtin import load
from rehi.engine_address import kind_of
from rehi.errors import CatalogueLost, RehiError
from rehi.settings import Settings

if TYPE_CHECKING:
    from rehi.ports import Catalogue

ARCHIVE, SOURCES, GRAPH = "files of the archive", "uploaded sources", "a graph"


def open_catalogue(settings: Settings, *, anew: bool = False) -> Catalogue:
    """Open the catalogue that the settings name; CatalogueLost if it is gone or knows nothing beside remains, unless it is begun ``anew``."""
    remains = [] if anew else find_remains(settings.data)
    file = embedded_catalogue(settings)
    if file is not None and remains and (why := file.why_gone()):  # to open it would begin an empty one
        raise CatalogueLost(describe_loss(f"the catalogue {file.path} is lost: {why}", remains))
    uri = settings.catalogue_uri
    catalogue: Catalogue = load("catalogue", kind_of(uri))(uri)
    try:
        if ARCHIVE in remains and knows_nothing(catalogue):  # what else remains may lie there before it is known
            raise CatalogueLost(describe_loss("the catalogue is lost: it knows nothing", remains))
    except RehiError:
        catalogue.close()
        raise
    return catalogue


def find_remains(data: Path) -> list[str]:
    """Return in words what is in a data folder and should be known to a catalogue. A bucket is not looked at."""
    remains = [ARCHIVE] if _holds(data / "archive", (".warc.gz", ".warc")) else []
    remains += [SOURCES] if _holds(data / "sources", ("",)) else []
    return remains + ([GRAPH] if (data / "graph" / "store" / "CURRENT").exists() else [])


def _holds(folder: Path, endings: tuple[str, ...]) -> bool:
    """Whether a folder holds a file with one of these endings; a hidden one is not finished yet."""
    with suppress(FileNotFoundError, NotADirectoryError), os.scandir(folder) as entries:
        return any(entry.name.endswith(endings) and not entry.name.startswith(".") for entry in entries)
    return False


def knows_nothing(catalogue: Catalogue) -> bool:
    """Whether a catalogue is as one that was just begun: no graph was written from it, and it has neither sources nor files."""
    return catalogue.graph_record().mark is None and not catalogue.sources() and not catalogue.known_files()


def describe_loss(what: str, remains: Sequence[str]) -> str:
    """Return a sentence on a lost catalogue, and the cure."""
    return (
        f"{what}, though the data folder holds {' and '.join(remains)}; bring the file back from a copy, or run "
        "`rehi doctor --mend`, which makes it again from the archive"
    )
