"""The core tools: messages and tasks of a chat, and what an agent may still load."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

import pytest

from tests.support.chatting import Office, Talk, open_office
from tests.support.crib import open_crib
from toolcrib.plugin.registration import Registry
from toolcrib.settings import Settings

SECTIONS = [
    {"title": "Plan", "tasks": ["look", "think"]},
    {"title": "Do", "tasks": ["act"]},
]


@pytest.fixture
async def office(settings: Settings) -> AsyncGenerator[Office]:
    async with open_office(settings, ["core"]) as opened:
        yield opened


@pytest.fixture
async def talk(office: Office) -> Talk:
    return await office.talk(await office.person("ada"))


async def said(talk: Talk) -> list[tuple[str, str]]:
    answer = await talk.who.api.get(f"/api/v1/chats/{talk.chat['id']}/messages")
    return [(row["role"], row["content"]) for row in answer.json()["items"]]


async def test_a_question_stands_in_the_chat(talk: Talk) -> None:
    """With its choices; `complete` leaves its words there too."""
    asked = await talk.ok("ask", text="Which colour?", choices=["red", "blue"])
    done = await talk.ok("complete", text="Painted it.")
    assert (asked["status"], done["status"]) == ("awaiting_user", "complete")
    assert await said(talk) == [
        ("assistant", "Which colour?\n1. red\n2. blue"),
        ("assistant", "Painted it."),
    ]


async def test_attachments_are_documents_of_the_chat(talk: Talk) -> None:
    """Named by their file's name; another chat's document is none, and nothing is said then."""
    path = f"/api/v1/chats/{talk.chat['id']}/documents"
    made = await talk.who.api.post(path, files={"file": ("plan.txt", b"a plan", "text/plain")})
    number = made.json()["id"]
    await talk.ok("complete", text="Here.", attachments=[number])
    code, words = await talk.failed("ask", text="This?", attachments=[number, 999])
    assert (code, words) == ("invalid_arguments", "This chat has no document 999.")
    assert await said(talk) == [("assistant", f"Here.\n[document {number}: plan.txt]")]


async def test_waiting(talk: Talk) -> None:
    """It waits, and not for ever."""
    assert await talk.ok("wait", seconds=0.01) == "Waited 0.01 seconds."
    for seconds in (10_000, 200):
        code, _ = await talk.failed("wait", seconds=seconds)
        assert code == "invalid_arguments"


async def test_outside_a_chat_there_is_nobody(office: Office) -> None:
    """The call says that it needs a chat."""
    ada = await office.person("ada")
    for tool, arguments in (("ask", {"text": "Hm?"}), ("view_tasks", {})):
        path = f"/api/v1/agents/{office.agent}/tools/{tool}/call"
        answer = (await ada.api.post(path, json={"arguments": arguments})).json()
        assert answer["error"] == {
            "code": "not_granted",
            "message": "This works only in a chat. Call the tool with chat_id.",
        }


async def test_a_task_list_from_plan_to_end(talk: Talk) -> None:
    """Every call answers the list as it is then."""
    made = await talk.ok("create_tasks", sections=SECTIONS)
    ids = [task["id"] for section in made["sections"] for task in section["tasks"]]
    assert (made["total_tasks"], made["total_sections"]) == (3, 2)
    await talk.ok("update_tasks", task_ids=ids[:2], status="completed")
    await talk.ok("update_tasks", task_ids=[ids[2]], content="act slowly", section_title="Later")
    await talk.ok("create_tasks", section_title="Later", task_contents=["rest"])
    assert await talk.ok("view_tasks") == {
        "sections": [
            {
                "title": "Plan",
                "tasks": [
                    {"id": ids[0], "content": "look", "status": "completed"},
                    {"id": ids[1], "content": "think", "status": "completed"},
                ],
            },
            {
                "title": "Later",
                "tasks": [
                    {"id": ids[2], "content": "act slowly", "status": "pending"},
                    {"id": ids[2] + 1, "content": "rest", "status": "pending"},
                ],
            },
        ],
        "total_tasks": 4,
        "total_sections": 2,
    }
    left = await talk.ok("delete_tasks", section_titles=["Plan"], confirm=True)
    assert [section["title"] for section in left["sections"]] == ["Later"]
    assert (await talk.ok("clear_all", confirm=True))["total_tasks"] == 0


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("create_tasks", {}, "Give `sections`, or `task_contents`"),
        ("update_tasks", {"task_ids": [1]}, "Give `status`, `content` or `section_title`."),
        ("update_tasks", {"task_ids": [1], "status": "lost"}, "status"),
        ("delete_tasks", {"confirm": True}, "Give `task_ids` or `section_titles`."),
        ("delete_tasks", {"confirm": True, "section_titles": ["No"]}, "no section 'No'"),
        ("delete_tasks", {"confirm": False, "task_ids": [1]}, "confirm"),
        ("clear_all", {}, "confirm"),
    ],
)
async def test_what_says_nothing_is_refused(
    talk: Talk, tool: str, arguments: dict[str, Any], words: str
) -> None:
    """With a sentence that a model can act on."""
    code, message = await talk.failed(tool, **arguments)
    assert code == "invalid_arguments"
    assert words in message


async def test_sections_are_added_all_or_none(talk: Talk) -> None:
    """One that has no room any more leaves none of the others."""
    sections = [{"title": title, "tasks": ["x"] * 300} for title in ("A", "B")]
    _, message = await talk.failed("create_tasks", sections=sections)
    assert "at most 500 tasks" in message
    assert (await talk.ok("view_tasks"))["total_tasks"] == 0


async def test_people_see_the_list(office: Office, talk: Talk) -> None:
    """Over REST, the chat's own user alone."""
    await talk.ok("create_tasks", section_title="A", task_contents=["one", "two"])
    path = f"/api/v1/chats/{talk.chat['id']}/tasks"
    items = (await talk.who.api.get(path)).json()["items"]
    assert [(row["section"], row["content"], row["status"]) for row in items] == [
        ("A", "one", "pending"),
        ("A", "two", "pending"),
    ]
    bob = await office.person("bob")
    assert (await bob.api.get(path)).status_code == 404


async def test_another_chats_tasks_are_not_there(office: Office, talk: Talk) -> None:
    """Neither another user's nor those of another chat of one's own."""
    made = await talk.ok("create_tasks", section_title="Mine", task_contents=["secret plan"])
    number = made["sections"][0]["tasks"][0]["id"]
    for who in (talk.who, await office.person("bob")):
        other = await office.talk(who)
        assert (await other.ok("view_tasks"))["total_tasks"] == 0
        _, words = await other.failed("update_tasks", task_ids=[number], status="completed")
        assert words == f"This chat has no task {number}."
    assert (await talk.ok("view_tasks"))["sections"][0]["tasks"][0]["status"] == "pending"


async def test_tasks_outlive_the_process(settings: Settings, office: Office, talk: Talk) -> None:
    """They are in the database: another process sees them."""
    await talk.ok("create_tasks", section_title="A", task_contents=["go on"])
    here = settings.model_copy(update={"builtin_tools": True})
    async with open_crib_again(here) as crib:
        caller = await crib.platform.authenticator.caller_of(talk.who.token)
        found = await crib.desk.tools.call(
            caller, office.agent, "view_tasks", {}, chat_id=talk.chat["id"]
        )
        assert found.output.structured["total_tasks"] == 1


def open_crib_again(settings: Settings) -> Any:
    """A second process on the same database, as good as."""
    url = f"sqlite:///{settings.data_dir / 'toolcrib.db'}"
    return open_crib(settings.model_copy(update={"database_url": url}), registry=Registry())


async def test_a_message_in_full(office: Office, talk: Talk) -> None:
    """Of this chat; what another one has is not there."""
    long = "word " * 3000
    number = (await talk.ok("ask", text=long))["message_id"]
    assert (await talk.ok("expand_message", message_id=number))["content"] == long
    other = await office.talk(talk.who)
    assert await other.failed("expand_message", message_id=number) == (
        "invalid_arguments",
        f"This chat has no message {number}.",
    )
