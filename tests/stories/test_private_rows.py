"""A private capability rearranges what its owner was granted; it grants and reveals nothing."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.crib import Crib, open_crib
from tests.support.tenants import Tenants, make_tenants
from toolcrib.catalog.capabilities import CapabilityDraft
from toolcrib.errors import NotFound, NotGranted
from toolcrib.grants.agents import AgentDraft
from toolcrib.settings import Settings
from toolcrib.testing.upstream import RecordingUpstream


async def private_agent(tenants: Tenants, **fields: Any) -> int:
    """An agent of user A's own, holding a private capability made of the fields."""
    desk, caller = tenants.crib.desk, tenants.user_a.caller
    draft = CapabilityDraft(access_type="private", owner_id=caller.user_id, **fields)
    row = await desk.capabilities.create(caller, draft)
    agent = await desk.agents.create(
        caller, AgentDraft(name="own", creator_id=caller.user_id), capabilities=[row.id]
    )
    return agent.id


async def crib_with_greetings(crib: Crib) -> tuple[Tenants, int]:
    tenants = await make_tenants(crib)
    row = await crib.desk.capabilities.create_from_registered(
        crib.operator, code="greet", group_id=tenants.a
    )
    return tenants, row.id


async def test_what_is_revoked_is_gone_from_private_rows_too(settings: Settings) -> None:
    """Archiving the group's capability takes its code from every private row that names it."""
    async with open_crib(settings) as crib:
        tenants, row_id = await crib_with_greetings(crib)
        agent = await private_agent(tenants, name="mine", code="greet")
        call = crib.desk.tools.call
        assert (await call(tenants.user_a.caller, agent, "hello", {"name": "Ann"})).success

        await crib.desk.capabilities.archive(crib.operator, row_id)

        with pytest.raises(NotFound):
            await call(tenants.user_a.caller, agent, "hello", {"name": "Ann"})
        toolset = await crib.desk.tools.list(tenants.user_a.caller, agent)
        assert [(s.ref.partition(":")[0], "grants you" in s.reason) for s in toolset.skipped] == [
            ("capability", True)
        ]


async def test_who_left_the_group_keeps_nothing_of_it(settings: Settings) -> None:
    """A private row names a code of the group; membership ends, and so does the tool."""
    async with open_crib(settings) as crib:
        tenants, _ = await crib_with_greetings(crib)
        agent = await private_agent(tenants, name="mine", code="greet")
        await crib.desk.users.update(crib.operator, tenants.user_a.id, group_ids=frozenset())
        left = await crib.platform.authenticator.caller_of(tenants.user_a.token)

        assert list((await crib.desk.tools.list(left, agent)).tools) == []


async def test_a_code_that_nobody_granted_cannot_be_taken(settings: Settings) -> None:
    """Making the row is refused already."""
    async with open_crib(settings) as crib:
        tenants, _ = await crib_with_greetings(crib)

        with pytest.raises(NotGranted):
            await private_agent(tenants, name="mine", code="notes")


async def test_a_private_definition_never_gets_the_groups_secret(settings: Settings) -> None:
    """The group's value cannot be sent to an address that a member chose; the user's own can."""
    async with RecordingUpstream() as upstream:
        allowed = settings.model_copy(update={"egress_allow": (upstream.place,)})
        async with open_crib(allowed) as crib:
            tenants, _ = await crib_with_greetings(crib)
            caller = tenants.user_a.caller
            await crib.desk.settings.put(
                crib.operator, "KEY", "the-groups-secret", group_id=tenants.a
            )
            options = {"name": "take", "url": upstream.url("/?k=${KEY}")}
            agent = await private_agent(
                tenants, name="take", code="take", type="api", options=options
            )

            toolset = await crib.desk.tools.list(caller, agent)
            assert list(toolset.tools) == []
            assert "'KEY' is not set" in toolset.skipped[0].reason

            await crib.desk.settings.put(caller, "KEY", "anns-own-secret")
            assert (await crib.desk.tools.call(caller, agent, "take", {})).success
            assert [r.query for r in upstream.requests] == ["k=anns-own-secret"]


async def test_a_private_server_never_gets_the_groups_secret(settings: Settings) -> None:
    """Neither the connection nor the listing of a server that a member chose sees the value."""
    async with RecordingUpstream() as upstream:
        allowed = settings.model_copy(update={"egress_allow": (upstream.place,)})
        async with open_crib(allowed) as crib:
            tenants, _ = await crib_with_greetings(crib)
            await crib.desk.settings.put(
                crib.operator, "KEY", "the-groups-secret", group_id=tenants.a
            )
            options = {
                "server_label": "mine",
                "server_url": upstream.url("/mcp"),
                "require_approval": "never",
                "headers": {"Authorization": "Bearer ${KEY}"},
            }
            agent = await private_agent(
                tenants, name="mine", code="mine", type="mcp", options=options
            )

            toolset = await crib.desk.tools.list(tenants.user_a.caller, agent)

            assert "'KEY' is not set" in toolset.skipped[0].reason
            assert upstream.requests == []


async def test_who_turns_the_address_brings_the_secret(settings: Settings) -> None:
    """A member's own value for the host of a shared definition gets none of the group's values."""
    async with RecordingUpstream() as ours, RecordingUpstream() as theirs:
        allowed = settings.model_copy(update={"egress_allow": (ours.place, theirs.place)})
        async with open_crib(allowed) as crib:
            tenants, _ = await crib_with_greetings(crib)
            put, caller = crib.desk.settings.put, tenants.user_a.caller
            await put(crib.operator, "BASE", ours.url(""), group_id=tenants.a)
            await put(crib.operator, "TOKEN", "the-groups-token", group_id=tenants.a)
            options = {
                "name": "look",
                "url": "${BASE}/v1",
                "headers": {"Authorization": "Bearer ${TOKEN}"},
            }
            row = await crib.desk.capabilities.create(
                crib.operator,
                CapabilityDraft(
                    name="look",
                    code="look",
                    type="api",
                    access_type="group",
                    group_id=tenants.a,
                    options=options,
                ),
            )
            agent = await crib.desk.agents.create(
                crib.operator,
                AgentDraft(name="shared", group_id=tenants.a, creator_id=1),
                capabilities=[row.id],
            )
            call = crib.desk.tools.call
            assert (await call(caller, agent.id, "look", {})).success
            assert ours.requests[0].header("Authorization") == "Bearer the-groups-token"

            await put(caller, "BASE", theirs.url(""))
            toolset = await crib.desk.tools.list(caller, agent.id)
            assert "'TOKEN' is not set" in toolset.skipped[0].reason
            await put(caller, "TOKEN", "anns-own-token")
            assert (await call(caller, agent.id, "look", {})).success

            assert [r.header("Authorization") for r in theirs.requests] == ["Bearer anns-own-token"]
