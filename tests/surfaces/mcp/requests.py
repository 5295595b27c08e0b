"""This module makes MCP requests by hand, also such as no client would send."""

from __future__ import annotations

from typing import Any

import httpx2

MODERN, OLDER = "2026-07-28", "2025-06-18"
BOTH = "application/json, text/event-stream"
PREFIX = "io.modelcontextprotocol/"


def meta(**more: Any) -> dict[str, Any]:
    return {
        f"{PREFIX}protocolVersion": MODERN,
        f"{PREFIX}clientInfo": {"name": "hand", "version": "1"},
        f"{PREFIX}clientCapabilities": {},
        **more,
    }


def message(method: str, params: dict[str, Any] | None = None, *, number: Any = 1) -> Any:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params or {}}


async def modern(
    http: httpx2.AsyncClient, url: str, method: str, params: dict[str, Any], **headers: str
) -> httpx2.Response:
    """A request of the newer era; a header named here stands instead of the right one."""
    named = {"Mcp-Name": params["name"]} if isinstance(params.get("name"), str) else {}
    sent = {
        "Accept": BOTH,
        "MCP-Protocol-Version": MODERN,
        "Mcp-Method": method,
        **named,
        **{name.replace("_", "-"): value for name, value in headers.items()},
    }
    body = message(method, {"_meta": meta(), **params})
    return await http.post(url, json=body, headers=sent)


async def open_session(http: httpx2.AsyncClient, url: str) -> dict[str, str]:
    """The headers of a new session of the older era."""
    params = {
        "protocolVersion": OLDER,
        "capabilities": {},
        "clientInfo": {"name": "hand", "version": "1"},
    }
    answer = await http.post(url, json=message("initialize", params), headers={"Accept": BOTH})
    assert answer.status_code == 200, answer.text
    return {
        "Accept": BOTH,
        "MCP-Protocol-Version": OLDER,
        "Mcp-Session-Id": answer.headers["mcp-session-id"],
    }
