"""``rehi export`` takes a harvest elsewhere, whole or in part, and says what is wrong with an order."""

from __future__ import annotations

import csv
import hashlib
import json
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.command_line import rehi
from tests.conftest import Harvested

Run = Callable[..., subprocess.CompletedProcess[str]]
PAGES = "SELECT ?page WHERE { ?page a foaf:Document ; dcterms:language ?l } ORDER BY ?page LIMIT 3"


@pytest.fixture
def run(harvested: Harvested, tmp_path: Path) -> Run:
    def run(kind: str, name: str, *words: str) -> subprocess.CompletedProcess[str]:
        return rehi("export", kind, str(tmp_path / name), *words, data=harvested.settings.data)

    return run


def test_a_harvest_is_written_as_warc_with_its_index(run: Run, tmp_path: Path) -> None:
    from warcio.archiveiterator import ArchiveIterator

    result = run("warc", "out", "--json")
    assert result.returncode == 0, result.stderr
    said = json.loads(result.stdout)
    lines = (tmp_path / "out" / "index.cdxj").read_text().splitlines()
    assert len(lines) == said["captures"] == sum(said["counts"].values()) > 100
    assert said["counts"]["redirects"] > 0
    (file,) = said["files"]
    with (tmp_path / "out" / file).open("rb") as stream:
        kinds = [record.rec_type for record in ArchiveIterator(stream)]
    assert kinds.count("request") == said["captures"] == kinds.count("response") + kinds.count("revisit")
    assert set(kinds) == {"warcinfo", "request", "response", "revisit"}
    assert said["bytes"] == (tmp_path / "out" / file).stat().st_size


def test_a_part_is_chosen_by_host_type_time_and_prefix(run: Run, tmp_path: Path) -> None:
    rows = _table(run("files", "all"), tmp_path / "all")
    host = rows[-1]["url"].split("/")[2]
    assert {row["url"].split("/")[2] for row in _table(run("files", "h", "--host", host), tmp_path / "h")} == {host}
    html = _table(run("files", "t", "--type", "text/html", "--versions-only"), tmp_path / "t")
    assert {row["type"].partition(";")[0] for row in html} == {"text/html"}
    assert {row["outcome"] for row in html} == {"new"}
    prefix = rows[0]["url"][:12]
    found = _table(run("files", "p", "--url-prefix", prefix, "--since", "2020", "--source", "1"), tmp_path / "p")
    assert [row["url"] for row in found] == [row["url"] for row in rows if row["url"].startswith(prefix)]
    for row in rows:
        if row["path"]:
            content = (tmp_path / "all" / row["path"]).read_bytes()
            assert f"sha256:{hashlib.sha256(content).hexdigest()}" == row["digest"]


def _table(result: subprocess.CompletedProcess[str], folder: Path) -> list[dict[str, str]]:
    assert result.returncode == 0, result.stderr
    with (folder / "index.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_a_query_chooses_the_documents(run: Run, tmp_path: Path) -> None:
    (tmp_path / "q.rq").write_text(PAGES, encoding="utf-8")
    assert run("wacz", "a.wacz", "--sparql", PAGES).returncode == 0
    assert run("wacz", "b.wacz", "--sparql", f"@{tmp_path / 'q.rq'}").returncode == 0
    for name in ("a.wacz", "b.wacz"):
        with zipfile.ZipFile(tmp_path / name) as package:
            pages = [json.loads(line) for line in package.read("pages/pages.jsonl").splitlines()[1:]]
            described = json.loads(package.read("datapackage.json"))
        assert "URLs found by a query" in described["description"]
        assert 0 < len({page["url"] for page in pages}) <= 3
        assert any(page.get("title") for page in pages)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["warc", "o", "--sparql", "ASK { ?s ?p ?o }"], "an export needs a SELECT"),
        (["warc", "o", "--sparql", "SELECT ?n WHERE { ?who foaf:name ?n } LIMIT 3"], "binds no URL"),
        (["warc", "o", "--sparql", "SELECT ?page WHERE { ?page a nerd:Nothing }"], "binds no URL"),
        (["warc", "o", "--sparql", "SELECT"], "query"),
        (["warc", "o", "--sparql", "@nowhere.rq"], "nowhere.rq can't be read"),
        (["warc", "o", "--host", "nobody.test"], "nobody.test"),
        (["warc", "o", "--source", "99"], "99"),
        (["warc", "o", "--since", "soon"], "is no moment"),
        (["warc", "o", "--since", "2026-02-01", "--until", "2026-01-01"], "later than --until"),
        (["warc", "o", "--until", "1990"], "nothing that is kept matches"),
        (["warc", "o", "--url-prefix", "gopher://"], "nothing that is kept matches"),
        (["wacz", "o.zip"], "ends with .wacz"),
        (["wacz", f"{'x' * 300}.wacz"], "can't be written"),
    ],
    ids=range(13),
)
def test_a_wrong_order_is_one_sentence_and_leaves_nothing(
    run: Run, tmp_path: Path, words: list[str], said: str
) -> None:
    result = run(*words)
    assert result.returncode == 1
    assert said in result.stderr
    assert result.stderr.startswith("rehi: ")
    assert list(tmp_path.iterdir()) == []


def test_wrong_usage_ends_with_two(run: Run) -> None:
    assert run("tar", "o").returncode == 2
    assert run("warc", "o", "--subdomains").returncode == 2


def test_an_export_is_not_written_over_unless_told_to(run: Run, tmp_path: Path) -> None:
    words = ("files", "out", "--type", "text/csv")
    first = run(*words)
    assert first.returncode == 0, first.stderr
    assert "Written to" in first.stdout
    again = run(*words)
    assert (again.returncode, "add --force" in again.stderr) == (1, True)
    assert run(*words, "--force").returncode == 0
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
