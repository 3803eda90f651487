"""Proxies on loopback: SOCKS4(a), SOCKS5 and HTTP, in as many words as a visit needs."""

from __future__ import annotations

import base64
import contextlib
import socket
import struct
import threading


class ProxyServer:
    """Makes every connection to one place, whatever it is asked for, and remembers what it was asked."""

    def __init__(self, destination: tuple[str, int], *, user: str = "", password: str = "") -> None:
        self.asked: list[str] = []  # "name:port" as the visitor said it
        self.heads: list[bytes] = []  # what an HTTP proxy was told
        self._destination = destination
        self._user, self._password = user, password
        self._stopping = False
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port: int = self._listener.getsockname()[1]
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._stopping = True
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join(5)

    def serve(self, connection: socket.socket) -> None:
        raise NotImplementedError

    def join(self, connection: socket.socket, first: bytes = b"") -> None:
        """Carry bytes to and fro until one side has no more."""
        with socket.create_connection(self._destination) as onward:
            onward.sendall(first)
            back = threading.Thread(target=_pump, args=(onward, connection), daemon=True)
            back.start()
            _pump(connection, onward)
            back.join(10)

    def _accept(self) -> None:
        while not self._stopping:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._guarded, args=(connection,), daemon=True).start()

    def _guarded(self, connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError, IndexError, struct.error):
            connection.settimeout(10)
            self.serve(connection)


class SocksProxy(ProxyServer):
    """SOCKS 4, 4a and 5, told apart by the first byte."""

    def serve(self, connection: socket.socket) -> None:
        if connection.recv(1) == b"\x05":
            self._serve_5(connection)
        else:
            self._serve_4(connection)

    def _serve_4(self, connection: socket.socket) -> None:
        _, port, address = struct.unpack(">BH4s", _exactly(connection, 7))
        _text(connection)  # the user's name
        host = _text(connection) if address[:3] == b"\0\0\0" else socket.inet_ntoa(address)
        self.asked.append(f"{host}:{port}")
        connection.sendall(b"\0\x5a" + bytes(6))
        self.join(connection)

    def _serve_5(self, connection: socket.socket) -> None:
        methods = _exactly(connection, _exactly(connection, 1)[0])
        method = 2 if self._user else 0
        if method not in methods:
            connection.sendall(b"\x05\xff")
            return
        connection.sendall(bytes([5, method]))
        if method == 2 and not self._is_known(connection):
            return
        _, _, _, kind = _exactly(connection, 4)
        if kind == 3:
            host = _exactly(connection, _exactly(connection, 1)[0]).decode()
        else:
            family, size = (socket.AF_INET, 4) if kind == 1 else (socket.AF_INET6, 16)
            host = socket.inet_ntop(family, _exactly(connection, size))
        (port,) = struct.unpack(">H", _exactly(connection, 2))
        self.asked.append(f"{host}:{port}")
        connection.sendall(b"\x05\0\0\x01" + bytes(6))
        self.join(connection)

    def _is_known(self, connection: socket.socket) -> bool:
        _exactly(connection, 1)
        user = _exactly(connection, _exactly(connection, 1)[0]).decode()
        password = _exactly(connection, _exactly(connection, 1)[0]).decode()
        known = (user, password) == (self._user, self._password)
        connection.sendall(b"\x01\0" if known else b"\x01\x01")
        return known


class HttpProxy(ProxyServer):
    """CONNECT for tunnels, and whole URLs for the rest."""

    def serve(self, connection: socket.socket) -> None:
        head = b""
        while b"\r\n\r\n" not in head:
            piece = connection.recv(65_536)
            if not piece:
                return
            head += piece
        self.heads.append(head)
        method, target, _ = head.split(b"\r\n")[0].decode().split(" ")
        if self._user and self._credentials() not in head:
            connection.sendall(b"HTTP/1.1 407 Who is it\r\nContent-Length: 0\r\nX-Proxy: 1\r\n\r\n")
        elif method == "CONNECT":
            self.asked.append(target)
            connection.sendall(b"HTTP/1.1 200 Joined\r\nX-Proxy: 1\r\n\r\n")
            self.join(connection)
        else:
            host, _, path = target.removeprefix("http://").partition("/")
            self.asked.append(host)
            self.join(connection, head.replace(target.encode(), f"/{path}".encode(), 1))

    def _credentials(self) -> bytes:
        pair = base64.b64encode(f"{self._user}:{self._password}".encode())
        return b"\r\nProxy-Authorization: Basic " + pair + b"\r\n"


def _pump(source: socket.socket, sink: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65_536):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)


def _exactly(connection: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        piece = connection.recv(count - len(data))
        if not piece:
            raise OSError("the visitor has gone")
        data += piece
    return data


def _text(connection: socket.socket) -> str:
    data = b""
    while (byte := _exactly(connection, 1)) != b"\0":
        data += byte
    return data.decode()
