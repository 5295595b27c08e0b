"""Two bare ASGI applications: the upstream that every participant calls, and a forwarder to it.

The forwarder is what a gateway cannot do without: it reads `{"arguments": {…}}`, calls the upstream
with a shared aiohttp session, and writes the answer as JSON. No grants, no checks, no journal.
"""

from __future__ import annotations

import json
import os
from typing import Any

import aiohttp
import orjson

BODY = json.dumps({"city": "Oslo", "units": "metric", "days": [1, 2, 3]}).encode()
_JSON = (b"content-type", b"application/json")


def manual(place: str) -> dict[str, Any]:
    """The upstream as python-utcp wants it described."""
    arguments = {
        "type": "object",
        "properties": {"city": {"type": "string"}, "n": {"type": "integer"}},
    }
    body = {"type": "object", "properties": {"body": arguments}}
    url = f"http://{place}/echo"
    kind = {"call_template_type": "http", "name": "echo", "url": url}
    json_body = {"http_method": "POST", "body_field": "body", "content_type": "application/json"}
    return {
        "utcp_version": "1.0.0",
        "manual_version": "1.0.0",
        "tools": [
            _tool("get", arguments, {**kind, "http_method": "GET"}),
            _tool("post", body, {**kind, **json_body}),
        ],
    }


def _tool(name: str, inputs: dict[str, Any], template: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": name,
        "description": "Echo.",
        "inputs": inputs,
        "outputs": {"type": "object"},
        "tags": [],
        "tool_call_template": template,
    }


async def _read(receive: Any) -> bytes:
    body = b""
    while True:
        message = await receive()
        body += message.get("body", b"")
        if not message.get("more_body"):
            return body


async def _answer(send: Any, body: bytes) -> None:
    headers = [_JSON, (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def upstream(scope: dict[str, Any], receive: Any, send: Any) -> None:
    """Reads the body and answers 60 bytes of JSON; `/utcp` answers the manual."""
    if scope["type"] != "http":
        return
    await _read(receive)
    if scope["path"] == "/utcp":
        host, port = scope["server"]
        await _answer(send, json.dumps(manual(f"{host}:{port}")).encode())
    else:
        await _answer(send, BODY)


_session: list[aiohttp.ClientSession] = []


async def forwarder(scope: dict[str, Any], receive: Any, send: Any) -> None:
    """Calls the upstream (`UPSTREAM` in the environment) as the path's last part says."""
    if scope["type"] != "http":
        return
    if not _session:
        _session.append(aiohttp.ClientSession())
    arguments = orjson.loads(await _read(receive))["arguments"]
    url = f"http://{os.environ['UPSTREAM']}/echo"
    if scope["path"].endswith("/get"):
        going = _session[0].get(url, params=arguments)
    else:
        going = _session[0].post(url, json=arguments)
    async with going as response:
        value = orjson.loads(await response.read())
    await _answer(send, orjson.dumps({"success": True, "structured": value}))
