"""This module draws the tables; `indexes` says what is unique in them and found fast.

Names are unique without regard to case: `name_key` is the case-folded name. What belongs to a chat
is drawn in `tables_chats`, logins in `tables_logins`, requests that have a key in `tables_repeats`.
"""

from __future__ import annotations

from sqlalchemy import Boolean, Column, Float, LargeBinary, false

from toolcrib.storage.columns import Id, Json, Moment, Number, Sortable, Words
from toolcrib.storage.drawing import NAME, own_id, table, to, version

LIVE_DEFAULTS = "is_default AND NOT archived"
"""The condition of an index; SQLite uses it only for a query that says the same words."""


groups = table(
    "groups",
    own_id(),
    Column("name", Words(NAME), nullable=False),
    Column("name_key", Sortable, nullable=False),
    Column("created_at", Moment, nullable=False),
    version(),
)

users = table(
    "users",
    own_id(),
    Column("name", Words(NAME), nullable=False),
    Column("name_key", Sortable, nullable=False),
    Column("role", Words, nullable=False),
    Column("entitlements", Json, nullable=False),
    Column("password_hash", Words),
    Column("created_at", Moment, nullable=False),
    version(),
)

memberships = table(
    "memberships",
    to("users", "user_id", gone="CASCADE", key=True),
    to("groups", "group_id", gone="CASCADE", key=True),
)

capabilities = table(
    "capabilities",
    own_id(),
    Column("name", Words(NAME), nullable=False),
    Column("code", Sortable(NAME), nullable=False),
    Column("type", Words, nullable=False),
    Column("options", Json),
    Column("description", Words, nullable=False),
    Column("is_default", Boolean, nullable=False),
    Column("ordering", Number, nullable=False),
    Column("access_type", Words, nullable=False),
    to("groups", "group_id", nullable=True),
    to("users", "owner_id", nullable=True),
    Column("archived", Boolean, nullable=False, server_default=false()),
    Column("help", Words, nullable=False),
    Column("help_url", Words, nullable=False),
    version(),
    Column("created_at", Moment, nullable=False),
    Column("updated_at", Moment, nullable=False),
)

capability_codes = table(
    "capability_codes",
    Column("code", Sortable, primary_key=True),
    to("capabilities", "capability_id", gone="CASCADE", key=True),
)

agents = table(
    "agents",
    own_id(),
    Column("name", Words(NAME), nullable=False),
    Column("name_key", Sortable, nullable=False),
    Column("model", Words, nullable=False),
    Column("system_prompt", Words, nullable=False),
    to("groups", "group_id", nullable=True),
    to("users", "creator_id"),
    Column("mcp_mode", Words, nullable=False),
    Column("tools_config", Json, nullable=False),
    Column("extra", Json, nullable=False),
    Column("codes", Json, nullable=False, server_default="[]"),
    Column("tool_search", Words, nullable=False, server_default="auto"),
    version(),
    Column("created_at", Moment, nullable=False),
)

agent_capabilities = table(
    "agent_capabilities",
    to("agents", "agent_id", gone="CASCADE", key=True),
    to("capabilities", "capability_id", gone="CASCADE", key=True),
    Column("position", Id, nullable=False),
)

tokens = table(
    "tokens",
    Column("id", Sortable, primary_key=True),
    Column("digest", Sortable, nullable=False),
    to("users", "user_id", gone="CASCADE"),
    Column("name", Words(NAME), nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("expires_at", Moment),
    # CASCADE, never SET NULL: a token for one agent must not become one for all.
    to("agents", "agent_id", gone="CASCADE", nullable=True),
)

settings = table(
    "settings",
    own_id(),
    Column("name", Sortable(NAME), nullable=False),
    to("users", "user_id", gone="CASCADE", nullable=True),
    to("groups", "group_id", gone="CASCADE", nullable=True),
    Column("sealed", LargeBinary, nullable=False),
    Column("hosts", Json, nullable=False),
    Column("updated_at", Moment, nullable=False),
)

secrets = table(
    "secrets",
    Column("name", Sortable(NAME), primary_key=True),
    Column("sealed", LargeBinary, nullable=False),
    Column("hosts", Json, nullable=False),
    Column("updated_at", Moment, nullable=False),
)

packages = table(
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
    version(),
)

exposed_names = table(
    "exposed_names",
    to("agents", "agent_id", gone="CASCADE", key=True),
    Column("source", Sortable, primary_key=True),
    Column("original", Sortable, primary_key=True),
    Column("exposed", Sortable, nullable=False),
)

# No references: what was accepted, and by whom, stays true when they are gone.
pins = table(
    "pins",
    own_id(),
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

# No references: what happened stays true when those it happened to are gone.
calls = table(
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

generations = table(
    "generations",
    Column("topic", Sortable, primary_key=True),
    Column("number", Id, nullable=False),
)
