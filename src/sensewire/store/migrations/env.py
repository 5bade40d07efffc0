"""What alembic runs: the steps, in the transaction of whoever opens the store."""

from alembic import context

from sensewire.store.schema import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
with context.begin_transaction():
    context.run_migrations()
