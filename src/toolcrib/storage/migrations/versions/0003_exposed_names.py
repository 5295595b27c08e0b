"""This migration keeps the names under which agents know the tools of servers and packages.

Going back forgets them; they are given anew then, and may differ.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_SORTABLE = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "exposed_names",
        sa.Column(
            "agent_id", _ID, sa.ForeignKey("agents.id", ondelete="CASCADE"), primary_key=True
        ),
        sa.Column("source", _SORTABLE, primary_key=True),
        sa.Column("original", _SORTABLE, primary_key=True),
        sa.Column("exposed", _SORTABLE, nullable=False),
    )
    op.create_index("exposed_names_by_name", "exposed_names", ["agent_id", "exposed"], unique=True)


def downgrade() -> None:
    op.drop_table("exposed_names")
