"""This module reads a request strictly and says whether it is an ordinary one.

Ordinary is what nearly every list and call is: all headers once and as they should be, no keys but
the usual, nothing that only the SDK knows how to refuse. Whatever is in doubt is not ordinary.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeGuard, cast

import orjson
from mcp.shared.inbound import decode_header_value
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, LATEST_MODERN_VERSION

from toolcrib.errors import InvalidRequest
from toolcrib.surfaces.mcp.body import a_batch, not_json
from toolcrib.surfaces.mcp.sessions import Session
from toolcrib.surfaces.mcp.wire import RequestId, object_of
from toolcrib.tools.record import record
from toolcrib.tools.strict_json import read_strict_json

VERSION: Final = b"mcp-protocol-version"
SESSION: Final = b"mcp-session-id"
UNUSUAL: Final = b""
_ONCE: Final = frozenset(
    {VERSION, SESSION, b"mcp-method", b"mcp-name", b"accept", b"content-type", b"content-encoding"}
)
_META: Final = "io.modelcontextprotocol/"
_CLIENT: Final = f"{_META}clientInfo"
_CAPABILITIES: Final = f"{_META}clientCapabilities"
_SPOKEN: Final = f"{_META}protocolVersion"
_CLIENT_KEYS: Final = frozenset({_CLIENT, _CAPABILITIES, _SPOKEN})
_PARAMS: Final[Mapping[str, frozenset[str]]] = {
    "tools/call": frozenset({"name", "arguments", "_meta"}),
    "tools/list": frozenset({"cursor", "_meta"}),
}
_KEYS: Final = frozenset({"jsonrpc", "id", "method", "params"})
_JSON: Final = b"application/json"
_LARGEST: Final = 2**53
_HANDSHAKES: Final = frozenset(version.encode() for version in HANDSHAKE_PROTOCOL_VERSIONS)
_LATEST: Final = LATEST_MODERN_VERSION.encode()
_LOSSY: Final = re.compile(rb"[0-9](?:[0-9]{15}|[eE])")
"""A number that may have lost digits."""
_HIDDEN: Final = re.compile(rb'"[ \t\r\n]+:')
"""A blank before a colon hides a key from the count."""
Headers = Mapping[bytes, bytes]


@record
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
        return "elicitation" in object_of(self.meta.get(_CAPABILITIES))


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
        keys, has_floats = _survey(value)
        # As many `":` as keys, and none before a blank: then no key can be there twice.
        quick = body.count(b'":') == keys and _HIDDEN.search(body) is None
        # An integer that was read as one has all its digits.
        quick = quick and not (has_floats and _LOSSY.search(body))
    except orjson.JSONDecodeError:
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
    if not _is_object(message) or not _KEYS.issuperset(message) or not _are_usual(headers):
        return None
    method, request_id = message.get("method"), message.get("id")
    if message.get("jsonrpc") != "2.0" or not isinstance(method, str) or not _is_id(request_id):
        return None
    params, allowed = message.get("params", {}), _PARAMS.get(method)
    if allowed is None or not _is_object(params) or not allowed.issuperset(params):
        return None
    if not _have_usual_types(params, method):
        return None
    fits = _fits_modern(headers, params, method) if modern else _fits_session(headers, session)
    if not fits:
        return None
    version = LATEST_MODERN_VERSION if modern or session is None else session.version
    return Ordinary(
        method=method, request_id=request_id, params=params, modern=modern, version=version
    )


def _are_usual(headers: Headers) -> bool:
    """Whether each came once, and both kinds of answer are taken for a body of JSON."""
    if UNUSUAL in headers or b"content-encoding" in headers:
        return False
    accept = headers.get(b"accept", b"")
    both = b"application/json" in accept and b"text/event-stream" in accept
    return both and headers.get(b"content-type", b"").partition(b";")[0].strip() == _JSON


def _is_object(value: object) -> TypeGuard[dict[str, Any]]:
    return type(value) is dict


def _is_id(request_id: object) -> TypeGuard[RequestId]:
    if type(request_id) is int:
        return abs(request_id) < _LARGEST
    return isinstance(request_id, str)


def _have_usual_types(params: Mapping[str, Any], method: str) -> bool:
    meta = params.get("_meta", {})
    if not _is_object(meta):
        return False
    token = meta.get("progressToken")
    if token is not None and not _is_id(token):
        return False
    if method == "tools/list":
        return isinstance(params.get("cursor", ""), str)
    return isinstance(params.get("name"), str) and _is_object(params.get("arguments", {}))


def _fits_modern(headers: Headers, params: Mapping[str, Any], method: str) -> bool:
    """What the protocol wants to be the same in headers and body is the same."""
    meta: Mapping[str, Any] = params.get("_meta", {})
    if headers.get(VERSION) != _LATEST or SESSION in headers:
        return False
    if meta.get(_SPOKEN) != LATEST_MODERN_VERSION or not _has_usual_client(meta):
        return False
    if headers.get(b"mcp-method") != method.encode():
        return False
    named = headers.get(b"mcp-name")
    if named is None or method == "tools/list":
        return named is None and method == "tools/list"
    text = named.decode("latin-1")
    return (decode_header_value(text) if text.startswith("=?") else text) == params["name"]


def _has_usual_client(meta: Mapping[str, Any]) -> bool:
    if not _is_object(meta.get(_CAPABILITIES)):
        return False
    who = meta.get(_CLIENT)
    if who is not None:
        if not _is_object(who):
            return False
        if not isinstance(who.get("name"), str) or not isinstance(who.get("version"), str):
            return False
    return _CLIENT_KEYS.issuperset([key for key in meta if key.startswith(_META)])


def _fits_session(headers: Headers, session: Session | None) -> bool:
    if session is None:
        return False
    said = headers.get(VERSION)
    return said is None or said == session.version.encode()


def _survey(value: Any) -> tuple[int, bool]:
    """How many keys all objects in the value have together, and whether there is a float."""
    keys, has_floats = 0, False
    waiting: list[Any] = [value]
    for node in waiting:
        kind = node.__class__
        if kind is dict:
            keys += len(node)
            waiting += node.values()
        elif kind is list:
            waiting += node
        elif kind is float:
            has_floats = True
    return keys, has_floats
