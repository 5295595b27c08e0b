"""What a server's tool gives, tells and asks, at a client of the gateway: in all pairs of eras."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp.shared.exceptions import MCPDeprecationWarning

from tests.support.listening import listening
from tests.support.mcp_sdk import CONTENT, META, STRUCTURED, TOOLS, SdkMcp
from tests.surfaces.mcp.conftest import Door
from toolcrib.catalog.capabilities import CapabilityDraft
from toolcrib.grants.agents import AgentDraft

pytestmark = pytest.mark.parametrize("era", ["modern", "session"])


@dataclass
class Behind:
    """An agent with the tools of one server."""

    door: Door
    server: SdkMcp
    agent: int
    told: list[Any] = field(default_factory=list)


@pytest.fixture(params=["modern-server", "session-server"])
async def behind(request: pytest.FixtureRequest, door: Door) -> AsyncGenerator[Behind]:
    server = SdkMcp(session=request.param == "session-server")
    async with listening(server) as url:
        desk, root = door.crib.desk, door.crib.operator
        options = {
            "server_label": "made-up",
            "server_url": f"{url}/mcp",
            "require_approval": "never",
        }
        draft = CapabilityDraft(
            name="made-up", code="made_up", type="mcp", options=options, access_type="system"
        )
        row = await desk.capabilities.create(root, draft)
        agent = await desk.agents.create(
            root,
            AgentDraft(name="agent", creator_id=1, group_id=door.tenants.a),
            capabilities=[row.id],
        )
        await door.settled(door.tenants.user_a, agent.id, "kinds")
        yield Behind(door=door, server=server, agent=agent.id)


async def test_definitions_are_unchanged(behind: Behind, era: str) -> None:
    """Titles, annotations, icons, schemas and `_meta` are what the server said."""
    async with behind.door.client(behind.door.tenants.user_a, behind.agent, era) as client:
        listed = await client.list_tools()
    dumped = [tool.model_dump(by_alias=True, exclude_none=True) for tool in listed.tools]
    assert dumped == TOOLS


async def test_results_are_unchanged(behind: Behind, era: str) -> None:
    """Every kind of content, structured content and `_meta`."""
    async with behind.door.client(behind.door.tenants.user_a, behind.agent, era) as client:
        result = await client.call_tool("kinds", {})
    told = result.model_dump(by_alias=True, mode="json", exclude_none=True)
    assert told["content"] == CONTENT
    assert told["structuredContent"] == STRUCTURED
    assert not told["isError"]
    stamp = "io.modelcontextprotocol/serverInfo"
    assert {k: v for k, v in told["_meta"].items() if k != stamp} == META


async def test_a_failure_is_unchanged(behind: Behind, era: str) -> None:
    async with behind.door.client(behind.door.tenants.user_a, behind.agent, era) as client:
        result = await client.call_tool("fails", {})
    assert result.is_error
    assert [block.text for block in result.content] == ["it broke"]
    assert "toolcrib/error" not in result.meta


async def test_progress(behind: Behind, era: str) -> None:
    async def on_progress(done: float, total: float | None, message: str | None) -> None:
        behind.told.append((done, total, message))

    async with behind.door.client(behind.door.tenants.user_a, behind.agent, era) as client:
        result = await client.call_tool("counts", {}, progress_callback=on_progress)
    assert result.content[0].text == "counted"
    assert behind.told == [(1.0, 2.0, "step 1"), (2.0, 2.0, "step 2")]


async def test_log_lines(behind: Behind, era: str) -> None:
    """Of the level that the client asked for, or all of them before 2026."""

    async def on_log(params: types.LoggingMessageNotificationParams) -> None:
        behind.told.append((params.level, params.data, params.logger))

    async with behind.door.client(
        behind.door.tenants.user_a, behind.agent, era, logging_callback=on_log
    ) as client:
        meta = {"io.modelcontextprotocol/logLevel": "info"} if era == "modern" else None
        result = await client.call_tool("talks", {}, meta=meta)
        if era == "session":
            with pytest.warns(MCPDeprecationWarning):
                await client.set_logging_level("warning")
            await client.call_tool("talks", {})
    assert result.content[0].text == "talked"
    warning = ("warning", {"said": "warning"}, "made-up")
    debug = ("debug", {"said": "debug"}, "made-up")
    if era == "modern":
        assert behind.told == [warning]
    else:
        assert behind.told == [debug, warning, warning]


async def test_a_question_reaches_a_client_that_can_ask(behind: Behind, era: str) -> None:
    async def answer(context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
        behind.told.append(params.message)
        return types.ElicitResult(action="accept", content={"town": "Oslo"})

    async with behind.door.client(
        behind.door.tenants.user_a, behind.agent, era, elicitation_callback=answer
    ) as client:
        result = await client.call_tool("asks", {})
    assert [block.text for block in result.content] == ["accept: Oslo"]
    assert behind.told == ["Which town?"]


async def test_a_question_that_nobody_can_be_asked(behind: Behind, era: str) -> None:
    """The call is an error that says so."""
    async with behind.door.client(behind.door.tenants.user_a, behind.agent, era) as client:
        result = await client.call_tool("asks", {})
    assert result.is_error
    assert "nobody can be asked" in result.content[0].text


async def test_a_cancelled_call_is_cancelled_at_the_server(behind: Behind, era: str) -> None:
    async with behind.door.client(behind.door.tenants.user_a, behind.agent, era) as client:
        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as group:
                group.start_soon(client.call_tool, "waits", {})
                async with asyncio.timeout(60):
                    await behind.server.waiting.wait()
                scope.cancel()
        async with asyncio.timeout(60):
            await behind.server.cancelled.wait()
        result = await client.call_tool("fails", {})
    assert result.is_error
