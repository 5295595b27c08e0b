"""This module holds MCP servers as the kit reaches them: a connector over tables of tools."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from toolcrib.errors import SourceUnreachable
from toolcrib.kit.mcp_connector import McpServer
from toolcrib.tools.result import Output
from toolcrib.tools.spec import ToolSpec

Answer = Callable[[Mapping[str, Any]], Awaitable[Output]]
SCHEMA = {"type": "object", "properties": {"to": {"type": "string"}}, "required": ["to"]}


async def send(arguments: Mapping[str, Any]) -> Output:
    return Output.of_text(f"sent to {arguments['to']}")


async def refuse(arguments: Mapping[str, Any]) -> Output:
    return Output.failed("tool_error", "the mailbox is full")


async def hang(arguments: Mapping[str, Any]) -> Output:
    await asyncio.Event().wait()
    return Output.of_text("never")


class Servers:
    """`tools` by url. A url that is not there cannot be reached."""

    def __init__(self, tools: Mapping[str, Mapping[str, Answer]]) -> None:
        self.tools = tools
        self.listed: list[tuple[str, str | None]] = []
        self.called: list[tuple[str, str, str | None]] = []

    async def list_tools(self, server: McpServer) -> Sequence[ToolSpec]:
        url = str(server.config.get("url"))
        self.listed.append((url, server.account_id))
        if url == "https://slow.example":
            await asyncio.Event().wait()
        return [
            ToolSpec(name=name, description=f"{name} at {url}", input_schema=SCHEMA)
            for name in self._at(url)
        ]

    async def call_tool(self, server: McpServer, name: str, arguments: Mapping[str, Any]) -> Output:
        url = str(server.config.get("url"))
        self.called.append((url, name, server.account_id))
        return await self._at(url)[name](arguments)

    def _at(self, url: str) -> Mapping[str, Answer]:
        if url not in self.tools:
            raise SourceUnreachable(f"{url} does not answer.")
        return self.tools[url]


def mail(url: str = "https://mail.example", **more: Any) -> dict[str, Any]:
    """The mcp_config of a server."""
    return {"type": "http", "config": {"url": url}, **more}
