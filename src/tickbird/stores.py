"""The stores: the only place that names concrete drivers."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tickbird.domain.errors import InvalidError, StoreError
from tickbird.domain.urls import describe_url, is_server

# A driver loads when it is used: importing an app's code stays quick.
if TYPE_CHECKING:
    from tickbird.store.protocol.store import Store
    from tickbird.store.shared.temp_stores import TemporaryStores

DEFAULT_URL = "sqlite:///tickbird.db"


def planning_is_on() -> bool:
    """May this process plan? TICKBIRD_PLANNING=off is for shells and staging."""
    text = os.environ.get("TICKBIRD_PLANNING", "").strip().lower()
    if text in ("", "on", "1", "true", "yes"):
        return True
    if text in ("off", "0", "false", "no"):
        return False
    raise InvalidError(f"TICKBIRD_PLANNING: {text[:40]!r} is neither on nor off.", field="TICKBIRD_PLANNING")


def open_store(url: str, *, within: float | None = None) -> Store:
    """The store behind a URL, not yet connected: sqlite:///path, sqlite://:memory: or postgresql://…

    `within` is how many seconds its server may take for a statement, for those who would rather not wait.
    """
    store = _store(url, within)
    store.plans = planning_is_on()
    return store


def _store(url: str, within: float | None = None) -> Store:
    scheme = url.partition(":")[0].lower() if isinstance(url, str) else ""
    if scheme == "sqlite":
        from tickbird.store.sqlite import SqliteStore

        return SqliteStore(url)
    if scheme in ("postgresql", "postgres"):
        try:
            from tickbird.store.postgres import PostgresStore
        except ImportError:
            raise StoreError(
                "PostgreSQL needs the psycopg driver;", hint="install it with `pip install 'tickbird[postgres]'`."
            ) from None
        # For a pooler that hands out a connection per transaction, through which no wake-up comes.
        return PostgresStore(url, listen_url=os.environ.get("TICKBIRD_LISTEN_URL") or None, within=within)
    if is_server(url):
        raise _not_a_store()
    raise StoreError(
        f"{describe_url(url)!r} is not a store's URL;",
        hint="use sqlite:///path/to/file.db or postgresql://user@host/database.",
    )


def _not_a_store() -> StoreError:
    return StoreError(
        "this needs the store itself, and was given a server;",
        hint="use sqlite:///path/to/file.db or postgresql://user@host/database.",
    )


def must_exist(store: Store) -> None:
    """Refuse a file with nothing in it: opening would fill it, and look as if all schedules were lost."""
    path = getattr(store, "path", None)
    if path is None or path == ":memory:":
        return
    file = Path(path)
    if file.exists() and (not file.is_file() or file.stat().st_size):
        return
    raise StoreError(
        f"the database file {path} is empty;" if file.exists() else f"there is no database file {path};",
        hint="give the right one with --url or TICKBIRD_URL, or create it with `tickbird migrate`.",
    )


def find_temp_stores(url: str) -> TemporaryStores:
    """Temporary stores beside the one behind a URL."""
    # The same errors for what is no store's URL, or lacks its driver.
    _store(url)
    if url.partition(":")[0].lower() == "sqlite":
        from tickbird.store.sqlite.database.temp_stores import SqliteScratches

        return SqliteScratches(url)
    from tickbird.store.postgres.database.temp_stores import PostgresScratches

    return PostgresScratches(url)


def enqueue_steps(url: str, dialect: str) -> Any:
    """The statements that enqueue in a caller's transaction, for the store behind a URL, which must be of that kind."""
    if is_server(url):
        raise _not_a_store()
    stored = "sqlite" if url.lower().startswith("sqlite:") else "postgresql"
    if dialect != stored:
        names = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}
        raise InvalidError(
            f"this connection is to {names[dialect]}, and the store is in {names[stored]};",
            field="connection",
            hint="give a connection to the store's own database.",
        )
    if dialect == "sqlite":
        from tickbird.store.sqlite import enqueue as sqlite_steps

        return sqlite_steps
    from tickbird.store.postgres import enqueue as postgres_steps

    return postgres_steps
