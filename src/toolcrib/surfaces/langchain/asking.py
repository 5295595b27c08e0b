"""This module keeps what an agent's tools were made from, and asks again at every call."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolcrib.catalog.capabilities import Capability
from toolcrib.dialects.hosted_mcp import canonical, with_login
from toolcrib.errors import DefinitionError, NotGranted, ToolcribError
from toolcrib.identity.caller import Caller
from toolcrib.invocation.flight import Outcome, Request
from toolcrib.resolution.toolset import Absence, ResolvedTool, Toolset
from toolcrib.surfaces.langchain.configurable import Asker, merged, read_asker
from toolcrib.surfaces.langchain.crib import Crib
from toolcrib.surfaces.langchain.given import Given, read_given

_log = logging.getLogger(__name__)
_REMEMBERED = 256


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """What the capabilities gave one asker, at one moment."""

    caller: Caller
    toolset: Toolset
    servers: Sequence[Capability]
    """Rows of type mcp that the caller may use."""
    absences: Sequence[Absence]


class Asking:
    """Capabilities in the hands of one agent."""

    def __init__(
        self,
        crib: Crib,
        capabilities: Sequence[object],
        configurable: Mapping[str, Any],
        *,
        connect: bool = False,
    ) -> None:
        """With `connect` the tools of MCP servers are among the tools."""
        self._connect = connect
        self._crib = crib
        self._configurable = configurable
        self._answers: dict[object, Answer] = {}
        self._given: list[Given] = []
        for place, one in enumerate(capabilities):
            try:
                self._given.append(read_given(one, place))
            except DefinitionError as error:
                _log.warning("capability skipped: %s", error)

    async def answer(self, asker: Asker) -> Answer:
        """Remembered until something changes, so that a call costs no query."""
        key = (self._crib.version(), _key(asker))
        answer = self._answers.get(key)
        if answer is None:
            answer = await self._resolved(asker)
            if len(self._answers) >= _REMEMBERED:
                self._answers.clear()
            self._answers[key] = answer
        return answer

    async def configs(self, answer: Answer, asker: Asker) -> list[tuple[int, dict[str, Any]]]:
        """Each server's capability and canonical form; one that cannot be filled is logged."""
        configs: list[tuple[int, dict[str, Any]]] = []
        for row in answer.servers:
            try:
                values = await self._crib.values(row, answer.caller, asker)
                entry = canonical(row.options or {}, values)
                token = await self._crib.login(row, answer.caller)
                if token is not None:
                    entry = with_login(entry, token)
                configs.append((row.id, entry))
            except ToolcribError as error:
                _log.warning("capability %s (%s) skipped: %s", row.id, row.code, error)
        return configs

    async def invoke(
        self, tool: ResolvedTool, arguments: object, configurable: Mapping[str, Any]
    ) -> Outcome:
        """Call the tool as it is now. Raises NotGranted when it is not there any more."""
        asker = read_asker(merged(self._configurable, configurable))
        answer = await self.answer(asker)
        current = answer.toolset.find(tool.name)
        if current is None or current.ref != tool.ref:
            raise _gone(tool, answer)
        return await self._crib.invoke(
            Request(
                tool=current,
                caller=answer.caller,
                arguments=arguments,
                surface="langchain",
                configurable=asker.more,
            )
        )

    async def _resolved(self, asker: Asker) -> Answer:
        caller = await self._crib.caller(asker)
        found = await self._crib.rows(self._given, caller)
        servers = [row for row in found.rows if row.type == "mcp"]
        refused = {row.id: self._crib.refusal(row, caller) for row in servers}
        tools = [row for row in found.rows if self._connect or row.type != "mcp"]
        toolset = await self._crib.toolset(tools, caller, asker)
        absences = [*found.absences, *filter(None, refused.values()), *toolset.absences]
        return Answer(
            caller=caller,
            toolset=toolset,
            servers=[row for row in servers if refused[row.id] is None],
            absences=absences,
        )


def _key(asker: Asker) -> object:
    return (
        asker.user_id,
        asker.group_id,
        asker.chat_id,
        asker.chat_uuid,
        repr(asker.context),
        frozenset(name for name, value in asker.settings.items() if value.strip()),
    )


def _gone(tool: ResolvedTool, answer: Answer) -> NotGranted:
    here = f"capability:{tool.capability_id}"
    why = next(
        (a for a in answer.absences if tool.code == a.code or a.ref in {here, tool.ref}), None
    )
    reason = f": {why.reason}" if why else ""
    return NotGranted(f"The tool {tool.name!r} is not yours to call any more{reason}.")
