"""The store on SQLite."""

from tickbird.store.sqlite.store import SqliteStore

__all__ = ["SqliteStore"]
