"""Kortix's catalogue finds the tools in the box: by its own names, modules and import lines."""

from __future__ import annotations

import importlib
from collections.abc import AsyncGenerator, Iterator

import pytest

from tests.support.crib import Crib, open_crib
from toolcrib.builtin.codes import CLASSES, CODES, class_of
from toolcrib.compat import kortix
from toolcrib.kit import ToolResult
from toolcrib.kit.announced import GROUP, OURS, announced
from toolcrib.kit.catalogue import forget_classes
from toolcrib.kit.guides import get_tool_guide_registry
from toolcrib.kit.tool import method_metadata_of, names_of, schemas_of
from toolcrib.plugin.finding import find_plugins
from toolcrib.plugin.registration import Registry
from toolcrib.settings import Settings
from toolcrib.testing.replies import json_answer
from toolcrib.testing.upstream import RecordingUpstream

FUNCTIONS = {
    "expand_msg_tool": "expand_message discover_mcp_tools execute_mcp_tool initialize_tools",
    "message_tool": "ask complete wait",
    "task_list_tool": "view_tasks create_tasks update_tasks delete_tasks clear_all",
    "web_search_tool": "web_search scrape_webpage",
    "image_search_tool": "image_search",
    "vapi_voice_tool": "make_phone_call end_call get_call_details list_calls",
    "agent_config_tool": "update_agent get_current_agent_config",
    "agent_creation_tool": "create_new_agent",
}
"""Groups of the catalogue that are in the box, with what a model calls."""


@pytest.fixture(autouse=True)
def _installed() -> Iterator[None]:
    kortix.install()
    forget_classes()
    get_tool_guide_registry().forget()
    yield
    kortix.uninstall()
    forget_classes()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_group_of_the_catalogue(name: str) -> None:
    """Kortix's module gives the class in the box, with just these functions."""
    from core.tools.tool_registry import ALL_TOOLS, get_all_tools, get_tool_class, get_tool_info

    known, module, kind = get_tool_info(name)
    assert (known, module, kind) in ALL_TOOLS
    assert module.startswith("core.tools.")
    imported = getattr(importlib.import_module(module), kind)
    assert imported is get_all_tools()[name] is get_tool_class(module, kind)
    assert imported.__module__.startswith("toolcrib.builtin.")
    assert sorted(names_of(imported)) == sorted(FUNCTIONS[name].split())


@pytest.mark.parametrize("name", CLASSES)
def test_every_class_says_what_it_is(name: str) -> None:
    """For people (name, icon, color, weight, category) and for the model (a guide, schemas)."""
    from core.tools.tool_registry import get_tool_metadata_summary, get_tool_usage_guide
    from core.utils.tool_discovery import get_tool_metadata

    described = get_tool_metadata(name)
    summary = get_tool_metadata_summary(name)
    assert summary == {key: described[key] for key in ("display_name", "description")}
    assert described["icon"]
    assert described["color"]
    assert len(get_tool_usage_guide(name)) > 60
    kind = class_of(CLASSES[name])
    assert kind.__tool_metadata__.category in {
        "core",
        "sandbox",
        "search",
        "utility",
        "agent_builder",
    }
    assert method_metadata_of(kind).keys() == schemas_of(kind).keys()
    for schemas in schemas_of(kind).values():
        function = schemas[0].schema["function"]
        assert function["description"]
        told = function["parameters"]["properties"].values()
        assert all(rule["description"] for rule in told)


def test_what_is_announced_is_what_is_registered() -> None:
    """The entry points of the distribution and the table of codes name the same classes."""
    ours = {one.name: one.value for one in find_plugins((GROUP,)) if one.distribution == OURS}
    assert ours == {name: f"toolcrib.builtin.{place}" for name, place in CLASSES.items()}
    assert {name for code in CODES for name in code.tools} == set(CLASSES)
    assert set(ours) <= set(announced())


def test_core_is_core() -> None:
    """What no selection can switch off."""
    from core.utils.tool_discovery import get_tools_metadata

    core = {one["name"] for one in get_tools_metadata() if one["is_core"]}
    assert {"message_tool", "task_list_tool", "expand_msg_tool"} <= core
    assert not core & {"web_search_tool", "vapi_voice_tool", "agent_config_tool"}


@pytest.fixture
async def upstream() -> AsyncGenerator[RecordingUpstream]:
    async with RecordingUpstream() as opened:
        found = {"organic": [{"title": "News", "link": "https://n.example", "snippet": "today"}]}
        opened.reply("/search", json_answer(found))
        yield opened


async def search() -> ToolResult:
    """The page's own lines: a fresh registry, a native group by its name."""
    from core.agentpress.tool_registry import ToolRegistry

    functions = ToolRegistry().get_available_functions()
    return await functions["web_search_tool"](query="AI news")


async def test_a_group_is_called_by_name(settings: Settings, upstream: RecordingUpstream) -> None:
    """Inside a call with the caller's key; outside, the result says what is missing."""
    outside = await search()
    assert (outside.success, "open_platform() is missing" in outside.output) == (False, True)
    chosen = settings.model_copy(
        update={"egress_allow": (upstream.place,), "serper_url": upstream.url("")}
    )
    registry = Registry()

    async def look_up() -> str:
        """Search as code written for Kortix does."""
        return str((await search()).output)

    registry.register_tools("look", [look_up])
    async with open_crib(chosen, registry=registry) as crib:
        nobody = await search()
        assert nobody.success is False
        assert "'SERPER_API_KEY' is a user's or a group's" in nobody.output
        text = await called(crib)
    assert '"title":"News"' in text
    assert upstream.requests[0].header("X-API-KEY") == "key-0123456789"


async def called(crib: Crib) -> str:
    """The text of a call of `look_up` by somebody with a key."""
    group = await crib.desk.groups.create(crib.operator, name="G")
    await crib.desk.capabilities.create_from_registered(
        crib.operator, code="look", group_id=group.id
    )
    ada = await crib.person("ada", "user", group.id)
    body = {"value": "key-0123456789"}
    await ada.api.put("/api/v1/settings/SERPER_API_KEY", json=body)
    made = {"name": "a", "group_id": group.id, "capabilities": ["look"]}
    agent = (await ada.api.post("/api/v1/agents", json=made)).json()["id"]
    path = f"/api/v1/agents/{agent}/tools/look_up/call"
    answer = (await ada.api.post(path, json={"arguments": {}})).json()
    assert answer["success"], answer
    return answer["text"]
