"""Disasters: what befalls a household, each a function that does it and says in a line what it did."""

from __future__ import annotations

import os
import signal
import socket
import sqlite3
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from contextlib import ExitStack, closing, suppress
from hashlib import sha256
from pathlib import Path
from random import Random

from rehi.app import House
from rehi.errors import RehiError
from rehi.model.listing import DocumentFilter, Page
from rehi.model.version import Version
from rehi.testing.waiting import PATIENCE, wait_until
from tests.chaos.household import Household

CHUNK = 1 << 20
BOMB = b"SELECT * WHERE { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i } ORDER BY ?a ?i ?e"
GARBAGE = (
    b"GET / HTTP/1.1\r\nHost: a{b}\r\n\r\n",
    b"GET /../../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"POST /api/sources HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\nx",
    b"GET /api/documents?offset=9223372036854775808 HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    b"PUT /sparql HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
)


def kill(home: Household) -> str:
    """Kill a harvest or an update with its processes left to themselves, after some requests and a moment more."""
    words = home.chance.choice((("harvest",), ("update",)))
    process = home.start(*words)
    _get_on(home, process, requests=home.chance.randint(0, 12))
    time.sleep(home.chance.uniform(0, 0.4))
    return _end(process, f"{words[0]} killed")


def kill_children(home: Household) -> str:
    """Kill processes that belong to a running update, but not the update."""
    process = home.start("update")
    _get_on(home, process, requests=3)
    killed = 0
    for _ in range(home.chance.randint(1, 5)):
        children = _descendants(process.pid)
        if children:
            with suppress(ProcessLookupError):
                os.kill(home.chance.choice(children), signal.SIGKILL)
                killed += 1
        _get_on(home, process, requests=2)
    return _end(process, f"update killed after {killed} of its processes")


def fill_disk(home: Household) -> str:
    """Let no file grow beyond a little more than the largest that there is."""
    largest = max((path.stat().st_size for path in home.data.rglob("*") if path.is_file()), default=0)
    process = home.start("update", largest_file=largest + home.chance.randint(0, 200_000))
    with suppress(subprocess.TimeoutExpired):
        process.wait(home.chance.uniform(2, 6))
    return _end(process, "full disk")


def set_clock_wrong(home: Household) -> str:
    """Let the clock jump while an update runs, and back after it."""
    process = home.start("update")
    _get_on(home, process, requests=5)
    hours = home.chance.choice((-3.0, -1.0, -0.01, 0.02, 1.0, 5.0))
    home.set_clock(hours)
    _get_on(home, process, requests=10)
    told = _end(process, f"clock {hours:+g} hours, update killed")
    home.set_clock(0)
    return told


def take_engine_away(home: Household) -> str:
    """Take database or bucket away while an update runs, and bring it back."""
    process = home.start("update")
    _get_on(home, process, requests=home.chance.randint(1, 10))
    seconds = home.chance.uniform(0.5, 4)
    if home.postgres is not None and (home.s3 is None or home.chance.random() < 0.6):
        home.postgres.stop()
        time.sleep(seconds)
        home.postgres.start()
        what = "database"
    elif home.s3 is not None:
        home.s3.stop()
        time.sleep(seconds)
        home.s3.start()
        what = "bucket"
    else:
        what = "lock on the catalogue"
        with closing(sqlite3.connect(home.data / "catalogue.db", timeout=PATIENCE, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            time.sleep(seconds)
            other.execute("ROLLBACK")
    _get_on(home, process, requests=5)
    return _end(process, f"{what} away for {seconds:.1f} s")


def attack(home: Household) -> str:
    """Harvest and serve, with clients that do what they should not; others are answered."""
    process = home.start("up")
    address = ("127.0.0.1", home.port)
    wait_until(lambda: _answers(home.port) or process.poll() is not None, what="the page answers")
    assert process.poll() is None, home.last_words()
    with ExitStack() as stack:
        for number in range(600):
            with suppress(OSError):
                connection = stack.enter_context(socket.create_connection(address, timeout=PATIENCE))
                if number % 3:
                    connection.sendall(home.chance.choice(GARBAGE))
        for _ in range(6):
            bomb = stack.enter_context(socket.create_connection(address, timeout=PATIENCE))
            bomb.sendall(
                b"POST /sparql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/sparql-query\r\n"
                b"Content-Length: %d\r\n\r\n%s" % (len(BOMB), BOMB)
            )
        wait_until(lambda: _answers(home.port), what="others are answered beside an attack")
    assert process.poll() is None, home.last_words()
    return _end(process, "attack, up killed")


def destroy(home: Household) -> str:
    """Flip, cut or delete a file while nobody works, have the house mended, and hold it to what it says is lost."""
    path = _choose_file(home)
    what = _damage(path, home.chance)
    is_catalogue = path.name.startswith("catalogue")
    expected = set() if is_catalogue else unreadable(home)
    said = mend(home)
    assert said == expected - home.lost, f"{path.name} {what}: it says {sorted(said)}, and lost is {sorted(expected)}"
    home.lost |= said
    if is_catalogue:
        home.run("add", str(home.list))  # of what never answered, no record is kept
    return f"{path.relative_to(home.data)} {what}, {len(said)} versions lost"


def mend(home: Household) -> set[tuple[str, int]]:
    """Have the house mended, and return the versions that it says are lost; after that it is well."""
    mended = home.run("doctor", "--mend", "--json", codes=(0, 1))
    again = home.run("doctor", "--deep", "--json", codes=(0, 1))
    assert all(check["ok"] for check in again), [check for check in again if not check["ok"]]
    return {(loss["url"], loss["number"]) for loss in mended["lost"]}


def unreadable(home: Household) -> set[tuple[str, int]]:
    """Return the versions whose bytes the archive can't give back, as URL and number."""
    with home.open() as house:
        rows, _ = house.catalogue.documents(DocumentFilter(), Page(limit=10_000))
        return {
            (row.url, version.number)
            for row in rows
            if row.versions
            for version in house.catalogue.versions(row.url)
            if not _is_whole(house, version)
        }


def _is_whole(house: House, version: Version) -> bool:
    digest = sha256()
    try:
        with house.archive.open_body(version.body) as stream:
            while chunk := stream.read(CHUNK):
                digest.update(chunk)
    except RehiError:
        return False
    return f"sha256:{digest.hexdigest()}" == version.digest


def _choose_file(home: Household) -> Path:
    patterns = ["archive/*.warc.gz", "archive/*.cdxj*", "derived/*", "graph/**/*.sst", "graph/store/*", "catalogue.db"]
    while True:
        files = sorted(path for path in home.data.glob(home.chance.choice(patterns)) if path.is_file())
        files = [path for path in files if path.stat().st_size]
        if files:
            return home.chance.choice(files)


def _damage(path: Path, chance: Random) -> str:
    size, how = path.stat().st_size, chance.choice(("flipped", "cut", "deleted"))
    if how == "deleted":
        path.unlink()
    elif how == "cut":
        os.truncate(path, chance.randrange(size))
    else:
        with path.open("r+b") as file:
            for _ in range(3):
                file.seek(chance.randrange(size))
                file.write(chance.randbytes(64))
            file.truncate(size)
    return how


def _get_on(home: Household, process: subprocess.Popen[bytes], *, requests: int) -> None:
    """Wait until so many more requests have come, or for as long as one should take, or until the process has ended."""
    wanted, end = len(home.web.requests) + requests, time.monotonic() + 6
    wait_until(
        lambda: len(home.web.requests) >= wanted or process.poll() is not None or time.monotonic() > end,
        what="it gets on",
        pause=0.01,
    )


def _end(process: subprocess.Popen[bytes], what: str) -> str:
    running = process.poll() is None
    process.kill()
    process.communicate()
    return what if running else f"{what}, but it had ended with {process.returncode}"


def _descendants(pid: int) -> list[int]:
    """Return the processes that a process has started, and that these have, from the system's table."""
    parents: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
    found, new = set[int](), {pid}
    while new:
        new = {child for child, parent in parents.items() if parent in new} - found
        found |= new
    return sorted(found)


def _answers(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/status", timeout=5) as answer:
            return bool(answer.status == 200)
    except (OSError, urllib.error.URLError):
        return False


DISASTERS: dict[Callable[[Household], str], int] = {  # and how often each comes
    kill: 60,
    kill_children: 6,
    fill_disk: 4,
    set_clock_wrong: 5,
    take_engine_away: 6,
    attack: 4,
    destroy: 8,
}
