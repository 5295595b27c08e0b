"""This migration makes the first tables; going back removes them and all that they hold."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

Column = sa.Column[Any]
_BIG = sa.BigInteger()
_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_MOMENT = sa.DateTime(timezone=True)
_SORTABLE = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_TABLES = (
    "groups",
    "users",
    "memberships",
    "capabilities",
    "capability_codes",
    "agents",
    "agent_capabilities",
    "tokens",
    "settings",
    "chats",
    "messages",
    "documents",
    "calls",
    "generations",
)


def upgrade() -> None:
    _accounts()
    _capabilities()
    _agents()
    _tokens_and_settings()
    _chats()
    _calls()
    _table(
        "generations",
        sa.Column("topic", _SORTABLE, primary_key=True),
        sa.Column("number", _ID, nullable=False),
    )


def downgrade() -> None:
    for name in reversed(_TABLES):
        op.drop_table(name)


def _accounts() -> None:
    _table("groups", _id(), *_named(), _moment("created_at"), _version())
    _unique("groups_by_name", "groups", "name_key")
    _table(
        "users",
        _id(),
        *_named(),
        _text("role"),
        _json("entitlements"),
        _text("password_hash", nullable=True),
        _moment("created_at"),
        _version(),
    )
    _unique("users_by_name", "users", "name_key")
    _table(
        "memberships",
        _to("users", "user_id", gone="CASCADE", primary_key=True),
        _to("groups", "group_id", gone="CASCADE", primary_key=True),
    )
    _index("memberships_by_group", "memberships", "group_id", "user_id")


def _capabilities() -> None:
    _table(
        "capabilities",
        _id(),
        _text("name"),
        sa.Column("code", _SORTABLE, nullable=False),
        _text("type"),
        _json("options", nullable=True),
        _text("description"),
        sa.Column("is_default", sa.Boolean(), nullable=False),
        sa.Column("ordering", _BIG, nullable=False),
        _text("access_type"),
        _to("groups", "group_id", nullable=True),
        _to("users", "owner_id", nullable=True),
        sa.Column("archived", sa.Boolean(), nullable=False, server_default=sa.false()),
        _text("help"),
        _text("help_url"),
        _version(),
        _moment("created_at"),
        _moment("updated_at"),
    )
    live = "NOT archived AND access_type"
    for name, column, where in (
        ("capabilities_of_all", "access_type", f"{live} IN ('system', 'user')"),
        ("capabilities_of_group", "group_id", f"{live} = 'group'"),
        ("capabilities_of_owner", "owner_id", f"{live} = 'private'"),
    ):
        _unique(name, "capabilities", "code", column, where=where)
    _index("capabilities_by_default", "capabilities", "id", where="is_default AND NOT archived")
    _table(
        "capability_codes",
        sa.Column("code", _SORTABLE, primary_key=True),
        _to("capabilities", "capability_id", gone="CASCADE", primary_key=True),
    )
    _index("capability_codes_by_capability", "capability_codes", "capability_id")


def _agents() -> None:
    _table(
        "agents",
        _id(),
        *_named(),
        _text("model"),
        _text("system_prompt"),
        _to("groups", "group_id", nullable=True),
        _to("users", "creator_id"),
        _text("mcp_mode"),
        _json("tools_config"),
        _json("extra"),
        _version(),
        _moment("created_at"),
    )
    _unique("agents_of_group", "agents", "group_id", "name_key", where="group_id IS NOT NULL")
    _unique("agents_of_creator", "agents", "creator_id", "name_key", where="group_id IS NULL")
    _table(
        "agent_capabilities",
        _to("agents", "agent_id", gone="CASCADE", primary_key=True),
        _to("capabilities", "capability_id", gone="CASCADE", primary_key=True),
        sa.Column("position", _ID, nullable=False),
    )
    _index("agent_capabilities_by_capability", "agent_capabilities", "capability_id")


def _tokens_and_settings() -> None:
    _table(
        "tokens",
        sa.Column("id", _SORTABLE, primary_key=True),
        sa.Column("digest", _SORTABLE, nullable=False),
        _to("users", "user_id", gone="CASCADE"),
        _text("name"),
        _moment("created_at"),
        _moment("expires_at", nullable=True),
        _to("agents", "agent_id", gone="CASCADE", nullable=True),
    )
    _unique("tokens_by_digest", "tokens", "digest")
    _index("tokens_by_user", "tokens", "user_id")
    _index("tokens_by_agent", "tokens", "agent_id")
    _table(
        "settings",
        _id(),
        sa.Column("name", _SORTABLE, nullable=False),
        _to("users", "user_id", gone="CASCADE", nullable=True),
        _to("groups", "group_id", gone="CASCADE", nullable=True),
        sa.Column("sealed", sa.LargeBinary(), nullable=False),
        _json("hosts"),
        _moment("updated_at"),
    )
    _unique("settings_of_user", "settings", "user_id", "name", where="user_id IS NOT NULL")
    _unique("settings_of_group", "settings", "group_id", "name", where="group_id IS NOT NULL")


def _chats() -> None:
    _table(
        "chats",
        _id(),
        sa.Column("uuid", _SORTABLE, nullable=False),
        _to("users", "user_id", gone="CASCADE"),
        _to("agents", "agent_id", gone="CASCADE"),
        _to("groups", "group_id", gone="SET NULL", nullable=True),
        _json("context"),
        _moment("created_at"),
    )
    _unique("chats_by_uuid", "chats", "uuid")
    _index("chats_by_user", "chats", "user_id", "id")
    _index("chats_by_agent", "chats", "agent_id")
    _table(
        "messages",
        _id(),
        _to("chats", "chat_id", gone="CASCADE"),
        _text("role"),
        _text("content"),
        _json("tool_calls"),
        _moment("created_at"),
    )
    _index("messages_by_chat", "messages", "chat_id", "id")
    _table(
        "documents",
        _id(),
        _to("chats", "chat_id", gone="CASCADE"),
        _to("users", "user_id", gone="CASCADE"),
        _text("filename"),
        _text("mime_type"),
        sa.Column("size", _BIG, nullable=False),
        _text("key"),
        _moment("created_at"),
    )
    _index("documents_by_chat", "documents", "chat_id", "id")


def _calls() -> None:
    _table(
        "calls",
        sa.Column("call_id", _SORTABLE, primary_key=True),
        _text("ref"),
        _text("tool"),
        sa.Column("read_only", sa.Boolean(), nullable=False),
        sa.Column("user_id", _ID, nullable=False),
        sa.Column("group_id", _ID),
        sa.Column("agent_id", _ID),
        sa.Column("chat_id", _ID),
        _moment("started_at"),
        _json("arguments"),
        _text("surface"),
        sa.Column("duration_ms", sa.Float()),
        sa.Column("success", sa.Boolean()),
        _json("error", nullable=True),
        sa.Column("truncated", sa.Boolean(), nullable=False, server_default=sa.false()),
    )
    for whose in ("user", "group", "agent"):
        _index(f"calls_by_{whose}", "calls", f"{whose}_id", "call_id")
    _index("calls_by_start", "calls", "started_at")


def _table(name: str, *columns: Column) -> None:
    counted = any(column.name == "id" and column.type is _ID for column in columns)
    op.create_table(name, *columns, sqlite_autoincrement=counted)


def _index(
    name: str, table: str, *columns: str, where: str | None = None, unique: bool = False
) -> None:
    only = None if where is None else sa.text(where)
    op.create_index(
        name, table, list(columns), unique=unique, sqlite_where=only, postgresql_where=only
    )


def _unique(name: str, table: str, *columns: str, where: str | None = None) -> None:
    _index(name, table, *columns, where=where, unique=True)


def _id() -> Column:
    return sa.Column("id", _ID, primary_key=True)


def _named() -> tuple[Column, Column]:
    return _text("name"), sa.Column("name_key", _SORTABLE, nullable=False)


def _version() -> Column:
    return sa.Column("version", _ID, nullable=False, server_default="1")


def _text(name: str, *, nullable: bool = False) -> Column:
    return sa.Column(name, sa.Text(), nullable=nullable)


def _json(name: str, *, nullable: bool = False) -> Column:
    return sa.Column(name, sa.JSON(), nullable=nullable)


def _moment(name: str, *, nullable: bool = False) -> Column:
    return sa.Column(name, _MOMENT, nullable=nullable)


def _to(
    target: str,
    name: str,
    *,
    gone: str | None = None,
    nullable: bool = False,
    primary_key: bool = False,
) -> Column:
    return sa.Column(
        name,
        _ID,
        sa.ForeignKey(f"{target}.id", ondelete=gone),
        nullable=nullable,
        primary_key=primary_key,
    )
