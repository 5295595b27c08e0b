"""This module dresses requests as the era that was negotiated wants them.

Since 2026 a request carries the protocol's version and the client in its `_meta`, and over HTTP its
method, its tool's name and marked arguments in headers; before, the version alone was a header.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import mcp_types as types
from mcp.shared.dispatcher import CallOptions
from mcp.shared.inbound import (
    MCP_METHOD_HEADER,
    MCP_NAME_HEADER,
    MCP_PROTOCOL_VERSION_HEADER,
    encode_header_value,
    mcp_param_headers,
    x_mcp_header_map,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from toolcrib.net.outgoing import AGENT
from toolcrib.sources.mcp.conversation import HeaderMap

CLIENT: Final = types.Implementation(name=AGENT, version="1")
_CLIENT_INFO: Final = CLIENT.model_dump(by_alias=True, mode="json", exclude_none=True)


_REMEMBERED: Final = 1024


class Marks:
    """Which arguments of a tool go into headers, found once for each schema: lists of tools are
    read far less often than tools are called."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[object, HeaderMap]] = {}

    def of(self, schema: Mapping[str, Any]) -> HeaderMap:
        known = self._known.get(id(schema))
        if known is None or known[0] is not schema:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            known = self._known[id(schema)] = (schema, x_mcp_header_map(schema))
        return known[1]


def is_modern(version: str) -> bool:
    return version in MODERN_PROTOCOL_VERSIONS


def dress(
    method: str,
    params: Mapping[str, Any],
    version: str,
    marked: HeaderMap | None = None,
    *,
    capabilities: Mapping[str, Any] | None = None,
) -> tuple[dict[str, Any], CallOptions]:
    """The parameters and options to send. `params` may hold a `_meta` of the caller's own."""
    dressed = dict(params)
    headers = {MCP_PROTOCOL_VERSION_HEADER: version}
    if is_modern(version):
        dressed["_meta"] = {
            **(params.get("_meta") or {}),
            types.PROTOCOL_VERSION_META_KEY: version,
            types.CLIENT_INFO_META_KEY: _CLIENT_INFO,
            types.CLIENT_CAPABILITIES_META_KEY: dict(capabilities or {}),
        }
        headers[MCP_METHOD_HEADER] = method
        if method == "tools/call":
            headers[MCP_NAME_HEADER] = encode_header_value(str(params["name"]))
            headers |= mcp_param_headers(marked or {}, params.get("arguments") or {})
    return dressed, CallOptions(headers=headers)
