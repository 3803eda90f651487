"""A name service for a process in a network of its own: run as a program under ``unshare --map-root-user --net --mount``.

It becomes the only name service there is, visits what it was told to, and prints what came of it as JSON. Names that
begin with "silent" are never answered; "changing" has a public-looking address when first asked for and a private one
ever after; "both" has one of each; the rest are at 127.0.0.1.
"""

from __future__ import annotations

import fcntl
import json
import socket
import struct
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime
from pathlib import Path

from rehi.fetch import Fetcher
from rehi.settings import FetchSettings

_PUBLIC = "127.0.0.1"  # the network that is allowed here, and stands for the public one
_PRIVATE = "127.66.0.1"
asked: dict[str, int] = {}


def _addresses(name: str) -> list[str]:
    asked[name] = asked.get(name, 0) + 1
    if name.startswith("changing"):
        return [_PUBLIC if asked[name] == 1 else _PRIVATE]
    return [_PRIVATE, _PUBLIC] if name.startswith("both") else [_PUBLIC]


def _answer(query: bytes) -> bytes:
    at, labels = 12, []
    while query[at]:
        labels.append(query[at + 1 : at + 1 + query[at]].decode())
        at += 1 + query[at]
    name, (kind,) = ".".join(labels), struct.unpack(">H", query[at + 1 : at + 3])
    if name.startswith("silent"):
        return b""
    records = [
        b"\xc0\x0c" + struct.pack(">HHIH", 1, 1, 0, 4) + socket.inet_aton(address)
        for address in (_addresses(name) if kind == 1 else [])
    ]
    head = query[:2] + b"\x81\x80" + struct.pack(">HHHH", 1, len(records), 0, 0)
    return head + query[12 : at + 5] + b"".join(records)


def _serve_names(service: socket.socket) -> None:
    while True:
        query, visitor = service.recvfrom(2_000)
        if reply := _answer(query):
            service.sendto(reply, visitor)


def _serve_pages(listener: socket.socket, address: str) -> None:
    while True:
        connection, _ = listener.accept()
        with connection:
            connection.recv(4_000)
            connection.sendall(f"HTTP/1.1 200 OK\r\nContent-Length: {len(address)}\r\n\r\n{address}".encode())


def _settle(folder: Path) -> None:
    """Loopback up, and our name service the only one."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, 0x8914, struct.pack("16sh", b"lo", 0x1 | 0x40))
    configuration = folder / "resolv.conf"
    configuration.write_text("nameserver 127.0.0.1\n")
    subprocess.run(["mount", "--bind", str(configuration), "/etc/resolv.conf"], check=True)
    service = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    service.bind(("127.0.0.1", 53))
    threading.Thread(target=_serve_names, args=(service,), daemon=True).start()
    for address in (_PUBLIC, _PRIVATE):
        listener = socket.create_server((address, 80), backlog=200)
        threading.Thread(target=_serve_pages, args=(listener, address), daemon=True).start()


def main(folder: str, *hosts: str) -> None:
    _settle(Path(folder))
    settings = FetchSettings(allow_private=["127.0.0.0/16"], timeout=20, connect_timeout=4, connections=100)
    visits: dict[str, list[object]] = {}
    fetcher = Fetcher[str](settings, clock=lambda: datetime.now(UTC))
    began = time.monotonic()
    for host in hosts:
        fetcher.submit(host, f"http://{host}/")
    while fetcher.in_flight:
        for host, ended in fetcher.poll(5):
            outcome = ended.answer.body.read().decode() if ended.answer is not None else type(ended.error).__name__
            visits[host] = [outcome, time.monotonic() - began]
    before = time.monotonic()
    fetcher.close()
    print(json.dumps({"visits": visits, "asked": asked, "closing": time.monotonic() - before}))


if __name__ == "__main__":
    main(*sys.argv[1:])
