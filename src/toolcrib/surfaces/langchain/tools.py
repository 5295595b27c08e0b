"""This module makes an agent's tools of its capabilities."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from langchain_core.tools import BaseTool

from toolcrib.dialects.langchain import langchain_tools
from toolcrib.platform import Platform, bare, current_platform
from toolcrib.plugin.registration import default_registry
from toolcrib.surfaces.langchain.asking import Asking
from toolcrib.surfaces.langchain.bare import BareCrib
from toolcrib.surfaces.langchain.configurable import Asker, asker_of
from toolcrib.surfaces.langchain.crib import Crib
from toolcrib.surfaces.langchain.platformed import PlatformCrib
from toolcrib.surfaces.langchain.servers import ConnectedConfig, Fallback

_log = logging.getLogger(__name__)


async def get_tools_from_capabilities(
    capabilities: Iterable[object],
    config: Mapping[str, Any] | None,
    *,
    platform: Platform | None = None,
    fallback: Fallback = None,
) -> tuple[list[BaseTool], list[dict[str, Any]]]:
    """`(internal_tools, mcp_tool_configs)` of these capabilities for the config's user.

    `capabilities` are Capability rows, dicts of that shape (`id` optional), codes or ids.
    `config["configurable"]` holds `logged_user_id`, `group_id`, `chat_id` and `chat_uuid`.
    Without `platform` the one open in this process answers; without any, the default registry
    does, with settings from `config["configurable"]["settings"]` and neither grants nor journal.

    A capability that gives nothing is logged and skipped. The tools ask again at every call: one
    that was taken away answers that it is not granted. The config is trusted: whoever fills it
    says who the user is. Raises NotFound, NotGranted, GroupRequired or InvalidRequest for a user,
    group or chat that cannot be.

    With `fallback="connect"` Toolcrib connects to the MCP servers too, so that `attach_mcp` has
    their tools for a model whose vendor does not connect.
    """
    crib = _crib(platform or current_platform())
    asker = asker_of(config)
    given = list(capabilities)
    asking = Asking(crib, given, (config or {}).get("configurable") or {})
    answer = await asking.answer(asker)
    for absence in answer.absences:
        _log.warning("capability skipped: %s: %s. %s", absence.ref, absence.reason, absence.fix)
    tools = langchain_tools(
        answer.toolset.offered.values(),
        asking.invoke,
        ready=crib.ready,
        allow_langsmith=crib.allow_langsmith,
    )
    configs = await asking.configs(answer, asker)
    if fallback != "connect":
        return list(tools), [config for _, config in configs]
    found = await _at_servers(crib, given, config, asker)
    return list(tools), [ConnectedConfig(config, found.get(row, ())) for row, config in configs]


async def _at_servers(
    crib: Crib, given: list[object], config: Mapping[str, Any] | None, asker: Asker
) -> Mapping[int, Sequence[BaseTool]]:
    """The tools of servers, by the id of the capability that names the server."""
    asking = Asking(crib, given, (config or {}).get("configurable") or {}, connect=True)
    answer = await asking.answer(asker)
    by_row: dict[int, list[BaseTool]] = {}
    theirs = [tool for tool in answer.toolset.tools.values() if tool.kind == "mcp"]
    made = langchain_tools(
        theirs, asking.invoke, ready=crib.ready, allow_langsmith=crib.allow_langsmith
    )
    for tool, one in zip(theirs, made, strict=True):
        by_row.setdefault(tool.capability_id or 0, []).append(one)
    for row in answer.servers:
        for absence in answer.absences:
            if absence.ref == f"mcp:{row.id}":
                _log.warning("%s: %s. %s", absence.ref, absence.reason, absence.fix)
    return by_row


def _crib(platform: Platform | None) -> Crib:
    return _bare() if platform is None else PlatformCrib(platform)


@lru_cache(maxsize=1)
def _bare() -> BareCrib:
    registry = default_registry()
    return BareCrib(bare(registry), registry)
