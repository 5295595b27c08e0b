"""The contract of ChatStore and DocumentStore."""

from __future__ import annotations

import pytest

from tests.contracts.people import People, add_agent
from toolcrib.agents.chats import Chat
from toolcrib.errors import Conflict, InvalidRequest, NotFound
from toolcrib.grants.agents import AgentDraft
from toolcrib.storage import Storage


async def add_chat(storage: Storage, people: People, agent_id: int, uuid: str) -> Chat:
    return await storage.chats.create(
        uuid=uuid,
        user_id=people.ann.id,
        agent_id=agent_id,
        group_id=people.first.id,
        context={"page_type": "html"},
    )


async def test_chat_comes_back(storage: Storage, people: People) -> None:
    """A chat is found as it was made; its uuid is its alone."""
    agent = await add_agent(storage, people)
    chat = await add_chat(storage, people, agent.id, "u1")
    assert chat.context == {"page_type": "html"}
    assert (chat.user_id, chat.agent_id, chat.group_id) == (
        people.ann.id,
        agent.id,
        people.first.id,
    )
    assert await storage.chats.find(chat.id) == chat
    assert await storage.chats.find(2**80) is None
    with pytest.raises(Conflict, match="'u1'"):
        await add_chat(storage, people, agent.id, "u1")


async def test_what_a_chat_refers_to_must_be_there(storage: Storage, people: People) -> None:
    """A missing user, agent or group is NotFound by number."""
    agent = await add_agent(storage, people)
    given = {"user_id": people.ann.id, "agent_id": agent.id, "group_id": None}
    for field, message in (("user_id", "user"), ("agent_id", "agent"), ("group_id", "group")):
        with pytest.raises(NotFound, match=f"no {message} 999"):
            await storage.chats.create(**{**given, field: 999}, uuid="u1", context={})


async def test_chats_are_listed_for_their_user(storage: Storage, people: People) -> None:
    """Only the user's own, of one agent if wanted, by id, in pages."""
    agent = await add_agent(storage, people)
    other = await storage.agents.create(AgentDraft(name="Other", creator_id=people.ann.id))
    a, b, c = [
        await add_chat(storage, people, agent_id, uuid)
        for agent_id, uuid in ((agent.id, "a"), (other.id, "b"), (agent.id, "c"))
    ]
    assert await storage.chats.list(people.ann.id) == [a, b, c]
    assert await storage.chats.list(people.ann.id, agent_id=agent.id) == [a, c]
    assert await storage.chats.list(people.ann.id, after=a.id, limit=1) == [b]
    assert await storage.chats.list(people.bob.id) == []


async def test_messages_come_back_in_order(storage: Storage, people: People) -> None:
    """Messages keep their order and tool calls; a chat that is not there is NotFound."""
    chat = await add_chat(storage, people, (await add_agent(storage, people)).id, "u1")
    call = {"call_id": "call_1", "name": "x", "arguments": {"a": 1}, "success": True, "text": "ok"}
    asked = await storage.chats.add_message(chat_id=chat.id, role="user", content="@tool:x()")
    told = await storage.chats.add_message(
        chat_id=chat.id, role="assistant", content="ok", tool_calls=[call]
    )
    assert told.tool_calls == [call]
    assert await storage.chats.messages(chat.id) == [asked, told]
    assert await storage.chats.messages(chat.id, after=asked.id, limit=1) == [told]
    assert await storage.chats.messages(999) == []
    with pytest.raises(NotFound, match="no chat 999"):
        await storage.chats.add_message(chat_id=999, role="user", content="x")
    with pytest.raises(InvalidRequest):
        await storage.chats.add_message(chat_id=chat.id, role="user", content="a\0b")


async def test_deleted_chat_takes_its_own_along(storage: Storage, people: People) -> None:
    """Messages and rows of documents go with the chat."""
    chat = await add_chat(storage, people, (await add_agent(storage, people)).id, "u1")
    await storage.chats.add_message(chat_id=chat.id, role="user", content="x")
    document = await storage.documents.create(
        chat_id=chat.id, user_id=people.ann.id, filename="a", mime_type="b", size=1, key="k"
    )
    assert await storage.chats.delete(chat.id)
    assert not await storage.chats.delete(chat.id)
    assert await storage.chats.messages(chat.id) == []
    assert await storage.documents.find(document.id) is None


async def test_document_comes_back(storage: Storage, people: People) -> None:
    """A document's row is found, listed for its chat and deleted once."""
    chat = await add_chat(storage, people, (await add_agent(storage, people)).id, "u1")
    made = [
        await storage.documents.create(
            chat_id=chat.id,
            user_id=people.ann.id,
            filename=f"Bericht {n}.pdf",
            mime_type="application/pdf",
            size=50 * 1024 * 1024,
            key=f"k{n}",
        )
        for n in range(3)
    ]
    assert (made[0].filename, made[0].size, made[0].key) == ("Bericht 0.pdf", 52_428_800, "k0")
    assert await storage.documents.find(made[0].id) == made[0]
    assert await storage.documents.list(chat.id) == made
    assert await storage.documents.list(chat.id, after=made[0].id, limit=1) == [made[1]]
    assert await storage.documents.delete(made[0].id)
    assert not await storage.documents.delete(made[0].id)
    assert await storage.documents.find(made[0].id) is None


async def test_document_needs_its_chat_and_user(storage: Storage, people: People) -> None:
    """A missing chat or user is NotFound by number."""
    chat = await add_chat(storage, people, (await add_agent(storage, people)).id, "u1")
    file = {"filename": "a", "mime_type": "b", "size": 1, "key": "k"}
    with pytest.raises(NotFound, match="no chat 999"):
        await storage.documents.create(chat_id=999, user_id=people.ann.id, **file)
    with pytest.raises(NotFound, match="no user 999"):
        await storage.documents.create(chat_id=chat.id, user_id=999, **file)
