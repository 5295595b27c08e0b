"""Authentication: once, before everything, and with one answer for every wrong token."""

from __future__ import annotations

import pytest

from tests.support.crib import URL, Crib, problem_of
from tests.support.tenants import Tenants

ME = "/api/v1/me"


@pytest.mark.parametrize("path", [ME, "/openapi.json", "/nowhere", "/api/v1/agents/x/tools", "/"])
async def test_everything_needs_a_token(crib: Crib, path: str) -> None:
    """Also what does not exist: strangers learn nothing of the paths."""
    api = await crib.client()
    answer = await api.get(path)
    assert problem_of(answer) == (401, "not_authenticated", None)
    assert answer.headers["www-authenticate"] == "Bearer"


async def test_health_needs_none(crib: Crib) -> None:
    """A load balancer has no token."""
    api = await crib.client()
    assert (await api.get("/healthz")).json() == {"status": "ok"}
    assert (await api.get("/readyz")).json() == {"status": "ready"}


@pytest.mark.parametrize(
    "header",
    [
        "",
        "Bearer",
        "Bearer ",
        "Basic YTpi",
        "Bearer nope",
        "Bearer \u00e9",
        "tcrib_x",
        "Bearer a b",
    ],
)
async def test_a_wrong_token_gets_one_answer(crib: Crib, header: str) -> None:
    """Nothing tells an unknown token from a revoked or misspelt one."""
    api = await crib.client()
    answer = await api.get(ME, headers={"Authorization": header.encode()})
    assert problem_of(answer) == (401, "not_authenticated", None)


async def test_only_super_admins_act_for_others(tenants: Tenants) -> None:
    """A foreign value from anyone else is refused, never ignored; one's own is fine."""
    foreign = {"X-Toolcrib-User": str(tenants.user_b.id)}
    for person in (tenants.admin_a, tenants.user_a):
        refused = await person.api.get(ME, headers=foreign)
        assert problem_of(refused) == (403, "not_granted", "X-Toolcrib-User")
        group = await person.api.get(ME, headers={"X-Toolcrib-Group": str(tenants.b)})
        assert problem_of(group) == (403, "not_granted", "X-Toolcrib-Group")
        own = {"X-Toolcrib-User": str(person.id), "X-Toolcrib-Group": str(tenants.a)}
        assert (await person.api.get(ME, headers=own)).json()["group_id"] == tenants.a

    acted = await tenants.root.api.get(ME, headers=foreign)
    assert acted.json()["role"] == "user"
    for header in ("X-Toolcrib-User", "X-Toolcrib-Group"):
        nobody = await tenants.root.api.get(ME, headers={header: "999"})
        assert problem_of(nobody)[0] == 404


async def test_acting_for_a_user_is_being_that_user(tenants: Tenants) -> None:
    """A super-admin who acts for somebody sees and may what that one does."""
    acting = {"X-Toolcrib-User": str(tenants.user_a.id)}
    groups = (await tenants.root.api.get("/api/v1/groups", headers=acting)).json()["items"]
    assert [row["id"] for row in groups] == [tenants.a]
    refused = await tenants.root.api.post("/api/v1/groups", json={"name": "x"}, headers=acting)
    assert problem_of(refused)[0] == 403


@pytest.mark.parametrize("value", ["", "x", "-1", "0", "1.0", "\u00b2", str(2**63), "9" * 5000])
async def test_headers_hold_ids(tenants: Tenants, value: str) -> None:
    """Anything else is named."""
    api = tenants.root.api
    for name in ("X-Toolcrib-User", "X-Toolcrib-Group"):
        answer = await api.get(ME, headers={name: value.encode()})
        assert problem_of(answer) == (422, "invalid_request", name)


async def test_who_asks_is_said_once(tenants: Tenants) -> None:
    """Two of a header could be read differently by a proxy and by us."""
    twice = [("X-Toolcrib-User", "1"), ("X-Toolcrib-User", str(tenants.user_a.id))]
    answer = await tenants.root.api.get(ME, headers=twice)
    assert problem_of(answer) == (422, "invalid_request", "X-Toolcrib-User")
    token = f"Bearer {tenants.user_a.token}"
    tokens = [("Authorization", token), ("Authorization", token)]
    api = await tenants.crib.client()
    assert problem_of(await api.get(ME, headers=tokens))[2] == "Authorization"


async def test_a_bound_token_does_not_act_for_others(tenants: Tenants) -> None:
    """Not even a super-admin's."""
    agent = await tenants.agent(tenants.user_a, tenants.a)
    bound = await tenants.crib.somebody(1, agent_id=agent.id)
    answer = await bound.api.get(ME, headers={"X-Toolcrib-User": str(tenants.user_a.id)})
    assert problem_of(answer) == (403, "not_granted", "X-Toolcrib-User")


async def test_a_starting_server_says_so(crib: Crib) -> None:
    """Without a platform there is nobody to ask; the process lives all the same."""
    root = await crib.somebody(1)
    crib.app.state.platform = None
    assert problem_of(await root.api.get(ME)) == (503, "not_ready", None)
    assert problem_of(await root.api.get("/readyz")) == (503, "not_ready", None)
    assert (await root.api.get("/healthz")).status_code == 200
    assert str(root.api.base_url) == URL
