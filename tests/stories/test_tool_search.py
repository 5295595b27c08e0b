"""An agent with many tools shows two: one that finds the others, one that calls them."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

import pytest

from tests.support.crib import open_crib
from tests.support.tenants import Tenants, make_tenants
from toolcrib.errors import NotFound
from toolcrib.langchain import get_tools_from_capabilities
from toolcrib.settings import Settings


@pytest.fixture
async def tenants(settings: Settings) -> AsyncGenerator[Tenants]:
    async with open_crib(settings) as crib:
        yield await make_tenants(crib)


@pytest.fixture
async def searching(tenants: Tenants) -> tuple[Tenants, str]:
    """An agent that searches, and the path of its tools."""
    agent = await tenants.agent(tenants.user_a, tenants.a, "greet", "notes")
    path = f"/api/v1/agents/{agent.id}"
    changed = await tenants.admin_a.api.patch(path, json={"tool_search": "on"})
    assert changed.json()["tool_search"] == "on"
    return tenants, f"{path}/tools"


async def call(tenants: Tenants, path: str, name: str, arguments: Any) -> dict[str, Any]:
    answer = await tenants.user_a.api.post(f"{path}/{name}/call", json={"arguments": arguments})
    assert answer.status_code == 200, answer.text
    return answer.json()


async def test_a_model_is_shown_two_tools(searching: tuple[Tenants, str]) -> None:
    """And is told how many stand behind them."""
    tenants, path = searching
    shown = (await tenants.user_a.api.get(path)).json()["tools"]

    assert [tool["name"] for tool in shown] == ["search_tools", "call_tool"]
    assert "among 3" in shown[0]["description"]
    assert shown[0]["annotations"]["readOnlyHint"] is True


async def test_a_tool_is_found_and_called(searching: tuple[Tenants, str]) -> None:
    """The call is the tool's own: in the answer, and in the journal."""
    tenants, path = searching
    found = await call(tenants, path, "search_tools", {"query": "say hello to people"})
    first = found["structured"]["tools"][0]
    assert (first["name"], first["source"]) == ("hello", "native:greet")
    assert first["input_schema"]["required"] == ["name"]

    said = await call(tenants, path, "call_tool", {"name": "hello", "arguments": {"name": "Ann"}})
    assert (said["success"], said["text"]) == (True, "hello Ann")
    row = (await tenants.user_a.api.get(f"/api/v1/calls/{said['call_id']}")).json()
    assert (row["tool"], row["ref"], row["arguments"]) == (
        "hello",
        "native:greet/hello",
        {"name": "Ann"},
    )


async def test_the_pages_of_a_search(searching: tuple[Tenants, str]) -> None:
    """`next_offset` leads on until all were seen."""
    tenants, path = searching
    names: list[str] = []
    offset: int | None = 0
    while offset is not None:
        page = (await call(tenants, path, "search_tools", {"limit": 2, "offset": offset}))[
            "structured"
        ]
        names += [tool["name"] for tool in page["tools"]]
        offset = page.get("next_offset")
    assert names == ["hello", "add_note", "lose_note"]
    beyond = await call(tenants, path, "search_tools", {"offset": 3})
    assert beyond["structured"] == {"tools": [], "of": 3}


async def test_mistakes_of_a_model_are_answered(searching: tuple[Tenants, str]) -> None:
    """Each says what to do."""
    tenants, path = searching
    for arguments, code, said in (
        ({"name": "nothing"}, "not_granted", "search_tools gives the names"),
        ({"name": "call_tool", "arguments": {}}, "not_granted", "no tool 'call_tool'"),
        ({"arguments": {}}, "invalid_arguments", "name"),
        ({"name": "hello", "arguments": {}}, "invalid_arguments", "name"),
        ({"name": "hello", "arguments": [1]}, "invalid_arguments", "arguments"),
        ({"name": "lose_note"}, "tool_error", "the note is gone"),
    ):
        answer = await call(tenants, path, "call_tool", arguments)
        assert answer["error"]["code"] == code, answer
        assert said in answer["text"]
    none = await call(tenants, path, "search_tools", {"query": "quaternions"})
    assert none["success"] is True
    assert "No tool matches 'quaternions' among 3 tools" in none["text"]


async def test_search_shows_what_may_be_called_and_nothing_else(tenants: Tenants) -> None:
    """A revoked capability is gone from both at once."""
    agent = await tenants.agent(tenants.user_a, tenants.a, "greet", "notes")
    path = f"/api/v1/agents/{agent.id}"
    await tenants.admin_a.api.patch(path, json={"tool_search": "on"})
    assert (await call(tenants, f"{path}/tools", "search_tools", {"query": "note"}))["structured"][
        "tools"
    ]

    await tenants.admin_a.api.put(f"{path}/capabilities", json={"capabilities": ["greet"]})
    found = await call(tenants, f"{path}/tools", "search_tools", {"query": "note"})
    assert found["structured"] == {"tools": [], "of": 1}
    refused = await call(tenants, f"{path}/tools", "call_tool", {"name": "add_note"})
    assert refused["error"]["code"] == "not_granted"
    foreign = await tenants.user_b.api.post(
        f"{path}/tools/search_tools/call", json={"arguments": {}}
    )
    assert foreign.status_code == 404


async def test_an_agent_searches_by_size_where_the_installation_says_so(tenants: Tenants) -> None:
    """`auto` counts, `off` does not."""
    platform = tenants.crib.platform
    agent = await tenants.agent(tenants.user_a, tenants.a, "greet", "notes")
    caller = tenants.user_a.caller
    assert len((await platform.resolve(agent.id, caller)).offered) == 3

    searching = platform.resolver._searching
    assert searching is not None
    platform.resolver._searching = type(searching)(searching.ranking, above=2)
    await platform.storage.signals.bump("grants")
    assert set((await platform.resolve(agent.id, caller)).offered) == {"search_tools", "call_tool"}

    off = {"tool_search": "off"}
    await tenants.admin_a.api.patch(f"/api/v1/agents/{agent.id}", json=off)
    assert len((await platform.resolve(agent.id, caller)).offered) == 3


async def test_a_chat_calls_through_it(searching: tuple[Tenants, str]) -> None:
    """Its record names the tool that ran."""
    tenants, path = searching
    made = await tenants.user_a.api.post(
        "/api/v1/chats", json={"agent_id": int(path.split("/")[-2])}
    )
    reply = await tenants.user_a.api.post(
        f"/api/v1/chats/{made.json()['id']}/messages",
        json={"content": '@tool:call_tool({"name": "hello", "arguments": {"name": "Bo"}})'},
    )
    body = reply.json()
    assert body["content"] == "hello Bo"
    assert (body["tool_calls"][0]["name"], body["tool_calls"][0]["arguments"]) == (
        "hello",
        {"name": "Bo"},
    )


async def test_explain_says_how_a_hidden_tool_is_reached(searching: tuple[Tenants, str]) -> None:
    """It is visible, through search."""
    tenants, path = searching
    query = {"agent": path.split("/")[-2], "tool": "add_note"}
    told = (await tenants.user_a.api.get("/api/v1/explain", params=query)).json()
    assert told["visible"] is True
    (named,) = (step for step in told["steps"] if step["step"] == "name")
    assert "through search_tools and call_tool" in named["detail"]


async def test_a_hidden_tool_can_be_called_by_its_name(searching: tuple[Tenants, str]) -> None:
    """Hiding saves a model's attention; it is no grant and no refusal."""
    tenants, path = searching
    said = await call(tenants, path, "hello", {"name": "Cy"})
    assert said["text"] == "hello Cy"
    with pytest.raises(NotFound):
        await tenants.crib.platform.invoke(
            int(path.split("/")[-2]), "nothing", {}, tenants.user_a.caller
        )


async def test_lists_of_capabilities_are_not_searched(tenants: Tenants) -> None:
    """Who names capabilities gets their tools: only an agent says that it searches."""
    await tenants.agent(tenants.user_a, tenants.a, "greet")
    config = {"configurable": {"logged_user_id": tenants.user_a.id, "group_id": tenants.a}}
    tools, _ = await get_tools_from_capabilities(["greet"], config, platform=tenants.crib.platform)
    assert [tool.name for tool in tools] == ["hello"]
