"""Disasters: what befalls a household, each a function that does it and says what it did.

Whatever is drawn by lot is drawn from ``home.chance``, before anything is waited for: so a step of a run can be repeated.
"""

from __future__ import annotations

import os
import signal
import socket
import sqlite3
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from random import Random

from rehi.app import House
from rehi.errors import RehiError
from rehi.model.listing import DocumentFilter, Page
from rehi.model.version import Version
from rehi.testing.waiting import PATIENCE, wait_until
from tests.chaos.household import Household, LostBytes

CHUNK = 1 << 20
BOMB = b"SELECT * WHERE { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i } ORDER BY ?a ?i ?e"
RECORDS, CATALOGUE = "archive/*.warc.gz", "catalogue.db"
PARTS = (RECORDS, "archive/*.cdxj*", "derived/*", "graph/**/*.sst", "graph/store/*", CATALOGUE)
GARBAGE = (
    b"GET / HTTP/1.1\r\nHost: a{b}\r\n\r\n",
    b"GET /../../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"POST /api/sources HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\nx",
    b"GET /api/documents?offset=9223372036854775808 HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    b"PUT /sparql HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a disaster did."""

    told: str  # in a line
    killed: int = 0  # commands that were killed while they ran
    lost: frozenset[LostBytes] = frozenset()


def kill(home: Household) -> Outcome:
    """Kill a harvest or an update with its processes left to themselves, after some requests and a moment more."""
    word = home.chance.choice(("harvest", "update", "update", "update"))
    requests, moment = home.chance.randint(0, 12), home.chance.uniform(0, 0.4)
    process = home.start(word)
    _get_on(home, process, requests=requests)
    time.sleep(moment)
    return _end(home, process, word)


def kill_children(home: Household) -> Outcome:
    """Kill processes that belong to a running update, but not the update."""
    which, process, killed = [home.chance.random() for _ in range(home.chance.randint(1, 5))], home.start("update"), 0
    _get_on(home, process, requests=3)
    for share in which:
        children = _descendants(process.pid)
        if children:
            with suppress(ProcessLookupError):
                os.kill(children[int(share * len(children))], signal.SIGKILL)
                killed += 1
        _get_on(home, process, requests=2)
    return _end(home, process, f"{killed} processes of an update, and it")


def fill_disk(home: Household) -> Outcome:
    """Let no file grow beyond a little more than the largest that there is; a full disk ends the work with a sentence."""
    more, seconds = home.chance.randint(0, 200_000), home.chance.uniform(2, 6)
    largest = max((path.stat().st_size for path in home.data.rglob("*") if path.is_file()), default=0)
    process = home.start("update", largest_file=largest + more)
    with suppress(subprocess.TimeoutExpired):
        process.wait(seconds)
    return _end(home, process, "update on a full disk", codes=(0, 1))


def set_clock_wrong(home: Household) -> Outcome:
    """Let the clock jump while an update runs, and back after it."""
    hours, process = home.chance.choice((-3.0, -1.0, -0.01, 0.02, 1.0, 5.0)), home.start("update")
    _get_on(home, process, requests=5)
    home.set_clock(hours)
    _get_on(home, process, requests=10)
    outcome = _end(home, process, f"update with the clock {hours:+g} hours")
    home.set_clock(0)
    return outcome


def take_engine_away(home: Household) -> Outcome:
    """Take database or bucket away while an update runs, and bring it back; it waits, and nothing else."""
    requests, seconds, which = home.chance.randint(1, 10), home.chance.uniform(0.5, 4), home.chance.random()
    process = home.start("update")
    _get_on(home, process, requests=requests)
    if home.postgres is not None and (home.s3 is None or which < 0.6):
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
    return _end(home, process, f"update with the {what} away for {seconds:.1f} s")


def attack(home: Household) -> Outcome:
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
    return _end(home, process, "up, under attack")


def destroy(home: Household) -> Outcome:
    """Flip, cut or delete a file while nobody works, have the house mended, and hold it to what it says is lost."""
    path = _choose_file(home, PARTS)
    return Outcome(told="there is no file yet") if path is None else _destroy(home, [path])


def destroy_several(home: Household) -> Outcome:
    """Do the same to files of several parts at once, but not to the catalogue and to what it is made from again."""
    parts = home.chance.sample(PARTS, home.chance.randint(2, len(PARTS)))
    if CATALOGUE in parts:
        parts = [part for part in parts if part != RECORDS]
    return _destroy(home, [path for part in parts if (path := _choose_file(home, [part])) is not None])


def _destroy(home: Household, paths: Sequence[Path]) -> Outcome:
    has_catalogue = any(path.name == CATALOGUE for path in paths)
    before = None if has_catalogue else unreadable(home)
    told = ", ".join(_damage_file(home, path) for path in paths) or "nothing"
    outcome = _mended(home, told, before)
    if has_catalogue:
        home.run("add", str(home.list))  # of what never answered, no record is kept
    return outcome


def destroy_under_work(home: Household) -> Outcome:
    """Flip, cut or delete a file under a running update, which goes on, and hold the house to what it says is lost after that."""
    requests, parts = home.chance.randint(1, 10), [part for part in PARTS if part != CATALOGUE]
    chance = Random(home.chance.random())
    before, process = unreadable(home), home.start("update")
    _get_on(home, process, requests=requests)
    home.chance = chance  # what there is to choose from depends on how far the update was
    path = _choose_file(home, parts)
    told = "nothing" if path is None else _damage_file(home, path)
    _get_on(home, process, requests=8)
    ended = _end(home, process, "an update that goes on")
    outcome = _mended(home, f"{told}; {ended.told}", before)
    return replace(outcome, killed=ended.killed)


def _damage_file(home: Household, path: Path) -> str:
    """Damage a file, or delete it, and return what was done; under work it may have gone by itself."""
    try:
        raw = damage(path.read_bytes(), home.chance)
        path.unlink() if raw is None else path.write_bytes(raw)
    except FileNotFoundError:
        return f"{path.relative_to(home.data)} gone by itself"
    return f"{path.relative_to(home.data)} {_what(raw)}"


def destroy_object(home: Household) -> Outcome:
    """Flip, cut or delete an object in the bucket while nobody works, and hold the house to what it says is lost."""
    bucket = home.bucket
    assert bucket is not None
    local = {path.name for path in home.data.glob("archive/*")}
    objects = sorted((one.name, one.size) for one in bucket.list() if one.size and one.name not in local)
    if not objects:
        return Outcome(told="the bucket holds nothing yet")
    name, size = home.chance.choice(objects)
    before = unreadable(home)
    raw = damage(bytes(bucket.read(name, 0, size)[0]), home.chance)
    if raw is None:
        bucket.delete(name)
    else:
        bucket.write(name, raw)
    return _mended(home, f"object {name} {_what(raw)}", before)


def _mended(home: Household, told: str, before: set[LostBytes] | None) -> Outcome:
    """Mend after damage; what the house says is lost are exactly the bytes that were whole before. None if it can lose none."""
    expected = set[LostBytes]() if before is None else unreadable(home) - before
    said = mend(home)
    assert said == {(url, number) for url, number, _ in expected}, f"{told}: it says {sorted(said)}, not {expected}"
    return Outcome(told=f"{told}, {len(said)} versions lost", lost=frozenset(expected))


def mend(home: Household) -> set[tuple[str, int]]:
    """Have the house mended, and return URL and number of the versions that it says are lost; after that it is well."""
    mended = home.run("doctor", "--mend", "--json", codes=(0, 1))
    again = home.run("doctor", "--deep", "--json", codes=(0, 1))
    assert all(check["ok"] for check in again), [check for check in again if not check["ok"]]
    return {(loss["url"], loss["number"]) for loss in mended["lost"]}


def unreadable(home: Household) -> set[LostBytes]:
    """Return the versions whose bytes the archive can't give back."""
    with home.open() as house:
        rows, _ = house.catalogue.documents(DocumentFilter(), Page(limit=10_000))
        return {
            (row.url, version.number, version.digest)
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


def _choose_file(home: Household, parts: Sequence[str]) -> Path | None:
    """Return a file of the part that is drawn, or of the next that has any; None if there is none at all."""
    for pattern in home.chance.sample(parts, len(parts)):
        files = sorted(path for path in home.data.glob(pattern) if path.is_file() and path.stat().st_size)
        if files:
            return home.chance.choice(files)
    return None


def damage(raw: bytes, chance: Random) -> bytes | None:
    """Return bytes of which three pieces are others, or only their beginning; None if they are to be deleted."""
    how = chance.choice(("flipped", "cut", "deleted"))
    if how == "deleted":
        return None
    if how == "cut":
        return raw[: chance.randrange(len(raw))]
    flipped = bytearray(raw)
    for _ in range(3):
        at = chance.randrange(len(raw))
        flipped[at : at + 64] = chance.randbytes(len(flipped[at : at + 64]))
    return bytes(flipped)


def _what(raw: bytes | None) -> str:
    return "deleted" if raw is None else f"damaged, {len(raw):,} bytes of it left"


def _get_on(home: Household, process: subprocess.Popen[bytes], *, requests: int) -> None:
    """Wait until so many more requests have come, or for as long as one should take, or until the process has ended."""
    wanted, end = len(home.web.requests) + requests, time.monotonic() + 6
    wait_until(
        lambda: len(home.web.requests) >= wanted or process.poll() is not None or time.monotonic() > end,
        what="it gets on",
        pause=0.01,
    )


def _end(home: Household, process: subprocess.Popen[bytes], what: str, *, codes: Sequence[int] = (0,)) -> Outcome:
    """Kill a command; one that has ended by itself was not killed, and must have ended as it should."""
    running = process.poll() is None
    if running:
        process.kill()
    process.communicate()
    if running:
        return Outcome(told=f"{what} killed", killed=1)
    assert process.returncode in codes, f"{what} ended with {process.returncode}: {home.last_words()}"
    return Outcome(told=f"{what} had ended with {process.returncode}")


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


Disaster = Callable[[Household], Outcome]

DISASTERS: dict[Disaster, int] = {  # and how often each comes
    kill: 60,
    kill_children: 6,
    fill_disk: 4,
    set_clock_wrong: 5,
    take_engine_away: 6,
    attack: 4,
    destroy: 8,
    destroy_several: 4,
    destroy_under_work: 6,
    destroy_object: 8,
}


def draw(home: Household) -> Disaster:
    """Return the disaster that is drawn for this household."""
    possible = {one: often for one, often in DISASTERS.items() if one is not destroy_object or home.s3 is not None}
    return home.chance.choices(list(possible), weights=list(possible.values()))[0]
