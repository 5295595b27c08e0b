"""This module splits a URL into the place that a connection goes to and the path asked for there.

It reads a URL in one way only and refuses what others read differently (userinfo, backslashes,
control characters, odd ports), so that what was judged is what is connected to. The path and the
query go out as they were written: nothing is decoded, and no dot segments are removed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import quote

from yarl import URL

from toolcrib.errors import EgressBlocked
from toolcrib.net.addresses import Address
from toolcrib.net.hosts import BadHost, canonical_host

MAX_URL = 65_536
_HEAD = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]{0,30}:[/\\]{2}[^/?#]*", re.ASCII)
_AUTHORITY = re.compile(r"(\[[^\[\]]*\]|[^:\[\]]*)(?::([0-9]{0,5}))?", re.ASCII)
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_READY = re.compile(r"[!#-;=?-\[\]-~]*", re.ASCII)
_KEPT = "!#$%&'()*+,-./:;=?@[]^_`{|}~"
_PORTS = {"https": 443, "http": 80}


@dataclass(frozen=True, kw_only=True, slots=True)
class Destination:
    """Where a connection goes. `address` is set where the URL names one instead of a host.

    `listed`: the operator's list names this host and port.
    """

    scheme: str
    host: str
    port: int
    address: Address | None
    listed: bool = False
    authority: str = field(init=False)
    """`host`, with the port where it is not the scheme's own; IPv6 in brackets."""

    def __post_init__(self) -> None:
        host = f"[{self.host}]" if ":" in self.host else self.host
        own = self.port == _PORTS.get(self.scheme)
        object.__setattr__(self, "authority", host if own else f"{host}:{self.port}")

    @property
    def origin(self) -> str:
        """`https://host` with the port where it is not the scheme's own."""
        return f"{self.scheme}://{self.authority}"

    @property
    def place(self) -> str:
        """`host:port`, as an entry of the operator's list is written."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    def url(self, path: str) -> URL:
        """The URL of a path (with its query) here, as it is: nothing is quoted or normalised."""
        path, _, query = path.partition("?")
        return URL.build(
            scheme=self.scheme,
            authority=self.authority,
            path=path,
            query_string=query,
            encoded=True,
        )


def split(url: str) -> tuple[str, str]:
    """`(scheme://authority, the rest as it goes out)`. Raises EgressBlocked."""
    if len(url) > MAX_URL:
        raise _refused(f"The URL is longer than {MAX_URL} characters.")
    head = _HEAD.match(url)
    if head is None:
        raise _refused("The URL does not start with a scheme and a host (https://host/…).")
    return head[0], path_and_query(url[head.end() :])


def path_and_query(rest: str) -> str:
    """What is asked for at the place: fragment dropped, what no request line takes encoded."""
    if "#" in rest:
        rest = rest[: rest.index("#")]
    if _READY.fullmatch(rest) is None:
        rest = _encoded(rest)
    return rest if rest.startswith("/") else f"/{rest}"


def destination(head: str) -> Destination:
    """Read `scheme://authority`. Raises EgressBlocked for what cannot be read in one way only."""
    if _CONTROL.search(head):
        raise _refused("The URL has control characters.")
    scheme, _, authority = head.partition(":")
    scheme, authority = scheme.lower(), authority[2:]
    if "\\" in head:
        raise _refused("The URL has a backslash before its path.")
    if scheme not in _PORTS:
        raise _refused(f"The scheme {scheme!r} is not allowed: only https is.")
    if "@" in authority:
        raise _refused("The URL has a user name or password before its host.")
    parts = _AUTHORITY.fullmatch(authority)
    if parts is None:
        raise _refused("The URL's host and port cannot be read.")
    try:
        host, address = canonical_host(parts[1])
    except BadHost as bad:
        raise _refused(f"The host {parts[1]!r} cannot be used: {bad}.") from None
    port = int(parts[2]) if parts[2] else _PORTS[scheme]
    if not 1 <= port <= 65535:
        raise _refused(f"The port {port} of {host!r} is not a number from 1 to 65535.")
    return Destination(scheme=scheme, host=host, port=port, address=address)


def _encoded(rest: str) -> str:
    if _CONTROL.search(rest):
        raise _refused("The URL has control characters.")
    try:
        return quote(rest, safe=_KEPT)
    except UnicodeEncodeError:
        raise _refused("The URL has characters that cannot be encoded.") from None


def _refused(message: str) -> EgressBlocked:
    return EgressBlocked(message, sent=False)
