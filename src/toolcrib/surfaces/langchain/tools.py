"""This module makes an agent's tools of its capabilities."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from langchain_core.tools import BaseTool

from toolcrib.dialects.langchain import langchain_tools
from toolcrib.platform import Platform, bare, current_platform
from toolcrib.plugin.registration import default_registry
from toolcrib.surfaces.langchain.asking import Asking
from toolcrib.surfaces.langchain.bare import BareCrib
from toolcrib.surfaces.langchain.configurable import asker_of
from toolcrib.surfaces.langchain.crib import Crib
from toolcrib.surfaces.langchain.platformed import PlatformCrib

_log = logging.getLogger(__name__)


async def get_tools_from_capabilities(
    capabilities: Iterable[object],
    config: Mapping[str, Any] | None,
    *,
    platform: Platform | None = None,
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
    """
    crib = _crib(platform or current_platform())
    asker = asker_of(config)
    asking = Asking(crib, list(capabilities), (config or {}).get("configurable") or {})
    answer = await asking.answer(asker)
    for absence in answer.absences:
        _log.warning("capability skipped: %s: %s. %s", absence.ref, absence.reason, absence.fix)
    tools = langchain_tools(
        answer.toolset.offered.values(),
        asking.invoke,
        ready=crib.ready,
        allow_langsmith=crib.allow_langsmith,
    )
    return list(tools), await asking.configs(answer, asker)


def _crib(platform: Platform | None) -> Crib:
    return _bare() if platform is None else PlatformCrib(platform)


@lru_cache(maxsize=1)
def _bare() -> BareCrib:
    registry = default_registry()
    return BareCrib(bare(registry), registry)
