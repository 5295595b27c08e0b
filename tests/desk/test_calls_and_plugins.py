"""The journal and the plugins: who sees them, and who tidies up."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from tests.support.crib import Crib, Person
from tests.support.tenants import Tenants
from toolcrib.errors import NotFound, NotGranted
from toolcrib.grants.agents import AgentDraft


async def calls_by(tenants: Tenants) -> dict[str, str]:
    """One call of each user with an agent of their group, and one of user A's outside groups."""
    desk = tenants.crib.desk
    made: dict[str, str] = {}
    for name, group in (("user_a", tenants.a), ("admin_a", tenants.a), ("user_b", tenants.b)):
        person: Person = getattr(tenants, name)
        agent = await tenants.agent(person, group, "greet")
        outcome = await desk.tools.call(person.caller, agent.id, "hello", {"name": name})
        made[name] = outcome.call_id
    return made


async def test_calls_are_seen_by_their_user_and_by_the_groups_admin(tenants: Tenants) -> None:
    """A list holds what single looks allow, newest first."""
    calls = tenants.crib.desk.calls
    made = await calls_by(tenants)
    reach = {
        "user_a": ["user_a"],
        "admin_a": ["admin_a", "user_a"],
        "user_b": ["user_b"],
        "admin_b": ["user_b"],
        "root": ["user_b", "admin_a", "user_a"],
    }
    for who, expected in reach.items():
        caller = getattr(tenants, who).caller
        seen = [row.call_id for row in await calls.list(caller)]
        assert seen == [made[name] for name in expected]
        for name, call_id in made.items():
            if name in expected:
                assert (await calls.get(caller, call_id)).arguments == {"name": name}
            else:
                with pytest.raises(NotFound):
                    await calls.get(caller, call_id)


async def test_filters_never_widen_the_reach(tenants: Tenants) -> None:
    """Asking for another's calls finds those one may see: none."""
    calls = tenants.crib.desk.calls
    made = await calls_by(tenants)

    assert list(await calls.list(tenants.user_a.caller, user_id=tenants.user_b.id)) == []
    found = await calls.list(tenants.admin_a.caller, user_id=tenants.user_a.id, success=True)
    assert [row.call_id for row in found] == [made["user_a"]]
    later = datetime.now(UTC) + timedelta(hours=1)
    assert list(await calls.list(tenants.root.caller, since=later)) == []
    page = await calls.list(tenants.root.caller, before=made["admin_a"], limit=5)
    assert [row.call_id for row in page] == [made["user_a"]]


async def test_everything_is_the_operators_word(tenants: Tenants) -> None:
    """A call outside any group is private, and only the command line lists it."""
    desk = tenants.crib.desk
    loner = await tenants.crib.person("loner", "user")
    agent = await desk.agents.create(loner.caller, AgentDraft(name="own", creator_id=0))
    row = await desk.capabilities.create_from_registered(
        tenants.root.caller, code="greet", group_id=tenants.a
    )
    await desk.capabilities.update(tenants.root.caller, row.id, {"access_type": "system"})
    await desk.agents.set_capabilities(loner.caller, agent.id, ["greet"])
    await desk.tools.call(loner.caller, agent.id, "hello", {"name": "me"})

    assert list(await desk.calls.list(tenants.root.caller)) == []
    assert len(await desk.calls.list(tenants.crib.operator, everything=True)) == 1


async def test_only_super_admins_prune(tenants: Tenants) -> None:
    """What is older goes, the rest stays."""
    desk = tenants.crib.desk
    await calls_by(tenants)
    tomorrow = datetime.now(UTC) + timedelta(days=1)

    with pytest.raises(NotGranted):
        await desk.calls.prune(tenants.admin_a.caller, older_than=tomorrow)
    yesterday = datetime.now(UTC) - timedelta(days=1)
    assert await desk.calls.prune(tenants.root.caller, older_than=yesterday) == 0
    assert await desk.calls.prune(tenants.root.caller, older_than=tomorrow) == 3


async def test_plugins_are_for_admins_to_see_and_super_admins_to_reload(tenants: Tenants) -> None:
    """The list is what discovery reported."""
    plugins = tenants.crib.desk.plugins
    reports = tenants.crib.platform.plugins.reports

    assert list(await plugins.list(tenants.admin_b.caller)) == reports
    with pytest.raises(NotGranted):
        await plugins.list(tenants.user_a.caller)
    with pytest.raises(NotGranted):
        await plugins.reload(tenants.admin_a.caller)


async def test_a_reload_reaches_every_process(crib: Crib) -> None:
    """It raises the number that the others follow, and answers when it is done here."""
    signals = crib.platform.storage.signals
    before = signals.generation("plugins")

    await crib.desk.plugins.reload(crib.operator)

    assert signals.generation("plugins") == before + 1
