"""This migration keeps pins: the definitions of tools, and which of them people accepted.

Going back forgets them; every tool is then accepted at its next first sight.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_SORTABLE = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "pins",
        sa.Column("id", _ID, primary_key=True),
        sa.Column("source", _SORTABLE, nullable=False),
        sa.Column("name", _SORTABLE, nullable=False),
        sa.Column("ref", _SORTABLE, nullable=False),
        sa.Column("fingerprint", _SORTABLE, nullable=False),
        sa.Column("definition", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("state", _SORTABLE, nullable=False),
        sa.Column("how", sa.Text(), nullable=False),
        sa.Column("summary", sa.Text(), nullable=False),
        sa.Column("seen_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("decided_at", sa.DateTime(timezone=True)),
        sa.Column("decided_by", _ID),
        sqlite_autoincrement=True,
    )
    op.create_index("pins_by_tool", "pins", ["source", "name", "fingerprint"], unique=True)
    op.create_index("pins_by_ref", "pins", ["ref"])
    op.create_index("pins_by_state", "pins", ["state", "id"])


def downgrade() -> None:
    op.drop_table("pins")
