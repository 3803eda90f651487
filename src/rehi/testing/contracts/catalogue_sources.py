"""What the catalogue promises of sources."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from rehi.errors import NotFound
from rehi.frontier.visit_rules import FrontierRules
from rehi.model.claims import NO_CLAIMS, Claims, SourceClaims, combine_orders
from rehi.model.listing import DocumentFilter, Page
from rehi.model.problem import Problem, Stage
from rehi.model.resource import Depths, Redirects
from rehi.model.source import Finding, FollowedLink, SourceChange, SourceState
from rehi.model.work import Claim
from rehi.ports import Catalogue
from rehi.testing.contracts.catalogue_samples import add, at, captured, fetched, findings, lease_one, record, redirected

NO_FILTER = DocumentFilter()


def _listed(catalogue: Catalogue, where: DocumentFilter = NO_FILTER) -> list[str]:
    return [row.url for row in catalogue.documents(where, Page())[0]]


def _claims_on(catalogue: Catalogue, url: str) -> Sequence[SourceClaims]:
    resource_id = catalogue.document(url).resource_id
    return catalogue.claims_on([resource_id]).get(resource_id, [])


def _claim(
    catalogue: Catalogue, worker: str, *, subjects: list[int] | None = None, retake: bool = False
) -> Sequence[Claim]:
    return catalogue.claim(("discover",), worker=worker, limit=9, ttl=60, now=at(10), subjects=subjects, retake=retake)


class SourcesContract:
    """What the port Sources promises."""

    def test_the_same_location_and_name_give_the_same_source(self, catalogue: Catalogue) -> None:
        first = catalogue.add_source(kind="crawl-log", name="a.log", location="/a.log", size=7, now=at(0))
        again = catalogue.add_source(kind="crawl-log", name="a.log", location="/a.log", size=7, now=at(9))
        other = catalogue.add_source(kind="page", name="https://a.ee/", location="", size=0, now=at(9))
        assert again == first
        assert (first.kind, first.state, first.added_at, first.cursor) == ("crawl-log", "waiting", at(0), b"")
        assert [source.id for source in catalogue.sources()] == [other.id, first.id]

    def test_a_source_may_have_a_very_long_name(self, catalogue: Catalogue) -> None:
        name = "https://a.ee/" + "x" * 20_000
        first = catalogue.add_source(kind="page", name=name, location="", size=0, now=at(0))
        assert catalogue.source(first.id).name == name

    def test_a_source_may_have_any_name(self, catalogue: Catalogue) -> None:
        names = ("NULL", '"', "\\", '\\"', "{a,b}", "a\nb\t", "õ 😀", "it's", "\\N", " ", "%s :now ?")
        ids = [catalogue.add_source(kind="page", name=name, location="/", size=0, now=at(0)).id for name in names]
        assert tuple(catalogue.source(row).name for row in ids) == names

    def test_a_source_that_is_not_there_is_not_found(self, catalogue: Catalogue) -> None:
        with pytest.raises(NotFound):
            catalogue.source(99)

    def test_urls_are_stored_once_and_the_first_source_keeps_them(self, catalogue: Catalogue) -> None:
        first = add(catalogue, "http://a.ee/", "http://a.ee/b", "http://a.ee/", name="one")
        second = catalogue.add_source(kind="url-list", name="two", location="/two", size=1, now=at(1))
        new = catalogue.take_in(second, findings("http://a.ee/", "http://b.ee/"), cursor=b"2", counts={}, now=at(1))
        assert new == 1
        tasks = [task for lease in _lease_all(catalogue) for task in lease]
        assert sorted(tasks) == [
            ("http://a.ee/", first.id),
            ("http://a.ee/b", first.id),
            ("http://b.ee/", second.id),
        ]

    def test_what_was_captured_joins_its_source_and_makes_nothing_due(self, catalogue: Catalogue) -> None:
        add(catalogue, "http://a.ee/", name="list")
        record(catalogue, [fetched("http://a.ee/", "one", next_in=9_999)], now=at(0))
        crawl = catalogue.add_source(kind="warc", name="crawl", location="/crawl", size=1, now=at(1))
        named = [Finding(url, capture=captured(url)) for url in ("http://a.ee/", "http://b.ee/")]
        assert catalogue.take_in(crawl, named, cursor=b"2", counts={}, now=at(1)) == 0
        assert [one.source for one in _claims_on(catalogue, "http://a.ee/")] == ["list", "crawl"]
        with pytest.raises(NotFound):
            catalogue.document("http://b.ee/")  # nothing was recorded of it
        assert _lease_all(catalogue) == []

    def test_a_resource_has_all_its_sources_and_each_remembers_when(self, catalogue: Catalogue) -> None:
        first = add(catalogue, "http://a.ee/", name="one", when=0)
        second = add(catalogue, "http://b.ee/", "http://a.ee/", name="two", when=5)
        catalogue.take_in(first, findings("http://a.ee/"), cursor=b"9", counts={}, now=at(9))
        claims = _claims_on(catalogue, "http://a.ee/")
        assert [(one.source, one.first_at, one.last_at) for one in claims] == [
            ("one", at(0), at(9)),
            ("two", at(5), at(5)),
        ]
        listed = [_listed(catalogue, DocumentFilter(source_id=source.id)) for source in (first, second)]
        assert listed == [["http://a.ee/"], ["http://a.ee/", "http://b.ee/"]]

    def test_a_finding_is_noted_once_in_a_reading_unless_it_claims_something_else(self, catalogue: Catalogue) -> None:
        source = add(catalogue, "http://a.ee/", "http://a.ee/b", when=0)
        source = catalogue.start_source(source.id, now=at(3))
        for moment, claims in ((4, NO_CLAIMS), (5, NO_CLAIMS), (6, Claims(title="A")), (7, Claims(title="A"))):
            named = [Finding("http://a.ee/", claims), Finding("http://a.ee/b")]
            catalogue.take_in(source, named, cursor=b"9", counts={}, now=at(moment))
        last = [_claims_on(catalogue, url)[0] for url in ("http://a.ee/", "http://a.ee/b")]
        assert [(one.first_at, one.last_at) for one in last] == [(at(0), at(6)), (at(0), at(4))]

    def test_what_a_source_claims_now_replaces_what_it_claimed_before(self, catalogue: Catalogue) -> None:
        source = catalogue.add_source(kind="url-list", name="a", location="/a", size=1, now=at(0))
        claimed = Claims(
            title="Õpetajad \0", media_type="text/csv", licence="CC0", modified_at=at(-9), frequency=86_400.0,
            part_of="Koolid", extra=(("theme", "haridus"),),
        )  # fmt: skip
        urls = [Finding("http://a.ee/1", claimed), Finding("http://a.ee/2")]
        catalogue.take_in(source, urls, cursor=b"2", counts={}, now=at(0))
        (claims,) = _claims_on(catalogue, "http://a.ee/1")
        assert (claims.claims.modified_at, claims.claims.extra, claims.claims.part_of) == (
            at(-9), (("theme", "haridus"),), "Koolid",
        )  # fmt: skip
        task = next(task for task in lease_one(catalogue).tasks if task.url == "http://a.ee/1")
        assert (combine_orders(task.sources).promised, combine_orders(task.sources).promised_type) == (
            86_400.0,
            "text/csv",
        )
        catalogue.take_in(source, findings("http://a.ee/1"), cursor=b"3", counts={}, now=at(1))
        (claims,) = _claims_on(catalogue, "http://a.ee/1")
        assert claims.claims == Claims()

    def test_a_task_has_what_all_its_sources_order_and_promise(self, catalogue: Catalogue) -> None:
        sources = [add(catalogue, "http://a.ee/", name=name) for name in ("one", "two", "three")]
        catalogue.change_source(sources[0].id, SourceChange(policy="latency 1h", weight=0.25))
        catalogue.change_source(sources[1].id, SourceChange(policy="adaptive", weight=4.0))
        promises = (
            Claims(frequency=60.0),
            Claims(media_type="text/csv"),
            Claims(frequency=30.0, media_type="text/tsv"),
        )
        for source, promise in zip(sources, promises, strict=True):
            catalogue.take_in(source, [Finding("http://a.ee/", promise)], cursor=b"1", counts={}, now=at(1))
        (task,) = lease_one(catalogue).tasks
        assert (combine_orders(task.sources).policies, combine_orders(task.sources).weight) == (
            ("latency 1h", "adaptive", ""),
            4.0,
        )
        assert (combine_orders(task.sources).promised, combine_orders(task.sources).promised_type) == (30.0, "text/csv")

    def test_what_a_page_redirects_to_belongs_to_the_pages_sources(self, catalogue: Catalogue) -> None:
        first, second = add(catalogue, "http://a.ee/", name="one"), add(catalogue, "http://a.ee/", name="two")
        record(catalogue, [redirected("http://a.ee/", to="http://b.ee/")], now=at(0))
        claims = _claims_on(catalogue, "http://b.ee/")
        assert [one.source_id for one in claims] == [first.id, second.id]

    def test_the_rules_say_whose_a_redirects_target_is(self, catalogue: Catalogue) -> None:
        first = add(catalogue, "http://a.ee/", name="one")
        catalogue.add_source(kind="url-list", name="two", location="/two", size=1, now=at(0))
        asked: list[Depths] = []

        class Nobodys(FrontierRules):
            @staticmethod
            def inherit_sources(redirects: Redirects, depths: Depths) -> Depths:
                asked.append({row: dict(sources) for row, sources in depths.items()})
                return {}

        record(catalogue, [redirected("http://a.ee/", to="http://b.ee/")], rules=Nobodys(), now=at(0))
        assert asked == [{catalogue.document("http://a.ee/").resource_id: {first.id: 0}}]
        assert _claims_on(catalogue, "http://b.ee/") == []

    def test_cursor_share_and_counts_are_kept_and_counts_add_up(self, catalogue: Catalogue) -> None:
        source = catalogue.add_source(kind="url-list", name="a", location="/a", size=1, now=at(0))
        catalogue.take_in(source, [], cursor=b"10", counts={"lines": 10, "rejected:dns": 2}, now=at(0))
        more = {"lines": 10, "seconds:x": 0.5}
        catalogue.take_in(source, findings("http://a.ee/"), cursor=b"\0\xff20", share=0.5, counts=more, now=at(1))
        catalogue.change_source(source.id, SourceChange(state=SourceState.READING))
        kept = catalogue.source(source.id)
        assert (kept.cursor, kept.share, kept.state) == (b"\0\xff20", 0.5, SourceState.READING)
        assert dict(kept.counts) == {"lines": 20, "rejected:dns": 2, "seconds:x": 0.5}

    def test_a_started_source_is_claimed_by_one_worker(self, catalogue: Catalogue) -> None:
        source = catalogue.add_source(kind="", name="http://a.ee/", location="http://a.ee/", size=0, now=at(0))
        started = catalogue.start_source(source.id, now=at(1))
        assert (started.state, started.began_at) == (SourceState.READING, at(1))
        assert catalogue.start_source(source.id, now=at(2)).began_at == at(1)
        (claim,) = _claim(catalogue, "one")
        assert claim.subject == source.id
        assert _claim(catalogue, "two") == []
        assert _claim(catalogue, "one") == []
        assert [again.subject for again in _claim(catalogue, "one", retake=True)] == [source.id]
        catalogue.finish([claim])
        catalogue.change_source(source.id, SourceChange(state=SourceState.DONE))
        assert catalogue.start_source(source.id, now=at(3)).state is SourceState.DONE
        assert _claim(catalogue, "one") == []
        again = catalogue.start_source(source.id, anew=True, now=at(4))
        assert (again.state, again.began_at, again.cursor) == (SourceState.READING, at(4), b"")
        assert len(_claim(catalogue, "two")) == 1

    def test_a_file_is_left_to_the_worker_that_has_it(self, catalogue: Catalogue) -> None:
        source = catalogue.add_source(kind="url-list", name="a", location="/a", size=1, worker="two", now=at(0))
        catalogue.start_source(source.id, now=at(0))
        assert _claim(catalogue, "one") == []
        assert [claim.subject for claim in _claim(catalogue, "two")] == [source.id]

    def test_a_file_of_nobody_is_that_workers_who_starts_it(self, catalogue: Catalogue) -> None:
        file = catalogue.add_source(kind="url-list", name="a", location="/a", size=1, now=at(0))
        page = catalogue.add_source(kind="page", name="http://a.ee/", location="http://a.ee/", size=0, now=at(0))
        for worker in ("two", "one"):
            for source in (file, page):
                catalogue.start_source(source.id, worker=worker, now=at(0))
        assert [catalogue.source(source.id).worker for source in (file, page)] == ["two", ""]
        assert [claim.subject for claim in _claim(catalogue, "one")] == [page.id]
        assert [claim.subject for claim in _claim(catalogue, "two")] == [file.id]

    def test_one_source_may_be_claimed_before_others(self, catalogue: Catalogue) -> None:
        ids = [
            catalogue.add_source(kind="page", name=name, location=name, size=0, now=at(0)).id
            for name in ("http://a.ee/", "http://b.ee/")
        ]
        for source_id in ids:
            catalogue.start_source(source_id, now=at(0))
        assert [claim.subject for claim in _claim(catalogue, "one", subjects=ids[1:])] == ids[1:]

    def test_a_source_waits_for_a_url_until_it_was_visited(self, catalogue: Catalogue) -> None:
        url = "http://a.ee/list.txt"
        source = catalogue.add_source(kind="", name=url, location=url, size=0, now=at(0))
        source = catalogue.start_source(source.id, now=at(0))
        claims = _claim(catalogue, "one")
        catalogue.suspend(source, url, claims, since=at(0), now=at(1))
        waiting = catalogue.source(source.id)
        assert (waiting.state, waiting.awaits) == (SourceState.READING, url)
        assert _claim(catalogue, "one") == []
        assert [task.url for task in lease_one(catalogue, 1).tasks] == [url]
        assert [one.source_id for one in _claims_on(catalogue, url)] == [source.id]
        record(catalogue, [fetched(url, "one", when=2)], now=at(2))
        assert [claim.subject for claim in _claim(catalogue, "one")] == [source.id]
        assert (catalogue.source(source.id).awaits, _claim(catalogue, "two")) == ("", [])

    def test_a_source_that_waits_for_what_is_known_has_it_visited_again(self, catalogue: Catalogue) -> None:
        url = "http://a.ee/"
        record(catalogue, [fetched(url, "one", next_in=9_999)], now=at(0))
        source = catalogue.add_source(kind="", name=url, location=url, size=0, now=at(5))
        source = catalogue.start_source(source.id, now=at(5))
        catalogue.suspend(source, url, _claim(catalogue, "one"), since=at(5), at_once=False, now=at(5))
        assert catalogue.lease(worker="w", hosts=1, urls=1, ttl=1, now=at(6)) == []
        catalogue.suspend(source, url, [], since=at(5), now=at(7))
        assert _claim(catalogue, "one") == []
        assert [task.url for task in lease_one(catalogue, 7).tasks] == [url]

    def test_a_visit_that_was_under_way_is_enough(self, catalogue: Catalogue) -> None:
        url = "http://a.ee/"
        source = catalogue.add_source(kind="", name=url, location=url, size=0, now=at(0))
        source = catalogue.start_source(source.id, now=at(0))
        record(catalogue, [fetched(url, "one", 1, next_in=9_999)], now=at(3))
        catalogue.suspend(source, url, _claim(catalogue, "one"), since=at(0), now=at(2))
        assert catalogue.lease(worker="w", hosts=1, urls=1, ttl=1, now=at(4)) == []
        assert [claim.subject for claim in _claim(catalogue, "one")] == [source.id]

    def test_links_lead_one_step_further_and_never_back(self, catalogue: Catalogue) -> None:
        source = add(catalogue, "http://a.ee/")
        catalogue.change_source(source.id, SourceChange(follow="same host, depth 2"))
        home = catalogue.document("http://a.ee/").resource_id
        linked = [FollowedLink(one, home, 1) for one in findings("http://a.ee/b", "http://a.ee/")]
        further = FollowedLink(Finding("http://a.ee/b"), home, 5)  # the first of several to one URL holds
        assert catalogue.follow_links([*linked, further], source_id=source.id, now=at(1)) == 1
        assert catalogue.follow_links([further], source_id=source.id, now=at(2)) == 0
        page = catalogue.document("http://a.ee/b").resource_id
        catalogue.follow_links([FollowedLink(Finding("http://a.ee/c"), page, 2)], source_id=source.id, now=at(3))
        far = catalogue.document("http://a.ee/c").resource_id
        claims = catalogue.claims_on([home, page, far, far + 99])
        assert {row: [(one.source_id, one.follow, one.depth) for one in some] for row, some in claims.items()} == {
            row: [(source.id, "same host, depth 2", depth)] for depth, row in enumerate((home, page, far))
        }
        assert _listed(catalogue, DocumentFilter(source_id=source.id)) == [
            "http://a.ee/", "http://a.ee/b", "http://a.ee/c",
        ]  # fmt: skip
        assert len(lease_one(catalogue, 3).tasks) == 3
        assert catalogue.source(source.id).counts["followed"] == 2
        catalogue.change_source(source.id, SourceChange(follow=""))
        assert [one.follow for one in catalogue.claims_on([home])[home]] == [""]
        with pytest.raises(NotFound):
            catalogue.change_source(source.id + 99, SourceChange(follow=""))

    def test_a_sources_policy_comes_with_its_tasks(self, catalogue: Catalogue) -> None:
        source = add(catalogue, "http://a.ee/")
        assert (source.policy, source.weight) == ("", 1.0)
        catalogue.change_source(source.id, SourceChange(policy="latency 15m", weight=2.5))
        kept = catalogue.source(source.id)
        assert (kept.policy, kept.weight, catalogue.sources()) == ("latency 15m", 2.5, [kept])
        (task,) = lease_one(catalogue).tasks
        assert (combine_orders(task.sources).policies, combine_orders(task.sources).weight) == (("latency 15m",), 2.5)
        with pytest.raises(NotFound):
            catalogue.change_source(source.id + 99, SourceChange(policy="", weight=1.0))

    def test_what_a_log_says_wrong_is_a_problem(self, catalogue: Catalogue) -> None:
        source = catalogue.add_source(kind="crawl-log", name="a", location="/a", size=1, now=at(0))
        bad = Problem(
            stage=Stage.SOURCES, code="malformed", subject="a:3", message="no \0 URL \ud800 here", next_step="skip",
            first_at=at(0), last_at=at(0),
        )  # fmt: skip
        catalogue.take_in(source, [], cursor=b"3", counts={}, problems=[bad], now=at(0))
        catalogue.take_in(source, [], cursor=b"3", counts={}, problems=[bad], now=at(5))
        (problem,), (counted,) = catalogue.problems(stage=Stage.SOURCES, page=Page())
        assert (problem.count, problem.subject, problem.message, counted.problems) == (2, "a:3", "no  URL ? here", 1)

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
