"""The kit's MCP registry, bound to an open platform: real servers, the shared cache, the guard."""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from tests.support.mcp_http import HttpMcp, text, tool_of
from toolcrib.coordination.cache import LocalCache
from toolcrib.kit import MCPRegistry, MCPToolInfo, MCPToolStatus, get_mcp_registry
from toolcrib.kit.mcp_connector import UNBOUND
from toolcrib.kit.mcp_loader import MCPJITLoader
from toolcrib.kit.mcp_tool import MCPExecutionContext
from toolcrib.platform import Platform, open_platform
from toolcrib.plugin.registration import Registry
from toolcrib.settings import Settings

SERVER = Path(__file__).parents[2] / "support" / "mcp_stdio.py"


@pytest.fixture(params=["session", "modern", "sse"])
async def server(request: pytest.FixtureRequest) -> AsyncGenerator[HttpMcp]:
    async with HttpMcp(request.param) as opened:
        opened.tools = [tool_of("ADD", description="Adds"), tool_of("LOSE")]
        opened.answers["ADD"] = _add
        opened.answers["LOSE"] = _lose
        yield opened


async def _add(arguments: Any) -> dict[str, Any]:
    return text(str(sum(arguments["numbers"])))


async def _lose(arguments: Any) -> dict[str, Any]:
    return text("it is gone", isError=True)


@pytest.fixture
async def platform(settings: Settings) -> AsyncGenerator[Platform]:
    chosen = settings.model_copy(update={"egress_allow": ("127.0.0.0/8",)})
    async with open_platform(chosen, registry=Registry()) as opened:
        yield opened


@pytest.fixture(autouse=True)
def registry() -> Any:
    found = get_mcp_registry()
    found.clear()
    yield found
    found.clear()


def config(server: HttpMcp) -> dict[str, Any]:
    kind = "sse" if server.era == "sse" else "http"
    return {"type": kind, "name": "sums", "config": {"url": server.url}}


async def test_a_tool_is_activated_and_called(
    platform: Platform, registry: MCPRegistry, server: HttpMcp
) -> None:
    """Just in time, with the schema of the server; an error of the tool is a failed result."""
    for name in ("ADD", "LOSE"):
        registry.register_tool_info(MCPToolInfo(name, "sums", config(server)))
    answer = await registry.execute_tool("ADD", {"numbers": [2, 3]})
    assert (answer.success, answer.output) == (True, "5")
    info = registry.get_tool_info("ADD")
    assert info is not None
    assert (info.status, info.call_count) == (MCPToolStatus.ACTIVE, 1)
    assert info.schema is not None
    assert info.schema["function"]["description"] == "Adds"
    lost = await registry.execute_tool("LOSE", {})
    assert (lost.success, lost.output) == (False, "it is gone")


async def test_discovery_and_the_cache(
    platform: Platform, registry: MCPRegistry, server: HttpMcp
) -> None:
    """Schemas are kept in the platform's cache, for one account alone."""
    assert registry.cache is platform.storage.cache
    registry.register_tool_info(MCPToolInfo("ADD", "sums", config(server)))
    assert await registry.prewarm_schemas(account_id="ada") == 0
    found = await registry.get_discovery_info("ADD", account_id="ada")
    assert list(found["available_tools"]) == ["ADD"]
    registry.register_tool_info(MCPToolInfo("ADD", "sums", config(server)))
    assert await registry.prewarm_schemas(account_id="bob") == 0
    assert await registry.prewarm_schemas(account_id="ada") == 1


async def test_a_loader_maps_what_servers_have(platform: Platform, server: HttpMcp) -> None:
    """Without a list of tools, all of them."""
    loader = MCPJITLoader({"custom_mcp": [config(server)]})
    assert sorted(await loader.get_available_tools()) == ["ADD", "LOSE"]


async def test_accounts_have_connections_of_their_own(
    platform: Platform, registry: MCPRegistry
) -> None:
    """One account's session is never another's."""
    async with HttpMcp("session") as server:
        registry.register_tool_info(MCPToolInfo("echo", "sums", config(server)))
        for account in ("ada", "bob", "ada"):
            context = MCPExecutionContext(user_context={"account_id": account})
            registry.register_tool_info(MCPToolInfo("echo", "sums", config(server)))
            await registry.execute_tool("echo", {}, context)
        assert server.count("initialize") == 2


async def test_unbound_again(settings: Settings, registry: MCPRegistry) -> None:
    """When a platform closes, the one that was open before is bound; none is none."""
    other = settings.model_copy(update={"data_dir": settings.data_dir / "other"})
    other.data_dir.mkdir()
    async with open_platform(settings, registry=Registry()):
        first = registry.connector
        async with open_platform(other, registry=Registry()):
            assert registry.connector is not first
        assert registry.connector is first
    assert registry.connector is None
    assert isinstance(registry.cache, LocalCache)
    registry.register_tool_info(
        MCPToolInfo("ADD", "sums", {"config": {"url": "https://x.example"}})
    )
    answer = await registry.execute_tool("ADD", {})
    assert (answer.success, answer.output) == (False, f"MCP tool execution error: {UNBOUND}")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"type": "composio", "config": {"profile_id": "p"}}, "Composio"),
        ({"type": "http", "config": {}}, "no http or https"),
        ({"type": "json", "config": {"args": []}}, "command is missing"),
        ({"type": "json", "config": {"command": sys.executable}}, "TOOLCRIB_STDIO_ALLOW"),
        ({"config": {"url": "https://169.254.169.254/mcp"}}, "169.254.169.254"),
    ],
)
async def test_what_cannot_be_reached(
    platform: Platform, registry: MCPRegistry, given: dict[str, Any], words: str
) -> None:
    """Says why; the guard and the policy for commands hold here too."""
    registry.register_tool_info(MCPToolInfo("T", "t", given))
    answer = await registry.execute_tool("T", {})
    assert answer.success is False
    assert words in answer.output
    info = registry.get_tool_info("T")
    assert info is not None
    assert info.status is MCPToolStatus.FAILED


async def test_a_command(settings: Settings, registry: MCPRegistry) -> None:
    """A command that the operator lists is started and spoken to."""
    allowed = settings.model_copy(update={"stdio_allow": (sys.executable,)})
    async with open_platform(allowed, registry=Registry()):
        command = {"command": sys.executable, "args": [str(SERVER)]}
        loader = MCPJITLoader({"custom_mcp": [{"type": "json", "config": command}]})
        (name, *_) = await loader.get_available_tools()
        done = await loader.activate_tool(name)
        assert done.tool_name == name
