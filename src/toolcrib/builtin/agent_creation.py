"""This module makes new agents, with the caller's rights and nothing beyond them."""

from __future__ import annotations

from collections.abc import Sequence

from toolcrib.builtin.tool import BuiltIn, answers, said
from toolcrib.kit.metadata import method_metadata, tool_metadata
from toolcrib.kit.result import ToolResult
from toolcrib.kit.schema import openapi_schema, param

GUIDE = """
Agree with the user on a name, instructions and the least capabilities that do the job before you
make an agent: it can be used by everybody in the group, or by the user alone with `private: true`.

A capability that the user could not give to an agent is refused, and then nothing is made. The
default capabilities of the installation are added.
"""


@tool_metadata(
    "Agent creation",
    "Make new agents",
    icon="user-plus",
    color="slate",
    weight=210,
    visible=True,
    usage_guide=GUIDE,
    category="agent_builder",
)
class AgentCreationTool(BuiltIn):
    """Agents of the caller's group, or the caller's own."""

    @method_metadata("Create an agent", "Makes a new agent")
    @openapi_schema(name="create_new_agent", description="Make a new agent. Answers its row.")
    @param("name", "string", "Its name", required=True, minLength=1, maxLength=255)
    @param("system_prompt", "string", "Its instructions", required=True, maxLength=100_000)
    @param(
        "model", "string", "`provider:model`; without it, this agent's", minLength=1, maxLength=255
    )
    @param(
        "capabilities", "array", "Codes or ids to give it", items={"type": ["string", "integer"]}
    )
    @param("private", "boolean", "For the user alone, not for the group", default=False)
    @answers
    async def create_new_agent(
        self,
        name: str,
        system_prompt: str,
        model: str | None = None,
        capabilities: Sequence[str | int] = (),
        private: bool = False,
    ) -> ToolResult:
        draft = {
            "name": name,
            "system_prompt": system_prompt,
            "model": model,
            "capabilities": list(capabilities),
            "private": private,
        }
        return self.success_response(said(await self.lent.agents.create(draft)))
