"""What the catalogue promises of the stock: what is dropped, what comes back, and what is held in all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from rehi.errors import NotFound, SettingsError, Unreadable
from rehi.model.retention import Buried, Rule, parse_rule
from rehi.model.version import Digest, RecordRef
from rehi.ports import Catalogue
from rehi.testing.contracts.catalogue_samples import (
    add,
    at,
    bring,
    came,
    claim,
    digest_of,
    lease_one,
    misread,
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


def buried(*bodies: str, versions: int = 1, rule: str = "last 1") -> list[Buried]:
    """Bodies that are to go."""
    return [Buried(digest=digest_of(b), size=len(b), rule=rule, versions=versions, places=()) for b in bodies]


def bury(catalogue: Catalogue, what: Sequence[Buried], when: float = LATER) -> dict[Digest, int]:
    """Mark bodies as dropped."""
    return dict(catalogue.bury(what, at=at(when), record=STONE, worker="one"))


def history(catalogue: Catalogue, url: str, *bodies: str, when: float = 0) -> None:
    """Versions of a URL, a second apart."""
    for place, body in enumerate(bodies, 1):
        catalogue.record([came(url, body, when + place)], [], worker="one", now=at(when + place))


class StockContract:
    """The port Stock."""

    def test_a_rule_is_kept_in_its_plain_form(self, catalogue: Catalogue) -> None:
        source = add(catalogue, A)
        assert source.keep == ""
        catalogue.set_keep(source.id, "  One per MONTH and last 5 ")
        assert catalogue.source(source.id).keep == "last 5 and one per month"
        catalogue.set_keep(source.id, "all")
        assert catalogue.source(source.id).keep == ""
        with pytest.raises(SettingsError):
            catalogue.set_keep(source.id, "the best ones")
        with pytest.raises(NotFound):
            catalogue.set_keep(source.id + 1, "last 1")

    def test_histories_have_the_versions_in_the_order_of_time(self, catalogue: Catalogue) -> None:
        source = add(catalogue, A, B, C)
        history(catalogue, A, "one", "two", when=10)
        history(catalogue, A, "older", when=0)
        history(catalogue, B, "single")
        (found,) = catalogue.histories({source.id: parse_rule("last 2")}, after=0, limit=9)
        assert (found.resource_id, found.source_ids) == (catalogue.resource_id(A), (source.id,))
        assert [version.taken_at for version in found.versions] == [at(1), at(11), at(12)]
        more = catalogue.histories({source.id: Rule(references=True)}, after=0, limit=9)
        assert [len(one.versions) for one in more] == [3, 1]
        assert catalogue.histories({source.id: Rule(references=True)}, after=more[0].resource_id, limit=9) == more[1:]
        assert catalogue.histories({source.id + 1: Rule(references=True)}, after=0, limit=9) == []
        assert catalogue.histories({}, after=0, limit=9) == []
        assert catalogue.histories_of([more[1].resource_id]) == more[1:]

    def test_a_history_names_all_sources_of_its_resource(self, catalogue: Catalogue) -> None:
        first, second = add(catalogue, A, name="one"), add(catalogue, A, B, name="two")
        history(catalogue, A, "one", "two")
        history(catalogue, B, "one", "two")
        rules = {second.id: Rule(last=1)}
        assert [one.source_ids for one in catalogue.histories(rules, after=0, limit=9)] == [
            (first.id, second.id),
            (second.id,),
        ]
        assert len(catalogue.histories({first.id: Rule(last=1)}, after=0, limit=9)) == 1

    def test_what_was_not_read_waits(self, catalogue: Catalogue) -> None:
        source = add(catalogue, A, B)
        history(catalogue, A, "one", "two")
        history(catalogue, B, "broken")
        rule = {source.id: Rule(references=True)}
        assert [v.waiting for one in catalogue.histories(rule, after=0, limit=9) for v in one.versions] == [True] * 3
        for task in claim(catalogue):
            result = misread(task, Unreadable("no")) if task.url == B else understood(task)
            record_reads(catalogue, result, when=9)
        page, broken = catalogue.histories(rule, after=0, limit=9)
        assert [version.waiting for version in page.versions] == [False, False]
        assert [version.current for version in page.versions] == [False, True]
        assert [version.waiting for version in broken.versions] == [True]

    def test_bytes_that_several_versions_have_are_counted(self, catalogue: Catalogue) -> None:
        source, other = add(catalogue, B, C), add(catalogue, A, name="other.txt")
        for url in (A, B, C):
            history(catalogue, url, "same", "and", "same", when=ord(url[7]))
        (blob,) = {v.blob_id for v in catalogue.histories_of([catalogue.resource_id(A)])[0].versions if v.current}
        (shared,) = catalogue.sharing([blob], sources=[source.id])
        assert (shared.size, shared.versions, shared.first_resource) == (4, 6, catalogue.resource_id(B))
        (shared,) = catalogue.sharing([blob], sources=[other.id])
        assert shared.first_resource == catalogue.resource_id(A)
        rows = sorted(catalogue.resource_id(url) for url in (A, B, C))
        assert catalogue.sharers([blob], limit=9) == [(blob, row) for row in rows]
        assert catalogue.sharers([blob], after=rows[0], limit=1) == [(blob, rows[1])]

    def test_dropped_bytes_are_not_found_but_their_versions_stay(self, catalogue: Catalogue) -> None:
        history(catalogue, A, "one", "two")
        assert bury(catalogue, buried("one", rule="last 1")) == {digest_of("one"): 3}
        assert catalogue.find_body([digest_of("one"), digest_of("two")]).keys() == {digest_of("two")}
        assert digest_of("one") in catalogue.find_body([digest_of("one")], dropped=True)
        assert [version.dropped for version in catalogue.versions(A)] == [True, False]
        dropping = catalogue.droppings([digest_of("one"), digest_of("two")])
        assert {digest: (one.at, one.rule) for digest, one in dropping.items()} == {
            digest_of("one"): (at(LATER), "last 1")
        }
        assert catalogue.known_end("dropped.warc.gz") == 150
        assert bury(catalogue, buried("one"), when=LATER + 1) == {}
        assert catalogue.droppings([digest_of("one")])[digest_of("one")].at == at(LATER)

    def test_bytes_that_a_version_has_got_since_stay(self, catalogue: Catalogue) -> None:
        history(catalogue, A, "one", "two")
        history(catalogue, B, "one", when=5)
        assert bury(catalogue, buried("one", versions=1)) == {}
        assert bury(catalogue, buried("one", versions=2), when=4) == {}
        assert bury(catalogue, buried("one", "never", versions=2)) == {digest_of("one"): 3}

    def test_dropped_bytes_that_come_again_are_kept_where_they_are_now(self, catalogue: Catalogue) -> None:
        history(catalogue, A, "one", "two")
        bury(catalogue, buried("one"))
        place = RecordRef("b.warc.gz", 7, 70)
        catalogue.record([came(B, "one", LATER + 1, ref=place)], [], worker="other", now=at(LATER + 1))
        assert catalogue.find_body([digest_of("one")]) == {digest_of("one"): place}
        assert [(version.dropped, version.body == place) for version in catalogue.versions(A)] == [
            (False, True),
            (False, False),
        ]
        assert catalogue.droppings([digest_of("one")]) == {}
        assert [task.url for task in claim(catalogue, LATER + 1, worker="other")] == [B]

    def test_bytes_that_are_the_same_again_are_kept_again_once_they_were_dropped(self, catalogue: Catalogue) -> None:
        add(catalogue, A)
        history(catalogue, A, "one")
        bury(catalogue, buried("one"))
        place = RecordRef("b.warc.gz", 7, 70)
        again = replace(came(A, "one", LATER + 1), record=place, body=place)
        catalogue.record([again], [], worker="one", now=at(LATER + 1))
        (version,) = catalogue.versions(A)
        assert (version.dropped, version.body) == (False, place)
        catalogue.record([unchanged(A, LATER + 2)], [], worker="one", now=at(LATER + 2))
        assert catalogue.versions(A)[0].body == place

    def test_a_visit_asks_for_dropped_bytes_unless_references_are_all_that_is_wanted(
        self, catalogue: Catalogue
    ) -> None:
        source = add(catalogue, A)
        history(catalogue, A, "one")
        (task,) = lease_one(catalogue, LATER * 9).tasks
        assert (task.body is not None, task.by_reference) == (True, False)
        bury(catalogue, buried("one"))
        catalogue.forget_leases(worker="one", rest=0, now=at(LATER * 9))
        (task,) = lease_one(catalogue, LATER * 10).tasks
        assert (task.body, task.digest, task.by_reference) == (None, digest_of("one"), False)
        catalogue.set_keep(source.id, "references")
        catalogue.forget_leases(worker="one", rest=0, now=at(LATER * 10))
        (task,) = lease_one(catalogue, LATER * 11).tasks
        assert (task.body, task.etag, task.by_reference) == (None, '"one"', True)

    def test_what_is_remembered_of_bytes_names_their_versions(self, catalogue: Catalogue) -> None:
        history(catalogue, A, "one", "two")
        history(catalogue, B, "one", when=5)
        found = catalogue.histories_of([catalogue.resource_id(A)])[0].versions
        (one,) = catalogue.describe_bodies({found[0].blob_id: "last 1"})
        assert (one.digest, one.size, one.rule, one.versions) == (digest_of("one"), 3, "last 1", 2)
        assert [(place.url, place.at, place.status, place.media_type) for place in one.places] == [
            (A, at(1), 200, "text/html"),
            (B, at(6), 200, "text/html"),
        ]
        assert one.places[0].record == RecordRef("a.warc.gz", 1000, 100)
        bury(catalogue, [one])
        assert catalogue.describe_bodies({found[0].blob_id: "last 1"}) == []

    def test_the_inventory_says_what_must_be_there_and_what_was_dropped(self, catalogue: Catalogue) -> None:
        assert (catalogue.known_files(), catalogue.last_body(), catalogue.sample_bodies(5)) == ([], 0, [])
        history(catalogue, A, "one", "two", "three")
        catalogue.record([came(B, "four", 9, ref=RecordRef("b.warc.gz", 0, 40))], [], worker="one", now=at(9))
        last = catalogue.last_body()
        bury(catalogue, buried("three", "one"))
        catalogue.record([came(C, "five", 10, ref=RecordRef("b.warc.gz", 40, 9))], [], worker="two", now=at(10))
        assert [(file.name, file.known_end, file.owner) for file in catalogue.known_files()] == [
            ("a.warc.gz", 3100, "one"),
            ("b.warc.gz", 49, "one"),
            (STONE.file, STONE.end, "one"),
        ]
        bodies = list(catalogue.bodies(until=last))
        assert [(body.digest, body.size, body.place) for body in bodies] == [
            (digest_of("two"), 3, RecordRef("a.warc.gz", 2000, 100)),
            (digest_of("four"), 4, RecordRef("b.warc.gz", 0, 40)),
        ]
        everything = list(catalogue.bodies(until=last + 1_000))
        assert len(everything) == 3
        assert {body.digest for body in catalogue.sample_bodies(500)} == {body.digest for body in everything}
        dropped = catalogue.dropped_bodies(before=at(LATER * 100))
        assert {body.place.offset for body in dropped} == {1000, 3000}
        assert list(catalogue.dropped_bodies(before=at(1))) == []

    def test_holdings_tell_what_is_logical_distinct_and_stored(self, catalogue: Catalogue) -> None:
        history(catalogue, A, "one", "twotwo", "one")
        dup = replace(came(B, "twotwo", 9, ref=RecordRef("b.warc.gz", 0, 40)), media_type="Text/HTML; charset=x")
        catalogue.record([dup], [], worker="one", now=at(9))
        other = replace(came(C, "an image", 10, ref=RecordRef("b.warc.gz", 40, 60)), media_type="image/png")
        catalogue.record([other], [], worker="one", now=at(10))
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
        bury(catalogue, buried("one", versions=3))
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
        bury(catalogue, buried("one"))
        history(catalogue, A, "two", when=LATER)
        read_all(catalogue, LATER)
        assert [version.dropped for version in catalogue.versions(A)] == [True, False]
        assert catalogue.document(catalogue.resource_id(A)).versions == 2
