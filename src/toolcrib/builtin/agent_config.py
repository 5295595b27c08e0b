"""This module reads and changes the agent that is running, with the caller's rights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from toolcrib.builtin.tool import BuiltIn, answers, said
from toolcrib.errors import InvalidArguments
from toolcrib.kit.metadata import method_metadata, tool_metadata
from toolcrib.kit.result import ToolResult
from toolcrib.kit.schema import openapi_schema, param
from toolcrib.plugin.registration import annotations

GUIDE = """
Read `get_current_agent_config` first: `update_agent` replaces each field that you name, whole.

Everything happens with the rights of the user who is talking to you. What that user may not change
or give away is refused; say so and name who could. A change counts from the next message on.

`capabilities` are codes or ids; `tools_config` switches single tools off:
`{"web_search_tool": false}` or `{"web_search_tool": {"methods": {"scrape_webpage": false}}}`.
Core tools stay on.
"""


@tool_metadata(
    "Agent configuration",
    "Read and change this agent",
    icon="sliders",
    color="slate",
    weight=200,
    visible=True,
    usage_guide=GUIDE,
    category="agent_builder",
)
class AgentConfigTool(BuiltIn):
    """The agent that the call came through, and no other."""

    @method_metadata("Change the agent", "Changes this agent's configuration")
    @openapi_schema(name="update_agent", description="Change this agent. Fields not named stay.")
    @param("name", "string", "Its name", minLength=1, maxLength=255)
    @param("system_prompt", "string", "Its instructions", maxLength=100_000)
    @param("model", "string", "`provider:model`", minLength=1, maxLength=255)
    @param(
        "capabilities",
        "array",
        "All codes or ids that it holds",
        items={"type": ["string", "integer"]},
    )
    @param("tools_config", "object", "Which of its tools are switched off")
    @answers
    async def update_agent(
        self,
        name: str | None = None,
        system_prompt: str | None = None,
        model: str | None = None,
        capabilities: Sequence[str | int] | None = None,
        tools_config: Mapping[str, Any] | None = None,
    ) -> ToolResult:
        given = {
            "name": name,
            "system_prompt": system_prompt,
            "model": model,
            "capabilities": capabilities,
            "tools_config": tools_config,
        }
        changes = {field: value for field, value in given.items() if value is not None}
        if not changes:
            raise InvalidArguments(f"Name a field to change: {', '.join(given)}.")
        return self.success_response(said(await self.lent.agents.update(changes)))

    @method_metadata("Show the agent", "Shows this agent's configuration")
    @annotations(read_only=True)
    @openapi_schema(name="get_current_agent_config", description="Show this agent's configuration.")
    @answers
    async def get_current_agent_config(self) -> ToolResult:
        return self.success_response(said(await self.lent.agents.current()))
