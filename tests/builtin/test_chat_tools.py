"""What is made of chats, documents, settings and memories."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

import pytest

from tests.support.chatting import Office, Talk, open_office
from tests.support.crib import Person
from toolcrib.settings import Settings

CODES = ["base", "memory", "documents", "rag", "subchats", "settings"]


@pytest.fixture
async def office(settings: Settings) -> AsyncGenerator[Office]:
    async with open_office(settings, CODES) as opened:
        yield opened


@pytest.fixture
async def talk(office: Office) -> Talk:
    return await office.talk(await office.person("ada"))


async def talk_in(office: Office, who: Person, **context: Any) -> Talk:
    """A chat with a context of its own."""
    body = {"agent_id": office.agent, "context": context}
    answer = await who.api.post("/api/v1/chats", json=body)
    assert answer.status_code == 201, answer.text
    return Talk(crib=office.crib, who=who, agent=office.agent, chat=answer.json())


async def messages(talk: Talk, chat_id: int) -> list[str]:
    answer = await talk.who.api.get(f"/api/v1/chats/{chat_id}/messages")
    return [row["content"] for row in answer.json()["items"]]


async def test_a_title(talk: Talk) -> None:
    """Blanks are tidied; the row has it."""
    await talk.ok("set_chat_title_name", title="  About \n boats ")
    row = await talk.crib.platform.storage.chats.find(talk.chat["id"])
    assert row is not None
    assert row.title == "About boats"


async def test_other_agents(office: Office, talk: Talk) -> None:
    """Those that the user may use, and no others."""
    desk = office.crib.desk
    stranger = await office.crib.person("eve", "user")
    body = {"name": "Eve's own"}
    assert (await stranger.api.post("/api/v1/agents", json=body)).status_code == 201
    found = await talk.ok("available_mentions")
    assert found == {"agents": [{"id": office.agent, "name": "clerk"}]}
    assert len(await desk.agents.list(office.crib.operator)) == 2


async def test_memories_follow_their_user(office: Office, talk: Talk) -> None:
    """Into another chat, and to nobody else."""
    tea = await talk.ok("remember", fact="Ada likes green tea.")
    await talk.ok("remember", fact="Her boat is called Beagle.")
    other = await office.talk(talk.who)
    found = await other.ok("recall", query="which tea")
    assert [row["content"] for row in found["memories"]] == ["Ada likes green tea."]
    assert len((await other.ok("recall"))["memories"]) == 2
    bob = await office.talk(await office.person("bob"))
    assert (await bob.ok("recall"))["memories"] == []
    _, words = await bob.failed("forget", memory_id=tea["id"])
    assert words == f"There is no memory {tea['id']}."
    await other.ok("forget", memory_id=tea["id"])
    left = (await talk.ok("recall"))["memories"]
    assert [row["content"] for row in left] == ["Her boat is called Beagle."]


async def test_memory_is_off_where_the_chat_says_so(office: Office) -> None:
    """In a temporary chat, and in one without global memory."""
    ada = await office.person("ada")
    for context in ({"temporary": True}, {"global_memory": False}):
        chat = (await talk_in(office, ada, **context)).chat["id"]
        listed = await ada.api.get(f"/api/v1/agents/{office.agent}/tools", params={"chat_id": chat})
        names = [tool["name"] for tool in listed.json()["tools"]]
        assert "recall" not in names


async def test_documents(talk: Talk) -> None:
    """Saved, listed, read in parts; bytes that are no text say so."""
    saved = await talk.ok("save_document", filename="log", content="day one\n" * 10_000)
    path = f"/api/v1/chats/{talk.chat['id']}/documents"
    await talk.who.api.post(path, files={"file": ("cat.png", b"\x89PNG\0\xff", "image/png")})
    listed = (await talk.ok("list_documents"))["documents"]
    assert [(row["filename"], row["mime_type"]) for row in listed] == [
        ("log.md", "text/markdown"),
        ("cat.png", "image/png"),
    ]
    first = await talk.ok("get_document_text", document_id=saved["id"])
    assert (first["total_characters"], first["next_offset"]) == (80_000, 50_000)
    rest = await talk.ok("get_document_text", document_id=saved["id"], offset=50_000)
    assert (len(rest["text"]), rest["next_offset"]) == (30_000, None)
    code, words = await talk.failed("get_document_text", document_id=listed[1]["id"])
    assert (code, words) == ("tool_error", f"Document {listed[1]['id']}, 'cat.png', is no text.")
    desk, caller = talk.crib.desk, talk.who.caller
    kept = await desk.documents.read(caller, talk.chat["id"], saved["id"])
    assert kept == b"day one\n" * 10_000


async def test_another_chats_document(office: Office, talk: Talk) -> None:
    """It is not there, for its own user in another chat and for anybody else."""
    saved = await talk.ok("save_document", filename="plan", content="secret", format="txt")
    for who in (talk.who, await office.person("bob")):
        other = await office.talk(who)
        code, words = await other.failed("get_document_text", document_id=saved["id"])
        assert (code, words) == (
            "not_granted",
            f"The chat of this call has no document {saved['id']}.",
        )


async def test_searching(office: Office) -> None:
    """Messages always, documents where the chat has them enabled."""
    ada = await office.person("ada")
    talk = await talk_in(office, ada, documents_enabled=True, collections_enabled=True)
    await talk.ok("save_document", filename="sea", content="Boats float.\n\nFish swim in the sea.")
    await talk.ok(
        "save_document", filename="air", content="<p>Birds <b>fly</b>.</p>", format="html"
    )
    path = f"/api/v1/chats/{talk.chat['id']}/documents"
    await ada.api.post(path, files={"file": ("cat.png", b"\x89PNG", "image/png")})
    found = await talk.ok("rag_search_documents_and_collections", query="do birds fly")
    assert [(hit["filename"], hit["passage"]) for hit in found["hits"]] == [
        ("air.html", "Birds fly.")
    ]
    assert found["not_searched"] == ["cat.png"]
    await ada.api.post(
        f"/api/v1/chats/{talk.chat['id']}/messages", json={"content": "@tool:list_documents()"}
    )
    hits = (await talk.ok("rag_search_messages", query="list_documents"))["hits"]
    assert [hit["content"] for hit in hits] == ["@tool:list_documents()"]
    plain = await office.talk(ada)
    path = f"/api/v1/agents/{office.agent}/tools"
    listed = (await ada.api.get(path, params={"chat_id": plain.chat["id"]})).json()["tools"]
    names = [tool["name"] for tool in listed]
    assert "rag_search_messages" in names
    assert "rag_search_documents_and_collections" not in names


async def test_subchats(office: Office, talk: Talk) -> None:
    """Opened and asked from above, reporting from below; each side has its own tools."""
    below = await talk.ok("create_subchat", title="Count boats")
    assert await talk.ok("list_subchats") == {"subchats": [below]}
    message = '@tool:report_to_parent({"message": "There are 7 boats."})'
    reply = await talk.ok("send_to_subchat", chat_id=below["id"], message=message)
    assert '"status":"reported"' in reply
    assert await messages(talk, talk.chat["id"]) == ["There are 7 boats."]
    assert (await messages(talk, below["id"]))[0] == message
    path = f"/api/v1/agents/{office.agent}/tools"
    for chat, has, lacks in (
        (talk.chat["id"], "create_subchat", "report_to_parent"),
        (below["id"], "report_to_parent", "create_subchat"),
    ):
        listed = (await talk.who.api.get(path, params={"chat_id": chat})).json()["tools"]
        names = [tool["name"] for tool in listed]
        assert (has in names, lacks in names) == (True, False)


async def test_a_chat_that_is_not_below(office: Office, talk: Talk) -> None:
    """Neither another of the user's chats nor another user's."""
    bob = await office.talk(await office.person("bob"))
    other = await office.talk(talk.who)
    for chat in (bob.chat["id"], other.chat["id"], talk.chat["id"]):
        code, words = await talk.failed("send_to_subchat", chat_id=chat, message="hi")
        assert (code, words) == (
            "invalid_arguments",
            f"There is no chat {chat} below this one.",
        )


async def test_a_setting_of_the_users_own(office: Office, talk: Talk) -> None:
    """Stored for the user, shown by nobody: neither the answer nor the record has the value."""
    value = "a-very-secret-value"
    answer = await talk.call("edit_user_setting", name="MY_KEY", value=value)
    assert answer["text"] == "The setting 'MY_KEY' is stored."
    listed = (await talk.who.api.get("/api/v1/settings")).json()["items"]
    assert [(row["name"], row["user_id"]) for row in listed] == [("MY_KEY", talk.who.id)]
    journal = office.crib.platform.storage.journal
    await journal.flush()
    record = await journal.find(answer["call_id"])
    assert record is not None
    assert record.arguments == {"name": "MY_KEY", "value": "***"}
    values = office.crib.platform.values
    assert await values.get("MY_KEY", user_id=talk.who.id, group_id=None) == value
    bob = await office.person("bob")
    assert await values.find("MY_KEY", user_id=bob.id, group_id=office.group) is None


async def test_the_chat_does_not_keep_a_value(talk: Talk) -> None:
    """A direct call is kept with its other arguments; the setting has the value."""
    content = '@tool:edit_user_setting({"name": "MY_KEY", "value": "a-very-secret-value"})'
    path = f"/api/v1/chats/{talk.chat['id']}/messages"
    answer = await talk.who.api.post(path, json={"content": content})
    assert answer.json()["content"] == "The setting 'MY_KEY' is stored."
    said = await messages(talk, talk.chat["id"])
    assert said[0] == '@tool:edit_user_setting({"name": "MY_KEY", "value": "***"})'
    values = talk.crib.platform.values
    stored = await values.get("MY_KEY", user_id=talk.who.id, group_id=None)
    assert stored == "a-very-secret-value"


async def test_a_short_setting_says_so(talk: Talk) -> None:
    """What cannot be searched for is told."""
    text = await talk.ok("edit_user_setting", name="PIN", value="1234")
    assert "fewer than 6 characters" in text


async def test_developer_tools(settings: Settings) -> None:
    """In development alone, beside `base`."""
    for environment, there in (("development", True), ("production", False)):
        data_dir = settings.data_dir / environment
        data_dir.mkdir()
        chosen = settings.model_copy(update={"environment": environment, "data_dir": data_dir})
        async with open_office(chosen, ["base"]) as office:
            talk = await office.talk(await office.person("ada"))
            path = f"/api/v1/agents/{office.agent}/tools"
            names = [tool["name"] for tool in (await talk.who.api.get(path)).json()["tools"]]
            assert ("wait_seconds" in names) is there
            if there:
                assert await talk.ok("wait_seconds", seconds=0) == "Waited 0 seconds."
