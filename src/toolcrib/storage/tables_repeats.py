"""This module draws the table of requests that have a key."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, ForeignKey, Index, LargeBinary, Table

from toolcrib.storage.columns import Id, Moment, Sortable, Words
from toolcrib.storage.tables import metadata

repeats = Table(
    "repeats",
    metadata,
    Column("digest", Sortable, primary_key=True),
    Column("user_id", Id, ForeignKey("users.id", ondelete="CASCADE"), nullable=False),
    Column("holder", Words, nullable=False),
    Column("sealed", LargeBinary, nullable=False),
    Column("done", Boolean, nullable=False),
    Column("leased_until", Moment, nullable=False),
    Column("expires_at", Moment, nullable=False),
)

Index("repeats_by_end", repeats.c.expires_at)
