"""What only SQLite has: files, several processes on one of them, and a schema that it makes by itself."""

from __future__ import annotations

import asyncio
import contextlib
import multiprocessing
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Barrier
from pathlib import Path
from queue import Queue

import pytest

from tickbird.domain.errors import InvalidError, SchemaError, StoreError, StoreUnavailableError
from tickbird.domain.planning.commands import Create, Pause
from tickbird.domain.runs.run import NewRun, Outcome
from tickbird.domain.schedules.definition import Definition, Target
from tickbird.domain.triggers.every import every
from tickbird.domain.workers import Worker
from tickbird.store.protocol.store import Store
from tickbird.store.shared import migrations
from tickbird.store.shared.sql import load_statements
from tickbird.store.sqlite import SqliteStore
from tickbird.store.sqlite.database import connection, schema
from tickbird.store.sqlite.database.statements import SQL
from tickbird.store.sqlite.database.url import SqliteUrl

T0 = datetime(2026, 1, 1, tzinfo=UTC)
SPAWN = multiprocessing.get_context("spawn")
NOBODY = 65_534
PROCESSES, ROUNDS, SCHEDULES = 8, 100, 3
DEFINITION = Definition(trigger=every(seconds=60), target=Target("work"))
TEXT = '{"v":1,"trigger":{"every":{"seconds":60}},"target":{"task":"work"}}'


def later(seconds: float) -> datetime:
    return T0 + timedelta(seconds=seconds)


def a_worker(name: str = "w") -> Worker:
    return Worker(id=name, namespace="default", app="app", host="host", pid=1, version="0")


async def create(store: Store, name: str, definition: Definition = DEFINITION) -> None:
    command = Create(actor="ada", namespace="default", definition=definition)
    await store.schedules.change("default", name, command, now=T0)


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "tickbird.db")


@pytest.fixture
async def store(path: str) -> AsyncIterator[SqliteStore]:
    store = SqliteStore(path)
    await store.open()
    yield store
    await store.close()


@pytest.fixture
def shell(store: SqliteStore) -> Iterator[sqlite3.Connection]:
    """A person with the sqlite3 shell."""
    with contextlib.closing(sqlite3.connect(store.path, isolation_level=None)) as shell:
        yield shell


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user may look into, unlike those of pytest."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


# Several processes


def race(path: str, name: str, barrier: Barrier, answer: Connection) -> None:
    """Plan and execute whatever there is, at the same instants as all the others; send the ids of what was executed."""
    try:
        answer.send(asyncio.run(_race(path, name, barrier)))
    except BaseException as error:
        barrier.abort()
        answer.send(repr(error))


async def _race(path: str, name: str, barrier: Barrier) -> list[int]:
    store = SqliteStore(path)
    done: list[int] = []
    barrier.wait(60)
    await store.open()
    for turn in range(1, ROUNDS + 1):
        barrier.wait(60)
        await store.planning.plan_due(now=later(60 * turn))
        claimed = await store.leases.claim(
            a_worker(name), 1, 60, queues=["default"], tasks=["work"], now=later(60 * turn)
        )
        outcomes = [Outcome(found.id, found.attempt, "succeeded") for found in claimed.runs]
        done += (await store.leases.finish(outcomes, now=later(60 * turn))).accepted
    await store.close()
    return done


async def test_eight_processes_share_a_file(path: str) -> None:
    first = SqliteStore(path)
    await first.open()
    for index in range(SCHEDULES):
        await create(first, f"s{index}", replace(DEFINITION, overlap="allow"))
    await first.close()
    barrier = SPAWN.Barrier(PROCESSES)
    pipes = [SPAWN.Pipe(duplex=False) for _ in range(PROCESSES)]
    racers = [
        SPAWN.Process(target=race, args=(path, f"w{index}", barrier, pipes[index][1])) for index in range(PROCESSES)
    ]
    for racer in racers:
        racer.start()
    answers = [await asyncio.to_thread(pipe.recv) for pipe, _ in pipes]
    for racer in racers:
        racer.join(60)
    assert all(isinstance(answer, list) for answer in answers), answers
    store = SqliteStore(path)
    await store.open()
    executed = Counter(run_id for answer in answers for run_id in answer)
    for index in range(SCHEDULES):
        runs = await store.runs.list("default", schedule=f"s{index}", limit=10 * ROUNDS)
        assert [run.scheduled_for for run in reversed(runs)] == [later(60 * turn) for turn in range(1, ROUNDS + 1)]
        assert all(executed.pop(run.id, 0) == (run.status == "succeeded") for run in runs)
        assert all(run.status in ("succeeded", "queued") for run in runs)
    assert not executed
    await store.close()


async def test_many_may_make_the_file_at_once(path: str) -> None:
    stores = [SqliteStore(path) for _ in range(8)]
    await asyncio.gather(*(store.open() for store in stores))
    assert [await store.schedules.list("default") for store in stores] == [[]] * 8
    for store in stores:
        await store.close()


async def test_another_process_wakes(store: SqliteStore) -> None:
    async with store.wakeups() as wakeups:
        maker = SPAWN.Process(target=enqueue_one, args=(store.path,))
        maker.start()
        await asyncio.wait_for(anext(wakeups), 60)
        await asyncio.to_thread(maker.join)
    assert len(await store.runs.list("default")) == 1


def enqueue_one(path: str) -> None:
    async def enqueue() -> None:
        store = SqliteStore(path)
        await store.open()
        await store.runs.enqueue("default", [NewRun(Target("work"), {})], "ada")
        await store.close()

    asyncio.run(enqueue())


async def test_plain_sql_wakes(store: SqliteStore, shell: sqlite3.Connection) -> None:
    async with store.wakeups() as wakeups:
        shell.execute("INSERT INTO schedules (name, definition) VALUES ('plain', ?)", (TEXT,))
        await asyncio.wait_for(anext(wakeups), 60)


async def test_this_process_wakes_in_memory() -> None:
    store = SqliteStore(":memory:")
    await store.open()
    async with store.wakeups() as wakeups:
        await store.runs.enqueue("default", [NewRun(Target("work"), {})], "ada")
        await asyncio.wait_for(anext(wakeups), 60)
    await store.close()


async def test_a_lock_held_too_long_is_said(
    store: SqliteStore, shell: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "MAX_BUSY_SECONDS", 0.0)
    monkeypatch.setattr(connection, "BUSY_TIMEOUT", 0.01)
    hurried = SqliteStore(store.path)
    await hurried.open()
    shell.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreUnavailableError, match="locked for too long; end what holds"):
        await create(hurried, "late")
    assert await hurried.schedules.list("default") == []
    shell.execute("ROLLBACK")
    await create(hurried, "late")
    await hurried.close()


async def test_a_store_is_not_carried_over_a_fork(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    parent = os.getpid()
    monkeypatch.setattr(os, "getpid", lambda: parent + 1)
    with pytest.raises(StoreError, match="opened before this process was forked; open a store of its own"):
        await store.schedules.list("default")
    monkeypatch.undo()
    assert await store.schedules.list("default") == []


# The file


async def test_the_address_is_a_path_or_a_url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert SqliteStore(f"sqlite:///{tmp_path}/t.db").path == f"{tmp_path}/t.db"
    assert SqliteStore("sqlite:///t.db").path == "t.db"
    assert {SqliteStore(address).path for address in ("sqlite://", "sqlite:///:memory:", ":memory:")} == {":memory:"}
    for address in ("t.db", str(tmp_path / "t.db"), ":memory:"):
        store = SqliteStore(address)
        assert SqliteStore(store.url).path == store.path


async def test_commits_outlive_a_power_cut(store: SqliteStore, shell: sqlite3.Connection) -> None:
    await create(store, "clock")
    assert shell.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    [full] = await store._writer.run(lambda db: db.execute("PRAGMA synchronous").fetchone())
    assert full == 2


@pytest.fixture
def diary(path: str) -> str:
    Path(path).write_text("Dear diary, today I was taken for a database. " * 50)
    return path


async def test_not_a_database(diary: str) -> None:
    with pytest.raises(StoreError, match=r"tickbird\.db is not a SQLite database; choose another file\.") as caught:
        await SqliteStore(diary).open()
    assert caught.value.__suppress_context__


async def test_the_folder_is_missing(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"folder .*nowhere of the database t\.db does not exist; create it"):
        await SqliteStore(str(tmp_path / "nowhere" / "t.db")).open()


async def test_the_path_is_a_folder(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="is a folder, not a database file; name a file in it"):
        await SqliteStore(str(tmp_path)).open()


def open_as_nobody(path: str, answer: Connection) -> None:
    """Root may write everywhere, so become someone who may not."""
    if os.geteuid() == 0:
        os.setuid(NOBODY)

    async def attempt() -> str:
        store = SqliteStore(path)
        try:
            await store.open()
            await create(store, "clock")
        except StoreError as error:
            return str(error)
        finally:
            await store.close()
        return "no error"

    answer.send(asyncio.run(attempt()))


async def refusal(path: Path) -> str:
    receiver, sender = SPAWN.Pipe(duplex=False)
    process = SPAWN.Process(target=open_as_nobody, args=(str(path), sender))
    process.start()
    text: str = await asyncio.to_thread(receiver.recv)
    process.join()
    return text


@pytest.fixture
def closed_folder(open_folder: Path) -> Path:
    open_folder.chmod(0o555)
    return open_folder


async def test_a_folder_that_cannot_be_written(closed_folder: Path) -> None:
    text = await refusal(closed_folder / "t.db")
    assert "cannot be opened or created; check that this user may read and write" in text


async def test_a_file_that_cannot_be_written(open_folder: Path) -> None:
    file = open_folder / "t.db"
    store = SqliteStore(str(file))
    await store.open()
    await store.close()
    file.chmod(0o444)
    text = await refusal(file)
    assert "t.db cannot be" in text
    assert "this user" in text


async def test_a_full_disk_passes(store: SqliteStore) -> None:
    await create(store, "clock")
    [pages] = await store._writer.run(lambda db: db.execute("PRAGMA page_count").fetchone())
    await store._writer.run(lambda db: db.execute(f"PRAGMA max_page_count = {pages}").fetchone())
    big = [NewRun(Target("work"), {"text": "x" * 100_000})]
    with pytest.raises(StoreUnavailableError, match="is full; make room, then try again"):
        await store.runs.enqueue("default", big, "ada")
    assert await store.runs.list("default") == []
    await store._writer.run(lambda db: db.execute("PRAGMA max_page_count = 100000").fetchone())
    await store.runs.enqueue("default", big, "ada")
    assert len(await store.runs.list("default")) == 1


async def test_what_cannot_be_stored_is_refused(store: SqliteStore) -> None:
    await create(store, "clock")
    with pytest.raises(InvalidError, match="cannot be stored"):
        await store.schedules.change("default", "half a \ud800", Pause(actor="ada"), now=later(1))
    [run_id] = await store.runs.enqueue("default", [NewRun(Target("work"), {})], "ada", now=T0)
    await store.leases.claim(a_worker(), 1, 60, queues=["default"], tasks=["work"], now=T0)
    outcome = Outcome(run_id, 1, "failed", result={"half": "\ud800"}, error="half a \ud800 and \0")
    assert (await store.leases.finish([outcome], now=later(1))).accepted == {run_id}
    run = await store.runs.get(run_id)
    assert run is not None
    assert (run.error, run.result) == ("half a ? and ", {"half": "\ud800"})


async def test_a_closed_store_says_so(path: str) -> None:
    store = SqliteStore(path)
    await store.close()
    with pytest.raises(StoreError, match=r"is not open; await its open\(\) first"):
        await store.schedules.list("default")


# The schema


async def test_migrations_come_with_the_package(path: str) -> None:
    store = SqliteStore(path)
    names = [f"{migration.number:04}_{migration.name}" for migration in schema.MIGRATIONS]
    assert names[0] == "0001_core"
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
    with pytest.raises(SchemaError, match=f"at version {known + 1} and this tickbird knows only {known}; upgrade"):
        await newer.open()
    with pytest.raises(SchemaError, match="upgrade tickbird"):
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
async def test_a_version_that_is_no_number(store: SqliteStore, shell: sqlite3.Connection, key: str) -> None:
    await store.close()
    shell.execute("UPDATE meta SET value = 'soon' WHERE key = ?", (key,))
    with pytest.raises(SchemaError, match=f"table meta gives 'soon' as its {key}, which is no number; `tickbird migr"):
        await store.open()
    assert await store.migrate() == ["meta"]
    await store.open()


@pytest.mark.parametrize(
    "edit", ["UPDATE meta SET value = '0' WHERE key = 'version'", "DELETE FROM meta WHERE key = 'version'"]
)
async def test_a_version_behind_its_migrations_is_set_right(
    store: SqliteStore, shell: sqlite3.Connection, edit: str
) -> None:
    await store.close()
    before = shell.execute("SELECT * FROM meta ORDER BY key").fetchall()
    shell.execute(edit)
    await store.open()
    assert shell.execute("SELECT * FROM meta ORDER BY key").fetchall() == before


async def test_an_edited_migration_is_refused(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    first, *others = schema.MIGRATIONS
    monkeypatch.setattr(schema, "MIGRATIONS", (replace(first, text=first.text + "-- better\n"), *others))
    with pytest.raises(SchemaError, match=r"0001 .* was applied from another file"):
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


def contents(path: str) -> dict[str, bytes]:
    # What readers note in shared memory is never in the file, and a log without content says nothing.
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
        with pytest.raises(StoreError, match=r"belongs to another program, and is left as it is; choose a file"):
            await attempt()
    assert contents(path) == before


def crash(path: str) -> None:
    """Leave another program's database as after a power cut: its last commits are not in the file yet."""
    with contextlib.closing(sqlite3.connect(f"{path}.live")) as other:
        other.execute("PRAGMA journal_mode = WAL")
        other.execute("CREATE TABLE runs (miles)")
        for end in ("", "-wal"):
            shutil.copy(f"{path}.live{end}", f"{path}{end}")


async def test_what_another_program_left_in_a_crash_is_left_to_it(path: str) -> None:
    crash(path)
    before = contents(path)
    with pytest.raises(StoreError, match=r"belongs to another program"):
        await SqliteStore(path).open()
    assert contents(path).items() >= before.items()


def test_an_empty_file_becomes_a_database(path: str) -> None:
    Path(path).touch()
    assert asyncio.run(SqliteStore(path).migrate()) != []


async def test_tables_of_others_beside_ours_do_no_harm(store: SqliteStore, shell: sqlite3.Connection) -> None:
    shell.execute("CREATE TABLE orders (x)")
    await store.close()
    await store.open()


# Plain SQL


async def test_a_plain_insert_makes_cursor_and_revision(store: SqliteStore, shell: sqlite3.Connection) -> None:
    shell.execute("INSERT INTO schedules (name, definition) VALUES ('plain', ?)", (TEXT,))
    schedule = await store.schedules.get("default", "plain")
    assert schedule is not None
    assert (schedule.state, schedule.revision, schedule.cursor.next_run_at) == ("active", 1, None)
    [revision] = await store.schedules.list_revisions(schedule.id)
    assert (revision.actor, revision.action, revision.definition["target"]) == ("sql", "create", {"task": "work"})
    planned = await store.planning.plan_due()
    assert (planned.schedules, planned.runs, planned.more) == (1, 0, False)


async def test_plain_edits_keep_the_oldest_pending_revision(store: SqliteStore, shell: sqlite3.Connection) -> None:
    shell.execute("INSERT INTO schedules (name, definition) VALUES ('plain', ?)", (TEXT,))
    for seconds in ("61", "62"):
        shell.execute("UPDATE schedules SET definition = ?", (TEXT.replace("60", seconds),))
    shell.execute("UPDATE schedules SET definition = definition, app = 'theirs'")
    pending = shell.execute("SELECT revision, prior_revision, changed_at IS NOT NULL FROM cursors").fetchone()
    assert pending == (3, 1, 1)
    await store.planning.plan_due()
    assert shell.execute("SELECT revision, prior_revision, changed_at FROM cursors").fetchone() == (3, None, None)
    assert shell.execute("SELECT revision, actor FROM revisions").fetchall() == [(1, "sql"), (2, "sql"), (3, "sql")]


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO schedules (name, definition) VALUES ('broken', '{')",
        "UPDATE schedules SET definition = 'nonsense'",
        "DELETE FROM schedules",
    ],
)
async def test_plain_sql_that_would_do_harm_is_refused(
    store: SqliteStore, shell: sqlite3.Connection, statement: str
) -> None:
    await create(store, "clock")
    with pytest.raises(sqlite3.IntegrityError):
        shell.execute(statement)
    assert len(await store.schedules.list("default")) == 1


async def test_a_row_that_the_database_refuses_stands_alone(store: SqliteStore, shell: sqlite3.Connection) -> None:
    for index in range(9):
        await create(store, f"s{index}", replace(DEFINITION, target=Target(f"task{index}")))
    shell.execute(
        "CREATE TRIGGER no BEFORE INSERT ON runs WHEN NEW.target = 'task4' BEGIN SELECT raise(ABORT, 'not this'); END"
    )
    planned = await store.planning.plan_due(now=later(60))
    assert (planned.schedules, planned.runs, planned.parked, planned.more) == (8, 8, (), False)
    assert [refused.schedule for refused in planned.refused] == ["s4"]
    refused = await store.schedules.get("default", "s4")
    assert refused is not None
    assert (refused.state, refused.error, refused.planned_until) == ("active", "not this", T0)
    assert (await store.planning.plan_due(now=later(120))).schedules == 8


async def test_a_row_that_cannot_even_be_parked_stops_no_other(store: SqliteStore, shell: sqlite3.Connection) -> None:
    for index in range(5):
        await create(store, f"s{index}", replace(DEFINITION, overlap="allow"))
    shell.execute(
        """CREATE TRIGGER no BEFORE UPDATE ON cursors WHEN NEW.state = 'parked' OR NEW.refused_at IS NOT NULL
        BEGIN SELECT raise(ABORT, 'no parking'); END"""
    )
    shell.execute("""INSERT INTO schedules (name, definition) VALUES ('broken', '{"v": 1}')""")
    for minute in (1, 2, 3):
        planned = await store.planning.plan_due(now=later(60 * minute))
        assert (planned.runs, planned.parked) == (5, ())
        assert [refused.error for refused in planned.refused] == ["no parking"]
    shell.execute("DROP TRIGGER no")
    assert (await store.planning.plan_due(now=later(240))).parked == ("broken",)


async def test_a_trigger_that_fails_for_one_row_stops_no_other(store: SqliteStore, shell: sqlite3.Connection) -> None:
    for index in range(5):
        await create(store, f"s{index}", replace(DEFINITION, target=Target(f"task{index}")))
    shell.execute(
        """CREATE TRIGGER no BEFORE INSERT ON runs WHEN NEW.target = 'task3'
        BEGIN SELECT json('nonsense'); END"""
    )
    planned = await store.planning.plan_due(now=later(60))
    assert (planned.runs, planned.parked) == (4, ())
    assert [(refused.schedule, refused.error) for refused in planned.refused] == [("s3", "malformed JSON")]


def test_the_driver_is_a_store() -> None:
    store: Store = SqliteStore(":memory:")
    assert store.url == "sqlite://"


def write_elsewhere(path: str) -> bool:
    """Let another process write and end; is the log still there?"""
    lines = ("import sqlite3", f"db = sqlite3.connect({path!r})", "db.execute('UPDATE schedules SET app = 1')")
    subprocess.run([sys.executable, "-c", "; ".join((*lines, "db.commit()", "db.close()"))], check=True)
    return Path(f"{path}-wal").exists()


async def test_opening_a_file_once_more_drops_no_locks(path: str) -> None:
    first = SqliteStore(path)
    await first.open()
    await create(first, "clock")
    second = SqliteStore(path)
    await second.open()
    await second.close()
    # A process that believes itself to be alone would clear the log away when it ends.
    assert write_elsewhere(path)
    schedule = await first.schedules.get("default", "clock")
    assert schedule is not None
    assert schedule.app == "1"
    await first.close()


@pytest.mark.parametrize("name", sorted(name for name in SQL if name.startswith("page_")))
async def test_pages_by_status_do_not_walk_all_runs(store: SqliteStore, shell: sqlite3.Connection, name: str) -> None:
    nothing = dict.fromkeys(re.findall(r":(\w+)", SQL[name]))
    plan = [row[3] for row in shell.execute(f"EXPLAIN QUERY PLAN {SQL[name]}", nothing)]
    looks = [line for line in plan if re.match(r"(SCAN|SEARCH) (runs|r) ", line)]
    assert looks
    for line in looks:
        found = re.search(r"INDEX runs_(\w+)|\(rowid=\?\)", line)
        assert found, line
        assert found[1] in (None, "unwell", "unwell_of_schedule", "active", "running", "queued", "waiting"), line


@pytest.mark.parametrize("name", sorted(load_statements("tickbird.store.sqlite", "dashboard")))
async def test_readings_walk_indexes_and_sort_no_history(
    store: SqliteStore, shell: sqlite3.Connection, name: str
) -> None:
    shell.create_function("casefold", 1, str.casefold, deterministic=True)
    nothing = dict.fromkeys(re.findall(r":(\w+)", SQL[name]))
    plan = [row[3] for row in shell.execute(f"EXPLAIN QUERY PLAN {SQL[name]}", nothing)]
    for line in plan:
        # Only what others have found is walked without an index: parts of the statement itself, and values of JSON.
        assert not re.match(r"SCAN (runs|audit|skips|cursors|schedules|r|s|c|l)\b(?!.*USING)", line), plan
    if name.startswith("find_"):
        assert not [line for line in plan if "TEMP B-TREE" in line], plan


@pytest.fixture
def open_umask() -> Iterator[None]:
    """New files may be read and written by everybody, unless who makes them says otherwise."""
    before = os.umask(0)
    yield
    os.umask(before)


def modes(path: Path) -> dict[str, str]:
    """The modes of a database and of the files beside it."""
    return {each.name.removeprefix(path.name): oct(each.stat().st_mode & 0o777) for each in path.parent.iterdir()}


@pytest.mark.usefixtures("open_umask")
@pytest.mark.parametrize("url", ["sqlite:///{0}", "sqlite:///{0}?shared=1"])
async def test_a_new_file_is_for_its_owner_alone(tmp_path: Path, url: str) -> None:
    path = tmp_path / "new.db"
    store = SqliteStore(url.format(path))
    await store.migrate()
    await store.open()
    await store.runs.enqueue("default", [NewRun(Target("work"), {"secret": 1})], "ada")
    assert modes(path) == {"": "0o600", "-wal": "0o600", "-shm": "0o600"}
    await store.close()


@pytest.mark.usefixtures("open_umask")
async def test_the_file_that_a_link_names_is_for_its_owner_alone(tmp_path: Path) -> None:
    target, link = tmp_path / "data" / "real.db", tmp_path / "link.db"
    target.parent.mkdir()
    link.symlink_to(target)
    store = SqliteStore(f"sqlite:///{link}")
    await store.open()
    assert modes(target) == {"": "0o600", "-wal": "0o600", "-shm": "0o600"}
    await store.close()


@pytest.mark.usefixtures("open_umask")
async def test_a_file_keeps_the_mode_that_somebody_gave_it(tmp_path: Path) -> None:
    path = tmp_path / "shared.db"
    path.touch()
    path.chmod(0o660)
    store = SqliteStore(f"sqlite:///{path}")
    await store.open()
    assert modes(path) == {"": "0o660", "-wal": "0o660", "-shm": "0o660"}
    await store.close()


async def test_a_cancelled_open_leaves_no_connection(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    began, go_on, connected = threading.Event(), threading.Event(), Queue[sqlite3.Connection]()
    connect = connection.connect

    def slowly(location: SqliteUrl) -> sqlite3.Connection:
        began.set()
        go_on.wait()
        db = connect(location)
        connected.put(db)
        return db

    monkeypatch.setattr(connection, "connect", slowly)
    opening = asyncio.create_task(connection.Connection(SqliteUrl(path), "test").open())
    await asyncio.to_thread(began.wait)
    opening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await opening
    go_on.set()
    db = await asyncio.to_thread(connected.get)
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):  # noqa: PT012 - until the thread is through
        while True:
            db.total_changes  # noqa: B018 - refused when closed
            await asyncio.sleep(0.01)


async def test_a_heartbeat_notices_a_schema_that_it_cannot_write(store: SqliteStore, path: str) -> None:
    assert (await store.workers.heartbeat(a_worker(), 30)).outdated == ""
    with contextlib.closing(sqlite3.connect(path)) as other, other:
        other.execute("ALTER TABLE workers RENAME COLUMN health TO wellness")
        other.execute("UPDATE meta SET value = '999' WHERE key IN ('version', 'min_compatible')")
    assert "upgrade tickbird" in (await store.workers.heartbeat(a_worker(), 30)).outdated
