"""Whatever a request holds, it is answered with a sentence: no 5xx but 503, no traceback, and the server goes on."""

from __future__ import annotations

import logging
import os
import re
import secrets
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import Any
from urllib.parse import urlsplit

import orjson
import pytest

from rehi.app import House
from rehi.serve import running
from rehi.service import Service
from rehi.settings import load_settings
from tests.keeper import Keeper, at
from tests.serve.hostile_requests import HostileRequests, send, status_of
from tests.test_soak import resident_mb

SLICE, SLICE_SEED = 400, 1
MANY = int(os.environ.get("REHI_SOAK_REQUESTS", "50000"))
SEED = int(os.environ.get("REHI_SOAK_SEED") or secrets.randbelow(1_000_000))  # each soak sends others
GROWTH_MB = 150
ALLOWED = frozenset({503, 507})


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, int]]:
    """A service with a page or two, which nobody harvests meanwhile."""
    settings = load_settings(data=tmp_path_factory.mktemp("hostile") / "data", query={"timeout": 5.0})
    with House(settings) as house:
        keeper = Keeper(house)
        keeper.new("http://a.test/", b"<p>Tere!</p>", at(0))
        keeper.new("http://a.test/", b"<p>Tere taas!</p>", at(1))
        keeper.close()
        with running(house, Service(house), port=0) as url:
            where = urlsplit(url)
            yield str(where.hostname), int(where.port or 0)


def attack(address: tuple[str, int], *, seed: int, number: int, log: pytest.LogCaptureFixture) -> Counter[int]:
    """Send requests; how often each status came back. AssertionError with the first that the server fell over."""
    requests, statuses = HostileRequests(seed, f"127.0.0.1:{address[1]}"), Counter[int]()
    for count in range(number):
        request, broken_off = requests.draw()
        status = status_of(send(*address, request, broken_off=broken_off))
        statuses[status] += 1
        said = [record.getMessage() for record in log.records if record.exc_info or "Traceback" in record.getMessage()]
        assert (status < 500 or status in ALLOWED, said) == (True, []), f"seed {seed}, {count}: {request[:600]!r}"
        log.clear()
    return statuses


def test_a_few_hundred_hostile_requests_are_answered(
    address: tuple[str, int], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        statuses = attack(address, seed=SLICE_SEED, number=SLICE, log=caplog)
    print(sorted(statuses.items()))
    assert statuses[200] > SLICE / 20
    assert statuses[400] > SLICE / 20
    assert status_of(send(*address, b"GET /api/status HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")) == 200


@pytest.mark.soak
def test_tens_of_thousands_of_hostile_requests_leave_the_server_well(
    address: tuple[str, int], caplog: pytest.LogCaptureFixture
) -> None:
    print(f"\nseed {SEED}, {MANY:,} requests; to repeat: make soak NAME=requests, with REHI_SOAK_SEED={SEED}")
    with caplog.at_level(logging.WARNING):
        attack(address, seed=SEED + 1, number=MANY // 10, log=caplog)  # caches fill up
        before = resident_mb()
        statuses = attack(address, seed=SEED, number=MANY, log=caplog)
    growth = resident_mb() - before
    print(f"{sorted(statuses.items())}, {growth:+.0f} MB")
    assert growth < GROWTH_MB
    assert status_of(send(*address, b"GET /api/status HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")) == 200


@pytest.mark.parametrize(
    ("request_bytes", "status", "sentence"),
    [
        (
            b"GET /api/documents?offset=9223372036854775808 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
            400,
            "offset is 0 to",
        ),
        (
            b"GET /api/sources/9223372036854775808 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
            404,
            "source_id is 1 to",
        ),
        (b"BREW / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", 403, ""),
        (
            b"GET /api/documents?like=%00 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
            400,
            "'like' is not known here",
        ),
    ],
)
def test_the_answer_is_a_sentence(address: tuple[str, int], request_bytes: bytes, status: int, sentence: str) -> None:
    answer = send(*address, request_bytes)
    assert status_of(answer) in (status, 405)
    detail = orjson.loads(answer.partition(b"\r\n\r\n")[2])["detail"]
    assert re.search(sentence, detail)


@pytest.mark.parametrize("rest", [b"--x\r\nno header\r\n\r\n", b"--y"], ids=["no-header", "no-boundary"])
def test_an_upload_that_is_broken_leaves_no_file_open(
    address: tuple[str, int], monkeypatch: pytest.MonkeyPatch, rest: bytes
) -> None:
    opened: list[Any] = []

    def open_spool(*given: Any, **named: Any) -> Any:
        opened.append(SpooledTemporaryFile(*given, **named))  # noqa: SIM115 - the code under test closes it
        return opened[-1]

    monkeypatch.setattr("starlette.formparsers.SpooledTemporaryFile", open_spool)
    body = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\nhttp://a.test/\r\n' + rest
    head = (
        "POST /api/sources HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
        f"Content-Type: multipart/form-data; boundary=x\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    assert status_of(send(*address, head.encode() + body)) in (400, 422)
    assert [file.closed for file in opened] == [True]


def test_the_seed_decides(tmp_path: Path) -> None:
    first, second, other = (HostileRequests(seed, "localhost") for seed in (1, 1, 2))
    drawn = [first.draw() for _ in range(50)]
    assert drawn == [second.draw() for _ in range(50)]
    assert drawn != [other.draw() for _ in range(50)]
