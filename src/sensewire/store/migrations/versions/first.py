"""The first tables."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make them."""
    op.create_table(
        "batches",
        sa.Column("query", sa.Text(), nullable=False),
        sa.Column("batch", sa.BigInteger(), nullable=False),
        sa.Column("version", sa.Text(), nullable=False),
        sa.Column("change", sa.BigInteger(), nullable=False),
        sa.Column("now", sa.BigInteger(), nullable=False),
        sa.Column("done", sa.BigInteger(), nullable=True),
        sa.Column("first_event", sa.BigInteger(), nullable=True),
        sa.Column("events", sa.BigInteger(), nullable=True),
        sa.Column("matches", sa.BigInteger(), nullable=True),
        sa.Column("repeats", sa.BigInteger(), nullable=True),
        sa.Column("rejected", sa.BigInteger(), nullable=True),
        sa.Column("failed", sa.BigInteger(), nullable=True),
        sa.Column("position", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("query", "batch"),
    )
    op.create_table(
        "dead_letters",
        sa.Column(
            "number",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            autoincrement=True,
            nullable=False,
        ),
        sa.Column("query", sa.Text(), nullable=False),
        sa.Column("batch", sa.BigInteger(), nullable=False),
        sa.Column("place", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("raw", sa.LargeBinary(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=True),
        sa.Column("facts", sa.LargeBinary(), nullable=True),
        sa.Column("time", sa.BigInteger(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("tries", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("number"),
    )
    op.create_table(
        "events",
        sa.Column(
            "number",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            autoincrement=False,
            nullable=False,
        ),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=True),
        sa.Column("place", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("number"),
    )
    op.create_table(
        "failures",
        sa.Column("event", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("subscription", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("event", "subscription"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "heads",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("value", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name"),
    )
    op.create_table(
        "index_versions",
        sa.Column("query", sa.Text(), nullable=False),
        sa.Column("version", sa.Text(), nullable=False),
        sa.Column("change", sa.BigInteger(), nullable=False),
        sa.Column("knowledge", sa.Text(), nullable=False),
        sa.Column("subscriptions", sa.BigInteger(), nullable=False),
        sa.Column("planned", sa.Integer(), nullable=False),
        sa.Column("made", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("query", "version"),
    )
    op.create_table(
        "knowledge",
        sa.Column(
            "number",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            autoincrement=False,
            nullable=False,
        ),
        sa.Column("version", sa.Text(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.Column("taken", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("number"),
    )
    op.create_table(
        "ledger",
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("last", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("hashes", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("scope", "last"),
    )
    op.create_table(
        "log",
        sa.Column(
            "last",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            autoincrement=False,
            nullable=False,
        ),
        sa.Column("first", sa.BigInteger(), nullable=False),
        sa.Column("arrival", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=True),
        sa.Column("query", sa.Text(), nullable=True),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.Column("facts", sa.LargeBinary(), nullable=True),
        sa.PrimaryKeyConstraint("last"),
    )
    op.create_table(
        "notifications",
        sa.Column("event", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("subscription", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("rows", sa.Text(), nullable=True),
        sa.Column("distance", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("event", "subscription"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "store",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("name"),
    )
    op.create_table(
        "subscriptions",
        sa.Column(
            "key",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            autoincrement=False,
            nullable=False,
        ),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("language", sa.Text(), nullable=True),
        sa.Column("reading", sa.Text(), nullable=True),
        sa.Column("tolerance", sa.Float(), nullable=True),
        sa.Column("expires", sa.BigInteger(), nullable=True),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("created", sa.BigInteger(), nullable=False),
        sa.Column("added", sa.BigInteger(), nullable=False),
        sa.Column("since", sa.BigInteger(), nullable=False),
        sa.Column("removed", sa.BigInteger(), nullable=True),
        sa.Column("until", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("key"),
    )
    op.create_index(
        "one_live_subscription_an_id",
        "subscriptions",
        ["id"],
        unique=True,
        sqlite_where=sa.text("removed IS NULL"),
        postgresql_where=sa.text("removed IS NULL"),
    )
    op.create_index("subscriptions_by_change", "subscriptions", ["added"], unique=False)
    op.create_index("subscriptions_by_end", "subscriptions", ["removed"], unique=False)
