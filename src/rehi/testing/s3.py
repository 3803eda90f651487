"""An S3 server that lives as long as a test: SeaweedFS, from its wheel."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from types import TracebackType

from rehi.errors import EngineError
from rehi.testing.waiting import PATIENCE, wait_until

BUCKET = "rehi-kast"
_KEY, _SECRET = "rehi-test", "a-secret-of-the-tests"
_APART = 10_000  # each of its servers listens once more this far above its port
_RANGE = 16  # ports that belong to a process, so that two which start at once do not take each other's


def find_seaweed() -> Path | None:
    """Find the server's program: beside Python, where a wheel puts it, or on the PATH."""
    beside = Path(sys.executable).parent / "weed"
    if os.access(beside, os.X_OK):
        return beside
    on_path = shutil.which("weed")
    return Path(on_path) if on_path else None


class S3Server:
    """A server on loopback with one bucket; it can be stopped and started again, and keeps what it has."""

    def __init__(self, parent: Path | None = None) -> None:
        """``parent`` is the folder in which the temporary one is made; by default the system's for such."""
        program = find_seaweed()
        if program is None:
            raise EngineError('there is no S3 server here: install "rehi[dev]"')
        self._program = program
        self._folder = Path(tempfile.mkdtemp(prefix="rehi-s3-", dir=parent))
        self._ports: list[int] = []
        self._server: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> S3Server:
        try:
            self.start()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
        shutil.rmtree(self._folder, ignore_errors=True)

    @property
    def endpoint(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self._ports[0]}"

    @property
    def environment(self) -> dict[str, str]:
        """The credentials, as they are in the environment of whoever may write there."""
        return {"AWS_ACCESS_KEY_ID": _KEY, "AWS_SECRET_ACCESS_KEY": _SECRET, "AWS_REGION": "us-east-1"}

    def start(self) -> None:
        """Start, at the same address as before; it is ready when this returns."""
        if not self._ports:
            self._ports = _free_ports(5)
        identities = [
            {
                "name": "rehi",
                "credentials": [{"accessKey": _KEY, "secretKey": _SECRET}],
                "actions": ["Admin", "Read", "Write", "List"],
            }
        ]
        (self._folder / "s3.json").write_text(json.dumps({"identities": identities}), encoding="ascii")
        names = ("s3", "master", "volume", "filer", "admin")
        ports = [f"-{name}.port={port}" for name, port in zip(names, self._ports, strict=True)]
        sockets = [f"-{name}.localSocket={self._folder / name}.sock" for name in ("s3", "filer")]
        with (self._folder / "log").open("ab") as log:
            self._server = subprocess.Popen(
                [
                    str(self._program), "-logtostderr", "mini", f"-dir={self._made('data')}", "-ip=127.0.0.1",
                    "-ip.bind=127.0.0.1", f"-s3.config={self._folder / 's3.json'}", f"-bucket={BUCKET}",
                    "-master.telemetry=false", "-webdav=false", "-admin.ui=false", "-s3.port.iceberg=0",
                    "-s3.port.lance=0", *ports, *sockets,
                ],
                stdout=log, stderr=log, stdin=subprocess.DEVNULL, cwd=self._folder,
                env={"PATH": os.environ.get("PATH", ""), "HOME": str(self._folder), "TMPDIR": str(self._folder)},
            )  # fmt: skip
        self._await()

    def stop(self) -> None:
        """Stop at once, as by a power cut."""
        server, self._server = self._server, None
        if server is not None:
            server.send_signal(signal.SIGKILL)
            server.wait(PATIENCE)

    def _made(self, name: str) -> Path:
        folder = self._folder / name
        folder.mkdir(exist_ok=True)
        return folder

    def _await(self) -> None:
        server = self._server
        assert server is not None
        wait_until(lambda: self._is_ready() or server.poll() is not None, what="the S3 server answers", pause=0.05)
        if server.poll() is not None:
            log = (self._folder / "log").read_text(errors="replace")
            raise EngineError(f"the S3 server did not start: {log[-2_000:].strip()}")

    def _is_ready(self) -> bool:
        """Whether the bucket is there and can be written to: who may not is refused, and before that it is an error."""
        from datetime import timedelta

        from obstore import put
        from obstore.exceptions import BaseError
        from obstore.store import S3Store

        try:
            with socket.create_connection(("127.0.0.1", self._ports[0]), timeout=10):
                pass
            store = S3Store(
                BUCKET, endpoint=self.endpoint, access_key_id=_KEY, secret_access_key=_SECRET, region="us-east-1",
                client_options={"allow_http": True, "timeout": "20s"},
                retry_config={"max_retries": 0, "retry_timeout": timedelta(seconds=20)},
            )  # fmt: skip
            put(store, ".ready", b"")
        except (OSError, BaseError):
            return False
        return True


def _free_ports(count: int) -> list[int]:
    """Return ports that nobody has, below those that the system gives out, with their counterparts far above."""
    ports: list[int] = []
    port = 11_000 + os.getpid() * _RANGE % 10_000
    while len(ports) < count:
        port = port + 1 if port < 21_000 else 11_000
        if _is_free(port) and _is_free(port + _APART):
            ports.append(port)
    return ports


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
