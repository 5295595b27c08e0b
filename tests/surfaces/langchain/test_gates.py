"""Each row of the gates, as the vendors' clients really send it: recorded on loopback."""

from __future__ import annotations

import json
from typing import Any

import pytest
from langchain_anthropic import ChatAnthropic
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI

from toolcrib.langchain import attach_mcp
from toolcrib.testing import ScriptedModel

SERVER: dict[str, Any] = {
    "type": "mcp",
    "server_label": "wiki",
    "server_url": "https://wiki.test/mcp",
    "require_approval": "never",
}
SENT = {"type": "url", "name": "wiki", "url": "https://wiki.test/mcp"}
ABSENT = ...


@tool
async def local(word: str) -> str:
    """A tool of our own."""
    return word


def changed(**changes: Any) -> dict[str, Any]:
    return {key: value for key, value in {**SERVER, **changes}.items() if value is not ABSENT}


async def sent_to_anthropic(entry: dict[str, Any]) -> dict[str, Any]:
    with ScriptedModel(["done"]) as scripted:
        llm = ChatAnthropic(
            model="claude-scripted",
            api_key="unused",
            max_retries=0,
            base_url=scripted.anthropic_url,
        )
        model, tools = attach_mcp(llm, [local], [entry])
        await model.bind_tools(tools).ainvoke("hi")
    (request,) = scripted.requests
    assert request.path == "/v1/messages"
    return request.body


async def sent_to_openai(entry: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    with ScriptedModel(["done"]) as scripted:
        llm = ChatOpenAI(
            model="scripted", api_key="unused", max_retries=0, base_url=scripted.openai_url
        )
        model, tools = attach_mcp(llm, [local], [entry])
        await model.bind_tools(tools).ainvoke("hi")
    (request,) = scripted.requests
    return request.path, request.body


@pytest.mark.parametrize(
    "changes",
    [
        {"require_approval": ABSENT},
        {"require_approval": "always"},
        {"require_approval": {"never": {"tool_names": ["read"]}}},
        {"server_url": ""},
        {"server_url": ABSENT},
        {"server_label": " "},
        {"server_label": ABSENT},
        {"server_url": "http://wiki.test/mcp"},
        {"allowed_tools": 5},
        {"allowed_tools": ["read", 5]},
        {"allowed_tools": {"name": "read"}},
    ],
    ids=str,
)
async def test_nothing_is_sent_that_a_gate_refuses(changes: dict[str, Any]) -> None:
    """No server and no toolset; the function beside them goes."""
    body = await sent_to_anthropic(changed(**changes))
    assert "mcp_servers" not in body
    assert [one["name"] for one in body["tools"]] == ["local"]
    assert "wiki.test" not in json.dumps(body)


@pytest.mark.parametrize(
    ("headers", "token"),
    [
        (ABSENT, None),
        ({"Authorization": "Bearer t0ken"}, "t0ken"),
        ({"authorization": "bearer t0ken"}, "t0ken"),
        ({"Authorization": "t0ken"}, "t0ken"),
        ({"Authorization": "Basic dXNlcjp0MGtlbg=="}, None),
        ({"X-Api-Key": "k3y", "Authorization": "Bearer t0ken"}, "t0ken"),
        ({"X-Api-Key": "k3y"}, None),
    ],
    ids=str,
)
async def test_the_bearer_is_all_that_is_sent_of_the_headers(headers: Any, token: Any) -> None:
    """Another header or scheme is dropped, and the server goes all the same."""
    body = await sent_to_anthropic(changed(headers=headers))
    named = {} if token is None else {"authorization_token": token}
    assert body["mcp_servers"] == [{**SENT, **named}]
    assert {"type": "mcp_toolset", "mcp_server_name": "wiki"} in body["tools"]
    text = json.dumps(body)
    assert not any(word in text for word in ("k3y", "Basic", "dXNlcjp0MGtlbg"))


@pytest.mark.parametrize(
    ("allowed", "names"),
    [
        (["read", "find"], ["read", "find"]),
        ("read", ["read"]),
        ({"1": "find", "0": "read"}, ["read", "find"]),
        ([], []),
    ],
    ids=str,
)
async def test_the_allow_list_is_sent_as_a_toolset(allowed: Any, names: list[str]) -> None:
    """Everything is off but what is named; an empty list stays empty."""
    body = await sent_to_anthropic(changed(allowed_tools=allowed))
    assert body["mcp_servers"] == [SENT]
    assert body["tools"][1] == {
        "type": "mcp_toolset",
        "mcp_server_name": "wiki",
        "default_config": {"enabled": False},
        "configs": {name: {"enabled": True} for name in names},
    }


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"require_approval": ABSENT},
        {"require_approval": "always"},
        {"require_approval": {"never": {"tool_names": ["read"]}}},
        {"headers": {"Authorization": "Basic dXNlcg==", "X-Api-Key": "k3y"}},
        {"allowed_tools": []},
        {"allowed_tools": ["read"]},
        {"tool_filter": {"x": 1}},
    ],
    ids=str,
)
async def test_openai_is_sent_every_key_as_it_is(changes: dict[str, Any]) -> None:
    """Its own rules are its own to check: the Responses API gets the canonical form."""
    entry = changed(**changes)
    path, body = await sent_to_openai(entry)
    assert path == "/v1/responses"
    assert body["tools"][1] == entry
