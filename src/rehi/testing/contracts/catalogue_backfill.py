"""What the catalogue promises of visits that arrive late: each has its place in the past."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

from rehi.model.capture import CaptureFilter
from rehi.model.listing import DocumentFilter, Page
from rehi.model.version import RecordRef, Version
from rehi.model.visit import Outcome, Visited
from rehi.ports import Catalogue
from rehi.testing.contracts.catalogue_samples import (
    add,
    at,
    bring,
    claim,
    claim_descriptions,
    digest_of,
    drain,
    failed,
    fetched,
    lease_one,
    record,
    record_reads,
    redirected,
    unchanged,
    understood,
)

A, B = "http://a.ee/", "http://b.ee/"


def _record(catalogue: Catalogue, *visits: Visited, when: float = 100) -> None:
    record(catalogue, visits, [], worker="one", now=at(when))


def _kept(visited: Visited) -> Visited:
    """Return the visit with a record of its own."""
    offset = round((visited.at - at(0)).total_seconds() * 1000)
    return replace(visited, record=RecordRef("a.warc.gz", offset, 100))


def _history(catalogue: Catalogue, url: str = A) -> list[tuple[int, float, str]]:
    """Return number, moment and bytes of each version in the order of time."""
    names = {digest_of(name): name for name in ("one", "two", "three")}
    versions = catalogue.versions(url)
    return [(v.number, (v.taken_at - at(0)).total_seconds(), names[v.digest]) for v in versions]


class BackfillContract:
    """What ``record`` promises of visits that lie before what is on record."""

    def test_a_late_version_takes_its_place_in_the_past_and_the_next_number(self, catalogue: Catalogue) -> None:
        _record(catalogue, fetched(A, "two", 10))
        _record(catalogue, fetched(A, "one", 5))
        assert _history(catalogue) == [(2, 5, "one"), (1, 10, "two")]
        assert catalogue.document(A).versions == 2

    def test_what_a_resource_is_now_stays_as_it_is(self, catalogue: Catalogue) -> None:
        _record(catalogue, fetched(A, "two", 10, next_in=50))
        before = catalogue.document(A)
        late = replace(fetched(A, "one", 5, next_in=1), media_type="text/plain", status=203)
        _record(catalogue, late, redirected(A, B, 6), failed(A, 7), unchanged(A, 8, etag='"late"'))
        after = catalogue.document(A)
        assert after == replace(before, versions=2)
        assert catalogue.next_ready() == at(60)
        (task,) = lease_one(catalogue, 60).tasks
        assert (task.digest, task.etag, task.failures) == (digest_of("two"), '"two"', 0)
        assert catalogue.totals(now=at(60)).outcomes == {"new": 1}
        assert catalogue.problems(stage=None, page=Page()) == ([], [])

    def test_a_late_visit_that_found_the_version_before_it_is_unchanged(self, catalogue: Catalogue) -> None:
        source = add(catalogue, A)
        _record(catalogue, fetched(A, "one", 1), fetched(A, "two", 10))
        _record(catalogue, fetched(A, "one", 5))
        assert _history(catalogue) == [(1, 1, "one"), (2, 10, "two")]
        assert catalogue.source(source.id).counts["unchanged"] == 1

    def test_the_next_version_with_the_same_bytes_stays(self, catalogue: Catalogue) -> None:
        _record(catalogue, fetched(A, "one", 10))
        _record(catalogue, fetched(A, "one", 5))
        assert _history(catalogue) == [(2, 5, "one"), (1, 10, "one")]

    def test_what_was_found_unchanged_after_a_late_version_is_valid_again(self, catalogue: Catalogue) -> None:
        source = add(catalogue, A)
        _record(
            catalogue, fetched(A, "one", 1), _kept(unchanged(A, 3)), _kept(unchanged(A, 9)), _kept(unchanged(A, 12))
        )
        _record(catalogue, fetched(A, "two", 6))
        assert _history(catalogue) == [(1, 1, "one"), (2, 6, "two"), (3, 9, "one")]
        assert catalogue.document(A).changed_at == at(9)
        again = catalogue.versions(A)[2]
        assert (again.record, again.body) == (RecordRef("a.warc.gz", 9000, 100), catalogue.versions(A)[0].body)
        captures = [(seen.digest, seen.outcome) for seen in catalogue.captures(CaptureFilter(url=A))]
        one, two = digest_of("one"), digest_of("two")
        assert captures == [
            (one, Outcome.NEW), (one, Outcome.UNCHANGED), (two, Outcome.NEW), (one, Outcome.NEW), (one, Outcome.UNCHANGED),
        ]  # fmt: skip
        counts = catalogue.source(source.id).counts
        assert (counts["visited"], counts["new"], counts["unchanged"]) == (5, 3, 2)

    def test_an_unchanged_visit_behind_the_next_version_says_nothing_of_the_one_before(
        self, catalogue: Catalogue
    ) -> None:
        _record(catalogue, fetched(A, "one", 1), fetched(A, "three", 10), _kept(unchanged(A, 12)))
        _record(catalogue, fetched(A, "two", 6))
        assert _history(catalogue) == [(1, 1, "one"), (3, 6, "two"), (2, 10, "three")]

    def test_a_late_version_is_the_newest_where_nothing_was_found_since(self, catalogue: Catalogue) -> None:
        _record(catalogue, fetched(A, "one", 1), failed(A, 10))
        _record(catalogue, fetched(A, "two", 5))
        assert _history(catalogue) == [(1, 1, "one"), (2, 5, "two")]
        row = catalogue.document(A)
        assert (row.state, row.changed_at, row.visited_at) == ("failed", at(5), at(10))
        (task,) = lease_one(catalogue, 10**8).tasks
        assert (task.failures, task.etag) == (1, '"two"')

    def test_a_first_version_that_comes_late_is_the_newest(self, catalogue: Catalogue) -> None:
        _record(catalogue, failed(A, 10))
        _record(catalogue, fetched(A, "one", 5))
        assert _history(catalogue) == [(1, 5, "one")]
        assert catalogue.document(A).changed_at == at(5)
        assert len(claim(catalogue, 10)) == 1

    def test_the_history_is_the_same_whatever_the_order_of_arrival(self, catalogue: Catalogue) -> None:
        bodies = ("one", "two", "two", "one", "three")
        for number, order in enumerate(permutations(range(len(bodies)))):
            url = f"http://a.ee/{number}"
            for index in order:
                _record(catalogue, fetched(url, bodies[index], index + 1))
            captures = catalogue.captures(CaptureFilter(url=url))
            assert [seen.digest for seen in captures] == [digest_of(body) for body in bodies]
            assert catalogue.document(url).changed_at == at(5)

    def test_visits_of_one_batch_are_taken_in_the_order_of_time(self, catalogue: Catalogue) -> None:
        _record(catalogue, fetched(A, "three", 3), fetched(A, "one", 1), fetched(A, "two", 2))
        assert _history(catalogue) == [(1, 1, "one"), (2, 2, "two"), (3, 3, "three")]
        assert catalogue.document(A).changed_at == at(3)

    def test_the_same_late_visit_is_recorded_once(self, catalogue: Catalogue) -> None:
        _record(catalogue, fetched(A, "one", 1), _kept(unchanged(A, 9)))
        for _ in range(2):
            _record(catalogue, fetched(A, "two", 5))
        assert _history(catalogue) == [(1, 1, "one"), (2, 5, "two"), (3, 9, "one")]
        assert catalogue.totals(now=at(10)).visits == 3

    def test_a_late_version_is_not_read_since_the_newest_is_what_is_shown(self, catalogue: Catalogue) -> None:
        resource = bring(catalogue, A, "two", when=10, title="The newest")
        _record(catalogue, fetched(A, "one", 5))
        assert claim(catalogue, 100) == []
        assert catalogue.document(resource).title == "The newest"

    def test_a_reading_of_an_earlier_version_does_not_replace_that_of_a_later_one(self, catalogue: Catalogue) -> None:
        _record(catalogue, failed(A, 10))
        _record(catalogue, fetched(A, "one", 5))  # version 1
        _record(catalogue, fetched(A, "two", 7))  # version 2, later and late too
        _record(catalogue, fetched(A, "three", 6))  # version 3, between them
        first, second = sorted(claim(catalogue, 20), key=lambda task: task.version_id)
        record_reads(catalogue, understood(second, title="of the newest"), when=20)
        record_reads(catalogue, understood(first, title="of an older one"), when=21)
        assert catalogue.document(A).title == "of the newest"

    def test_the_graph_is_told_of_all_versions_in_the_order_of_time(self, catalogue: Catalogue) -> None:
        bring(catalogue, A, "two", when=10)
        drain(catalogue)
        _record(catalogue, fetched(A, "one", 5))
        (described,) = claim_descriptions(catalogue, 20).resources
        assert [version.number for version in described.versions] == [2, 1]

    def test_a_visit_may_leave_the_schedule_as_it_is(self, catalogue: Catalogue) -> None:
        quiet = replace(fetched(A, "one", 1), next_at=None)
        _record(catalogue, quiet, replace(redirected(B, "http://c.ee/", 1), next_at=None))
        assert catalogue.next_ready() is None
        _record(catalogue, fetched("http://d.ee/", "two", 1, next_in=50))
        _record(catalogue, replace(fetched("http://d.ee/", "three", 2), next_at=None))
        assert catalogue.next_ready() == at(51)
        states = {row.url: row.state for row in catalogue.documents(DocumentFilter(), Page())[0]}
        assert states["http://c.ee/"] == "waiting"

    def test_a_visit_may_say_whose_it_is_also_of_a_url_that_others_have(self, catalogue: Catalogue) -> None:
        source, other = add(catalogue, A), add(catalogue, name="other")
        _record(catalogue, *(replace(fetched(url, "one", 1), source_id=other.id) for url in (A, B)))
        owned = [catalogue.documents(DocumentFilter(source_id=one.id), Page())[0] for one in (source, other)]
        assert [[row.url for row in rows] for rows in owned] == [[A], [A, B]]

    def test_it_says_which_visits_are_on_record(self, catalogue: Catalogue) -> None:
        _record(catalogue, fetched(A, "one", 1), failed(B, 2))
        asked = {(A, at(1)), (A, at(2)), (B, at(2)), ("http://c.ee/", at(1))}
        assert catalogue.on_record(asked) == {(A, at(1)), (B, at(2))}
        assert catalogue.on_record([]) == set()

    def test_versions_are_given_in_the_order_of_time(self, catalogue: Catalogue) -> None:
        for when in (5, 3, 9, 1):
            _record(catalogue, fetched(A, str(when), when))
        versions: list[Version] = list(catalogue.versions(A))
        assert [version.taken_at for version in versions] == [at(1), at(3), at(5), at(9)]
        assert [version.number for version in versions] == [4, 2, 1, 3]
