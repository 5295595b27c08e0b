"""This module holds the commands for agents: a model and the capabilities it holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from toolcrib.cli.answers import Answer, listed, record, said
from toolcrib.cli.command import command, group
from toolcrib.cli.options import Cursor, IfVersion, Limit, Yes, given, references, sure
from toolcrib.cli.paths import path

if TYPE_CHECKING:
    from toolcrib.cli.client import Client

agents = group("agents", "A model and the capabilities it holds.")
AgentId = Annotated[int, typer.Argument(metavar="AGENT", help="The agent's id.")]
Model = Annotated[str | None, typer.Option(help="provider:model, or toolcrib:direct.")]
Prompt = Annotated[str | None, typer.Option(help="The system prompt.")]
Search = Annotated[
    str | None,
    typer.Option(
        "--tool-search",
        help="on, off or auto: show the model search_tools and call_tool in place of the tools.",
    ),
]
Held = Annotated[
    list[str] | None,
    typer.Option("--capability", "-c", help="A code or a capability's id; repeat it."),
]


@command(agents, "list", "toolcrib agents list")
async def list_agents(client: Client, limit: Limit = 50, cursor: Cursor = None) -> Answer:
    """List the agents."""
    page = await client.get(path("agents"), limit=limit, cursor=cursor)
    columns = ("id", "name", "model", "group_id", "capabilities")
    return listed(page, *columns, empty="There are no agents yet.")


@command(agents, "show", "toolcrib agents show 1")
async def show_agent(client: Client, agent_id: AgentId) -> Answer:
    """Show an agent."""
    return record(await client.get(path("agents", agent_id)))


@command(
    agents,
    "create",
    "toolcrib agents create Clerk --group 1 --capability hello",
    plugins=True,
)
async def create_agent(
    client: Client,
    name: Annotated[str, typer.Argument(help="A name of its own within the group.")],
    *,
    group_id: Annotated[int | None, typer.Option("--group", help="The group it serves.")] = None,
    model: Model = None,
    system_prompt: Prompt = None,
    tool_search: Search = None,
    capabilities: Held = None,
) -> Answer:
    """Make an agent. Default capabilities are attached behind the named ones."""
    body = given(
        name=name,
        group_id=group_id,
        model=model,
        system_prompt=system_prompt,
        tool_search=tool_search,
    )
    body["capabilities"] = references(capabilities or [])
    return record(await client.post(path("agents"), body))


@command(agents, "update", "toolcrib agents update 1 --system-prompt 'Answer briefly.'")
async def update_agent(
    client: Client,
    agent_id: AgentId,
    *,
    name: Annotated[str | None, typer.Option(help="The new name.")] = None,
    model: Model = None,
    system_prompt: Prompt = None,
    tool_search: Search = None,
    if_version: IfVersion = None,
) -> Answer:
    """Change an agent."""
    changes = given(name=name, model=model, system_prompt=system_prompt, tool_search=tool_search)
    return record(await client.patch(path("agents", agent_id), changes, version=if_version))


@command(agents, "hold", "toolcrib agents hold 1 hello", plugins=True)
async def hold_capabilities(
    client: Client,
    agent_id: AgentId,
    capabilities: Annotated[
        list[str] | None, typer.Argument(help="Codes or ids of capabilities; none: none.")
    ] = None,
) -> Answer:
    """Say which capabilities an agent holds, instead of the present ones."""
    body = {"capabilities": references(capabilities or [])}
    return record(await client.put(path("agents", agent_id, "capabilities"), body))


@command(agents, "delete", "toolcrib agents delete 1 --yes")
async def delete_agent(client: Client, agent_id: AgentId, yes: Yes = False) -> Answer:
    """Delete an agent."""
    sure(f"Delete agent {agent_id} for good?", yes=yes)
    await client.delete(path("agents", agent_id))
    return said(f"Agent {agent_id} is deleted.", {"id": agent_id, "deleted": True})
