"""This module holds a URL's host: fixed, or with parts that a call's arguments choose."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from toolcrib.errors import InvalidArguments, InvalidOptions
from toolcrib.net.hosts import BadHost, canonical_host
from toolcrib.sources.http.slots import Slot
from toolcrib.sources.http.words import text_of

_PORTS = {"https": 443, "http": 80}
_LABEL = re.compile(r"[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?", re.ASCII)


@dataclass(frozen=True, kw_only=True)
class FixedHost:
    """The host of every call."""

    scheme: str
    host: str
    port: int

    def of(self, _: Mapping[str, Any]) -> FixedHost:
        return self

    @cached_property
    def origin(self) -> str:
        """`https://host`, with the port where it is not the scheme's own."""
        name = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port == _PORTS[self.scheme] else f":{self.port}"
        return f"{self.scheme}://{name}{port}"


@dataclass(frozen=True, kw_only=True, slots=True)
class SlottedHost:
    """A host with slots. One slot alone may be a whole name; else each is one part of it."""

    scheme: str
    labels: tuple[str | Slot, ...]
    port: int

    @classmethod
    def read(
        cls, scheme: str, labels: Sequence[str | Slot], port: int, *, where: str
    ) -> SlottedHost:
        """Raises InvalidOptions where the fixed parts make no host's name."""
        sample = ".".join("x" if isinstance(label, Slot) else label for label in labels)
        try:
            canonical_host(sample)
        except BadHost as bad:
            raise InvalidOptions(f"The url's host cannot be used: {bad}.", where=where) from None
        return cls(scheme=scheme, labels=tuple(labels), port=port)

    def of(self, arguments: Mapping[str, Any]) -> FixedHost:
        """The host of one call. Raises InvalidArguments for a value that is no part of a name."""
        whole = len(self.labels) == 1
        name = ".".join(
            _label(label.name, arguments, whole=whole) if isinstance(label, Slot) else label
            for label in self.labels
        )
        try:
            host, _ = canonical_host(name)
        except BadHost as bad:
            raise InvalidArguments(f"The host {name!r} cannot be used: {bad}.") from None
        return FixedHost(scheme=self.scheme, host=host, port=self.port)


Host = FixedHost | SlottedHost


def _label(name: str, arguments: Mapping[str, Any], *, whole: bool) -> str:
    text = text_of(arguments.get(name))
    parts = text.split(".") if whole else [text]
    if not all(_LABEL.fullmatch(part) for part in parts):
        what = "a host's name" if whole else "one part of a host's name"
        raise InvalidArguments(
            f"The argument {name!r} is {what}: letters, digits and hyphens.",
        )
    return text
