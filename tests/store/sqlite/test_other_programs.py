"""Databases and tables of other programs are left as they are."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
from pathlib import Path

import pytest

from tickbird.domain.errors import StoreError
from tickbird.store.sqlite import SqliteStore


def contents(path: str) -> dict[str, bytes]:
    # Notes of readers in shared memory are never in the file, and an empty log is meaningless.
    files = [file for file in Path(path).parent.iterdir() if not file.name.endswith("-shm")]
    return {file.name: content for file in files if (content := file.read_bytes())}


@pytest.mark.parametrize("mode", ["DELETE", "WAL"])
@pytest.mark.parametrize(
    "tables", [("CREATE TABLE runs (miles)",), ("CREATE TABLE meta (x)", "CREATE TABLE migrations (x)")]
)
async def test_the_database_of_another_program_is_left_as_it_is(path: str, mode: str, tables: tuple[str, ...]) -> None:
    with contextlib.closing(sqlite3.connect(path)) as other:
        other.execute(f"PRAGMA journal_mode = {mode}")
        for table in tables:
            other.execute(table)
    before = contents(path)
    for attempt in (SqliteStore(path).open, SqliteStore(path).migrate):
        with pytest.raises(StoreError, match=r"belongs to another program. It was not changed. Choose another file"):
            await attempt()
    assert contents(path) == before


def crash(path: str) -> None:
    """Leave another program's database as after a power cut: its last commits are not in the file yet."""
    with contextlib.closing(sqlite3.connect(f"{path}.live")) as other:
        other.execute("PRAGMA journal_mode = WAL")
        other.execute("CREATE TABLE runs (miles)")
        for end in ("", "-wal"):
            shutil.copy(f"{path}.live{end}", f"{path}{end}")


async def test_a_crashed_file_of_another_program_is_not_changed(path: str) -> None:
    crash(path)
    before = contents(path)
    with pytest.raises(StoreError, match=r"belongs to another program"):
        await SqliteStore(path).open()
    assert contents(path).items() >= before.items()


async def test_tables_of_other_programs_do_no_harm(store: SqliteStore, shell: sqlite3.Connection) -> None:
    shell.execute("CREATE TABLE orders (x)")
    await store.close()
    await store.open()
