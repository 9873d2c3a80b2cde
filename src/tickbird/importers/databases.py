"""Rows of the databases of other systems: from read-only queries, or from dumps."""

from __future__ import annotations

import csv
import json
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


def read_rows(text: str, source: str, columns: Sequence[str], hint: str) -> Sequence[Row]:
    """Read a dump: a list of JSON objects, or CSV with a header that has these columns, whose values are texts."""
    if text.lstrip().startswith("["):
        return _read_json(text, source, hint)
    try:
        rows = list(csv.DictReader(text.splitlines(keepends=True), strict=True))
    except csv.Error as error:
        raise InvalidError(f"{source[:200]} is not valid CSV: {error}.", field="source", hint=hint) from None
    if not rows or not all(column in rows[0] for column in columns):
        raise InvalidError(f"{source[:200]} has no columns {', '.join(columns)}.", field="source", hint=hint)
    return rows


def _read_json(text: str, source: str, hint: str) -> Sequence[Row]:
    try:
        rows = json.loads(text)
    except (ValueError, RecursionError):
        rows = None
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise InvalidError(f"{source[:200]} is not a list of JSON objects.", field="source", hint=hint)
    return rows


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
