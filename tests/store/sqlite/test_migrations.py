"""The schema of a file: created, migrated, checked, and refused if it is newer."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from tests.store.sqlite.steps import a_worker, create
from tickbird.domain.errors import SchemaError
from tickbird.store.shared import migrations
from tickbird.store.sqlite import SqliteStore
from tickbird.store.sqlite.database import schema


async def test_migrations_are_part_of_the_package(path: str) -> None:
    store = SqliteStore(path)
    names = [f"{migration.number:04}_{migration.name}" for migration in schema.MIGRATIONS]
    assert names[0] == "0001_schema"
    assert await store.migrate() == names
    assert await store.migrate() == []
    await store.open()
    assert await store.migrate() == []
    await store.close()


async def test_a_newer_schema_is_refused_unless_compatible(store: SqliteStore, shell: sqlite3.Connection) -> None:
    known = len(schema.MIGRATIONS)
    shell.execute("INSERT INTO migrations VALUES (?, 'tomorrow', 'x', 0)", (known + 1,))
    shell.execute("UPDATE meta SET value = ? WHERE key = 'version'", (str(known + 1),))
    newer = SqliteStore(store.path)
    await newer.open()
    await newer.close()
    shell.execute("UPDATE meta SET value = ? WHERE key = 'min_compatible'", (str(known + 1),))
    with pytest.raises(SchemaError, match=f"at version {known + 1}, but this tickbird supports only {known}. Upgrade"):
        await newer.open()
    with pytest.raises(SchemaError, match="Upgrade tickbird"):
        await newer.migrate()


async def test_an_older_schema_is_migrated(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    store = SqliteStore(path)
    await store.open()
    await create(store, "clock")
    await store.close()
    text = "-- min_compatible: 1\nCREATE TABLE tomorrow (x);\n"
    newest = migrations.Migration(len(schema.MIGRATIONS) + 1, "tomorrow", text, 1)
    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, newest))
    await store.open()
    assert await store.migrate() == []
    assert await store.schedules.get("default", "clock") is not None
    assert await store._writer.run(lambda db: db.execute("SELECT count(*) FROM tomorrow").fetchone()) == (0,)
    await store.close()


@pytest.mark.parametrize("key", ["version", "min_compatible"])
async def test_a_version_that_is_not_a_number(store: SqliteStore, shell: sqlite3.Connection, key: str) -> None:
    await store.close()
    shell.execute("UPDATE meta SET value = 'soon' WHERE key = ?", (key,))
    with pytest.raises(SchemaError, match=f"table meta has 'soon' as {key}, which is not a number. `tickbird migr"):
        await store.open()
    assert await store.migrate() == ["meta"]
    await store.open()


@pytest.mark.parametrize(
    "edit", ["UPDATE meta SET value = '0' WHERE key = 'version'", "DELETE FROM meta WHERE key = 'version'"]
)
async def test_a_version_below_its_migrations_is_corrected(
    store: SqliteStore, shell: sqlite3.Connection, edit: str
) -> None:
    await store.close()
    before = shell.execute("SELECT * FROM meta ORDER BY key").fetchall()
    shell.execute(edit)
    await store.open()
    assert shell.execute("SELECT * FROM meta ORDER BY key").fetchall() == before


async def test_another_generation_is_refused_whatever_its_version(
    store: SqliteStore, shell: sqlite3.Connection
) -> None:
    await store.close()
    shell.execute("UPDATE meta SET value = '2' WHERE key = 'schema_generation'")
    for use in (store.open, store.migrate):
        with pytest.raises(SchemaError, match=r"has generation 2, but this tickbird supports only 1. Upgrade tickbird"):
            await use()


async def test_a_generation_that_was_deleted_by_hand_is_set_right(
    store: SqliteStore, shell: sqlite3.Connection
) -> None:
    await store.close()
    shell.execute("DELETE FROM meta WHERE key = 'schema_generation'")
    with pytest.raises(SchemaError, match="created by a pre-release"):
        await store.open()
    assert await store.migrate() == ["meta"]
    await store.open()


async def test_an_edited_migration_is_refused(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    first, *others = schema.MIGRATIONS
    monkeypatch.setattr(schema, "MIGRATIONS", (replace(first, text=first.text + "-- better\n"), *others))
    with pytest.raises(SchemaError, match=r"0001 .* was applied from a different file"):
        await store.migrate()


async def test_a_failed_migration_leaves_nothing(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = "-- min_compatible: 1\nCREATE TABLE tomorrow (x);\nCREATE TABLE tomorrow (x);\n"
    newest = migrations.Migration(len(schema.MIGRATIONS) + 1, "tomorrow", broken, 1)
    with monkeypatch.context() as patch:
        patch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, newest))
        with pytest.raises(SchemaError, match="does not fit this database: table tomorrow already exists"):
            await SqliteStore(path).open()
    store = SqliteStore(path)
    assert await store.migrate() != []


def test_an_empty_file_becomes_a_database(path: str) -> None:
    Path(path).touch()
    assert asyncio.run(SqliteStore(path).migrate()) != []


async def test_a_heartbeat_notices_a_schema_that_it_cannot_write(store: SqliteStore, path: str) -> None:
    assert (await store.workers.heartbeat(a_worker(), 30)).outdated_reason == ""
    with contextlib.closing(sqlite3.connect(path)) as other, other:
        other.execute("ALTER TABLE workers RENAME COLUMN health TO wellness")
        other.execute("UPDATE meta SET value = '999' WHERE key IN ('version', 'min_compatible')")
    assert "Upgrade tickbird" in (await store.workers.heartbeat(a_worker(), 30)).outdated_reason
