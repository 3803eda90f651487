"""Differences, worked out in this process: what a worker process does, called as it calls it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from rehi.app import House
from rehi.compare import Beginning, table
from rehi.errors import BodyPruned, ComparisonError
from rehi.model.version import Digest, RecordRef, Version
from rehi.operations.diff import blame, body, methods, names
from rehi.operations.diff.body import DiffKind, ParsedBody
from rehi.operations.diff.request import DiffRequest, _opener, compare_version_names, compare_versions
from rehi.operations.diff.result import DiffCounts, Differences, VersionDiff
from rehi.operations.versions import history
from tests.compare.history import BINARY, BROKEN, FEED, JSON, MARKUP, PAGE, PLAIN, TABLE, TURNED, past_in

NEVER = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with House(past_in(tmp_path_factory.mktemp("past") / "data")) as opened:
        yield opened


def request(house: House, url: str, **more: object) -> DiffRequest:
    """The two newest versions of a URL."""
    old, new = history(house, url)[-2:]
    asked = DiffRequest(open_archive=_opener(house), url=url, old=old, new=new, max_text=100_000)
    return replace(asked, **more)  # type: ignore[arg-type]


def compare(house: House, url: str, **more: object) -> VersionDiff:
    return compare_versions(request(house, url, **more))


def parsed(raw: bytes, media_type: str, *, size: int = 0, max_text: int = 100_000) -> ParsedBody:
    """A body that no archive has."""
    version = Version(
        id=1, resource_id=1, status=200, number=1, taken_at=NEVER, digest=Digest("sha256:0"), size=size or len(raw), media_type=media_type,
        body=RecordRef("a.warc.gz", 0, 1), record=RecordRef("a.warc.gz", 0, 1),
    )  # fmt: skip
    return ParsedBody(raw, url="http://a.test/", version=version, max_text=max_text)


def both(old: bytes, new: bytes, media_type: str, **more: int) -> Differences:
    first, second = parsed(old, media_type, **more), parsed(new, media_type, **more)
    return methods.compare_bodies(first, second, key=(), tables_only=False, most=100)


@pytest.mark.parametrize(
    ("url", "kind", "counts"),
    [
        (PAGE, DiffKind.TEXT, ("lines", 1, 0, 0)),
        (TABLE, DiffKind.TABLE, ("rows", 1, 1, 1)),
        (JSON, DiffKind.JSON, ("values", 1, 1, 1)),
        (FEED, DiffKind.XML, ("values", 1, 1, 1)),
        (PLAIN, DiffKind.TEXT, ("lines", 1, 0, 1)),
        (TURNED, DiffKind.TEXT, None),
        (BROKEN, DiffKind.TEXT, ("lines", 0, 0, 1)),
    ],
)
def test_each_kind_is_compared_in_its_way(
    house: House, url: str, kind: DiffKind, counts: tuple[str, int, int, int] | None
) -> None:
    diff = compare(house, url)
    assert diff.kind is kind
    assert not diff.identical
    assert diff.tally is not None
    if counts is not None:
        tally = diff.tally
        assert (tally.unit, tally.added, tally.removed, tally.changed) == counts


def test_what_has_no_text_is_told_apart_by_its_digest(house: House) -> None:
    diff = compare(house, BINARY)
    assert (diff.kind, diff.tally, diff.notes) == (DiffKind.BYTES, None, ())
    assert diff.old.digest != diff.new.digest


def test_other_markup_around_the_same_text_is_said_to_be_that(house: House) -> None:
    (note,) = compare(house, MARKUP).notes
    assert "all lines are the same" in note


def test_names_and_blame_come_along_when_they_are_asked_for(house: House) -> None:
    old = history(house, PAGE)[0]
    diff = compare(house, PAGE, old=old, names=True)
    assert diff.names is not None
    assert "Katrin Paio" in [one.name for one in diff.names.vanished]
    appeared, notes = compare_version_names(request(house, PAGE, old=old))
    assert appeared == diff.names
    assert notes == []
    versions = history(house, TABLE)
    blamed = compare(house, TABLE, earlier=tuple(reversed(versions[:-1]))).blame
    assert blamed is not None
    assert {row.cells[0]: row.version for row in blamed} == {"103": 3, "101": 3, "104": 3}


def test_no_more_is_shown_than_fits(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not compare(house, PLAIN, most=1).complete
    monkeypatch.setattr(methods, "_MOST_CHARACTERS", 2)
    assert not compare(house, PLAIN).complete
    assert methods.cut("x" * (methods.LONGEST_CELL + 1)).endswith("x…")


def test_a_key_is_for_tables_only(house: House) -> None:
    with pytest.raises(ComparisonError, match="compared as text"):
        compare(house, PLAIN, key=("a",))
    table = parsed(b"a;b\n1;2\n", "text/csv", size=body.LARGEST_TABLE + 1)
    with pytest.raises(ComparisonError, match="too large to be compared piece by piece"):
        methods.compare_bodies(table, table, key=("a",), tables_only=False, most=10)


def test_what_is_too_large_for_its_kind_is_compared_by_lines() -> None:
    for media_type, old, new, size in (
        ("text/csv", b"a;b\n1;2\n", b"a;b\n1;3\n", body.LARGEST_TABLE + 1),
        ("application/json", b'{"a": 1}', b'{"a": 2}', body.LARGEST_TREE + 1),
    ):
        differences = both(old, new, media_type, size=size)
        assert differences.kind is DiffKind.TEXT
        assert "too large to be compared piece by piece" in differences.notes[-1]
        assert methods.has_difference(differences)


def test_what_is_nested_too_deeply_is_compared_by_lines() -> None:
    deep = [json.dumps(value)[1:-1].join(["[" * 5_000, "]" * 5_000]).encode() for value in ([1], [2])]
    differences = both(deep[0], deep[1], "application/json")
    assert differences.kind is DiffKind.TEXT
    assert "nested too deeply" in differences.notes[-1]


def test_a_table_of_too_many_cells_is_compared_by_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "MOST_CELLS", 8)
    rows = b"a;b\n1;2\n3;4\n5;6\n7;8\n"
    differences = both(rows, rows + b"9;9\n", "text/csv")
    assert differences.kind is DiffKind.TEXT
    assert "too large to be compared cell by cell" in differences.notes[-1]


def test_bodies_beyond_every_limit_are_bytes() -> None:
    differences = both(b"a", b"b", "text/plain", size=body.LARGEST + 1)
    assert differences.kind is DiffKind.BYTES
    assert "told apart by size and digest only" in differences.notes[0]
    assert methods.has_difference(differences)


def test_a_document_that_can_not_be_read_is_bytes() -> None:
    differences = both(b"%PDF-1.4 torn", b"%PDF-1.4 torn apart", "application/pdf")
    assert differences.kind is DiffKind.BYTES
    assert "The text can't be read" in differences.notes[0]
    nobody, notes = names.compare_named_entities(*(parsed(b"%PDF-1.4 torn", "application/pdf") for _ in range(2)))
    assert nobody is None
    assert "No names were looked for" in notes[0]


def test_a_text_that_was_cut_is_said_to_be() -> None:
    page = b"<!doctype html><title>a</title><p>" + b"Sna ja veel sna. " * 200
    differences = both(page, page + b"<p>more", "text/html", max_text=500)
    assert "Only the first 500 characters" in differences.notes[-1]


def test_in_long_texts_names_are_looked_for_where_they_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(names, "LOOKED_AT", 200)
    rest = "<p>Kõik istungid on avalikud ja nende protokollid avaldatakse.</p>" * 10
    page = "<!doctype html><html lang=et><title>Juhtkond</title><p>Vallavanem on {}, kes elab Tartus.</p>" + rest
    old, new = (parsed(page.format(name).encode(), "text/html") for name in ("Katrin Paio", "Tõnu Õunapuu"))
    diff, notes = names.compare_named_entities(old, new)
    assert diff is not None
    assert [one.name for one in diff.appeared] == ["Tõnu Õunapuu"]
    assert [one.name for one in diff.vanished] == ["Katrin Paio"]
    assert "only where they changed" in notes[0]


def test_rows_and_columns_in_another_order_are_a_difference() -> None:
    same = Differences(DiffKind.TABLE)
    same.tally = DiffCounts(unit="rows", added=0, removed=0, changed=0, same=2)
    assert not methods.has_difference(same)
    moved = both(b"a;b\n1;2\n3;4\n", b"b;a\n2;1\n4;3\n", "text/csv")
    assert moved.table is not None
    assert moved.table.schema.reordered
    assert methods.has_difference(moved)
    counted = both(b"1;2\n3;4\n", b"1;2\n3;5\n", "text/csv")
    assert "There is no header, so the columns are counted." in counted.notes


def test_blame_passes_over_what_is_no_table_and_may_break_off(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    tables, page = history(house, TABLE), history(house, PAGE)
    archive = house.archive
    content = body.read_body(archive, tables[-1], url=TABLE, max_text=1_000)
    rows, notes = blame.blame_rows(archive, content, ("kood",), [page[0], replace(tables[0], dropped=True), tables[1]])
    assert {row.cells[0]: row.version for row in rows} == {"103": 3, "101": 3, "104": 3}
    assert notes == ["For blame, 2 earlier versions were passed over: they are no tables or can't be read."]
    rows, notes = blame.blame_rows(archive, content, ("kood",), [tables[-1], tables[1]])
    assert {row.beginning for row in rows} <= set(Beginning)
    monkeypatch.setattr(blame, "VERSIONS", 1)
    middle = body.read_body(archive, tables[1], url=TABLE, max_text=1_000)
    _, notes = blame.blame_rows(archive, middle, ("kood",), [tables[0], tables[0]])
    assert notes == ["Blame went back 1 of 2 versions; older rows may be older still."]


def test_only_the_beginning_is_read_of_what_is_too_large(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    version = history(house, TABLE)[0]
    monkeypatch.setattr(body, "LARGEST", version.size - 1)
    content = body.read_body(house.archive, version, url=TABLE, max_text=1_000)
    assert content.kind is DiffKind.BYTES
    with pytest.raises(BodyPruned, match="were dropped by a rule"):
        body.read_body(house.archive, replace(version, dropped=True), url=TABLE, max_text=1_000)
