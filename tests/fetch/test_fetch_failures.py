"""What becomes of a visit when the server misbehaves."""

from __future__ import annotations

import contextlib
import gzip
import shutil
import socket
import ssl
import struct
import subprocess
import threading
import zlib
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from rehi.errors import (
    BadAnswer,
    BadEncoding,
    ConnectFailed,
    DiskFull,
    DnsFailed,
    FetchError,
    TimedOut,
    TlsFailed,
    TooLarge,
    Truncated,
)
from rehi.fetch import Fetcher
from rehi.fetch.coding import find_decoders
from rehi.fetch.handle import certificates
from rehi.model.visit import Visit
from rehi.settings import FetchSettings
from rehi.testing.waiting import PATIENCE, wait_until

if TYPE_CHECKING:
    from tests.fetch.conftest import RawServer, Visiting

NOISE = bytes(range(256)) * 64
OK = b"HTTP/1.1 200 OK\r\n"


def _error(ended: Visit, kind: type[FetchError]) -> str:
    """The message, once it is sure that the error is of the kind and the sentence is for people."""
    assert ended.answer is None
    assert type(ended.error) is kind, repr(ended.error)
    message = str(ended.error)
    assert message.startswith("127.0.0.1: ") or ".test: " in message or ".invalid: " in message, message
    assert "\n" not in message
    assert "curl" not in message.lower()
    return message


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        pytest.param(OK + b"Content-Length: 500\r\n\r\nonly this", Truncated, id="shorter than promised"),
        pytest.param(OK + b"Transfer-Encoding: chunked\r\n\r\nff\r\nhalf", Truncated, id="chunk cut off"),
        pytest.param(OK + b"Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n", Truncated, id="chunks do not end"),
        pytest.param(OK + b"Content-Encoding: gzip\r\n\r\n" + gzip.compress(NOISE)[:-9], Truncated, id="gzip cut off"),
        pytest.param(OK + b"Content-Encoding: gzip\r\n\r\n" + gzip.compress(NOISE)[:-2], Truncated, id="gzip tail"),
        pytest.param(OK + b"Content-Encoding: gzip\r\n\r\n\x1f", Truncated, id="one byte of gzip"),
        pytest.param(OK + b"Content-Encoding: deflate\r\n\r\n" + zlib.compress(NOISE)[:99], Truncated, id="deflate"),
        pytest.param(OK + b"X-Header: 1\r\n", Truncated, id="headers cut off"),
        pytest.param(OK + b"Content-Encoding: gzip\r\n\r\nplain text", BadEncoding, id="not gzip"),
        pytest.param(OK + b"Content-Encoding: br\r\n\r\n\xff\xff\xff\xff plain", BadEncoding, id="not brotli"),
        pytest.param(OK + b"Content-Encoding: zstd\r\n\r\nplain text", BadEncoding, id="not zstd"),
        pytest.param(OK + b"Content-Encoding: compress\r\n\r\nplain", BadEncoding, id="unreadable coding"),
        pytest.param(OK + b"Content-Encoding: " + b"gzip," * 99 + b"\r\n\r\nx", BadEncoding, id="a tower of codings"),
        pytest.param(OK + b"Transfer-Encoding: chunked\r\n\r\nzz\r\nx", BadAnswer, id="chunk of no size"),
        pytest.param(OK + b"Content-Length: -4\r\n\r\nx", BadAnswer, id="negative length"),
        pytest.param(b"SSH-2.0-OpenSSH_9.6\r\n", BadAnswer, id="not HTTP"),
        pytest.param(b"<html>no headers at all</html>", BadAnswer, id="HTTP 0.9"),
        pytest.param(b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n", BadAnswer, id="another protocol"),
        pytest.param(OK + b"X: 1\r\n" * 1_500 + b"\r\n", BadAnswer, id="too many headers"),
        pytest.param(OK + b"X: " + b"y" * 300_000 + b"\r\n\r\n", BadAnswer, id="a header too long"),
        pytest.param(b"HTTP/1.1 103 Hm\r\nX: 1\r\n\r\n" * 800 + OK + b"\r\n", BadAnswer, id="interim without end"),
        pytest.param(b"", BadAnswer, id="empty reply"),
    ],
)
def test_broken_answers_are_told_apart(
    server: RawServer, visit: Visiting, reply: bytes, kind: type[FetchError]
) -> None:
    server.replies["/"] = reply
    _error(visit(server.url("/")), kind)


def test_a_body_longer_than_its_length_ends_at_its_length(server: RawServer, visit: Visiting) -> None:
    server.replies["/"] = OK + b"Content-Length: 4\r\n\r\nfour and more"
    answer = visit(server.url("/")).answer
    assert answer is not None
    assert answer.body.read() == b"four"


def test_a_cut_off_brotli_body_is_truncated(server: RawServer, visit: Visiting) -> None:
    if "br" not in find_decoders():
        pytest.skip("this installation has no brotli whose output can be limited")
    packed = pytest.importorskip("brotli").compress(NOISE)
    server.replies["/"] = OK + b"Content-Encoding: br\r\n\r\n" + packed[:-3]
    _error(visit(server.url("/")), Truncated)


def _has_read(connection: socket.socket) -> bool:
    """Whether nothing waits at the other end of a connection: the queue at its socket is empty."""
    visitor = f":{connection.getpeername()[1]:04X}"
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return any(row[1].endswith(visitor) and row[4].endswith(":00000000") for row in rows)


def test_a_reset_in_the_middle_of_a_body_is_a_broken_connection(server: RawServer, visit: Visiting) -> None:
    def reset(connection: socket.socket, _request: bytes) -> None:
        connection.sendall(OK + b"Content-Length: 50000\r\n\r\n" + b"x" * 5_000)
        wait_until(lambda: _has_read(connection), what="the visitor has taken what came")  # a reset would drop it
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    server.replies["/"] = reset
    assert "in the middle of the answer" in _error(visit(server.url("/")), Truncated)


def test_a_closed_port_is_a_failed_connection(visit: Visiting) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    message = _error(visit(f"http://127.0.0.1:{port}/", ports=[port]), ConnectFailed)
    assert message == f"127.0.0.1: nobody answers on port {port} (connection refused)"


def test_a_name_without_an_address_is_told_so(visit: Visiting) -> None:
    assert "no address" in _error(visit("http://there-is-no-such-host.invalid/"), DnsFailed)


def test_headers_without_end_are_broken_off(server: RawServer, visit: Visiting) -> None:
    server.replies["/"] = server.endless(OK, b"X-More: and more\r\n" * 20)
    _error(visit(server.url("/")), BadAnswer)
    assert server.broken_off.wait(PATIENCE)


def test_a_body_without_end_is_broken_off_at_the_cap(server: RawServer, visit: Visiting) -> None:
    server.replies["/"] = server.endless(OK + b"\r\n", b"x" * 65_536)
    message = _error(visit(server.url("/"), max_bytes=300_000), TooLarge)
    assert "300,000" in message
    assert server.broken_off.wait(PATIENCE)


def test_a_promised_length_above_the_cap_is_broken_off_at_once(server: RawServer, visit: Visiting) -> None:
    server.replies["/"] = server.endless(OK + b"Content-Length: 50000000\r\n\r\n", b"x" * 1_000)
    ended = visit(server.url("/"), max_bytes=49_999_999)
    _error(ended, TooLarge)
    assert ended.seconds < PATIENCE / 4
    assert server.broken_off.wait(PATIENCE)


def test_a_body_of_just_the_cap_is_kept(server: RawServer, visit: Visiting) -> None:
    server.replies["/"] = OK + b"Content-Length: 10\r\n\r\n0123456789"
    assert visit(server.url("/"), max_bytes=10).answer is not None
    _error(visit(server.url("/"), max_bytes=9), TooLarge)


@pytest.mark.parametrize(
    ("head", "message"),
    [(b"", "no answer within"), (OK, "no answer within"), (OK + b"Content-Length: 9\r\n\r\n", "body had not come")],
)
def test_a_slow_server_is_given_up(server: RawServer, visit: Visiting, head: bytes, message: str) -> None:
    server.replies["/"] = server.trickle(head, pause=30)
    ended = visit(server.url("/"), timeout=2.0 if "body" in message else 0.4)
    assert message in _error(ended, TimedOut)
    assert ended.seconds < PATIENCE / 4


def test_a_server_that_trickles_is_given_up_before_the_time_is_over(server: RawServer, visit: Visiting) -> None:
    server.replies["/"] = server.trickle(OK + b"\r\n", pause=0.3)
    ended = visit(server.url("/"), timeout=PATIENCE, stall_timeout=1.0)
    assert "stopped sending" in _error(ended, TimedOut)
    assert ended.seconds < PATIENCE / 2


def _peak_memory() -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))


@pytest.fixture
def memory() -> Iterator[list[int]]:
    """Filled at the end with the bytes by which the peak has grown."""
    reset = Path("/proc/self/clear_refs")
    try:
        reset.write_text("5")
    except OSError:
        pytest.skip("the peak of the memory can't be reset on this system")
    grown: list[int] = []
    before = _peak_memory()
    yield grown
    assert grown, "the test must call for the measurement"
    assert _peak_memory() - before < grown[0]


def test_fifty_megabytes_take_no_memory(server: RawServer, visit: Visiting, memory: list[int]) -> None:
    block = NOISE * 4

    def large(connection: socket.socket, _request: bytes) -> None:
        connection.sendall(OK + b"Content-Length: %d\r\n\r\n" % (len(block) * 800))
        for _ in range(800):
            connection.sendall(block)

    server.replies["/"] = large
    ended = visit(server.url("/"))
    assert ended.answer is not None, ended.error
    assert ended.answer.size == len(block) * 800 > 50_000_000
    memory.append(16_000_000)


@pytest.fixture
def gzip_bomb() -> bytes:
    """2 GB of zeros in 2 MB; built from one block so that the test itself is cheap."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    head = packer.compress(b"") + packer.flush(zlib.Z_FULL_FLUSH)
    block = packer.compress(bytes(10_000_000)) + packer.flush(zlib.Z_FULL_FLUSH)
    return head + block * 200


def test_a_gzip_bomb_meets_the_cap_first(
    server: RawServer, gzip_bomb: bytes, visit: Visiting, memory: list[int]
) -> None:
    assert len(gzip_bomb) < 3_000_000
    server.replies["/"] = OK + b"Content-Encoding: gzip\r\n\r\n" + gzip_bomb
    ended = visit(server.url("/"), max_bytes=60_000_000)
    _error(ended, TooLarge)
    assert ended.seconds < 5
    memory.append(16_000_000)


@pytest.fixture(params=[("br", "brotli", {"quality": 1}), ("zstd", "backports.zstd", {"level": 1})])
def other_bomb(request: pytest.FixtureRequest) -> tuple[str, bytes]:
    """A coding, and 200 MB of zeros in it, packed once more with gzip."""
    coding, module, quickly = request.param
    if coding not in find_decoders():
        pytest.skip(f"this installation can't read {coding}")
    return coding, gzip.compress(pytest.importorskip(module).compress(bytes(200_000_000), **quickly))


def test_other_bombs_meet_the_cap_too(
    server: RawServer, other_bomb: tuple[str, bytes], visit: Visiting, memory: list[int]
) -> None:
    coding, bomb = other_bomb
    server.replies["/"] = OK + f"Content-Encoding: {coding}, gzip\r\n\r\n".encode() + bomb
    _error(visit(server.url("/"), max_bytes=20_000_000), TooLarge)
    memory.append(32_000_000)


def test_a_body_that_can_not_be_spooled_stops_the_harvest(
    server: RawServer, settings: FetchSettings, tmp_path: Path
) -> None:
    server.replies["/"] = OK + b"Content-Length: 2000000\r\n\r\n" + b"x" * 2_000_000
    with Fetcher[str](settings, clock=lambda: datetime.now(UTC), spool=tmp_path / "gone") as f:
        f.submit("large", server.url("/"))
        with pytest.raises(DiskFull, match="temporary file"):
            f.poll(5)
        assert f.in_flight == 0


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[Path, Path]:
    """A certificate for self.test that nobody else has signed, and its key."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    command = (
        "openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=self.test -addext subjectAltName=DNS:self.test"
    )
    subprocess.run(
        [*command.split(), "-keyout", str(key), "-out", str(certificate)],
        check=True,
        capture_output=True,
        timeout=PATIENCE,
    )
    return certificate, key


@pytest.fixture
def tls_port(certificate: tuple[Path, Path]) -> Iterator[int]:
    """A TLS server that shows the certificate and answers one request."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        with contextlib.suppress(OSError):
            connection, _ = listener.accept()
            with connection, context.wrap_socket(connection, server_side=True) as secure:
                secure.recv(1000)
                secure.sendall(OK + b"Content-Length: 6\r\n\r\nsecret")

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    yield listener.getsockname()[1]
    listener.close()
    thread.join(5)


def test_a_certificate_that_nobody_signed_is_not_trusted(tls_port: int, visit: Visiting) -> None:
    ended = visit("https://self.test/", resolve=[f"self.test=127.0.0.1:{tls_port}"])
    assert "self-signed" in _error(ended, TlsFailed)


@pytest.mark.parametrize("host", ["self.test", "other.test"])
def test_a_certificate_that_the_system_trusts_is_good_for_its_own_name(
    tls_port: int, certificate: tuple[Path, Path], visit: Visiting, monkeypatch: pytest.MonkeyPatch, host: str
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate[0]))
    certificates.cache_clear()
    try:
        ended = visit(f"https://{host}/", resolve=[f"*.test=127.0.0.1:{tls_port}"])
    finally:
        certificates.cache_clear()
    if host == "self.test":
        assert ended.answer is not None, ended.error
        assert ended.answer.body.read() == b"secret"
    else:
        _error(ended, TlsFailed)


def test_a_server_without_tls_is_not_trusted(server: RawServer, visit: Visiting) -> None:
    server.replies["/"] = OK + b"\r\n"

    def plain(listener: socket.socket) -> None:
        connection, _ = listener.accept()
        with connection:
            connection.recv(1000)
            connection.sendall(b"HTTP/1.1 400 Speak plainly\r\n\r\n")

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=plain, args=(listener,), daemon=True)
        thread.start()
        ended = visit("https://plain.test/", resolve=[f"plain.test=127.0.0.1:{listener.getsockname()[1]}"])
        thread.join(5)
    _error(ended, TlsFailed)
