"""This module draws the table of requests that have a key."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, Index, LargeBinary

from toolcrib.storage.columns import Moment, Sortable, Words
from toolcrib.storage.drawing import table, to

repeats = table(
    "repeats",
    Column("digest", Sortable, primary_key=True),
    to("users", "user_id", gone="CASCADE"),
    Column("holder", Words, nullable=False),
    Column("sealed", LargeBinary, nullable=False),
    Column("done", Boolean, nullable=False),
    Column("leased_until", Moment, nullable=False),
    Column("expires_at", Moment, nullable=False),
)

Index("repeats_by_end", repeats.c.expires_at)
