"""The store on SQLite."""

from tickbird.store.sqlite.driver import SqliteStore

__all__ = ["SqliteStore"]
