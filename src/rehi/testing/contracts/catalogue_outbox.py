"""What the catalogue promises of the outbox: what is read, and what the graph is told."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rehi.errors import Disposition, NotFound, NotText, ReaderCrashed, Unreadable
from rehi.model.document import NameKind
from rehi.model.entity import EntityKey
from rehi.model.listing import Page
from rehi.model.problem import Stage
from rehi.model.version import RecordRef
from rehi.ports import Catalogue
from rehi.testing.contracts.catalogue_samples import (
    PAIO,
    add,
    at,
    bring,
    came,
    claim,
    digest_of,
    drain,
    misread,
    place,
    says,
    understood,
)

A, B = "http://a.ee/", "http://b.ee/"


class OutboxContract:
    """The port Outbox."""

    def test_a_new_version_waits_to_be_read(self, catalogue: Catalogue) -> None:
        source = add(catalogue, A)
        catalogue.record([came(A, "one", 1)], [], worker="one", now=at(1))
        (task,) = claim(catalogue, 1)
        assert (task.url, task.source_id, task.digest, task.size) == (A, source.id, digest_of("one"), 3)
        assert (task.body, task.media_type, task.attempts) == (RecordRef("a.warc.gz", 1000, 100), "text/html", 0)
        assert task.version_id == catalogue.versions(A)[0].id

    def test_a_claimed_task_is_nobody_elses_until_the_claim_ends(self, catalogue: Catalogue) -> None:
        catalogue.record([came(A, "one", 1), came(B, "two", 1)], [], worker="", now=at(1))
        assert [task.url for task in claim(catalogue, 1, limit=1)] == [A]
        assert [task.url for task in claim(catalogue, 1, worker="two")] == [B]
        assert claim(catalogue, 60, worker="three") == []
        assert [task.url for task in claim(catalogue, 61, worker="three")] == [A, B]

    def test_a_worker_that_starts_again_forgets_its_claims(self, catalogue: Catalogue) -> None:
        catalogue.record([came(A, "one", 1)], [], worker="", now=at(1))
        claim(catalogue, 1, worker="w")
        catalogue.forget_leases(worker="other", rest=0.0, now=at(1))
        assert claim(catalogue, 1) == []
        catalogue.forget_leases(worker="w", rest=0.0, now=at(1))
        assert len(claim(catalogue, 1)) == 1

    def test_a_worker_reads_what_lies_in_its_own_folder(self, catalogue: Catalogue) -> None:
        here, there = RecordRef("one.warc.gz", 0, 9), RecordRef("two.warc.gz", 0, 9)
        catalogue.record([came(A, "one", 1, ref=here)], [], worker="one", now=at(1))
        catalogue.record([came(B, "two", 1, ref=there)], [], worker="two", now=at(1))
        duplicate = replace(came("http://c.ee/", "one", 2, ref=RecordRef("two.warc.gz", 9, 9)), body=here)
        catalogue.record([duplicate], [], worker="two", now=at(2))
        assert [task.url for task in claim(catalogue, 2, worker="two")] == [B]
        assert [task.url for task in claim(catalogue, 2, worker="three")] == []
        assert [task.url for task in claim(catalogue, 2, worker="one")] == [A, "http://c.ee/"]

    def test_a_reading_is_on_record_once(self, catalogue: Catalogue) -> None:
        source = add(catalogue, A)
        catalogue.record([came(A, "one", 1)], [], worker="one", now=at(1))
        (task,) = claim(catalogue, 1)
        for _ in range(3):
            catalogue.record_reads([understood(task, says("Katrin Paio", count=3))] * 2, now=at(2))
        counts = catalogue.source(source.id).counts
        assert (counts["documents"], counts["names"], counts["seconds:extract"]) == (1, 3, 0.25)
        assert catalogue.entity(PAIO).documents == 1
        assert claim(catalogue, 99) == []
        assert catalogue.derived_of(task.resource_id) == RecordRef("derived.warc.gz", task.id * 10, 10)
        assert catalogue.known_end("derived.warc.gz") == task.id * 10 + 10

    def test_a_new_version_replaces_what_the_old_one_said(self, catalogue: Catalogue) -> None:
        source = add(catalogue, A)
        bring(catalogue, A, "one", says("Katrin Paio", count=2), place("Tartu"), when=1)
        drain(catalogue)
        row = bring(catalogue, A, "two", place("Tartu", 5), place("Narva"), when=2)
        assert [(name.name, name.count) for name in catalogue.names_on(row)] == [("Tartu", 5), ("Narva", 1)]
        with pytest.raises(NotFound):
            catalogue.entity(PAIO)
        work = catalogue.graph_work(limit=99)
        assert [entity.name for entity in work.entities] == ["Narva"]
        assert work.vanished == (PAIO,)
        assert [str(key) for key in work.resources[0].mentions] == ["place/narva", "place/tartu"]
        counts = catalogue.source(source.id).counts
        assert (counts["documents"], counts["names"]) == (1, 6)

    def test_an_older_version_read_late_changes_nothing(self, catalogue: Catalogue) -> None:
        catalogue.record([came(A, "one", 1), came(A, "two", 2)], [], worker="one", now=at(2))
        old, new = claim(catalogue, 2)
        catalogue.record_reads([understood(new, place("Narva"))], now=at(3))
        catalogue.record_reads([understood(old, place("Tartu"))], now=at(4))
        assert [name.name for name in catalogue.names_on(new.resource_id)] == ["Narva"]
        assert claim(catalogue, 999) == []

    def test_two_versions_in_one_batch_leave_the_newer(self, catalogue: Catalogue) -> None:
        catalogue.record([came(A, "one", 1), came(A, "two", 2)], [], worker="one", now=at(2))
        old, new = claim(catalogue, 2)
        catalogue.record_reads([understood(new, place("Narva")), understood(old, place("Tartu"))], now=at(3))
        assert [name.name for name in catalogue.names_on(new.resource_id)] == ["Narva"]
        assert catalogue.totals(now=at(3)).entities[NameKind.PLACE] == 1

    def test_what_is_to_be_tried_again_is_counted_until_it_is_set_aside(self, catalogue: Catalogue) -> None:
        catalogue.record([came(A, "one", 1)], [], worker="one", now=at(1))
        for attempt, next_step in enumerate((Disposition.RETRY, Disposition.RETRY, Disposition.QUARANTINE)):
            (task,) = claim(catalogue, 1)
            assert task.attempts == attempt
            assert catalogue.problems(stage=Stage.EXTRACT, page=Page())[1] == 0
            catalogue.record_reads([misread(task, ReaderCrashed("it died"), next_step)], now=at(2))
        assert claim(catalogue, 1) == []
        (problem,), _ = catalogue.problems(stage=Stage.EXTRACT, page=Page())
        assert (problem.code, problem.subject, problem.next_step) == ("reader-crashed", A, "quarantine")

    def test_a_version_that_cant_be_read_takes_the_document_away(self, catalogue: Catalogue) -> None:
        row = bring(catalogue, A, "one", place("Tartu"), when=1, title="Tartu")
        drain(catalogue)
        catalogue.record([came(A, "two", 2)], [], worker="one", now=at(2))
        (task,) = claim(catalogue, 2)
        catalogue.record_reads([misread(task, Unreadable("not a PDF"))], now=at(3))
        assert (catalogue.document(row).title, catalogue.derived_of(row), catalogue.names_on(row)) == ("", None, [])
        work = catalogue.graph_work(limit=99)
        (described,) = work.resources
        assert (len(described.versions), described.document, described.mentions) == (2, None, ())
        assert work.vanished == (EntityKey(NameKind.PLACE, "tartu"),)
        assert catalogue.problems(stage=Stage.EXTRACT, page=Page())[1] == 1
        bring(catalogue, A, "three", when=4)
        assert catalogue.problems(stage=Stage.EXTRACT, page=Page())[1] == 0

    def test_after_a_newer_version_failed_an_older_one_is_not_put_back(self, catalogue: Catalogue) -> None:
        catalogue.record([came(A, "one", 1), came(A, "two", 2)], [], worker="one", now=at(2))
        old, new = claim(catalogue, 2)
        catalogue.record_reads([misread(new, Unreadable("no"))], now=at(3))
        catalogue.record_reads([understood(old, place("Tartu"))], now=at(4))
        assert catalogue.names_on(new.resource_id) == []
        assert catalogue.totals(now=at(4)).documents == 0

    def test_what_holds_no_text_is_no_problem(self, catalogue: Catalogue) -> None:
        source = add(catalogue, A)
        catalogue.record([came(A, "one", 1)], [], worker="one", now=at(1))
        catalogue.record_reads([misread(claim(catalogue, 1)[0], NotText("an image"))], now=at(2))
        assert catalogue.problems(stage=None, page=Page()) == ([], 0)
        assert catalogue.source(source.id).counts["not-text"] == 1

    def test_the_graph_is_told_of_a_resource_and_its_entities(self, catalogue: Catalogue) -> None:
        row = bring(catalogue, A, "one", says("Katrin Paio", given="Katrin", family="Paio"), when=1, title="Home")
        work = catalogue.graph_work(limit=99)
        (described,), (entity,) = work.resources, work.entities
        assert (described.resource_id, described.url, described.mentions) == (row, A, (PAIO,))
        assert described.document is not None
        assert (described.document.title, described.document.language) == ("Home", "et")
        assert described.versions == tuple(catalogue.versions(A))
        assert entity == catalogue.entity(PAIO)
        assert (entity.given, entity.family, entity.lemmas) == ("Katrin", "Paio", ("Katrin Paio", "katrin paio"))

    def test_one_telling_finishes_all_rows_of_a_subject(self, catalogue: Catalogue) -> None:
        for when in range(5):
            catalogue.record([came(A, f"body {when}", when)], [], worker="one", now=at(when))
        work = catalogue.graph_work(limit=1)
        assert (len(work.ids), len(work.resources), len(work.resources[0].versions)) == (5, 1, 5)
        catalogue.graph_done(work, statements={})
        assert not catalogue.graph_work(limit=9)

    def test_what_changes_while_the_graph_is_written_is_told_again(self, catalogue: Catalogue) -> None:
        catalogue.record([came(A, "one", 1)], [], worker="one", now=at(1))
        work = catalogue.graph_work(limit=9)
        catalogue.record([came(A, "two", 2)], [], worker="one", now=at(2))
        catalogue.graph_done(work, statements={})
        assert len(catalogue.graph_work(limit=9).resources[0].versions) == 2

    def test_an_entity_that_only_more_documents_mention_is_not_told_again(self, catalogue: Catalogue) -> None:
        bring(catalogue, A, "one", place("Tartu"), when=1)
        drain(catalogue)
        bring(catalogue, B, "two", place("Tartu", 7), when=2)
        work = catalogue.graph_work(limit=9)
        assert ([described.url for described in work.resources], work.entities) == ([B], ())

    def test_statements_count_what_the_graph_holds_now(self, catalogue: Catalogue) -> None:
        source = add(catalogue, A, B)
        rows = [bring(catalogue, url, url, when=1) for url in (A, B)]
        catalogue.graph_done(catalogue.graph_work(limit=9), statements={rows[0]: 10, rows[1]: 4}, seconds=0.5)
        bring(catalogue, A, "new", when=2)
        catalogue.graph_done(catalogue.graph_work(limit=9), statements={rows[0]: 7}, seconds=0.25)
        counts = catalogue.source(source.id).counts
        assert (counts["statements"], counts["seconds:graph"]) == (11, 0.75)

    def test_everything_can_be_put_on_the_graphs_list_again(self, catalogue: Catalogue) -> None:
        add(catalogue, "http://never-visited.ee/")
        bring(catalogue, A, "one", place("Tartu"), place("Narva"), when=1)
        drain(catalogue)
        assert catalogue.describe_all() == 3
        work = catalogue.graph_work(limit=99)
        assert (len(work.resources), len(work.entities)) == (1, 2)

    def test_an_entitys_name_does_not_depend_on_who_came_first(self, catalogue: Catalogue) -> None:
        forms = [says("KATRIN PAIO"), says("katrin paio"), says("Katrin Paio", given="Katrin", family="Paio")]
        for turn, order in enumerate((forms, forms[::-1])):
            for page, identity in enumerate(order):
                bring(catalogue, f"{A}{page}", f"turn {turn}", identity, when=10 * turn + page)
            found = catalogue.entity(PAIO)
            assert (found.name, found.given, found.family, found.documents) == ("Katrin Paio", "Katrin", "Paio", 3)
            assert found.lemmas == ("KATRIN PAIO", "Katrin Paio", "katrin paio")
