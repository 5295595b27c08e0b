"""Groups, users, tokens, settings, me: what goes in and what comes out."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tests.support.crib import Crib, problem_of
from tests.support.tenants import Tenants


async def test_a_group_is_made_and_seen(crib: Crib) -> None:
    """201 with its row; the name is taken afterwards."""
    api = (await crib.somebody(1)).api

    made = await api.post("/api/v1/groups", json={"name": " Sales "})

    row = made.json()
    assert made.status_code == 201
    assert (row["id"], row["name"], row["version"]) == (1, "Sales", 1)
    assert datetime.fromisoformat(row["created_at"]).tzinfo == UTC
    assert (await api.get("/api/v1/groups/1")).json() == row
    again = await api.post("/api/v1/groups", json={"name": "SALES"})
    assert problem_of(again) == (409, "conflict", None)


async def test_a_user_is_made_changed_and_seen(crib: Crib) -> None:
    """No answer ever holds the password or its hash."""
    api = (await crib.somebody(1)).api
    await api.post("/api/v1/groups", json={"name": "Sales"})
    body = {
        "name": "Ada",
        "role": "admin",
        "group_ids": [1],
        "entitlements": ["idp", "chat"],
        "password": "correct horse",
    }

    made = await api.post("/api/v1/users", json=body)

    row = made.json()
    created = row.pop("created_at")
    assert made.status_code == 201
    assert row == {
        "id": 2,
        "name": "Ada",
        "role": "admin",
        "group_ids": [1],
        "entitlements": ["chat", "idp"],
        "has_password": True,
        "version": 1,
    }
    changed = await api.patch(
        "/api/v1/users/2", json={"role": "user", "group_ids": []}, headers={"If-Match": '"1"'}
    )
    assert changed.json() == row | {
        "created_at": created,
        "role": "user",
        "group_ids": [],
        "version": 2,
    }
    assert (await api.patch("/api/v1/users/2", json={"role": None})).status_code == 422
    missing = await api.post("/api/v1/users", json=body | {"name": "x", "group_ids": [9]})
    assert problem_of(missing) == (422, "invalid_request", "group_ids")
    put = await api.put("/api/v1/users/2/password", json={"password": "battery staple"})
    assert (put.status_code, put.content) == (204, b"")
    assert "content-type" not in put.headers


async def test_a_token_is_shown_once_and_works_until_revoked(tenants: Tenants) -> None:
    """Both words of the header work, and times come back in UTC."""
    api, user = tenants.user_a.api, tenants.user_a.id
    path = f"/api/v1/users/{user}/tokens"

    made = await api.post(path, json={"name": "cli", "expires_at": "2099-01-01T02:00:00+02:00"})

    row = made.json()
    text = row.pop("token")
    assert made.status_code == 201
    assert row["expires_at"] == "2099-01-01T00:00:00Z"
    assert row in (await api.get(path)).json()["items"]
    assert text not in (await api.get(path)).text
    for scheme in ("Bearer", "Token", "token"):
        anonymous = await tenants.crib.client(None, Authorization=f"{scheme} {text}")
        assert (await anonymous.get("/api/v1/me")).json()["user_id"] == user
    assert (await api.delete(f"{path}/{row['id']}")).status_code == 204
    assert problem_of(await anonymous.get("/api/v1/me")) == (401, "not_authenticated", None)
    bad = await api.post(path, json={"name": "x", "expires_at": "2099-01-01T00:00:00"})
    assert problem_of(bad) == (422, "invalid_request", "expires_at")
    far = await api.post(path, json={"name": "x", "expires_at": "0001-01-01T00:00:00+14:00"})
    assert problem_of(far) == (422, "invalid_request", "expires_at")


async def test_me_is_who_the_token_is(tenants: Tenants) -> None:
    """Also for a bound token, and for a super-admin who acts for somebody."""
    agent = await tenants.agent(tenants.user_a, tenants.a)
    bound = await tenants.crib.somebody(tenants.user_a.id, agent_id=agent.id)

    assert (await bound.api.get("/api/v1/me")).json() == {
        "user_id": tenants.user_a.id,
        "name": "user-a",
        "role": "user",
        "group_ids": [tenants.a],
        "entitlements": [],
        "group_id": None,
        "agent_id": agent.id,
    }
    acting = {"X-Toolcrib-User": str(tenants.user_b.id), "X-Toolcrib-Group": str(tenants.b)}
    me = (await tenants.root.api.get("/api/v1/me", headers=acting)).json()
    assert (me["user_id"], me["group_id"]) == (tenants.user_b.id, tenants.b)


async def test_a_setting_goes_in_and_never_out(tenants: Tenants) -> None:
    """PUT, list, DELETE; a short value is told, a bad name refused."""
    api = tenants.admin_a.api
    put = await api.put(
        "/api/v1/settings/CRM_TOKEN",
        json={"value": "a-secret-value", "group_id": tenants.a, "hosts": ["CRM.example.com"]},
    )
    assert (put.status_code, put.content) == (204, b"")
    assert "x-toolcrib-note" not in put.headers
    own = await api.put("/api/v1/settings/PIN", json={"value": "1234"})
    assert "fewer than 6 characters" in own.headers["x-toolcrib-note"]

    listed = await api.get("/api/v1/settings")

    rows = listed.json()["items"]
    assert [(r["name"], r["scope"], r["group_id"], r["user_id"], r["status"]) for r in rows] == [
        ("CRM_TOKEN", "group", tenants.a, None, "configured"),
        ("PIN", "user", None, tenants.admin_a.id, "configured"),
    ]
    assert rows[0]["hosts"] == ["crm.example.com"]
    assert "a-secret-value" not in listed.text
    assert (await api.delete("/api/v1/settings/PIN")).status_code == 204
    gone = await api.delete("/api/v1/settings/PIN")
    assert problem_of(gone)[:2] == (404, "not_found")
    bad = await api.put("/api/v1/settings/CRM-TOKEN", json={"value": "x"})
    assert problem_of(bad) == (422, "invalid_request", "name")
    both = {"value": "x", "user_id": tenants.admin_a.id, "group_id": tenants.a}
    assert problem_of(await api.put("/api/v1/settings/X", json=both))[::2] == (422, "group_id")
    query = {"group_id": tenants.a}
    deleted = await api.delete("/api/v1/settings/CRM_TOKEN", params=query)
    assert deleted.status_code == 204


async def test_a_group_that_nobody_made(crib: Crib) -> None:
    """Named in a body it is a mistake there, with the place and where the groups are listed."""
    api = (await crib.somebody(1)).api
    body = {"name": "ann", "role": "user", "group_ids": [99]}

    made = await api.post("/api/v1/users", json=body)
    changed = await api.patch("/api/v1/users/1", json={"group_ids": [99]})

    for answer in (made, changed):
        assert problem_of(answer) == (422, "invalid_request", "group_ids")
        assert answer.json()["detail"] == "There is no group 99 within your reach."
        assert answer.json()["hint"] == "GET /api/v1/groups lists what there is."


@pytest.mark.parametrize(
    ("path", "listed"),
    [
        ("/api/v1/users/99", "/api/v1/users"),
        ("/api/v1/groups/99", "/api/v1/groups"),
        ("/api/v1/agents/99", "/api/v1/agents"),
        ("/api/v1/chats/99", "/api/v1/chats"),
        ("/api/super-admin/capabilities/99", "/api/super-admin/capabilities"),
        ("/admin/tools/none", "/admin/tools"),
        ("/admin/secrets/NONE", "/admin/secrets"),
    ],
)
async def test_what_is_not_there_says_where_to_look(crib: Crib, path: str, listed: str) -> None:
    """The hint is a request that works."""
    api = (await crib.somebody(1)).api
    answer = await api.request("DELETE" if "secrets" in path else "GET", path)

    assert problem_of(answer) == (404, "not_found", None)
    assert answer.json()["hint"] == f"GET {listed} lists what there is."
    assert (await api.get(listed)).status_code == 200
