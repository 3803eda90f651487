"""The derived files: texts and facets as records, which can be thrown away and made again."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any

from rehi.archive.files import FileSeries
from rehi.archive.record import (
    block_fields,
    digest_of,
    field_lines,
    pack_record,
    record_id,
    unpack_record,
    warc_date,
)
from rehi.builtin import load_all
from rehi.errors import RecordDamaged
from rehi.model.codec import to_json, to_part, to_table
from rehi.model.document import Document, Reading
from rehi.model.version import Digest, RecordRef
from rehi.ports import Shelf

_SERIES = "derived"
_log = logging.getLogger(__name__)


def is_derived(file: str) -> bool:
    """Whether a file is a derived one, by its name."""
    return file.startswith(f"{_SERIES}-")


class DerivedFiles:
    """Keeps readings, each as a ``conversion`` record with the text and a ``metadata`` record with all else."""

    def __init__(
        self,
        shelf: Shelf,
        *,
        worker: str,
        clock: Callable[[], datetime],
        file_bytes: int = 1_000_000_000,
        software: str = "rehi",
        settings: Mapping[str, str] | None = None,
    ) -> None:
        self._shelf = shelf
        self.sync = shelf.sync  # brings all that was kept to disk for good
        self._sealed_at = 0  # how often a file had been begun when all before it were sealed
        self.files = FileSeries(  # takes what ``write_reading`` makes, perhaps in another process
            shelf, name=_SERIES, worker=worker, dated=False, file_bytes=file_bytes, clock=clock,
            info={"software": software, **(settings or {})},
        )  # fmt: skip

    def read(self, ref: RecordRef) -> Reading:
        """Return the reading at a range; RecordDamaged if it is not as it was written."""
        with self._shelf.open(ref) as stream:
            text, rest = _read_block(stream.read(ref.length), "conversion", ref)
        facts, _ = _read_block(rest, "metadata", ref)
        return _reading(text, facts, ref)

    def sizes(self) -> dict[str, int]:
        """Return the files' sizes by their names."""
        return dict(self._shelf.files())

    @property
    def shared(self) -> bool:
        """Whether other workers see what is sealed."""
        return self._shelf.shared

    def seal(self, *, began_before: datetime | None = None) -> None:
        """Let others see what was kept: the open file is closed, if it is that old, and all closed ones are brought away."""
        self.files.close(began_before=began_before)
        rolled = self.files.rolled
        if rolled != self._sealed_at:
            self._shelf.sync()
            for file, _ in self.files.finished():
                if not self._shelf.is_sealed(file):
                    self._shelf.seal(file)
            self._sealed_at = rolled  # only now: a place that can't be listed is asked again

    def forget_tail(self, known_end: Callable[[str], int]) -> None:
        """Set aside what is in the files beyond their known ends: it is made again from the archive."""
        for file, size in self._shelf.files():
            if self.files.owns(file) and size > known_end(file):
                self._shelf.set_aside(file, known_end(file))
            elif self.files.owns(file) and size < known_end(file):
                self.files.abandon(file)  # the places of what is lost must not hold something else
        self.files.look_again()


def write_reading(
    reading: Reading,
    *,
    url: str,
    digest: Digest,
    body: RecordRef,
    at: datetime,
    worker: str,
    encoded: Mapping[str, bytes],
) -> bytes:
    """Return both records of a reading, compressed; ``encoded`` are its facets as JSON, each with its version."""
    date = warc_date(at)
    shared = field_lines(
        (
            ("WARC-Date", date),
            ("WARC-Target-URI", url),
            ("WARC-Refers-To-Target-URI", url),
            ("Rehi-Origin-Digest", digest),
            ("Rehi-Origin-Record", f"{body.file} {body.offset} {body.length}"),
            ("Rehi-Recipe", reading.recipe),
        )
    )
    identity = (worker, date, reading.recipe, digest, url)
    text = reading.document.text.encode("utf-8", "replace")
    return _record("conversion", identity, shared, text, "text/plain; charset=utf-8") + _record(
        "metadata", identity, shared, _facts(reading, encoded), "application/json"
    )


def _record(kind: str, identity: tuple[str, ...], shared: str, block: bytes, content_type: str) -> bytes:
    own = field_lines((("WARC-Type", kind), ("WARC-Record-ID", record_id(kind, *identity))))
    return pack_record(own + shared + field_lines(block_fields(block, content_type)), block)


def _read_block(packed: bytes, kind: str, ref: RecordRef) -> tuple[bytes, bytes]:
    """Return the block of the record with which these bytes begin, checked, and the bytes after it."""
    try:
        fields, block, rest = unpack_record(packed)
        if fields.kind != kind or fields.get("WARC-Block-Digest") != digest_of(block):
            raise RecordDamaged(f"it is not the {kind} record that was kept")
    except RecordDamaged as error:
        raise RecordDamaged(f"{ref.file}:{ref.offset}: {error}") from error
    return block, rest


def _facts(reading: Reading, encoded: Mapping[str, bytes]) -> bytes:
    import orjson

    document = reading.document
    return to_json(
        {
            "media_type": document.media_type,
            "title": document.title,
            "charset": document.charset,
            "declared_language": document.language,
            "links": document.links,
            "base": document.base,
            "metadata": document.metadata,
            "parts": [asdict(part) for part in document.parts],
            "tables": [asdict(table) for table in document.tables],
            "facets": {name: orjson.Fragment(item) for name, item in encoded.items()},
            "failures": dict(reading.failures),
            "recipe": reading.recipe,
            "seconds": reading.seconds,
        }
    )


def _reading(text: bytes, block: bytes, ref: RecordRef) -> Reading:
    """Return the reading that was written; fields that a later version has added are passed over."""
    import orjson

    try:
        facts = orjson.loads(block)
        document = Document(
            media_type=_text(facts["media_type"]),
            text=text.decode("utf-8"),
            title=_text(facts.get("title", "")),
            charset=_text(facts.get("charset", "")),
            language=_text(facts.get("declared_language", "")),
            links=tuple(map(_text, facts.get("links", ()))),
            base=_text(facts.get("base", "")),
            metadata=tuple((_text(name), _text(value)) for name, value in facts.get("metadata", ())),
            parts=tuple(map(to_part, facts.get("parts", ()))),
            tables=tuple(map(to_table, facts.get("tables", ()))),
        )
        return Reading(
            document=document,
            facets=_read_facets(facts),
            failures=dict(facts.get("failures", {})),
            recipe=_text(facts.get("recipe", "")),
            seconds=tuple((_text(name), float(value)) for name, value in facts.get("seconds", ())),
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise RecordDamaged(f"{ref.file}:{ref.offset}: the facts can't be read: {error!r}") from error


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{str(value)[:50]} stands where a text should")
    return value


def _read_facets(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of facets by name.

    One that is not installed any more, or can't read what another version of it has written, is left out: what it wrote
    stays in its record, and all else can be read.
    """
    written: Mapping[str, Any] | None = facts.get("facets")
    if written is None:  # before facets had versions there were two
        old = {"language": facts.get("language"), "names": facts.get("mentions")}
        written = {name: {"version": 1, "value": value} for name, value in old.items() if value is not None}
    installed, facets = load_all("facet"), dict[str, Any]()
    for name, item in written.items():
        if name not in installed:
            continue
        try:
            facets[name] = installed[name].decode(item["value"], item["version"])
        except Exception:  # an outsider's codec may raise whatever it likes
            _log.warning(
                "what the facet %s has written can't be read by the one that is installed", name, exc_info=True
            )
    return facets
