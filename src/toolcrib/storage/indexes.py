"""This module says what is unique in the tables and what is found without reading all of them.

Only migrations import it: statements do not need it, and it loads both databases' dialects.
"""

from __future__ import annotations

from sqlalchemy import Index, Table, text

from toolcrib.storage import tables, tables_chats
from toolcrib.storage.drawing import metadata

__all__ = ["metadata"]


def _index(
    table: Table, name: str, *columns: str, where: str | None = None, unique: bool = False
) -> None:
    only = None if where is None else text(where)
    Index(
        name,
        *(table.c[column] for column in columns),
        unique=unique,
        sqlite_where=only,
        postgresql_where=only,
    )


_index(tables.groups, "groups_by_name", "name_key", unique=True)
_index(tables.users, "users_by_name", "name_key", unique=True)
_index(tables.memberships, "memberships_by_group", "group_id", "user_id")
_index(
    tables.capabilities,
    "capabilities_of_all",
    "code",
    "access_type",
    unique=True,
    where="NOT archived AND access_type IN ('system', 'user')",
)
_index(
    tables.capabilities,
    "capabilities_of_group",
    "code",
    "group_id",
    unique=True,
    where="NOT archived AND access_type = 'group'",
)
_index(
    tables.capabilities,
    "capabilities_of_owner",
    "code",
    "owner_id",
    unique=True,
    where="NOT archived AND access_type = 'private'",
)
_index(tables.capabilities, "capabilities_by_default", "id", where=tables.LIVE_DEFAULTS)
_index(tables.capability_codes, "capability_codes_by_capability", "capability_id")
_index(
    tables.agents,
    "agents_of_group",
    "group_id",
    "name_key",
    unique=True,
    where="group_id IS NOT NULL",
)
_index(
    tables.agents,
    "agents_of_creator",
    "creator_id",
    "name_key",
    unique=True,
    where="group_id IS NULL",
)
_index(tables.agent_capabilities, "agent_capabilities_by_capability", "capability_id")
_index(tables.tokens, "tokens_by_digest", "digest", unique=True)
_index(tables.tokens, "tokens_by_user", "user_id")
_index(tables.tokens, "tokens_by_agent", "agent_id")
_index(
    tables.settings, "settings_of_user", "user_id", "name", unique=True, where="user_id IS NOT NULL"
)
_index(
    tables.settings,
    "settings_of_group",
    "group_id",
    "name",
    unique=True,
    where="group_id IS NOT NULL",
)
_index(tables_chats.chats, "chats_by_uuid", "uuid", unique=True)
_index(tables_chats.chats, "chats_by_user", "user_id", "id")
_index(tables_chats.chats, "chats_by_agent", "agent_id")
_index(tables_chats.messages, "messages_by_chat", "chat_id", "id")
_index(tables_chats.tasks, "tasks_by_chat", "chat_id", "id")
_index(tables_chats.memories, "memories_by_user", "user_id", "id")
_index(tables_chats.documents, "documents_by_chat", "chat_id", "id")
_index(tables.calls, "calls_by_user", "user_id", "call_id")
_index(tables.calls, "calls_by_group", "group_id", "call_id")
_index(tables.calls, "calls_by_agent", "agent_id", "call_id")
_index(tables.calls, "calls_by_start", "started_at")
_index(tables.exposed_names, "exposed_names_by_name", "agent_id", "exposed", unique=True)
_index(tables.pins, "pins_by_tool", "source", "name", "fingerprint", unique=True)
_index(tables.pins, "pins_by_ref", "ref")
_index(tables.pins, "pins_by_state", "state", "id")
