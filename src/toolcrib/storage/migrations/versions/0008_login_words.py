"""This migration keeps a login until the person who began it confirms it, and which further scopes
its server wants.

What was begun lives for minutes, so its table is made anew: whoever was logging in begins again.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_MOMENT = sa.DateTime(timezone=True)
_SORTABLE = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def _owner() -> tuple[sa.Column[int], sa.Column[int]]:
    return (
        sa.Column("user_id", _ID, sa.ForeignKey("users.id", ondelete="CASCADE")),
        sa.Column("group_id", _ID, sa.ForeignKey("groups.id", ondelete="CASCADE")),
    )


def _begun_by(*, first: bool) -> sa.Column[int]:
    gone = sa.ForeignKey("users.id", ondelete="CASCADE")
    return sa.Column("begun_by", _ID, gone, primary_key=first, nullable=False)


def upgrade() -> None:
    op.add_column("logins", sa.Column("more_scopes", sa.JSON()))
    op.drop_table("login_attempts")
    op.create_table(
        "login_attempts",
        _begun_by(first=True),
        sa.Column("ref", _SORTABLE, primary_key=True),
        sa.Column("owner", _SORTABLE, primary_key=True),
        sa.Column("label", sa.Text(), nullable=False),
        *_owner(),
        sa.Column("digest", _SORTABLE, nullable=False),
        sa.Column("stage", sa.Text(), nullable=False),
        sa.Column("state", _SORTABLE),
        sa.Column("browser", sa.Text()),
        sa.Column("tries", _ID, nullable=False),
        sa.Column("sealed", sa.LargeBinary(), nullable=False),
        sa.Column("expires_at", _MOMENT, nullable=False),
    )
    op.create_index("login_attempts_by_end", "login_attempts", ["expires_at"])
    op.create_index("login_attempts_by_digest", "login_attempts", ["digest"], unique=True)
    op.create_index("login_attempts_by_state", "login_attempts", ["state"], unique=True)


def downgrade() -> None:
    op.drop_table("login_attempts")
    op.create_table(
        "login_attempts",
        sa.Column("digest", _SORTABLE, primary_key=True),
        _begun_by(first=False),
        sa.Column("ref", sa.Text(), nullable=False),
        sa.Column("label", sa.Text(), nullable=False),
        *_owner(),
        sa.Column("sealed", sa.LargeBinary(), nullable=False),
        sa.Column("expires_at", _MOMENT, nullable=False),
    )
    op.create_index("login_attempts_by_end", "login_attempts", ["expires_at"])
    op.drop_column("logins", "more_scopes")
