"""Tools that change agents act with their caller's rights, and with no others."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest

from tests.support.chatting import Office, Talk, open_office
from toolcrib.catalog.capabilities import CapabilityDraft
from toolcrib.settings import Settings


@pytest.fixture
async def office(settings: Settings) -> AsyncGenerator[Office]:
    async with open_office(settings, ["core", "agent_builder"]) as opened:
        yield opened


@pytest.fixture
async def chief(office: Office) -> Talk:
    """Somebody who administers the group."""
    return await office.talk(await office.crib.person("boss", "admin", office.group))


@pytest.fixture
async def member(office: Office) -> Talk:
    return await office.talk(await office.person("ada"))


async def test_the_configuration_is_shown(office: Office, member: Talk) -> None:
    """To everybody who may use the agent."""
    seen = await member.ok("get_current_agent_config")
    assert (seen["id"], seen["name"], seen["group_id"]) == (office.agent, "clerk", office.group)
    assert seen["capabilities"] == ["core", "agent_builder"]


async def test_who_may_changes_it(office: Office, chief: Talk, member: Talk) -> None:
    """An admin of the group does; a member is refused, and nothing is changed."""
    changed = await chief.ok("update_agent", system_prompt="Be kind.", name="Kind clerk")
    assert (changed["system_prompt"], changed["name"]) == ("Be kind.", "Kind clerk")
    code, words = await member.failed("update_agent", system_prompt="Be rude.")
    assert code == "not_granted"
    assert f"may not change agent {office.agent}" in words
    row = await chief.who.api.get(f"/api/v1/agents/{office.agent}")
    assert (row.json()["system_prompt"], row.json()["name"]) == ("Be kind.", "Kind clerk")


async def test_nothing_named_and_nothing_known(chief: Talk) -> None:
    """A change needs a field; a selection needs its form; a refused code leaves all as it was."""
    code, words = await chief.failed("update_agent")
    assert (code, "Name a field to change" in words) == ("invalid_arguments", True)
    code, words = await chief.failed("update_agent", tools_config={"message_tool": "off"})
    assert (code, "tools_config.message_tool" in words) == ("invalid_arguments", True)
    code, words = await chief.failed("update_agent", name="other", capabilities=["no_such_code"])
    assert (code, "no_such_code" in words) == ("invalid_arguments", True)
    await chief.failed("update_agent", capabilities=["agent_builder"], tools_config={"x": "off"})
    await chief.failed("update_agent", capabilities=["agent_builder"], name=" ")
    seen = await chief.ok("get_current_agent_config")
    assert (seen["name"], seen["capabilities"]) == ("clerk", ["core", "agent_builder"])


async def test_a_selection_made_by_the_agent_itself(office: Office, chief: Talk) -> None:
    """It counts from the next call on; core tools stay whatever it says."""
    config = {"agent_creation_tool": False, "task_list_tool": False}
    await chief.ok("update_agent", tools_config=config)
    path = f"/api/v1/agents/{office.agent}/tools"
    answer = (await chief.who.api.get(path)).json()
    names = [tool["name"] for tool in answer["tools"]]
    assert "view_tasks" in names
    assert "create_new_agent" not in names
    assert answer["skipped"] == [
        {
            "ref": "native:agent_builder/create_new_agent",
            "reason": "the agent's tools_config switches it off",
            "fix": "Change the agent's tools_config with PATCH /api/v1/agents/{id}.",
        }
    ]


async def test_a_new_agent_of_the_group(office: Office, member: Talk) -> None:
    """With the model of this one, in the group of this one, held by whoever asked for it."""
    made = await member.ok(
        "create_new_agent", name="Helper", system_prompt="Help.", capabilities=["core"]
    )
    assert (made["group_id"], made["capabilities"]) == (office.group, ["core"])
    assert made["model"] == "toolcrib:direct"
    row = (await member.who.api.get(f"/api/v1/agents/{made['id']}")).json()
    assert (row["creator_id"], row["name"]) == (member.who.id, "Helper")
    private = await member.ok("create_new_agent", name="Mine", system_prompt="Hush.", private=True)
    assert private["group_id"] is None


async def test_a_new_agent_gets_nothing_beyond_the_caller(office: Office, member: Talk) -> None:
    """Neither another group's capability by id, nor a code nobody granted, nor a package."""
    crib = office.crib
    other = await crib.desk.groups.create(crib.operator, name="Others")
    theirs = await crib.desk.capabilities.create_from_registered(
        crib.operator, code="settings", group_id=other.id
    )
    private = await crib.desk.capabilities.create(
        crib.operator, CapabilityDraft(name="p", code="memory", access_type="private")
    )
    for wanted in (theirs.id, private.id, "settings", "memory", "installed__secret_tool", 999):
        code, words = await member.failed(
            "create_new_agent", name="Greedy", system_prompt="x", capabilities=["core", wanted]
        )
        assert code == "invalid_arguments", wanted
        assert str(wanted) in words or "secret_tool" in words
    listed = (await member.who.api.get("/api/v1/agents")).json()["items"]
    assert [agent["name"] for agent in listed] == ["clerk"]


async def test_a_bound_token_makes_nothing(office: Office, member: Talk) -> None:
    """A token for one agent changes nothing, by whatever way."""
    bound = await office.crib.somebody(member.who.id, agent_id=office.agent)
    talk = Talk(crib=office.crib, who=bound, agent=office.agent, chat=member.chat)
    code, _ = await talk.failed("create_new_agent", name="n", system_prompt="x")
    assert code == "not_granted"
    code, _ = await talk.failed("update_agent", name="n")
    assert code == "not_granted"
    assert (await talk.ok("get_current_agent_config"))["name"] == "clerk"
