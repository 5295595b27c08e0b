"""This module shapes chats, their messages and documents."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from toolcrib.agents.chats import Message
from toolcrib.desk.chats import MAX_CONTENT
from toolcrib.surfaces.http.shapes.fields import Body, IdField, JsonObject, Mirror, Row


class ChatBody(Body):
    agent_id: IdField
    context: JsonObject | None = None


class MessageBody(Body):
    content: Annotated[str, Field(min_length=1, max_length=MAX_CONTENT)]


class ChatRow(Mirror):
    id: int
    uuid: str
    user_id: int
    agent_id: int
    group_id: int | None
    context: JsonObject
    created_at: datetime
    title: str
    dynamic_tools: list[str]
    """Tool groups that an agent loaded in the chat."""


class TaskRow(Mirror):
    id: int
    section: str
    content: str
    status: Literal["pending", "completed", "cancelled"]
    created_at: datetime
    updated_at: datetime


class ToolCallRow(Row):
    call_id: str
    name: str
    arguments: JsonObject
    success: bool
    text: str


class MessageRow(Row):
    id: int
    role: Literal["user", "assistant"]
    content: str
    tool_calls: list[ToolCallRow]
    created_at: datetime


def message_row(message: Message) -> JsonObject:
    """The JSON of a MessageRow."""
    return {name: getattr(message, name) for name in MessageRow.model_fields}


class DocumentRow(Mirror):
    id: int
    chat_id: int
    filename: str
    mime_type: str
    size: int
    """Bytes."""
    created_at: datetime
