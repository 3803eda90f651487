"""What the catalogue promises of sources' numbers: each has those of all its resources, whoever named them first."""

from __future__ import annotations

from rehi.errors import NotText
from rehi.model.claims import Claims
from rehi.model.source import Finding, FollowedLink
from rehi.ports import Catalogue
from rehi.testing.contracts.catalogue_samples import (
    add,
    at,
    bring,
    claim,
    claim_descriptions,
    fetched,
    findings,
    misread,
    place,
    record,
    record_reads,
    redirected,
    unchanged,
)

A, B, C = "http://a.ee/", "http://a.ee/b", "http://b.ee/"
WHOLE = {
    "visited": 3, "new": 2, "unchanged": 1, "bytes": 6, "seconds:fetch": 1.0, "documents": 1, "names": 2, "statements": 7,
}  # fmt: skip


def _counts(catalogue: Catalogue, source_id: int) -> dict[str, float]:
    """Return what a source's resources have come to, without what was counted when it was taken in."""
    counts = catalogue.source(source_id).counts
    return {name: n for name, n in counts.items() if n and name in {*WHOLE, "redirect", "gone", "not-text"}}


def _work(catalogue: Catalogue) -> None:
    """Visit A three times with two versions, read it, and tell the graph of it."""
    bring(catalogue, A, "one", place("Tartu"), when=1)
    record(catalogue, [unchanged(A, 2)], now=at(2))
    row = bring(catalogue, A, "two", place("Tartu"), place("Narva"), when=3)
    catalogue.record_descriptions(claim_descriptions(catalogue, 4).claims, statements={row: 7})


class CountsContract:
    """What the port Sources promises of its numbers."""

    def test_all_sources_of_a_resource_count_what_it_comes_to(self, catalogue: Catalogue) -> None:
        sources = [add(catalogue, A, C, name="one"), add(catalogue, A, name="two"), add(catalogue, C, name="three")]
        _work(catalogue)
        assert [_counts(catalogue, source.id) for source in sources] == [WHOLE, WHOLE, {}]

    def test_a_source_that_comes_later_has_what_came_before(self, catalogue: Catalogue) -> None:
        add(catalogue, A, name="one")
        _work(catalogue)
        second = add(catalogue, C, A, B, name="two", when=5)
        assert _counts(catalogue, second.id) == WHOLE
        claims = Claims(title="A")
        catalogue.take_in(second, [Finding(A, claims), Finding(B, claims)], cursor=b"9", counts={}, now=at(6))
        assert _counts(catalogue, second.id) == WHOLE
        record(catalogue, [unchanged(A, 7), unchanged(C, 7)], now=at(7))
        assert _counts(catalogue, second.id) == WHOLE | {"visited": 5, "unchanged": 3}

    def test_claims_make_no_difference_to_what_is_counted(self, catalogue: Catalogue) -> None:
        add(catalogue, A, name="one")
        _work(catalogue)
        second = catalogue.add_source(kind="url-list", name="two", location="/two", size=1, now=at(5))
        named = [Finding(A, Claims(title="A")), Finding(C)]
        catalogue.take_in(second, named, cursor=b"1", counts={}, now=at(5))
        assert _counts(catalogue, second.id) == WHOLE

    def test_what_a_resource_redirects_to_counts_for_its_sources(self, catalogue: Catalogue) -> None:
        second = add(catalogue, B, name="two")
        _work(catalogue)
        record(catalogue, [redirected(B, A, 5)], now=at(5))
        with_redirect = WHOLE | {"visited": 4, "redirect": 1}
        assert _counts(catalogue, second.id) == with_redirect
        record(catalogue, [redirected(B, A, 6)], now=at(6))
        assert _counts(catalogue, second.id) == with_redirect | {"visited": 5, "redirect": 2}

    def test_a_redirect_and_its_target_may_come_in_one_batch(self, catalogue: Catalogue) -> None:
        source = add(catalogue, B)
        record(catalogue, [redirected(B, A, 1), fetched(A, "one", 2)], now=at(2))
        assert _counts(catalogue, source.id) == {
            "visited": 2, "redirect": 1, "new": 1, "bytes": 3, "seconds:fetch": 0.5,
        }  # fmt: skip

    def test_links_and_awaited_urls_count_too(self, catalogue: Catalogue) -> None:
        _work(catalogue)
        linking = add(catalogue, C, name="one")
        home = catalogue.document(C).resource_id
        for moment in (5, 6):
            catalogue.follow_links(
                [FollowedLink(one, home, 1) for one in findings(A, B)], source_id=linking.id, now=at(moment)
            )
        awaiting = catalogue.add_source(kind="", name=A, location=A, size=0, now=at(5))
        for moment in (5, 6):
            catalogue.suspend(awaiting, A, [], since=at(5), now=at(moment))
        assert [_counts(catalogue, source.id) for source in (linking, awaiting)] == [WHOLE, WHOLE]

    def test_what_cant_be_read_counts_for_all_sources(self, catalogue: Catalogue) -> None:
        sources = [add(catalogue, A, name="one"), add(catalogue, A, name="two")]
        record(catalogue, [fetched(A, "one", 1)], now=at(1))
        (task,) = claim(catalogue, 1)
        record_reads(catalogue, misread(task, NotText("an image")), when=2)
        assert [_counts(catalogue, source.id).get("not-text") for source in sources] == [1, 1]
