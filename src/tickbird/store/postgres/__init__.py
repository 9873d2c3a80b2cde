"""The store on PostgreSQL."""

from tickbird.store.postgres.store import PostgresStore

__all__ = ["PostgresStore"]
