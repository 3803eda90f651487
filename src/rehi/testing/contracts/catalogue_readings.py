"""What the catalogue promises of readings: parts, tables and terms, old versions, and what is out of date."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rehi.errors import FacetFailed, NotFound
from rehi.model.document import Part, TableDialect, TableShape, Term
from rehi.model.entity import EntityKey
from rehi.model.listing import DocumentFilter, Outline, Page
from rehi.model.problem import Problem, Stage
from rehi.model.work import Claim, NewReading, ReadTask
from rehi.ports import Catalogue
from rehi.testing.contracts.catalogue_samples import (
    at,
    bring,
    claim,
    claim_descriptions,
    drain,
    entity_of,
    fetched,
    place,
    record,
    record_reads,
    understood,
)

A, B = "http://a.ee/", "http://b.ee/"


def _reading(task: ReadTask, *, recipe: str = "recipe-1") -> NewReading:
    """Return a sample reading of a task's bytes by a recipe."""
    new = understood(task, place("Valga")).reading
    assert isinstance(new, NewReading)
    return replace(new, key=replace(new.key, recipe=recipe))


class ReadingsContract:
    """What the port Knowledge promises of readings."""

    def test_documents_match_all_terms_that_are_given(self, catalogue: Catalogue) -> None:
        record(catalogue, [fetched(A, "one", 1), fetched(B, "two", 1)], [], worker="one", now=at(1))
        first, second = claim(catalogue, 1)
        sun, rain = Term(field="sky", value="Sun"), Term(field="sky", value="Rain: heavy")
        record_reads(catalogue, understood(first, terms=(sun, rain)), understood(second, terms=(sun,)), when=2)
        rows, total = catalogue.documents(DocumentFilter(terms=(sun, rain)), Page())
        assert ([row.url for row in rows], total) == ([A], 1)
        assert catalogue.documents(DocumentFilter(terms=(sun,)), Page(limit=1))[1] == 2
        other = Term(field="other", value="Sun")
        assert catalogue.documents(DocumentFilter(terms=(other,)), Page()) == ([], 0)

    def test_parts_and_tables_are_those_of_the_reading_that_is_shown(self, catalogue: Catalogue) -> None:
        record(catalogue, [fetched(A, "one", 1)], [], worker="one", now=at(1))
        (task,) = claim(catalogue, 1)
        parts = (Part(kind="sheet", title="Leht \0 1", media_type="text/csv", start=0, end=40), Part(kind="sheet"))
        dialect = TableDialect(delimiter=";", quote_char="")
        tables = (
            TableShape(part=0, title="A", header=("õ", "b"), columns=2, rows=3, first_row=1, dialect=dialect, end=40),
            TableShape(columns=1, rows=9, complete=False),
        )
        new = replace(_reading(task), parts=parts, tables=tables)
        record_reads(catalogue, replace(understood(task), reading=new), when=2)
        kept = catalogue.outline(task.resource_id)
        assert (kept.parts[0].kind, kept.parts[0].end, kept.parts[1]) == ("sheet", 40, parts[1])
        assert kept.tables == tables
        bring(catalogue, A, "two", when=3)
        nothing = Outline(names=(), parts=(), tables=())
        assert [catalogue.outline(row) for row in (task.resource_id, task.resource_id + 99)] == [nothing, nothing]

    def test_a_reading_of_an_old_version_is_kept_without_being_shown(self, catalogue: Catalogue) -> None:
        row = bring(catalogue, A, "one", place("Tartu"), when=1)
        bring(catalogue, A, "two", place("Narva"), when=2)
        drain(catalogue)
        (task,) = catalogue.read_tasks([Claim("read", catalogue.versions(A)[0].id, ())])
        new = _reading(task, recipe="recipe-2")
        again = replace(new, facts=replace(new.facts, title="Old"))
        reading_id = catalogue.enter_reading(again, worker="one", now=at(3))
        assert catalogue.enter_reading(again, worker="one", now=at(4)) == reading_id
        assert catalogue.find_readings([again.key]) == {again.key: reading_id}
        (kept,) = catalogue.readings(ids=[reading_id, reading_id + 99])
        assert (kept.id, kept.title, kept.derived) == (reading_id, "Old", new.facts.derived)
        assert [name.name for name in catalogue.outline(row).names] == ["Narva"]
        assert not claim_descriptions(catalogue, 5).claims
        assert (catalogue.totals(now=at(5)).documents, catalogue.totals(now=at(5)).recipes) == (1, {"recipe-1": 1})
        with pytest.raises(NotFound):
            entity_of(catalogue, EntityKey("place", "valga"))

    def test_documents_are_counted_by_what_has_read_them(self, catalogue: Catalogue) -> None:
        bring(catalogue, A, "one", when=1)
        record(catalogue, [fetched(B, "two", 2)], [], worker="one", now=at(2))
        (task,) = claim(catalogue, 2)
        record_reads(catalogue, replace(understood(task), reading=_reading(task, recipe="recipe-2")), when=2)
        assert catalogue.totals(now=at(3)).recipes == {"recipe-1": 1, "recipe-2": 1}
        catalogue.put("read", [catalogue.versions(A)[0].id])
        (task,) = claim(catalogue, 3)
        record_reads(catalogue, replace(understood(task), reading=_reading(task, recipe="recipe-2")), when=3)
        assert catalogue.totals(now=at(4)).recipes == {"recipe-2": 2}

    def test_what_is_to_be_read_again_goes_to_who_has_the_bytes(self, catalogue: Catalogue) -> None:
        bring(catalogue, A, "one", when=1)
        catalogue.put("read", [catalogue.versions(A)[0].id])
        assert claim(catalogue, 2, worker="two") == []
        assert [task.url for task in claim(catalogue, 2, worker="one")] == [A]

    def test_a_facet_that_failed_is_a_problem_until_it_works(self, catalogue: Catalogue) -> None:
        record(catalogue, [fetched(A, "one", 1)], [], worker="one", now=at(1))
        (task,) = claim(catalogue, 1)
        problem = Problem.of(FacetFailed("names: no"), stage=Stage.ENRICH, subject=A, at=at(2))
        record_reads(catalogue, replace(understood(task, place("Tartu")), problem=problem), when=2)
        assert [name.name for name in catalogue.outline(task.resource_id).names] == ["Tartu"]
        (noted,), _ = catalogue.problems(stage=Stage.ENRICH, page=Page())
        assert (noted.code, noted.next_step) == ("facet-failed", "quarantine")
        bring(catalogue, A, "two", when=3)
        assert catalogue.problems(stage=None, page=Page()) == ([], [])

    def test_readings_whose_records_are_lost_are_made_again(self, catalogue: Catalogue) -> None:
        for url, body in ((A, "one"), (B, "two")):
            bring(catalogue, url, body, when=1)
        first, second = catalogue.readings()
        assert first.id < second.id
        assert {row.id for row in catalogue.readings(sample=9)} <= {first.id, second.id}
        assert catalogue.lose_readings([first.id, first.id]) == 1
        assert list(catalogue.readings()) == [second]
        assert list(catalogue.readings(ids=[second.id, first.id])) == [second]
        assert [task.url for task in claim(catalogue, 2)] == [A]
