"""This module offers a large Toolset through two tools: `search_tools` finds, `call_tool` calls.

Both see exactly the caller's Toolset, and keep nothing between calls. A call through `call_tool` is
a call of the tool it names: checked, recorded and answered as that tool.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

import orjson

from toolcrib.errors import InvalidArguments
from toolcrib.grants.agents import Agent
from toolcrib.resolution.ranking import Ranked, Ranking, Searchable
from toolcrib.resolution.toolset import ResolvedTool, Toolset
from toolcrib.tools.call import Call
from toolcrib.tools.result import Output
from toolcrib.tools.schema import ArgumentChecker
from toolcrib.tools.spec import Annotations, ToolSpec

SEARCH, CALL = "search_tools", "call_tool"
MOST = 50
"""The most tools that one search gives."""

_SEARCH_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "query": {
            "type": "string",
            "maxLength": 1000,
            "default": "",
            "description": "What the tool should do, in a few words. Empty lists all of them.",
        },
        "limit": {"type": "integer", "minimum": 1, "maximum": MOST, "default": 10},
        "offset": {
            "type": "integer",
            "minimum": 0,
            "maximum": 1_000_000,
            "default": 0,
            "description": "How many of the best to leave out: to see more.",
        },
    },
}
_CALL_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 1, "description": "As search_tools gives it."},
        "arguments": {
            "description": "What the tool's input_schema asks for.",
            "type": "object",
            "default": {},
        },
    },
    "required": ["name"],
}
_SEARCH_CHECKER = ArgumentChecker(_SEARCH_SCHEMA, closed=True)
_CALL_CHECKER = ArgumentChecker(_CALL_SCHEMA, closed=True)


@dataclass(frozen=True, slots=True)
class Searching:
    """Decides which agents' tools are offered through search."""

    ranking: Ranking
    above: int
    """An agent that leaves it open searches when it has more tools than this; 0: never."""

    def of(self, agent: Agent, toolset: Toolset) -> Toolset:
        many = bool(self.above) and len(toolset.tools) > self.above
        wanted = many if agent.tool_search == "auto" else agent.tool_search == "on"
        return searched(toolset, self.ranking) if wanted else toolset


def searched(toolset: Toolset, ranking: Ranking) -> Toolset:
    """The same tools, offered through search."""
    door = _Door(toolset, ranking)
    return replace(toolset, offered_instead={SEARCH: door.search_tool(), CALL: door.call_tool()})


class _Door:
    """The two tools in front of one Toolset."""

    def __init__(self, toolset: Toolset, ranking: Ranking) -> None:
        self._tools = {**toolset.held, **toolset.tools}  # a held one says so when it is called
        self._ordered = tuple(toolset.tools.values())
        self._ranking = ranking
        self._ranked: Ranked | None = None

    def search_tool(self) -> ResolvedTool:
        spec = ToolSpec(
            name=SEARCH,
            description=f"Find the tools for a task among {len(self._ordered)}. Gives their names, "
            f"descriptions and input schemas; call one with {CALL}.",
            input_schema=_SEARCH_CHECKER.schema,
            annotations=Annotations(title="Search tools", read_only=True, open_world=False),
        )
        return _own(spec, _SEARCH_CHECKER, self._search)

    def call_tool(self) -> ResolvedTool:
        spec = ToolSpec(
            name=CALL,
            description=f"Call a tool that {SEARCH} found, by its name, with its arguments.",
            input_schema=_CALL_CHECKER.schema,
            annotations=Annotations(title="Call a tool"),
        )
        return replace(_own(spec, _CALL_CHECKER, self._unknown), forward=self._forward)

    async def _search(self, call: Call) -> Output:
        query, limit, offset = (call.arguments[key] for key in ("query", "limit", "offset"))
        if self._ranked is None:
            self._ranked = await self._ranking.of(tuple(map(searchable, self._ordered)))
        places = await self._ranked.find(query, limit=limit + 1, offset=offset)
        found = [_told(self._ordered[place]) for place in places[:limit]]
        if not found:
            return _nothing(query, offset, len(self._ordered))
        answer: dict[str, Any] = {"tools": found, "of": len(self._ordered)}
        if len(places) > limit:
            answer["next_offset"] = offset + limit
        return Output.of_text(orjson.dumps(answer).decode(), structured=answer)

    def _forward(self, arguments: object) -> tuple[ResolvedTool, object] | None:
        """The tool that is meant and its arguments; None when no such tool is there."""
        try:
            given = _CALL_CHECKER.check(arguments)
        except InvalidArguments:
            return None
        tool = self._tools.get(given["name"])
        return (tool, given["arguments"]) if tool is not None else None

    async def _unknown(self, call: Call) -> Output:
        return Output.failed(
            "not_granted",
            f"There is no tool {call.arguments['name']!r} here. {SEARCH} gives the names.",
        )


def searchable(tool: ResolvedTool) -> Searchable:
    """What the tool can be found by: its words, and those of its arguments."""
    return Searchable(
        name=tool.name,
        title=tool.spec.annotations.title or str(tool.spec.meta.get("title") or ""),
        description=tool.spec.description,
        parameters=" ".join(_words_of(tool.input_schema)),
    )


def _words_of(schema: Mapping[str, Any]) -> Iterable[str]:
    properties = cast("Mapping[str, object]", schema.get("properties") or {})
    for name, rule in properties.items():
        yield name
        if isinstance(rule, dict):
            said = cast("dict[str, object]", rule).get("description")
            if isinstance(said, str):
                yield said


def _told(tool: ResolvedTool) -> dict[str, Any]:
    return {
        "name": tool.name,
        "description": tool.spec.description,
        "input_schema": tool.input_schema,
        "source": tool.ref.partition("/")[0],
    }


def _nothing(query: str, offset: int, count: int) -> Output:
    what = f"No tool matches {query!r}" if query.strip() else "There is no tool"
    text = f"{what} beyond the first {offset}." if offset else f"{what} among {count} tools."
    hint = " Try other words; without a query all are listed."
    structured: dict[str, Any] = {"tools": [], "of": count}
    return Output.of_text(text + hint, structured=structured)


def _own(spec: ToolSpec, checker: ArgumentChecker, run: Any) -> ResolvedTool:
    return ResolvedTool(
        name=spec.name,
        ref=f"native:toolcrib/{spec.name}",
        spec=spec,
        kind="native",
        code="toolcrib",
        capability_id=None,
        origin="Toolcrib",
        run=run,
        checker=checker,
        prompt=True,
    )
