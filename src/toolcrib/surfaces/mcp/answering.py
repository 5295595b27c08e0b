"""This module answers `tools/list` and `tools/call`, whichever way the request came."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version
from typing import Any, Final

from toolcrib.errors import NotFound, ToolcribError
from toolcrib.resolution.telling import briefly, skips
from toolcrib.resolution.toolset import Toolset
from toolcrib.surfaces.mcp.failures import INVALID_PARAMS, RpcError, of_error
from toolcrib.surfaces.mcp.listing import Pages
from toolcrib.surfaces.mcp.results import SERVER_INFO, call_result
from toolcrib.surfaces.mcp.served import Back, Served
from toolcrib.surfaces.mcp.wire import dumps

NAME: Final = "toolcrib"
VERSION: Final = version("toolcrib")
SKIPPED: Final = "toolcrib/skipped"
"""The key of `_meta` under which the first page of a list names what is missing, and why."""
FRESH_MS: Final = 30_000
"""How long a client may take a list for current without asking again."""
INCOMPLETE_MS: Final = 1_000
"""The same for a list that lacks the tools of a server that may come back."""
_MOST_TOLD = 20
_MOST_SKIPPED = 200
_STAMP: Mapping[str, Any] = {SERVER_INFO: {"name": NAME, "version": VERSION}}


class Answers:
    """Answers with JSON bytes or objects; `modern` chooses the era whose envelope they have."""

    def __init__(self, pages: Pages) -> None:
        self._pages = pages

    async def list(self, served: Served, params: Mapping[str, Any], *, modern: bool) -> bytes:
        """The result of `tools/list` as JSON. Raises RpcError."""
        toolset = await toolset_of(served)
        cursor = params.get("cursor")
        page = self._pages.page(toolset, cursor, modern=modern)
        meta = dict(_STAMP) if modern else {}
        if cursor is None and toolset.skipped:
            meta[SKIPPED] = skips(toolset.absences, most=_MOST_SKIPPED)
        parts = [b'{"tools":' + page.tools]
        if page.next_cursor is not None:
            parts.append(b'"nextCursor":' + dumps(page.next_cursor))
        if meta:
            parts.append(b'"_meta":' + dumps(meta))
        if modern:
            parts.append(b'"ttlMs":%d' % (INCOMPLETE_MS if _waits(toolset) else FRESH_MS))
            parts.append(b'"cacheScope":"private","resultType":"complete"')
        return b",".join(parts) + b"}"

    async def call(
        self, served: Served, params: Mapping[str, Any], back: Back, *, modern: bool
    ) -> dict[str, Any]:
        """The result of `tools/call`. Raises RpcError for a tool that is not offered."""
        name = params["name"]
        try:
            outcome = await served.call(name, params.get("arguments"), back)
        except NotFound as error:
            words = f"Unknown tool: {name}. {error.message}"
            raise RpcError(
                INVALID_PARAMS, words, {"code": error.code, "hint": error.hint}
            ) from None
        except ToolcribError as error:
            raise of_error(error) from error
        result = call_result(outcome, modern=modern)
        if modern:
            result["_meta"] = {**result.get("_meta", {}), **_STAMP}
            result["resultType"] = "complete"
        return result

    async def instructions(self, served: Served) -> str:
        """What a client's model is told at the beginning: above all what is not there, and what
        kind of trouble it has. No server has a word in it."""
        toolset = await toolset_of(served)
        told = [f"The tools that Toolcrib offers through {served.label}."]
        missing = briefly(one for one in toolset.absences if one.stage != "condition")
        if missing:
            told.append("Not available now:")
            told += [f"- {line}" for line in missing[:_MOST_TOLD]]
        if len(missing) > _MOST_TOLD:
            told.append(f"- and {len(missing) - _MOST_TOLD} more")
        return "\n".join(told)


async def toolset_of(served: Served) -> Toolset:
    try:
        return await served.toolset()
    except ToolcribError as error:
        raise of_error(error) from error


def _waits(toolset: Toolset) -> bool:
    return any(absence.stage == "source" for absence in toolset.absences)
