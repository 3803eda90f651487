"""A package whose parts can't be loaded, or fail, costs nobody anything but these parts."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.plugins.installation import LONGEST, LoopbackSite, Rehi, install, serving, write_settings
from tests.serve.conftest import ask_at

BROKEN = "application/vnd.broken"
FINNISH = (
    "<html><body><p>Helsingin kaupunginhallitus päätti eilen, että uusi kirjasto avataan toukokuussa kaikille"
    " kaupunkilaisille ja että ovet ovat auki joka päivä.</p></body></html>"
)
ENGLISH = "<html><body><h1>Library</h1><p>Mary Smith opened the new library in Leeds yesterday.</p></body></html>"


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return install("broken", tmp_path_factory.mktemp("broken") / "packages")


@pytest.fixture(scope="module")
def harvested(package: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Rehi, LoopbackSite]]:
    folder = tmp_path_factory.mktemp("harvested")
    pages = {
        "/en.html": ("text/html; charset=utf-8", ENGLISH.encode()),
        "/fi.html": ("text/html; charset=utf-8", FINNISH.encode()),
        "/odd": (BROKEN, b"some text"),
        "/deadly.html": ("text/html; charset=utf-8", b"<title>Last words</title><p>A deadly text."),
    }
    with serving(pages) as site:
        rehi = Rehi(write_settings(folder, site), (package,))
        urls = folder / "urls.txt"
        urls.write_text("".join(f"{site.url(path)}\n" for path in pages), encoding="utf-8")
        rehi.run("add", str(urls))
        rehi.run("harvest")
        yield rehi, site


def test_the_help_does_not_care(package: Path, tmp_path: Path) -> None:
    rehi = Rehi(write_settings(tmp_path), (package,))
    ended = subprocess.run(
        rehi.line("--help"), env=rehi.environment, capture_output=True, text=True, timeout=LONGEST, check=True
    )
    assert "harvest" in ended.stdout
    assert ended.stderr == ""


def test_every_part_is_named_with_the_reason(harvested: tuple[Rehi, LoopbackSite]) -> None:
    rehi, _ = harvested
    errors = {(part["group"], part["name"]): part["error"] for part in rehi.ask("plugins", "--others")}
    assert "another planet" in errors["facet", "unimportable"]
    assert "ABSENT" in errors["facet", "absent"]
    assert "rehi has its own" in errors["format", "text/html"]
    assert "no kind of part called 'soothsayer'" in errors["soothsayer", "misspelt"]
    assert errors["facet", "failing"] == ""
    assert "it follows no topic and has no subjects" in errors["topic", "lonely"]
    assert "it follows hen, which comes back to itself" in errors["topic", "hen"]
    assert "it follows egg, which comes back to itself" in errors["topic", "egg"]
    assert "it follows the topic parent, which is not installed" in errors["topic", "orphan"]
    for group in ("catalogue", "graph", "shelf", "backup", "executor", "source"):
        assert "another planet" in errors[group, "nowhere"]
    assert "another planet" in rehi.run("plugins")


def test_the_doctor_names_the_package(harvested: tuple[Rehi, LoopbackSite]) -> None:
    rehi, _ = harvested
    check = next(check for check in rehi.ask("doctor", code=1) if check["what"] == "plugins")
    assert not check["ok"]
    assert "facet unimportable of rehi-broken" in check["seen"]


def test_the_text_and_all_other_facets_stay(harvested: tuple[Rehi, LoopbackSite]) -> None:
    rehi, site = harvested
    (row,) = rehi.ask("find", "Mary Smith")
    assert row["pages"] == [site.url("/en.html")]
    answer = rehi.run("query", "SELECT ?t { ?d <http://purl.org/dc/terms/language> ?t }", "--format", "csv")
    assert {"en", "fi"} <= set(answer.split()[1:])


def test_what_failed_is_on_the_problems_list_with_what_happens_next(harvested: tuple[Rehi, LoopbackSite]) -> None:
    rehi, site = harvested
    problems = rehi.ask("problems")["problems"]
    by_subject = {(problem["stage"], problem["subject"]): problem for problem in problems}
    english = by_subject["enrich", site.url("/en.html")]
    assert (english["code"], english["next_step"]) == ("facet-failed", "quarantine")
    assert "failing: ZeroDivisionError: nothing can be known" in english["message"]
    assert "failing_terms: AttributeError" in english["message"]
    assert "names: " in by_subject["enrich", site.url("/fi.html")]["message"]
    assert "another planet" in by_subject["extract", site.url("/odd")]["message"]
    assert by_subject["graph", "facet failing_state"]["message"].endswith("LookupError: no words for it")
    topic = by_subject["graph", "topic failing"]
    assert (topic["code"], topic["next_step"]) == ("topic-failed", "retry")
    assert all(problem["advice"] for problem in problems)


def test_a_facet_that_ends_the_process_does_not_cost_the_text(harvested: tuple[Rehi, LoopbackSite]) -> None:
    rehi, site = harvested
    noted = {(one["stage"], one["subject"]): one for one in rehi.ask("problems")["problems"]}
    assert noted["enrich", site.url("/deadly.html")]["code"] == "reader-crashed"
    answer = rehi.run("query", "SELECT ?t { ?d <http://purl.org/dc/terms/title> ?t }", "--format", "csv")
    assert "Last words" in answer.splitlines()


def test_documents_of_which_a_facet_failed_are_out_of_date(harvested: tuple[Rehi, LoopbackSite]) -> None:
    rehi, _ = harvested
    stats = rehi.ask("stats")
    assert (stats["outdated"], stats["totals"]["documents"]) == (3, 3)


def test_the_pages_show_what_there_is(harvested: tuple[Rehi, LoopbackSite]) -> None:
    rehi, site = harvested
    with rehi.up() as address:
        ask = ask_at(address)
        row = next(row for row in ask("/api/documents").json["documents"] if row["url"] == site.url("/en.html"))
        page = ask(f"/documents/{row['resource_id']}").text
        assert "Mary Smith" in page
        assert "Failing could not be found out: ZeroDivisionError: nothing can be known" in page
        assert "Failing_show could not be found out: AttributeError: nothing to see" in page
        facets = ask(f"/api/documents/{row['resource_id']}/annotations").json
        assert facets["facets"].keys() == {"language", "names", "failing_state", "failing_show"}
        assert facets["failures"]["failing_encode"] == "KeyError: 'not twice'"
        assert "another planet" in ask("/plugins").text
        assert {part["package"] for part in ask("/api/plugins").json} == {"rehi", "rehi-broken"}
        assert ask("/").status == ask("/names").status == ask("/workers").status == 200


@pytest.mark.parametrize(
    ("what", "why"),
    [
        ("raise", "the kind shaky of rehi-broken failed: RuntimeError: the ground moved"),
        ("entry", "its kind gave a str as an entry, and not a Finding, a Rejected or a Malformed"),
        ("url", "the kind shaky of rehi-broken failed: ValueError: 'a b' is no URL in its normal form"),
    ],
    ids=["raise", "entry", "url"],
)
def test_a_kind_of_sources_that_fails_costs_only_its_source(package: Path, tmp_path: Path, what: str, why: str) -> None:
    rehi = Rehi(write_settings(tmp_path), (package,))
    shaky, plain = tmp_path / "shaky.txt", tmp_path / "plain.txt"
    shaky.write_text(f"shaky http://127.0.0.1:1/ {what}", encoding="utf-8")
    plain.write_text("http://127.0.0.1:1/plain\n", encoding="utf-8")
    rehi.run("add", str(shaky), code=1)
    added = subprocess.run(
        rehi.line("add", str(plain)), env=rehi.environment, capture_output=True, text=True, timeout=LONGEST, check=True
    )
    assert "shaky can't tell what plain.txt is, and is left out: IndexError: what is this" in added.stderr
    assert "Traceback" not in added.stderr
    states = {source["name"]: (source["state"], source["counts"]["accepted"]) for source in rehi.ask("source")}
    assert states == {"shaky.txt": ("failed", 1), "plain.txt": ("done", 1)}
    (problem,) = rehi.ask("problems", "--stage", "sources")["problems"]
    assert why in problem["message"]
    assert "shaky list" in rehi.run("source")
    assert "shaky" in Rehi(rehi.config).run("source"), "also without the package"


def test_a_source_at_a_url_whose_kind_fails_does_not_end_the_harvest(harvested: tuple[Rehi, LoopbackSite]) -> None:
    rehi, site = harvested
    site.pages["/shaky"] = ("text/plain", f"shaky {site.url('/en.html')} raise".encode())
    rehi.run("add", site.url("/shaky"))
    rehi.run("harvest")
    rehi.run("harvest")
    source = next(one for one in rehi.ask("source") if one["name"] == site.url("/shaky"))
    assert (source["kind"], source["state"]) == ("shaky", "failed")
    (problem,) = rehi.ask("problems", "--stage", "sources")["problems"]
    assert "the ground moved" in problem["message"]


def test_a_place_for_backups_that_fails_is_one_sentence(harvested: tuple[Rehi, LoopbackSite]) -> None:
    rehi, _ = harvested
    for place, why in (
        ("ruin:///there", "the place for backups ruin of rehi-broken failed"),
        ("nowhere:///x", "another planet"),
    ):
        ended = subprocess.run(
            rehi.line("backup", place), env=rehi.environment, capture_output=True, text=True, timeout=LONGEST
        )
        assert ended.returncode == 1
        assert why in ended.stderr
        assert "Traceback" not in ended.stderr.split("rehi: ")[-1]


def test_when_the_package_is_gone_so_are_its_problems(harvested: tuple[Rehi, LoopbackSite]) -> None:
    """Runs last: the pages are visited and read again without the package."""
    rehi, site = harvested
    without = Rehi(rehi.config)
    site.pages["/en.html"] = ("text/html; charset=utf-8", ENGLISH.replace("yesterday", "today").encode())
    without.run("update", "--url", site.url("/en.html"))
    subjects = {problem["subject"] for problem in without.ask("problems")["problems"]}
    assert site.url("/en.html") not in subjects
    assert without.ask("stats")["outdated"] == 3
