"""A LangGraph agent with tools of a plugin: from the user's words to the journal and back.

Real everything but the vendor: `create_agent`, the vendors' own clients on loopback, a plugin's
tools in a platform with a user, a group and a chat.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_anthropic import ChatAnthropic
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessageChunk
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from pydantic import BaseModel, Field

from toolcrib.catalog.capabilities import CapabilityDraft
from toolcrib.invocation.journal import CallFilter, CallRecord
from toolcrib.langchain import attach_mcp, get_tools_from_capabilities, repair_invalid_tool_calls
from toolcrib.secrets.settings import SettingOwner
from toolcrib.testing import ScriptedModel, ToolCall, Workbench, workbench


class Matter(BaseModel):
    query: str = Field(description="Words of the matter.")
    limit: int = Field(default=20, description="At most so many.")


@tool("search_matters", args_schema=Matter)
async def search_matters(query: str, limit: int, config: RunnableConfig) -> str:
    """Search matters by their words."""
    values = config["configurable"]
    who = [values[key] for key in ("logged_user_id", "group_id", "chat_id")]
    return f"{limit} matters about {query} for {who}"


@tool
async def file_matter(title: str) -> str:
    """File a matter."""
    raise ConnectionError("the archive is closed")


def register(registry_fn: Callable[..., None]) -> None:
    registry_fn("matters", [search_matters, file_matter], name="Matters")


@pytest.fixture
async def bench(data_dir: Path) -> AsyncIterator[Workbench]:
    async with workbench(register, data_dir=data_dir) as made:
        yield made


VENDORS = ["openai", "openai-responses", "anthropic"]
vendors = pytest.mark.parametrize("vendor", VENDORS)


def model_of(vendor: str, scripted: ScriptedModel) -> BaseChatModel:
    given: dict[str, Any] = {"api_key": "unused", "max_retries": 0}
    if vendor == "anthropic":
        return ChatAnthropic(model="claude-scripted", base_url=scripted.anthropic_url, **given)
    return ChatOpenAI(
        model="scripted",
        base_url=scripted.openai_url,
        use_responses_api=vendor == "openai-responses" or None,
        **given,
    )


async def agent_of(bench: Workbench, vendor: str, scripted: ScriptedModel) -> Any:
    """What the guide's `get_graph` does."""
    tools, configs = await get_tools_from_capabilities(bench.agent.capability_ids, bench.config)
    model, agent_tools = attach_mcp(model_of(vendor, scripted), tools, configs)
    return create_agent(model, agent_tools, middleware=[repair_invalid_tool_calls])


async def run(agent: Any, bench: Workbench) -> str:
    out = await agent.ainvoke({"messages": [("user", "Do it.")]}, bench.config)
    return out["messages"][-1].text


async def records(bench: Workbench) -> list[CallRecord]:
    await bench.platform.storage.journal.flush()
    return list(await bench.platform.storage.journal.list(CallFilter(everything=True)))


@vendors
async def test_agent_answers_from_a_tools_result(bench: Workbench, vendor: str):
    """The tool knows user, group and chat; the answer is made of its result; it is recorded."""
    script = [ToolCall("search_matters", {"query": "boats"}), "I found: {tool_result}"]
    with ScriptedModel(script) as scripted:
        answer = await run(await agent_of(bench, vendor, scripted), bench)
    who = [bench.user.id, bench.group.id, bench.chat.id]
    assert answer == f"I found: 20 matters about boats for {who}"
    (record,) = await records(bench)
    assert (record.tool, record.success, record.surface) == ("search_matters", True, "langchain")
    assert record.arguments == {"query": "boats", "limit": 20}
    assert [record.user_id, record.group_id, record.chat_id] == who


@vendors
async def test_vendor_sees_no_injected_parameter(bench: Workbench, vendor: str):
    """The schema that is sent holds what a model fills in, and nothing else."""
    with ScriptedModel(["Hello."]) as scripted:
        await run(await agent_of(bench, vendor, scripted), bench)
    sent = scripted.requests[0]
    assert sent.tool_names == ["search_matters", "file_matter"]
    first = sent.tools[0]
    function = first.get("function", first)
    schema = function.get("parameters") or function["input_schema"]
    assert function["description"] == "Search matters by their words."
    assert sorted(schema["properties"]) == ["limit", "query"]
    assert schema["properties"]["query"]["description"] == "Words of the matter."
    assert schema["required"] == ["query"]


@vendors
async def test_failing_tool(bench: Workbench, vendor: str):
    """The run goes on: the model reads what went wrong and answers."""
    script = [ToolCall("file_matter", {"title": "x"}), "Sorry: {tool_result}"]
    with ScriptedModel(script) as scripted:
        answer = await run(await agent_of(bench, vendor, scripted), bench)
    assert answer == "Sorry: file_matter failed: ConnectionError: the archive is closed"
    (record,) = await records(bench)
    assert record.error == {
        "code": "tool_error",
        "message": "file_matter failed: ConnectionError: the archive is closed",
    }


@vendors
async def test_unknown_tool(bench: Workbench, vendor: str):
    """A tool that does not exist is answered, and nothing is recorded."""
    with ScriptedModel([ToolCall("delete_all", {}), "Then not."]) as scripted:
        assert await run(await agent_of(bench, vendor, scripted), bench) == "Then not."
    assert "delete_all" in scripted.requests[1].tool_results[0]
    assert await records(bench) == []


@vendors
async def test_arguments_that_do_not_fit(bench: Workbench, vendor: str):
    """The model reads what is wrong and calls again with what fits."""
    script = [
        ToolCall("search_matters", {"limit": "several"}),
        ToolCall("search_matters", {"query": "boats", "limit": "5"}),
        "{tool_result}",
    ]
    with ScriptedModel(script) as scripted:
        answer = await run(await agent_of(bench, vendor, scripted), bench)
    assert answer.startswith("5 matters about boats")
    assert "query" in scripted.requests[1].tool_results[0]
    assert [record.success for record in await records(bench)] == [True, False]


@pytest.mark.parametrize("vendor", ["openai", "openai-responses"])
async def test_malformed_json_arguments(bench: Workbench, vendor: str):
    """Not even JSON: the model is told, instead of a run that ends without a word.

    (Anthropic's API parses arguments itself, so a whole reply cannot hold such.)
    """
    script = [ToolCall("search_matters", "query: boats"), "I give up."]
    with ScriptedModel(script) as scripted:
        assert await run(await agent_of(bench, vendor, scripted), bench) == "I give up."
    assert "not valid JSON" in scripted.requests[1].tool_results[0]
    assert await records(bench) == []


@vendors
async def test_malformed_json_in_a_stream(bench: Workbench, vendor: str):
    """The same where the arguments come in pieces."""
    script = [ToolCall("search_matters", "query: boats"), "I give up."]
    with ScriptedModel(script) as scripted:
        agent = await agent_of(bench, vendor, scripted)
        assert "".join(await pieces(agent, bench)) == "I give up."
    assert "not valid JSON" in scripted.requests[1].tool_results[0]


@vendors
async def test_streaming(bench: Workbench, vendor: str):
    """The answer comes word by word, with the tool called in between."""
    script = [ToolCall("search_matters", {"query": "boats"}), "I have found some matters."]
    with ScriptedModel(script) as scripted:
        agent = await agent_of(bench, vendor, scripted)
        found = await pieces(agent, bench)
        assert scripted.requests[0].body["stream"] is True
    assert found == ["I", " have", " found", " some", " matters."]
    assert len(await records(bench)) == 1


async def pieces(agent: Any, bench: Workbench) -> list[str]:
    """The texts of the model's chunks, as they come."""
    stream = agent.astream({"messages": [("user", "Go.")]}, bench.config, stream_mode="messages")
    return [
        chunk.text async for chunk, _ in stream if isinstance(chunk, AIMessageChunk) and chunk.text
    ]


@vendors
async def test_several_calls_at_once(bench: Workbench, vendor: str):
    """Parallel calls of one reply are all made and all answered."""
    calls = [ToolCall("search_matters", {"query": word}) for word in ("boats", "trees", "roads")]
    with ScriptedModel([calls, "Done."]) as scripted:
        assert await run(await agent_of(bench, vendor, scripted), bench) == "Done."
    results = [text.split()[3] for text in scripted.requests[1].tool_results]
    assert sorted(results) == ["boats", "roads", "trees"]
    assert len(await records(bench)) == 3


async def wiki_of(bench: Workbench) -> tuple[list[Any], list[dict[str, Any]]]:
    """The agent's tools, and a capability of type mcp whose token is a setting of the group."""
    row = await bench.platform.storage.capabilities.create(
        CapabilityDraft(
            name="Wiki",
            code="wiki",
            type="mcp",
            access_type="group",
            group_id=bench.group.id,
            options={
                "server_label": "wiki",
                "server_url": "https://wiki.test/mcp",
                "require_approval": "never",
                "headers": {"Authorization": "Bearer ${WIKI_TOKEN}"},
                "allowed_tools": ["read"],
            },
        )
    )
    owner = SettingOwner(group_id=bench.group.id)
    await bench.platform.values.put("WIKI_TOKEN", "t0ken", owner)
    held = (*bench.agent.capability_ids, row.id)
    tools, configs = await get_tools_from_capabilities(held, bench.config)
    assert len(tools) == 2
    return tools, configs


async def test_hosted_server_at_openai(bench: Workbench):
    """The server goes to the Responses API beside the functions, with its token."""
    tools, configs = await wiki_of(bench)
    script = [ToolCall("search_matters", {"query": "boats"}), "Done."]
    with ScriptedModel(script) as scripted:
        model, agent_tools = attach_mcp(model_of("openai", scripted), tools, configs)
        assert await run(create_agent(model, agent_tools), bench) == "Done."
    for request in scripted.requests:
        assert request.path == "/v1/responses"
        assert request.tool_names == ["search_matters", "file_matter"]
        assert request.tools[2]["headers"] == {"Authorization": "Bearer t0ken"}


async def test_hosted_server_at_anthropic(bench: Workbench):
    """The server goes along with the model, its allow-list as a toolset."""
    tools, configs = await wiki_of(bench)
    script = [ToolCall("search_matters", {"query": "boats"}), "Done."]
    with ScriptedModel(script) as scripted:
        model, agent_tools = attach_mcp(model_of("anthropic", scripted), tools, configs)
        assert await run(create_agent(model, agent_tools), bench) == "Done."
    for request in scripted.requests:
        (server,) = request.body["mcp_servers"]
        assert (server["name"], server["authorization_token"]) == ("wiki", "t0ken")
        assert request.tool_names == ["search_matters", "file_matter"]
        assert request.tools[2]["configs"] == {"read": {"enabled": True}}


@vendors
async def test_tool_taken_away_during_the_run(bench: Workbench, vendor: str):
    """An agent that was built before a grant ended gets a readable refusal."""
    script = [ToolCall("search_matters", {"query": "boats"}), "{tool_result}"]
    with ScriptedModel(script) as scripted:
        agent = await agent_of(bench, vendor, scripted)
        capability = bench.agent.capability_ids[0]
        await bench.platform.storage.capabilities.update(capability, {"archived": True})
        await bench.platform.storage.signals.bump("catalog")
        answer = await run(agent, bench)
    assert "is not yours to call any more: the capability is archived" in answer
    assert await records(bench) == []
