"""What the catalogue promises of retention: what is pruned, what comes back, and what is held in all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from rehi.errors import NotFound, Unreadable
from rehi.frontier import HouseLeaseRules
from rehi.model.claims import combine_orders
from rehi.model.inventory import Replacement
from rehi.model.retention import PrunedBody, Pruning
from rehi.model.source import SourceChange
from rehi.model.version import Digest, RecordRef
from rehi.ports import Catalogue
from rehi.testing.contracts.catalogue_samples import (
    add,
    at,
    bring,
    claim,
    digest_of,
    fetched,
    known_end,
    lease_one,
    misread,
    record,
    record_reads,
    unchanged,
    understood,
)

A, B, C = "http://a.ee/", "http://b.ee/", "http://c.ee/"
LATER = 10**6
STONE = RecordRef("dropped.warc.gz", 100, 50)


def read_all(catalogue: Catalogue, when: float = 0) -> None:
    """Read what waits."""
    while tasks := claim(catalogue, when):
        record_reads(catalogue, *(understood(task) for task in tasks), when=when)


def to_prune(*bodies: str, versions: int = 1, rule: str = "last 1") -> list[PrunedBody]:
    """Return bodies that are to go."""
    return [PrunedBody(digest=digest_of(b), size=len(b), rule=rule, versions=versions, places=()) for b in bodies]


def prune(catalogue: Catalogue, bodies: Sequence[PrunedBody], when: float = LATER) -> dict[Digest, int]:
    """Mark bodies as pruned."""
    return dict(catalogue.mark_pruned(bodies, at=at(when), record=STONE, worker="one"))


def pruning_of(catalogue: Catalogue, body: str) -> Pruning | None:
    """Return when bytes that are known were pruned, if they were."""
    return catalogue.find_bodies([digest_of(body)])[digest_of(body)].pruned


def history(catalogue: Catalogue, url: str, *bodies: str, when: float = 0) -> None:
    """Return versions of a URL, a second apart."""
    for place, body in enumerate(bodies, 1):
        record(catalogue, [fetched(url, body, when + place)], [], worker="one", now=at(when + place))


class RetentionContract:
    """What the port Retention promises, and the port Ledger of what must be there."""

    def test_a_source_has_a_rule(self, catalogue: Catalogue) -> None:
        source = add(catalogue, A)
        assert source.keep == ""
        for keep in ("last 5 and one per month", ""):
            catalogue.change_source(source.id, SourceChange(keep=keep))
            assert catalogue.source(source.id).keep == keep
        with pytest.raises(NotFound):
            catalogue.change_source(source.id + 1, SourceChange(keep="last 1"))

    def test_bytes_that_came_again_lie_elsewhere_unless_they_moved_already_or_are_pruned(
        self, catalogue: Catalogue
    ) -> None:
        add(catalogue, A)
        history(catalogue, A, "one", "two", "three")
        digests = [digest_of(body) for body in ("one", "two", "three")]
        before = {digest: body.place for digest, body in catalogue.find_bodies(digests).items()}
        new = {digest: RecordRef("again.warc.gz", place, 7) for place, digest in enumerate(digests)}
        prune(catalogue, to_prune("three"))
        moves = {digest: Replacement(before[digest], new[digest]) for digest in digests}
        moves[digests[1]] = Replacement(new[digests[0]], new[digests[1]])
        catalogue.shorten_files({before[digests[0]].file: 0})
        for _ in range(2):
            catalogue.replace_bodies(moves, worker="two")
            after = {digest: body.place for digest, body in catalogue.find_bodies(digests).items()}
            assert after == before | {digests[0]: new[digests[0]]}
        files = {file.name: file for file in catalogue.known_files()}
        assert (files["again.warc.gz"].owner, files["again.warc.gz"].known_end) == ("two", 9)
        assert files[before[digests[0]].file].known_end == 0
        assert next(one.body for one in catalogue.versions(A)) == new[digests[0]]

    def test_histories_have_the_versions_in_the_order_of_time(self, catalogue: Catalogue) -> None:
        source = add(catalogue, A, B, C)
        history(catalogue, A, "one", "two", when=10)
        history(catalogue, A, "older", when=0)
        history(catalogue, B, "single")
        (one,) = catalogue.histories(sources=[source.id], longer_than=2, limit=9)
        assert (one.resource_id, one.source_ids) == (catalogue.document(A).resource_id, (source.id,))
        assert [version.taken_at for version in one.versions] == [at(1), at(11), at(12)]
        more = catalogue.histories(sources=[source.id], limit=9)
        assert [len(one.versions) for one in more] == [3, 1]
        assert catalogue.histories(sources=[source.id], after=more[0].resource_id, limit=9) == more[1:]
        assert catalogue.histories(sources=[source.id + 1], limit=9) == []
        assert catalogue.histories(limit=9) == []
        assert catalogue.histories(resources=[more[1].resource_id]) == more[1:]

    def test_a_history_names_all_sources_of_its_resource(self, catalogue: Catalogue) -> None:
        first, second = add(catalogue, A, name="one"), add(catalogue, A, B, name="two")
        history(catalogue, A, "one", "two")
        history(catalogue, B, "one", "two")
        assert [one.source_ids for one in catalogue.histories(sources=[second.id])] == [
            (first.id, second.id),
            (second.id,),
        ]
        assert len(catalogue.histories(sources=[first.id])) == 1

    def test_what_was_not_read_waits(self, catalogue: Catalogue) -> None:
        source = add(catalogue, A, B)
        history(catalogue, A, "one", "two")
        history(catalogue, B, "broken")
        assert [v.waiting for one in catalogue.histories(sources=[source.id], limit=9) for v in one.versions] == [
            True
        ] * 3
        for task in claim(catalogue):
            result = misread(task, Unreadable("no")) if task.url == B else understood(task)
            record_reads(catalogue, result, when=9)
        page, broken = catalogue.histories(sources=[source.id], limit=9)
        assert [version.waiting for version in page.versions] == [False, False]
        assert [version.current for version in page.versions] == [False, True]
        assert [version.waiting for version in broken.versions] == [True]

    def test_bytes_that_several_versions_have_are_counted(self, catalogue: Catalogue) -> None:
        source, other = add(catalogue, B, C), add(catalogue, A, name="other.txt")
        for url in (A, B, C):
            history(catalogue, url, "same", "and", "same", when=ord(url[7]))
        (blob,) = {
            v.blob_id
            for v in catalogue.histories(resources=[catalogue.document(A).resource_id])[0].versions
            if v.current
        }
        (shared,) = catalogue.sharing([blob], sources=[source.id])
        assert (shared.size, shared.versions, shared.first_resource) == (4, 6, catalogue.document(B).resource_id)
        (shared,) = catalogue.sharing([blob], sources=[other.id])
        assert shared.first_resource == catalogue.document(A).resource_id
        rows = sorted(catalogue.document(url).resource_id for url in (A, B, C))
        assert catalogue.sharers([blob], limit=9) == [(blob, row) for row in rows]
        assert catalogue.sharers([blob], after=rows[0], limit=1) == [(blob, rows[1])]

    def test_dropped_bytes_are_not_found_but_their_versions_stay(self, catalogue: Catalogue) -> None:
        history(catalogue, A, "one", "two")
        assert prune(catalogue, to_prune("one", rule="last 1")) == {digest_of("one"): 3}
        bodies = catalogue.find_bodies([digest_of("one"), digest_of("two"), digest_of("three")])
        assert {digest: body.pruned for digest, body in bodies.items()} == {
            digest_of("one"): Pruning(at=at(LATER), rule="last 1"),
            digest_of("two"): None,
        }
        assert [version.dropped for version in catalogue.versions(A)] == [True, False]
        assert known_end(catalogue, "dropped.warc.gz") == 150
        assert prune(catalogue, to_prune("one"), when=LATER + 1) == {}
        assert pruning_of(catalogue, "one") == Pruning(at=at(LATER), rule="last 1")

    def test_bytes_that_a_version_has_got_since_stay(self, catalogue: Catalogue) -> None:
        history(catalogue, A, "one", "two")
        history(catalogue, B, "one", when=5)
        assert prune(catalogue, to_prune("one", versions=1)) == {}
        assert prune(catalogue, to_prune("one", versions=2), when=4) == {}
        assert prune(catalogue, to_prune("one", "never", versions=2)) == {digest_of("one"): 3}

    def test_dropped_bytes_that_come_again_are_kept_where_they_are_now(self, catalogue: Catalogue) -> None:
        history(catalogue, A, "one", "two")
        prune(catalogue, to_prune("one"))
        place = RecordRef("b.warc.gz", 7, 70)
        record(catalogue, [fetched(B, "one", LATER + 1, ref=place)], [], worker="other", now=at(LATER + 1))
        assert catalogue.find_bodies([digest_of("one")])[digest_of("one")].place == place
        assert [(version.dropped, version.body == place) for version in catalogue.versions(A)] == [
            (False, True),
            (False, False),
        ]
        assert pruning_of(catalogue, "one") is None
        assert [task.url for task in claim(catalogue, LATER + 1, worker="other")] == [B]

    @pytest.mark.parametrize("how", ["kept again", "moved"])
    def test_pages_that_could_not_be_read_are_read_when_their_bytes_are_back(
        self, catalogue: Catalogue, how: str
    ) -> None:
        add(catalogue, A, B, C)
        for url, bodies in ((A, ("lost",)), (B, ("lost",)), (C, ("lost", "newer"))):
            history(catalogue, url, *bodies)
        tasks = claim(catalogue, 9)
        record_reads(catalogue, *(misread(task, Unreadable("it is gone")) for task in tasks), when=9)
        place = RecordRef("again.warc.gz", 7, 7)
        if how == "kept again":
            prune(catalogue, to_prune("lost", versions=3))
            record(catalogue, [fetched(A, "lost", LATER + 1, ref=place)], [], worker="two", now=at(LATER + 1))
        else:
            (lay,) = (body.place for body in catalogue.find_bodies([digest_of("lost")]).values())
            catalogue.replace_bodies({digest_of("lost"): Replacement(lay, place)}, worker="two")
        again = claim(catalogue, LATER + 2, worker="two")
        assert {task.url for task in again} == {A, B}  # nothing is shown of older bytes
        assert {task.body for task in again} == {place}

    def test_bytes_that_are_the_same_again_are_kept_again_once_they_were_dropped(self, catalogue: Catalogue) -> None:
        add(catalogue, A)
        history(catalogue, A, "one")
        prune(catalogue, to_prune("one"))
        place = RecordRef("b.warc.gz", 7, 70)
        again = replace(fetched(A, "one", LATER + 1), record=place, body=place)
        record(catalogue, [again], [], worker="one", now=at(LATER + 1))
        (version,) = catalogue.versions(A)
        assert (version.dropped, version.body) == (False, place)
        record(catalogue, [unchanged(A, LATER + 2)], [], worker="one", now=at(LATER + 2))
        assert catalogue.versions(A)[0].body == place

    def test_a_task_says_by_which_rules_its_bytes_were_dropped(self, catalogue: Catalogue) -> None:
        source = add(catalogue, A)
        history(catalogue, A, "one")
        (task,) = lease_one(catalogue, LATER * 9).tasks
        assert (task.body is not None, task.pruned) == (True, False)
        prune(catalogue, to_prune("one"))
        catalogue.forget_leases(worker="one", rules=HouseLeaseRules(), now=at(LATER * 9))
        (task,) = lease_one(catalogue, LATER * 10).tasks
        assert (task.body, task.digest, task.pruned, combine_orders(task.sources).keeps) == (
            None,
            digest_of("one"),
            True,
            ("",),
        )
        catalogue.change_source(source.id, SourceChange(keep="references"))
        catalogue.forget_leases(worker="one", rules=HouseLeaseRules(), now=at(LATER * 10))
        (task,) = lease_one(catalogue, LATER * 11).tasks
        assert (task.body, task.etag, task.pruned, combine_orders(task.sources).keeps) == (
            None,
            '"one"',
            True,
            ("references",),
        )

    def test_what_is_remembered_of_bytes_names_their_versions(self, catalogue: Catalogue) -> None:
        history(catalogue, A, "one", "two")
        history(catalogue, B, "one", when=5)
        versions = catalogue.histories(resources=[catalogue.document(A).resource_id])[0].versions
        (one,) = catalogue.describe_bodies({versions[0].blob_id: "last 1"})
        assert (one.digest, one.size, one.rule, one.versions) == (digest_of("one"), 3, "last 1", 2)
        assert [(place.url, place.at, place.status, place.media_type) for place in one.places] == [
            (A, at(1), 200, "text/html"),
            (B, at(6), 200, "text/html"),
        ]
        assert one.places[0].record == RecordRef("a.warc.gz", 1000, 100)
        prune(catalogue, [one])
        assert catalogue.describe_bodies({versions[0].blob_id: "last 1"}) == []

    def test_the_ledger_knows_where_the_records_of_a_file_begin(self, catalogue: Catalogue) -> None:
        history(catalogue, A, "one", "two")
        record(catalogue, [fetched(B, "one", 9, ref=RecordRef("a.warc.gz", 40, 9))], [], worker="one", now=at(9))
        record(catalogue, [fetched(C, "four", 9, ref=RecordRef("b.warc.gz", 7, 40))], [], worker="one", now=at(9))
        assert sorted(catalogue.record_starts("a.warc.gz")) == [40, 1000, 2000]
        assert (list(catalogue.record_starts("b.warc.gz")), list(catalogue.record_starts("none"))) == ([7], [])

    def test_a_file_that_has_lost_its_end_is_known_to_be_shorter(self, catalogue: Catalogue) -> None:
        history(catalogue, A, "one", "two")
        catalogue.shorten_files({"a.warc.gz": 1500, "other.warc.gz": 3})
        assert [(file.name, file.known_end) for file in catalogue.known_files()] == [("a.warc.gz", 1500)]

    def test_the_ledger_says_what_must_be_there_and_what_was_pruned(self, catalogue: Catalogue) -> None:
        assert (catalogue.known_files(), list(catalogue.bodies()), catalogue.sample_bodies(5)) == ([], [], [])
        history(catalogue, A, "one", "two", "three")
        record(catalogue, [fetched(B, "four", 9, ref=RecordRef("b.warc.gz", 0, 40))], [], worker="one", now=at(9))
        before = catalogue.bodies()
        prune(catalogue, to_prune("three", "one"))
        record(catalogue, [fetched(C, "five", 10, ref=RecordRef("b.warc.gz", 40, 9))], [], worker="two", now=at(10))
        assert [(file.name, file.known_end, file.owner) for file in catalogue.known_files()] == [
            ("a.warc.gz", 3100, "one"),
            ("b.warc.gz", 49, "one"),
            (STONE.file, STONE.end, "one"),
        ]
        assert [(body.digest, body.size, body.place) for body in before] == [
            (digest_of("two"), 3, RecordRef("a.warc.gz", 2000, 100)),
            (digest_of("four"), 4, RecordRef("b.warc.gz", 0, 40)),
        ]
        everything = list(catalogue.bodies())
        assert len(everything) == 3
        assert {body.digest for body in catalogue.sample_bodies(500)} == {body.digest for body in everything}
        pruned = catalogue.bodies(pruned_before=at(LATER * 100))
        assert {body.place.offset for body in pruned} == {1000, 3000}
        assert list(catalogue.bodies(pruned_before=at(1))) == []

    def test_holdings_tell_what_is_logical_distinct_and_stored(self, catalogue: Catalogue) -> None:
        history(catalogue, A, "one", "twotwo", "one")
        dup = replace(fetched(B, "twotwo", 9, ref=RecordRef("b.warc.gz", 0, 40)), media_type="Text/HTML; charset=x")
        record(catalogue, [dup], [], worker="one", now=at(9))
        other = replace(fetched(C, "an image", 10, ref=RecordRef("b.warc.gz", 40, 60)), media_type="image/png")
        record(catalogue, [other], [], worker="one", now=at(10))
        held = catalogue.holdings(limit=9)
        assert (held.versions, held.bodies, held.logical, held.distinct, held.stored) == (5, 3, 26, 17, 400)
        assert (held.revisits, held.duplicate, held.types, held.hosts) == (2, 9, 2, 3)
        assert [(row.name, row.versions, row.logical, row.distinct, row.stored) for row in held.by_type] == [
            ("text/html", 4, 18, 9, 340),
            ("image/png", 1, 8, 8, 60),
        ]
        assert [(row.name, row.logical, row.distinct, row.duplicate) for row in held.by_host] == [
            ("a.ee", 12, 9, 3),
            ("c.ee", 8, 8, 0),
            ("b.ee", 6, 0, 6),
        ]
        assert [row.name for row in catalogue.holdings(limit=1).by_host] == ["a.ee"]

    def test_holdings_go_down_when_bytes_are_dropped_and_up_when_they_are_back(self, catalogue: Catalogue) -> None:
        history(catalogue, A, "one", "twotwo", "one")
        history(catalogue, B, "one", when=5)
        before = catalogue.holdings(limit=9)
        prune(catalogue, to_prune("one", versions=3))
        held = catalogue.holdings(limit=9)
        assert (held.versions, held.bodies, held.logical, held.distinct, held.stored) == (1, 1, 6, 6, 100)
        assert (held.dropped_versions, held.dropped_bodies, held.dropped_bytes) == (3, 1, 3)
        assert [row.name for row in held.by_host] == ["a.ee"]
        history(catalogue, C, "one", when=LATER + 5)
        held = catalogue.holdings(limit=9)
        assert (held.versions, held.bodies, held.logical) == (before.versions + 1, before.bodies, before.logical + 3)
        assert (held.dropped_versions, held.dropped_bodies, held.dropped_bytes) == (0, 0, 0)
        assert {row.name: row.distinct for row in held.by_host} == {"a.ee": 6, "b.ee": 0, "c.ee": 3}

    def test_nothing_is_held_of_an_empty_house(self, catalogue: Catalogue) -> None:
        held = catalogue.holdings(limit=9)
        assert (held.versions, held.logical, held.by_type, held.by_host, held.hosts) == (0, 0, (), (), 0)

    def test_reading_goes_on_after_something_was_dropped(self, catalogue: Catalogue) -> None:
        bring(catalogue, A, "one", when=1)
        prune(catalogue, to_prune("one"))
        history(catalogue, A, "two", when=LATER)
        read_all(catalogue, LATER)
        assert [version.dropped for version in catalogue.versions(A)] == [True, False]
        assert catalogue.document(A).versions == 2
