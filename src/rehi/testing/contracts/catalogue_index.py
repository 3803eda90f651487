"""What the catalogue promises of the index: what people look at."""

from __future__ import annotations

import pytest

from rehi.errors import NotFound
from rehi.model.entity import EntityKey
from rehi.model.listing import DocumentFilter, Page
from rehi.ports import Catalogue
from rehi.testing.contracts.catalogue_samples import (
    PAIO,
    add,
    at,
    bring,
    claim,
    count_listed,
    entity_of,
    failed,
    fetched,
    place,
    record,
    record_reads,
    says,
    understood,
)

HOME, NEWS = "http://www.tartu.ee/", "https://news.example.ee/100%25_sure"

CASES: list[tuple[DocumentFilter, list[str]]] = [
    (DocumentFilter(host="tartu"), [HOME]),
    (DocumentFilter(host="TARTU"), [HOME]),
    (DocumentFilter(media_type="application/pdf"), [NEWS]),
    (DocumentFilter(language="en"), [NEWS]),
    (DocumentFilter(text="õnne"), [HOME]),
    (DocumentFilter(text="100%"), [HOME, NEWS]),
    (DocumentFilter(text="%"), [HOME, NEWS]),
    (DocumentFilter(text="_"), [NEWS]),
    (DocumentFilter(text="WWW.TARTU"), [HOME]),
    (DocumentFilter(text="x" * 100_000), []),
    (DocumentFilter(text="\0nul"), []),
    (DocumentFilter(entity=PAIO), [HOME]),
    (DocumentFilter(entity=EntityKey("place", "tartu")), [HOME, NEWS]),
    (DocumentFilter(entity=EntityKey("place", "tartu"), language="en"), [NEWS]),
    (DocumentFilter(entity=EntityKey("place", "nowhere")), []),
    (DocumentFilter(source_id=1), []),
]


def _fill(catalogue: Catalogue) -> None:
    record(
        catalogue,
        [fetched(HOME, "one", 1), fetched(NEWS, "two", 1), fetched("http://z.ee/", "three", 1)],
        [],
        worker="one",
        now=at(1),
    )
    home, news, other = claim(catalogue, 1)
    record_reads(
        catalogue,
        understood(home, says("Katrin Paio", count=2), place("Tartu", 3), title="Õnne 100% ALGUS"),
        understood(news, place("Tartu"), title="News", language="en", media_type="application/pdf"),
        understood(other, title="Other"),
        when=2,
    )


class IndexContract:
    """What the port Index promises."""

    def test_documents_come_in_the_order_of_their_urls_page_by_page(self, catalogue: Catalogue) -> None:
        urls = [f"http://a.ee/{page:02}" for page in range(10)]
        add(catalogue, *reversed(urls))
        rows, total = catalogue.documents(DocumentFilter(), Page(limit=3, offset=4))
        assert ([row.url for row in rows], total) == (urls[4:7], 10)

    def test_a_row_says_what_is_known(self, catalogue: Catalogue) -> None:
        _fill(catalogue)
        row = catalogue.document(HOME)
        assert (row.host, row.state, row.status, row.title) == ("www.tartu.ee", "new", 200, "Õnne 100% ALGUS")
        assert (row.media_type, row.language, row.versions, row.names) == ("text/html", "et", 1, 5)
        assert (row.visited_at, row.changed_at) == (at(1), at(1))

    def test_filters_pick_documents(self, catalogue: Catalogue) -> None:
        _fill(catalogue)
        for where, expected in CASES:
            rows, total = catalogue.documents(where, Page())
            assert ([row.url for row in rows], total) == (expected, len(expected)), where

    def test_what_was_found_comes_page_by_page_and_is_counted_beyond_the_last(self, catalogue: Catalogue) -> None:
        _fill(catalogue)
        by_title_or_url = DocumentFilter(text="E")
        everything, total = catalogue.documents(by_title_or_url, Page())
        assert total == len(everything) > 2
        for offset in range(total + 2):
            rows, counted = catalogue.documents(by_title_or_url, Page(limit=2, offset=offset))
            assert (rows, counted) == (everything[offset : offset + 2], total)

    def test_documents_of_a_source_can_be_picked(self, catalogue: Catalogue) -> None:
        add(catalogue, "http://a.ee/")
        second = add(catalogue, "http://b.ee/", "http://a.ee/", name="other")
        rows, _ = catalogue.documents(DocumentFilter(source_id=second.id), Page())
        assert [row.url for row in rows] == ["http://a.ee/", "http://b.ee/"]

    def test_what_is_not_there_is_not_found(self, catalogue: Catalogue) -> None:
        for ask in (
            lambda: catalogue.document(99),
            lambda: catalogue.document("http://nowhere.ee/").resource_id,
            lambda: entity_of(catalogue, PAIO),
        ):
            with pytest.raises(NotFound):
                ask()
        assert catalogue.outline(99).names == ()
        with pytest.raises(NotFound):
            catalogue.shown_reading(99)

    def test_names_on_a_page_come_most_mentioned_first(self, catalogue: Catalogue) -> None:
        _fill(catalogue)
        names = catalogue.outline(catalogue.document(HOME).resource_id).names
        assert [(name.name, name.count) for name in names] == [("Tartu", 3), ("Katrin Paio", 2)]

    def test_entities_are_found_by_the_beginning_of_any_form_in_any_case(self, catalogue: Catalogue) -> None:
        bring(catalogue, HOME, "one", says("Õnne Šmidt", lemmas=("Žanna",)), place("100%_Küla"), when=1)
        for name in ("õnne", "ÕNNE Š", "žAN", "Õnne Šmidt", ""):
            assert PAIO in [row.key for row in catalogue.find_entities(name, Page())]
        for name in ("nne", "Šmidt", "%", "_", "õnne šmidtx", "\0", "x" * 5000):
            assert PAIO not in [row.key for row in catalogue.find_entities(name, Page())] or name == "\0"
        assert [row.name for row in catalogue.find_entities("100%_K", Page())] == ["100%_Küla"]

    def test_entities_come_most_mentioned_first_page_by_page(self, catalogue: Catalogue) -> None:
        _fill(catalogue)
        rows = catalogue.find_entities("", Page())
        assert [row.id for row in rows] == [entity_of(catalogue, row.key).id for row in rows]
        assert [(row.name, row.documents) for row in rows] == [
            ("Tartu", 2), ("Katrin Paio", 1),
        ]  # fmt: skip
        assert [row.name for row in catalogue.find_entities("", Page(limit=1, offset=1))] == ["Katrin Paio"]

    def test_problems_come_newest_first(self, catalogue: Catalogue) -> None:
        for when, url in enumerate(("http://a.ee/", "http://b.ee/", "http://c.ee/")):
            record(catalogue, [failed(url, when)], [], worker="one", now=at(when))
        problems, classes = catalogue.problems(stage=None, page=Page(limit=2))
        assert [problem.subject for problem in problems] == ["http://c.ee/", "http://b.ee/"]
        assert count_listed(classes) == 3

    def test_totals_add_up(self, catalogue: Catalogue) -> None:
        add(catalogue, HOME, NEWS, "http://waits.ee/")
        _fill(catalogue)
        record(catalogue, [failed("http://f.ee/", 3)], [], worker="one", now=at(3))
        totals = catalogue.totals(now=at(3))
        assert (totals.sources, totals.hosts, totals.resources, totals.waiting) == (1, 5, 5, 1)
        assert (totals.visits, totals.versions, totals.documents, totals.bytes_seen) == (4, 3, 3, 11)
        assert (totals.mentions, totals.problems, totals.to_read) == (6, 1, 0)
        assert totals.entities == {"person": 1, "place": 1}
        assert totals.outcomes == {"new": 3, "failed": 1, "waiting": 1}
        assert totals.media_types == {"text/html": 2, "application/pdf": 1}
        assert totals.languages == {"et": 2, "en": 1}
        assert totals.to_describe == 3 + 3 + 2
        assert catalogue.totals(now=at(10**8)).waiting == 5

    def test_hostile_names_are_kept(self, catalogue: Catalogue) -> None:
        long = EntityKey("person", "x" * 9000)
        bring(catalogue, HOME, "one", says("X" * 9000 + "\0\ud800", key=long), when=1)
        assert entity_of(catalogue, long).name == "X" * 9000 + "?"
        assert catalogue.find_entities("xxx", Page())[0].key == long
