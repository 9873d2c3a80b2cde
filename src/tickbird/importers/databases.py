"""Read-only queries on the databases of other systems."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tickbird.domain.errors import InvalidError, StoreError
from tickbird.domain.urls import describe_url

Row = dict[str, Any]


def fetch(url: str, statement: str) -> Sequence[Row]:
    """Return all rows of a SELECT."""
    return list(stream(url, statement))


def stream(url: str, statement: str) -> Iterator[Row]:
    """Yield the rows of a SELECT one by one."""
    scheme = url.partition(":")[0].lower()
    if scheme == "sqlite":
        return _from_sqlite(url.partition("sqlite:///")[2], statement)
    if scheme.partition("+")[0] in ("postgresql", "postgres"):
        return _from_postgres(_without_driver(url), statement)
    raise InvalidError(
        f"{describe_url(url)!r} is not a supported database URL.",
        field="url",
        hint="Write sqlite:///path/to/file.db or postgresql://user@host/database.",
    )


def shown(url: str) -> str:
    """Return the URL without its password."""
    if url.lower().startswith("sqlite:///"):
        return url
    try:
        from tickbird.store.shared.postgres_url import PostgresUrl

        return str(PostgresUrl.parse(_without_driver(url)))
    except (ImportError, StoreError):
        return describe_url(url)


def _without_driver(url: str) -> str:
    """Remove the driver from a SQLAlchemy URL such as postgresql+psycopg2://…"""
    scheme, mark, rest = url.partition("://")
    return f"{scheme.partition('+')[0]}{mark}{rest}"


def _from_sqlite(path: str, statement: str) -> Iterator[Row]:
    if not Path(path).is_file():
        raise InvalidError(
            f"there is no file {path[:200]!r}.",
            field="url",
            hint="Check the path. An absolute path has four slashes: sqlite:////var/lib/app.db.",
        )
    try:
        with closing(sqlite3.connect(f"file:{quote(path)}?mode=ro", uri=True, timeout=10)) as connection:
            connection.row_factory = sqlite3.Row
            for row in connection.execute(statement):
                yield dict(row)
    except sqlite3.Error as error:
        raise StoreError(
            f"the database {path[:200]!r} cannot be read: {error}.",
            hint="Check that the URL names the database of the other scheduler, with its tables.",
        ) from None


def _from_postgres(url: str, statement: str) -> Iterator[Row]:
    try:
        import psycopg
        from psycopg.conninfo import make_conninfo
        from psycopg.rows import dict_row

        from tickbird.store.shared.postgres_url import PostgresUrl
    except ImportError:
        raise StoreError(
            "PostgreSQL needs the psycopg driver.", hint="Install it with `pip install 'tickbird[postgres]'`."
        ) from None
    conninfo = make_conninfo("", **{**PostgresUrl.parse(url).parameters, "connect_timeout": "10"})
    try:
        with psycopg.connect(conninfo, row_factory=dict_row) as connection:
            connection.read_only = True
            with connection.cursor() as cursor:
                yield from cursor.stream(statement.encode())
    except psycopg.Error as error:
        raise StoreError(
            f"the database of {shown(url)} cannot be read: {str(error).strip().splitlines()[0]}.",
            hint="Check the URL, the permissions, and that the tables of the other scheduler exist.",
        ) from None
