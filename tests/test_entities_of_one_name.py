"""Two people of one name are two, once somebody has said so: on pages, in the graph, and when their pages are read again."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from rehi.app import House
from rehi.errors import NotFound
from rehi.model.entity import EntityKey
from rehi.operations.entities import get_entity, merge_entities, split_entity
from rehi.settings import load_settings
from tests.plugins.installation import Rehi, serving, write_settings
from tests.serve.conftest import ask_at

HTML = "text/html; charset=utf-8"
FIRST, SECOND = "person/mary-smith", "person/mary-smith/2"
MENTIONS = (
    "PREFIX n: <http://www.estner.ee/estnerd#> SELECT ?who ?page { ?who n:mentionedAtSite ?page } ORDER BY ?who ?page"
)


def tell(where: str) -> bytes:
    return f"<h1>News</h1><p>Yesterday Mary Smith was seen in {where}, and Mary Smith was glad of it.</p>".encode()


def test_what_is_divided_stays_divided_and_what_is_merged_merged(tmp_path: Path) -> None:
    with serving({"/one": (HTML, tell("Leeds")), "/two": (HTML, tell("London"))}) as site:
        rehi = Rehi(write_settings(tmp_path, site))
        urls = tmp_path / "urls.txt"
        urls.write_text(f"{site.url('/one')}\n{site.url('/two')}\n", encoding="utf-8")
        rehi.run("add", str(urls))
        rehi.run("harvest")

        def mentioned() -> set[tuple[str, str]]:
            rows = csv.reader(io.StringIO(rehi.run("query", MENTIONS, "--format", "csv")))
            entities = ((who.partition("/entity/")[2], page.removeprefix(site.origin)) for who, page in list(rows)[1:])
            return {(who, page) for who, page in entities if who.startswith("person/mary")}

        assert mentioned() == {(FIRST, "/one"), (FIRST, "/two")}
        with House(load_settings(rehi.config)) as house:
            two = house.catalogue.document(site.url("/two")).resource_id
            other = split_entity(house, entity=FIRST, documents=(two,))
            assert (str(other.key), other.documents) == (SECOND, 1)
        rehi.run("harvest")
        assert mentioned() == {(FIRST, "/one"), (SECOND, "/two")}

        site.pages["/two"] = (HTML, tell("Manchester"))
        rehi.run("update", "--url", site.url("/two"))
        assert mentioned() == {(FIRST, "/one"), (SECOND, "/two")}, "the page was read again"
        with rehi.up() as address:
            ask = ask_at(address)
            assert ask(f"/entity/{SECOND}").status == ask(f"/api/entities/{SECOND}").status == 200
            assert ask(f"/api/entities/{SECOND}").json["key"] == {"kind": "person", "slug": "mary-smith", "sense": 2}
            assert f'href="/entity/{SECOND}"' in ask(f"/documents/{two}").text
            rows = ask(f"/api/documents?entity={SECOND}").json["documents"]
            assert [row["url"] for row in rows] == [site.url("/two")]
        with House(load_settings(rehi.config)) as house:
            assert merge_entities(house, entity=SECOND, into=FIRST).documents == 2
            assert str(get_entity(house, kind="person", slug="mary-smith/2").key) == FIRST
            with pytest.raises(NotFound):
                split_entity(house, entity="person/nobody-at-all", documents=(two,))
        rehi.run("harvest")
        assert mentioned() == {(FIRST, "/one"), (FIRST, "/two")}


def test_the_key_of_the_first_of_a_name_says_nothing_of_others() -> None:
    assert str(EntityKey("person", "mary-smith")) == FIRST
    assert str(EntityKey("person", "mary-smith", 2)) == SECOND
