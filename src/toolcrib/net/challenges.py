"""This module reads what a server asks for when it refuses: `WWW-Authenticate` (RFC 9110, 6750)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

_TOKEN = r"[\w!#$%&'*+.^`|~-]+"  # noqa: S105 - the grammar's word
_PART = re.compile(
    rf'[\s,]*(?:(?P<name>{_TOKEN})\s*=\s*(?:"(?P<quoted>(?:[^"\\]|\\.)*)"|(?P<plain>[^\s,"]+))'
    rf"|(?P<scheme>{_TOKEN}))",
    re.ASCII,
)
_ESCAPED = re.compile(r"\\(.)")
_SCOPE = re.compile(r"[\x21\x23-\x5b\x5d-\x7e]{1,256}", re.ASCII)
_MOST = 50
"""How many scopes of one challenge are read."""
_LONGEST = 8192


@dataclass(frozen=True, slots=True)
class Challenge:
    """One way to come back: its scheme in lower case, and what it says."""

    scheme: str
    params: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def scopes(self) -> tuple[str, ...]:
        """The scopes that it names, each once; what can be no scope is left out."""
        named = dict.fromkeys(self.params.get("scope", "").split())
        return tuple(one for one in named if _SCOPE.fullmatch(one))[:_MOST]


def challenges(headers: Iterable[str]) -> Sequence[Challenge]:
    """Those of all the headers, in order; where one cannot be read on, the rest of it is left."""
    found: list[Challenge] = []
    for header in headers:
        found += _read(header[:_LONGEST])
    return found


def more_scopes(headers: Iterable[str]) -> tuple[str, ...]:
    """The scopes that a 403 says are lacking (`insufficient_scope`); none where it says nothing."""
    for one in challenges(headers):
        if one.scheme == "bearer" and one.params.get("error") == "insufficient_scope":
            return one.scopes
    return ()


def _read(header: str) -> list[Challenge]:
    found: list[tuple[str, dict[str, str]]] = []
    at = 0
    while part := _PART.match(header, at):
        at = part.end()
        if part["scheme"] is not None:
            found.append((part["scheme"].lower(), {}))
        elif found:
            quoted = part["quoted"]
            value = part["plain"] if quoted is None else _ESCAPED.sub(r"\1", quoted)
            found[-1][1].setdefault(part["name"].lower(), value)
    return [Challenge(scheme, params) for scheme, params in found]
