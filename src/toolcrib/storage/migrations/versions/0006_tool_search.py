"""This migration lets an agent say whether its tools are offered through search.

Going back shows all tools of every agent again.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "agents", sa.Column("tool_search", sa.Text(), nullable=False, server_default="auto")
    )


def downgrade() -> None:
    op.drop_column("agents", "tool_search")
