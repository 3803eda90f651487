"""A site for benchmarks: thousands of pages on hundreds of loopback addresses, from a server that costs little.

nginx where there is one; else a small server of our own that has every answer ready. Each address is a host, and all
listen at one port.
"""

from __future__ import annotations

import asyncio
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep

from rehi.testing.waiting import PATIENCE
from rehi.testing.world.charsets import UTF8
from rehi.testing.world.draw import Draw
from rehi.testing.world.names import Population
from rehi.testing.world.pages import Design, Frame, render_page
from rehi.testing.world.texts import TOPICS, Text, TextSpec, compose

ROBOTS = "User-agent: *\nDisallow: /private/\nDisallow: /*?print=\nAllow: /private/open/\n"
_POOL = 60  # texts of which the pages' paragraphs are taken: writing each page anew would take minutes
_TYPES = {".html": "text/html; charset=utf-8", ".txt": "text/plain; charset=utf-8"}
_NGINX = """
daemon off; worker_processes 1; pid {folder}/nginx.pid; error_log {folder}/error.log; worker_rlimit_nofile 8192;
events {{ worker_connections 4096; }}
http {{
  access_log off; sendfile on; tcp_nopush on; keepalive_requests 1000000; keepalive_timeout 600;
  open_file_cache max=4000 inactive=600s; open_file_cache_valid 600s;
  client_body_temp_path {folder}/t1; proxy_temp_path {folder}/t2; fastcgi_temp_path {folder}/t3;
  uwsgi_temp_path {folder}/t4; scgi_temp_path {folder}/t5;
  types {{ text/html html; text/plain txt; }} charset utf-8;
  server {{ listen 0.0.0.0:{port} backlog=4096; root {root}; }}
}}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """What is served, and by whom."""

    server: str
    pid: int
    port: int
    paths: tuple[str, ...]
    hosts: int

    @property
    def urls(self) -> tuple[str, ...]:
        """Every page on a host of its own, in turn: the hosts have equally many."""
        return tuple(f"http://{host(i % self.hosts)}:{self.port}{path}" for i, path in enumerate(self.paths))


def host(number: int) -> str:
    """The loopback address that stands for a host."""
    return f"127.0.{1 + number // 250}.{1 + number % 250}"


def write_pages(root: Path, count: int) -> tuple[str, ...]:
    """Pages of 5 to 20 KB, no two alike, always the same; their paths."""
    population = Population(7)
    pool = [_text(population, number) for number in range(_POOL)]
    designs, paths = tuple(Design), []
    for number in range(count):
        draw = Draw("page", number)
        first = pool[draw.number(0, _POOL - 1)]
        alike = [text for text in pool if text.language == first.language]
        paragraphs = [p for _ in range(draw.number(3, 14)) for p in draw.pick(alike).paragraphs[: draw.number(2, 9)]]
        text = Text(
            language=first.language,
            title=f"{first.title} {number}",
            paragraphs=(f"{first.title}: {number}.", *paragraphs),
            truth=first.truth,
        )
        links = [(f"/p/{draw.number(0, count - 1)}.html", other.title) for other in draw.sample(pool, 12)]
        path = f"/p/{number}.html"
        frame = Frame(site="Rehemaa", links=links)
        _write(root, path, render_page(text, designs[number % len(designs)], UTF8, frame, url=path))
        paths.append(path)
    _write(root, "/robots.txt", ROBOTS.encode())
    return tuple(paths)


def write_files(root: Path, count: int) -> tuple[str, ...]:
    """Texts of 1 to 5 MB, no two alike; their paths."""
    population = Population(7)
    lines = "\n".join(p for number in range(_POOL) for p in _text(population, number).paragraphs)
    paths = []
    for number in range(count):
        size = 1_000_000 + 4_000_000 * number // max(1, count - 1)
        path = f"/f/{number}.txt"
        _write(root, path, f"Fail {number}\n{lines * (size // len(lines) + 1)}".encode()[:size])
        paths.append(path)
    _write(root, "/robots.txt", ROBOTS.encode())
    return tuple(paths)


@contextmanager
def serve(root: Path, paths: Sequence[str], *, hosts: int, own_server: bool = False) -> Iterator[Site]:
    """Serve the files until the end."""
    nginx = None if own_server else shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/usr/bin:/opt/homebrew/bin")
    # All loopback addresses at once. Our own server is handed the socket: a port that is free now may not be in a moment.
    listener = socket.create_server(("0.0.0.0", 0), backlog=4096)  # noqa: S104
    port = int(listener.getsockname()[1])
    if nginx:
        listener.close()
        config = root.parent / "nginx.conf"
        config.write_text(_NGINX.format(folder=root.parent.resolve(), root=root.resolve(), port=port), encoding="utf-8")
        command = [nginx, "-p", str(root.parent), "-c", str(config.resolve()), "-e", str(root.parent / "error.log")]
    else:
        command = [sys.executable, "-m", "bench.site", str(root.resolve()), str(listener.fileno())]
    handed = () if nginx else (listener.fileno(),)
    with subprocess.Popen(command, cwd=Path(__file__).parents[1], pass_fds=handed) as process:
        listener.close()
        try:
            _await(port)
            yield Site(
                server="nginx" if nginx else "a server of our own",
                pid=process.pid,
                port=port,
                paths=tuple(paths),
                hosts=hosts,
            )
        finally:
            process.terminate()


def _text(population: Population, number: int) -> Text:
    language = "en" if number % 3 == 2 else "et"
    order = TextSpec(seed=7, key=f"page {number}", language=language, topic=TOPICS[number % len(TOPICS)], words=400)
    return compose(population, order)


def _write(root: Path, path: str, content: bytes) -> None:
    file = root / path.lstrip("/")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
    file.chmod(0o644)


def _await(port: int) -> None:
    deadline = monotonic() + PATIENCE
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            if monotonic() > deadline:
                raise
            sleep(0.05)
        else:
            return


class _Answers(asyncio.Protocol):
    """Answers GETs one after the other from what is in memory; large files are read when they are asked for."""

    def __init__(self, root: Path, ready: dict[bytes, bytes]) -> None:
        self._root, self._ready, self._held = root, ready, b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._held += data
        while (end := self._held.find(b"\r\n\r\n")) >= 0:
            path = self._held.split(b" ", 2)[1]
            self._held = self._held[end + 4 :]
            self._transport.write(self._ready.get(path) or _render(self._root, path))


def _render(root: Path, path: bytes) -> bytes:
    file = root / path.decode("ascii", "replace").lstrip("/")
    if not file.is_file() or root.resolve() not in file.resolve().parents:
        return b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
    body = file.read_bytes()
    media = _TYPES.get(file.suffix, "application/octet-stream")
    head = f'HTTP/1.1 200 OK\r\nContent-Type: {media}\r\nContent-Length: {len(body)}\r\nETag: "{len(body)}"\r\n\r\n'
    return head.encode() + body


async def _answer(root: Path, listener: socket.socket) -> None:
    small = [file for file in root.rglob("*") if file.is_file() and file.stat().st_size < 100_000]
    paths = [f"/{file.relative_to(root)}".encode() for file in small]
    ready = {path: _render(root, path) for path in paths}
    server = await asyncio.get_running_loop().create_server(lambda: _Answers(root, ready), sock=listener, backlog=4096)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(_answer(Path(sys.argv[1]), socket.socket(fileno=int(sys.argv[2]))))
