"""This module serves agents."""

from __future__ import annotations

from typing import Any

from fastapi import Response

from toolcrib.surfaces.http.asking import (
    NO_CONTENT,
    Id,
    TheCaller,
    TheDesk,
    Version,
    router,
    versioned,
)
from toolcrib.surfaces.http.paging import Asked, page
from toolcrib.surfaces.http.shapes.agents import AgentBody, AgentPatch, AgentRow, CapabilitiesBody
from toolcrib.surfaces.http.shapes.fields import PageOf

routes = router("agents", "/api/v1/agents")


@routes.post("", status_code=201)
async def create(body: AgentBody, caller: TheCaller, desk: TheDesk, response: Response) -> AgentRow:
    """Make an agent, in a group of yours or for yourself. It gets the default capabilities too."""
    agent = await desk.agents.create(
        caller, body.draft(caller.user_id), capabilities=body.capabilities
    )
    versioned(response, agent.version)
    return AgentRow.of(agent)


@routes.get("", response_model=PageOf[AgentRow])
async def list_all(caller: TheCaller, desk: TheDesk, asked: Asked) -> Any:
    """The agents of your groups, and your own."""
    rows = await desk.agents.list(caller, after=asked.after_id(), limit=asked.wanted)
    return page(rows, asked, AgentRow.of, lambda row: row.id)


@routes.get("/{agent_id}")
async def show(agent_id: Id, caller: TheCaller, desk: TheDesk, response: Response) -> AgentRow:
    """One agent."""
    agent = await desk.agents.get(caller, agent_id)
    versioned(response, agent.version)
    return AgentRow.of(agent)


@routes.patch("/{agent_id}")
async def change(
    agent_id: Id,
    body: AgentPatch,
    caller: TheCaller,
    desk: TheDesk,
    version: Version,
    response: Response,
) -> AgentRow:
    """Change the agent, but for its group; what it holds has a request of its own."""
    agent = await desk.agents.update(
        caller, agent_id, body.model_dump(exclude_unset=True), expected_version=version
    )
    versioned(response, agent.version)
    return AgentRow.of(agent)


@routes.put("/{agent_id}/capabilities")
async def set_capabilities(
    agent_id: Id,
    body: CapabilitiesBody,
    caller: TheCaller,
    desk: TheDesk,
    version: Version,
    response: Response,
) -> AgentRow:
    """Replace what the agent holds: numbers are ids of capabilities, strings are codes."""
    agent = await desk.agents.set_capabilities(
        caller, agent_id, body.capabilities, expected_version=version
    )
    versioned(response, agent.version)
    return AgentRow.of(agent)


@routes.delete("/{agent_id}", **NO_CONTENT)
async def delete(agent_id: Id, caller: TheCaller, desk: TheDesk, version: Version) -> None:
    """Delete the agent, its tokens, and the chats with it; the journal keeps its calls."""
    await desk.agents.delete(caller, agent_id, expected_version=version)
