"""This module serves a plugin's tools as an MCP server of their own, over stdio or HTTP."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING

from toolcrib.asgi.front import Front
from toolcrib.asgi.hosts import Hosts
from toolcrib.asgi.tokens import TokenRequired
from toolcrib.cli.answers import console, say
from toolcrib.cli.environment import read_settings
from toolcrib.cli.listening import address_of, is_loopback, listen
from toolcrib.cli.logs import configure
from toolcrib.cli.stopping import Stop, end_at_once
from toolcrib.errors import InvalidRequest
from toolcrib.platform import alone
from toolcrib.surfaces.mcp.places import ROOT
from toolcrib.surfaces.mcp.standalone import PluginTools, Standalone, serve_stdio

if TYPE_CHECKING:
    import socket

    from toolcrib.settings import Settings

TOKEN = "TOOLCRIB_MCP_TOKEN"  # noqa: S105 - the name of a variable
"""Whoever connects over HTTP must send it, where it is set."""


def over_stdio(codes: Sequence[str], *, as_json: bool) -> None:
    """Serve one client until it closes the pipes; then leave at once, whatever a plugin runs."""
    settings = read_settings()
    configure(level=settings.log_level, form=settings.log_format)

    async def serve() -> None:
        with _stdout_is_stderr():
            served = await _made(settings, codes)
            _tell(await _facts(served, codes, "stdio"), as_json=as_json, stderr=True)
        await serve_stdio(served)

    asyncio.run(serve())


def over_http(codes: Sequence[str], host: str, port: int, *, as_json: bool) -> None:
    """Serve until a signal says stop. Raises InvalidRequest for an open address without a token."""
    end_at_once()
    settings = read_settings().model_copy(update={"host": host})
    configure(level=settings.log_level, form=settings.log_format)
    token = os.environ.get(TOKEN, "").strip()
    with listen(host, port) as taken:
        if not token and not is_loopback(taken):
            raise InvalidRequest(
                f"{host} can be reached from the network, and nobody would be asked for a token.",
                where="--host",
                hint=f"Set {TOKEN}, or listen on 127.0.0.1.",
            )
        asyncio.run(_listening(settings, codes, taken, token, as_json=as_json))


async def _listening(
    settings: Settings, codes: Sequence[str], taken: socket.socket, token: str, *, as_json: bool
) -> None:
    """Plugins belong to the loop that serves them, so all of it happens in one."""
    import uvicorn  # noqa: PLC0415 - stdio does without

    from toolcrib.cli.serving import Server  # noqa: PLC0415

    served = await _made(settings, codes)
    stop = Stop()
    taken.listen(2048)
    _tell(await _facts(served, codes, address_of(taken) + ROOT), as_json=as_json, stderr=False)
    app = Front(TokenRequired(Standalone(served), token), hosts=Hosts.of(settings), prefix="")
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        ws="none",
        timeout_graceful_shutdown=3,
    )
    await Server(config, stop).serve(sockets=[taken])


@contextlib.contextmanager
def _stdout_is_stderr() -> Generator[None]:
    """What plugins print while they load must not look like the protocol."""
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)


async def _made(settings: Settings, codes: Sequence[str]) -> PluginTools:
    parts, failed = await alone(settings, codes)
    for report in failed:
        say(console(stderr=True), f"· The plugin {report.name} is left out: {report.error}")
    return PluginTools(parts, codes)


async def _facts(served: PluginTools, codes: Sequence[str], where: str) -> dict[str, object]:
    toolset = await served.toolset()
    skipped = [skip.as_json() for skip in toolset.skipped]
    return {"at": where, "codes": list(codes), "tools": list(toolset.tools), "skipped": skipped}


def _tell(facts: dict[str, object], *, as_json: bool, stderr: bool) -> None:
    if as_json:
        stream = sys.stderr if stderr else sys.stdout
        stream.write(json.dumps(facts) + "\n")
        stream.flush()
        return
    tools = ", ".join(map(str, facts["tools"]))  # type: ignore[call-overload]
    say(console(stderr=stderr), f"· Serving {tools} at {facts['at']}")
