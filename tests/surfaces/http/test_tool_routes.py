"""Tools, calls, explanations, chats and plugins over HTTP."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

import pytest

from tests.support.crib import open_crib, problem_of
from tests.support.tenants import Tenants, make_tenants
from toolcrib.plugin.registration import Registry
from toolcrib.settings import Settings


async def test_the_tools_of_an_agent(tenants: Tenants) -> None:
    """What is offered, and why the rest is not."""
    agent = await tenants.agent(tenants.user_a, tenants.a, "greet")
    notes = await tenants.root.api.post(
        "/api/super-admin/capabilities",
        json={"name": "x", "code": "nobody_registers_it"},
    )
    ids = [*agent.capability_ids, notes.json()["id"]]
    path = f"/api/v1/agents/{agent.id}"
    await tenants.user_a.api.put(f"{path}/capabilities", json={"capabilities": ids})

    listed = (await tenants.user_a.api.get(f"{path}/tools")).json()

    tool = listed["tools"][0]
    assert tool.pop("input_schema")["required"] == ["name"]
    assert listed["tools"] == [
        {
            "name": "hello",
            "description": "Say hello to somebody.",
            "ref": "native:greet/hello",
            "source": "native",
            "annotations": {"readOnlyHint": True},
        }
    ]
    assert listed["delegations"] == []
    [skip] = listed["skipped"]
    assert skip["reason"] == "no loaded plugin registers the code 'nobody_registers_it'"
    assert skip.keys() == {"ref", "reason", "fix"}


async def test_a_call_answers_with_the_result(tenants: Tenants) -> None:
    """By name and by ref; a failed tool and bad arguments are answers too."""
    agent = await tenants.agent(tenants.user_a, tenants.a, "greet", "notes")
    api, path = tenants.user_a.api, f"/api/v1/agents/{agent.id}/tools"

    done = await api.post(f"{path}/hello/call", json={"arguments": {"name": "you"}})

    answer = done.json()
    assert done.status_code == 200
    assert (answer.pop("call_id")[:5], answer.pop("duration_ms") > 0) == ("call_", True)
    assert answer == {
        "success": True,
        "text": "hello you",
        "content": [{"type": "text", "text": "hello you"}],
        "structured": None,
        "error": None,
        "truncated": False,
    }
    ref = quote("native:greet/hello", safe="")
    by_ref = await api.post(f"{path}/{ref}/call", json={"arguments": '{"name": "you"}'})
    assert by_ref.json()["text"] == "hello you"
    failed = (await api.post(f"{path}/lose_note/call", json={})).json()
    assert (failed["success"], failed["error"]["code"]) == (False, "tool_error")
    wrong = await api.post(f"{path}/hello/call", json={"arguments": {"name": 5}})
    assert (wrong.status_code, wrong.json()["error"]["code"]) == (200, "invalid_arguments")
    unknown = await api.post(f"{path}/nope/call", json={"arguments": {}})
    assert problem_of(unknown)[:2] == (404, "not_found")


async def test_a_call_in_a_chat(tenants: Tenants) -> None:
    """The chat has to be the caller's, the uuid its own, and the context the chat's."""
    agent = await tenants.agent(tenants.user_a, tenants.a, "greet")
    api = tenants.user_a.api
    chat = (await api.post("/api/v1/chats", json={"agent_id": agent.id})).json()
    path = f"/api/v1/agents/{agent.id}/tools/hello/call"
    arguments: dict[str, Any] = {"arguments": {"name": "you"}}

    fine = {**arguments, "chat_id": chat["id"], "chat_uuid": chat["uuid"]}
    assert (await api.post(path, json=fine)).json()["success"]
    for body, expected in (
        ({"chat_id": 999}, (404, "not_found", None)),
        ({"chat_id": chat["id"], "chat_uuid": "x"}, (422, "invalid_request", "chat_uuid")),
        ({"chat_id": chat["id"], "context": {}}, (422, "invalid_request", "context")),
        ({"context": {"page_type": "x"}}, (422, "invalid_request", "context.page_type")),
    ):
        assert problem_of(await api.post(path, json={**arguments, **body})) == expected
    foreign = await tenants.admin_a.api.post(path, json={**arguments, "chat_id": chat["id"]})
    assert problem_of(foreign)[0] == 404


async def test_the_context_of_a_list_is_strict_json(tenants: Tenants) -> None:
    """In the query it is text that a person wrote."""
    agent = await tenants.agent(tenants.user_a, tenants.a, "greet")
    api, path = tenants.user_a.api, f"/api/v1/agents/{agent.id}/tools"

    assert (await api.get(path, params={"context": '{"temporary": true}'})).status_code == 200
    twice = await api.get(path, params={"context": '{"temporary": true, "temporary": false}'})
    assert problem_of(twice) == (400, "invalid_json", "context, line 1, column 21")
    assert problem_of(await api.get(path, params={"context": "[]"})) == (
        422,
        "invalid_request",
        "context",
    )


async def test_an_explanation_over_http(tenants: Tenants) -> None:
    """Steps with verdicts, of one's own and for somebody else."""
    agent = await tenants.agent(tenants.user_a, tenants.a, "greet")
    query = {"agent": agent.id, "tool": "hello"}

    told = (await tenants.user_a.api.get("/api/v1/explain", params=query)).json()
    assert told["visible"] is True
    assert {step["verdict"] for step in told["steps"]} == {"passed"}
    assert told["steps"][0].keys() == {"step", "verdict", "detail"}
    for person, status in ((tenants.admin_a, 200), (tenants.admin_b, 404)):
        asked = await person.api.get("/api/v1/explain", params={**query, "user": tenants.user_a.id})
        assert asked.status_code == status


async def test_the_journal_over_http(tenants: Tenants) -> None:
    """A call is there at once; filters and pages work together."""
    agent = await tenants.agent(tenants.user_a, tenants.a, "greet", "notes")
    api, path = tenants.user_a.api, f"/api/v1/agents/{agent.id}/tools"
    for n in range(3):
        await api.post(f"{path}/hello/call", json={"arguments": {"name": f"n{n}"}})
    failed = (await api.post(f"{path}/lose_note/call", json={})).json()

    page = (await api.get("/api/v1/calls", params={"limit": 2, "tool": "hello"})).json()
    rest = (
        await api.get(
            "/api/v1/calls", params={"limit": 2, "tool": "hello", "cursor": page["next_cursor"]}
        )
    ).json()

    names = [row["arguments"]["name"] for row in page["items"] + rest["items"]]
    assert (names, rest["next_cursor"]) == (["n2", "n1", "n0"], None)
    bad = (await api.get("/api/v1/calls", params={"success": False})).json()["items"]
    assert [row["call_id"] for row in bad] == [failed["call_id"]]
    row = (await api.get(f"/api/v1/calls/{failed['call_id']}")).json()
    assert row == bad[0]
    assert {name: row[name] for name in ("tool", "ref", "agent_id", "user_id", "surface")} == {
        "tool": "lose_note",
        "ref": "native:notes/lose_note",
        "agent_id": agent.id,
        "user_id": tenants.user_a.id,
        "surface": "rest",
    }
    assert (row["success"], row["error"]["code"], row["arguments"]) == (False, "tool_error", {})
    since = {"since": row["started_at"].replace("Z", "+00:00")}
    assert len((await api.get("/api/v1/calls", params=since)).json()["items"]) == 1
    unencoded = await api.get(f"/api/v1/calls?since={since['since']}")
    assert len(unencoded.json()["items"]) == 1
    assert problem_of(await api.get("/api/v1/calls?since=2026-01-01T00:00:00"))[2] == "since"
    assert problem_of(await api.get("/api/v1/calls/call_nope"))[0] == 404


async def test_a_chat_over_http(tenants: Tenants) -> None:
    """Begun, spoken in, read, listed, deleted."""
    agent = await tenants.agent(tenants.user_a, tenants.a, "greet")
    api = tenants.user_a.api
    made = await api.post(
        "/api/v1/chats", json={"agent_id": agent.id, "context": {"page_type": "html"}}
    )
    chat = made.json()
    assert (made.status_code, chat["context"]["page_type"]) == (201, "html")
    path = f"/api/v1/chats/{chat['id']}"

    said = await api.post(f"{path}/messages", json={"content": '@tool:hello({"name": "you"})'})

    reply = said.json()
    assert said.status_code == 200
    assert reply.keys() == {"id", "role", "content", "tool_calls", "created_at"}
    assert reply["tool_calls"][0] | {"call_id": 0} == {
        "call_id": 0,
        "name": "hello",
        "arguments": {"name": "you"},
        "success": True,
        "text": "hello you",
    }
    messages = (await api.get(f"{path}/messages")).json()["items"]
    assert messages[1] == reply
    plain = await api.post(f"{path}/messages", json={"content": "hello"})
    assert problem_of(plain) == (422, "invalid_request", "content")
    assert (await api.get(path)).json() == chat
    listed = await api.get("/api/v1/chats", params={"agent": agent.id})
    assert listed.json()["items"] == [chat]
    assert (await api.delete(path)).status_code == 204
    assert problem_of(await api.get(path))[0] == 404


async def test_plugins_over_http(tenants: Tenants) -> None:
    """A page of reports; reloading is for super-admins."""
    listed = await tenants.admin_a.api.get("/api/v1/plugins")
    reports = tenants.crib.platform.plugins.reports
    assert [row["name"] for row in listed.json()["items"]] == [one.name for one in reports]
    assert problem_of(await tenants.user_a.api.get("/api/v1/plugins"))[0] == 403
    assert problem_of(await tenants.admin_a.api.post("/api/v1/plugins/reload"))[0] == 403
    reloaded = await tenants.root.api.post("/api/v1/plugins/reload")
    assert (reloaded.status_code, reloaded.json()["next_cursor"]) == (200, None)


ODD: list[Any] = [
    {"n": 2**70},
    {"text": "\ud800"},
    {"not": float("nan")},
    {1: "a", None: "b"},
    {"set": {1}},
    object(),
]


@pytest.mark.parametrize("value", ODD, ids=range(len(ODD)))
async def test_whatever_a_tool_gives_is_an_answer(settings: Settings, value: Any) -> None:
    """Values that JSON does not have are put into words; the call happened all the same."""
    registry = Registry()

    async def odd() -> Any:
        """Gives something odd."""
        return value

    registry.register_tools("odd", [odd])
    async with open_crib(settings, registry=registry) as crib:
        tenants = await make_tenants(crib)
        agent = await tenants.agent(tenants.user_a, tenants.a, "odd")
        done = await tenants.user_a.api.post(f"/api/v1/agents/{agent.id}/tools/odd/call", json={})
        listed = await tenants.user_a.api.get("/api/v1/calls")

    assert done.status_code == 200
    assert json.loads(done.content)["call_id"] == listed.json()["items"][0]["call_id"]
