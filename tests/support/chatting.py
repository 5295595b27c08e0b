"""This module opens a Toolcrib whose agent has built-in tools, and calls them in chats."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from tests.support.crib import Crib, Person, open_crib
from toolcrib.plugin.registration import Registry
from toolcrib.settings import Settings


@dataclass(frozen=True, kw_only=True)
class Talk:
    """A chat of somebody, and what they call in it."""

    crib: Crib
    who: Person
    agent: int
    chat: Mapping[str, Any]

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The answer of REST."""
        path = f"/api/v1/agents/{self.agent}/tools/{tool}/call"
        body = {"arguments": arguments, "chat_id": self.chat["id"]}
        answer = await self.who.api.post(path, json=body)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def ok(self, tool: str, **arguments: Any) -> Any:
        """What a call that works gives: its structured value, or its text."""
        answer = await self.call(tool, **arguments)
        assert answer["success"], answer
        return answer["text"] if answer["structured"] is None else answer["structured"]

    async def failed(self, tool: str, **arguments: Any) -> tuple[str, str]:
        """Code and message of a call that fails."""
        answer = await self.call(tool, **arguments)
        assert not answer["success"], answer
        return answer["error"]["code"], answer["error"]["message"]

    async def end(self) -> None:
        answer = await self.who.api.delete(f"/api/v1/chats/{self.chat['id']}")
        assert answer.status_code == 204, answer.text


@dataclass(frozen=True, kw_only=True)
class Office:
    """One agent with these codes, in a group whose members talk to it."""

    crib: Crib
    group: int
    agent: int

    async def talk(self, who: Person) -> Talk:
        answer = await who.api.post("/api/v1/chats", json={"agent_id": self.agent})
        assert answer.status_code == 201, answer.text
        return Talk(crib=self.crib, who=who, agent=self.agent, chat=answer.json())

    async def person(self, name: str) -> Person:
        return await self.crib.person(name, "user", self.group)


@asynccontextmanager
async def open_office(settings: Settings, codes: Sequence[str]) -> AsyncGenerator[Office]:
    """The built-in tools come by their own door, as in any installation."""
    settings = settings.model_copy(update={"builtin_tools": True})
    async with open_crib(settings, registry=Registry()) as crib:
        group = await crib.desk.groups.create(crib.operator, name="Office")
        for code in codes:
            await crib.desk.capabilities.create_from_registered(
                crib.operator, code=code, group_id=group.id
            )
        chief = await crib.person("chief", "admin", group.id)
        body = {"name": "clerk", "group_id": group.id, "capabilities": list(codes)}
        made = await chief.api.post("/api/v1/agents", json=body)
        assert made.status_code == 201, made.text
        yield Office(crib=crib, group=group.id, agent=made.json()["id"])
