"""Chats: private to their user, with a context that every call in them has."""

from __future__ import annotations

import pytest

from tests.support.crib import Crib, open_crib
from tests.support.tenants import Tenants, make_tenants
from toolcrib.errors import GroupRequired, InvalidRequest, NotFound, NotGranted
from toolcrib.grants.agents import AgentDraft
from toolcrib.isolation.sandboxes import Key
from toolcrib.plugin.registration import Registry
from toolcrib.settings import Settings


async def test_a_chat_is_its_users_alone(tenants: Tenants) -> None:
    """Neither the group's admin nor a super-admin reads it."""
    chats = tenants.crib.desk.chats
    agent = await tenants.agent(tenants.user_a, tenants.a, "greet")
    chat = await tenants.chat(tenants.user_a, agent)

    for person in (tenants.admin_a, tenants.root, tenants.user_b):
        for attempt in (
            chats.get(person.caller, chat.id),
            chats.send(person.caller, chat.id, "@tool:hello"),
            chats.messages(person.caller, chat.id),
            chats.delete(person.caller, chat.id),
        ):
            with pytest.raises(NotFound):
                await attempt
        assert list(await chats.list(person.caller)) == []
    assert [row.id for row in await chats.list(tenants.user_a.caller)] == [chat.id]


async def test_a_chat_needs_an_agent_that_its_user_may_use(tenants: Tenants) -> None:
    """Another tenant's agent is not found."""
    agent = await tenants.agent(tenants.user_a, tenants.a)
    with pytest.raises(NotFound):
        await tenants.chat(tenants.user_b, agent)


async def test_what_runs_for_a_chat_ends_with_its_agent(tenants: Tenants) -> None:
    """As it does with the chat, whoever's it is."""
    crib = tenants.crib
    agent = await tenants.agent(tenants.admin_a, tenants.a, "greet")
    other = await tenants.agent(tenants.user_a, tenants.a, "greet")
    mine = [await tenants.chat(who, agent) for who in (tenants.admin_a, tenants.user_a)]
    stays = await tenants.chat(tenants.user_a, other)
    ended: list[int] = []

    async def end(chat: Key) -> None:
        ended.append(chat.number)

    crib.platform.rooms.when_chat_ends(end)
    await crib.desk.agents.delete(tenants.admin_a.caller, agent.id)
    assert ended == [chat.id for chat in mine]
    assert await crib.desk.chats.get(tenants.user_a.caller, stays.id) == stays


async def test_a_direct_call_is_answered_and_kept(tenants: Tenants) -> None:
    """The message, the reply and its tool call are all there afterwards."""
    chats = tenants.crib.desk.chats
    agent = await tenants.agent(tenants.user_a, tenants.a, "greet")
    chat = await tenants.chat(tenants.user_a, agent)
    caller = tenants.user_a.caller

    reply = await chats.send(caller, chat.id, '@tool:hello({"name": "you"})')

    assert (reply.role, reply.content) == ("assistant", "hello you")
    call = dict(reply.tool_calls[0])
    record = await tenants.crib.desk.calls.get(caller, call.pop("call_id"))
    assert call == {
        "name": "hello",
        "arguments": {"name": "you"},
        "success": True,
        "text": "hello you",
    }
    assert (record.chat_id, record.surface, record.success) == (chat.id, "chat", True)
    kept = await chats.messages(caller, chat.id)
    assert [m.role for m in kept] == ["user", "assistant"]
    assert kept[0].content == '@tool:hello({"name": "you"})'


async def test_a_failing_tool_is_a_reply(tenants: Tenants) -> None:
    """The chat goes on, and the reply says what happened."""
    agent = await tenants.agent(tenants.user_a, tenants.a, "notes")
    chat = await tenants.chat(tenants.user_a, agent)

    reply = await tenants.crib.desk.chats.send(tenants.user_a.caller, chat.id, "@tool:lose_note")

    assert reply.tool_calls[0]["success"] is False
    assert "the note is gone" in reply.content


async def test_an_unknown_tool_is_answered_with_those_there_are(tenants: Tenants) -> None:
    """Somebody who mistypes a name learns the right ones."""
    agent = await tenants.agent(tenants.user_a, tenants.a, "notes", "greet")
    chat = await tenants.chat(tenants.user_a, agent)

    reply = await tenants.crib.desk.chats.send(tenants.user_a.caller, chat.id, "@tool:helo()")

    assert reply.content == (
        "There is no tool 'helo' here. Tools of this agent: hello, add_note, lose_note."
    )
    assert list(reply.tool_calls) == []


@pytest.mark.parametrize("text", ["hello", "@tool:hello({", "@tool:", "@tool:hello([1])"])
async def test_what_is_no_direct_call_is_refused_and_not_kept(tenants: Tenants, text: str) -> None:
    """No model answers yet, and half a call is none."""
    chats = tenants.crib.desk.chats
    agent = await tenants.agent(tenants.user_a, tenants.a, "greet")
    chat = await tenants.chat(tenants.user_a, agent)

    with pytest.raises(InvalidRequest) as refused:
        await chats.send(tenants.user_a.caller, chat.id, text)

    assert refused.value.where == "content"
    assert list(await chats.messages(tenants.user_a.caller, chat.id)) == []


async def test_the_context_is_checked_and_kept_without_the_environment(tenants: Tenants) -> None:
    """A bad key is named, and a chat does not choose where it runs."""
    agent = await tenants.agent(tenants.user_a, tenants.a)
    chat = await tenants.chat(tenants.user_a, agent, page_type="html")

    assert chat.context["page_type"] == "html"
    assert "environment" not in chat.context
    for context, where in (
        ({"page_type": "pdf"}, "context.page_type"),
        ({"color": "red"}, "context.color"),
        ({"environment": "development"}, "context.environment"),
    ):
        with pytest.raises(InvalidRequest) as refused:
            await tenants.chat(tenants.user_a, agent, **context)
        assert refused.value.where == where


async def test_a_parent_is_a_chat_of_ones_own(tenants: Tenants) -> None:
    """Another's chat and no chat at all answer alike."""
    agent_a = await tenants.agent(tenants.user_a, tenants.a)
    agent_b = await tenants.agent(tenants.user_b, tenants.b)
    parent = await tenants.chat(tenants.user_a, agent_a)
    theirs = await tenants.chat(tenants.user_b, agent_b)

    child = await tenants.chat(tenants.user_a, agent_a, parent_chat_id=parent.id)
    assert child.context["parent_chat_id"] == parent.id
    for number in (theirs.id, 999):
        with pytest.raises(InvalidRequest) as refused:
            await tenants.chat(tenants.user_a, agent_a, parent_chat_id=number)
        assert (refused.value.message, refused.value.where) == (
            f"There is no chat {number} within your reach.",
            "context.parent_chat_id",
        )


async def test_a_chat_remembers_its_group(tenants: Tenants) -> None:
    """With an agent of one's own, the group is chosen once and holds for every call."""
    desk = tenants.crib.desk
    both = await tenants.crib.person("both", "user", tenants.a, tenants.b)
    agent = await desk.agents.create(both.caller, AgentDraft(name="own", creator_id=0))
    with pytest.raises(GroupRequired):
        await desk.chats.create(both.caller, agent_id=agent.id)

    named = await tenants.crib.client(both.token, **{"X-Toolcrib-Group": str(tenants.b)})
    made = await named.post("/api/v1/chats", json={"agent_id": agent.id})
    assert (made.status_code, made.json()["group_id"]) == (201, tenants.b)
    await desk.chats.send(both.caller, made.json()["id"], "@tool:none")

    await desk.users.update(tenants.root.caller, both.id, group_ids=[tenants.a])
    left = await tenants.crib.platform.authenticator.caller_of(both.token)
    with pytest.raises(NotGranted):
        await desk.chats.send(left, made.json()["id"], "@tool:none")


async def test_what_a_tool_answers_can_always_be_kept(settings: Settings) -> None:
    """Characters that no database stores do not lose the reply of a call that happened."""
    registry = Registry()

    async def odd() -> str:
        """Answers oddly."""
        return "a\0b\ud800c"

    registry.register_tools("odd", [odd])
    async with open_crib(settings, registry=registry) as crib:
        reply = await _reply(crib, "@tool:odd")
    assert reply == "a�b�c"


async def _reply(crib: Crib, text: str) -> str:
    tenants = await make_tenants(crib)
    agent = await tenants.agent(tenants.user_a, tenants.a, "odd")
    chat = await tenants.chat(tenants.user_a, agent)
    return (await crib.desk.chats.send(tenants.user_a.caller, chat.id, text)).content
