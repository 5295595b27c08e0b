"""This module holds a server that speaks when a test wants it to: a thread with plain sockets.

So a test decides when bytes are on the way while the event loop stands still.
"""

from __future__ import annotations

import socket
import threading
from contextlib import suppress


def reply(body: bytes) -> bytes:
    return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)


class Server:
    """Answers each request with the number of its connection; more when a test says so."""

    def __init__(self, *, behind: bytes = b"") -> None:
        self._behind = behind
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.place = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self.connections: list[socket.socket] = []
        self._accepting = threading.Thread(target=self._accept)
        self._accepting.start()

    def _accept(self) -> None:
        threads: list[threading.Thread] = []
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                break
            self.connections.append(connection)
            name = b"connection %d" % len(self.connections)
            threads.append(threading.Thread(target=self._serve, args=(connection, name)))
            threads[-1].start()
        for thread in threads:
            thread.join()

    def _serve(self, connection: socket.socket, name: bytes) -> None:
        seen = b""
        with connection:
            while True:
                try:
                    seen += connection.recv(65536)
                except OSError:
                    return
                if not seen:
                    return
                if seen.endswith(b"\r\n\r\n"):
                    connection.sendall(reply(name) + self._behind)
                    self._behind = b""
                    seen = b""
                elif not _is_open(connection):
                    return

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for connection in self.connections:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        self._accepting.join()


def _is_open(connection: socket.socket) -> bool:
    return bool(connection.recv(1, socket.MSG_PEEK))
