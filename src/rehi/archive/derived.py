"""The derived files: texts and annotations as records, which can be thrown away and made again."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any, BinaryIO

from rehi.archive.files import FileSeries
from rehi.archive.member import CHUNK, Member
from rehi.archive.record import (
    Record,
    block_fields,
    digest_of,
    field_lines,
    pack_record,
    read_chunks,
    record_id,
    warc_date,
)
from rehi.errors import RecordDamaged
from rehi.model.document import Annotations, Document, Mention, NameKind, Reading
from rehi.model.version import Digest, RecordRef
from rehi.ports import Shelf

_SERIES = "derived"


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
        self._files = FileSeries(
            shelf, name=_SERIES, worker=worker, dated=False, file_bytes=file_bytes, clock=clock,
            info={"software": software, **(settings or {})},
        )  # fmt: skip

    @property
    def worker(self) -> str:
        """The name of the worker, which is in the names of its files."""
        return self._files.worker

    def keep(
        self, *, url: str, digest: Digest, reading: Reading, body: RecordRef, at: datetime, recipe: str = ""
    ) -> RecordRef:
        """Append both records of a reading; return the one range that covers them.

        ``recipe`` says what made the reading, with its version.
        """
        return self.append(
            write_reading(reading, url=url, digest=digest, body=body, at=at, recipe=recipe, worker=self.worker)
        )

    def append(self, records: bytes) -> RecordRef:
        """Append records made by ``write_reading``, perhaps in another process; return their range."""
        return self._files.append([records])[0]

    def read(self, ref: RecordRef) -> Reading:
        """Return the reading at a range; RecordDamaged if it is not as it was written."""
        with self._shelf.open(ref) as stream:
            text, held = _read_block(stream, b"", "conversion", ref)
            facts, _ = _read_block(stream, held, "metadata", ref)
        return _reading(text, facts, ref)

    def sync(self) -> None:
        """Bring all that was kept to disk for good."""
        self._shelf.sync()

    def forget_tail(self, known_end: Callable[[str], int]) -> None:
        """Set aside what is in the files beyond their known ends: it is made again from the archive."""
        for file, size in self._shelf.files():
            if self._files.owns(file) and size > known_end(file):
                self._shelf.set_aside(file, known_end(file))
        self._files.look_again()


def write_reading(
    reading: Reading, *, url: str, digest: Digest, body: RecordRef, at: datetime, recipe: str, worker: str
) -> bytes:
    """Return both records of a reading, compressed."""
    date = warc_date(at)
    shared = field_lines(
        (
            ("WARC-Date", date),
            ("WARC-Target-URI", url),
            ("WARC-Refers-To-Target-URI", url),
            ("Rehi-Origin-Digest", digest),
            ("Rehi-Origin-Record", f"{body.file} {body.offset} {body.length}"),
            ("Rehi-Recipe", recipe),
        )
    )
    identity = (worker, date, recipe, digest, url)
    text = reading.document.text.encode("utf-8", "replace")
    return _record("conversion", identity, shared, text, "text/plain; charset=utf-8") + _record(
        "metadata", identity, shared, _facts(reading), "application/json"
    )


def _record(kind: str, identity: tuple[str, ...], shared: str, block: bytes, content_type: str) -> bytes:
    own = field_lines((("WARC-Type", kind), ("WARC-Record-ID", record_id(kind, *identity))))
    return pack_record(own + shared + field_lines(block_fields(block, content_type)), block)


def _read_block(stream: BinaryIO, held: bytes, kind: str, ref: RecordRef) -> tuple[bytes, bytes]:
    """Return the block of the next record, checked, and the bytes that were read beyond it."""
    member = Member(stream, held)
    try:
        record = Record(io.BufferedReader(member, CHUNK))
        block = b"".join(read_chunks(record.stream, record.length))
        record.end()
        if record.fields.kind != kind or record.fields.get("WARC-Block-Digest") != digest_of(block):
            raise RecordDamaged(f"it is not the {kind} record that was kept")
    except RecordDamaged as error:
        raise RecordDamaged(f"{ref.file}:{ref.offset}: {error}") from error
    return block, member.rest


def _facts(reading: Reading) -> bytes:
    import orjson

    document, annotations = reading.document, reading.annotations
    facts = {
        "media_type": document.media_type,
        "title": document.title,
        "charset": document.charset,
        "declared_language": document.language,
        "links": document.links,
        "metadata": document.metadata,
        "language": annotations.language,
        "mentions": annotations.mentions,
        "seconds": reading.seconds,
    }
    try:
        return orjson.dumps(facts)
    except TypeError:  # half of a surrogate pair somewhere, which can't be encoded
        return orjson.dumps(_encodable(facts))


def _encodable(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, Mention):
        return _encodable(asdict(value))
    if isinstance(value, dict):
        return {key: _encodable(item) for key, item in value.items()}
    return [_encodable(item) for item in value] if isinstance(value, tuple) else value


def _reading(text: bytes, block: bytes, ref: RecordRef) -> Reading:
    import orjson

    try:
        facts = orjson.loads(block)
        document = Document(
            media_type=facts["media_type"],
            text=text.decode("utf-8"),
            title=facts["title"],
            charset=facts["charset"],
            language=facts["declared_language"],
            links=tuple(facts["links"]),
            metadata=tuple((name, value) for name, value in facts["metadata"]),
        )
        mentions = tuple(_mention(mention) for mention in facts["mentions"])
        seconds = tuple((name, value) for name, value in facts["seconds"])
    except (ValueError, KeyError, TypeError) as error:
        raise RecordDamaged(f"{ref.file}:{ref.offset}: the annotations can't be read: {error!r}") from error
    annotations = Annotations(language=facts["language"], mentions=mentions)
    return Reading(document=document, annotations=annotations, seconds=seconds)


def _mention(facts: dict[str, Any]) -> Mention:
    return Mention(**{**facts, "kind": NameKind(facts["kind"]), "lemmas": tuple(facts["lemmas"])})
