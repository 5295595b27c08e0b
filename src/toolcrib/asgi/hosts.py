"""This module judges the `Host` and `Origin` of requests: a browser must not be lent to a page
that somebody else wrote (DNS rebinding, requests across sites)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Self
from urllib.parse import urlsplit

from toolcrib.settings import Settings

_PORTS = {"http": 80, "https": 443}
_NAME = r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*\.?)(?::([0-9]{1,5}))?"
_AUTHORITY = re.compile(_NAME)
_ORIGIN = re.compile(f"(https?)://{_NAME}", re.IGNORECASE)
"""A name or an address with a port, and nothing else: what could be read in two ways is neither."""
_LAST_PORT = 65535


@dataclass(frozen=True, kw_only=True, slots=True)
class Hosts:
    """Names that this server answers to, and origins whose pages may speak to it."""

    names: frozenset[str] | None
    """None: any name, for a server off loopback that was not told its own."""
    origins: frozenset[str]
    numbers: bool = False
    """Whether any address in numbers will do: probes come so, and no name leads a page there."""

    @classmethod
    def of(cls, settings: Settings) -> Self:
        public = urlsplit(settings.public_url)
        origins = {origin.rstrip("/").lower() for origin in settings.cors_origins}
        if public.netloc:
            origins.add(f"{public.scheme}://{public.netloc}".lower())
        outside = not _is_loopback(settings.host)
        if outside and not public.hostname:
            return cls(names=None, origins=frozenset(origins))
        names = {settings.host.lower(), (public.hostname or "").lower()} - {""}
        return cls(names=frozenset(names), origins=frozenset(origins), numbers=outside)

    def answers_to(self, host: str | None) -> bool:
        """Whether the `Host` header names this server."""
        if self.names is None:
            return host is None or bool(_hostname(host))
        name = _hostname(host or "")
        known = name in self.names or _is_loopback(name)
        return bool(name) and (known or (self.numbers and _is_number(name)))

    def listens_to(self, origin: str, *, host: str | None) -> bool:
        """Whether pages of the origin may speak to this server: its own, and those allowed."""
        if origin.lower() in self.origins or "*" in self.origins:
            return True
        scheme = origin.partition(":")[0].lower()
        place = _place(origin)
        return place is not None and place == _place(f"{scheme}://{host}")


def path_prefix(public_url: str) -> str:
    """The path below which the outside reaches the server, without a slash at the end."""
    return urlsplit(public_url).path.rstrip("/")


def _place(url: str) -> tuple[str, int] | None:
    """Host and port; None for what is no address of the web."""
    found = _ORIGIN.fullmatch(url)
    if found is None:
        return None
    scheme, name, port = found.groups()
    number = int(port or _PORTS[scheme.lower()])
    return (name.lower(), number) if 0 < number <= _LAST_PORT else None


def _hostname(host: str) -> str:
    """The name in lower case, without a dot at its end; empty where the header is odd."""
    found = _AUTHORITY.fullmatch(host)
    if found is None or int(found[2] or 0) > _LAST_PORT:
        return ""
    return found[1].lower().removesuffix(".").strip("[]")


def _is_number(name: str) -> bool:
    try:
        ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True


def _is_loopback(name: str) -> bool:
    if name.lower() == "localhost":
        return True
    try:
        return ip_address(name.strip("[]")).is_loopback
    except ValueError:
        return False
