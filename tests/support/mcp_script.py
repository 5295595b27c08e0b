"""This module is what a misbehaving MCP server says: what a test wrote for a method, good manners
where it wrote nothing.

It imports nothing but the standard library, for a program of its own runs it too. A script is JSON:

    {"era": "2025" | "2026", "tools": [...],
     "say": {method: [[step, ...], ...]},       one list of steps per request, the last one stays
     "first": [step, ...]}                      said before anything is asked

A step is a message (an object with "jsonrpc"), or one of

    {"raw": text}  {"base64": bytes}    sent as they are
    {"times": n, "step": step}          the same n times; "$n" in it is the number
    {"wait": seconds}                   a pause, in which other requests are answered
    {"silence": true}                   no answer ever
    {"exit": code}  {"close": true}     of a program: it ends; it closes its output and lives on

In a message "$id" stands for the request's id, "$text" for the id as text, "$other" for another
id, "$token" for the progress token, "$cursor" for the cursor that was asked for.
"""

from __future__ import annotations

import json
from typing import Any

Step = dict[str, Any]
INFO = {"name": "made-up", "version": "1"}
MODERN = "2026-07-28"


def tool(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "inputSchema": {"type": "object"}, **more}


def result(value: Any, **more: Any) -> Step:
    return {"jsonrpc": "2.0", "id": "$id", "result": value, **more}


def refusal(code: Any, message: Any, **more: Any) -> Step:
    return {"jsonrpc": "2.0", "id": "$id", "error": {"code": code, "message": message, **more}}


def said(words: str, **more: Any) -> Step:
    """The usual result of a call."""
    return result(complete({"content": [{"type": "text", "text": words}], **more}))


def notice(method: str, **params: Any) -> Step:
    return {"jsonrpc": "2.0", "method": method, "params": params}


def listed(*tools: Any, then: Any = None) -> Step:
    return result(
        complete({"tools": list(tools), **({} if then is None else {"nextCursor": then})})
    )


def complete(value: dict[str, Any]) -> dict[str, Any]:
    """With what the newer era wants in each result."""
    return {"resultType": "complete", "ttlMs": 0, "cacheScope": "private", **value}


class Script:
    """Gives the steps for each message that comes in."""

    def __init__(self, given: dict[str, Any]) -> None:
        self._era = given.get("era", "2025")
        self._tools = given.get("tools", [tool("t")])
        self._say: dict[str, list[list[Step]]] = {
            method: list(answers) for method, answers in given.get("say", {}).items()
        }
        self.first: list[Step] = given.get("first", [])

    def steps(self, message: dict[str, Any]) -> list[Step]:
        """Every `$name` filled in. A notification is answered where a test says so."""
        method = str(message.get("method"))
        left = self._say.get(method)
        if left:
            steps = left.pop(0) if len(left) > 1 else left[0]
        elif "id" not in message:
            return []
        else:
            steps = [self._mannered(method, message.get("params") or {})]
        return [filled(step, _known(message)) for step in steps]

    def _mannered(self, method: str, params: dict[str, Any]) -> Step:
        if method == "server/discover" and self._era == "2026":
            return result(discovered())
        if method == "initialize" and self._era == "2025":
            return result(initialized(params.get("protocolVersion")))
        if method == "tools/list":
            return listed(*self._tools)
        if method == "tools/call":
            return said(json.dumps(params.get("arguments") or {}))
        return refusal(-32601, "no such method")


def discovered(**more: Any) -> dict[str, Any]:
    return complete(
        {
            "supportedVersions": [MODERN],
            "capabilities": {"tools": {"listChanged": False}},
            "_meta": {"io.modelcontextprotocol/serverInfo": INFO},
            **more,
        }
    )


def initialized(version: Any = "2025-11-25", **more: Any) -> dict[str, Any]:
    capabilities = {"tools": {"listChanged": True}}
    told = {"protocolVersion": version, "capabilities": capabilities, "serverInfo": INFO}
    return {**told, **more}


def filled(value: Any, known: dict[str, Any]) -> Any:
    """The value with every text that names something known replaced by it."""
    if isinstance(value, dict):
        return {key: filled(member, known) for key, member in value.items()}
    if isinstance(value, list):
        return [filled(member, known) for member in value]
    return known.get(value, value) if isinstance(value, str) else value


def _known(message: dict[str, Any]) -> dict[str, Any]:
    number, params = message.get("id"), message.get("params") or {}
    return {
        "$id": number,
        "$text": str(number),
        "$other": f"other-{number}",
        "$token": (params.get("_meta") or {}).get("progressToken"),
        "$cursor": params.get("cursor"),
    }


def repeated(step: Step) -> list[Step]:
    """The steps that one with `times` stands for; any other stands for itself."""
    if "times" not in step:
        return [step]
    return [filled(step["step"], {"$n": number}) for number in range(step["times"])]
