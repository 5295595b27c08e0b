"""This module reads a server's list of tools: page by page, within limits, each tool on its own.

A malformed tool is left out with a reason and the rest stay. A list without end is cut with a
warning: a cursor that comes again, too many pages, too many tools, too little time.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, Final, cast

import orjson

from toolcrib.errors import InvalidToolSchema, SourceProtocolError, SourceTimeout
from toolcrib.sources.mcp.conversation import Refused
from toolcrib.tools.schema import MAX_DEPTH, ArgumentChecker
from toolcrib.tools.source import Skip
from toolcrib.tools.spec import Annotations, ToolSpec

MAX_PAGES: Final = 200
MAX_TOOLS: Final = 20_000
MAX_NAME: Final = 256
MAX_BYTES: Final = 512 * 1024
"""Of one tool's definition, as JSON: no model could read more."""
_BREATH: Final = 100
_UNSAYABLE: Final = re.compile("[\0\ud800-\udfff\N{REPLACEMENT CHARACTER}]")

Ask = Callable[[str | None], Awaitable[Mapping[str, Any]]]
"""`await ask(cursor)`: one page as the server sent it."""


@dataclass(kw_only=True, slots=True)
class Tools:
    """What a server lists. `skipped` names a tool by its name or its place in the list."""

    specs: dict[str, ToolSpec] = field(default_factory=dict[str, ToolSpec])
    skipped: list[Skip] = field(default_factory=list[Skip])
    warnings: list[str] = field(default_factory=list[str])

    @property
    def fingerprint(self) -> tuple[object, ...]:
        """Differs when anything that a model or a caller could notice differs."""
        shown = ((name, spec.fingerprint) for name, spec in self.specs.items())
        return (*shown, *((skip.ref, skip.reason) for skip in self.skipped), *self.warnings)


async def read_tools(ask: Ask, *, pages: int = MAX_PAGES, most: int = MAX_TOOLS) -> Tools:
    """Every page. Raises SourceError when the first one is refused or no list of tools."""
    tools = Tools()
    place = 0
    async with aclosing(_pages(ask, tools.warnings, pages)) as listed:
        async for page in listed:
            for raw in page:
                place += 1
                if place % _BREATH == 0:
                    await asyncio.sleep(0)  # a long list must not hold up everybody else
                _take(tools, raw, place)
                if len(tools.specs) >= most:
                    tools.warnings.append(f"it lists more than {most} tools; the rest is left out")
                    return tools
    return tools


async def _pages(ask: Ask, warnings: list[str], most: int) -> AsyncGenerator[list[object]]:
    cursor: str | None = None
    seen: set[str] = set()
    for _ in range(most):
        page = await _page(ask, cursor, warnings)
        if page is None:
            return
        yield page["tools"]
        cursor = _next(page, warnings)
        if cursor is None:
            return
        if cursor in seen:
            warnings.append("its list of tools repeats a cursor, so the list ends there")
            return
        seen.add(cursor)
    warnings.append(f"its list of tools has more than {most} pages; the rest is left out")


async def _page(ask: Ask, cursor: str | None, warnings: list[str]) -> Mapping[str, Any] | None:
    """None for a page that cannot be had; of the first one that is raised."""
    try:
        page = await ask(cursor)
    except (Refused, SourceTimeout) as error:
        if cursor is None:
            raise
        what = "comes too late" if isinstance(error, SourceTimeout) else "is refused by the server"
    else:
        if isinstance(page.get("tools"), list):
            return page
        if cursor is None:
            raise SourceProtocolError("The server's list of tools is malformed.", sent=True)
        what = "is malformed"
    warnings.append(f"a page of its list of tools {what}, so the list ends there")
    return None


def _next(page: Mapping[str, Any], warnings: list[str]) -> str | None:
    """Where the next page is. Absent, null and an empty text are one: there is none."""
    cursor = page.get("nextCursor")
    if cursor is None or isinstance(cursor, str):
        return cursor or None
    warnings.append("its list of tools names no readable next page")
    return None


def _take(tools: Tools, raw: object, place: int) -> None:
    try:
        spec = spec_of(raw)
    except ValueError as error:
        name = cast("Mapping[str, Any]", raw).get("name") if isinstance(raw, Mapping) else None
        shown = name if isinstance(name, str) and 0 < len(name) <= MAX_NAME else f"number {place}"
        tools.skipped.append(
            Skip(
                ref=shown,
                reason=f"the server's definition of it is malformed: {error}",
                fix="Mend the server.",
                brief="the definition is malformed",
            )
        )
        return
    if spec.name not in tools.specs:
        tools.specs[spec.name] = spec
        _ = spec.fingerprint  # hashed here, where a long list lets others in between


def spec_of(raw: object) -> ToolSpec:
    """One tool. Raises ValueError that says what is wrong with it."""
    if not isinstance(raw, Mapping):
        raise ValueError("it is not an object")  # noqa: TRY004 - one kind of error for one caller
    given = cast("Mapping[str, Any]", raw)
    name, description = given.get("name"), given.get("description")
    if not isinstance(name, str) or not name or len(name) > MAX_NAME:
        raise ValueError("its name is not a text of usual length")
    if _UNSAYABLE.search(name):
        raise ValueError("its name holds what no text can: NUL, or half a character")
    if description is not None and not isinstance(description, str):
        raise ValueError("its description is not text")
    if (size := _bytes_of(given)) > MAX_BYTES:
        raise ValueError(f"it is larger than {MAX_BYTES} bytes: {size}")
    meta = given.get("_meta")
    kept = {key: given[key] for key in ("title", "icons", "execution") if key in given}
    if _is_deep([meta, kept]):
        raise ValueError("its metadata is nested too deep")
    return ToolSpec(
        name=name,
        description=description or "",
        input_schema=_input(given.get("inputSchema")),
        output_schema=_output(given.get("outputSchema")),
        annotations=annotations_of(given.get("annotations"), given.get("title")),
        meta={**kept, **({"_meta": meta} if isinstance(meta, Mapping) else {})},
    )


def _bytes_of(value: object) -> int:
    try:
        return len(orjson.dumps(value))
    except TypeError:  # half a character, a huge number, or nested deeper than it goes
        pass
    try:
        return len(json.dumps(value))
    except RecursionError:
        raise ValueError("it is nested too deep") from None


def _input(schema: object) -> Mapping[str, Any]:
    if not isinstance(schema, Mapping):
        raise ValueError("its input schema is not an object")  # noqa: TRY004 - as above
    given = cast("Mapping[str, Any]", schema)
    if given.get("type", "object") != "object":
        raise ValueError("its input schema is not one of an object")
    if _is_deep(given):
        raise ValueError("its input schema is nested too deep")
    try:
        ArgumentChecker(given)
    except InvalidToolSchema as error:
        raise ValueError(f"its input schema cannot be used ({error.message})") from None
    return given


def _output(schema: object) -> Mapping[str, Any] | None:
    if schema is None:
        return None
    given = cast("Mapping[str, Any]", schema)
    if not isinstance(schema, Mapping) or _is_deep(given):
        raise ValueError("its output schema is not a usable object")
    return given


def _is_deep(schema: object) -> bool:
    level = [schema]
    for _ in range(MAX_DEPTH):
        inside: list[object] = []
        for node in level:
            members: Any = ()
            if isinstance(node, Mapping):
                members = cast("Mapping[str, object]", node).values()
            elif isinstance(node, list):
                members = cast("list[object]", node)
            inside += [one for one in members if isinstance(one, Mapping | list)]
        if not inside:
            return False
        level = inside
    return True


def annotations_of(given: object, title: object) -> Annotations:
    """What the server says that a call does; what is no boolean counts as unsaid."""
    told: Mapping[str, Any] = {}
    if isinstance(given, Mapping):
        told = cast("Mapping[str, Any]", given)

    def said(key: str) -> bool | None:
        value = told.get(key)
        return value if isinstance(value, bool) else None

    named = told.get("title") or title
    return Annotations(
        title=named if isinstance(named, str) else None,
        read_only=said("readOnlyHint"),
        destructive=said("destructiveHint"),
        idempotent=said("idempotentHint"),
        open_world=said("openWorldHint"),
    )
