"""This module lets a caller enter one of their chats: its context and group count from there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from toolcrib.agents.chats import Chat, ChatStore
from toolcrib.desk.reach import within_reach
from toolcrib.errors import InvalidRequest, NotFound, NotGranted
from toolcrib.grants.decide import personal
from toolcrib.identity.caller import Caller, ChatRef
from toolcrib.identity.context import Context, Environment

_REMEMBERED = 4096


class Entrance:
    """Finds chats and reads contexts. `environment` is the operator's word."""

    def __init__(self, *, chats: ChatStore, environment: Environment) -> None:
        self._chats = chats
        self._environment: Environment = environment
        self._plain = Context.of(None, environment=environment)
        self._outside: dict[int, tuple[Caller, Caller]] = {}

    async def chat(self, caller: Caller, chat_id: int) -> Chat:
        """One of the caller's own chats. Raises NotFound."""
        row = await self._chats.find(chat_id)
        thing = row and personal(row.user_id, agent_id=row.agent_id)
        return within_reach(row, caller, thing, what=f"chat {chat_id}")

    async def context(self, caller: Caller, values: Mapping[str, Any] | None) -> Context:
        """Raises InvalidRequest with the key that cannot be used."""
        context = Context.of(values, environment=self._environment)
        if context.parent_chat_id is not None:
            try:
                await self.chat(caller, context.parent_chat_id)
            except NotFound as error:
                raise InvalidRequest(error.message, where="context.parent_chat_id") from None
        return context

    async def outside(self, caller: Caller, values: Mapping[str, Any] | None) -> Caller:
        """The caller with a context of their own, in no chat.

        One Caller object without a context stays one outside: what is kept for it is found again.
        """
        if values is not None:
            return replace(caller, chat=None, context=await self.context(caller, values))
        known = self._outside.get(id(caller))
        if known is None or known[0] is not caller:
            known = (caller, replace(caller, chat=None, context=self._plain))
            if len(self._outside) >= _REMEMBERED:
                self._outside.clear()
            self._outside[id(caller)] = known
        return known[1]

    def inside(self, caller: Caller, chat: Chat) -> Caller:
        """The caller in the chat. Raises NotGranted when they left the chat's group."""
        if chat.group_id is not None and not (
            caller.belongs_to(chat.group_id) or caller.is_super_admin
        ):
            raise NotGranted(
                f"The chat belongs to group {chat.group_id}, which you are no member of any more."
            )
        return replace(
            caller,
            chat=ChatRef(id=chat.id, uuid=chat.uuid),
            context=Context.of(chat.context, environment=self._environment),
            group_id=caller.group_id if chat.group_id is None else chat.group_id,
        )
