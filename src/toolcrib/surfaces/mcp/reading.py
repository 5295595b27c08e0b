"""This module reads a request strictly and says whether it is an ordinary one.

Ordinary is what nearly every list and call is: all headers once and as they should be, no keys but
the usual, nothing that only the SDK knows how to refuse. Whatever is in doubt is not ordinary.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

import orjson
from mcp.shared.inbound import decode_header_value
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, LATEST_MODERN_VERSION

from toolcrib.errors import InvalidRequest
from toolcrib.surfaces.mcp.body import a_batch, not_json
from toolcrib.surfaces.mcp.sessions import Session
from toolcrib.surfaces.mcp.wire import RequestId, object_of
from toolcrib.tools.strict_json import read_strict_json

VERSION: Final = b"mcp-protocol-version"
SESSION: Final = b"mcp-session-id"
UNUSUAL: Final = b""
_ONCE: Final = frozenset(
    {VERSION, SESSION, b"mcp-method", b"mcp-name", b"accept", b"content-type", b"content-encoding"}
)
_META: Final = "io.modelcontextprotocol/"
_CLIENT_KEYS: Final = frozenset({"clientInfo", "clientCapabilities", "protocolVersion", "logLevel"})
_PARAMS: Final[Mapping[str, frozenset[str]]] = {
    "tools/call": frozenset({"name", "arguments", "_meta"}),
    "tools/list": frozenset({"cursor", "_meta"}),
}
_LARGEST: Final = 2**53
_HANDSHAKES: Final = frozenset(version.encode() for version in HANDSHAKE_PROTOCOL_VERSIONS)
_LATEST: Final = LATEST_MODERN_VERSION.encode()
_SLOW: Final = re.compile(rb'[0-9]{16}|[0-9][eE]|"[ \t\r\n]+:')
"""A long number may have lost digits; a blank before a colon would hide a key from the count."""
Headers = Mapping[bytes, bytes]


@dataclass(frozen=True, kw_only=True, slots=True)
class Ordinary:
    """A list or a call that needs nothing of the SDK."""

    method: str
    request_id: RequestId
    params: Mapping[str, Any]
    modern: bool
    version: str

    @property
    def meta(self) -> Mapping[str, Any]:
        return self.params.get("_meta") or {}

    @property
    def can_be_asked(self) -> bool:
        """Whether the client of the newer era could put a question to a person."""
        return "elicitation" in object_of(self.meta.get(f"{_META}clientCapabilities"))


def headers_of(scope_headers: Iterable[tuple[bytes, bytes]]) -> Headers:
    """The headers that matter, the first of each. `UNUSUAL` is among them when one came twice, or
    an argument came as a header."""
    found: dict[bytes, bytes] = {}
    for name, value in scope_headers:
        if name in _ONCE:
            if name in found:
                found[UNUSUAL] = name
            else:
                found[name] = value
        elif name.startswith(b"mcp-param-"):
            found[UNUSUAL] = name
    return found


def is_modern(headers: Headers) -> bool:
    """Whether the SDK will take the request for one of the newer era."""
    version = headers.get(VERSION)
    return version is not None and version not in _HANDSHAKES


def session_of(headers: Headers) -> str | None:
    """The session that the request names."""
    named = headers.get(SESSION)
    return named.decode("latin-1") if named is not None else None


def read_message(body: bytes) -> tuple[Any, bool]:
    """The JSON value, and whether it was read the quick way. Raises Unreadable."""
    try:
        value = orjson.loads(body)
        # As many `":` as keys: then no key can be there twice.
        quick = body.count(b'":') == _keys(value) and not _SLOW.search(body)
    except (orjson.JSONDecodeError, RecursionError):
        value, quick = None, False
    if quick and isinstance(value, dict):
        return cast("dict[str, Any]", value), True
    try:
        value = read_strict_json(body)
    except InvalidRequest as error:
        raise not_json(error) from None
    if isinstance(value, list):
        raise a_batch()
    return value, False


def ordinary(
    message: Any, headers: Headers, session: Session | None, *, modern: bool
) -> Ordinary | None:
    """The request, if there is nothing unusual about it."""
    if UNUSUAL in headers or not isinstance(message, dict) or not _takes_both(headers):
        return None
    given = cast("dict[str, Any]", message)
    method, request_id, params = given.get("method"), given.get("id"), given.get("params", {})
    allowed = _PARAMS.get(method) if isinstance(method, str) else None
    if allowed is None or given.get("jsonrpc") != "2.0" or not _is_id(request_id):
        return None
    if not isinstance(params, dict) or not given.keys() <= {"jsonrpc", "id", "method", "params"}:
        return None
    told = cast("dict[str, Any]", params)
    if not told.keys() <= allowed or not _has_usual_types(told, str(method)):
        return None
    fits = _fits_modern(headers, told, str(method)) if modern else _fits_session(headers, session)
    if not fits:
        return None
    version = LATEST_MODERN_VERSION if modern or session is None else session.version
    return Ordinary(
        method=str(method),
        request_id=cast("RequestId", request_id),
        params=told,
        modern=modern,
        version=version,
    )


def _takes_both(headers: Headers) -> bool:
    accept = headers.get(b"accept", b"")
    both = b"application/json" in accept and b"text/event-stream" in accept
    declared = headers.get(b"content-type", b"").partition(b";")[0].strip()
    return both and declared == b"application/json" and b"content-encoding" not in headers


def _is_id(request_id: object) -> bool:
    if type(request_id) is int:
        return abs(request_id) < _LARGEST
    return isinstance(request_id, str)


def _has_usual_types(params: Mapping[str, Any], method: str) -> bool:
    if not isinstance(params.get("_meta", {}), dict):
        return False
    token = object_of(params.get("_meta")).get("progressToken")
    if token is not None and not _is_id(token):
        return False
    if method == "tools/list":
        return isinstance(params.get("cursor", ""), str)
    return isinstance(params.get("name"), str) and isinstance(params.get("arguments", {}), dict)


def _fits_modern(headers: Headers, params: Mapping[str, Any], method: str) -> bool:
    """What the protocol wants to be the same in headers and body is the same."""
    meta: Mapping[str, Any] = params.get("_meta") or {}
    if headers.get(VERSION) != _LATEST or SESSION in headers:
        return False
    if meta.get(f"{_META}protocolVersion") != LATEST_MODERN_VERSION:
        return False
    if not _has_usual_client(meta) or headers.get(b"mcp-method") != method.encode():
        return False
    if method == "tools/list":
        return b"mcp-name" not in headers
    named = headers.get(b"mcp-name")
    if named is None:
        return False
    text = named.decode("latin-1")
    return (decode_header_value(text) if text.startswith("=?") else text) == params["name"]


def _has_usual_client(meta: Mapping[str, Any]) -> bool:
    capabilities, who = meta.get(f"{_META}clientCapabilities"), meta.get(f"{_META}clientInfo")
    if not isinstance(capabilities, dict):
        return False
    if who is not None:
        info = cast("dict[str, Any]", who)
        if not isinstance(who, dict) or not _is_text(info, "name") or not _is_text(info, "version"):
            return False
    ours = (key.removeprefix(_META) for key in meta if key.startswith(_META))
    return f"{_META}logLevel" not in meta and _CLIENT_KEYS.issuperset(ours)


def _is_text(value: Mapping[str, Any], key: str) -> bool:
    return isinstance(value.get(key), str)


def _fits_session(headers: Headers, session: Session | None) -> bool:
    if session is None:
        return False
    said = headers.get(VERSION)
    return said is None or said == session.version.encode()


def _keys(value: object) -> int:
    """How many keys all objects in the value have together. Raises RecursionError."""
    if isinstance(value, dict):
        members = cast("dict[str, object]", value)
        return len(members) + sum(map(_keys, members.values()))
    return sum(map(_keys, cast("list[object]", value))) if isinstance(value, list) else 0
