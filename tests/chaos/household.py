"""A household: a data folder with its engines, run by commands in processes of their own, so that anything can befall it."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from random import Random
from typing import Any

from rehi.app import House
from rehi.cli.practice import fetch_settings
from rehi.engines.bucket.store import Store
from rehi.settings import load_settings
from rehi.testing.postgres import PostgresServer
from rehi.testing.s3 import BUCKET, S3Server
from rehi.testing.snapshot import Snapshot, take_snapshot
from rehi.testing.waiting import PATIENCE
from rehi.testing.world import WorldServer
from tests.chaos.wrong_clock import WrongClock

LONGEST = 5 * PATIENCE  # seconds for a command that nobody disturbs

LostBytes = tuple[str, int, str]  # URL, number and digest of a version


@dataclass
class Household:
    """One worker: its settings, what happened to it, and what it said to have lost."""

    folder: Path
    web: WorldServer
    chance: Random
    postgres: PostgresServer | None = None
    s3: S3Server | None = None
    port: int = 0
    days: int = 0  # the time of its clock, as long as nothing befalls that
    most: int | None = None  # documents that it visits, all by default
    lost: set[LostBytes] = field(default_factory=set)
    happened: list[str] = field(default_factory=list)

    @cached_property
    def clock(self) -> WrongClock:
        return WrongClock(self.folder)

    @property
    def config(self) -> Path:
        return self.folder / "rehi.toml"

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @property
    def _bucket_uri(self) -> str:
        return f"s3://{BUCKET}/{self.folder.name}"

    @property
    def bucket(self) -> Store | None:
        """Its part of the bucket, as somebody sees it who may write there."""
        return Store(self._bucket_uri, endpoint=self.s3.endpoint) if self.s3 else None

    @property
    def list(self) -> Path:
        """All documents of the practice web; its traps would only take time."""
        return self.folder / "urls.txt"

    def settle_in(self) -> None:
        """Write the settings, and take the list of documents in."""
        self.folder.mkdir(parents=True, exist_ok=True)
        urls = [document.url for document in self.web.world.documents][: self.most]
        self.list.write_text("\n".join(urls), encoding="utf-8")
        patient = {
            "timeout": 20.0,
            "connect_timeout": 10.0,
            "stall_timeout": 6.0,
            "max_bytes": 3_000_000,
            "delay": 0.05,
        }
        fetch = fetch_settings(self.web.resolve_rules) | patient
        lines = "".join(f"{name} = {json.dumps(value)}\n" for name, value in fetch.items())
        catalogue = self.postgres.uri(f"chaos_{self.folder.name}") if self.postgres else ""
        archive = "file_bytes = 200000\n"
        if self.s3:
            archive += f'uri = "{self._bucket_uri}"\nendpoint = "{self.s3.endpoint}"\nlocal_bytes = 0\n'
        self.config.write_text(
            f'data = "{self.data}"\ncatalogue = "{catalogue}"\n[fetch]\n{lines}[archive]\n{archive}'
            f"[revisit]\ngone_after = 400000000.0\n[work]\nworkers = 2\n[serve]\nport = {self.port}\n",
            encoding="utf-8",
        )
        self.run("add", str(self.list))

    def set_clock(self, hours: float) -> None:
        """Set the clock of all its processes so far from where it should be, those that run too.

        A bucket refuses whoever is a quarter of an hour ahead or behind.
        """
        days, hours = (0, hours / 25) if self.s3 else (self.days, hours)
        self.clock.set(days * 86_400 + round(hours * 3600))

    def start(self, *words: str, largest_file: int = 0) -> subprocess.Popen[bytes]:
        """Start a command; no file of its own may grow beyond ``largest_file`` bytes, as on a full disk."""

        def limit() -> None:
            if largest_file:
                resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file, largest_file))
                signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

        secrets = self.s3.environment if self.s3 else {}
        with (self.folder / "errors.txt").open("ab") as errors:
            return subprocess.Popen(
                [sys.executable, "-m", "rehi", "--config", str(self.config), *words],
                stdout=subprocess.PIPE if "--json" in words else subprocess.DEVNULL,
                stderr=errors,
                env=os.environ | self.clock.environment | secrets,
                preexec_fn=limit,
            )

    def run(self, *words: str, codes: Sequence[int] = (0,)) -> Any:
        """Run a command to its end, and return what it printed as JSON, if it was asked to."""
        process = self.start(*words)
        output, _ = process.communicate(timeout=LONGEST)
        assert process.returncode in codes, f"rehi {' '.join(words)}: {self.last_words()}"
        return json.loads(output) if output else None

    def last_words(self) -> str:
        """Return the end of what all its processes have said of errors."""
        return (self.folder / "errors.txt").read_text(errors="replace")[-3000:]

    def open(self) -> House:
        """The house, for a look in this process."""
        return House(load_settings(self.config))

    def snapshot(self) -> Snapshot:
        with self.open() as house:
            return take_snapshot(house, records=False)
