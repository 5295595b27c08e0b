"""What an agent's tools_config switches off, what it cannot, and what people's lists show."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

import pytest

from tests.support.chatting import Office, Talk, open_office
from tests.support.crib import Crib, Person, open_crib, problem_of
from toolcrib.kit import Tool, method_metadata, openapi_schema, tool_metadata
from toolcrib.plugin.registration import Registry
from toolcrib.settings import Settings


@tool_metadata("Lamp", "Light", weight=50, visible=True)
class LampTool(Tool):
    @openapi_schema(name="light_on", description="On")
    @method_metadata("On", "Switches it on", is_core=True)
    async def switch_on(self) -> Any:
        return self.success_response("on")

    @openapi_schema(name="light_off", description="Off")
    @method_metadata("Off", "Switches it off", visible=False)
    async def switch_off(self) -> Any:
        return self.success_response("off")

    @openapi_schema(name="dim", description="Dim")
    async def dim(self) -> Any:
        return self.success_response("dim")


@tool_metadata("Bell", "Ring", weight=5)
class BellTool(Tool):
    @openapi_schema(name="ring", description="Ring")
    async def ring(self) -> Any:
        return self.success_response("ring")


class BrowserTool(Tool):
    """Goes by the name of a group of the catalogue."""

    @openapi_schema(name="look", description="Look")
    async def look(self) -> Any:
        return self.success_response("seen")

    @openapi_schema(name="click", description="Click")
    async def click(self) -> Any:
        return self.success_response("clicked")


async def knock() -> str:
    """A plain function."""
    return "knock"


class House:
    def __init__(self, crib: Crib, user: Person, agent: int) -> None:
        self.crib = crib
        self.user = user
        self.path = f"/api/v1/agents/{agent}"

    async def tools(self, config: dict[str, Any]) -> list[str]:
        """What the agent offers with this selection."""
        answer = await self.user.api.patch(self.path, json={"tools_config": config})
        assert answer.status_code == 200, answer.text
        listed = await self.user.api.get(f"{self.path}/tools")
        return [tool["name"] for tool in listed.json()["tools"]]


@pytest.fixture
async def house(settings: Settings) -> AsyncGenerator[House]:
    registry = Registry()
    registry.register_tools("house", [LampTool, BellTool, BrowserTool, knock], name="House")
    async with open_crib(settings, registry=registry) as crib:
        user = await crib.somebody(1)
        body = {"name": "House", "code": "house", "type": "internal", "access_type": "system"}
        made = await user.api.post("/api/super-admin/capabilities", json=body)
        assert made.status_code == 201, made.text
        agent = await user.api.post("/api/v1/agents", json={"name": "a", "capabilities": ["house"]})
        yield House(crib, user, agent.json()["id"])


ALL = ["ring", "light_on", "light_off", "dim", "look", "click", "knock"]


@pytest.mark.parametrize(
    ("config", "gone"),
    [
        ({}, []),
        ({"browser_tool": True, "no_such_tool": False}, []),
        ({"browser_tool": False}, ["look", "click"]),
        ({"browser_tool": {"enabled": False}}, ["look", "click"]),
        ({"browser_tool": {"methods": {"click": False}}}, ["click"]),
        ({"browser_tool": {"methods": {"click": {"enabled": False}, "look": True}}}, ["click"]),
        ({"browser_tool": {"enabled": True, "methods": {}}}, []),
        ({"knock": False, "dim": False}, ["dim", "knock"]),
        ({"light_on": False, "light_off": False}, ["light_off"]),
    ],
)
async def test_what_is_switched_off(house: House, config: dict[str, Any], gone: list[str]) -> None:
    """Kortix's form for groups, a name for every other tool; a core method stays."""
    assert await house.tools(config) == [name for name in ALL if name not in gone]


async def test_a_switched_off_tool_is_gone_for_calls_and_explained(house: House) -> None:
    """It cannot be called, and explain names the step that decided."""
    await house.tools({"browser_tool": False})
    answer = await house.user.api.post(f"{house.path}/tools/look/call", json={})
    assert problem_of(answer)[0] == 404
    agent = house.path.rpartition("/")[2]
    told = await house.user.api.get("/api/v1/explain", params={"agent": agent, "tool": "look"})
    last = told.json()["steps"][-1]
    assert (told.json()["visible"], last["step"], last["verdict"]) == (
        False,
        "selection",
        "stopped",
    )
    await house.tools({})
    answer = await house.user.api.post(f"{house.path}/tools/look/call", json={})
    assert answer.json()["text"] == "seen"


@pytest.mark.parametrize(
    ("config", "where"),
    [
        ({"browser_tool": "off"}, "tools_config.browser_tool"),
        ({"browser_tool": None}, "tools_config.browser_tool"),
        ({"a": {"enabled": 0}}, "tools_config.a.enabled"),
        ({"a": {"on": False}}, "tools_config.a.on"),
        ({"a": {"methods": ["b"]}}, "tools_config.a.methods"),
        ({"a": {"methods": {"b": "no"}}}, "tools_config.a.methods.b"),
        ({"a": {"methods": {"b": {"methods": {}}}}}, "tools_config.a.methods.b.methods"),
    ],
)
async def test_another_form_is_refused(house: House, config: dict[str, Any], where: str) -> None:
    """With its place, when an agent is made and when it is changed."""
    answer = await house.user.api.patch(house.path, json={"tools_config": config})
    assert problem_of(answer) == (422, "invalid_options", where)
    body = {"name": "b", "tools_config": config}
    answer = await house.user.api.post("/api/v1/agents", json=body)
    assert problem_of(answer) == (422, "invalid_options", where)


async def test_peoples_lists_show_what_is_visible(house: House) -> None:
    """What is not visible is left out there, and the model has it all the same."""
    group = await house.crib.desk.groups.create(house.crib.operator, name="G")
    path = "/api/super-admin/capabilities/registered-tools"
    answer = await house.user.api.get(path, params={"group_id": group.id})
    (row,) = [row for row in answer.json()["items"] if row["code"] == "house"]
    assert row["tools"] == ["light_on", "dim", "knock"]
    assert await house.tools({}) == ALL


@pytest.fixture
async def office(settings: Settings) -> AsyncGenerator[Office]:
    async with open_office(settings, ["core", "memory"]) as opened:
        yield opened


async def test_core_tools_need_their_grant(office: Office) -> None:
    """No selection takes them away; taking away the capability does."""
    chief = await office.crib.person("boss", "admin", office.group)
    talk: Talk = await office.talk(chief)
    path = f"/api/v1/agents/{office.agent}"
    off = {"message_tool": False, "task_list_tool": {"methods": {"view_tasks": False}}}
    await chief.api.patch(path, json={"tools_config": off | {"memory_tool": False}})
    names = [tool["name"] for tool in (await chief.api.get(f"{path}/tools")).json()["tools"]]
    assert {"ask", "view_tasks", "initialize_tools"} <= set(names)
    assert "remember" not in names
    assert await talk.ok("wait", seconds=0) == "Waited 0 seconds."
    await chief.api.put(f"{path}/capabilities", json={"capabilities": ["memory"]})
    answer = await chief.api.post(f"{path}/tools/ask/call", json={"arguments": {"text": "?"}})
    assert answer.status_code == 404
