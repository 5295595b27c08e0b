"""Attaching MCP servers: which vendor gets what, and the warning for what it does not get."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from langchain_anthropic import ChatAnthropic
from langchain_core.language_models import FakeListChatModel
from langchain_core.tools import tool
from langchain_openai import AzureChatOpenAI, ChatOpenAI

from toolcrib.langchain import attach_mcp
from toolcrib.testing import ScriptedModel

WIKI: dict[str, Any] = {
    "type": "mcp",
    "server_label": "wiki",
    "server_url": "https://wiki.test/mcp",
    "require_approval": "never",
    "headers": {"Authorization": "Bearer s3cret-token", "X-Api-Key": "s3cret-key"},
    "allowed_tools": ["read"],
    "tool_filter": {"x": 1},
}
OTHER: dict[str, Any] = {
    "type": "mcp",
    "server_label": "other",
    "server_url": "https://other.test/mcp",
    "require_approval": "never",
}


@tool
async def local(word: str) -> str:
    """A tool of our own."""
    return word


def openai(**given: Any) -> ChatOpenAI:
    return ChatOpenAI(model="scripted", api_key="unused", **given)


def anthropic(**given: Any) -> ChatAnthropic:
    return ChatAnthropic(model="claude-scripted", api_key="unused", max_retries=0, **given)


def warnings_of(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]


def test_nothing_to_attach():
    """Without servers the model is the same object and the tools are the tools."""
    model = openai()
    assert attach_mcp(model, [local], []) == (model, [local])


def test_openai_gets_the_canonical_form():
    """The dicts stand behind the tools, every key passed along."""
    model = openai()
    same, tools = attach_mcp(model, [local], [WIKI, OTHER])
    assert same is model
    assert tools == [local, WIKI, OTHER]


async def test_openai_request():
    """The Responses API is called with the server beside the function."""
    with ScriptedModel(["done"]) as scripted:
        model, tools = attach_mcp(openai(base_url=scripted.openai_url), [local], [WIKI])
        await model.bind_tools(tools).ainvoke("hi")
    request = scripted.requests[0]
    assert request.path == "/v1/responses"
    assert request.tool_names == ["local"]
    assert request.tools[1] == WIKI


def test_openai_without_the_responses_api(caplog: pytest.LogCaptureFixture):
    """Chat completions know no servers: they are skipped, with the way out."""
    _, tools = attach_mcp(openai(use_responses_api=False), [local], [WIKI])
    assert tools == [local]
    (warning,) = warnings_of(caplog)
    assert "'wiki' skipped on OpenAI" in warning
    assert "use_responses_api" in warning


def test_openai_skips_what_it_would_refuse(caplog: pytest.LogCaptureFixture):
    """One server without a URL must not fail every request."""
    broken = {"type": "mcp", "server_label": "broken"}
    assert attach_mcp(openai(), [], [broken, OTHER])[1] == [OTHER]
    assert warnings_of(caplog) == [
        "MCP server 'broken' skipped on OpenAI: server_url is missing. Mend it: set server_url."
    ]


async def test_anthropic_request(caplog: pytest.LogCaptureFixture):
    """A copy of the model carries the server; the beta header and the toolset go along."""
    with ScriptedModel(["done"]) as scripted:
        original = anthropic(base_url=scripted.anthropic_url)
        model, tools = attach_mcp(original, [local], [WIKI])
        await model.bind_tools(tools).ainvoke("hi")
    assert original.mcp_servers is None
    request = scripted.requests[0]
    assert request.body["mcp_servers"] == [
        {
            "type": "url",
            "name": "wiki",
            "url": "https://wiki.test/mcp",
            "authorization_token": "s3cret-token",
        }
    ]
    assert request.tools[1] == {
        "type": "mcp_toolset",
        "mcp_server_name": "wiki",
        "default_config": {"enabled": False},
        "configs": {"read": {"enabled": True}},
    }
    assert request.tool_names == ["local"]
    assert "mcp-client-2025-11-20" in request.headers["anthropic-beta"]
    (warning,) = warnings_of(caplog)
    assert "X-Api-Key" in warning
    assert "s3cret" not in warning


def test_anthropic_tokens_do_not_print():
    """A model in a log shows its servers without their tokens."""
    model, _ = attach_mcp(anthropic(), [], [WIKI])
    assert "wiki.test" in repr(model)
    assert "s3cret" not in repr(model)
    assert "s3cret" not in str(model)


def test_anthropic_skips_with_reason_and_fix(caplog: pytest.LogCaptureFixture):
    """A gate that fails skips that server alone, in the words operators look for."""
    gated = {**WIKI, "require_approval": "always"}
    model, tools = attach_mcp(anthropic(), [local], [gated, OTHER])
    assert [server["name"] for server in model.mcp_servers] == ["other"]
    assert tools == [local, {"type": "mcp_toolset", "mcp_server_name": "other"}]
    (warning,) = warnings_of(caplog)
    assert "skipped on Anthropic" in warning
    assert "require_approval" in warning
    assert "set require_approval to 'never'" in warning


def test_anthropic_all_skipped(caplog: pytest.LogCaptureFixture):
    """Then the model stays the one that was given."""
    model = anthropic()
    assert attach_mcp(model, [local], [{**OTHER, "server_url": ""}]) == (model, [local])
    assert len(warnings_of(caplog)) == 1


def test_anthropic_keeps_servers_that_are_there(caplog: pytest.LogCaptureFixture):
    """Servers of the model's own stay; a label is used once."""
    mine = {"type": "url", "name": "other", "url": "https://mine.test/mcp"}
    original = anthropic(mcp_servers=[mine])
    model, tools = attach_mcp(original, [], [OTHER, WIKI])
    assert [server["name"] for server in model.mcp_servers] == ["other", "wiki"]
    assert original.mcp_servers == [mine]
    assert [entry["mcp_server_name"] for entry in tools] == ["wiki"]
    assert any("label is taken" in warning for warning in warnings_of(caplog))


class OwnOpenAI(ChatOpenAI):
    """A user's subclass of OpenAI's model."""


def test_subclasses_count_as_their_vendor():
    """A class derived from the vendor's is that vendor's."""
    assert attach_mcp(OwnOpenAI(model="m", api_key="unused"), [], [OTHER])[1] == [OTHER]


@pytest.mark.parametrize(
    "model",
    [
        FakeListChatModel(responses=["x"]),
        AzureChatOpenAI(
            azure_deployment="d",
            api_key="unused",
            azure_endpoint="https://azure.test",
            api_version="2024-10-21",
        ),
    ],
    ids=["foreign", "azure"],
)
def test_other_vendors(model: Any, caplog: pytest.LogCaptureFixture):
    """Elsewhere servers are skipped with a warning and the rest works."""
    assert attach_mcp(model, [local], [WIKI]) == (model, [local])
    (warning,) = warnings_of(caplog)
    assert f"'wiki' skipped on {type(model).__name__}" in warning


def test_derived_by_another_vendor():
    """A class of another vendor's package that derives from one of these is the other's."""
    bedrock = type("ChatAnthropicBedrock", (ChatAnthropic,), {"__module__": "langchain_aws.chat"})
    model = bedrock(model="claude", api_key="unused")
    assert attach_mcp(model, [], [OTHER]) == (model, [])


@pytest.mark.parametrize(
    ("name", "kind", "entries"),
    [("openai:gpt-x", ChatOpenAI, 1), ("anthropic:claude-x", ChatAnthropic, 1)],
)
def test_model_by_name(name: str, kind: type, entries: int, monkeypatch: pytest.MonkeyPatch):
    """`provider:model` becomes a model, which decides."""
    monkeypatch.setenv("OPENAI_API_KEY", "unused")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "unused")
    model, tools = attach_mcp(name, [], [OTHER])
    assert type(model) is kind
    assert len(tools) == entries
