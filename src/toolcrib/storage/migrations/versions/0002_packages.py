"""This migration makes packages and vault secrets, and lets an agent hold codes without a row.

Going back removes all three and what they hold.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_MOMENT = sa.DateTime(timezone=True)
_SORTABLE = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "packages",
        sa.Column("slug", _SORTABLE, primary_key=True),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("package_version", sa.Text(), nullable=False),
        sa.Column("config", sa.JSON(), nullable=False),
        sa.Column("input_schema", sa.JSON()),
        sa.Column("category", sa.Text(), nullable=False),
        sa.Column("icon", sa.Text(), nullable=False),
        sa.Column("author", sa.Text(), nullable=False),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.Column("last_test", sa.JSON()),
        sa.Column("installed_at", _MOMENT, nullable=False),
        sa.Column("version", _ID, nullable=False, server_default="1"),
    )
    op.create_table(
        "secrets",
        sa.Column("name", _SORTABLE, primary_key=True),
        sa.Column("sealed", sa.LargeBinary(), nullable=False),
        sa.Column("hosts", sa.JSON(), nullable=False),
        sa.Column("updated_at", _MOMENT, nullable=False),
    )
    op.add_column("agents", sa.Column("codes", sa.JSON(), nullable=False, server_default="[]"))


def downgrade() -> None:
    op.drop_column("agents", "codes")
    op.drop_table("secrets")
    op.drop_table("packages")
