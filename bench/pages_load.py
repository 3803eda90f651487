"""Clients of the pages benchmark: so many at once, each asks for the next thing as soon as it is answered.

python -m bench.pages_load ADDRESS CLIENTS SECONDS < TARGETS

The targets are lines of JSON, an array each: a kind, a path, and what to accept. All clients take them in turn, over and over. A
client keeps its connection. One that is refused waits for as long as it is told to, and asks for the same again. It prints
what it saw as JSON: seconds of each answer and of each refusal, by kind; those from the first time that something was
asked for until it was answered, refusals and all; how many failed; and what it cost itself. It does as little as HTTP allows:
some .2 ms of CPU for each answer, so that it is not what is measured.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import cycle
from typing import Any, NamedTuple
from urllib.parse import urlsplit

PATIENCE = 60.0  # seconds after which an answer counts as failed
REFUSED = (b"503", b"429")
_RETRY = 1.0  # seconds, if a refusal does not say when to come again


class Question(NamedTuple):
    """Something to ask for."""

    kind: str
    request: bytes


class GivenAnswer(NamedTuple):
    """What came back."""

    status: bytes
    head: bytes
    size: int  # of the body
    keep: bool  # whether the connection may be used again


def read_targets(lines: Sequence[str], host: str) -> list[Question]:
    """Return targets with their requests as they are sent."""
    targets = []
    for line in lines:
        kind, path, accept = json.loads(line)
        request = f"GET {path} HTTP/1.1\r\nHost: {host}\r\nAccept: {accept}\r\nAccept-Encoding: identity\r\n\r\n"
        targets.append(Question(kind, request.encode("ascii")))
    return targets


async def read_answer(reader: asyncio.StreamReader) -> GivenAnswer:
    """Read one answer to its end; IncompleteReadError or ValueError if there is none."""
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    status = head.split(b" ", 2)[1]
    keep = b"\r\nconnection: close" not in head
    if (length := field_of(head, b"content-length")) is not None:
        size = int(length)
        await reader.readexactly(size)
    elif field_of(head, b"transfer-encoding") == b"chunked":
        size = 0
        while chunk := int((await reader.readuntil(b"\r\n")).split(b";")[0], 16):
            await reader.readexactly(chunk + 2)
            size += chunk
        await reader.readuntil(b"\r\n")
    else:
        size, keep = len(await reader.read()), False
    return GivenAnswer(status, head, size, keep)


def field_of(head: bytes, name: bytes) -> bytes | None:
    """Return a field of a head in lower case; None if it is not there."""
    start = head.find(b"\r\n" + name + b":")
    if start < 0:
        return None
    start += len(name) + 3
    return head[start : head.index(b"\r\n", start)].strip()


class Clients:
    """All clients, and what they saw."""

    def __init__(self, host: str, port: int, targets: Iterator[Question], until: float) -> None:
        self._host, self._port, self._targets, self._until = host, port, targets, until
        self.answered: defaultdict[str, list[float]] = defaultdict(list)
        self.refused: defaultdict[str, list[float]] = defaultdict(list)
        self.waited: defaultdict[str, list[float]] = defaultdict(list)
        self.failed: Counter[str] = Counter()
        self.bytes = 0

    async def ask_all(self) -> None:
        """Ask, as one client, until the time is over; what was begun is waited for."""
        reader: asyncio.StreamReader | None = None
        writer: asyncio.StreamWriter | None = None
        now = time.perf_counter
        while now() < self._until:
            target = next(self._targets)
            first = now()
            while True:
                asked = now()
                try:
                    async with asyncio.timeout(PATIENCE):
                        if reader is None or writer is None:
                            reader, writer = await asyncio.open_connection(self._host, self._port, limit=1 << 20)
                        writer.write(target.request)
                        answer = await read_answer(reader)
                except (OSError, EOFError, ValueError) as error:  # a timeout is an OSError
                    self.failed[f"{target.kind}: {type(error).__name__}"] += 1
                    if writer is not None:
                        writer.close()
                    reader = writer = None
                    await asyncio.sleep(_RETRY)
                    break
                self.bytes += answer.size
                if not answer.keep:
                    writer.close()
                    reader = writer = None
                if answer.status not in REFUSED:
                    self._note(target, answer, asked, first)
                    break
                self.refused[target.kind].append(now() - asked)
                await asyncio.sleep(float(field_of(answer.head, b"retry-after") or _RETRY))
                if now() >= self._until:
                    break
        if writer is not None:
            writer.close()

    def _note(self, target: Question, answer: GivenAnswer, asked: float, first: float) -> None:
        if answer.status == b"200":
            now = time.perf_counter()
            self.answered[target.kind].append(now - asked)
            self.waited[target.kind].append(now - first)
        else:
            self.failed[f"{target.kind}: {answer.status.decode()}"] += 1


async def press(address: str, clients: int, seconds: float, lines: Sequence[str]) -> dict[str, Any]:
    """Let clients ask for some time; what they saw."""
    parts = urlsplit(address)
    assert parts.hostname is not None
    targets = read_targets(lines, parts.netloc)
    began, cpu = time.perf_counter(), time.process_time()
    crowd = Clients(parts.hostname, parts.port or 80, cycle(targets), began + seconds)
    await asyncio.gather(*(crowd.ask_all() for _ in range(clients)))
    return {
        "seconds": time.perf_counter() - began,
        "cpu_seconds": time.process_time() - cpu,
        "answered": crowd.answered,
        "refused": crowd.refused,
        "waited": crowd.waited,
        "failed": crowd.failed,
        "bytes": crowd.bytes,
    }


def main(address: str, clients: str, seconds: str) -> None:
    """Press, and print what was seen."""
    lines = sys.stdin.read().splitlines()
    print(json.dumps(asyncio.run(press(address, int(clients), float(seconds), lines))))


if __name__ == "__main__":
    main(*sys.argv[1:])
