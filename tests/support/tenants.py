"""This module fills a crib with two tenants."""

from __future__ import annotations

from dataclasses import dataclass

from tests.support.crib import Crib, Person
from toolcrib.agents.chats import Chat
from toolcrib.grants.agents import Agent, AgentDraft


@dataclass(frozen=True, kw_only=True)
class Tenants:
    """Groups `a` and `b`, each with an admin and a user; `root` is the first super-admin."""

    crib: Crib
    root: Person
    a: int
    b: int
    admin_a: Person
    user_a: Person
    admin_b: Person
    user_b: Person

    async def agent(self, owner: Person, group_id: int | None, *codes: str) -> Agent:
        """An agent whose codes are activated for its group first, where they are not yet."""
        desk = self.crib.desk
        if group_id is not None:
            known = await desk.capabilities.registered(self.crib.operator, group_id=group_id)
            for row in known:
                if row.code in codes and not row.activated:
                    await desk.capabilities.create_from_registered(
                        self.crib.operator, code=row.code, group_id=group_id
                    )
        draft = AgentDraft(name=f"agent of {owner.id}", creator_id=owner.id, group_id=group_id)
        return await desk.agents.create(owner.caller, draft, capabilities=codes)

    async def chat(self, owner: Person, agent: Agent, **context: object) -> Chat:
        return await self.crib.desk.chats.create(
            owner.caller, agent_id=agent.id, context=context or None
        )


async def make_tenants(crib: Crib) -> Tenants:
    a = await crib.desk.groups.create(crib.operator, name="Group A")
    b = await crib.desk.groups.create(crib.operator, name="Group B")
    return Tenants(
        crib=crib,
        root=await crib.somebody(1),
        a=a.id,
        b=b.id,
        admin_a=await crib.person("admin-a", "admin", a.id),
        user_a=await crib.person("user-a", "user", a.id),
        admin_b=await crib.person("admin-b", "admin", b.id),
        user_b=await crib.person("user-b", "user", b.id),
    )
