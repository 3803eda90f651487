"""The derived files keep readings, and forget what the catalogue never heard of."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from rehi.archive import DerivedFiles
from rehi.archive.derived import _facts, _record, write_reading
from rehi.archive.record import field_lines
from rehi.builtin import load_all
from rehi.engines.folder import FolderShelf
from rehi.errors import RecordDamaged
from rehi.languages.kinds import NameKind
from rehi.model.codec import to_json
from rehi.model.document import Document, Mention, Part, Reading, TableDialect, TableShape
from rehi.model.version import Digest, RecordRef

NOON = datetime(2024, 3, 9, 12, tzinfo=UTC)
DIGEST = Digest("sha256:" + "ab" * 32)
BODY = RecordRef("rehi-20240309120000-w1-00001.warc.gz", 512, 1_024)
READING = Reading(
    document=Document(
        media_type="text/html",
        text="Katrin Paiole meeldib Võru. 🌾\n" * 3,
        title="Tere",
        charset="utf-8",
        language="et",
        links=("http://a.test/1", "http://a.test/2"),
        base="/sub/",
        metadata=(("author", "K. Paio"), ("author", "J. Tamm")),
        parts=(Part(kind="page", title="1", end=20), Part(kind="sheet", media_type="text/csv", start=20, end=30)),
        tables=(TableShape(part=1, header=("a", "õ"), columns=2, rows=5, first_row=1, dialect=TableDialect(), end=9),),
    ),
    facets={
        "language": "et",
        "names": (
            Mention(
                kind=NameKind.PERSON,
                start=0,
                end=13,
                surface="Katrin Paiole",
                name="Katrin Paio",
                lemmas=("Katrin Paiol",),
                given="Katrin",
                family="Paio",
            ),
            Mention(kind=NameKind.PLACE, start=22, end=26, surface="Võru", name="Võru"),
        ),
    },
    recipe="html 1, et 1",
    seconds=(("extract", 0.004), ("enrich", 0.02)),
)
EMPTY = Reading(document=Document(media_type="text/plain", text=""), facets={"language": "und"}, recipe="html 1, et 1")


@pytest.fixture
def open_derived(folder: Path) -> Iterator[Callable[..., DerivedFiles]]:
    shelves: list[FolderShelf] = []

    def open_derived(**changes: Any) -> DerivedFiles:
        shelves.append(FolderShelf(folder))
        return DerivedFiles(shelves[-1], worker="w1", clock=lambda: NOON, **changes)

    yield open_derived
    for shelf in shelves:
        shelf.close()


def _encode(reading: Reading) -> dict[str, bytes]:
    """Return a reading's facets as they are understood."""
    facets = load_all("facet")
    return {
        name: to_json({"version": facets[name].version, "value": facets[name].encode(value)})
        for name, value in reading.facets.items()
    }


def keep(derived: DerivedFiles, reading: Reading, url: str = "http://a.test/") -> RecordRef:
    encoded = _encode(reading)
    records = write_reading(reading, url=url, digest=DIGEST, body=BODY, at=NOON, worker="w1", encoded=encoded)
    ref = derived.files.append([records])
    derived.sync()
    return ref


def test_a_reading_comes_back_as_it_was(open_derived: Callable[..., DerivedFiles]) -> None:
    derived = open_derived()
    refs = [keep(derived, reading) for reading in (READING, EMPTY, READING)]
    derived.sync()
    assert [open_derived().read(ref) for ref in refs] == [READING, EMPTY, READING]


def test_others_can_read_the_text_and_the_facets(
    open_derived: Callable[..., DerivedFiles], read_files: Callable[[], list[Any]], folder: Path
) -> None:
    derived = open_derived()
    ref = keep(derived, READING)
    derived.sync()
    _, text, facts = read_files()
    assert (text.rec_type, text.content.decode()) == ("conversion", READING.document.text)
    assert facts.rec_type == "metadata"
    assert b'"surface":"Katrin Paiole"' in facts.content
    for record in (text, facts):
        assert record.rec_headers.get_header("WARC-Refers-To-Target-URI") == "http://a.test/"
        assert record.rec_headers.get_header("Rehi-Origin-Digest") == DIGEST
        assert record.rec_headers.get_header("Rehi-Origin-Record") == f"{BODY.file} 512 1024"
        assert record.rec_headers.get_header("Rehi-Recipe") == "html 1, et 1"
    assert ref.file == "derived-w1-00001.warc.gz"
    assert ref.end == (folder / ref.file).stat().st_size


def _rewrite(derived: DerivedFiles, change: Callable[[dict[str, Any]], object]) -> RecordRef:
    """Keep a reading whose facts were written by another version of rehi."""
    import orjson

    facts = orjson.loads(_facts(READING, _encode(READING)))
    change(facts)
    shared = field_lines((("WARC-Date", "2024-03-09T12:00:00Z"),))
    text = READING.document.text.encode()
    records = _record("conversion", ("1",), shared, text, "text/plain") + _record(
        "metadata", ("2",), shared, orjson.dumps(facts), "application/json"
    )
    ref = derived.files.append([records])
    derived.sync()
    return ref


def _be_older(facts: dict[str, Any]) -> None:
    """As it was before there were facets, parts and tables."""
    facts["language"] = facts["facets"]["language"]["value"]
    facts["mentions"] = facts["facets"]["names"]["value"]
    for name in ("facets", "parts", "tables", "failures", "base", "recipe"):
        del facts[name]


def _be_newer(facts: dict[str, Any]) -> None:
    """As it may be one day, with more keys everywhere."""
    facts["weather"] = {"sky": "clear"}
    facts["facets"]["weather"] = {"version": 7, "value": {"sky": "clear"}}
    facts["facets"]["names"]["written_by"] = "somebody"
    for rows in (facts["parts"], facts["tables"], facts["facets"]["names"]["value"]):
        for row in rows:
            row["added later"] = 1
    facts["tables"][0]["dialect"]["escape_char"] = "!"


def test_what_an_older_version_wrote_can_be_read(open_derived: Callable[..., DerivedFiles]) -> None:
    derived = open_derived()
    read = derived.read(_rewrite(derived, _be_older))
    assert read.facets == READING.facets
    assert read.document == replace(READING.document, parts=(), tables=(), base="")


def test_what_a_newer_version_wrote_can_be_read(open_derived: Callable[..., DerivedFiles]) -> None:
    derived = open_derived()
    assert derived.read(_rewrite(derived, _be_newer)) == READING


def test_a_facet_that_cant_read_its_record_costs_only_itself(open_derived: Callable[..., DerivedFiles]) -> None:
    derived = open_derived()
    read = derived.read(_rewrite(derived, lambda facts: facts["facets"]["names"].update(value=[{"odd": 1}])))
    assert (read.document, read.facets) == (READING.document, {"language": "et"})


def test_half_a_surrogate_pair_stops_nobody(open_derived: Callable[..., DerivedFiles]) -> None:
    mention = Mention(kind=NameKind.PLACE, start=0, end=2, surface="\ud83cx", name="x")
    odd = Reading(
        document=Document(media_type="text/plain", text="\ud83cx", title="\udf3e", metadata=(("a", "\ud800"),)),
        facets={"language": "und", "names": (mention,)},
    )
    derived = open_derived()
    read = derived.read(keep(derived, odd))
    assert (read.document.text, read.document.title, read.document.metadata) == ("?x", "?", (("a", "?"),))
    assert (read.mentions[0].surface, read.mentions[0].kind) == ("?x", NameKind.PLACE)


def test_what_the_catalogue_does_not_know_is_forgotten_and_made_again(
    open_derived: Callable[..., DerivedFiles], read_files: Callable[[], list[Any]], folder: Path
) -> None:
    derived = open_derived()
    known = keep(derived, READING)
    keep(derived, READING)
    derived.sync()
    with (folder / known.file).open("ab") as file:
        file.write(b"torn")
    again = open_derived()
    again.forget_tail(lambda _: known.end)
    assert keep(again, EMPTY).offset == known.end
    again.sync()
    assert len(read_files()) == 5
    new = open_derived()
    new.forget_tail(lambda _: 0)
    first = keep(new, EMPTY)
    new.sync()
    assert first.file == known.file
    assert [record.rec_type for record in read_files()] == ["warcinfo", "conversion", "metadata"]


def test_files_are_rolled_and_gone_on_with(open_derived: Callable[..., DerivedFiles]) -> None:
    refs = [keep(open_derived(file_bytes=3_000), READING, f"http://a.test/{n}") for n in range(8)]
    assert [open_derived().read(ref) for ref in refs] == [READING] * 8
    assert len({ref.file for ref in refs}) > 1


def test_damage_is_found(open_derived: Callable[..., DerivedFiles], folder: Path) -> None:
    derived = open_derived()
    refs = [keep(derived, READING) for _ in range(3)]
    content = bytearray((folder / refs[0].file).read_bytes())
    content[refs[1].offset + 300] ^= 1
    (folder / refs[0].file).write_bytes(content)
    with pytest.raises(RecordDamaged, match=refs[0].file):
        derived.read(refs[1])
    with pytest.raises(RecordDamaged):
        derived.read(RecordRef(refs[2].file, refs[2].offset + 1, refs[2].length - 1))
    assert [derived.read(ref) for ref in (refs[0], refs[2])] == [READING, READING]


@pytest.mark.parametrize(
    "wrong",
    [{"media_type": 1.5}, {"title": None}, {"links": [1]}, {"base": {}}, {"metadata": [["a", 2]]}, {"recipe": False},
     {"seconds": [["extract", "soon"]]}, {"failures": 7}],
    ids=lambda wrong: next(iter(wrong)),
)  # fmt: skip
def test_facts_of_another_type_are_damage(open_derived: Callable[..., DerivedFiles], wrong: dict[str, Any]) -> None:
    derived = open_derived()
    ref = _rewrite(derived, lambda facts: facts.update(wrong))
    with pytest.raises(RecordDamaged, match="the facts can't be read"):
        derived.read(ref)
