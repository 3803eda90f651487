"""The walk of one page, from a line of a crawl log to its HTML page: modules and functions passed, and changes of room.

All of it happens in this process: the reading of the document too, by an executor that is installed for it, and the page is
asked of the application without a server. Counted are rehi's own functions that have a name, each once, in the order in which
they are first passed; what runs because a module is imported is not. A room is the first package or module below ``rehi``; it
is changed where the next function lies in another room than the one before. The peer is the house as a review found it; counted
in this way, the state that was reviewed has about as many modules and functions, and more changes of room.
"""

from __future__ import annotations

import asyncio
import inspect
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import rehi
from bench.result import Options, Result, name_missed
from rehi.app import House
from rehi.cli.practice import PracticeWeb, practice_web
from rehi.model.listing import DocumentFilter, Page
from rehi.operations.sources import enter, read_in
from rehi.serve.application import create_app
from rehi.service import Service
from rehi.settings import load_settings

# The same walk over the state that was reviewed; its rooms were counted in another way then.
REVIEWED = {"modules": 157.0, "functions": 866.0, "changes_of_room": 156.0}
REVIEW = {"modules": 159.0, "functions": 844.0, "changes_of_room": 126.0}
TARGET = "fewer modules, functions and changes of room than the review counted (159, 844, 126)"
SETTINGS = (
    "one Estonian page of the practice web, SQLite, folder and Oxigraph, read in the same process; named functions once each, "
    "in the order in which they are first passed, imports left out; so counted, what was reviewed has 157, 866 and 156"
)
_HOME = str(Path(rehi.__file__).parent) + "/"
_ENTRY_POINTS = "[rehi.executor]\nown-process = bench.walk_executor:open_executor\n"
_METADATA = "Metadata-Version: 2.1\nName: rehi-bench-walk\nVersion: 1\n"


@dataclass(slots=True)
class PageWalk:
    """The functions that were passed, in the order in which they first were."""

    passed: dict[CodeType, str] = field(default_factory=dict)  # with the module's path below rehi

    def see(self, frame: FrameType, event: str, _argument: object) -> None:
        """Note a call, if it is the first of a function of ours."""
        code = frame.f_code
        if event != "call" or code in self.passed or not code.co_filename.startswith(_HOME):
            return
        if code.co_name.startswith("<") or not code.co_flags & inspect.CO_OPTIMIZED or _is_importing(frame):
            return  # a module, a class's body, a lambda or a comprehension
        self.passed[code] = code.co_filename.removeprefix(_HOME)

    @property
    def rooms(self) -> list[str]:
        """The room of each function, in order."""
        return [path.partition("/")[0].removesuffix(".py") for path in self.passed.values()]

    def numbers(self) -> dict[str, float]:
        """What the review counted."""
        return {
            "modules": float(len(set(self.passed.values()))),
            "functions": float(len(self.passed)),
            "changes_of_room": float(sum(a != b for a, b in pairwise(self.rooms))),
        }


def _is_importing(frame: FrameType) -> bool:
    """Whether a frame runs because one of our modules is imported."""
    above = frame.f_back
    while above is not None:
        if above.f_code.co_name == "<module>" and above.f_code.co_filename.startswith(_HOME):
            return True
        above = above.f_back
    return False


def run(options: Options) -> Result:
    """Walk one page."""
    with tempfile.TemporaryDirectory() as name, practice_web(Path(name) / "world.log") as web:
        log = Path(name) / "one.log"
        log.write_text(_one_line(web), encoding="utf-8")
        walk, page = walk_page(Path(name), log, web)
    numbers = walk.numbers()
    functions = Counter(walk.rooms)
    modules = Counter(path.partition("/")[0].removesuffix(".py") for path in set(walk.passed.values()))
    for room, count in functions.most_common():
        print(f"{room:14} {count:4} functions in {modules[room]:3} modules")
    print(f"\n{len(page):,} bytes of HTML; in rooms: {' '.join(_stations(walk.rooms))}")
    return judge(numbers)


def judge(numbers: dict[str, float]) -> Result:
    """Hold the counts against the review's."""
    return Result(
        name="walk",
        target=TARGET,
        settings=SETTINGS,
        missed=name_missed(
            {
                f"{numbers[name]:.0f} {name.replace('_', ' ')}, the review counted {before:.0f}": numbers[name] < before
                for name, before in REVIEW.items()
            }
        ),
        ours=numbers,
        peers={"the review": REVIEW, "this walk over what was reviewed": REVIEWED},
        ratio={name: round(before / numbers[name], 2) for name, before in REVIEW.items()},
    )


def _stations(rooms: list[str]) -> Iterator[str]:
    before = ""
    for room in rooms:
        if room != before:
            yield room
        before = room


def _one_line(web: PracticeWeb) -> str:
    """Return the line of the web's log that is an ordinary page, with the host's language Estonian."""
    for line in web.log.read_text(encoding="utf-8", errors="replace").splitlines():
        columns = line.split()
        if len(columns) > 6 and columns[1] == "200" and columns[6] == "text/html" and columns[3].endswith(".html"):
            return f"{line}\n"
    raise RuntimeError("the practice web's log has no page")


def walk_page(folder: Path, log: Path, web: PracticeWeb) -> tuple[PageWalk, bytes]:
    """Take one line in, harvest it, and ask for its page; what was passed, and the HTML."""
    walk = PageWalk()
    settings = load_settings(data=folder / "data", fetch=web.fetch, executor="own-process")
    with _installed(folder / "plugin"), _watched(walk), House(settings) as house:
        read_in(house, enter(house, str(log)).id)
        with house.working() as harvest:
            harvest.run(until_idle=True, stopped=lambda: False)
        rows, _ = house.catalogue.documents(DocumentFilter(), Page(limit=1))
        page = asyncio.run(_ask(create_app(house, Service(house)), f"/documents/{rows[0].resource_id}"))
    return walk, page


@contextmanager
def _installed(folder: Path) -> Iterator[None]:
    """Install the executor as an outsider's package does: by an entry point, in a folder of its own."""
    described = folder / "rehi_bench_walk-1.dist-info"
    described.mkdir(parents=True)
    (described / "METADATA").write_text(_METADATA, encoding="utf-8")
    (described / "entry_points.txt").write_text(_ENTRY_POINTS, encoding="utf-8")
    sys.path.append(str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))


@contextmanager
def _watched(walk: PageWalk) -> Iterator[None]:
    threading.setprofile(walk.see)
    sys.setprofile(walk.see)
    try:
        yield
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


async def _ask(app: Any, path: str) -> bytes:
    """Return the body that an application answers a GET with; RuntimeError if it is not a page."""
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "GET", "scheme": "http",
        "path": path, "raw_path": path.encode(), "query_string": b"", "root_path": "", "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80), "headers": [(b"host", b"127.0.0.1"), (b"accept", b"text/html")],
    }  # fmt: skip
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    await app(scope, receive, send)
    body = b"".join(message.get("body", b"") for message in sent)
    if sent[0]["status"] != 200 or b"<html" not in body:
        raise RuntimeError(f"{path} was answered with {sent[0]['status']}: {body[:200]!r}")
    return body
