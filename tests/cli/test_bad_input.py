"""Whatever is wrong, it is one clear sentence, a non-zero exit, and nothing is lost."""

from __future__ import annotations

import json
import os
import resource
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from rehi.app import House, lock_folder
from rehi.settings import load_settings
from rehi.testing.waiting import PATIENCE
from rehi.testing.world import WorldServer
from tests.cli.command_line import rehi
from tests.cli.test_commands import rehi as elsewhere
from tests.conftest import settings_for


def said(result: subprocess.CompletedProcess[str]) -> str:
    """The one sentence on standard error."""
    assert result.returncode != 0, result.stdout
    assert "Traceback" not in result.stderr
    (sentence,) = result.stderr.strip().splitlines()
    return sentence


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("empty.log", b""),
        ("binary.log", bytes(range(256)) * 50),
        ("prose.log", b"Dear reader,\nthis is a letter and no log.\n"),
        ("broken.gz", b"\x1f\x8b\x08\x00not really gzip"),
    ],
)
def test_a_file_that_is_no_source(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    assert name in said(rehi("add", str(tmp_path / name), data=tmp_path / "d"))


def test_a_file_that_is_not_there_and_a_folder(tmp_path: Path) -> None:
    assert "nowhere.log" in said(rehi("add", str(tmp_path / "nowhere.log"), data=tmp_path / "d"))
    assert str(tmp_path) in said(rehi("add", str(tmp_path), data=tmp_path / "d"))


@pytest.mark.parametrize("url", ["http://", "ftp://a.test/log"])
def test_an_address_that_can_not_be_visited(tmp_path: Path, url: str) -> None:
    assert said(rehi("add", url, data=tmp_path)).startswith("rehi: ")


def test_an_address_that_can_not_be_had_is_told_of_when_it_was_visited(tmp_path: Path) -> None:
    added = rehi("add", "http://127.0.0.1:1/log", data=tmp_path)
    assert (added.returncode, "found out when it has been visited" in added.stdout) == (0, True)
    assert rehi("harvest", data=tmp_path).returncode == 0
    listed = rehi("source", "1", "--json", data=tmp_path)
    assert '"state": "failed"' in listed.stdout
    assert "it may not be visited" in rehi("problems", "--json", data=tmp_path).stdout


def test_errors_come_as_json_for_programs(tmp_path: Path) -> None:
    result = rehi("add", str(tmp_path / "no"), "--json", data=tmp_path)
    assert json.loads(result.stderr)["error"]["code"] == "source-error"


def test_a_second_harvest_in_the_same_folder(tmp_path: Path) -> None:
    with lock_folder(tmp_path):
        sentence = said(elsewhere("harvest", data=tmp_path))
    assert str(os.getpid()) in sentence
    assert "--data" in sentence


def test_a_store_from_a_newer_version(tmp_path: Path) -> None:
    assert rehi("stats", data=tmp_path).returncode == 0
    with sqlite3.connect(tmp_path / "catalogue.db") as database:
        (table,) = database.execute("SELECT name FROM sqlite_master WHERE name = 'meta'").fetchone()
        database.execute(f"UPDATE {table} SET value = '9999'")
    database.close()
    sentence = said(rehi("stats", data=tmp_path))
    assert "9999" in sentence
    assert "newer" in sentence


def test_a_catalogue_that_is_no_database(tmp_path: Path) -> None:
    (tmp_path / "catalogue.db").write_bytes(b"this is not a database at all, but a letter" * 100)
    assert "catalogue.db" in said(rehi("stats", data=tmp_path))


def test_a_database_server_that_does_not_answer(tmp_path: Path) -> None:
    said(rehi("stats", data=tmp_path, REHI_CATALOGUE="postgresql://127.0.0.1:1/none"))
    assert "mysql" in said(rehi("stats", data=tmp_path, REHI_CATALOGUE="mysql://127.0.0.1/none"))


def test_a_setting_that_is_wrong(tmp_path: Path) -> None:
    assert "fetch.delay" in said(rehi("stats", data=tmp_path, REHI_FETCH__DELAY="soon"))
    config = tmp_path / "rehi.toml"
    config.write_text("[fetch]\ndealy = 3\n", encoding="utf-8")
    assert "dealy" in said(rehi("--config", str(config), "stats"))
    config.write_text("this is [not toml", encoding="utf-8")
    assert "rehi.toml" in said(rehi("--config", str(config), "stats"))
    assert "missing.toml" in said(rehi("--config", str(tmp_path / "missing.toml"), "stats"))


@pytest.mark.parametrize("query", ["SELEKT * WHERE {}", "SELECT * WHERE { ?s ?p }", "DROP ALL", ""])
def test_a_query_that_is_wrong(tmp_path: Path, query: str) -> None:
    said(rehi("query", query, data=tmp_path))


@pytest.mark.parametrize("words", [("harvest",), ("up", "--port", "0")], ids=["harvest", "up"])
def test_a_full_disk_ends_the_work_with_a_sentence_and_loses_nothing(
    practice_web: WorldServer, tmp_path: Path, words: tuple[str, ...]
) -> None:
    """No file may grow beyond a limit, as on a full disk; with room again the harvest ends as it should."""
    world = practice_web.world
    urls = [document.url for document in world.documents if document.period is None]
    source, config = tmp_path / "pages.txt", tmp_path / "rehi.toml"
    source.write_text("\n".join(urls), encoding="utf-8")
    settings = settings_for(tmp_path, practice_web)
    fetch = "".join(
        f"{name} = {json.dumps(value)}\n" for name, value in settings.fetch.model_dump(exclude_defaults=True).items()
    )
    config.write_text(f'data = "{settings.data}"\n[fetch]\n{fetch}[work]\nenrich = false\n', encoding="utf-8")
    assert rehi("--config", str(config), "add", str(source)).returncode == 0

    def small_disk() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    begin = [sys.executable, "-m", "rehi", "--config", str(config)]
    command = [*begin, "harvest"]
    full = subprocess.run(
        [*begin, *words], capture_output=True, text=True, timeout=5 * PATIENCE, check=False, preexec_fn=small_disk
    )
    assert full.returncode == 1
    assert "Traceback" not in full.stderr
    assert "full" in full.stderr
    with House(load_settings(config)) as house:
        kept = [url for url in urls if house.catalogue.document(url).versions]
        assert len(kept) < len(urls)
    assert subprocess.run(command, capture_output=True, timeout=5 * PATIENCE, check=False).returncode == 0
    with House(load_settings(config)) as house:
        for url in urls:
            (version,) = house.catalogue.versions(url)
            with house.archive.open_body(version.body) as body:
                assert body.read() == world.body(url), url
