"""MCPRegistry: indexes, life of a tool, calls, and the schemas it remembers."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import logging
from typing import Any

import pytest

from tests.kit.servers import SCHEMA, Servers, hang, mail, refuse, send
from toolcrib.coordination.cache import LocalCache
from toolcrib.kit import (
    MCPExecutionContext,
    MCPRegistry,
    MCPToolInfo,
    MCPToolStatus,
    ToolResult,
    get_mcp_registry,
)
from toolcrib.kit import mcp_registry as module
from toolcrib.kit.mcp_connector import McpServer, enabled, server_of
from toolcrib.kit.mcp_schemas import key_of
from toolcrib.kit.mcp_tool import as_function

URL = "https://mail.example"


def info(name: str = "SEND", slug: str = "mail", **more: Any) -> MCPToolInfo:
    return MCPToolInfo(tool_name=name, toolkit_slug=slug, mcp_config=mail(), **more)


@pytest.fixture
def servers() -> Servers:
    return Servers({URL: {"SEND": send, "REFUSE": refuse, "HANG": hang}})


@pytest.fixture
def registry(servers: Servers) -> MCPRegistry:
    made = MCPRegistry(connector=servers)
    for name in ("SEND", "REFUSE", "HANG"):
        made.register_tool_info(info(name))
    return made


def stored(registry: MCPRegistry, name: str) -> MCPToolInfo:
    found = registry.get_tool_info(name)
    assert found is not None
    return found


def test_statuses() -> None:
    """Five, by name."""
    assert [status.value for status in MCPToolStatus] == [
        "discovered",
        "loading",
        "active",
        "failed",
        "disabled",
    ]


def test_info_defaults() -> None:
    """A tool that was only discovered."""
    assert dataclasses.asdict(info()) == {
        "tool_name": "SEND",
        "toolkit_slug": "mail",
        "mcp_config": {"type": "http", "config": {"url": URL}},
        "status": MCPToolStatus.DISCOVERED,
        "load_time_ms": None,
        "last_used_ms": None,
        "call_count": 0,
        "schema": None,
        "description": None,
        "instance": None,
        "last_error": None,
        "error_count": 0,
    }


def test_context_defaults() -> None:
    """Four statistics, each run's own."""
    context = MCPExecutionContext(thread_manager="thread")
    assert context.execution_stats == {
        "tools_executed": 0,
        "total_execution_time_ms": 0,
        "cache_hits": 0,
        "activation_requests": 0,
    }
    assert context.user_context is None
    assert MCPExecutionContext().execution_stats is not context.execution_stats


def test_one_registry_per_process() -> None:
    """Everybody gets the same."""
    assert get_mcp_registry() is get_mcp_registry()


def test_indexes() -> None:
    """By name, toolkit and status."""
    registry = MCPRegistry()
    registry.register_tool_info(info("SEND"))
    registry.register_tool_info(info("READ"))
    registry.register_tool_info(info("POST", "chat", status=MCPToolStatus.DISABLED))
    assert registry.get_tools_by_toolkit("mail") == ["SEND", "READ"]
    assert registry.get_tools_by_toolkit("none") == []
    assert registry.get_tools_by_status(MCPToolStatus.DISABLED) == ["POST"]
    assert registry.get_available_toolkits() == ["mail", "chat"]
    assert registry.is_tool_available("READ")
    assert not registry.is_tool_available("GONE")
    assert registry.get_tool_info("GONE") is None
    assert registry.get_registry_stats() == {
        "total_tools": 3,
        "active_tools": 0,
        "failed_tools": 0,
        "toolkits": 2,
        "status_breakdown": {
            "discovered": 2,
            "loading": 0,
            "active": 0,
            "failed": 0,
            "disabled": 1,
        },
    }


def test_registering_again_leaves_nothing_stale() -> None:
    """The old toolkit and status do not have it any more."""
    registry = MCPRegistry()
    registry.register_tool_info(info("SEND", status=MCPToolStatus.FAILED))
    registry.register_tool_info(info("SEND", "post"))
    assert registry.get_available_toolkits() == ["post"]
    assert registry.get_tools_by_toolkit("mail") == []
    assert registry.get_tools_by_status(MCPToolStatus.FAILED) == []


def test_activate_tool() -> None:
    """An instance and a schema make it active; an unknown name is False."""
    registry = MCPRegistry()
    registry.register_tool_info(info())
    assert registry.activate_tool("GONE", object()) is False
    assert registry.is_tool_active("SEND") is False
    instance = object()
    assert registry.activate_tool("SEND", instance, {"type": "object"}) is True
    found = stored(registry, "SEND")
    assert (found.instance, found.schema) == (instance, {"type": "object"})
    assert registry.is_tool_active("SEND") is True
    assert registry.get_tools_by_status(MCPToolStatus.ACTIVE) == ["SEND"]


async def test_a_call_activates(registry: MCPRegistry, servers: Servers) -> None:
    """Just in time, once; the second call finds it active."""
    context = MCPExecutionContext()
    answer = await registry.execute_tool("SEND", {"to": "Ada"}, context)
    assert answer == ToolResult(success=True, output="sent to Ada")
    found = stored(registry, "SEND")
    assert (found.status, found.call_count, found.error_count) == (MCPToolStatus.ACTIVE, 1, 0)
    assert found.load_time_ms is not None
    assert 0 < found.load_time_ms < 10_000
    assert found.last_used_ms is not None
    assert found.schema == {
        "type": "function",
        "function": {
            "name": "SEND",
            "description": f"SEND at {URL}",
            "parameters": SCHEMA,
        },
    }
    await registry.execute_tool("SEND", {"to": "Ada"}, context)
    stats = context.execution_stats
    assert (stats["tools_executed"], stats["cache_hits"], stats["activation_requests"]) == (2, 1, 1)
    assert stats["total_execution_time_ms"] > 0
    assert servers.listed == [(URL, None)]
    assert servers.called == [(URL, "SEND", None)] * 2


async def test_a_call_without_a_context(registry: MCPRegistry) -> None:
    """Works as well."""
    assert (await registry.execute_tool("SEND", {"to": "Ada"})).output == "sent to Ada"


async def test_an_unknown_tool(registry: MCPRegistry) -> None:
    """A failed result with the name."""
    assert await registry.execute_tool("GONE", {}) == ToolResult(
        success=False, output="MCP tool 'GONE' not found in registry"
    )


async def test_a_disabled_tool_is_not_called(registry: MCPRegistry, servers: Servers) -> None:
    """It stays disabled."""
    stored(registry, "SEND").status = MCPToolStatus.DISABLED
    answer = await registry.execute_tool("SEND", {"to": "Ada"})
    assert answer == ToolResult(success=False, output="MCP tool 'SEND' is disabled")
    assert (servers.listed, servers.called) == ([], [])
    assert list(registry.get_schemas()) == ["REFUSE", "HANG"]
    found = await registry.get_discovery_info(load_schemas=False)
    assert list(found["available_tools"]) == ["REFUSE", "HANG"]


async def test_a_tool_that_says_it_failed(registry: MCPRegistry) -> None:
    """An `isError` result is a failed ToolResult, and the tool is still active."""
    answer = await registry.execute_tool("REFUSE", {"to": "Ada"})
    assert answer == ToolResult(success=False, output="the mailbox is full")
    assert registry.is_tool_active("REFUSE")


async def test_without_a_connector() -> None:
    """What needs a server says what is missing; the tool failed, and nothing stays loading."""
    registry = MCPRegistry()
    registry.register_tool_info(info())
    answer = await registry.execute_tool("SEND", {})
    assert answer.success is False
    assert answer.output.startswith("MCP tool execution error: No MCP server can be reached")
    assert "open_platform() is missing" in answer.output
    found = stored(registry, "SEND")
    assert (found.status, found.error_count) == (MCPToolStatus.FAILED, 1)
    assert "open_platform() is missing" in (found.last_error or "")


async def test_a_failed_tool_is_tried_again() -> None:
    """The next call activates it afresh."""
    servers = Servers({})
    registry = MCPRegistry(connector=servers)
    registry.register_tool_info(info())
    first = await registry.execute_tool("SEND", {"to": "Ada"})
    assert first.output == f"MCP tool execution error: {URL} does not answer."
    assert stored(registry, "SEND").status is MCPToolStatus.FAILED
    servers.tools = {URL: {"SEND": send}}
    assert (await registry.execute_tool("SEND", {"to": "Ada"})).success is True
    assert stored(registry, "SEND").status is MCPToolStatus.ACTIVE


async def test_a_call_that_breaks(registry: MCPRegistry) -> None:
    """Its error and count are kept; the tool is activated again next time."""
    answer = await registry.execute_tool("SEND", {})
    assert answer == ToolResult(success=False, output="MCP tool execution error: 'to'")
    found = stored(registry, "SEND")
    assert (found.status, found.last_error, found.error_count) == (MCPToolStatus.FAILED, "'to'", 1)
    assert (await registry.execute_tool("SEND", {"to": "Ada"})).success is True


async def test_a_tool_that_the_server_does_not_have(registry: MCPRegistry) -> None:
    """The activation fails with the name."""
    registry.register_tool_info(info("ABSENT"))
    answer = await registry.execute_tool("ABSENT", {})
    assert answer.output == "MCP tool execution error: The server has no tool 'ABSENT'."


async def test_a_call_that_takes_too_long(
    registry: MCPRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It ends as a failed result."""
    monkeypatch.setattr(module, "SECONDS", 0.05)
    answer = await registry.execute_tool("HANG", {"to": "Ada"})
    assert answer.output == "MCP tool execution error: the server did not answer in time"
    assert stored(registry, "HANG").status is MCPToolStatus.FAILED


async def test_a_cancelled_activation_leaves_nothing_loading() -> None:
    """The tool is as discovered as before."""
    registry = MCPRegistry(connector=Servers({}))
    config = mail("https://slow.example")
    registry.register_tool_info(MCPToolInfo("SEND", "slow", config))
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(registry.execute_tool("SEND", {}), 0.05)
    assert stored(registry, "SEND").status is MCPToolStatus.DISCOVERED


async def test_an_instance_of_ones_own() -> None:
    """The method named like the tool is called, async or not; what it returns is a result."""

    class Own:
        def SEND(self, to: str) -> dict[str, str]:  # noqa: N802 - named like the tool
            return {"to": to}

    registry = MCPRegistry()
    registry.register_tool_info(info())
    registry.activate_tool("SEND", Own())
    assert await registry.execute_tool("SEND", {"to": "x"}) == ToolResult(True, '{"to":"x"}')


async def test_discovery_loads_schemas(registry: MCPRegistry, servers: Servers) -> None:
    """All tools with their schemas; the server is asked once for the whole toolkit."""
    found = await registry.get_discovery_info(account_id="user123")
    assert list(found) == ["available_tools", "total_count", "toolkits", "filter_applied"]
    assert list(found["available_tools"]) == ["SEND", "REFUSE", "HANG"]
    assert found["available_tools"]["SEND"]["function"]["parameters"] == SCHEMA
    assert (found["total_count"], found["toolkits"], found["filter_applied"]) == (3, ["mail"], None)
    assert servers.listed == [(URL, "user123")]


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("send", ["SEND"]),
        ("E", ["SEND", "REFUSE"]),
        ("SEND, HANG", ["SEND", "HANG"]),
        ("send,", []),
        ("nothing", []),
    ],
)
async def test_discovery_filters(registry: MCPRegistry, pattern: str, names: list[str]) -> None:
    """A comma means exact names, anything else a part of the name in any case."""
    found = await registry.get_discovery_info(filter_pattern=pattern)
    assert list(found["available_tools"]) == names
    assert (found["total_count"], found["filter_applied"]) == (len(names), pattern)
    assert found["toolkits"] == ["mail"]


@pytest.mark.parametrize(
    ("said", "schema", "description", "parameters"),
    [
        ("", {}, "Execute SEND", {"type": "object", "properties": {}, "required": []}),
        (
            "Sends",
            {"properties": {"to": {"type": "string"}}, "required": ["to"]},
            "Sends",
            {"type": "object", "properties": {"to": {"type": "string"}}, "required": ["to"]},
        ),
    ],
)
def test_what_a_server_leaves_unsaid(
    said: str, schema: dict[str, Any], description: str, parameters: dict[str, Any]
) -> None:
    """A description and an empty object of parameters."""
    assert as_function("SEND", said, schema) == {
        "type": "function",
        "function": {"name": "SEND", "description": description, "parameters": parameters},
    }


async def test_discovery_without_loading(registry: MCPRegistry, servers: Servers) -> None:
    """Stubs, and no server is asked."""
    found = await registry.get_discovery_info("SEND", load_schemas=False)
    assert found["available_tools"] == {
        "SEND": {
            "type": "function",
            "function": {
                "name": "SEND",
                "description": "External integration tool: SEND (mail)",
                "parameters": {"type": "object", "properties": {}, "required": []},
            },
        }
    }
    assert servers.listed == []


async def test_a_dead_server_hides_no_other(
    registry: MCPRegistry, caplog: pytest.LogCaptureFixture
) -> None:
    """Its tools are left out and it is named."""
    registry.register_tool_info(MCPToolInfo("POST", "dead", mail("https://dead.example")))
    with caplog.at_level(logging.WARNING, "toolcrib.kit"):
        found = await registry.get_discovery_info()
    assert list(found["available_tools"]) == ["SEND", "REFUSE", "HANG"]
    assert found["toolkits"] == ["mail", "dead"]
    assert caplog.messages == [
        "schemas of 'dead' could not be loaded: https://dead.example does not answer."
    ]


async def test_prewarming_reads_the_cache_alone(servers: Servers) -> None:
    """For the account that filled it; returns how many schemas were missing and found."""
    cache = LocalCache()
    first = MCPRegistry(connector=servers, cache=cache)
    first.register_tool_info(info())
    await first.get_discovery_info(account_id="user123")
    second = MCPRegistry(connector=servers, cache=cache)
    second.register_tool_info(info())
    second.register_tool_info(info("REFUSE"))
    second.register_tool_info(info("UNKNOWN"))
    assert await second.prewarm_schemas(account_id="somebody") == 0
    assert await second.prewarm_schemas() == 0
    assert await second.prewarm_schemas(account_id="user123") == 2
    assert await second.prewarm_schemas(account_id="user123") == 0
    assert stored(second, "UNKNOWN").schema is None
    assert servers.listed == [(URL, "user123")]


async def test_accounts_and_servers_do_not_share_schemas(servers: Servers) -> None:
    """One toolkit's name, other headers or another account: another key."""
    base = server_of(mail(), "a")
    others = [
        server_of(mail(), "b"),
        server_of(mail()),
        server_of(mail("https://other.example"), "a"),
        server_of({"type": "sse", "config": {"url": URL}}, "a"),
        server_of({"type": "http", "config": {"url": URL, "headers": {"A": "b"}}}, "a"),
    ]
    keys = {key_of("mail", one) for one in (base, *others)}
    assert len(keys) == 6
    assert key_of("mail", server_of(mail(enabledTools=["SEND"]), "a")) == key_of("mail", base)
    assert all(key.startswith("mcp_schema:mail:") for key in keys)
    assert not any("example" in key for key in keys)


async def test_schemas_last_a_day(servers: Servers) -> None:
    """As one JSON map of the whole toolkit."""

    class Clock:
        now = 0.0

        def __call__(self) -> float:
            return self.now

    clock = Clock()
    cache = LocalCache(clock=clock)
    registry = MCPRegistry(connector=servers, cache=cache)
    registry.register_tool_info(info())
    await registry.get_discovery_info()
    key = key_of("mail", server_of(mail()))
    clock.now = 24 * 3600 - 1
    assert list(json.loads(await cache.get(key) or b"{}")) == ["SEND", "REFUSE", "HANG"]
    clock.now = 24 * 3600
    assert await cache.get(key) is None


async def test_a_cache_that_knows_too_little_is_passed_by(servers: Servers) -> None:
    """A tool that the server gained since is found."""
    registry = MCPRegistry(connector=servers)
    registry.register_tool_info(info())
    await registry.get_discovery_info()
    servers.tools = {URL: {"SEND": send, "NEW": send}}
    registry.register_tool_info(info("NEW"))
    assert (await registry.execute_tool("NEW", {"to": "x"})).success is True
    assert servers.listed == [(URL, None)] * 2


async def test_a_broken_cache_is_no_cache(servers: Servers) -> None:
    """Discovery goes on without it."""

    class Broken:
        async def get(self, key: str) -> bytes | None:
            raise ConnectionError("no cache")

        async def put(self, key: str, value: bytes, *, seconds: float) -> None:
            raise ConnectionError("no cache")

        async def drop(self, prefix: str) -> int:
            raise ConnectionError("no cache")

    registry = MCPRegistry(connector=servers, cache=Broken())
    registry.register_tool_info(info())
    assert await registry.prewarm_schemas() == 0
    assert (await registry.get_discovery_info())["total_count"] == 1


@pytest.mark.parametrize(
    ("config", "transport"),
    [
        ({"customType": "sse", "type": "http"}, "sse"),
        ({"type": "HTTP"}, "http"),
        ({"type": "json"}, "json"),
        ({"type": "composio"}, "composio"),
        ({"type": "carrier pigeon"}, "http"),
        ({}, "http"),
    ],
)
def test_transports(config: dict[str, Any], transport: str) -> None:
    """`customType` before `type`; http where there is none or an unknown one."""
    assert server_of(config) == McpServer(transport=transport, config={})


def test_enabled_tools() -> None:
    """None named means all."""
    assert enabled({}, "A") is True
    assert enabled({"enabledTools": []}, "A") is True
    assert enabled({"enabledTools": ["B"]}, "A") is False
    assert enabled({"enabledTools": ["A", "B"]}, "A") is True
