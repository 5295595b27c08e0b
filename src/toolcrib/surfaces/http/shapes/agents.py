"""This module shapes agents."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field, WithJsonSchema

from toolcrib.grants.agents import DIRECT_MODEL, Agent, AgentDraft, McpMode, ToolSearch
from toolcrib.surfaces.http.shapes.fields import (
    LARGEST_ID,
    Body,
    IdField,
    JsonObject,
    Name,
    Row,
    Text,
    omittable,
)


def _id_or_code(value: Any) -> Any:
    if isinstance(value, str) and 0 < len(value) <= 255:
        return value
    if isinstance(value, int) and not isinstance(value, bool) and 0 < value <= LARGEST_ID:
        return value
    raise ValueError("A capability is named by its id, a number, or by a code")


CapabilityRef = Annotated[
    Any,
    BeforeValidator(_id_or_code),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "integer", "minimum": 1, "maximum": LARGEST_ID},
                {"type": "string", "minLength": 1, "maxLength": 255},
            ],
            "description": "A number is a capability's id, a string a code.",
        }
    ),
]
CapabilityRefs = Annotated[list[CapabilityRef], Field(max_length=1000)]


class AgentBody(Body):
    name: Name
    model: Name = DIRECT_MODEL
    system_prompt: Text = ""
    group_id: IdField | None = None
    capabilities: CapabilityRefs = Field(default_factory=list[Any])
    mcp_mode: McpMode = "hosted"
    tool_search: ToolSearch = "auto"
    tools_config: JsonObject = Field(default_factory=dict[str, Any])
    extra: JsonObject = Field(default_factory=dict[str, Any])

    def draft(self, creator_id: int) -> AgentDraft:
        values = self.model_dump(exclude={"capabilities"})
        return AgentDraft(creator_id=creator_id, **values)


class AgentPatch(Body):
    name: Name = omittable()
    model: Name = omittable()
    system_prompt: Text = omittable()
    mcp_mode: McpMode = omittable()
    tool_search: ToolSearch = omittable()
    tools_config: JsonObject = omittable()
    extra: JsonObject = omittable()


class CapabilitiesBody(Body):
    capabilities: CapabilityRefs


class AgentRow(Row):
    id: int
    name: str
    model: str
    system_prompt: str
    group_id: int | None
    creator_id: int
    capabilities: list[int | str] = Field(
        description="What it holds, as it was given: ids of capabilities, codes of packages."
    )
    mcp_mode: McpMode
    tool_search: ToolSearch
    tools_config: JsonObject
    extra: JsonObject
    version: int
    created_at: datetime | None

    @classmethod
    def of(cls, agent: Agent) -> Self:
        return cls(
            id=agent.id,
            name=agent.name,
            model=agent.model,
            system_prompt=agent.system_prompt,
            group_id=agent.group_id,
            creator_id=agent.creator_id,
            capabilities=[*agent.capability_ids, *agent.codes],
            mcp_mode=agent.mcp_mode,
            tool_search=agent.tool_search,
            tools_config=dict(agent.tools_config),
            extra=dict(agent.extra),
            version=agent.version,
            created_at=agent.created_at,
        )
