"""The contract of AgentStore."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.contracts.people import People, add_agent, add_capability
from toolcrib.errors import Conflict, InvalidRequest, NotFound
from toolcrib.grants.agents import AgentDraft
from toolcrib.storage import Storage


async def test_agent_comes_back(storage: Storage, people: People) -> None:
    """Every field is there, the capabilities in the order they were given, each once."""
    a, b, c = [await add_capability(storage, code) for code in "abc"]
    made = await storage.agents.create(
        AgentDraft(
            name="Helper",
            model="openai:gpt",
            system_prompt="Help.",
            group_id=people.first.id,
            creator_id=people.ann.id,
            capability_ids=(c, a, c, b),
            mcp_mode="connect",
            tools_config={"x": {"on": True}},
            extra={"color": "red"},
        )
    )
    assert made.capability_ids == (c, a, b)
    assert (made.model, made.system_prompt, made.mcp_mode) == ("openai:gpt", "Help.", "connect")
    assert (made.tools_config, made.extra) == ({"x": {"on": True}}, {"color": "red"})
    assert await storage.agents.find(made.id) == made
    assert await storage.agents.find(2**80) is None


async def test_names_are_unique_within_group_or_creator(storage: Storage, people: People) -> None:
    """A name is taken in its group; without a group, among its creator's; nowhere else."""
    for group_id, creator in (
        (people.first.id, people.ann),
        (people.second.id, people.ann),
        (None, people.ann),
        (None, people.bob),
    ):
        draft = AgentDraft(name="Helper", group_id=group_id, creator_id=creator.id)
        await storage.agents.create(draft)
        with pytest.raises(Conflict, match="'HELPER'"):
            await storage.agents.create(replace(draft, name="HELPER"))
    with pytest.raises(Conflict, match=f"group {people.first.id}"):
        await storage.agents.create(
            AgentDraft(name="Helper", group_id=people.first.id, creator_id=people.bob.id)
        )


async def test_what_an_agent_refers_to_must_be_there(storage: Storage, people: People) -> None:
    """A missing creator, group or capability is NotFound by number; no agent is left behind."""
    draft = AgentDraft(name="Helper", creator_id=people.ann.id)
    for broken, message in (
        (replace(draft, creator_id=999), "no user 999"),
        (replace(draft, group_id=998), "no group 998"),
        (replace(draft, capability_ids=(997,)), "no capability 997"),
    ):
        with pytest.raises(NotFound, match=message):
            await storage.agents.create(broken)
    assert await storage.agents.list(group_ids=None, creator_id=None) == []


async def test_agents_are_listed_by_group_and_creator(storage: Storage, people: People) -> None:
    """Agents of the groups and groupless ones of the creator, by id, in pages."""
    made = {}
    for name, group_id, creator in (
        ("a", people.first.id, people.ann),
        ("b", people.second.id, people.ann),
        ("c", None, people.ann),
        ("d", None, people.bob),
    ):
        draft = AgentDraft(name=name, group_id=group_id, creator_id=creator.id)
        made[name] = await storage.agents.create(draft)
    first = frozenset({people.first.id})
    for group_ids, creator_id, expected in (
        (None, None, "abcd"),
        (first, people.ann.id, "ac"),
        (first, None, "a"),
        (frozenset[int](), people.bob.id, "d"),
        (frozenset[int](), None, ""),
    ):
        found = await storage.agents.list(group_ids=group_ids, creator_id=creator_id)
        assert found == [made[name] for name in expected]
    page = await storage.agents.list(group_ids=None, creator_id=None, after=made["a"].id, limit=2)
    assert page == [made["b"], made["c"]]


async def test_agent_is_updated(storage: Storage, people: People) -> None:
    """Fields and capabilities change together, the version counts up once."""
    a, b = [await add_capability(storage, code) for code in "ab"]
    agent = await add_agent(storage, people, a)
    changed = await storage.agents.update(
        agent.id, {"name": "Guide", "capability_ids": (b, a)}, expected_version=1
    )
    assert changed == replace(agent, name="Guide", capability_ids=(b, a), version=2)
    assert await storage.agents.find(agent.id) == changed
    emptied = await storage.agents.update(agent.id, {"capability_ids": ()})
    assert emptied == replace(changed, capability_ids=(), version=3)


async def test_agent_update_is_refused_with_the_reason(storage: Storage, people: People) -> None:
    """Stale version, missing row, the creator, a taken name, a missing capability: no change."""
    agent = await add_agent(storage, people)
    await storage.agents.create(
        AgentDraft(name="Other", group_id=people.first.id, creator_id=people.ann.id)
    )
    present = await storage.agents.update(agent.id, {"model": "x:y"})
    with pytest.raises(Conflict) as refused:
        await storage.agents.update(agent.id, {"model": "z:z"}, expected_version=1)
    assert refused.value.current == present
    with pytest.raises(NotFound, match="no agent 999"):
        await storage.agents.update(999, {"name": "x"})
    with pytest.raises(InvalidRequest) as unknown:
        await storage.agents.update(agent.id, {"creator_id": people.bob.id})
    assert unknown.value.where == "creator_id"
    with pytest.raises(Conflict, match="'other'"):
        await storage.agents.update(agent.id, {"name": "other"})
    with pytest.raises(NotFound, match="no capability 999"):
        await storage.agents.update(agent.id, {"model": "z:z", "capability_ids": (999,)})
    with pytest.raises(NotFound, match="no group 999"):
        await storage.agents.update(agent.id, {"group_id": 999})
    assert await storage.agents.find(agent.id) == present


async def test_deleted_agent_takes_its_own_along(storage: Storage, people: People) -> None:
    """Links, chats and messages go; capabilities stay; its id is not given out again."""
    capability_id = await add_capability(storage, "a")
    agent = await add_agent(storage, people, capability_id)
    chat = await storage.chats.create(
        uuid="u1", user_id=people.ann.id, agent_id=agent.id, group_id=None, context={}
    )
    await storage.chats.add_message(chat_id=chat.id, role="user", content="hello")
    assert await storage.agents.delete(agent.id)
    assert not await storage.agents.delete(agent.id)
    assert await storage.agents.find(agent.id) is None
    assert await storage.chats.find(chat.id) is None
    assert await storage.chats.messages(chat.id) == []
    assert await storage.capabilities.find(capability_id) is not None
    assert (await add_agent(storage, people)).id > agent.id


async def test_an_agent_of_another_version_stays(storage: Storage, people: People) -> None:
    """The conflict shows what is there; of nothing there is no version."""
    agent = await add_agent(storage, people)
    present = await storage.agents.update(agent.id, {"model": "x:y"})

    with pytest.raises(Conflict) as refused:
        await storage.agents.delete(agent.id, expected_version=1)

    assert (refused.value.current, await storage.agents.find(agent.id)) == (present, present)
    assert not await storage.agents.delete(999, expected_version=1)
    assert await storage.agents.delete(agent.id, expected_version=2)
