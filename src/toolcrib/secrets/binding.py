"""This module holds values that may go to certain hosts only, and judges where they may go."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from typing import Self

__all__ = ["BoundValue", "hosts_of", "may_go_to", "wrong_with"]

_ENTRY = re.compile(
    r"(?P<suffix>\*\.)?(?P<name>[^\[\]:*/@?#\\\s]+|\[(?P<six>[0-9a-f:.]+)\])(?::(?P<port>[^\[\]:/@]*))?",
    re.ASCII | re.IGNORECASE,
)
_LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?", re.ASCII | re.IGNORECASE)
_FOUR = re.compile(r"[0-9.]+", re.ASCII)


class BoundValue(str):
    """A resolved value with the hosts it is limited to; none means any host.

    It is a `str`, so whoever needs the text just uses it; its `repr` does not show it.
    """

    __slots__ = ("hosts",)
    hosts: tuple[str, ...]

    def __new__(cls, text: str, hosts: Iterable[str] = ()) -> Self:
        made = super().__new__(cls, text)
        made.hosts = tuple(hosts)
        return made

    def __repr__(self) -> str:
        return "BoundValue('***')"


def hosts_of(value: str) -> tuple[str, ...]:
    """The hosts a value is limited to; an ordinary string is limited to none."""
    return value.hosts if isinstance(value, BoundValue) else ()


def wrong_with(entry: str) -> str | None:
    """Why `entry` can be no place that a value is limited to, as a clause; None where it can.

    An entry is `host`, `host:port`, `*.domain` or an address, IPv6 in brackets before a port.
    """
    if _is_six(entry):
        return None
    parts = _ENTRY.fullmatch(entry)
    if parts is None:
        return "it is not a host"
    port = parts["port"]
    if port is not None and not (
        port.isascii() and port.isdecimal() and len(port) <= 5 and 1 <= int(port) <= 65535
    ):
        return f"its port {port!r} is not a number from 1 to 65535"
    name = parts["name"].removesuffix(".")
    if parts["six"] is not None:
        fits = parts["suffix"] is None and _is_six(parts["six"])
    elif _FOUR.fullmatch(name):
        fits = parts["suffix"] is None and _is_four(name)
    else:
        fits = len(name) <= 253 and all(_LABEL.fullmatch(label) for label in name.split("."))
    return None if fits else "it is not a host"


def may_go_to(hosts: Sequence[str], host: str, port: int) -> bool:
    """Whether a value limited to `hosts` may be sent to `host:port`.

    An entry is a host (any port), `host:port`, or `*.domain` for the hosts below a domain.
    """
    if not hosts:
        return True
    name = _plain(host)
    return any(_covers(_plain(entry), name, port) for entry in hosts)


def _covers(entry: str, name: str, port: int) -> bool:
    host, colon, wanted = entry.rpartition(":")
    if colon and wanted.isdecimal() and (":" not in host or host.endswith("]")):
        if int(wanted) != port:
            return False
        entry = host
    entry = _plain(entry)
    if entry.startswith("*."):
        return name.endswith(entry[1:]) and len(name) > len(entry) - 1
    return entry == name


def _plain(host: str) -> str:
    name = host.strip().lower().rstrip(".")
    if name.startswith("[") and name.endswith("]"):
        name = name[1:-1]
    return str(IPv6Address(name)) if ":" in name and _is_six(name) else name


def _is_four(text: str) -> bool:
    try:
        IPv4Address(text)
    except AddressValueError:
        return False
    return True


def _is_six(text: str) -> bool:
    try:
        return IPv6Address(text).scope_id is None
    except AddressValueError:
        return False
