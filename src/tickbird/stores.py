"""The stores: the only module that names concrete drivers."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tickbird.domain.errors import InvalidError, StoreError, UnsupportedError
from tickbird.domain.urls import describe_url, is_server

# A driver loads on first use, so that importing an app's code stays fast.
if TYPE_CHECKING:
    from tickbird.store.protocol.store import Store
    from tickbird.store.shared.roles import DatabaseRoles
    from tickbird.store.shared.temp_stores import TemporaryStores

DEFAULT_URL = "sqlite:///tickbird.db"


def planning_is_on() -> bool:
    """False if TICKBIRD_PLANNING=off, which is meant for shells and staging."""
    text = os.environ.get("TICKBIRD_PLANNING", "").strip().lower()
    if text in ("", "on", "1", "true", "yes"):
        return True
    if text in ("off", "0", "false", "no"):
        return False
    raise InvalidError(
        f"TICKBIRD_PLANNING: {text[:40]!r} is neither on nor off.",
        field="TICKBIRD_PLANNING",
        hint="Set it to on or off.",
    )


def open_store(url: str, *, within: float | None = None) -> Store:
    """Create the store of a URL, not yet connected: sqlite:///path, sqlite://:memory: or postgresql://…

    `within` is the statement timeout of the server, in seconds.
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
                "PostgreSQL needs the psycopg driver.", hint="Install it with `pip install 'tickbird[postgres]'`."
            ) from None
        # For a transaction pooler, which does not deliver notifications.
        return PostgresStore(url, listen_url=os.environ.get("TICKBIRD_LISTEN_URL") or None, within=within)
    if is_server(url):
        raise _not_a_store()
    raise StoreError(
        f"{describe_url(url)!r} is not the URL of a store.",
        hint="Use sqlite:///path/to/file.db or postgresql://user@host/database.",
    )


def _not_a_store() -> StoreError:
    return StoreError(
        "this command needs a direct connection to the store, but the URL names a server.",
        hint="Use sqlite:///path/to/file.db or postgresql://user@host/database.",
    )


def has_sql_functions(url: str) -> bool:
    """True if runs can execute functions in the store's database."""
    return url.partition(":")[0].lower() in ("postgresql", "postgres")


def must_exist(store: Store) -> None:
    """Refuse an empty or missing file: opening it would create a new store, as if all schedules were lost."""
    path = getattr(store, "path", None)
    if path is None or path == ":memory:":
        return
    file = Path(path)
    if file.exists() and (not file.is_file() or file.stat().st_size):
        return
    raise StoreError(
        f"the database file {path} is empty." if file.exists() else f"there is no database file {path}.",
        hint="Set the right one with --url or TICKBIRD_URL, or create it with `tickbird migrate`.",
    )


def find_temp_stores(url: str) -> TemporaryStores:
    """Temporary stores next to the store of a URL."""
    # Raises the same errors for a wrong URL or a missing driver.
    _store(url)
    if url.partition(":")[0].lower() == "sqlite":
        from tickbird.store.sqlite.database.temp_stores import SqliteScratches

        return SqliteScratches(url)
    from tickbird.store.postgres.database.temp_stores import PostgresScratches

    return PostgresScratches(url)


def find_roles(url: str) -> DatabaseRoles:
    """The database roles for teams that use plain SQL; raises UnsupportedError if the database has no roles."""
    _store(url)
    if not has_sql_functions(url):
        raise UnsupportedError(
            "SQLite has no roles.", field="roles", hint="Use a store on PostgreSQL, or omit --roles."
        )
    from tickbird.store.postgres.database.roles import PostgresRoles

    return PostgresRoles(url)


def enqueue_steps(url: str, dialect: str) -> Any:
    """The statements that enqueue in a caller's transaction; InvalidError if the store is not of that dialect."""
    if is_server(url):
        raise _not_a_store()
    stored = "sqlite" if url.lower().startswith("sqlite:") else "postgresql"
    if dialect != stored:
        names = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}
        raise InvalidError(
            f"this connection is to {names[dialect]}, but the store is in {names[stored]}.",
            field="connection",
            hint="Pass a connection to the store's own database.",
        )
    if dialect == "sqlite":
        from tickbird.store.sqlite import enqueue as sqlite_steps

        return sqlite_steps
    from tickbird.store.postgres import enqueue as postgres_steps

    return postgres_steps
