"""This module keeps chats: a user's conversations with agents, each in a context of its own."""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from toolcrib.agents.chats import Chat, ChatStore, Message
from toolcrib.agents.tasks import Task, TaskStore
from toolcrib.desk.entering import Entrance
from toolcrib.desk.reach import require
from toolcrib.desk.replying import Replying
from toolcrib.documents.document import BlobStore, DocumentStore
from toolcrib.errors import InvalidRequest
from toolcrib.grants.decide import personal
from toolcrib.grants.groups import acting_for
from toolcrib.identity.caller import Caller
from toolcrib.resolution.resolve import Resolver

ChatEnded = Callable[[int, str], Awaitable[None]]
"""Told a chat's id and uuid when it is gone; ends what is open for it. Never raises."""
MAX_CONTENT = 256 * 1024
"""The longest message, in characters."""


class Chats:
    """A user's own chats; nobody else reads them."""

    def __init__(
        self,
        *,
        chats: ChatStore,
        tasks: TaskStore,
        documents: DocumentStore,
        blobs: BlobStore,
        entrance: Entrance,
        resolver: Resolver,
        replying: Replying,
        ended: ChatEnded,
    ) -> None:
        self._chats = chats
        self._tasks = tasks
        self._documents = documents
        self._blobs = blobs
        self._entrance = entrance
        self._resolver = resolver
        self._replying = replying
        self._ended = ended

    async def create(
        self, caller: Caller, *, agent_id: int, context: Mapping[str, Any] | None = None
    ) -> Chat:
        """Raises NotFound for the agent, GroupRequired, InvalidRequest with the context's key."""
        agent = await self._resolver.agent(agent_id, caller)
        acting = acting_for(caller, agent)
        checked = (await self._entrance.context(caller, context)).as_json()
        del checked["environment"]  # the operator's, and it may change
        return await self._chats.create(
            uuid=str(uuid.uuid4()),
            user_id=caller.user_id,
            agent_id=agent_id,
            group_id=acting.group_id,
            context=checked,
        )

    async def get(self, caller: Caller, chat_id: int) -> Chat:
        return await self._entrance.chat(caller, chat_id)

    async def list(
        self,
        caller: Caller,
        *,
        agent_id: int | None = None,
        after: int = 0,
        limit: int = 50,
    ) -> Sequence[Chat]:
        bound = caller.agent_id
        if bound is not None and agent_id not in {None, bound}:
            return []
        return await self._chats.list(
            caller.user_id,
            agent_id=agent_id if bound is None else bound,
            after=after,
            limit=limit,
        )

    async def delete(self, caller: Caller, chat_id: int) -> None:
        """Its messages, its documents and their bytes go too, and what runs for it ends."""
        chat = await self.get(caller, chat_id)
        thing = personal(chat.user_id, agent_id=chat.agent_id)
        require(caller, "change", thing, what=f"chat {chat_id}")
        keys = await self._documents.keys(chat_id=chat_id)
        await self._chats.delete(chat_id)
        await self._ended(chat.id, chat.uuid)
        for key in keys:
            await self._blobs.delete(key)

    async def send(self, caller: Caller, chat_id: int, content: str) -> Message:
        """Store the message, run the tool call that it is, and store and return the reply.

        Raises InvalidRequest, and stores nothing, for a text that is not a direct call.
        """
        chat = await self.get(caller, chat_id)
        if len(content) > MAX_CONTENT:
            raise InvalidRequest(
                f"The message is longer than {MAX_CONTENT} characters.", where="content"
            )
        return await self._replying.reply(self._entrance.inside(caller, chat), chat, content)

    async def tasks(self, caller: Caller, chat_id: int) -> Sequence[Task]:
        """The chat's task list, as its agent keeps it."""
        await self.get(caller, chat_id)
        return await self._tasks.list(chat_id)

    async def messages(
        self, caller: Caller, chat_id: int, *, after: int = 0, limit: int = 50
    ) -> Sequence[Message]:
        """Oldest first."""
        await self.get(caller, chat_id)
        return await self._chats.messages(chat_id, after=after, limit=limit)
