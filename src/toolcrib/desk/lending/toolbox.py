"""This module lends a call the other tools of its agent, and its user's settings."""

from __future__ import annotations

from collections.abc import Sequence

from toolcrib.desk.lending.asking import agent_of, running
from toolcrib.desk.replying import Invoke
from toolcrib.desk.settings import StoredSettings
from toolcrib.plugin.lent import Row
from toolcrib.resolution.resolve import Resolver
from toolcrib.tools.result import Output


class LentToolbox:
    """The Toolbox of `plugin.lent`."""

    def __init__(self, *, resolver: Resolver, invoke: Invoke) -> None:
        self._resolver = resolver
        self._invoke = invoke

    async def list(self) -> Sequence[Row]:
        call = running()
        _, toolset = await self._resolver.for_agent(agent_of(call), call.caller)
        return [
            {
                "name": tool.name,
                "description": tool.spec.description,
                "input_schema": tool.input_schema,
                "kind": tool.kind,
                "code": tool.code,
            }
            for tool in toolset.tools.values()
        ]

    async def call(self, name: str, arguments: Row) -> Output:
        call = running()
        outcome = await self._invoke(
            agent_of(call),
            name,
            dict(arguments),
            call.caller,
            surface="tool",
            timeout=call.deadline,
            configurable=call.configurable,
        )
        return outcome.output


class LentSettings:
    """The OwnSettings of `plugin.lent`."""

    def __init__(self, settings: StoredSettings) -> None:
        self._settings = settings

    async def put(self, name: str, value: str) -> Sequence[str]:
        return await self._settings.put(running().caller, name, value)
