"""This module serves chats and their messages."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query, Response

from toolcrib.surfaces.http.asking import LARGEST_ID, NO_CONTENT, Id, TheCaller, TheDesk, router
from toolcrib.surfaces.http.paging import Asked, page
from toolcrib.surfaces.http.shapes.chats import (
    ChatBody,
    ChatRow,
    MessageBody,
    MessageRow,
    TaskRow,
    message_row,
)
from toolcrib.surfaces.http.shapes.fields import PageOf
from toolcrib.surfaces.http.writing import Json

routes = router("chats", "/api/v1/chats")


@routes.post("", status_code=201)
async def create(body: ChatBody, caller: TheCaller, desk: TheDesk) -> ChatRow:
    """Begin a chat with an agent. Its context holds for every call in it."""
    return ChatRow.of(await desk.chats.create(caller, agent_id=body.agent_id, context=body.context))


@routes.get("", response_model=PageOf[ChatRow])
async def list_all(
    caller: TheCaller,
    desk: TheDesk,
    asked: Asked,
    agent: Annotated[int | None, Query(ge=1, le=LARGEST_ID)] = None,
) -> Any:
    """Your own chats."""
    rows = await desk.chats.list(caller, agent_id=agent, after=asked.after_id(), limit=asked.wanted)
    return page(rows, asked, ChatRow.of, lambda row: row.id)


@routes.get("/{chat_id}")
async def show(chat_id: Id, caller: TheCaller, desk: TheDesk) -> ChatRow:
    """One chat."""
    return ChatRow.of(await desk.chats.get(caller, chat_id))


@routes.delete("/{chat_id}", **NO_CONTENT)
async def delete(chat_id: Id, caller: TheCaller, desk: TheDesk) -> None:
    """Delete the chat with its messages and documents."""
    await desk.chats.delete(caller, chat_id)


@routes.get("/{chat_id}/tasks", response_model=PageOf[TaskRow])
async def tasks(chat_id: Id, caller: TheCaller, desk: TheDesk) -> Any:
    """The chat's task list, whole, in the order in which it was made."""
    rows = await desk.chats.tasks(caller, chat_id)
    return {"items": [TaskRow.of(row) for row in rows], "next_cursor": None}


@routes.get("/{chat_id}/messages", response_model=PageOf[MessageRow])
async def messages(chat_id: Id, caller: TheCaller, desk: TheDesk, asked: Asked) -> Response:
    """Oldest first."""
    rows = await desk.chats.messages(caller, chat_id, after=asked.after_id(), limit=asked.wanted)
    return Json(page(rows, asked, message_row, lambda row: row.id))


@routes.post("/{chat_id}/messages", response_model=MessageRow)
async def send(chat_id: Id, body: MessageBody, caller: TheCaller, desk: TheDesk) -> Response:
    """Say something. `@tool:name({...})` calls a tool; its result is the reply."""
    return Json(message_row(await desk.chats.send(caller, chat_id, body.content)))
