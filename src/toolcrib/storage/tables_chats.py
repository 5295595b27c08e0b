"""This module draws the tables of chats and of what is kept for their users."""

from __future__ import annotations

from sqlalchemy import Column

from toolcrib.storage.columns import Json, Moment, Number, Sortable, Words
from toolcrib.storage.drawing import NAME, own_id, table, to

chats = table(
    "chats",
    own_id(),
    Column("uuid", Sortable(NAME), nullable=False),
    to("users", "user_id", gone="CASCADE"),
    to("agents", "agent_id", gone="CASCADE"),
    to("groups", "group_id", gone="SET NULL", nullable=True),
    Column("context", Json, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("title", Words(NAME), nullable=False, server_default=""),
    Column("dynamic_tools", Json, nullable=False, server_default="[]"),
)

messages = table(
    "messages",
    own_id(),
    to("chats", "chat_id", gone="CASCADE"),
    Column("role", Words, nullable=False),
    Column("content", Words, nullable=False),
    Column("tool_calls", Json, nullable=False),
    Column("created_at", Moment, nullable=False),
)

documents = table(
    "documents",
    own_id(),
    to("chats", "chat_id", gone="CASCADE"),
    to("users", "user_id", gone="CASCADE"),
    Column("filename", Words, nullable=False),
    Column("mime_type", Words, nullable=False),
    Column("size", Number, nullable=False),
    Column("key", Words, nullable=False),
    Column("created_at", Moment, nullable=False),
)

tasks = table(
    "tasks",
    own_id(),
    to("chats", "chat_id", gone="CASCADE"),
    Column("section", Words(NAME), nullable=False),
    Column("content", Words, nullable=False),
    Column("status", Words, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("updated_at", Moment, nullable=False),
)

memories = table(
    "memories",
    own_id(),
    to("users", "user_id", gone="CASCADE"),
    Column("content", Words, nullable=False),
    Column("created_at", Moment, nullable=False),
)
