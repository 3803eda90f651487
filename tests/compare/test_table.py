"""Tables: keys are guessed and checked, and rows, cells and columns are told apart."""

from __future__ import annotations

import random
import time
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rehi.compare import Beginning, Table, TableDiff, TableTooLarge, both_headers, compare_tables, read_rows, to_table
from rehi.compare import trace_rows as blame
from rehi.compare.table import MOST_COLUMNS, has_header
from rehi.errors import ComparisonError


def table(text: str, delimiter: str = ",") -> Table:
    rows = read_rows(text, delimiter)
    return to_table(rows, header=has_header(rows))


def applied(old: Table, diff: TableDiff) -> Counter[tuple[str, ...]]:
    """The rows of the new table, in the columns that both have, made from the old ones."""
    shared = [name for name in diff.columns if name in old.columns]
    places = [old.columns.index(name) for name in shared]
    gone = {row.number for row in diff.removed}
    changes = {row.old_number: {cell.column: cell.new for cell in row.cells} for row in diff.changed}
    rows = []
    for number, row in enumerate(old.rows, start=1):
        if number not in gone:
            cells = changes.get(number, {})
            rows.append(tuple(cells.get(name, row[at]) for name, at in zip(shared, places, strict=True)))
    new_places = [diff.columns.index(name) for name in shared]
    rows += [tuple(row.cells[at] for at in new_places) for row in diff.added]
    return Counter(rows)


cell = st.sampled_from(["", "a", "b", "7", "Võru"])
plain_rows = st.lists(st.tuples(cell, cell, cell), max_size=12)
keyed_rows = st.dictionaries(st.integers(0, 20).map(str), st.tuples(cell, cell), max_size=12).map(
    lambda rows: [(key, *cells) for key, cells in rows.items()]
)


@given(keyed_rows, keyed_rows)
@settings(max_examples=100, deadline=None)
def test_a_keyed_difference_applied_to_the_old_table_gives_the_new_one(
    old_rows: list[tuple[str, ...]], new_rows: list[tuple[str, ...]]
) -> None:
    old, new = (Table(columns=("id", "a", "b"), rows=rows) for rows in (old_rows, new_rows))
    diff, back = compare_tables(old, new, key=["id"]), compare_tables(new, old, key=["id"])
    assert applied(old, diff) == Counter(new.rows)
    assert applied(new, back) == Counter(old.rows)
    assert [row.cells for row in back.added] == [row.cells for row in diff.removed]
    assert (back.same, len(back.changed)) == (diff.same, len(diff.changed))
    swapped = {(row.label, cell.column, cell.new, cell.old) for row in back.changed for cell in row.cells}
    assert swapped == {(row.label, cell.column, cell.old, cell.new) for row in diff.changed for cell in row.cells}


@given(plain_rows, plain_rows)
@settings(max_examples=150, deadline=None)
def test_a_difference_without_a_given_key_applied_to_the_old_table_gives_the_new_one(
    old_rows: list[tuple[str, ...]], new_rows: list[tuple[str, ...]]
) -> None:
    old, new = (Table(columns=("x", "y", "z"), rows=rows) for rows in (old_rows, new_rows))
    diff = compare_tables(old, new)
    assert applied(old, diff) == Counter(new.rows)
    assert diff.same + len(diff.changed) + len(diff.added) == len(new.rows)


@given(plain_rows, st.randoms(use_true_random=False))
@settings(max_examples=50, deadline=None)
def test_the_order_of_rows_makes_no_difference(rows: list[tuple[str, ...]], chance: random.Random) -> None:
    shuffled = list(rows)
    chance.shuffle(shuffled)
    diff = compare_tables(Table(columns=("x", "y", "z"), rows=rows), Table(columns=("x", "y", "z"), rows=shuffled))
    assert (diff.added, diff.removed) == ((), ())
    assert diff.same == len(rows)


def test_the_key_is_guessed_and_cells_are_shown_before_and_after() -> None:
    old = table("Nimi,kood,elanikke\nVõru,VR,12\nValga,VL,11\nPõlva,PV,5\n")
    new = table("Nimi,kood,elanikke\nPõlva,PV,5\nVõru linn,VR,13\nTartu,TR,90\n")
    diff = compare_tables(old, new)
    assert diff.key.columns == ("kood",)
    assert "guessed" in diff.key.why
    (changed,) = diff.changed
    assert changed.label == ("VR",)
    assert [(cell.column, cell.old, cell.new) for cell in changed.cells] == [
        ("Nimi", "Võru", "Võru linn"),
        ("elanikke", "12", "13"),
    ]
    assert [row.cells[0] for row in diff.added] == ["Tartu"]
    assert [row.cells[0] for row in diff.removed] == ["Valga"]
    assert (diff.same, diff.moved) == (1, 1)


def test_two_columns_are_a_key_where_one_is_not() -> None:
    rows = [f"{country},{year},{n}.5" for n, (country, year) in enumerate((c, y) for c in "ABC" for y in (1, 2, 3))]
    text = "country,year,value\n" + "\n".join(rows)
    diff = compare_tables(table(text), table(text.replace("4.5", "99.5").replace("7.5", "4.5")))
    assert diff.key.columns == ("country", "year")
    assert len(diff.changed) == 2


def test_a_measurement_is_no_key_even_if_it_is_different_in_every_row() -> None:
    old = table("hind,aeg\n" + "".join(f"{n}.25,2026-01-{n:02}\n" for n in range(1, 20)))
    new = table("hind,aeg\n" + "".join(f"{n}.75,2026-01-{n:02}\n" for n in range(1, 20)))
    assert compare_tables(old, new).key.columns == ("aeg",)


def test_a_few_rows_with_the_same_key_are_matched_in_their_order() -> None:
    lines = [f"{n},v{n % 3}" for n in range(500)]
    old, new = table("id,v\n" + "\n".join([*lines, "7,x"])), table("id,v\n" + "\n".join([*lines, "7,y"]))
    diff = compare_tables(old, new)
    assert diff.key.columns == ("id",)
    assert "but 2" in diff.key.why
    assert [(row.label, row.old_number) for row in diff.changed] == [(("7",), 501)]


def test_columns_come_go_and_are_renamed() -> None:
    old = table("id,nimi,vana,kaob\n" + "".join(f"{n},n{n},w{n * 7},k\n" for n in range(20)))
    new = table("id,uus,Nimi,juures\n" + "".join(f"{n},w{n * 7},n{n},j\n" for n in range(20)))
    diff = compare_tables(old, new)
    assert diff.schema.renamed == (("nimi", "Nimi"), ("vana", "uus"))
    assert (diff.schema.added, diff.schema.removed) == (("juures",), ("kaob",))
    assert diff.schema.reordered
    assert (diff.same, diff.changed) == (20, ())


def test_a_given_key_is_found_in_any_case() -> None:
    diff = compare_tables(table("Kood,v\na,1\nb,2\n"), table("Kood,v\nb,3\na,1\n"), key=["kood"])
    assert diff.key.columns == ("Kood",)
    assert diff.key.why == "given"


@pytest.mark.parametrize(
    ("key", "says"),
    [
        (["puudub"], "there is no column 'puudub'; the columns are id, v, uus"),
        (["v"], "v is no key: in the older version more than one row has '1'"),
        (["id", "ID"], "names a column twice"),
        (["uus"], "in the newer version only"),
        (["x" * 5_000], "there is no column"),
    ],
    ids=["missing", "not unique", "twice", "new", "long"],
)
def test_a_key_that_is_none_is_explained(key: list[str], says: str) -> None:
    old, new = table("id,v\na,1\nb,1\n"), table("id,v,uus\na,1,5\nb,2,6\n")
    with pytest.raises(ComparisonError) as caught:
        compare_tables(old, new, key=key)
    assert says in str(caught.value)
    assert len(str(caught.value)) < 1_100


@pytest.mark.parametrize(
    ("text", "header"),
    [
        ("nimi,vanus\nMari,7\nJuri,8\n", True),
        ("Mari,7\nJuri,8\n", False),
        ("maakond,2019,2020\nVõru,10,11\n", True),
        ("1987-05-20,18.63\n1987-05-21,18.45\n", False),
        ("a,b\n", True),
        ("a,a\nb,c\n", False),
        ("nimi;kool\nMari;Tartu\n".replace(";", ","), True),
    ],
    ids=["numbers below", "numbers above", "years", "dates", "one row", "repeated", "words"],
)
def test_a_header_is_known_when_it_is_one(text: str, header: bool) -> None:
    assert has_header(read_rows(text, ",")) is header


def test_first_rows_that_are_alike_are_judged_alike() -> None:
    old, new = read_rows("kood,nimi\n1,a\n", ","), read_rows("kood,nimi\nkood,b\nnimi,c\n", ",")
    assert both_headers(old, new) == (True, True)


def test_ragged_rows_quotes_and_line_ends() -> None:
    read = table('a,b,c\r\n1,"x\ny"\r\n2,"say ""hi""",3,4\r\n\r\n')
    assert read.columns == ("a", "b", "c", "column 4")
    assert read.rows == [("1", "x\ny", "", ""), ("2", 'say "hi"', "3", "4")]


def test_a_quote_that_is_never_closed_does_not_swallow_the_file() -> None:
    read = table('a,b\n1,"open\n' + "".join(f"{n},x\n" for n in range(2, 200)))
    assert len(read.rows) == 199


def test_tables_beyond_reason_are_refused() -> None:
    with pytest.raises(TableTooLarge):
        read_rows("x," * MOST_COLUMNS, ",")
    rows = [("x",) * 1_000, *[("y",)] * 9_000]
    with pytest.raises(TableTooLarge):
        to_table(rows, header=False)


def test_nothing_in_common_is_all_removed_and_all_added() -> None:
    diff = compare_tables(table("a,b\n1,2\n"), table("c,d\n3,4\n5,6\n"))
    assert (len(diff.removed), len(diff.added), diff.same) == (1, 2, 0)


def test_many_rows_are_compared_within_seconds() -> None:
    old = [(str(n), str(n % 7), f"x{n * 31 % 1000}") for n in range(60_000)]
    new = [(a, "uus", c) if n % 1_000 == 0 else (a, b, c) for n, (a, b, c) in enumerate(old)][3:]
    began = time.process_time()
    diff = compare_tables(Table(columns=("id", "a", "b"), rows=old), Table(columns=("id", "a", "b"), rows=new))
    assert (len(diff.changed), len(diff.removed)) == (59, 3)
    assert time.process_time() - began < 3


def test_each_row_is_known_to_be_as_it_is_since_a_version() -> None:
    history = [
        table("id,v\na,1\nb,1\nd,9\n"),
        table("id,v\na,1\nb,2\nc,1\nd,8\n"),
        table("id,v\na,1\nb,2\nc,1\nd,9\n"),
    ]
    origins = blame(history[-1], ["id"], history[-2::-1])
    assert [(origin.steps, origin.beginning) for origin in origins] == [
        (2, Beginning.FIRST),
        (1, Beginning.CHANGED),
        (1, Beginning.APPEARED),
        (0, Beginning.CHANGED),
    ]


def test_blame_without_a_key_goes_by_whole_rows_and_a_missing_column_is_empty() -> None:
    origins = blame(table("x,y,z\na,b,\nc,d,e\n"), [], [table("x,y\na,b\nc,d\n")])
    assert [origin.beginning for origin in origins] == [Beginning.FIRST, Beginning.APPEARED]


def test_blame_reads_no_further_than_it_must() -> None:
    read: list[int] = []

    def past() -> object:
        for n in range(10):
            read.append(n)
            yield table("id,v\nz,0\ny,0\n")

    blame(table("id,v\na,1\nb,1\n"), ["id"], past())  # type: ignore[arg-type]
    assert read == [0]
