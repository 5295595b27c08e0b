"""This module says where an MCP server is and how it is spoken to, with every value filled in."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import orjson

from toolcrib.isolation.confinement import Confinement
from toolcrib.secrets.places import OPEN, HiddenHost
from toolcrib.sources.oauth.bearing import Bearer

Wire = Literal["streamable", "sse", "jsonrpc"]
"""The ways to speak over HTTP; `jsonrpc` is plain POSTs without a session."""


@dataclass(frozen=True, kw_only=True, slots=True)
class HttpServer:
    """A server at an address. `private` are the values inside it that no text may show."""

    url: str = field(repr=False)
    wire: Wire = "streamable"
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    timeout: float | None = None
    private: frozenset[str] = field(default=frozenset(), repr=False)
    host: HiddenHost = OPEN
    """What errors do not tell, where stored values decide where the server is."""
    template: str | None = field(default=None, repr=False)
    """Where it is as its definition says it, where that is with stored values."""
    auth: Bearer | None = field(default=None, repr=False)
    """The login whose token goes with every request."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StdioServer:
    """A command that is started, without a shell, and spoken to through its pipes."""

    command: str
    args: tuple[str, ...] = field(default=(), repr=False)
    env: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    timeout: float | None = None
    private: frozenset[str] = field(default=frozenset(), repr=False)
    walls: Confinement | None = field(default=None, repr=False, compare=False)
    """What it is started behind, where the operator says so; set by the policy."""


Server = HttpServer | StdioServer


def private_now(server: Server) -> frozenset[str]:
    """The values that no text of the server may show, those of its login included."""
    if isinstance(server, HttpServer) and server.auth is not None:
        return server.private | server.auth.private
    return server.private


def hidden_in(server: Server) -> HiddenHost:
    """What errors of the server do not tell of where it is."""
    return server.host if isinstance(server, HttpServer) else OPEN


def digest(server: Server) -> str:
    """A hash of all that decides what is connected to; it shows none of it."""
    if isinstance(server, HttpServer):
        login = server.auth and server.auth.made
        seen: object = ["http", server.wire, server.url, dict(server.headers), login]
    else:
        seen = ["stdio", server.command, list(server.args), dict(server.env)]
    return hashlib.sha256(orjson.dumps(seen, option=orjson.OPT_SORT_KEYS)).hexdigest()
