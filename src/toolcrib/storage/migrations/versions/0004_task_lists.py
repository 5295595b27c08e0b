"""This migration makes task lists of chats, memories of users, and lets a chat have a title and
the tools that were loaded in it.

Going back removes all of them and what they hold.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_MOMENT = sa.DateTime(timezone=True)


def upgrade() -> None:
    op.create_table(
        "tasks",
        sa.Column("id", _ID, primary_key=True),
        sa.Column("chat_id", _ID, sa.ForeignKey("chats.id", ondelete="CASCADE"), nullable=False),
        sa.Column("section", sa.Text(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("created_at", _MOMENT, nullable=False),
        sa.Column("updated_at", _MOMENT, nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_index("tasks_by_chat", "tasks", ["chat_id", "id"])
    op.create_table(
        "memories",
        sa.Column("id", _ID, primary_key=True),
        sa.Column("user_id", _ID, sa.ForeignKey("users.id", ondelete="CASCADE"), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("created_at", _MOMENT, nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_index("memories_by_user", "memories", ["user_id", "id"])
    op.add_column("chats", sa.Column("title", sa.Text(), nullable=False, server_default=""))
    op.add_column(
        "chats", sa.Column("dynamic_tools", sa.JSON(), nullable=False, server_default="[]")
    )


def downgrade() -> None:
    op.drop_column("chats", "dynamic_tools")
    op.drop_column("chats", "title")
    op.drop_table("memories")
    op.drop_table("tasks")
