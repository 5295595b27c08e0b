"""This module draws the tables. What is unique is an index here, so both databases hold to it.

Names are unique without regard to case: `name_key` is the case-folded name. Ids are never used
twice, even after a delete: an old record must not come to mean a new thing.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    LargeBinary,
    MetaData,
    Table,
    false,
    text,
)

from toolcrib.storage.columns import Id, Json, Moment, Number, Sortable, Words

metadata = MetaData()
NAME = 255


def _table(name: str, *columns: Column[Any] | Index) -> Table:
    return Table(name, metadata, *columns, sqlite_autoincrement="id" in {c.name for c in columns})


def _id() -> Column[int]:
    return Column("id", Id, primary_key=True)


def _version() -> Column[int]:
    return Column("version", Id, nullable=False, server_default="1")


def _to(target: str, name: str, *, gone: str | None = None, nullable: bool = False) -> Column[int]:
    """A reference; `gone` says what happens to this row when the other goes."""
    return Column(name, Id, ForeignKey(f"{target}.id", ondelete=gone), nullable=nullable)


def _index(name: str, *columns: str, where: str | None = None, unique: bool = False) -> Index:
    only = None if where is None else text(where)
    return Index(name, *columns, unique=unique, sqlite_where=only, postgresql_where=only)


groups = _table(
    "groups",
    _id(),
    Column("name", Words(NAME), nullable=False),
    Column("name_key", Sortable, nullable=False),
    Column("created_at", Moment, nullable=False),
    _version(),
    _index("groups_by_name", "name_key", unique=True),
)

users = _table(
    "users",
    _id(),
    Column("name", Words(NAME), nullable=False),
    Column("name_key", Sortable, nullable=False),
    Column("role", Words, nullable=False),
    Column("entitlements", Json, nullable=False),
    Column("password_hash", Words),
    Column("created_at", Moment, nullable=False),
    _version(),
    _index("users_by_name", "name_key", unique=True),
)

memberships = _table(
    "memberships",
    Column("user_id", Id, ForeignKey("users.id", ondelete="CASCADE"), primary_key=True),
    Column("group_id", Id, ForeignKey("groups.id", ondelete="CASCADE"), primary_key=True),
    _index("memberships_by_group", "group_id", "user_id"),
)

capabilities = _table(
    "capabilities",
    _id(),
    Column("name", Words(NAME), nullable=False),
    Column("code", Sortable(NAME), nullable=False),
    Column("type", Words, nullable=False),
    Column("options", Json),
    Column("description", Words, nullable=False),
    Column("is_default", Boolean, nullable=False),
    Column("ordering", Number, nullable=False),
    Column("access_type", Words, nullable=False),
    _to("groups", "group_id", nullable=True),
    _to("users", "owner_id", nullable=True),
    Column("archived", Boolean, nullable=False, server_default=false()),
    Column("help", Words, nullable=False),
    Column("help_url", Words, nullable=False),
    _version(),
    Column("created_at", Moment, nullable=False),
    Column("updated_at", Moment, nullable=False),
    _index(
        "capabilities_of_all",
        "code",
        "access_type",
        unique=True,
        where="NOT archived AND access_type IN ('system', 'user')",
    ),
    _index(
        "capabilities_of_group",
        "code",
        "group_id",
        unique=True,
        where="NOT archived AND access_type = 'group'",
    ),
    _index(
        "capabilities_of_owner",
        "code",
        "owner_id",
        unique=True,
        where="NOT archived AND access_type = 'private'",
    ),
    _index("capabilities_by_default", "id", where="is_default AND NOT archived"),
)

capability_codes = _table(
    "capability_codes",
    Column("code", Sortable, primary_key=True),
    Column(
        "capability_id", Id, ForeignKey("capabilities.id", ondelete="CASCADE"), primary_key=True
    ),
    _index("capability_codes_by_capability", "capability_id"),
)

agents = _table(
    "agents",
    _id(),
    Column("name", Words(NAME), nullable=False),
    Column("name_key", Sortable, nullable=False),
    Column("model", Words, nullable=False),
    Column("system_prompt", Words, nullable=False),
    _to("groups", "group_id", nullable=True),
    _to("users", "creator_id"),
    Column("mcp_mode", Words, nullable=False),
    Column("tools_config", Json, nullable=False),
    Column("extra", Json, nullable=False),
    _version(),
    Column("created_at", Moment, nullable=False),
    _index("agents_of_group", "group_id", "name_key", unique=True, where="group_id IS NOT NULL"),
    _index("agents_of_creator", "creator_id", "name_key", unique=True, where="group_id IS NULL"),
)

agent_capabilities = _table(
    "agent_capabilities",
    Column("agent_id", Id, ForeignKey("agents.id", ondelete="CASCADE"), primary_key=True),
    Column(
        "capability_id", Id, ForeignKey("capabilities.id", ondelete="CASCADE"), primary_key=True
    ),
    Column("position", Id, nullable=False),
    _index("agent_capabilities_by_capability", "capability_id"),
)

tokens = _table(
    "tokens",
    Column("id", Sortable, primary_key=True),
    Column("digest", Sortable, nullable=False),
    _to("users", "user_id", gone="CASCADE"),
    Column("name", Words(NAME), nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("expires_at", Moment),
    # CASCADE, never SET NULL: a token for one agent must not become one for all.
    _to("agents", "agent_id", gone="CASCADE", nullable=True),
    _index("tokens_by_digest", "digest", unique=True),
    _index("tokens_by_user", "user_id"),
    _index("tokens_by_agent", "agent_id"),
)

settings = _table(
    "settings",
    _id(),
    Column("name", Sortable(NAME), nullable=False),
    _to("users", "user_id", gone="CASCADE", nullable=True),
    _to("groups", "group_id", gone="CASCADE", nullable=True),
    Column("sealed", LargeBinary, nullable=False),
    Column("hosts", Json, nullable=False),
    Column("updated_at", Moment, nullable=False),
    _index("settings_of_user", "user_id", "name", unique=True, where="user_id IS NOT NULL"),
    _index("settings_of_group", "group_id", "name", unique=True, where="group_id IS NOT NULL"),
)

chats = _table(
    "chats",
    _id(),
    Column("uuid", Sortable(NAME), nullable=False),
    _to("users", "user_id", gone="CASCADE"),
    _to("agents", "agent_id", gone="CASCADE"),
    _to("groups", "group_id", gone="SET NULL", nullable=True),
    Column("context", Json, nullable=False),
    Column("created_at", Moment, nullable=False),
    _index("chats_by_uuid", "uuid", unique=True),
    _index("chats_by_user", "user_id", "id"),
    _index("chats_by_agent", "agent_id"),
)

messages = _table(
    "messages",
    _id(),
    _to("chats", "chat_id", gone="CASCADE"),
    Column("role", Words, nullable=False),
    Column("content", Words, nullable=False),
    Column("tool_calls", Json, nullable=False),
    Column("created_at", Moment, nullable=False),
    _index("messages_by_chat", "chat_id", "id"),
)

documents = _table(
    "documents",
    _id(),
    _to("chats", "chat_id", gone="CASCADE"),
    _to("users", "user_id", gone="CASCADE"),
    Column("filename", Words, nullable=False),
    Column("mime_type", Words, nullable=False),
    Column("size", Number, nullable=False),
    Column("key", Words, nullable=False),
    Column("created_at", Moment, nullable=False),
    _index("documents_by_chat", "chat_id", "id"),
)

# No references: what happened stays true when those it happened to are gone.
calls = _table(
    "calls",
    Column("call_id", Sortable, primary_key=True),
    Column("ref", Words, nullable=False),
    Column("tool", Words, nullable=False),
    Column("read_only", Boolean, nullable=False),
    Column("user_id", Id, nullable=False),
    Column("group_id", Id),
    Column("agent_id", Id),
    Column("chat_id", Id),
    Column("started_at", Moment, nullable=False),
    Column("arguments", Json, nullable=False),
    Column("surface", Words, nullable=False),
    Column("duration_ms", Float),
    Column("success", Boolean),
    Column("error", Json),
    Column("truncated", Boolean, nullable=False, server_default=false()),
    _index("calls_by_user", "user_id", "call_id"),
    _index("calls_by_group", "group_id", "call_id"),
    _index("calls_by_agent", "agent_id", "call_id"),
    _index("calls_by_start", "started_at"),
)

generations = _table(
    "generations",
    Column("topic", Sortable, primary_key=True),
    Column("number", Id, nullable=False),
)
