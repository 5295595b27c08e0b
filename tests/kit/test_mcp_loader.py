"""MCPJITLoader: from an agent's configuration to tools."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from tests.kit.servers import Servers, mail, refuse, send
from toolcrib.coordination.cache import LocalCache
from toolcrib.kit import MCPRegistry, MCPToolInfo, MCPToolStatus, ToolResult
from toolcrib.kit import mcp_map as module
from toolcrib.kit.activation import ActivationError, ActivationErrorType, ActivationSuccess
from toolcrib.kit.mcp_connector import server_of
from toolcrib.kit.mcp_loader import MCPJITLoader, init_mcp_registry_from_loader
from toolcrib.kit.mcp_map import toolkit_slug
from toolcrib.kit.mcp_names import ToolNames

MAIL, CHAT, DEAD = "https://mail.example", "https://chat.example", "https://dead.example"
CONFIG: dict[str, Any] = {
    "account_id": "acc",
    "custom_mcp": [
        mail(MAIL, name="My Mail"),
        mail(CHAT, name="Chat", customType="sse", enabledTools=["POST", "SEND"]),
        mail(DEAD, name="Dead", enabledTools=["LOST"]),
    ],
    "configured_mcps": [mail(CHAT, name="Hub", toolkit_slug="hub", enabledTools=["READ"])],
}


@pytest.fixture
def servers() -> Servers:
    return Servers(
        {
            MAIL: {"SEND": send, "REFUSE": refuse, "X" * 65: send},
            CHAT: {"SEND": send, "POST": send, "READ": send},
        }
    )


@pytest.fixture
def loader(servers: Servers) -> MCPJITLoader:
    return MCPJITLoader(CONFIG, registry=MCPRegistry(connector=servers))


@pytest.mark.parametrize(
    ("config", "custom", "slug"),
    [
        ({"name": "My Mail", "type": "http"}, True, "custom_http_my_mail"),
        ({"name": "Chat", "customType": "sse", "type": "http"}, True, "custom_sse_chat"),
        ({"name": "Gmail", "toolkit_slug": "gmail"}, False, "gmail"),
        ({"qualifiedName": "Big Box"}, False, "big_box"),
    ],
)
def test_slugs(config: dict[str, Any], custom: bool, slug: str) -> None:
    """Custom servers have their type in it."""
    assert toolkit_slug(config, custom=custom) == slug


async def test_the_map(
    loader: MCPJITLoader, servers: Servers, caplog: pytest.LogCaptureFixture
) -> None:
    """Every server is asked; a dead one, a second name and an overlong name are left out."""
    with caplog.at_level(logging.WARNING, "toolcrib.kit"):
        found = await loader.build_tool_map()
    assert {name: info.toolkit_slug for name, info in found.items()} == {
        "SEND": "custom_http_my_mail",
        "REFUSE": "custom_http_my_mail",
        "POST": "custom_sse_chat",
        "READ": "hub",
    }
    assert sorted(caplog.messages) == [
        f"the MCP server 'Dead' is left out: {DEAD} does not answer.",
        "the tool 'SEND' of the server 'Chat' is a second one",
    ]
    assert {account for _, account in servers.listed} == {"acc"}
    assert await loader.get_available_tools() == ["SEND", "REFUSE", "POST", "READ"]
    assert await loader.get_toolkit_tools("custom_http_my_mail") == ["SEND", "REFUSE"]
    assert await loader.get_toolkits() == ["custom_http_my_mail", "custom_sse_chat", "hub"]


async def test_of_configured_servers_the_last_counts(servers: Servers) -> None:
    """Where a custom one wins first come, first served."""
    two = [mail(MAIL, toolkit_slug="one"), mail(CHAT, toolkit_slug="two")]
    loader = MCPJITLoader({"configured_mcps": two}, registry=MCPRegistry(connector=servers))
    assert (await loader.build_tool_map())["SEND"].toolkit_slug == "two"


async def test_cache_only_asks_nobody(loader: MCPJITLoader, servers: Servers) -> None:
    """The names of the configuration, and no others."""
    found = await loader.build_tool_map(cache_only=True)
    assert list(found) == ["POST", "SEND", "LOST", "READ"]
    assert servers.listed == []


async def test_the_map_is_built_once(loader: MCPJITLoader, servers: Servers) -> None:
    """Until it is rebuilt; names come from the cache then, until that forgets them."""
    first = await loader.build_tool_map()
    assert await loader.build_tool_map() is first
    assert len(servers.listed) == 4
    again = await loader.rebuild_tool_map()
    assert (again is first, list(again)) == (False, list(first))
    assert servers.listed[4:] == [(DEAD, "acc")]
    assert list(await loader.rebuild_tool_map(fresh=False)) == ["POST", "SEND", "LOST", "READ"]
    await loader.cleanup()
    assert loader.is_tool_available_sync("SEND") is False
    assert await loader.is_tool_available("SEND") is True
    assert loader.is_tool_available_sync("SEND") is True


async def test_names_are_cached_by_server_and_account(
    loader: MCPJITLoader, servers: Servers
) -> None:
    """Under a key of their own."""
    await loader.build_tool_map()
    names = ToolNames(loader.registry.cache)
    config = CONFIG["custom_mcp"][0]
    slug = "custom_http_my_mail"
    assert await names.get(slug, server_of(config, "acc")) == ["SEND", "REFUSE", "X" * 65]
    assert await names.get(slug, server_of(config, "other")) is None
    assert await loader.registry.cache.drop("mcp_tools:v1:custom_http_my_mail:") == 1


async def test_cached_names_last_a_day(servers: Servers) -> None:
    """Then the server is asked again, when the map is built again."""
    now = [0.0]
    registry = MCPRegistry(connector=servers, cache=LocalCache(clock=lambda: now[0]))
    loader = MCPJITLoader({"custom_mcp": [mail(MAIL, name="Mail")]}, registry=registry)
    first = await loader.build_tool_map()
    assert await loader.build_tool_map(force_rebuild=True) is not first
    now[0] = 24 * 3600 - 1
    await loader.build_tool_map(force_rebuild=True)
    assert len(servers.listed) == 1
    now[0] = 24 * 3600
    assert list(await loader.build_tool_map(force_rebuild=True)) == list(first)
    assert len(servers.listed) == 2


async def test_a_slow_server_is_left_out(
    servers: Servers, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Building has a limit."""
    monkeypatch.setattr(module, "SECONDS", 0.05)
    both = [mail("https://slow.example", name="Slow"), mail(MAIL, name="Mail")]
    loader = MCPJITLoader({"custom_mcps": both}, registry=MCPRegistry(connector=servers))
    with caplog.at_level(logging.WARNING, "toolcrib.kit"):
        assert await loader.get_available_tools() == ["SEND", "REFUSE"]
    assert caplog.messages == [
        "the MCP server 'Slow' is left out: the server did not answer in time"
    ]


async def test_activation(loader: MCPJITLoader) -> None:
    """Idempotent; the instance calls the server."""
    first = await loader.activate_tool("SEND")
    assert isinstance(first, ActivationSuccess)
    assert (first.tool_name, first.function_count) == ("SEND", 1)
    found = loader.get_tool_info("SEND")
    assert found is not None
    assert found.status is MCPToolStatus.ACTIVE
    instance = found.instance
    assert await instance.SEND(to="Ada") == ToolResult(success=True, output="sent to Ada")
    assert isinstance(await loader.activate_tool("SEND"), ActivationSuccess)
    assert found.instance is instance
    assert loader.get_activation_stats() == {
        "total_tools": 4,
        "loaded_tools": 1,
        "load_percentage": 25.0,
        "toolkit_breakdown": {"custom_http_my_mail": 2, "custom_sse_chat": 1, "hub": 1},
        "schema_cache_size": 1,
    }


async def test_activating_several(loader: MCPJITLoader) -> None:
    """Those that work, and why the others do not."""
    done = await loader.activate_multiple(["SEND", "GONE"])
    assert done.get_activated_tools() == ["SEND"]
    assert done.failed == [
        ActivationError(ActivationErrorType.TOOL_NOT_FOUND, "MCP tool 'GONE' not found", "GONE")
    ]


async def test_an_activation_that_fails(servers: Servers) -> None:
    """The tool failed, with the reason, and may be tried again."""
    loader = MCPJITLoader(CONFIG, registry=MCPRegistry(connector=servers))
    await loader.build_tool_map(cache_only=True)
    result = await loader.activate_tool("LOST")
    assert result == ActivationError(
        ActivationErrorType.INIT_FAILED, f"{DEAD} does not answer.", "LOST"
    )
    assert isinstance(result, ActivationError)
    assert result.is_retryable() is True
    found = loader.get_tool_info("LOST")
    assert found is not None
    assert (found.status, found.error_count) == (MCPToolStatus.FAILED, 1)


async def test_a_registry_of_the_loaders_tools(loader: MCPJITLoader) -> None:
    """Emptied first; everything is discovered."""
    registry = loader.registry
    registry.register_tool_info(MCPToolInfo("OLD", "old", mail()))
    await loader.build_tool_map()
    await loader.activate_tool("SEND")
    assert init_mcp_registry_from_loader(loader) is registry
    assert registry.get_tools_by_status(MCPToolStatus.DISCOVERED) == [
        "SEND",
        "REFUSE",
        "POST",
        "READ",
    ]
    assert registry.is_tool_available("OLD") is False
