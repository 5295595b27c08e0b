"""This module draws the tables; `indexes` says what is unique in them and found fast.

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
    LargeBinary,
    MetaData,
    Table,
    false,
)

from toolcrib.storage.columns import Id, Json, Moment, Number, Sortable, Words

metadata = MetaData()
NAME = 255
LIVE_DEFAULTS = "is_default AND NOT archived"
"""The condition of an index; SQLite uses it only for a query that says the same words."""


def _table(name: str, *columns: Column[Any]) -> Table:
    counted = any(c.name == "id" and isinstance(c.type, Id) for c in columns)
    return Table(name, metadata, *columns, sqlite_autoincrement=counted)


def _id() -> Column[int]:
    return Column("id", Id, primary_key=True)


def _version() -> Column[int]:
    return Column("version", Id, nullable=False, server_default="1")


def _to(target: str, name: str, *, gone: str | None = None, nullable: bool = False) -> Column[int]:
    """A reference; `gone` says what happens to this row when the other goes."""
    return Column(name, Id, ForeignKey(f"{target}.id", ondelete=gone), nullable=nullable)


groups = _table(
    "groups",
    _id(),
    Column("name", Words(NAME), nullable=False),
    Column("name_key", Sortable, nullable=False),
    Column("created_at", Moment, nullable=False),
    _version(),
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
)

memberships = _table(
    "memberships",
    Column("user_id", Id, ForeignKey("users.id", ondelete="CASCADE"), primary_key=True),
    Column("group_id", Id, ForeignKey("groups.id", ondelete="CASCADE"), primary_key=True),
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
)

capability_codes = _table(
    "capability_codes",
    Column("code", Sortable, primary_key=True),
    Column(
        "capability_id", Id, ForeignKey("capabilities.id", ondelete="CASCADE"), primary_key=True
    ),
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
    Column("codes", Json, nullable=False, server_default="[]"),
    Column("tool_search", Words, nullable=False, server_default="auto"),
    _version(),
    Column("created_at", Moment, nullable=False),
)

agent_capabilities = _table(
    "agent_capabilities",
    Column("agent_id", Id, ForeignKey("agents.id", ondelete="CASCADE"), primary_key=True),
    Column(
        "capability_id", Id, ForeignKey("capabilities.id", ondelete="CASCADE"), primary_key=True
    ),
    Column("position", Id, nullable=False),
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
)

secrets = _table(
    "secrets",
    Column("name", Sortable(NAME), primary_key=True),
    Column("sealed", LargeBinary, nullable=False),
    Column("hosts", Json, nullable=False),
    Column("updated_at", Moment, nullable=False),
)

packages = _table(
    "packages",
    Column("slug", Sortable(NAME), primary_key=True),
    Column("name", Words(NAME), nullable=False),
    Column("type", Words, nullable=False),
    Column("description", Words, nullable=False),
    Column("package_version", Words, nullable=False),
    Column("config", Json, nullable=False),
    Column("input_schema", Json),
    Column("category", Words, nullable=False),
    Column("icon", Words, nullable=False),
    Column("author", Words, nullable=False),
    Column("enabled", Boolean, nullable=False),
    Column("last_test", Json),
    Column("installed_at", Moment, nullable=False),
    _version(),
)

exposed_names = _table(
    "exposed_names",
    Column("agent_id", Id, ForeignKey("agents.id", ondelete="CASCADE"), primary_key=True),
    Column("source", Sortable, primary_key=True),
    Column("original", Sortable, primary_key=True),
    Column("exposed", Sortable, nullable=False),
)

# No references: what was accepted, and by whom, stays true when they are gone.
pins = _table(
    "pins",
    _id(),
    Column("source", Sortable, nullable=False),
    Column("name", Sortable, nullable=False),
    Column("ref", Sortable, nullable=False),
    Column("fingerprint", Sortable, nullable=False),
    Column("definition", Json, nullable=False),
    Column("state", Sortable, nullable=False),
    Column("how", Words, nullable=False),
    Column("summary", Words, nullable=False),
    Column("seen_at", Moment, nullable=False),
    Column("decided_at", Moment),
    Column("decided_by", Id),
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
    Column("title", Words(NAME), nullable=False, server_default=""),
    Column("dynamic_tools", Json, nullable=False, server_default="[]"),
)

messages = _table(
    "messages",
    _id(),
    _to("chats", "chat_id", gone="CASCADE"),
    Column("role", Words, nullable=False),
    Column("content", Words, nullable=False),
    Column("tool_calls", Json, nullable=False),
    Column("created_at", Moment, nullable=False),
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
)

tasks = _table(
    "tasks",
    _id(),
    _to("chats", "chat_id", gone="CASCADE"),
    Column("section", Words(NAME), nullable=False),
    Column("content", Words, nullable=False),
    Column("status", Words, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("updated_at", Moment, nullable=False),
)

memories = _table(
    "memories",
    _id(),
    _to("users", "user_id", gone="CASCADE"),
    Column("content", Words, nullable=False),
    Column("created_at", Moment, nullable=False),
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
)

generations = _table(
    "generations",
    Column("topic", Sortable, primary_key=True),
    Column("number", Id, nullable=False),
)
