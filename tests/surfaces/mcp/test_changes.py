"""Clients hear that their list of tools changed, and only those whose list did."""

from __future__ import annotations

import asyncio
from typing import Any

import mcp_types as types
from mcp.client.subscriptions import listen

from tests.surfaces.mcp.conftest import Door


async def granted(door: Door, agent: int, *codes: str) -> None:
    desk, tenants = door.crib.desk, door.tenants
    await desk.agents.set_capabilities(tenants.admin_a.caller, agent, codes)


async def two_agents(door: Door) -> tuple[int, int]:
    """Both can get `greet` and `notes`, which their group has."""
    tenants = door.tenants
    first = (await tenants.agent(tenants.admin_a, tenants.a, "greet", "notes")).id
    second = (await tenants.agent(tenants.user_a, tenants.a, "greet")).id
    return first, second


async def test_the_older_era_is_told(door: Door) -> None:
    """On the stream that the client opened; another agent's client hears nothing."""
    first, second = await two_agents(door)
    heard: list[str] = []
    told = asyncio.Event()

    def handler(name: str) -> Any:
        async def on_message(message: Any) -> None:
            if isinstance(message, types.ToolListChangedNotification):
                heard.append(name)
                told.set()

        return on_message

    user = door.tenants.user_a
    async with (
        door.client(user, first, "session", message_handler=handler("first")) as client,
        door.client(user, second, "session", message_handler=handler("second")) as other,
    ):
        before = [tool.name for tool in (await client.list_tools()).tools]
        await other.list_tools()
        async with asyncio.timeout(60):
            while not told.is_set():  # the client opens its stream whenever it likes
                await granted(door, first, "greet")
                await asyncio.sleep(0.5)  # changes that come together are told as one
                await granted(door, first, "greet", "notes")
                await asyncio.sleep(0.5)
        await granted(door, first, "notes")
        after = [tool.name for tool in (await client.list_tools()).tools]
    assert before == ["hello", "add_note", "lose_note"]
    assert after == ["add_note", "lose_note"]
    assert set(heard) == {"first"}


async def test_the_newer_era_is_told(door: Door) -> None:
    """Whoever asked to be; the subscription names tools and nothing else."""
    first, _ = await two_agents(door)
    async with door.client(door.tenants.user_a, first, "modern") as client:
        async with listen(client.session, tools_list_changed=True) as news:
            await granted(door, first, "greet")
            async with asyncio.timeout(60):
                event = await anext(aiter(news))
        after = [tool.name for tool in (await client.list_tools()).tools]
    assert type(event).__name__ == "ToolsListChanged"
    assert after == ["hello"]
