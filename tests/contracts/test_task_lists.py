"""The contract of TaskStore and MemoryStore, and of what a chat gained with them."""

from __future__ import annotations

import asyncio

import pytest

from tests.contracts.people import People, add_agent
from tests.contracts.test_chats import add_chat
from toolcrib.agents.memories import MOST_MEMORIES
from toolcrib.agents.tasks import MOST_TASKS
from toolcrib.errors import InvalidRequest, NotFound
from toolcrib.storage import Storage


async def some_chat(storage: Storage, people: People, uuid: str = "u1") -> int:
    agents = await storage.agents.list(group_ids=None, creator_id=None)
    agent = agents[0] if agents else await add_agent(storage, people)
    return (await add_chat(storage, people, agent.id, uuid)).id


async def test_tasks_come_back_in_order(storage: Storage, people: People) -> None:
    """Sections and tasks stand as they were made, all of them pending."""
    chat = await some_chat(storage, people)
    first = await storage.tasks.add(chat, "Plan", ["look", "think"])
    second = await storage.tasks.add(chat, "Do", ["act"])
    assert await storage.tasks.list(chat) == [*first, *second]
    assert [(t.section, t.content, t.status) for t in await storage.tasks.list(chat)] == [
        ("Plan", "look", "pending"),
        ("Plan", "think", "pending"),
        ("Do", "act", "pending"),
    ]


async def test_tasks_change(storage: Storage, people: People) -> None:
    """What is not named stays; the time of the change is kept."""
    chat = await some_chat(storage, people)
    look, think = await storage.tasks.add(chat, "Plan", ["look", "think"])
    changed = await storage.tasks.update(chat, [look.id], status="completed", section="Done")
    assert [(t.section, t.content, t.status) for t in changed] == [("Done", "look", "completed")]
    assert changed[0].updated_at > look.updated_at
    assert (await storage.tasks.list(chat))[1] == think


async def test_another_chats_tasks_are_not_there(storage: Storage, people: People) -> None:
    """Neither changed nor deleted, and then nothing at all is."""
    mine, theirs = [await some_chat(storage, people, uuid) for uuid in ("u1", "u2")]
    (own,) = await storage.tasks.add(mine, "A", ["a"])
    (other,) = await storage.tasks.add(theirs, "B", ["b"])
    with pytest.raises(NotFound, match=f"no task {other.id}"):
        await storage.tasks.update(mine, [own.id, other.id], status="cancelled")
    with pytest.raises(NotFound, match=f"no task {other.id}"):
        await storage.tasks.delete(mine, [own.id, other.id])
    assert await storage.tasks.list(mine) == [own]
    assert await storage.tasks.list(theirs) == [other]
    await storage.tasks.delete(mine, [own.id])
    assert await storage.tasks.list(mine) == []
    assert await storage.tasks.clear(theirs) == 1


async def test_a_list_has_an_end(storage: Storage, people: People) -> None:
    """All or none, also when several add at once."""
    chat = await some_chat(storage, people)
    await storage.tasks.add(chat, "Many", ["x"] * (MOST_TASKS - 10))
    with pytest.raises(InvalidRequest, match=str(MOST_TASKS)):
        await storage.tasks.add(chat, "More", ["y"] * 11)
    answers = await asyncio.gather(
        *(storage.tasks.add(chat, "More", ["y"] * 4) for _ in range(5)), return_exceptions=True
    )
    assert sum(isinstance(answer, InvalidRequest) for answer in answers) == 3
    assert len(await storage.tasks.list(chat)) == MOST_TASKS - 2
    with pytest.raises(NotFound, match="no chat 999"):
        await storage.tasks.add(999, "None", ["z"])


async def test_tasks_go_with_their_chat(storage: Storage, people: People) -> None:
    """Nothing is left of them."""
    chat = await some_chat(storage, people)
    await storage.tasks.add(chat, "A", ["a"])
    await storage.chats.delete(chat)
    assert await storage.tasks.list(chat) == []


async def test_memories_are_the_users_own(storage: Storage, people: People) -> None:
    """Listed and forgotten by their user alone."""
    memory = await storage.memories.add(people.ann.id, "likes tea")
    assert await storage.memories.list(people.ann.id) == [memory]
    assert await storage.memories.list(people.bob.id) == []
    assert await storage.memories.delete(people.bob.id, memory.id) is False
    assert await storage.memories.delete(people.ann.id, memory.id) is True
    with pytest.raises(NotFound, match="no user 999"):
        await storage.memories.add(999, "nobody")


async def test_memories_have_an_end(storage: Storage, people: People) -> None:
    """The one too many is refused and says what to do."""
    for number in range(MOST_MEMORIES):
        await storage.memories.add(people.ann.id, str(number))
    with pytest.raises(InvalidRequest, match="Forget some"):
        await storage.memories.add(people.ann.id, "one more")


async def test_a_chat_gets_a_title_and_tools(storage: Storage, people: People) -> None:
    """Tools are added once each; several who add at once lose nothing."""
    chat = await some_chat(storage, people)
    assert (await storage.chats.rename(chat, "Boats")).title == "Boats"
    await asyncio.gather(*(storage.chats.add_tools(chat, [name]) for name in "abc"))
    found = await storage.chats.add_tools(chat, ["a", "d"])
    assert sorted(found.dynamic_tools) == ["a", "b", "c", "d"]
    assert await storage.chats.find(chat) == found
    with pytest.raises(NotFound, match="no chat 999"):
        await storage.chats.rename(999, "Nothing")
    with pytest.raises(NotFound, match="no chat 999"):
        await storage.chats.add_tools(999, ["a"])
