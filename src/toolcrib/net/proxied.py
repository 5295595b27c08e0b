"""This module reads what a program asks of a proxy, and writes what a proxy answers itself."""

from __future__ import annotations

import asyncio
import html
from collections.abc import Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Final

_LONGEST: Final = 65_536
_HOP: Final = frozenset(
    {
        "connection",
        "keep-alive",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "upgrade",
        "expect",
    }
)
"""Header fields that are meant for this hop alone."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """`url` is what is judged: of a tunnel `https://host:port`, or `http://` for port 80."""

    method: str
    url: str
    tunnel: bool
    authorization: str = field(default="", repr=False)
    fields: Sequence[tuple[str, str]] = field(default=(), repr=False)

    def head(self, path: str) -> bytes:
        """The request as it goes on: one a connection, without what was for the proxy."""
        lines = [f"{self.method} {path} HTTP/1.1"]
        lines += [f"{name}: {value}" for name, value in self.fields if name.lower() not in _HOP]
        return ("\r\n".join([*lines, "Connection: close"]) + "\r\n\r\n").encode("latin-1")


async def read_request(reader: asyncio.StreamReader) -> Asked | None:
    """None for what is no request to a proxy. Raises EOFError, LimitOverrunError."""
    raw = await reader.readuntil(b"\r\n\r\n")
    if len(raw) > _LONGEST:
        return None
    first, *rest = raw.decode("latin-1").removesuffix("\r\n\r\n").split("\r\n")
    parts = first.split(" ")
    fields = [(name.strip(), value.strip()) for name, _, value in (r.partition(":") for r in rest)]
    if len(parts) != 3 or any(r[:1] in " \t" or ":" not in r for r in rest):
        return None
    method, target, _ = parts
    given = {name.lower(): value for name, value in fields}
    tunnel = method == "CONNECT"
    if not tunnel and not target.lower().startswith("http://"):
        return None
    return Asked(
        method=method,
        url=f"{'http' if target.endswith(':80') else 'https'}://{target}" if tunnel else target,
        tunnel=tunnel,
        authorization=given.get("proxy-authorization", ""),
        # The host that was judged, whatever the program says it is.
        fields=fields if tunnel else [*_without_host(fields), ("Host", _host(target))],
    )


def closing(head: bytes) -> bytes:
    """An answer's head that says that the connection ends with this answer.

    Kept, a program would send its next request, to whatever host, to where this one went.
    """
    first, *rest = head.removesuffix(b"\r\n\r\n").split(b"\r\n")
    kept = [
        one for one in rest if one.partition(b":")[0].strip().lower().decode("latin-1") not in _HOP
    ]
    return b"\r\n".join([first, *kept, b"Connection: close"]) + b"\r\n\r\n"


def refusal(status: int, why: str) -> bytes:
    """A whole answer, as a page that says why."""
    phrase = HTTPStatus(status).phrase
    page = f"<!doctype html><title>{phrase}</title><h1>{phrase}</h1><p>{html.escape(why)}</p>"
    asks = 'Proxy-Authenticate: Basic realm="toolcrib"\r\n' if status == 407 else ""
    body = page.encode()
    head = (
        f"HTTP/1.1 {status} {phrase}\r\n{asks}Content-Type: text/html; charset=utf-8\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + body


def _without_host(fields: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    return [one for one in fields if one[0].lower() != "host"]


def _host(target: str) -> str:
    return target.partition("://")[2].partition("/")[0].partition("?")[0]
