"""The statements of this driver, by name."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Any, NamedTuple, TypeVar

from tickbird.store.shared.row_types import as_rows
from tickbird.store.shared.sql import load_statements

R = TypeVar("R", bound=NamedTuple)
# A row whose columns are read by name.
NamedRow = sqlite3.Row

SQL = load_statements("tickbird.store.sqlite", folders=("database", "planning"))


def fetch_as(db: sqlite3.Connection, row_type: type[R], name: str, values: Mapping[str, Any]) -> list[R]:
    """All rows of a statement, as named tuples."""
    cursor = db.execute(SQL[name], values)
    return as_rows(row_type, [column[0] for column in cursor.description], cursor)


def fetch_named(db: sqlite3.Connection, name: str, values: Mapping[str, Any]) -> list[NamedRow]:
    """All rows of a statement, with columns by name."""
    cursor = db.cursor()
    cursor.row_factory = NamedRow
    return cursor.execute(SQL[name], values).fetchall()
