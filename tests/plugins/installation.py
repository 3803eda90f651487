"""Packages that are installed into a folder of their own, and ``rehi`` as it runs with them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
SOURCE = HERE.parents[1] / "src"
LONGEST = 240  # seconds for a command, on any machine


def install(package: str, target: Path) -> Path:
    """Install a package of this folder with pip, without a network, and return where it is."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index"]
    command += ["--no-build-isolation", "--no-deps", "--target", str(target), str(HERE / package)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST)
    assert ended.returncode == 0, ended.stderr
    return target


@dataclass(frozen=True, slots=True)
class Rehi:
    """The command line with some packages installed, and the settings of one folder."""

    config: Path
    packages: tuple[Path, ...] = ()

    @property
    def environment(self) -> dict[str, str]:
        """Return the environment in which the packages are found."""
        path = os.pathsep.join(map(str, (*self.packages, SOURCE)))
        return {**os.environ, "PYTHONPATH": path, "PYTHONWARNINGS": "default"}

    def run(self, *words: str, code: int = 0) -> str:
        """Run a command that ends with this code, and return what it prints."""
        ended = subprocess.run(self.line(*words), env=self.environment, capture_output=True, text=True, timeout=LONGEST)
        assert ended.returncode == code, ended.stdout + ended.stderr
        return ended.stdout

    def ask(self, *words: str, code: int = 0) -> Any:
        """Run a command with ``--json``, and return its answer."""
        return json.loads(self.run(*words, "--json", code=code))

    def line(self, *words: str) -> list[str]:
        """Return the words of a command line."""
        return [sys.executable, "-m", "rehi", "--config", str(self.config), *words]

    @contextmanager
    def up(self) -> Iterator[str]:
        """Run ``rehi up`` on a free port; its address."""
        process = subprocess.Popen(
            self.line("up", "--port", "0", "--json"), env=self.environment, stdout=subprocess.PIPE, text=True
        )
        try:
            assert process.stdout is not None
            output = ""
            for line in process.stdout:
                output += line
                if line.rstrip() == "}":
                    break
            yield json.loads(output)["address"]
        finally:
            process.terminate()
            process.communicate(timeout=LONGEST)


@dataclass(slots=True)
class LoopbackSite:
    """Pages on loopback: a type and bytes for each path, which may change."""

    pages: dict[str, tuple[str, bytes]] = field(default_factory=dict)
    origin: str = ""

    def url(self, path: str) -> str:
        """Return the address of a page."""
        return self.origin + path


@contextmanager
def serving(pages: dict[str, tuple[str, bytes]]) -> Iterator[LoopbackSite]:
    """Serve pages on a free port of loopback."""
    site = LoopbackSite(pages)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            media_type, body = site.pages.get(self.path, ("text/plain", b""))
            self.send_response(200 if body else 404)
            self.send_header("Content-Type", media_type)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    site.origin = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def write_settings(folder: Path, site: LoopbackSite | None = None, **engines: str) -> Path:
    """Write settings for a site on loopback, with these engines."""
    folder.mkdir(parents=True, exist_ok=True)
    shelf = engines.pop("shelf", "")
    lines = [f'data = "{folder / "data"}"', *(f'{name} = "{uri}"' for name, uri in engines.items())]
    lines += ["[fetch]", 'allow_private = ["127.0.0.0/8"]', "delay = 0.0"]
    lines += [f"ports = [{site.origin.rpartition(':')[2]}]"] if site else []
    lines += ["[work]", "workers = 1"]
    lines += ["[archive]", f'uri = "{shelf}"'] if shelf else []
    config = folder / f"rehi{'-' + '-'.join(engines) if engines else ''}.toml"
    config.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return config
