"""This module writes JSON-RPC messages as bytes, and what HTTP sends around them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final, cast

import orjson
from starlette.responses import Response
from starlette.types import Send

RequestId = str | int
LEVELS: Final = (
    "debug",
    "info",
    "notice",
    "warning",
    "error",
    "critical",
    "alert",
    "emergency",
)
"""Of log lines, the least severe first."""
_OPTIONS = orjson.OPT_NON_STR_KEYS | orjson.OPT_UTC_Z
_JSON = (b"content-type", b"application/json")


def dumps(value: Any) -> bytes:
    """JSON bytes. What orjson refuses, half characters and huge numbers, is escaped."""
    try:
        return orjson.dumps(value, default=str, option=_OPTIONS)
    except TypeError:
        return json.dumps(value, default=str, skipkeys=True).encode()


def object_of(value: object) -> dict[str, Any]:
    """The value if it is a JSON object, else an empty one."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def result_message(request_id: RequestId, result: bytes) -> bytes:
    """The response that carries a result, which is JSON already."""
    return b'{"jsonrpc":"2.0","id":' + orjson.dumps(request_id) + b',"result":' + result + b"}"


def error_message(
    request_id: RequestId | None, code: int, message: str, data: Mapping[str, Any] | None = None
) -> bytes:
    """The response that carries an error; without an id when the request's could not be read."""
    error = {"code": code, "message": message} | ({"data": dict(data)} if data else {})
    return dumps({"jsonrpc": "2.0", "id": request_id, "error": error})


def notification(method: str, params: Mapping[str, Any]) -> bytes:
    return dumps({"jsonrpc": "2.0", "method": method, "params": dict(params)})


def event(message: bytes) -> bytes:
    """A message as one event of a stream."""
    return b"event: message\r\ndata: " + message + b"\r\n\r\n"


async def send_json(send: Send, body: bytes, *, status: int = 200) -> None:
    headers = [_JSON, (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def refusal(
    status: int, code: int, message: str, data: Mapping[str, Any] | None = None
) -> Response:
    """An answer of HTTP itself, with words that MCP clients show."""
    body = error_message(None, code, message, data)
    return Response(body, status, media_type="application/json")
