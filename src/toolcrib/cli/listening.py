"""This module takes the port that the server listens on, and says so plainly when it is taken."""

from __future__ import annotations

import errno
import ipaddress
import socket

from toolcrib.errors import InvalidSettings


def listen(host: str, port: int) -> socket.socket:
    """A socket bound to the address; port 0 takes any free one. Raises InvalidSettings.

    It does not listen yet: whoever connects before `listen()` is called on it is refused.
    """
    family, address = _resolved(host, port)
    taken = socket.socket(family, socket.SOCK_STREAM)
    taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        taken.bind(address)
    except OSError as error:
        taken.close()
        raise _refused(error, host, port) from None
    taken.set_inheritable(True)
    return taken


def address_of(taken: socket.socket) -> str:
    """`http://HOST:PORT` of a bound socket."""
    host, port = taken.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def is_loopback(taken: socket.socket) -> bool:
    return ipaddress.ip_address(taken.getsockname()[0].partition("%")[0]).is_loopback


def _resolved(host: str, port: int) -> tuple[socket.AddressFamily, tuple[str, int]]:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError):
        raise InvalidSettings(
            f"There is no address {host!r} to listen on.",
            hint="Use 127.0.0.1 for this machine alone, or 0.0.0.0 for every network it is in.",
        ) from None
    family, _, _, _, address = found[0]
    return family, (str(address[0]), int(address[1]))


def _refused(error: OSError, host: str, port: int) -> InvalidSettings:
    if error.errno == errno.EADDRINUSE:
        return InvalidSettings(
            f"Port {port} of {host} is taken by another program.",
            hint=f"It may be another Toolcrib. Take the next with --port {port + 1}, or any free "
            "one with --port 0.",
        )
    if error.errno == errno.EACCES:
        return InvalidSettings(
            f"Port {port} of {host} is not for ordinary users.", hint="Take one above 1023."
        )
    return InvalidSettings(
        f"Nothing can listen on {host}, port {port}: {error.strerror}.",
        hint="See that TOOLCRIB_HOST is an address of this machine.",
    )
