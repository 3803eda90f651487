"""Recognition: all kinds are asked what something is, and the surest one has it. A web archive is told by its first bytes."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from rehi.errors import SourceError
from rehi.model.media_type import ARC_MAGIC, WARC_MAGIC, ZSTD_DICTIONARY_MAGIC
from rehi.sources.kind import NOT_AT_ALL, Recognition, SourceKind, SourceSample
from rehi.sources.lines import BOM, Lines, is_blank, open_file, open_lines
from rehi.sources.unpacked import UnpackedBytes

_LOOKED_AT = 262_144  # bytes, packed and unpacked
_LINES = 100  # lines, besides blank ones
_SEARCHED = 1 << 24  # bytes, packed and unpacked, in which those lines are looked for
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\r\f\x1b")) + b"\x7f"
_WARC = re.compile(rb"[\r\n]*" + WARC_MAGIC + rb"\d")
_ARC_FILE = re.compile(rb"[\r\n]*" + ARC_MAGIC + rb"\S* \S+ \d{12,14} \S+ \d+\r?\n\d+ \d+ [^\r\n]*\r?\n")
_ARC_RECORD = re.compile(rb"[\r\n]*(?:" + ARC_MAGIC + rb"|\S+ \S+ \d{14} \S+ \d+\r?\n)")
_NAMED = re.compile(r".+\.w?arc(?:\.gz|\.zst)?", re.IGNORECASE)
_log = logging.getLogger(__name__)
PAGE = "page"  # what lies on this machine is never one


def recognise(sample: SourceSample, kinds: Mapping[str, SourceKind]) -> tuple[str, Recognition] | None:
    """Return the name of the kind that is surest, with what it says; None if none is sure at all."""
    asked = [(name, _ask(name, kind, sample)) for name, kind in kinds.items()]
    name, surest = max(asked, key=lambda one: one[1].certainty)
    return (name, surest) if surest.certainty > 0 else None


def _ask(name: str, kind: SourceKind, sample: SourceSample) -> Recognition:
    """Return what a kind says; one that fails has not recognised anything."""
    try:
        recognition = kind.recognise(sample)
        return Recognition(float(recognition.certainty), str(recognition.what))
    except Exception as error:  # of an outsider's kind: the others are asked nevertheless
        why = f"{type(error).__name__}: {error}"
        _log.warning("the kind of source %s can't tell what %s is, and is left out: %s", name, sample.name, why)
        return NOT_AT_ALL


def recognise_file(path: Path, kinds: Mapping[str, SourceKind]) -> str:
    """Return the name of the kind of a file; SourceError says in one sentence what it is instead, and what can be done."""
    sample = sample_file(path, name=path.name)
    recognised = recognise(sample, kinds)
    if recognised is None:
        raise _refusal(path, sample)
    name, surest = recognised
    if name == PAGE:
        raise SourceError(
            f"{path} is {surest.what}, not a crawl log or a list of URLs: "
            "add the address where it lies, or write the URLs that you want into a list, one on each line"
        )
    return name


def sample_file(path: Path, *, name: str, media_type: str = "", is_local: bool = True) -> SourceSample:
    """Return the beginning of a file; SourceError if it can't be opened."""
    with open_file(path) as file:
        first = file.read(_LOOKED_AT)
        file.seek(0)
        start = b""
        with suppress(SourceError):  # what is damaged is said by those who read it
            for chunk in UnpackedBytes(file, path, most=_SEARCHED):
                start += chunk
                if len(start) >= _LOOKED_AT:
                    break
        file.seek(0)
        lines = () if _is_binary(start) else _first_lines(Lines(UnpackedBytes(file, path, most=_SEARCHED)))
    return SourceSample(
        name=name,
        first=first,
        start=start[:_LOOKED_AT],
        lines=lines,
        media_type=media_type,
        is_local=is_local,
    )


def recognise_archive(sample: SourceSample) -> Recognition:
    """Return how sure it is that this is a web archive.

    An ARC file says its version below its first line. A crawl log may begin with that first line, too, and has none.
    """
    if sample.first.startswith(ZSTD_DICTIONARY_MAGIC) or _WARC.match(sample.start):
        return Recognition(0.99, "a web archive (WARC)")
    if _ARC_FILE.match(sample.start):
        return Recognition(0.95, "a web archive (ARC)")
    if _ARC_RECORD.match(sample.start):
        return Recognition(0.4, "a web archive (ARC)")
    if _NAMED.fullmatch(sample.name) and sample.first:  # its beginning is damaged, and perhaps not all of it
        return Recognition(0.15, "a damaged web archive")
    return NOT_AT_ALL


def recognise_nothing(sample: SourceSample) -> Recognition:
    """Return that nothing is recognised, for a kind that is used only when asked for by its name."""
    return NOT_AT_ALL


def find_crawls(folder: Path) -> list[Path]:
    """Return the web archives in a folder and the folders in it, in the order of their names."""
    return sorted(path for path in folder.rglob("*") if path.is_file() and _is_crawl(path))


def _is_crawl(path: Path) -> bool:
    try:
        return recognise_archive(sample_file(path, name=path.name)).certainty > 0
    except SourceError:  # it can't be opened: said better by those who read it
        return False


def _refusal(path: Path, sample: SourceSample) -> SourceError:
    """Return why a file is of no kind."""
    if not sample.first:
        return SourceError(f"{path} is empty")
    if sample.start.startswith(_UTF16):
        return SourceError(f"{path} is written in UTF-16; save it as UTF-8 and add it again")
    with open_lines(path) as lines:
        for _ in zip(lines, range(_LINES), strict=False):
            pass  # a damaged file says so here
    if _is_binary(sample.start):
        return SourceError(f"{path} is a binary file, not a crawl log or a list of URLs")
    if not sample.lines:
        return SourceError(f"{path} has nothing in it but blank lines and comments")
    return SourceError(
        f"{path} is not a crawl log or a list: of its first {len(sample.lines)} lines none is a crawl-log line, "
        "and few or none are URLs"
    )


def _is_binary(start: bytes) -> bool:
    head = start.removeprefix(BOM)[:4096]
    controls = len(head) - len(head.translate(None, _CONTROLS))
    return b"\0" in head or controls > len(head) // 10


def _first_lines(lines: Iterable[bytes]) -> tuple[bytes, ...]:
    """Return the first lines that say something, as far as they can be had; a long preamble may stand before them."""
    telling: list[bytes] = []
    passed = 0
    with suppress(SourceError):
        for line in lines:
            passed += len(line) + 1
            if not is_blank(line):
                telling.append(line)
            if len(telling) == _LINES or passed > _SEARCHED:
                break
    return tuple(telling)
