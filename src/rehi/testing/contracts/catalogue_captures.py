"""What the catalogue promises of captures: what was there and when, in the order of URLs and of time."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rehi.model.capture import Capture, CaptureFilter
from rehi.model.version import RecordRef
from rehi.model.visit import Outcome, Visited
from rehi.ports import Catalogue
from rehi.testing.contracts.catalogue_samples import add, at, digest_of, failed, fetched, record, redirected, unchanged

A, B, C = "http://a.ee/", "http://b.ee/", "http://c.ee/"
PAGE = "http://www.a.ee/1"
_BOTH = frozenset({PAGE, "http://b.ee/x"})
_QUESTIONS = {  # and the moments of what they find
    "a URL": (CaptureFilter(url=PAGE), "34"),
    "a URL that is not known": (CaptureFilter(url="http://nobody.ee/"), ""),
    "a prefix": (CaptureFilter(prefix=PAGE), "345"),
    "a short prefix": (CaptureFilter(prefix="http"), "1234567"),
    "a long prefix": (CaptureFilter(prefix=PAGE + "x" * 700), ""),
    "a host": (CaptureFilter(host="www.a.ee"), "34567"),
    "a host and a prefix": (CaptureFilter(host="WWW.a.ee", prefix="https://"), "7"),
    "a host that is only a domain": (CaptureFilter(host="a.ee"), ""),
    "a domain": (CaptureFilter(host="a.ee", domain=True), "34567"),
    "a host and its port": (CaptureFilter(host="www.a.ee:8080"), "6"),
    "no pattern": (CaptureFilter(host="b.e_"), ""),
    "a type": (CaptureFilter(media_type="text/html"), "13567"),
    "a kind of types": (CaptureFilter(media_type="image/"), "2"),
    "half of a type": (CaptureFilter(media_type="text/htm"), ""),
    "a time": (CaptureFilter(since=at(3), until=at(5)), "345"),
    "versions": (CaptureFilter(versions_only=True), "123567"),
    "some URLs": (CaptureFilter(urls=_BOTH), "234"),
    "some URLs of a host": (CaptureFilter(urls=_BOTH, host="b.ee"), "2"),
    "a URL that is not among some": (CaptureFilter(urls=frozenset({A}), url=PAGE), ""),
    "no URLs": (CaptureFilter(urls=frozenset()), ""),
}


def _placed(visited: Visited) -> Visited:
    """Return the visit with a record of its own, as the archive gives every answer one."""
    return replace(visited, record=RecordRef("a.warc.gz", int((visited.at - at(0)).total_seconds() * 1000), 50))


def _keep(catalogue: Catalogue, *visited: Visited) -> None:
    for one in visited:
        record(catalogue, [one], [], worker="one", now=at(0))


def _list(catalogue: Catalogue, where: CaptureFilter | None = None) -> list[Capture]:
    return list(catalogue.captures(where or CaptureFilter()))


def _to_rows(captures: list[Capture]) -> list[tuple[str, int, str]]:
    return [(one.url, round((one.at - at(0)).total_seconds()), one.outcome.value) for one in captures]


class CapturesContract:
    """What the port Ledger promises of captures."""

    def test_captures_come_in_the_order_of_urls_and_of_time(self, catalogue: Catalogue) -> None:
        _keep(catalogue, fetched(B, "b", 1), fetched(A, "one", 2), fetched(A, "two", 4))
        _keep(catalogue, _placed(unchanged(B, 3)), _placed(redirected(C, A, 5)), failed(A, 6), unchanged(A, 7))
        captures = _list(catalogue)
        assert _to_rows(captures) == [
            (A, 2, "new"), (A, 4, "new"), (B, 1, "new"), (B, 3, "unchanged"), (C, 5, "redirect"),
        ]  # fmt: skip
        assert (captures[0].digest, captures[0].size, captures[0].status) == (digest_of("one"), 3, 200)
        assert (captures[0].media_type, captures[0].dropped) == ("text/html", False)
        assert captures[0].record == captures[0].body == RecordRef("a.warc.gz", 2000, 100)
        assert (captures[4].digest, captures[4].body, captures[4].media_type, captures[4].status) == (
            None,
            None,
            "",
            301,
        )
        assert captures[4].record == RecordRef("a.warc.gz", 5000, 50)

    def test_an_unchanged_visit_has_the_version_that_was_valid_then(self, catalogue: Catalogue) -> None:
        _keep(
            catalogue,
            fetched(A, "one", 10),
            _placed(unchanged(A, 15)),
            fetched(A, "two", 20),
            _placed(unchanged(A, 25)),
        )
        _keep(catalogue, fetched(A, "older", 12))  # a crawl that was made elsewhere comes late
        bodies = {round((one.at - at(0)).total_seconds()): one.digest for one in _list(catalogue)}
        one, old, new = digest_of("one"), digest_of("older"), digest_of("two")
        assert bodies == {10: one, 12: old, 15: one, 20: new, 25: new}  # which it found unchanged, whatever came before

    def test_an_unchanged_visit_points_to_its_own_record_and_to_the_bytes(self, catalogue: Catalogue) -> None:
        _keep(catalogue, fetched(A, "one", 1), _placed(unchanged(A, 2)))
        second = _list(catalogue)[1]
        assert (second.outcome, second.status) == (Outcome.UNCHANGED, 304)
        assert (second.record, second.body) == (
            RecordRef("a.warc.gz", 2000, 50),
            RecordRef("a.warc.gz", 1000, 100),
        )

    @pytest.mark.parametrize(("where", "expected"), _QUESTIONS.values(), ids=_QUESTIONS)
    def test_only_what_matches_is_listed(self, catalogue: Catalogue, where: CaptureFilter, expected: str) -> None:
        html = "Text/HTML; charset=utf-8"
        _keep(
            catalogue,
            fetched("http://aa.ee/", "1", 1),
            replace(fetched("http://b.ee/x", "2", 2), media_type="image/png"),
        )
        _keep(catalogue, replace(fetched(PAGE, "3", 3), media_type=html), _placed(redirected(PAGE, f"{PAGE}0", 4)))
        _keep(catalogue, fetched(f"{PAGE}0", "5", 5), fetched("http://www.a.ee:8080/", "6", 6))
        _keep(catalogue, fetched("https://www.a.ee/", "7", 7))
        assert "".join(str(seconds) for _, seconds, _ in _to_rows(_list(catalogue, where))) == expected

    def test_a_source_has_the_captures_of_its_urls(self, catalogue: Catalogue) -> None:
        add(catalogue, A)
        second = add(catalogue, B, name="other.txt")
        _keep(catalogue, fetched(A, "a", 1), fetched(B, "b", 2))
        assert _to_rows(_list(catalogue, CaptureFilter(source_id=second.id))) == [(B, 2, "new")]

    def test_a_list_goes_on_after_any_of_its_captures(self, catalogue: Catalogue) -> None:
        long = "http://b.ee/" + "x" * 700
        _keep(catalogue, *(fetched(f"http://a.ee/{n}", f"{n}{m}", 10 * n + m) for n in range(3) for m in range(3)))
        _keep(catalogue, fetched(long + "a", "a", 50), fetched(long + "b", "b", 51), fetched("http://c.ee/", "c", 52))
        for where in (CaptureFilter(), CaptureFilter(urls=frozenset(one.url for one in _list(catalogue)))):
            whole = _list(catalogue, where)
            assert len(whole) == 12
            for place, one in enumerate(whole):
                assert list(catalogue.captures(where, after=(one.url, one.at))) == whole[place + 1 :]
                assert list(catalogue.captures(where, after=(one.url, one.at), limit=2)) == whole[place + 1 : place + 3]
            between = catalogue.captures(where, after=("http://a.ee/1/", at(0)))
            assert list(between) == whole[6:]

    def test_pages_are_joined_without_gaps_however_many_there_are(self, catalogue: Catalogue) -> None:
        busy = "http://a.ee/busy"
        record(catalogue, [fetched(busy, "0", 0)], [], worker="one", now=at(0))
        many = [_placed(unchanged(busy, second)) for second in range(1, 4_300)]
        record(catalogue, many, [], worker="one", now=at(0))
        record(catalogue, [fetched(f"http://a.ee/{n:03}", str(n), n) for n in range(600)], [], worker="one", now=at(0))
        rows = _to_rows(_list(catalogue))
        assert rows == [
            *((f"http://a.ee/{n:03}", n, "new") for n in range(600)),
            (busy, 0, "new"),
            *((busy, second, "unchanged") for second in range(1, 4_300)),
        ]
