"""Native tools just in time: configuration, constructor arguments, dependencies, results."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.kit.servers import Servers, mail, send
from toolcrib.kit import MCPRegistry, Tool, ToolRegistry
from toolcrib.kit.activation import (
    ActivationError,
    ActivationErrorType,
    ActivationSuccess,
    BatchActivationResult,
)
from toolcrib.kit.dependencies import DependencyResolver, Order
from toolcrib.kit.detector import ParameterDetector
from toolcrib.kit.jit import JITLoader
from toolcrib.kit.jit_config import JITConfig
from toolcrib.kit.mcp_loader import MCPJITLoader


@dataclass
class Thread:
    """A run, as tools of Kortix know it."""

    tool_registry: ToolRegistry = field(
        default_factory=lambda: ToolRegistry(mcp_registry=MCPRegistry())
    )
    thread_id: str | None = "thread-1"
    account_id: str | None = None


def error(kind: ActivationErrorType) -> ActivationError:
    return ActivationError(kind, "because", "x_tool")


def test_error_types() -> None:
    """Eight of them."""
    assert [kind.value for kind in ActivationErrorType] == [
        "tool_not_found",
        "blocked_by_config",
        "dependency_missing",
        "cyclic_dependency",
        "import_error",
        "init_failed",
        "already_activated",
        "parameter_error",
    ]


def test_errors_that_are_final() -> None:
    """Three that another try would repeat."""
    final = [kind.value for kind in ActivationErrorType if not error(kind).is_retryable()]
    assert final == ["tool_not_found", "blocked_by_config", "cyclic_dependency"]
    assert error(ActivationErrorType.INIT_FAILED).to_user_message() == "x_tool: because"
    assert error(ActivationErrorType.INIT_FAILED).details is None


def test_a_batch() -> None:
    """The share that worked, in percent; of nothing it is 0."""
    success = ActivationSuccess("a_tool", 1.0)
    assert (success.dependencies_loaded, success.function_count) == (None, None)
    failed = error(ActivationErrorType.INIT_FAILED)
    batch = BatchActivationResult([success] * 3, [failed], 4.0)
    assert batch.success_rate == 75.0
    assert batch.get_activated_tools() == ["a_tool"] * 3
    assert batch.get_failed_tools() == ["x_tool"]
    assert BatchActivationResult([], [], 0.0).success_rate == 0.0


@pytest.mark.parametrize(
    ("config", "disabled", "allowed"),
    [
        (None, [], True),
        ({}, [], True),
        ({"agentpress_tools": {}}, [], True),
        ({"agentpress_tools": {"web_search_tool": True}}, [], True),
        ({"agentpress_tools": {"browser_tool": False}}, [], True),
        ({"agentpress_tools": {"web_search_tool": False}}, [], False),
        ({"agentpress_tools": {"web_search_tool": {"enabled": False}}}, [], False),
        ({"agentpress_tools": {"web_search_tool": {"enabled": True}}}, [], True),
        ({"agentpress_tools": {"web_search_tool": False}, "is_default": True}, [], True),
        (
            {
                "agentpress_tools": {"web_search_tool": False},
                "metadata": {"is_suna_default": True},
            },
            [],
            True,
        ),
        ({"is_default": True}, ["web_search_tool"], False),
    ],
)
def test_what_a_configuration_allows(
    config: dict[str, Any] | None, disabled: list[str], allowed: bool
) -> None:
    """The disabled list first, then the default agent, then the tool's own entry."""
    assert JITConfig(config, disabled).is_tool_allowed("web_search_tool") is allowed


@pytest.mark.usefixtures("workshop")
def test_core_tools_stay() -> None:
    """A configuration cannot switch them off, the run can."""
    off = {"agentpress_tools": {"message_tool": False}}
    assert JITConfig(off).is_tool_allowed("message_tool") is True
    assert JITConfig(off, ["message_tool"]).is_tool_allowed("message_tool") is False


def test_constructor_parameters_are_matched_by_name() -> None:
    """Known ones are filled, others are the class's own business."""

    class BusyTool(Tool):
        def __init__(self, thread_id: str, size: int, db_connection: object = None) -> None:
            super().__init__()

    detector = ParameterDetector()
    assert detector.detect(BusyTool) == ["thread_id", "db_connection"]
    given = detector.fill(BusyTool, {"thread_id": "t", "account_id": "a", "db_connection": None})
    assert given == {"thread_id": "t"}
    assert detector.missing(BusyTool, given) == ["size"]
    assert detector.detect(Tool) == []


def test_dependencies_come_first() -> None:
    """In the known table; each once."""
    resolver = DependencyResolver()
    assert resolver.of("agent_creation_tool") == ["sb_files_tool", "agent_config_tool"]
    order = resolver.resolve(["sb_presentation_tool", "browser_tool", "trigger_tool"])
    assert set(order.tools) == {
        "sb_presentation_tool",
        "browser_tool",
        "trigger_tool",
        "sb_files_tool",
        "web_search_tool",
        "image_search_tool",
        "agent_config_tool",
    }
    place = {name: number for number, name in enumerate(order.tools)}
    for name in order.tools:
        assert all(place[needed] < place[name] for needed in resolver.of(name))


def test_blocked_dependencies_are_skipped() -> None:
    """What was asked for stays."""
    order = DependencyResolver().resolve(
        ["browser_tool"], allowed=lambda name: name != "sb_files_tool"
    )
    assert order == Order(tools=["browser_tool"], skipped=["sb_files_tool"])


def test_a_cycle_is_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    """The rest is in order, the cycle comes last."""
    resolver = DependencyResolver({"a": ("b",), "b": ("a",), "c": ("d",)})
    with caplog.at_level(logging.WARNING, "toolcrib.kit"):
        order = resolver.resolve(["a", "c"])
    assert order == Order(tools=["d", "c", "a", "b"], cycle=["a", "b"])
    assert caplog.messages == ["these tools depend on each other: a, b"]


@pytest.mark.usefixtures("workshop")
async def test_activating_a_tool() -> None:
    """Registered with all its functions; again it is a success that does nothing."""
    thread = Thread()
    first = await JITLoader.activate_tool("web_search_tool", thread)
    assert isinstance(first, ActivationSuccess)
    assert (first.tool_name, first.function_count) == ("web_search_tool", 2)
    assert list(thread.tool_registry.tools) == ["web_search", "scrape_webpage"]
    before = dict(thread.tool_registry.tools)
    assert isinstance(await JITLoader.activate_tool("web_search_tool", thread), ActivationSuccess)
    assert thread.tool_registry.tools == before


@pytest.mark.usefixtures("workshop")
async def test_a_registry_will_do() -> None:
    """Where a tool wants nothing of its run."""
    registry = ToolRegistry(mcp_registry=MCPRegistry())
    await JITLoader.activate_tool("lathe_tool", registry)
    assert list(registry.tools) == ["turn"]


@pytest.mark.usefixtures("workshop")
async def test_method_selection() -> None:
    """Only enabled methods are registered."""
    thread = Thread()
    methods = {"web_search_tool": {"methods": {"scrape_webpage": False}}}
    done = await JITLoader.activate_tool(
        "web_search_tool", thread, jit_config=JITConfig({"agentpress_tools": methods})
    )
    assert isinstance(done, ActivationSuccess)
    assert done.function_count == 1
    assert list(thread.tool_registry.tools) == ["web_search"]


@pytest.mark.usefixtures("workshop")
async def test_constructor_arguments_come_from_the_run() -> None:
    """By name."""
    thread = Thread(account_id="acc")
    await JITLoader.activate_tool("vapi_voice_tool", thread)
    answer = await thread.tool_registry.get_available_functions()["list_calls"]()
    assert answer.output == '["thread-1","acc"]'


@pytest.mark.usefixtures("workshop")
@pytest.mark.parametrize(
    ("name", "kind", "message"),
    [
        ("no_such_tool", "tool_not_found", "Tool 'no_such_tool' not found"),
        ("lathe_tool", "blocked_by_config", "Tool 'lathe_tool' is not enabled for this agent"),
        ("apify_tool", "import_error", "Tool 'apify_tool' is not installed"),
        (
            "vapi_voice_tool",
            "parameter_error",
            "The constructor needs thread_id, which this run does not have",
        ),
    ],
)
async def test_what_cannot_be_activated(name: str, kind: str, message: str) -> None:
    """Says which error it is, and why."""
    config = JITConfig({"agentpress_tools": {"lathe_tool": False}})
    result = await JITLoader.activate_tool(name, Thread(thread_id=None), None, config)
    assert result == ActivationError(ActivationErrorType(kind), message, name)


@pytest.mark.usefixtures("workshop")
async def test_activating_several() -> None:
    """With dependencies that are installed; the others are skipped."""
    thread = Thread()
    batch = await JITLoader.activate_multiple(["browser_tool", "no_such_tool"], thread)
    assert batch.get_activated_tools() == ["sb_files_tool", "browser_tool"]
    assert batch.get_failed_tools() == ["no_such_tool"]
    assert {"create_file", "browser_act"} <= set(thread.tool_registry.tools)
    blocked = JITConfig({}, ["sb_files_tool"])
    again = await JITLoader.activate_multiple(["browser_tool"], Thread(), None, blocked)
    assert (again.get_activated_tools(), again.skipped) == (["browser_tool"], ["sb_files_tool"])


@pytest.mark.usefixtures("workshop")
async def test_native_and_mcp_tools_together() -> None:
    """The loader's names are MCP tools."""
    servers = Servers({"https://mail.example": {"SEND": send}})
    loader = MCPJITLoader({"custom_mcp": [mail()]}, registry=MCPRegistry(connector=servers))
    await loader.build_tool_map()
    batch = await JITLoader.activate_multiple_with_mcp(["SEND", "lathe_tool"], Thread(), loader)
    assert batch.get_activated_tools() == ["lathe_tool", "SEND"]
    assert batch.success_rate == 100.0
    alone = await JITLoader.activate_mcp_tool("SEND", loader)
    assert isinstance(alone, ActivationSuccess)


@pytest.mark.usefixtures("workshop")
async def test_core_tools_and_stats() -> None:
    """Of what is installed."""
    thread = Thread()
    assert JITLoader.get_core_tools() == ["message_tool"]
    await JITLoader.activate_multiple(["lathe_tool", "message_tool", "web_search_tool"], thread)
    assert JITLoader.get_activation_stats(thread) == {
        "total_tools": 6,
        "loaded_tools": 3,
        "load_percentage": 50.0,
        "loaded": ["message_tool", "web_search_tool", "lathe_tool"],
    }
