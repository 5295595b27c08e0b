"""This module draws the tables of logins at other servers."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, Index, LargeBinary

from toolcrib.storage.columns import Id, Json, Moment, Sortable, Words
from toolcrib.storage.drawing import table, to


def _owner() -> tuple[Column[int], Column[int]]:
    """Whose it is: at most one of the two is set, and it goes with them."""
    return (
        to("users", "user_id", gone="CASCADE", nullable=True),
        to("groups", "group_id", gone="CASCADE", nullable=True),
    )


logins = table(
    "logins",
    Column("ref", Sortable, primary_key=True),
    Column("owner", Sortable, primary_key=True),
    *_owner(),
    Column("issuer", Words, nullable=False),
    Column("resource", Words, nullable=False),
    Column("scopes", Json, nullable=False),
    Column("status", Words, nullable=False),
    Column("error", Words),
    Column("expires_at", Moment),
    Column("renewable", Boolean, nullable=False),
    Column("sealed", LargeBinary),
    Column("made", Words, nullable=False),
    Column("version", Id, nullable=False),
    Column("leased_by", Words),
    Column("leased_until", Moment),
    Column("updated_at", Moment, nullable=False),
    Column("more_scopes", Json),
)

login_attempts = table(
    "login_attempts",
    to("users", "begun_by", gone="CASCADE", key=True),
    Column("ref", Sortable, primary_key=True),
    Column("owner", Sortable, primary_key=True),
    Column("label", Words, nullable=False),
    *_owner(),
    Column("digest", Sortable, nullable=False),
    Column("stage", Words, nullable=False),
    Column("state", Sortable),
    Column("browser", Words),
    Column("tries", Id, nullable=False),
    Column("sealed", LargeBinary, nullable=False),
    Column("expires_at", Moment, nullable=False),
)

login_clients = table(
    "login_clients",
    Column("issuer", Sortable, primary_key=True),
    Column("redirect_uri", Sortable, primary_key=True),
    Column("sealed", LargeBinary, nullable=False),
)

Index("logins_by_owner", logins.c.owner, logins.c.ref)
Index("login_attempts_by_end", login_attempts.c.expires_at)
Index("login_attempts_by_digest", login_attempts.c.digest, unique=True)
Index("login_attempts_by_state", login_attempts.c.state, unique=True)
