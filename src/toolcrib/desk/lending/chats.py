"""This module lends a call its chat, and the chats below and above it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

from toolcrib.agents.chats import Chat, ChatStore, Message
from toolcrib.desk.chats import MAX_CONTENT, Chats
from toolcrib.desk.lending.asking import chat_of, running
from toolcrib.desk.replying import storable
from toolcrib.errors import InvalidRequest, NotFound
from toolcrib.plugin.lent import Row

_PAGE = 200


class LentChats:
    """The OwnChat of `plugin.lent`."""

    def __init__(self, *, chats: ChatStore, desk: Chats) -> None:
        self._chats = chats
        self._desk = desk

    async def say(self, text: str) -> int:
        return await self._said(chat_of(running()).id, text)

    async def message(self, message_id: int) -> Row:
        chat = chat_of(running())
        found = await self._chats.messages(chat.id, after=message_id - 1, limit=1)
        if not found or found[0].id != message_id:
            raise NotFound(f"This chat has no message {message_id}.")
        return _row(found[0])

    async def messages(self) -> Sequence[Row]:
        chat = chat_of(running())
        rows: list[Row] = []
        after = 0
        while page := await self._chats.messages(chat.id, after=after, limit=_PAGE):
            rows += map(_row, page)
            after = page[-1].id
        return rows

    async def rename(self, title: str) -> None:
        await self._chats.rename(chat_of(running()).id, storable(title))

    async def add_tools(self, names: Sequence[str]) -> Sequence[str]:
        chat = await self._chats.add_tools(chat_of(running()).id, names)
        return chat.dynamic_tools

    async def open_subchat(self, title: str) -> Row:
        call = running()
        above = await self._desk.get(call.caller, chat_of(call).id)
        context = {**above.context, "parent_chat_id": above.id}
        made = await self._desk.create(call.caller, agent_id=above.agent_id, context=context)
        named = await self._chats.rename(made.id, storable(title))
        return _shown(named)

    async def subchats(self) -> Sequence[Row]:
        return [_shown(chat) async for chat in self._below()]

    async def send_to_subchat(self, chat_id: int, content: str) -> str:
        if chat_id not in [chat.id async for chat in self._below()]:
            raise NotFound(f"There is no chat {chat_id} below this one.")
        return (await self._desk.send(running().caller, chat_id, content)).content

    async def tell_parent(self, text: str) -> int:
        call = running()
        parent = call.caller.context.parent_chat_id
        if parent is None:
            raise NotFound("There is no chat above this one.")
        above = await self._desk.get(call.caller, parent)
        return await self._said(above.id, text)

    async def _below(self) -> AsyncIterator[Chat]:
        call = running()
        chat = chat_of(call)
        after = chat.id  # a subchat is younger than the chat above it
        while page := await self._desk.list(call.caller, after=after, limit=_PAGE):
            for one in page:
                if one.context.get("parent_chat_id") == chat.id:
                    yield one
            after = page[-1].id

    async def _said(self, chat_id: int, text: str) -> int:
        if len(text) > MAX_CONTENT:
            raise InvalidRequest(f"The message is longer than {MAX_CONTENT} characters.")
        message = await self._chats.add_message(
            chat_id=chat_id, role="assistant", content=storable(text)
        )
        return message.id


def _row(message: Message) -> Row:
    return {
        "id": message.id,
        "role": message.role,
        "content": message.content,
        "created_at": message.created_at,
    }


def _shown(chat: Chat) -> Row:
    return {"id": chat.id, "title": chat.title}
