"""What the catalogue promises of sources."""

from __future__ import annotations

import pytest

from rehi.errors import NotFound
from rehi.model.problem import Problem, Stage
from rehi.model.source import SourceKind, SourceState
from rehi.ports import Catalogue
from rehi.testing.contracts.catalogue_samples import add, at, lease_one


def _listed(catalogue: Catalogue) -> list[str]:
    from rehi.model.listing import DocumentFilter, Page

    return [row.url for row in catalogue.documents(DocumentFilter(), Page())[0]]


class SourcesContract:
    """The port Sources."""

    def test_the_same_location_and_name_give_the_same_source(self, catalogue: Catalogue) -> None:
        first = catalogue.add_source(kind=SourceKind.CRAWL_LOG, name="a.log", location="/a.log", size=7, now=at(0))
        again = catalogue.add_source(kind=SourceKind.CRAWL_LOG, name="a.log", location="/a.log", size=7, now=at(9))
        other = catalogue.add_source(kind=SourceKind.PAGE, name="https://a.ee/", location="", size=0, now=at(9))
        assert again == first
        assert (first.kind, first.state, first.added_at, first.position) == ("crawl-log", "waiting", at(0), 0)
        assert [source.id for source in catalogue.sources()] == [other.id, first.id]

    def test_a_source_may_have_a_very_long_name(self, catalogue: Catalogue) -> None:
        name = "https://a.ee/" + "x" * 20_000
        first = catalogue.add_source(kind=SourceKind.PAGE, name=name, location="", size=0, now=at(0))
        assert catalogue.source(first.id).name == name

    def test_a_source_that_is_not_there_is_not_found(self, catalogue: Catalogue) -> None:
        with pytest.raises(NotFound):
            catalogue.source(99)

    def test_urls_are_stored_once_and_the_first_source_keeps_them(self, catalogue: Catalogue) -> None:
        first = add(catalogue, "http://a.ee/", "http://a.ee/b", "http://a.ee/", name="one")
        second = catalogue.add_source(kind=SourceKind.URL_LIST, name="two", location="/two", size=1, now=at(1))
        new = catalogue.take_in(second, ["http://a.ee/", "http://b.ee/"], position=2, counts={}, now=at(1))
        assert new == 1
        tasks = [task for lease in _lease_all(catalogue) for task in lease]
        assert sorted(tasks) == [
            ("http://a.ee/", first.id),
            ("http://a.ee/b", first.id),
            ("http://b.ee/", second.id),
        ]

    def test_position_and_counts_are_kept_and_counts_add_up(self, catalogue: Catalogue) -> None:
        source = catalogue.add_source(kind=SourceKind.URL_LIST, name="a", location="/a", size=1, now=at(0))
        catalogue.take_in(source, [], position=10, counts={"lines": 10, "rejected:dns": 2}, now=at(0))
        catalogue.take_in(source, ["http://a.ee/"], position=20, counts={"lines": 10, "seconds:x": 0.5}, now=at(1))
        catalogue.mark_source(source.id, SourceState.READING)
        kept = catalogue.source(source.id)
        assert (kept.position, kept.state) == (20, SourceState.READING)
        assert dict(kept.counts) == {"lines": 20, "rejected:dns": 2, "seconds:x": 0.5}
        catalogue.mark_source(source.id, SourceState.DONE, position=21)
        assert catalogue.source(source.id).position == 21

    def test_a_sources_policy_comes_with_its_tasks(self, catalogue: Catalogue) -> None:
        source = add(catalogue, "http://a.ee/")
        assert (source.policy, source.weight) == ("", 1.0)
        catalogue.set_policy(source.id, policy="latency 15m", weight=2.5)
        kept = catalogue.source(source.id)
        assert (kept.policy, kept.weight, catalogue.sources()) == ("latency 15m", 2.5, [kept])
        (task,) = lease_one(catalogue).tasks
        assert (task.policy, task.weight) == ("latency 15m", 2.5)
        with pytest.raises(NotFound):
            catalogue.set_policy(source.id + 99, policy="", weight=1.0)

    def test_what_a_log_says_wrong_is_a_problem(self, catalogue: Catalogue) -> None:
        from rehi.model.listing import Page

        source = catalogue.add_source(kind=SourceKind.CRAWL_LOG, name="a", location="/a", size=1, now=at(0))
        bad = Problem(
            stage=Stage.SOURCES, code="malformed", subject="a:3", message="no \0 URL \ud800 here", next_step="skip",
            first_at=at(0), last_at=at(0),
        )  # fmt: skip
        catalogue.take_in(source, [], position=3, counts={}, problems=[bad], now=at(0))
        catalogue.take_in(source, [], position=3, counts={}, problems=[bad], now=at(5))
        (problem,), total = catalogue.problems(stage=Stage.SOURCES, page=Page())
        assert (problem.count, problem.subject, problem.message, total) == (2, "a:3", "no  URL ? here", 1)

    def test_a_url_that_is_taken_in_is_due_at_once(self, catalogue: Catalogue) -> None:
        add(catalogue, "http://a.ee/", when=5)
        assert catalogue.lease(worker="w", hosts=1, urls=1, ttl=9, now=at(4)) == []
        assert lease_one(catalogue, 5).tasks[0].url == "http://a.ee/"

    def test_scheme_and_port_make_hosts_of_their_own(self, catalogue: Catalogue) -> None:
        add(catalogue, "http://a.ee/", "https://a.ee/", "https://a.ee:8443/x", "https://u:p@a.ee/secret")
        leases = catalogue.lease(worker="w", hosts=9, urls=9, ttl=9, now=at(0))
        assert sorted(lease.origin for lease in leases) == ["http://a.ee", "https://a.ee", "https://a.ee:8443"]

    def test_urls_that_differ_only_at_the_end_stay_apart_however_long(self, catalogue: Catalogue) -> None:
        long = "http://a.ee/" + "x" * 9_000
        urls = [long, long + "a", long + "b", "http://a.ee/X", "http://a.ee/x", "http://a.ee/x%00", "http://a.ee/õ"]
        add(catalogue, *urls, *urls)
        listed = _listed(catalogue)
        assert sorted(listed) == sorted(urls)
        assert [url for url in listed if len(url) < 600] == sorted(url for url in urls if len(url) < 600)
        assert len({catalogue.document(url).resource_id for url in urls}) == len(urls)

    def test_a_host_may_have_a_very_long_name(self, catalogue: Catalogue) -> None:
        add(catalogue, "http://" + "a." * 5_000 + "ee/")
        assert lease_one(catalogue).origin.endswith("a.ee")


def _lease_all(catalogue: Catalogue) -> list[list[tuple[str, int]]]:
    leases = catalogue.lease(worker="w", hosts=9, urls=9, ttl=9, now=at(2))
    return [[(task.url, task.source_id) for task in lease.tasks] for lease in leases]
