"""Capabilities and agents over HTTP."""

from __future__ import annotations

from tests.support.crib import problem_of
from tests.support.tenants import Tenants

CAPABILITIES = "/api/super-admin/capabilities"


async def test_a_capability_from_a_registered_tool(tenants: Tenants) -> None:
    """The plugin's words fill the row; the second time is a conflict that shows it."""
    api = tenants.root.api
    body = {"code": "greet", "group_id": tenants.a}

    made = await api.post(f"{CAPABILITIES}/from-registered-tool", json=body)

    row = made.json()
    assert made.status_code == 201
    assert row | {"created_at": 0, "updated_at": 0} == {
        "id": 1,
        "name": "Greetings",
        "code": "greet",
        "type": "internal",
        "options": None,
        "description": "Says hello.",
        "is_default": False,
        "ordering": 0,
        "access_type": "group",
        "group_id": tenants.a,
        "owner_id": None,
        "archived": False,
        "help": "",
        "help_url": "",
        "version": 1,
        "created_at": 0,
        "updated_at": 0,
    }
    again = await api.post(f"{CAPABILITIES}/from-registered-tool", json=body)
    assert problem_of(again) == (409, "conflict", "code")
    assert again.json()["current"] == row
    unknown = await api.post(f"{CAPABILITIES}/from-registered-tool", json=body | {"code": "nope"})
    assert problem_of(unknown) == (404, "not_found", "code")


async def test_registered_tools_of_a_group(tenants: Tenants) -> None:
    """Every code, with its tools, and whether the group has it."""
    api = tenants.admin_a.api
    path = f"{CAPABILITIES}/registered-tools"
    await api.post(
        f"{CAPABILITIES}/from-registered-tool", json={"code": "notes", "group_id": tenants.a}
    )

    listed = await api.get(path, params={"group_id": tenants.a})

    assert listed.json() == {
        "items": [
            {
                "code": "greet",
                "name": "Greetings",
                "description": "Says hello.",
                "tools": ["hello"],
                "activated": False,
                "capability_id": None,
            },
            {
                "code": "notes",
                "name": "Notes",
                "description": "Keeps notes.",
                "tools": ["add_note", "lose_note"],
                "activated": True,
                "capability_id": 1,
            },
        ],
        "next_cursor": None,
    }
    assert problem_of(await api.get(path)) == (422, "invalid_request", "group_id")
    foreign = await api.get(path, params={"group_id": tenants.b})
    assert problem_of(foreign) == (404, "not_found", "group_id")
    member = await tenants.user_a.api.get(path, params={"group_id": tenants.a})
    assert problem_of(member)[:2] == (403, "not_granted")


async def test_a_capability_by_hand(tenants: Tenants) -> None:
    """Made with the defaults, changed, archived, listed again, restored."""
    api = tenants.root.api
    made = await api.post(CAPABILITIES, json={"name": "Hi", "code": "greet, notes"})
    assert (made.status_code, made.json()["access_type"], made.json()["code"]) == (
        201,
        "user",
        "greet,notes",
    )
    one = f"{CAPABILITIES}/{made.json()['id']}"

    changed = await api.patch(one, json={"ordering": 5, "help_url": "https://x.example"})
    assert (changed.json()["ordering"], changed.headers["etag"]) == (5, '"2"')
    assert (await api.delete(one)).status_code == 204
    assert (await api.get(CAPABILITIES)).json()["items"] == []
    archived = await api.get(CAPABILITIES, params={"archived": True, "code": "notes"})
    assert [row["archived"] for row in archived.json()["items"]] == [True]
    restored = await api.post(f"{one}/restore")
    assert (restored.status_code, restored.json()["archived"]) == (200, False)
    for body, where in (
        ({"name": "x", "code": "Nope!"}, "code"),
        ({"name": "x", "code": "x", "type": "soap"}, "type"),
        ({"name": "x", "code": "x", "access_type": "all"}, "access_type"),
        ({"name": "x", "code": "x", "access_type": "group"}, "group_id"),
        ({"name": "x", "code": "x", "owner_id": 1}, "owner_id"),
        ({"name": "", "code": "x"}, "name"),
    ):
        assert problem_of(await api.post(CAPABILITIES, json=body))[::2] == (422, where)


async def test_an_agent_is_made_changed_and_deleted(tenants: Tenants) -> None:
    """By code and by id; what cannot be attached is named."""
    api = tenants.admin_a.api
    await api.post(
        f"{CAPABILITIES}/from-registered-tool", json={"code": "greet", "group_id": tenants.a}
    )
    body = {"name": "Desk", "group_id": tenants.a, "capabilities": ["greet"], "extra": {"k": [1]}}

    made = await api.post("/api/v1/agents", json=body)

    row = made.json()
    assert made.status_code == 201
    assert row | {"created_at": 0} == {
        "id": 1,
        "name": "Desk",
        "model": "toolcrib:direct",
        "system_prompt": "",
        "group_id": tenants.a,
        "creator_id": tenants.admin_a.id,
        "capabilities": [1],
        "mcp_mode": "hosted",
        "tool_search": "auto",
        "tools_config": {},
        "extra": {"k": [1]},
        "version": 1,
        "created_at": 0,
    }
    assert (await tenants.user_a.api.get("/api/v1/agents")).json()["items"] == [row]
    changed = await api.patch("/api/v1/agents/1", json={"system_prompt": "Be kind."})
    assert changed.json()["system_prompt"] == "Be kind."
    path = "/api/v1/agents/1/capabilities"
    assert (await api.put(path, json={"capabilities": []})).json()["capabilities"] == []
    assert (await api.put(path, json={"capabilities": [1]})).json()["capabilities"] == [1]
    bad = await api.put(path, json={"capabilities": [1, "nope"]})
    assert problem_of(bad) == (422, "invalid_options", "capabilities.1")
    assert (await api.get("/api/v1/agents/1")).json()["capabilities"] == [1]
    for refs in ([True], [0], [""], [1.5], [None], [2**63]):
        answer = await api.put(path, json={"capabilities": refs})
        assert problem_of(answer) == (422, "invalid_request", "capabilities.0")
    assert problem_of(await api.post("/api/v1/agents", json=body))[:2] == (409, "conflict")
    assert (await api.delete("/api/v1/agents/1")).status_code == 204
    assert problem_of(await api.get("/api/v1/agents/1"))[0] == 404
