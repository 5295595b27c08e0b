"""This module lets the kit reach MCP servers: the port of `kit.mcp_connector`, over the pool.

Connections are pooled, and what is seen is what one connection for each call would show. A server
belongs to one account: two accounts never share one. What may be reached is the guard's and the
command policy's word, as for every other server.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import Any, cast

from toolcrib.errors import InvalidOptions, SourceProtocolError, SourceUnreachable
from toolcrib.identity.caller import Caller
from toolcrib.kit.mcp_connector import McpServer
from toolcrib.plugin.home import Home
from toolcrib.secrets.forms import private_forms
from toolcrib.sources.mcp.calling import call_tool
from toolcrib.sources.mcp.connector import sentence_of, trouble_of
from toolcrib.sources.mcp.pool import Key, Pool
from toolcrib.sources.mcp.servers import HttpServer, Server, StdioServer, digest
from toolcrib.sources.mcp.upstream import Upstream
from toolcrib.tools.call import Call, Exchange, current_call
from toolcrib.tools.result import Output
from toolcrib.tools.spec import ToolSpec

_NOBODY = -1
"""Whose servers these are in the pool: no user's, so nobody's call waits for them."""
SECONDS = 30.0


class KitConnector:
    """The McpConnector of the kit. `home` is the loop that the pool belongs to."""

    def __init__(self, pool: Pool, home: Home) -> None:
        self._pool = pool
        self._home = home

    async def list_tools(self, server: McpServer) -> Sequence[ToolSpec]:
        """Raises SourceError for a server that does not answer, InvalidOptions for a config."""
        return await self._home.run(lambda: self._list(server))

    async def call_tool(self, server: McpServer, name: str, arguments: Mapping[str, Any]) -> Output:
        """A result with `isError` is a failed Output. Raises as above."""
        return await self._home.run(lambda: self._call(server, name, arguments))

    async def _list(self, server: McpServer) -> Sequence[ToolSpec]:
        state = await (await self._upstream(server)).look(self._pool.limits.opening)
        trouble = trouble_of(state)
        if trouble is not None:
            raise SourceUnreachable(sentence_of(trouble), sent=False)
        return list(state.tools.specs.values())

    async def _call(self, server: McpServer, name: str, arguments: Mapping[str, Any]) -> Output:
        upstream = await self._upstream(server)
        state = await upstream.look(self._pool.limits.opening)
        spec = state.tools.specs.get(name)
        if spec is None:
            trouble = trouble_of(state)
            if trouble is not None:
                raise SourceUnreachable(sentence_of(trouble), sent=False)
            raise SourceProtocolError(f"The server has no tool {name!r}.", sent=False)
        return await call_tool(upstream, spec, _call_of(arguments), longest=SECONDS)

    async def _upstream(self, server: McpServer) -> Upstream:
        made = server_of(server)
        await self._pool.prepare()
        key = Key(
            ref=f"kit:{server.account_id or ''}:{digest(made)}", user_id=_NOBODY, group_id=None
        )
        return self._pool.upstream(key, made, version=0, label=server.name or "kit")


def server_of(server: McpServer) -> Server:
    """Raises InvalidOptions for a configuration that names no server."""
    config = server.config
    if server.transport == "composio":
        raise InvalidOptions(
            "Composio's profiles cannot be connected to from here.",
            where="type",
            hint="Give the server's own address, with type http or sse.",
        )
    if server.transport == "json":
        command = config.get("command")
        if not isinstance(command, str) or not command.strip():
            raise InvalidOptions("The server's command is missing.", where="config.command")
        env = _texts(config.get("env"))
        return StdioServer(
            command=command,
            args=tuple(map(str, cast("Sequence[object]", config.get("args") or ()))),
            env=env,
            private=frozenset(private_forms(env.values())),
        )
    url = config.get("url")
    if not isinstance(url, str) or not url.strip().lower().startswith(("http://", "https://")):
        raise InvalidOptions("The server's address is no http or https one.", where="config.url")
    headers = _texts(config.get("headers"))
    return HttpServer(
        url=url.strip(),
        wire="sse" if server.transport == "sse" else "streamable",
        headers=headers,
        private=frozenset(private_forms(headers.values())),
    )


def _texts(given: object) -> dict[str, str]:
    if not isinstance(given, Mapping):
        return {}
    members = cast("Mapping[object, object]", given)
    return {str(name): str(value) for name, value in members.items()}


def _call_of(arguments: Mapping[str, Any]) -> Call:
    """A call of its own, for the caller of the one that runs here, if one does."""
    outer = current_call.get()
    return Call(
        call_id=f"kit_{uuid.uuid4().hex}",
        arguments=arguments,
        caller=outer.caller if outer else Caller(user_id=_NOBODY),
        deadline=min(SECONDS, outer.deadline) if outer else SECONDS,
        secrets=outer.secrets if outer else set(),
        exchange=outer.exchange if outer else Exchange(),
    )
