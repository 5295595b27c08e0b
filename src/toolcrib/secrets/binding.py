"""This module holds values that may go to certain hosts only, and judges where they may go."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Self

__all__ = ["BoundValue", "hosts_of", "may_go_to"]


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
    return name[1:-1] if name.startswith("[") and name.endswith("]") else name
