"""This module furnishes two tenants completely, each with words that must never leave it.

Every field that takes a name or a text holds its tenant's word; what is private to one user holds
that user's; a setting's value holds a word that nobody may ever read.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

from tests.support.crib import Crib, Person
from toolcrib.catalog.capabilities import CapabilityDraft
from toolcrib.grants.agents import AgentDraft
from toolcrib.plugin.registration import Registry


@dataclass(frozen=True, kw_only=True)
class Tenant:
    """One tenant and the ids of what it has. `word` is in all of its names."""

    word: str
    group: int
    admin: Person
    user: Person
    bound: Person
    """The user's token, bound to the agent."""
    agent: int
    own_agent: int
    capability: int
    private_capability: int
    chat: int
    chat_uuid: str
    document: int
    token_id: str
    call: str
    admin_call: str
    """A call of the admin, which the user does not see."""

    @property
    def private(self) -> str:
        """A word in what is the user's alone."""
        return f"{self.word}diary"

    @property
    def value(self) -> str:
        """A word in values that nobody reads."""
        return f"{self.word}vault"

    @property
    def setting(self) -> str:
        return f"{self.word.upper()}_TOKEN"


def furniture() -> Registry:
    """A code with a tool that repeats its text, and one that fails with it."""
    registry = Registry()

    async def repeat(text: str) -> str:
        """Says it again."""
        return text

    async def fail(text: str) -> str:
        """Fails with the text."""
        raise ValueError(text)

    registry.register_tools("parrot", [repeat, fail], name="Parrot", description="Repeats.")
    return registry


async def furnish(crib: Crib, word: str) -> Tenant:
    """Make a tenant that has one of everything."""
    desk = crib.desk
    group = (await desk.groups.create(crib.operator, name=f"{word} group")).id
    admin = await crib.person(f"{word} admin", "admin", group)
    user = await crib.person(f"{word} user", "user", group)
    capability = await _capability(crib, admin, word, group)
    agent = await _agent(crib, user, word, group)
    own_agent = await _agent(crib, user, word, None)
    private = await desk.capabilities.create(
        user.caller,
        CapabilityDraft(
            name=f"{word}diary row",
            code="parrot",
            description=f"{word}diary",
            access_type="private",
        ),
    )
    await _settings(crib, admin, user, word, group)
    chat = await desk.chats.create(user.caller, agent_id=agent)
    text = f'@tool:repeat({{"text": "{word}diary"}})'
    await desk.chats.send(user.caller, chat.id, text)
    document = await desk.documents.add(
        user.caller,
        chat.id,
        filename=f"{word}diary.txt",
        mime_type="text/plain",
        chunks=_chunks(f"{word}diary".encode()),
    )
    done = await desk.tools.call(user.caller, agent, "fail", {"text": f"{word} call"})
    theirs = await desk.tools.call(admin.caller, agent, "repeat", {"text": f"{word} admin's"})
    bound = await crib.somebody(user.id, agent_id=agent)
    token, _ = await desk.tokens.create(user.caller, user_id=user.id, name=f"{word}diary token")
    return Tenant(
        word=word,
        group=group,
        admin=admin,
        user=user,
        bound=bound,
        agent=agent,
        own_agent=own_agent,
        capability=capability,
        private_capability=private.id,
        chat=chat.id,
        chat_uuid=chat.uuid,
        document=document.id,
        token_id=token.id,
        call=done.call_id,
        admin_call=theirs.call_id,
    )


async def _capability(crib: Crib, admin: Person, word: str, group: int) -> int:
    row = await crib.desk.capabilities.create(
        admin.caller,
        CapabilityDraft(
            name=f"{word} capability",
            code=f"parrot,{word}_code",
            description=f"{word} description",
            access_type="group",
            group_id=group,
            is_default=True,
            help=f"{word} help",
            help_url=f"https://{word}.example",
        ),
    )
    return row.id


async def _agent(crib: Crib, user: Person, word: str, group: int | None) -> int:
    kind = "own" if group is None else "group's"
    agent = await crib.desk.agents.create(
        user.caller,
        AgentDraft(
            name=f"{word} {kind} agent",
            creator_id=user.id,
            group_id=group,
            model=f"{word}:model",
            system_prompt=f"{word} prompt",
            extra={"note": f"{word} extra"},
            tools_config={word: True},
        ),
    )
    return agent.id


async def _settings(crib: Crib, admin: Person, user: Person, word: str, group: int) -> None:
    name, hosts = f"{word.upper()}_TOKEN", [f"{word}.example"]
    value = f"{word}vault-value"
    put: Any = crib.desk.settings.put
    await put(admin.caller, name, value, group_id=group, hosts=hosts)
    await put(user.caller, name, value, hosts=hosts)


async def _chunks(data: bytes) -> AsyncIterator[bytes]:
    yield data
