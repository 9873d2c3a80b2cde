"""The statements of this driver, by name."""

from __future__ import annotations

from tickbird.store.shared.sql import load_statements

SQL = load_statements("tickbird.store.sqlite", folders=("database", "planning"))
