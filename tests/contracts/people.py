"""This module fills a database with the groups, users and agents that other rows belong to."""

from __future__ import annotations

from dataclasses import dataclass

from toolcrib.catalog.capabilities import CapabilityDraft
from toolcrib.grants.agents import Agent, AgentDraft
from toolcrib.identity.accounts import Group, User
from toolcrib.identity.roles import Role
from toolcrib.storage import Storage


@dataclass(frozen=True, kw_only=True)
class People:
    """Two tenants: Ann is of the first group, Bob of the second, Eve of none."""

    first: Group
    second: Group
    ann: User
    bob: User
    eve: User


async def add_people(storage: Storage) -> People:
    first = await storage.groups.create(name="First")
    second = await storage.groups.create(name="Second")
    return People(
        first=first,
        second=second,
        ann=await add_user(storage, "Ann", first.id),
        bob=await add_user(storage, "Bob", second.id),
        eve=await add_user(storage, "Eve"),
    )


async def add_user(storage: Storage, name: str, *group_ids: int) -> User:
    return await storage.users.create(
        name=name, role=Role.USER, group_ids=frozenset(group_ids), entitlements=frozenset()
    )


async def add_agent(storage: Storage, people: People, *capability_ids: int) -> Agent:
    """An agent of the first group, made by Ann."""
    return await storage.agents.create(
        AgentDraft(
            name="Helper",
            group_id=people.first.id,
            creator_id=people.ann.id,
            capability_ids=capability_ids,
        )
    )


async def add_capability(storage: Storage, code: str, **values: object) -> int:
    draft = CapabilityDraft(**{"name": code.upper(), "code": code, **values})  # type: ignore[arg-type]
    return (await storage.capabilities.create(draft)).id
