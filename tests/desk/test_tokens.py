"""Tokens: for oneself or by a super-admin, bound to an agent if wanted, gone when revoked."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from tests.support.crib import problem_of
from tests.support.tenants import Tenants
from toolcrib.errors import InvalidRequest, NotAuthenticated, NotFound, NotGranted
from toolcrib.grants.agents import AgentDraft
from toolcrib.identity.tokens import new_token

CAPABILITIES = "/api/super-admin/capabilities"


async def test_tokens_are_the_users_own_business(tenants: Tenants) -> None:
    """Neither the admin of the group nor a stranger makes, lists or revokes them."""
    tokens = tenants.crib.desk.tokens
    own = tenants.user_a.id
    made, _ = await tokens.create(tenants.user_a.caller, user_id=own, name="laptop")
    for person, error in ((tenants.admin_a, NotGranted), (tenants.user_b, NotFound)):
        with pytest.raises(error):
            await tokens.create(person.caller, user_id=own, name="x")
        with pytest.raises(error):
            await tokens.list(person.caller, user_id=own)
        with pytest.raises(error):
            await tokens.revoke(person.caller, user_id=own, token_id=made.id)

    names = [row.name for row in await tokens.list(tenants.root.caller, user_id=own)]
    assert names == ["test", "laptop"]


async def test_a_revoked_token_stops_at_once(tenants: Tenants) -> None:
    """The next request with it is refused, though it was remembered a moment ago."""
    tokens, authenticator = tenants.crib.desk.tokens, tenants.crib.platform.authenticator
    row, made = await tokens.create(tenants.user_a.caller, user_id=tenants.user_a.id, name="laptop")
    assert (await authenticator.caller_of(made.text)).user_id == tenants.user_a.id

    await tokens.revoke(tenants.user_a.caller, user_id=tenants.user_a.id, token_id=row.id)

    with pytest.raises(NotAuthenticated):
        await authenticator.caller_of(made.text)
    with pytest.raises(NotFound):
        await tokens.revoke(tenants.user_a.caller, user_id=tenants.user_a.id, token_id=row.id)


async def test_a_revocation_that_broke_off_is_made_good_by_the_next(tenants: Tenants) -> None:
    """The row is gone and nobody was told: the token is still remembered as good."""
    tokens, platform = tenants.crib.desk.tokens, tenants.crib.platform
    me = tenants.user_a.id
    row, made = await tokens.create(tenants.user_a.caller, user_id=me, name="laptop")
    await platform.authenticator.caller_of(made.text)
    await platform.storage.tokens.delete(row.id, user_id=me)
    await platform.authenticator.caller_of(made.text)

    with pytest.raises(NotFound):
        await tokens.revoke(tenants.user_a.caller, user_id=me, token_id=row.id)

    with pytest.raises(NotAuthenticated):
        await platform.authenticator.caller_of(made.text)


async def test_a_token_of_another_user_is_not_found(tenants: Tenants) -> None:
    """The id of somebody else's token under one's own name is no way to it."""
    tokens = tenants.crib.desk.tokens
    row, _ = await tokens.create(tenants.user_b.caller, user_id=tenants.user_b.id, name="b")

    with pytest.raises(NotFound):
        await tokens.revoke(tenants.user_a.caller, user_id=tenants.user_a.id, token_id=row.id)
    assert row in await tokens.list(tenants.user_b.caller, user_id=tenants.user_b.id)


async def test_an_expired_token_is_refused(tenants: Tenants) -> None:
    """Its row stays, it opens nothing."""
    made = new_token()
    await tenants.crib.platform.storage.tokens.create(
        token_id=made.id,
        digest=made.digest,
        user_id=tenants.user_a.id,
        name="old",
        expires_at=datetime.now(UTC) - timedelta(seconds=1),
    )
    with pytest.raises(NotAuthenticated):
        await tenants.crib.platform.authenticator.caller_of(made.text)


async def test_no_token_is_made_that_has_expired(tenants: Tenants) -> None:
    """It would look as if it worked until somebody tries it."""
    past = datetime.now(UTC) - timedelta(seconds=1)
    with pytest.raises(InvalidRequest) as refused:
        await tenants.crib.desk.tokens.create(
            tenants.user_a.caller, user_id=tenants.user_a.id, name="old", expires_at=past
        )

    assert (refused.value.where, past.isoformat() in refused.value.message) == ("expires_at", True)
    names = [row.name for row in await tenants.crib.platform.storage.tokens.list(tenants.user_a.id)]
    assert names == ["test"]


async def test_a_token_is_bound_only_to_an_agent_its_user_may_use(tenants: Tenants) -> None:
    """Not even a super-admin binds a user to another tenant's agent."""
    agent_b = await tenants.agent(tenants.user_b, tenants.b)
    for caller in (tenants.user_a.caller, tenants.root.caller):
        with pytest.raises(InvalidRequest) as refused:
            await tenants.crib.desk.tokens.create(
                caller, user_id=tenants.user_a.id, name="x", agent_id=agent_b.id
            )
        assert refused.value.where == "agent_id"


async def test_a_bound_token_reaches_its_agent_and_nothing_else(tenants: Tenants) -> None:
    """Even a super-admin's: no tokens, no changes, no other agents, no lists of tenants."""
    desk = tenants.crib.desk
    agent = await tenants.agent(tenants.user_a, tenants.a, "greet")
    other = await tenants.agent(tenants.admin_a, tenants.a)
    bound = (await tenants.crib.somebody(1, agent_id=agent.id)).caller

    assert [row.id for row in await desk.agents.list(bound)] == [agent.id]
    assert list(await desk.groups.list(bound)) == []
    assert [row.id for row in await desk.users.list(bound)] == [1]
    assert list(await desk.settings.list(bound)) == []
    assert (await desk.tools.call(bound, agent.id, "hello", {"name": "you"})).success
    with pytest.raises(NotFound):
        await desk.agents.get(bound, other.id)
    with pytest.raises(NotGranted):
        await desk.tokens.create(bound, user_id=1, name="more")
    with pytest.raises(NotGranted):
        await desk.agents.create(bound, AgentDraft(name="mine", creator_id=1))
    with pytest.raises(NotGranted):
        await desk.agents.update(bound, agent.id, {"name": "other"})
    with pytest.raises(NotGranted):
        await desk.users.set_password(bound, 1, "correct horse")


async def test_a_bound_token_sees_the_calls_and_chats_of_its_agent(tenants: Tenants) -> None:
    """What the same user did with other agents is not its business."""
    desk = tenants.crib.desk
    one = await tenants.agent(tenants.user_a, tenants.a, "greet")
    two = await tenants.agent(tenants.admin_a, tenants.a, "greet")
    caller = tenants.user_a.caller
    for agent in (one, two):
        await desk.tools.call(caller, agent.id, "hello", {"name": "you"})
        await tenants.chat(tenants.user_a, agent)
    bound = (await tenants.crib.somebody(tenants.user_a.id, agent_id=one.id)).caller

    assert {row.agent_id for row in await desk.calls.list(caller)} == {one.id, two.id}
    assert {row.agent_id for row in await desk.calls.list(bound)} == {one.id}
    assert {row.agent_id for row in await desk.chats.list(bound)} == {one.id}
    assert list(await desk.calls.list(bound, agent_id=two.id)) == []
    chat_of_two = (await desk.chats.list(caller, agent_id=two.id))[0]
    with pytest.raises(NotFound):
        await desk.chats.get(bound, chat_of_two.id)


@pytest.mark.parametrize("who", ["root", "admin_a", "user_a"])
async def test_a_bound_token_reads_what_its_agent_holds(tenants: Tenants, who: str) -> None:
    """Lists and single rows alike, whatever else its user may read; the tools are all there."""
    person = getattr(tenants, who)
    agent = await tenants.agent(tenants.user_a, tenants.a, "greet")
    await tenants.agent(tenants.admin_a, tenants.a, "notes")  # another agent's, of the same group
    bound = await tenants.crib.somebody(person.id, agent_id=agent.id)
    [held] = agent.capability_ids
    everything = [row["id"] for row in (await person.api.get(CAPABILITIES)).json()["items"]]
    others = sorted(set(everything) - {held})

    assert (len(others) > 0, held in everything) == (True, True)
    assert [row["id"] for row in (await bound.api.get(CAPABILITIES)).json()["items"]] == [held]
    assert (await bound.api.get(f"{CAPABILITIES}/{held}")).status_code == 200
    for number in others:
        there = await bound.api.get(f"{CAPABILITIES}/{number}")
        nowhere = await bound.api.get(f"{CAPABILITIES}/999999")
        assert (there.status_code, problem_of(there)) == (404, problem_of(nowhere))
    assert (await bound.api.get(f"{CAPABILITIES}?code=notes")).json()["items"] == []
    listed = await bound.api.get(f"/api/v1/agents/{agent.id}/tools")
    assert [tool["name"] for tool in listed.json()["tools"]] == ["hello"]


async def test_what_its_agent_gets_a_bound_token_sees_at_once(tenants: Tenants) -> None:
    """And what is taken from the agent is out of sight."""
    agent = await tenants.agent(tenants.user_a, tenants.a, "greet")
    await tenants.agent(tenants.admin_a, tenants.a, "notes")
    bound = await tenants.crib.somebody(tenants.user_a.id, agent_id=agent.id)
    place = f"/api/v1/agents/{agent.id}"
    put = await tenants.user_a.api.put(f"{place}/capabilities", json={"capabilities": ["notes"]})

    assert put.status_code == 200, put.text
    codes = [row["code"] for row in (await bound.api.get(CAPABILITIES)).json()["items"]]
    tools = [tool["name"] for tool in (await bound.api.get(f"{place}/tools")).json()["tools"]]
    assert (codes, tools) == (["notes"], ["add_note", "lose_note"])


@pytest.mark.parametrize("who", ["root", "admin_a", "user_a"])
async def test_a_bound_token_is_shown_nothing_of_the_installation(
    tenants: Tenants, who: str
) -> None:
    """Tool classes, packages, plugins, servers, logins: none in lists, none by name."""
    agent = await tenants.agent(tenants.user_a, tenants.a, "greet")
    slug = {
        "slug": "word_count",
        "name": "Word Count",
        "type": "mcp_streamable_http",
        "config": {"endpoint": "https://words.test/mcp", "tool_name": "count"},
    }
    assert (await tenants.root.api.post("/admin/tools/install", json=slug)).status_code == 201
    api = (await tenants.crib.somebody(getattr(tenants, who).id, agent_id=agent.id)).api

    assert (await api.get("/tools")).json()["tools"] == []
    assert (await api.get("/tools/message_tool")).status_code == 404
    for path in ("/admin/tools", "/admin/tools/word_count", "/api/v1/plugins", "/admin/secrets"):
        assert (await api.get(path)).status_code == 403, path
    for path in ("/api/v1/mcp/servers", "/api/v1/mcp/connections", "/api/v1/pins"):
        assert (await api.get(path)).json()["items"] == [], path
    there, nowhere = [
        await api.post("/api/v1/mcp/connections", json={"ref": f"package:{slug}"})
        for slug in ("word_count", "no_such")
    ]
    assert problem_of(there) == problem_of(nowhere)
