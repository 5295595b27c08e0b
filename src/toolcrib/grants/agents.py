"""This module holds the agent's row: a name, a model and the capabilities it holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, Protocol

McpMode = Literal["hosted", "connect"]
ToolSearch = Literal["auto", "on", "off"]
"""Whether a model is shown `search_tools` and `call_tool` in place of the tools; `auto`: when
there are more of them than the installation says."""
DIRECT_MODEL = "toolcrib:direct"
"""The model of an agent that only takes `@tool:` calls."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Agent:
    """An agent belongs to its group; without one, to its creator."""

    id: int
    name: str
    model: str = DIRECT_MODEL
    system_prompt: str = ""
    group_id: int | None = None
    creator_id: int
    capability_ids: tuple[int, ...] = ()
    codes: tuple[str, ...] = ()
    """Codes held without a capability row: `installed__<slug>` of packages."""
    mcp_mode: McpMode = "hosted"
    tool_search: ToolSearch = "auto"
    tools_config: Mapping[str, Any] = field(default_factory=dict[str, Any])
    extra: Mapping[str, Any] = field(default_factory=dict[str, Any])
    version: int = 1
    created_at: datetime | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class AgentDraft:
    name: str
    model: str = DIRECT_MODEL
    system_prompt: str = ""
    group_id: int | None = None
    creator_id: int
    capability_ids: tuple[int, ...] = ()
    codes: tuple[str, ...] = ()
    mcp_mode: McpMode = "hosted"
    tool_search: ToolSearch = "auto"
    tools_config: Mapping[str, Any] = field(default_factory=dict[str, Any])
    extra: Mapping[str, Any] = field(default_factory=dict[str, Any])


class AgentStore(Protocol):
    """Agents and the capabilities they hold, in the order they were given."""

    async def create(self, draft: AgentDraft) -> Agent:
        """Raises Conflict when the name is taken within the group (or by the creator)."""
        ...

    async def find(self, agent_id: int) -> Agent | None: ...

    async def list(
        self,
        *,
        group_ids: frozenset[int] | None,
        creator_id: int | None,
        after: int = 0,
        limit: int = 200,
    ) -> Sequence[Agent]:
        """Agents of the groups, and groupless ones of the creator; both None: all of them."""
        ...

    async def update(
        self, agent_id: int, changes: Mapping[str, Any], *, expected_version: int | None = None
    ) -> Agent:
        """`changes` may hold any field of AgentDraft but the creator. Raises NotFound, Conflict."""
        ...

    async def delete(self, agent_id: int, *, expected_version: int | None = None) -> bool:
        """False: it is not there. Raises Conflict with the current row for another version."""
        ...
