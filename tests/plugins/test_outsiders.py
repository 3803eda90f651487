"""A package with a part of every kind is installed, and works from ``rehi add`` to the graph and the page."""

from __future__ import annotations

import csv
import io
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from rehi.builtin import BUILTIN
from tests.plugins.installation import LoopbackSite, Rehi, install, serving, write_settings
from tests.serve.conftest import ask_at

WELSH = (
    "Mae'r awyr yn las uwchben gorsaf Aberffin, ond mae hi'n oer iawn y bore yma. Disgwylir eira yn y prynhawn ger"
    " gorsaf Llanwyntog, a bydd y gwynt yn codi gyda'r nos."
)
REPORT = f"Tywydd y gogledd\n\nstation|degrees|sky\nAberffin|-4|clear\nLlanwyntog|2|Snow showers\n\n{WELSH}\n".encode()
WARM = REPORT.replace(b"-4", b"14").replace(b"gorsaf Llanwyntog", b"y mynydd")
WEATHER = "application/vnd.weather"
TERMS = "PREFIX w: <http://weather.example/terms#> "
KINDS = {
    "source",
    "format",
    "facet",
    "topic",
    "entity_kind",
    "language",
    "catalogue",
    "graph",
    "shelf",
    "backup",
    "executor",
}


@dataclass(frozen=True, slots=True)
class Outside:
    """A house on an outsider's engines that has harvested a report in an outsider's format."""

    rehi: Rehi
    site: LoopbackSite
    folder: Path

    def query(self, text: str) -> list[list[str]]:
        """Ask the graph, and return the rows of the answer."""
        answer = self.rehi.run("query", TERMS + text, "--format", "csv")
        return list(csv.reader(io.StringIO(answer)))[1:]


@pytest.fixture(scope="module")
def outside(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Outside]:
    folder = tmp_path_factory.mktemp("outside")
    packages = install("weather", folder / "packages")
    pages = {
        "/ilm.wx": (WEATHER, REPORT),
        "/copy/ilm.wx": (WEATHER, REPORT),
        "/plain.html": ("text/html; charset=utf-8", b"<h1>Mary Smith</h1><p>Mary Smith was in Leeds yesterday.</p>"),
    }
    with serving(pages) as site:
        config = write_settings(
            folder,
            site,
            catalogue=f"granary:///{folder}/granary.db",
            graph=f"ledger://{folder}/graph",
            executor="bench:",
            shelf=f"loft://{folder}/loft",
        )
        rehi = Rehi(config, (packages,))
        listed = "".join(f"{site.url(path)} Report {path}\n" for path in pages) + "::: nothing\n"
        site.pages["/almanac"] = ("text/plain", f"almanac 1\n{listed}".encode())
        rehi.run("add", site.url("/almanac"))
        rehi.run("harvest")
        yield Outside(rehi, site, folder)


def test_the_package_brings_a_part_of_every_kind_and_all_are_listed(outside: Outside) -> None:
    parts = outside.rehi.ask("plugins", "--others")
    assert {part["group"] for part in parts} == KINDS
    assert set(BUILTIN) == KINDS, "the weather package should bring one of each kind"
    assert {(part["package"], part["version"], part["error"]) for part in parts} == {("rehi-weather", "0.3.1", "")}
    everything = outside.rehi.ask("plugins")
    assert [part for part in everything if part["package"] == "rehi-weather"]
    assert sum(part["package"] == "rehi" for part in everything) == sum(map(len, BUILTIN.values()))
    facet = next(part for part in parts if part["group"] == "facet")
    assert (facet["name"], facet["place"]) == ("weather", "rehi_weather.facet:FACET")
    assert "rehi_weather.facet:FACET" in outside.rehi.run("plugins")


def test_the_house_stands_on_the_packages_engines(outside: Outside) -> None:
    assert (outside.folder / "granary.db").exists()
    assert list((outside.folder / "loft").glob("*.warc.gz"))
    assert list((outside.folder / "loft" / "derived").glob("*.warc.gz"))
    ledger = (outside.folder / "graph.ledger").read_text(encoding="ascii")
    assert sum(map(int, ledger.split())) > 0
    checks = {check["what"]: check for check in outside.rehi.ask("doctor", code=0)}
    assert checks["place of the archive"]["seen"] == "a loft"
    assert checks["plugins"]["ok"]


def test_backups_lie_at_the_packages_place(outside: Outside) -> None:
    place = f"barn://{outside.folder}/barn"
    outside.rehi.run("backup", place)
    assert len(outside.rehi.ask("backup", "list", place)) == 1
    outside.rehi.run("backup", "verify", place)
    assert any((outside.folder / "barn").rglob("*"))


def test_the_source_accounts_for_every_entry_and_its_claims_are_shown(outside: Outside) -> None:
    with outside.rehi.up() as address:
        ask = ask_at(address)
        (source,) = ask("/api/sources").json
        assert (source["kind"], source["state"]) == ("almanac", "done")
        counts = source["counts"]
        assert (counts["reports"], counts["accepted"], counts["malformed"]) == (4, 3, 1)
        assert "almanac" in ask(f"/sources/{source['id']}").text
        rows = ask(f"/api/documents?source={source['id']}").json["documents"]
        assert {row["url"] for row in rows} == {outside.site.url(path) for path in outside.site.pages}
        row = next(row for row in rows if row["url"] == outside.site.url("/ilm.wx"))
        page = ask(f"/documents/{row['resource_id']}").text
        assert "Report /ilm.wx" in page
        assert "The Almanac" in page


def test_the_format_is_read_with_its_parts_and_its_table(outside: Outside) -> None:
    reading = outside.rehi.ask("text", outside.site.url("/ilm.wx"))
    document = reading["document"]
    assert (document["media_type"], document["title"]) == (WEATHER, "Tywydd y gogledd")
    assert [part["kind"] for part in document["parts"]] == ["stations", "forecast"]
    assert document["text"][document["parts"][1]["start"] :].startswith("Mae'r awyr")
    (table,) = document["tables"]
    assert (table["header"], table["rows"], table["part"]) == (["station", "degrees", "sky"], 2, 0)
    assert table["dialect"] == {"delimiter": "|", "quote_char": ""}


def test_exact_duplicates_are_read_once(outside: Outside) -> None:
    import sqlite3

    with sqlite3.connect(outside.folder / "granary.db") as connection:
        readings = connection.execute("SELECT count(*) FROM reading WHERE media_type = ?", (WEATHER,)).fetchone()[0]
        shown = connection.execute("SELECT count(*) FROM document").fetchone()[0]
    connection.close()
    assert (readings, shown) == (1, 4)


def test_the_tagger_finds_entities_of_the_new_kind(outside: Outside) -> None:
    (row,) = outside.rehi.ask("find", "aberf")
    assert row["entity"]["key"] == {"kind": "station", "slug": "aberffin", "sense": 1}
    assert len(row["pages"]) == 2
    assert outside.rehi.ask("stats")["totals"]["entities"]["station"] == 2
    assert "stations" in outside.rehi.run("stats")


def test_the_graph_says_what_kind_facet_and_topic_state(outside: Outside) -> None:
    station = outside.query('SELECT ?s ?name { ?s a w:Station ; w:stationName ?name FILTER(?name = "Aberffin") }')
    assert station == [["http://rehi.localhost/entity/station/aberffin", "Aberffin"]]
    page = outside.site.url("/ilm.wx")
    assert outside.query(f"SELECT ?n {{ <{page}> w:coldest ?n }}") == [["-4"]]
    graph = outside.query(f"SELECT ?g ?season {{ GRAPH ?g {{ <{page}> w:season ?season }} }}")
    assert [row[1] for row in graph] == ["winter"]
    assert "/graph/climate/" in graph[0][0]


STATIONS = "SELECT ?name ?height ?reports { ?s w:name ?name ; w:height ?height ; w:reports ?reports } ORDER BY ?name"


def test_a_topic_with_subjects_of_its_own_speaks_of_all_of_them(outside: Outside) -> None:
    known = [["Aberffin", "12", "2"], ["Llanwyntog", "310", "2"], ["Pen-y-niwl", "904", "0"]]
    assert outside.query(STATIONS) == known, "also what no document concerns"
    totals = outside.rehi.ask("stats")["totals"]
    compared = totals["documents"] * 2 + sum(totals["entities"].values()) + len(known)
    outside.rehi.run("harvest", "--graph-anew")
    assert outside.query(STATIONS) == known
    _lose_graph(outside)
    outside.rehi.run("harvest")
    assert outside.query(STATIONS) == known
    with outside.rehi.up() as address:
        page = ask_at(address)(f"/sparql?query={quote(TERMS + STATIONS)}").text
        assert "Pen-y-niwl" in page
    graph = next(check for check in outside.rehi.ask("doctor", "--deep", code=0) if check["what"] == "graph")
    assert f"{compared} descriptions compared" in graph["seen"]


def test_the_page_and_the_api_show_all_of_it(outside: Outside) -> None:
    with outside.rehi.up() as address:
        ask = ask_at(address)
        rows = ask("/api/documents?term=sky:snow%20SHOWERS").json
        assert {row["url"] for row in rows["documents"]} == {outside.site.url(f"{at}/ilm.wx") for at in ("", "/copy")}
        assert ask("/api/documents?term=sky:clear&term=sky:Fog").json["total"] == 0
        assert ask("/api/documents?term=sky").status == 400
        row = next(row for row in rows["documents"] if row["url"] == outside.site.url("/ilm.wx"))
        details = ask(f"/api/documents/{row['resource_id']}").json
        assert ([part["title"] for part in details["parts"]], details["tables"][0]["rows"]) == (
            ["Stations", "Forecast"], 2,
        )  # fmt: skip
        facets = ask(f"/api/documents/{row['resource_id']}/annotations").json["facets"]
        assert facets["weather"] == {"coldest": "Aberffin", "degrees": -4, "skies": ["Snow showers", "clear"]}
        assert [mention["surface"] for mention in facets["names"]] == ["Aberffin", "Llanwyntog"]
        page = ask(f"/documents/{row['resource_id']}").text
        for shown in ("Coldest", "Aberffin, -4 °C", "kind-station", "sky: clear", "station, degrees, sky", "Forecast"):
            assert shown in page, shown
        assert ask("/entity/station/aberffin").status == 200
        assert ask("/api/entities?kind=station").json[0]["key"]["kind"] == "station"
        assert "rehi-weather 0.3.1" in ask("/plugins?others=true").text
        assert {part["package"] for part in ask("/api/plugins?others=true").json} == {"rehi-weather"}
        assert "rehi_weather.welsh:Welsh" in ask("/plugins").text
        found = ask(f"/text?url={quote(outside.site.url('/ilm.wx'))}&version=1")
        assert (found.status, "Coldest" in found.text) == (200, True)


def test_what_a_page_says_no_more_the_topic_takes_back(outside: Outside) -> None:
    page = outside.site.url("/ilm.wx")
    outside.site.pages["/ilm.wx"] = (WEATHER, WARM)
    outside.rehi.run("update", "--url", page)
    assert outside.query(f"SELECT ?s {{ <{page}> w:season ?s }}") == []
    assert outside.query(f"SELECT ?n {{ <{page}> w:coldest ?n }}") == [["2"]]
    assert [row[2] for row in outside.query(STATIONS)] == ["2", "1", "0"]
    old = outside.rehi.ask("text", page, "--version", "1")
    assert old["facets"]["weather"]["degrees"] == -4
    assert outside.rehi.ask("stats")["totals"]["to_describe"] == 0


def test_without_the_package_everything_it_made_stays_readable(outside: Outside, tmp_path: Path) -> None:
    """The engines' files are rehi's own under another name, so rehi can open them without the package."""
    plain = write_settings(
        tmp_path,
        outside.site,
        catalogue=f"sqlite:///{outside.folder}/granary.db",
        graph=f"oxigraph://{outside.folder}/graph",
    )
    settings = plain.read_text(encoding="utf-8").replace(
        f'data = "{tmp_path / "data"}"', f'data = "{outside.folder / "data"}"'
    )
    plain.write_text(settings, encoding="utf-8")
    for part, name in (("", "archive"), ("derived", "derived")):
        here = outside.folder / "data" / name
        here.mkdir(parents=True, exist_ok=True)
        for file in (outside.folder / "loft" / part).glob("*.warc.gz"):
            (here / file.name).write_bytes(file.read_bytes())
    rehi = Rehi(plain)
    outdated = rehi.ask("stats")
    assert outdated["outdated"] == outdated["totals"]["documents"] == 4
    reading = _show(rehi, outside.site.url("/copy/ilm.wx"))
    assert reading["facets"].keys() == {"language", "names"}
    assert reading["document"]["parts"]
    assert rehi.ask("plugins", "--others") == []


def _lose_graph(outside: Outside) -> None:
    shutil.rmtree(outside.folder / "graph")


def _show(rehi: Rehi, url: str) -> Any:
    with rehi.up() as address:
        ask = ask_at(address)
        row = next(row for row in ask("/api/documents").json["documents"] if row["url"] == url)
        page = ask(f"/documents/{row['resource_id']}")
        assert page.status == 200
        assert "Aberffin" in page.text
        return ask(f"/api/documents/{row['resource_id']}/annotations").json
