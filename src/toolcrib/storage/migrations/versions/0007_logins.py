"""This migration keeps logins at other servers, what was begun of them, and registered clients.

Going back forgets them: people connect again afterwards.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
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


def upgrade() -> None:
    op.create_table(
        "logins",
        sa.Column("ref", _SORTABLE, primary_key=True),
        sa.Column("owner", _SORTABLE, primary_key=True),
        *_owner(),
        sa.Column("issuer", sa.Text(), nullable=False),
        sa.Column("resource", sa.Text(), nullable=False),
        sa.Column("scopes", sa.JSON(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("error", sa.Text()),
        sa.Column("expires_at", _MOMENT),
        sa.Column("renewable", sa.Boolean(), nullable=False),
        sa.Column("sealed", sa.LargeBinary()),
        sa.Column("made", sa.Text(), nullable=False),
        sa.Column("version", _ID, nullable=False),
        sa.Column("leased_by", sa.Text()),
        sa.Column("leased_until", _MOMENT),
        sa.Column("updated_at", _MOMENT, nullable=False),
    )
    op.create_index("logins_by_owner", "logins", ["owner", "ref"])
    op.create_table(
        "login_attempts",
        sa.Column("digest", _SORTABLE, primary_key=True),
        sa.Column("begun_by", _ID, sa.ForeignKey("users.id", ondelete="CASCADE"), nullable=False),
        sa.Column("ref", sa.Text(), nullable=False),
        sa.Column("label", sa.Text(), nullable=False),
        *_owner(),
        sa.Column("sealed", sa.LargeBinary(), nullable=False),
        sa.Column("expires_at", _MOMENT, nullable=False),
    )
    op.create_index("login_attempts_by_end", "login_attempts", ["expires_at"])
    op.create_table(
        "login_clients",
        sa.Column("issuer", _SORTABLE, primary_key=True),
        sa.Column("redirect_uri", _SORTABLE, primary_key=True),
        sa.Column("sealed", sa.LargeBinary(), nullable=False),
    )


def downgrade() -> None:
    op.drop_table("login_clients")
    op.drop_table("login_attempts")
    op.drop_table("logins")
