"""This module opens a server that says what a test wrote, over every way of speaking."""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.support.mcp_bad_http import BadHttp
from toolcrib.sources.mcp.servers import HttpServer, Server, StdioServer, Wire

PROGRAM = Path(__file__).with_name("mcp_bad_stdio.py")
ALLOW = (Path(sys.executable).name,)
_WIRES: Mapping[str, Wire] = {"sse": "sse", "plain": "jsonrpc"}
WAYS = (
    "stdio",
    "stdio-2026",
    "http",
    "http-2026",
    "stream",
    "stream-2026",
    "sse",
    "plain",
)
"""By the era where it is not the older one. `http` answers with a body, `stream` with events."""
STDIO = tuple(way for way in WAYS if way.startswith("stdio"))
HTTP = tuple(way for way in WAYS if way.startswith(("http", "stream")))
EVENTS = tuple(way for way in WAYS if way.startswith(("stream", "sse")))
TALKING = (*STDIO, *EVENTS)
"""Where a server can say more than its answer."""
_numbers = itertools.count()


def program(script: Mapping[str, Any], folder: Path, **env: str) -> StdioServer:
    """The server as a command."""
    file = folder / f"script-{next(_numbers)}.json"
    file.write_text(json.dumps(script), encoding="utf-8")
    return StdioServer(command=sys.executable, args=(str(PROGRAM), str(file)), env=env)


@asynccontextmanager
async def serving(way: str, script: Mapping[str, Any], folder: Path) -> AsyncGenerator[Server]:
    """The server of one way."""
    kind, _, era = way.partition("-")
    script = {"era": era or "2025", **script}
    if kind == "stdio":
        yield program(script, folder)
        return
    wire = _WIRES.get(kind, "streamable")
    async with BadHttp(script, wire=wire, streams=kind == "stream") as server:
        yield HttpServer(url=server.url, wire=wire)
