"""What the catalogue promises of the outbox and of knowledge: what is read, and what the graph is descriptions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

import pytest

from rehi.errors import NotFound, NotText, ReaderCrashed, Unreadable
from rehi.frontier import HouseLeaseRules
from rehi.model.document import Term
from rehi.model.entity import EntityKey, LinkedIdentity
from rehi.model.listing import DocumentFilter, Page
from rehi.model.problem import Stage
from rehi.model.source import SourceChange
from rehi.model.version import RecordRef
from rehi.model.work import FacetBrief, NewReading, ReadResult, ReadVersion
from rehi.ports import Catalogue
from rehi.testing.contracts.catalogue_samples import (
    PAIO,
    SampleReadRules,
    add,
    at,
    bring,
    claim,
    claim_descriptions,
    count_listed,
    digest_of,
    drain,
    entity_of,
    fetched,
    known_end,
    misread,
    place,
    record,
    record_reads,
    says,
    understood,
)

A, B = "http://a.ee/", "http://b.ee/"


def _derived(catalogue: Catalogue, resource_id: int) -> RecordRef | None:
    try:
        return catalogue.shown_reading(resource_id).facts.derived
    except NotFound:
        return None


class OutboxContract:
    """What the ports Outbox and Knowledge promise."""

    def test_a_new_version_waits_to_be_read(self, catalogue: Catalogue) -> None:
        source = add(catalogue, A)
        record(catalogue, [fetched(A, "one", 1)], [], worker="one", now=at(1))
        (task,) = claim(catalogue, 1)
        assert (task.url, task.source_id, task.digest, task.size) == (A, source.id, digest_of("one"), 3)
        assert (task.body, task.media_type, task.claim.attempts) == (RecordRef("a.warc.gz", 1000, 100), "text/html", 0)
        assert task.version_id == catalogue.versions(A)[0].id

    def test_a_claimed_task_is_nobody_elses_until_the_claim_ends(self, catalogue: Catalogue) -> None:
        record(catalogue, [fetched(A, "one", 1), fetched(B, "two", 1)], [], worker="", now=at(1))
        assert [task.url for task in claim(catalogue, 1, limit=1)] == [A]
        assert [task.url for task in claim(catalogue, 1, worker="two")] == [B]
        assert claim(catalogue, 60, worker="three") == []
        assert [task.url for task in claim(catalogue, 61, worker="three")] == [A, B]

    def test_a_worker_that_starts_again_forgets_its_claims(self, catalogue: Catalogue) -> None:
        record(catalogue, [fetched(A, "one", 1)], [], worker="", now=at(1))
        claim(catalogue, 1, worker="w")
        catalogue.forget_leases(worker="other", rules=HouseLeaseRules(), now=at(1))
        assert claim(catalogue, 1) == []
        catalogue.forget_leases(worker="w", rules=HouseLeaseRules(), now=at(1))
        assert len(claim(catalogue, 1)) == 1

    def test_a_worker_reads_what_lies_in_its_own_folder(self, catalogue: Catalogue) -> None:
        first, second = RecordRef("one.warc.gz", 0, 9), RecordRef("two.warc.gz", 0, 9)
        record(catalogue, [fetched(A, "one", 1, ref=first)], [], worker="one", now=at(1))
        record(catalogue, [fetched(B, "two", 1, ref=second)], [], worker="two", now=at(1))
        duplicate = replace(fetched("http://c.ee/", "one", 2, ref=RecordRef("two.warc.gz", 9, 9)), body=first)
        record(catalogue, [duplicate], [], worker="two", now=at(2))
        assert [task.url for task in claim(catalogue, 2, worker="two")] == [B]
        assert [task.url for task in claim(catalogue, 2, worker="three")] == []
        assert [task.url for task in claim(catalogue, 2, worker="one")] == [A, "http://c.ee/"]

    def test_what_lies_in_anothers_folder_can_be_claimed_by_who_has_the_file_too(self, catalogue: Catalogue) -> None:
        place = RecordRef("two.warc.gz", 0, 9)
        record(catalogue, [fetched(A, "one", 1, ref=place)], [], worker="two", now=at(1))
        assert catalogue.waiting_files(worker="one", limit=9) == {"two.warc.gz": "two"}
        assert catalogue.waiting_files(worker="two", limit=9) == {}
        assert claim(catalogue, 2, files=("other.warc.gz",)) == []
        assert [task.url for task in claim(catalogue, 2, files=("two.warc.gz",))] == [A]
        assert claim(catalogue, 2, worker="two") == []

    def test_a_claim_that_is_renewed_lasts_longer_and_a_lost_one_is_told_of(self, catalogue: Catalogue) -> None:
        catalogue.put("resource", [1, 2])
        claims = catalogue.claim(("resource",), worker="one", limit=9, ttl=60, now=at(0))
        assert list(catalogue.renew_claims(claims, worker="one", ttl=60, now=at(50))) == list(claims)
        assert catalogue.claim(("resource",), worker="two", limit=9, ttl=60, now=at(100)) == []
        taken = catalogue.claim(("resource",), worker="two", limit=1, ttl=60, now=at(120))
        assert catalogue.renew_claims(claims, worker="one", ttl=60, now=at(121)) == [claims[1]]
        catalogue.record_descriptions([*taken, claims[1]], statements={})
        assert catalogue.claim(("resource",), worker="one", limit=9, ttl=60, now=at(999)) == []

    def test_work_of_a_kind_that_nobody_knows_waits_for_who_does(self, catalogue: Catalogue) -> None:
        catalogue.put("weather", [7])
        assert catalogue.claim(("resource",), worker="one", limit=9, ttl=60, now=at(0)) == []
        (claimed,) = catalogue.claim(("weather", "resource"), worker="one", limit=9, ttl=60, now=at(0))
        assert (claimed.kind, claimed.subject, claimed.attempts) == ("weather", 7, 0)

    def test_bytes_that_two_urls_have_are_read_once(self, catalogue: Catalogue) -> None:
        record(catalogue, [fetched(A, "same", 1), fetched(B, "same", 1)], [], worker="one", now=at(1))
        first, second = claim(catalogue, 1)
        assert first.blob_id == second.blob_id
        result = understood(first, place("Tartu"))
        record_reads(catalogue, result, when=2)
        assert isinstance(result.reading, NewReading)
        (reading_id,) = catalogue.find_readings([result.reading.key]).values()
        record_reads(catalogue, ReadResult(task=second, reading=reading_id), when=3)
        assert entity_of(catalogue, EntityKey("place", "tartu")).documents == 2
        shown = [catalogue.shown_reading(task.resource_id) for task in (first, second)]
        assert shown[0].facts == shown[1].facts
        assert [one.task.version_id for one in shown] == [first.version_id, second.version_id]

    def test_links_are_followed_by_the_worker_that_has_the_text(self, catalogue: Catalogue) -> None:
        source = add(catalogue, A, B)
        catalogue.change_source(source.id, SourceChange(follow="same host"))
        record(catalogue, [fetched(A, "same", 1), fetched(B, "same", 1)], [], worker="one", now=at(1))
        first, second = claim(catalogue, 1)
        result = understood(first)
        record_reads(catalogue, result, when=2)
        assert isinstance(result.reading, NewReading)
        (reading_id,) = catalogue.find_readings([result.reading.key]).values()
        again = ReadResult(task=second, reading=reading_id)
        record_reads(catalogue, again, worker="two", when=3)

        def followed_by(worker: str) -> list[int]:
            claims = catalogue.claim(("follow",), worker=worker, limit=9, ttl=60, now=at(4))
            return [claimed.subject for claimed in claims]

        assert (followed_by("two"), followed_by("one")) == ([], [first.resource_id, second.resource_id])

    def test_an_old_version_can_be_read_and_is_not_shown(self, catalogue: Catalogue) -> None:
        row = bring(catalogue, A, "one", place("Tartu"), when=1)
        bring(catalogue, A, "two", place("Narva"), when=2)
        old = catalogue.versions(A)[0]
        catalogue.put("read", [old.id])
        (task,) = claim(catalogue, 3)
        assert (task.version_id, task.digest) == (old.id, digest_of("one"))
        later = replace(understood(task, place("Valga")), reading=None)
        record_reads(catalogue, later, when=3)
        assert [name.name for name in catalogue.outline(row).names] == ["Narva"]

    def test_a_page_that_shows_old_bytes_again_says_what_they_said(self, catalogue: Catalogue) -> None:
        row = bring(catalogue, A, "one", place("Tartu"), when=1)
        bring(catalogue, A, "two", place("Narva"), when=2)
        bring(catalogue, A, "one", place("Tartu"), when=3)
        assert [name.name for name in catalogue.outline(row).names] == ["Tartu"]
        assert catalogue.find_entities("narva", Page()) == []

    def test_an_entity_that_is_known_is_found_by_its_key(self, catalogue: Catalogue) -> None:
        bring(catalogue, A, "one", place("Tartu"), when=1)
        key, unknown = EntityKey("place", "tartu"), EntityKey("place", "narva")
        candidates = catalogue.find_candidates([key, unknown])
        assert {known: [candidate.name for candidate in some] for known, some in candidates.items()} == {key: ["Tartu"]}
        entity_id = candidates[key][0].id
        record(catalogue, [fetched(B, "two", 2)], [], worker="one", now=at(2))
        (task,) = claim(catalogue, 2)
        linked = LinkedIdentity(identity=says("Tartu linn", key=unknown), entity_id=entity_id)
        result = understood(task)
        assert isinstance(result.reading, NewReading)
        record_reads(catalogue, replace(result, reading=replace(result.reading, identities=(linked,))), when=2)
        assert entity_of(catalogue, key).documents == 2
        assert "Tartu linn" in entity_of(catalogue, key).lemmas

    def test_what_a_facet_keeps_and_puts_into_the_index_is_found_again(self, catalogue: Catalogue) -> None:
        record(catalogue, [fetched(A, "one", 1), fetched(B, "two", 1)], [], worker="one", now=at(1))
        first, second = claim(catalogue, 1)
        brief = FacetBrief(name="topics", version=3, data=b'["Ilm"]')
        terms = (Term(field="topic", value="Ilm"), Term(field="topic", value="ILM"))
        record_reads(catalogue, understood(first, terms=terms, briefs=(brief,)), understood(second), when=2)
        rows, total = catalogue.documents(DocumentFilter(terms=(Term(field="topic", value="ilm"),)), Page())
        assert ([row.url for row in rows], total) == ([A], 1)
        described = catalogue.describe_resources([first.resource_id, second.resource_id])
        assert [one.briefs for one in described] == [(brief,), ()]

    def test_a_reading_is_on_record_once(self, catalogue: Catalogue) -> None:
        source = add(catalogue, A)
        record(catalogue, [fetched(A, "one", 1)], [], worker="one", now=at(1))
        (task,) = claim(catalogue, 1)
        for _ in range(3):
            record_reads(catalogue, *[understood(task, says("Katrin Paio", count=3))] * 2, when=2)
        counts = catalogue.source(source.id).counts
        assert (counts["documents"], counts["names"], counts["seconds:extract"]) == (1, 3, 0.25)
        assert entity_of(catalogue, PAIO).documents == 1
        assert claim(catalogue, 99) == []
        assert _derived(catalogue, task.resource_id) == RecordRef("derived.warc.gz", task.version_id * 10, 10)
        assert known_end(catalogue, "derived.warc.gz") == task.version_id * 10 + 10

    def test_a_new_version_replaces_what_the_old_one_said(self, catalogue: Catalogue) -> None:
        source = add(catalogue, A)
        bring(catalogue, A, "one", says("Katrin Paio", count=2), place("Tartu"), when=1)
        drain(catalogue)
        row = bring(catalogue, A, "two", place("Tartu", 5), place("Narva"), when=2)
        assert [(name.name, name.count) for name in catalogue.outline(row).names] == [("Tartu", 5), ("Narva", 1)]
        with pytest.raises(NotFound):
            entity_of(catalogue, PAIO)
        descriptions = claim_descriptions(catalogue, 5)
        assert {(entity.key.slug, entity.documents) for entity in descriptions.entities} == {
            ("narva", 1),
            ("katrin-paio", 0),
        }
        assert [str(key) for key in descriptions.resources[0].mentions] == ["place/narva", "place/tartu"]
        counts = catalogue.source(source.id).counts
        assert (counts["documents"], counts["names"]) == (1, 6)

    def test_an_older_version_read_late_changes_nothing(self, catalogue: Catalogue) -> None:
        record(catalogue, [fetched(A, "one", 1), fetched(A, "two", 2)], [], worker="one", now=at(2))
        old, new = claim(catalogue, 2)
        record_reads(catalogue, understood(new, place("Narva")), when=3)
        record_reads(catalogue, understood(old, place("Tartu")), when=4)
        assert [name.name for name in catalogue.outline(new.resource_id).names] == ["Narva"]
        assert claim(catalogue, 999) == []

    def test_the_rules_say_which_version_is_shown(self, catalogue: Catalogue) -> None:
        record(catalogue, [fetched(A, "one", 1), fetched(A, "two", 2)], [], worker="one", now=at(2))
        old, new = claim(catalogue, 2)
        asked: list[tuple[list[int], datetime | None]] = []

        class Oldest(SampleReadRules):
            @staticmethod
            def choose_shown(read: Sequence[ReadVersion], before: datetime | None) -> ReadVersion | None:
                asked.append(([version.number for version in read], before))
                return min(read, key=lambda version: version.number) if before is None else None

        both = understood(old, place("Tartu")), understood(new, place("Narva"))
        record_reads(catalogue, *both, rules=Oldest(), when=3)
        catalogue.put("read", [new.version_id])
        record_reads(catalogue, understood(claim(catalogue, 4)[0], place("Narva")), rules=Oldest(), when=4)
        assert [(sorted(numbers), before) for numbers, before in asked] == [([1, 2], None), ([2], at(1))]
        assert [name.name for name in catalogue.outline(new.resource_id).names] == ["Tartu"]

    def test_two_versions_in_one_batch_leave_the_newer(self, catalogue: Catalogue) -> None:
        record(catalogue, [fetched(A, "one", 1), fetched(A, "two", 2)], [], worker="one", now=at(2))
        old, new = claim(catalogue, 2)
        record_reads(catalogue, understood(new, place("Narva")), understood(old, place("Tartu")), when=3)
        assert [name.name for name in catalogue.outline(new.resource_id).names] == ["Narva"]
        assert catalogue.totals(now=at(3)).entities["place"] == 1

    def test_what_is_to_be_tried_again_is_counted_until_it_is_set_aside(self, catalogue: Catalogue) -> None:
        record(catalogue, [fetched(A, "one", 1)], [], worker="one", now=at(1))
        for attempt, retry in enumerate((True, True, False)):
            (task,) = claim(catalogue, 1)
            assert task.claim.attempts == attempt
            assert catalogue.problems(stage=Stage.EXTRACT, page=Page())[1] == []
            record_reads(catalogue, misread(task, ReaderCrashed("it died"), retry=retry), when=2)
        assert claim(catalogue, 1) == []
        (problem,), _ = catalogue.problems(stage=Stage.EXTRACT, page=Page())
        assert (problem.code, problem.subject, problem.next_step) == ("reader-crashed", A, "retry")

    def test_a_version_that_cant_be_read_takes_the_document_away(self, catalogue: Catalogue) -> None:
        row = bring(catalogue, A, "one", place("Tartu"), when=1, title="Tartu")
        drain(catalogue)
        record(catalogue, [fetched(A, "two", 2)], [], worker="one", now=at(2))
        (task,) = claim(catalogue, 2)
        record_reads(catalogue, misread(task, Unreadable("not a PDF")), when=3)
        assert (catalogue.document(row).title, _derived(catalogue, row)) == ("", None)
        assert catalogue.outline(row).names == ()
        descriptions = claim_descriptions(catalogue, 5)
        (described,) = descriptions.resources
        assert (len(described.versions), described.document, described.mentions) == (2, None, ())
        assert [(entity.key, entity.documents) for entity in descriptions.entities] == [
            (EntityKey("place", "tartu"), 0)
        ]
        assert count_listed(catalogue.problems(stage=Stage.EXTRACT, page=Page())[1]) == 1
        bring(catalogue, A, "three", when=4)
        assert catalogue.problems(stage=Stage.EXTRACT, page=Page())[1] == []

    def test_after_a_newer_version_failed_an_older_one_is_not_put_back(self, catalogue: Catalogue) -> None:
        record(catalogue, [fetched(A, "one", 1), fetched(A, "two", 2)], [], worker="one", now=at(2))
        old, new = claim(catalogue, 2)
        record_reads(catalogue, misread(new, Unreadable("no")), when=3)
        record_reads(catalogue, understood(old, place("Tartu")), when=4)
        assert catalogue.outline(new.resource_id).names == ()
        assert catalogue.totals(now=at(4)).documents == 0

    def test_what_holds_no_text_is_no_problem(self, catalogue: Catalogue) -> None:
        source = add(catalogue, A)
        record(catalogue, [fetched(A, "one", 1)], [], worker="one", now=at(1))
        record_reads(catalogue, misread(claim(catalogue, 1)[0], NotText("an image"), noted=False), when=2)
        assert catalogue.problems(stage=None, page=Page()) == ([], [])
        assert catalogue.source(source.id).counts["not-text"] == 1

    def test_the_graph_is_told_of_a_resource_and_its_entities(self, catalogue: Catalogue) -> None:
        row = bring(catalogue, A, "one", says("Katrin Paio", given="Katrin", family="Paio"), when=1, title="Home")
        descriptions = claim_descriptions(catalogue, 5)
        (described,), (entity,) = descriptions.resources, descriptions.entities
        assert (described.resource_id, described.url, described.mentions) == (row, A, (PAIO,))
        assert described.document is not None
        assert (described.document.title, described.document.language) == ("Home", "et")
        assert described.versions == tuple(catalogue.versions(A))
        assert entity == entity_of(catalogue, PAIO)
        assert (entity.given, entity.family, entity.lemmas) == ("Katrin", "Paio", ("Katrin Paio", "katrin paio"))

    def test_one_telling_finishes_all_rows_of_a_subject(self, catalogue: Catalogue) -> None:
        for when in range(5):
            record(catalogue, [fetched(A, f"body {when}", when)], [], worker="one", now=at(when))
        descriptions = claim_descriptions(catalogue, 5, limit=1)
        assert (
            len(descriptions.claims[0].ids),
            len(descriptions.resources),
            len(descriptions.resources[0].versions),
        ) == (5, 1, 5)
        catalogue.record_descriptions(descriptions.claims, statements={})
        assert not claim_descriptions(catalogue, 6).claims

    def test_what_changes_while_the_graph_is_written_is_told_again(self, catalogue: Catalogue) -> None:
        record(catalogue, [fetched(A, "one", 1)], [], worker="one", now=at(1))
        descriptions = claim_descriptions(catalogue, 5)
        record(catalogue, [fetched(A, "two", 2)], [], worker="one", now=at(2))
        assert not claim_descriptions(catalogue, 6, worker="two").claims  # it is with somebody who does not know it yet
        catalogue.record_descriptions(descriptions.claims, statements={})
        assert len(claim_descriptions(catalogue, 6, worker="two").resources[0].versions) == 2

    def test_an_entity_that_only_more_documents_mention_is_not_told_again(self, catalogue: Catalogue) -> None:
        bring(catalogue, A, "one", place("Tartu"), when=1)
        drain(catalogue)
        bring(catalogue, B, "two", place("Tartu", 7), when=2)
        descriptions = claim_descriptions(catalogue, 5)
        assert ([described.url for described in descriptions.resources], descriptions.entities) == ([B], [])

    def test_statements_count_what_the_graph_holds_now(self, catalogue: Catalogue) -> None:
        source = add(catalogue, A, B)
        rows = [bring(catalogue, url, url, when=1) for url in (A, B)]
        first = claim_descriptions(catalogue, 1)
        catalogue.record_descriptions(first.claims, statements={rows[0]: 10, rows[1]: 4}, seconds=0.5)
        bring(catalogue, A, "new", when=2)
        catalogue.record_descriptions(claim_descriptions(catalogue, 2).claims, statements={rows[0]: 7}, seconds=0.25)
        counts = catalogue.source(source.id).counts
        assert (counts["statements"], counts["seconds:graph"]) == (11, 0.75)

    def test_everything_can_be_put_on_the_graphs_list_again(self, catalogue: Catalogue) -> None:
        bring(catalogue, A, "one", place("Tartu"), place("Narva"), when=1)
        drain(catalogue)
        assert catalogue.put("resource", catalogue.resource_ids(after=0, limit=9)) == 1
        assert catalogue.put("entity", catalogue.entity_ids(after=0, limit=9)) == 2
        descriptions = claim_descriptions(catalogue, 5)
        assert (len(descriptions.resources), len(descriptions.entities)) == (1, 2)

    def test_an_entitys_name_does_not_depend_on_who_came_first(self, catalogue: Catalogue) -> None:
        forms = [says("KATRIN PAIO"), says("katrin paio"), says("Katrin Paio", given="Katrin", family="Paio")]
        for turn, order in enumerate((forms, forms[::-1])):
            for page, identity in enumerate(order):
                bring(catalogue, f"{A}{page}", f"turn {turn}", identity, when=10 * turn + page)
            entity = entity_of(catalogue, PAIO)
            assert (entity.name, entity.given, entity.family, entity.documents) == ("Katrin Paio", "Katrin", "Paio", 3)
            assert entity.lemmas == ("KATRIN PAIO", "Katrin Paio", "katrin paio")
