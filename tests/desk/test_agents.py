"""Agents: whose they are, what they may hold, and what goes when they go."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.tenants import Tenants
from toolcrib.catalog.capabilities import CapabilityDraft
from toolcrib.errors import Conflict, InvalidOptions, InvalidRequest, NotFound, NotGranted
from toolcrib.grants.agents import AgentDraft


async def chunks(data: bytes):
    yield data


async def test_members_use_an_agent_and_its_creator_changes_it(tenants: Tenants) -> None:
    """Another member sees it and may not change it; another tenant does not see it."""
    agents = tenants.crib.desk.agents
    agent = await tenants.agent(tenants.admin_a, tenants.a)

    assert await agents.get(tenants.user_a.caller, agent.id) == agent
    with pytest.raises(NotGranted):
        await agents.update(tenants.user_a.caller, agent.id, {"name": "mine"})
    with pytest.raises(NotGranted):
        await agents.delete(tenants.user_a.caller, agent.id)
    with pytest.raises(NotFound):
        await agents.get(tenants.admin_b.caller, agent.id)
    assert [row.id for row in await agents.list(tenants.admin_b.caller)] == []
    renamed = await agents.update(tenants.admin_a.caller, agent.id, {"name": " Desk "})
    assert (renamed.name, renamed.version) == ("Desk", 2)


async def test_an_agent_is_made_in_a_group_of_ones_own(tenants: Tenants) -> None:
    """Another's group is not found, and an agent stays in the group it was made in."""
    agents = tenants.crib.desk.agents
    caller = tenants.user_a.caller
    with pytest.raises(NotFound):
        await agents.create(caller, AgentDraft(name="x", creator_id=0, group_id=tenants.b))
    with pytest.raises(NotFound):
        await agents.create(tenants.root.caller, AgentDraft(name="x", creator_id=0, group_id=999))
    with pytest.raises(InvalidRequest):
        await agents.create(caller, AgentDraft(name=" ", creator_id=0))
    agent = await agents.create(caller, AgentDraft(name="x", creator_id=0))
    assert agent.creator_id == tenants.user_a.id
    with pytest.raises(InvalidOptions):
        await agents.update(caller, agent.id, {"group_id": tenants.a})
    with pytest.raises(Conflict):
        await agents.create(caller, AgentDraft(name="X", creator_id=0))


async def test_new_agents_get_the_default_capabilities(tenants: Tenants) -> None:
    """Those of their own group and of everybody, behind the ones that were named."""
    desk = tenants.crib.desk
    draft = CapabilityDraft(name="d", code="greet", is_default=True)
    everybodys = await desk.capabilities.create(
        tenants.root.caller, replace(draft, access_type="system")
    )
    for group in (tenants.a, tenants.b):
        await desk.capabilities.create(
            tenants.root.caller, replace(draft, access_type="group", group_id=group)
        )
    agent = await tenants.agent(tenants.user_a, tenants.a, "notes")

    rows = await tenants.crib.platform.storage.capabilities.find_many(agent.capability_ids)
    assert [row.code for row in rows] == ["notes", "greet", "greet"]
    assert {row.group_id for row in rows} == {tenants.a, None}
    assert everybodys.id in agent.capability_ids


async def test_a_code_means_the_nearest_row(tenants: Tenants) -> None:
    """Group before private before user before system."""
    desk = tenants.crib.desk
    draft = CapabilityDraft(name="d", code="greet")
    made = {}
    for kind in ("system", "user", "private", "group"):
        agent = await desk.agents.create(
            tenants.admin_a.caller,
            AgentDraft(name=f"before {kind}", creator_id=0, group_id=tenants.a),
            capabilities=list(made.values())[-1:],
        )
        group_id = tenants.a if kind == "group" else None
        caller = tenants.admin_a.caller if kind in {"private", "group"} else tenants.root.caller
        row = await desk.capabilities.create(
            caller, replace(draft, access_type=kind, group_id=group_id)
        )
        made[kind] = row.id
        held = await desk.agents.set_capabilities(tenants.admin_a.caller, agent.id, ["greet"])
        assert held.capability_ids == (row.id,)


async def test_another_tenants_capability_cannot_be_attached(tenants: Tenants) -> None:
    """Neither by its id nor by its code, and the refusal says nothing about it."""
    desk = tenants.crib.desk
    theirs = await desk.capabilities.create_from_registered(
        tenants.admin_b.caller, code="notes", group_id=tenants.b
    )
    agent = await tenants.agent(tenants.user_a, tenants.a)

    for wanted in (theirs.id, 999):
        with pytest.raises(InvalidOptions) as refused:
            await desk.agents.set_capabilities(tenants.user_a.caller, agent.id, [wanted])
        message = f"There is no capability {wanted} that this agent could hold."
        assert (refused.value.message, refused.value.where) == (message, "capabilities.0")
    with pytest.raises(InvalidOptions) as refused:
        await desk.agents.set_capabilities(tenants.user_a.caller, agent.id, ["notes"])
    assert "from-registered-tool" in (refused.value.hint or "")


async def test_a_deleted_agent_takes_chats_documents_and_tokens_along(tenants: Tenants) -> None:
    """No bytes stay behind without a row, and its token opens nothing; its calls stay."""
    desk, platform = tenants.crib.desk, tenants.crib.platform
    agent = await tenants.agent(tenants.admin_a, tenants.a, "greet")
    bound = await tenants.crib.somebody(tenants.user_a.id, agent_id=agent.id)
    chat = await tenants.chat(tenants.user_a, agent)
    document = await desk.documents.add(
        tenants.user_a.caller, chat.id, filename="f", mime_type="", chunks=chunks(b"bytes")
    )
    await desk.tools.call(tenants.user_a.caller, agent.id, "hello", {"name": "you"})

    await desk.agents.delete(tenants.admin_a.caller, agent.id)

    assert list((platform.settings.data_dir / "documents").rglob(document.key)) == []
    assert list(await desk.chats.list(tenants.user_a.caller)) == []
    assert (await bound.api.get("/api/v1/me")).status_code == 401
    assert len(await desk.calls.list(tenants.user_a.caller)) == 1
