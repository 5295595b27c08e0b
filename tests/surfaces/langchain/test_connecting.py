"""Models whose vendor has no hosted MCP get a server's tools through Toolcrib, where wished."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from langchain_core.language_models.fake_chat_models import ParrotFakeChatModel
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI

from tests.support.mcp_http import HttpMcp, text
from toolcrib.catalog.capabilities import CapabilityDraft
from toolcrib.errors import SetupError
from toolcrib.invocation.journal import CallFilter
from toolcrib.langchain import attach_mcp, get_tools_from_capabilities
from toolcrib.testing import Workbench, workbench


@tool
async def look(word: str) -> str:
    """Look around."""
    return word


def register(registry_fn: Callable[..., None]) -> None:
    registry_fn("looking", [look], name="Looking")


@pytest.fixture
async def bench(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Workbench]:
    monkeypatch.setenv("TOOLCRIB_EGRESS_ALLOW", "127.0.0.0/8")
    async with workbench(register, data_dir=data_dir) as made:
        yield made


@pytest.fixture
async def server() -> AsyncIterator[HttpMcp]:
    async def echo(arguments: Any) -> Any:
        return text("from the server")

    async with HttpMcp("session") as made:
        made.answers["echo"] = echo
        yield made


async def held(bench: Workbench, server: HttpMcp, **more: Any) -> list[int]:
    """The plugin's capability and one of the server."""
    options = {"server_label": "wiki", "server_url": server.url, "require_approval": "never"}
    row = await bench.platform.storage.capabilities.create(
        CapabilityDraft(
            name="Wiki", code="wiki", type="mcp", access_type="system", options=options | more
        )
    )
    return [*bench.agent.capability_ids, row.id]


async def test_a_model_without_hosted_mcp_calls_through_toolcrib(
    bench: Workbench, server: HttpMcp
) -> None:
    """Its tools stand beside the others, and a call of one is in the journal."""
    tools, configs = await get_tools_from_capabilities(
        await held(bench, server), bench.config, fallback="connect"
    )
    model = ParrotFakeChatModel()
    same, agent_tools = attach_mcp(model, tools, configs, fallback="connect")

    assert same is model
    assert [one.name for one in tools] == ["look"]
    assert [one.name for one in agent_tools] == ["look", "echo"]
    assert await agent_tools[1].ainvoke({}, bench.config) == "from the server"
    journal = bench.platform.storage.journal
    await journal.flush()
    (record,) = await journal.list(CallFilter(everything=True))
    assert (record.ref, record.surface) == ("mcp:wiki/echo", "langchain")


async def test_a_vendor_that_connects_gets_the_server_and_not_its_tools(
    bench: Workbench, server: HttpMcp
) -> None:
    """Never both."""
    tools, configs = await get_tools_from_capabilities(
        await held(bench, server), bench.config, fallback="connect"
    )
    model = ChatOpenAI(model="gpt-x", api_key="unused")
    _, agent_tools = attach_mcp(model, tools, configs, fallback="connect")
    assert [getattr(one, "name", None) or one["server_label"] for one in agent_tools] == [
        "look",
        "wiki",
    ]
    off = ChatOpenAI(model="gpt-x", api_key="unused", use_responses_api=False)
    _, agent_tools = attach_mcp(off, tools, configs, fallback="connect")
    assert [one.name for one in agent_tools] == ["look", "echo"]


async def test_approval_is_asked_for_where_it_is_wanted(bench: Workbench, server: HttpMcp) -> None:
    """Its tools are listed, and nothing is sent."""
    tools, configs = await get_tools_from_capabilities(
        await held(bench, server, require_approval="always"), bench.config, fallback="connect"
    )
    _, agent_tools = attach_mcp(ParrotFakeChatModel(), tools, configs, fallback="connect")
    said = await agent_tools[1].ainvoke({}, bench.config)
    assert "approv" in said
    assert server.count("tools/call") == 0


async def test_without_the_wish_a_server_is_skipped(
    bench: Workbench, server: HttpMcp, caplog: pytest.LogCaptureFixture
) -> None:
    """And nobody connects to it."""
    tools, configs = await get_tools_from_capabilities(await held(bench, server), bench.config)
    _, agent_tools = attach_mcp(ParrotFakeChatModel(), tools, configs)
    assert agent_tools == tools
    assert "'wiki' skipped on ParrotFakeChatModel" in caplog.text
    assert server.asked == []
    with pytest.raises(SetupError, match="'wiki' was not connected to"):
        attach_mcp(ParrotFakeChatModel(), tools, configs, fallback="connect")
