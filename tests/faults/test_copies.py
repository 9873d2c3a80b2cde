"""A copy of a store plans and executes nothing until an operator accepts it."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest

from conformance.events import steps
from lab.faults import Fleet, until
from lab.servers import PostgresServer, postgres_programs
from tests.faults.fleet import all_runs, final
from tickbird.client import Client, StoreClient
from tickbird.domain.errors import ConflictError
from tickbird.domain.triggers.every import every
from tickbird.store.protocol.store import Store
from tickbird.stores import open_store


def _copy_file(url: str) -> str:
    path = Path(url.removeprefix("sqlite:///"))
    source, target = sqlite3.connect(path, timeout=60), sqlite3.connect(path.with_name("copy.db"))
    source.backup(target)
    source.close()
    target.close()
    return f"sqlite:///{path.with_name('copy.db')}"


def _copy_database(server: PostgresServer, url: str) -> str:
    """As a dump and a restore leave it: all rows, under another name."""
    copy = server.create_database()
    name, original = urlsplit(copy).path[1:], urlsplit(url).path[1:]
    server.drop_database(copy)
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}" TEMPLATE "{original}"')
    return copy


@pytest.fixture
async def copy(url: str, store: Store, request: pytest.FixtureRequest) -> AsyncIterator[str]:
    """The address of a copy of a store with a schedule that ticks each second."""
    await StoreClient(store).schedules.create(
        "clock", every(seconds=1), "succeed", actor="ada", unknown_task_ok=True, overlap="allow"
    )
    await store.identity.check()
    await store.close()
    if url.startswith("sqlite"):
        yield _copy_file(url)
    else:
        server: PostgresServer = request.getfixturevalue("postgres_server")
        copied = _copy_database(server, url)
        yield copied
        server.drop_database(copied)


@pytest.fixture
async def copied(copy: str) -> AsyncIterator[Store]:
    """The copy, open in this process."""
    store = open_store(copy)
    await store.open()
    yield store
    await store.close()


async def test_a_copy_waits_for_a_person(copy: str, copied: Store, tmp_path: Path) -> None:
    client = StoreClient(copied)
    folder = tmp_path / "copied"
    folder.mkdir()
    fleet = Fleet(copy, folder)
    try:
        fleet.start()
        await fleet.wait_for_workers(1)
        run = await client.runs.enqueue("succeed", actor="ada")
        # Requests of operators are executed, but they do not plan due ticks.
        await client.schedules.pause("clock", actor="ada")
        await client.schedules.resume("clock", actor="ada")

        async def held() -> str:
            return next((worker.standby_reason for worker in await client.workers.list()), "")

        assert "does nothing: this store is a copy: it belongs to " in await until(held)
        assert await all_runs(copied, "clock") == []
        assert (await client.runs.get(run)).status == "queued"
        await until(lambda: _due(client))
        next_run_at = (await client.schedules.get("clock")).next_run_at
        assert next_run_at is not None
        explained = await client.ticks.why("clock", next_run_at)
        assert "this store is a copy" in explained.sentence
        assert "this worker is on standby: this store is a copy" in fleet.logs()

        await client.system.accept_copy(actor="ada")

        async def done() -> bool:
            return (await client.runs.get(run)).status == "succeeded" and bool(await all_runs(copied, "clock"))

        await until(done)
        [row] = [row for row in await client.audit.list() if row.action == "accept_copy"]
        assert row.actor == "ada"
        assert row.detail["from"] != row.detail["to"]
        assert "the copy was accepted" in fleet.logs()
    finally:
        fleet.close()


def tickbird(url: str, *words: str) -> str:
    """The output of a command that must succeed."""
    command = [sys.executable, "-m", "tickbird", *words, "--url", url]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    # The doctor may have other findings.
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


async def test_why_reports_a_copy_until_it_is_accepted(copy: str, copied: Store) -> None:
    client = StoreClient(copied)
    run = await client.runs.enqueue("succeed", actor="ada", unknown_task_ok=True)
    assert [step.name for step in await client.runs.waiting_for(run)][-1] == "copy"
    words = "nothing is planned or executed here: this store is a copy: it belongs to "
    text = tickbird(copy, "why", "clock", "2035-01-01T00:00:00Z")
    assert words in text
    assert "✗ This store is a copy: it belongs to " in text
    # In the second of its creation, "now" is before the creation.
    await until(lambda: _due(client))
    for at in ("2035-01-01T00:00:00Z", "now"):
        [explanation] = json.loads(tickbird(copy, "why", "clock", at, "--json"))["explanations"]
        assert explanation["verdict"] == "undecided"
        assert explanation["sentence"].count("this store is a copy") == 1
        assert explanation["sentence"].count(", but ") == 1
        assert explanation["steps"][-1]["name"] == "copy"
    text = tickbird(copy, "doctor", "--accept-copy")
    assert text.startswith(
        "Copy accepted: workers now plan and execute in this store, independently of the original.\n"
    )
    assert "✓ copy: " in text
    [explanation] = json.loads(tickbird(copy, "why", "clock", "2035-01-01T00:00:00Z", "--json"))["explanations"]
    assert explanation["verdict"] == "will run"
    assert "copy" not in {step.name for step in await client.runs.waiting_for(run)}


async def test_an_accepted_copy_is_reported_to_workers(copy: str) -> None:
    document = json.loads(tickbird(copy, "doctor", "--accept-copy", "--json"))
    assert document["accepted_copy"]["from"] != document["accepted_copy"]["to"]
    assert json.loads(tickbird(copy, "doctor", "--json"))["accepted_copy"] is None


async def test_a_reader_of_events_does_not_continue_in_a_restored_store(
    url: str, store: Store, request: pytest.FixtureRequest
) -> None:
    """Positions after the backup are assigned again, to other events."""
    original = StoreClient(store)
    await steps.declare(store)
    await steps.publish(store, "a", "b")
    await store.identity.check()
    await store.close()
    if url.startswith("sqlite"):
        backup = _copy_file(url)
    else:
        backup = _copy_database(request.getfixturevalue("postgres_server"), url)
    await store.open()
    await steps.publish(store, "c")
    seen = (await original.events.list())[-1]
    assert seen.resume_token is not None
    assert await original.events.list(after=seen.resume_token) == []

    restored = open_store(backup)
    await restored.open()
    try:
        client = StoreClient(restored)
        # Until it is accepted, it is the same store in an earlier state.
        with pytest.raises(ConflictError, match="the log ends at position 2"):
            await client.events.list(after=seen.resume_token)
        await client.system.accept_copy(actor="ada")
        await steps.publish(restored, "x", "y")
        # By its number alone, the reader would continue with y, and never read x.
        assert [event.key for event in await client.events.list(after=3)] == ["y"]
        for position in (str(seen.resume_token), seen.resume_token):
            with pytest.raises(ConflictError, match="Start again from a time or from the beginning"):
                await client.events.list(after=position)
            for call in (
                client.consumers.seek(steps.GROUP, position, actor="ada"),
                client.consumers.copy(steps.GROUP, "test", position, actor="ada"),
            ):
                with pytest.raises(ConflictError, match="Start again from a time or from the beginning"):
                    await call
        assert seen.stamped_at is not None
        again = await client.events.list(since=seen.stamped_at)
        assert [event.key for event in again] == ["x", "y"]
        assert [event.key for event in await client.events.list()] == ["a", "b", "x", "y"]
        assert again[0].resume_token is not None
        assert [event.key for event in await client.events.list(after=str(again[0].resume_token))] == ["y"]
        assert (await client.consumers.seek(steps.GROUP, str(again[0].resume_token), actor="ada")).lag == 1
    finally:
        await restored.close()


async def test_a_restore_in_place_is_reported_by_a_person(url: str, store: Store) -> None:
    client = StoreClient(store)
    await steps.publish(store, "a")
    [event] = await client.events.list()
    text = tickbird(url, "doctor", "--restored")
    assert text.startswith(
        "The store has a new incarnation: readers of events start again from a time or the beginning.\n"
    )
    assert event.resume_token is not None
    with pytest.raises(ConflictError, match="Start again from a time or from the beginning"):
        await client.events.list(after=event.resume_token)
    [row] = [row for row in await client.audit.list() if row.action == "accept_copy"]
    assert row.detail["from"] == row.detail["to"]


async def test_only_a_copy_is_accepted(client: Client, copied: Store) -> None:
    await StoreClient(copied).system.accept_copy(actor="ada")
    with pytest.raises(ConflictError, match="this store is not a copy"):
        await StoreClient(copied).system.accept_copy(actor="ada")
    with pytest.raises(ValueError, match="actor"):
        await StoreClient(copied).system.accept_copy(actor="")


async def test_a_file_that_was_moved_is_itself(tmp_path: Path) -> None:
    first = open_store(f"sqlite:///{tmp_path}/a.db")
    await first.open()
    assert not (await first.identity.check()).copy_reason
    await first.close()
    (tmp_path / "a.db").rename(tmp_path / "b.db")
    for name in ("b.db", "b.db"):
        moved = open_store(f"sqlite:///{tmp_path}/{name}")
        await moved.open()
        assert not (await moved.identity.check()).copy_reason
        await moved.close()
    # A backup that is restored in place continues too; the same file elsewhere does not.
    shutil.copy(tmp_path / "b.db", tmp_path / "backup.db")
    (tmp_path / "b.db").unlink()
    shutil.copy(tmp_path / "backup.db", tmp_path / "b.db")
    for name, copied in (("b.db", False), ("backup.db", True)):
        store = open_store(f"sqlite:///{tmp_path}/{name}")
        await store.open()
        assert bool((await store.identity.check()).copy_reason) is copied
        await store.close()


async def test_without_server_identity_the_database_identifies_the_store(
    postgres_server: PostgresServer, postgres_url: str
) -> None:
    """I16: then a dump that is restored on another server under the same name and number is not noticed."""
    owner = open_store(postgres_url)
    await owner.migrate()
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC")
        connection.execute("CREATE ROLE plain_reader LOGIN")
        connection.execute("GRANT USAGE ON SCHEMA tickbird TO plain_reader")
        connection.execute("GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA tickbird TO plain_reader")
    store = open_store(postgres_url.replace("postgres@", "plain_reader@"))
    await store.open()
    try:
        place = await store.identity.check()
        assert set(place.here) == {"database", "oid"}
        assert not place.copy_reason
        with psycopg.connect(postgres_url, autocommit=True) as connection:
            connection.execute('UPDATE tickbird.meta SET value = replace(value, \'"oid": "\', \'"oid": "9\')')
        assert (await store.identity.check()).copy_reason
    finally:
        await store.close()
        with psycopg.connect(postgres_url, autocommit=True) as connection:
            connection.execute("DROP OWNED BY plain_reader")
            connection.execute("DROP ROLE plain_reader")
            connection.execute("GRANT EXECUTE ON FUNCTION pg_control_system() TO PUBLIC")


async def test_planning_switched_off(client: Client, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TICKBIRD_PLANNING", "off")
    shell = open_store("sqlite://")
    assert shell.plans is False
    monkeypatch.setenv("TICKBIRD_PLANNING", "perhaps")
    with pytest.raises(ValueError, match="TICKBIRD_PLANNING: 'perhaps' is neither on nor off"):
        open_store("sqlite://")
    store.plans = False
    await client.schedules.create("clock", every(seconds=1), "succeed", actor="ada", unknown_task_ok=True)
    await until(lambda: _due(client))
    await client.schedules.pause("clock", actor="ada")
    assert await all_runs(store, "clock") == []


def _dump_and_restore(source: str, target: str) -> None:
    """With PostgreSQL's own programs, as people do it."""
    programs = postgres_programs()
    dump = subprocess.run([programs / "pg_dump", source], check=True, capture_output=True).stdout
    restore: list[str | Path] = [programs / "psql", "--quiet", "--no-psqlrc", "--set=ON_ERROR_STOP=1", target]
    subprocess.run(restore, input=dump, check=True, capture_output=True)


def _accept(url: str) -> None:
    """By the command; its exit code reports all other checks too."""
    command = [sys.executable, "-m", "tickbird", "doctor", "--accept-copy", "--json", "--url", url]
    said = subprocess.run(command, check=False, capture_output=True, text=True)
    assert json.loads(said.stdout), said.stderr


@pytest.mark.parametrize("url", ["postgres"], indirect=True)
async def test_a_dump_that_is_restored(
    url: str, store: Store, client: Client, postgres_server: PostgresServer, tmp_path: Path
) -> None:
    """Under another name on the same server, or under the same name on another: it waits to be accepted."""
    await client.schedules.create(
        "clock", every(seconds=1), "succeed", actor="ada", unknown_task_ok=True, overlap="allow"
    )
    assert not (await client.system.identity()).copy_reason
    elsewhere = postgres_server.create_database()
    with PostgresServer() as other:
        name = urlsplit(url).path[1:]
        with psycopg.connect(other.url, autocommit=True) as connection:
            connection.execute(f'CREATE DATABASE "{name}"')
        same_name = other.url_of(name)
        for target in (elsewhere, same_name):
            _dump_and_restore(url, target)
            restored = open_store(target)
            await restored.open()
            assert (await restored.identity.check()).copy_reason
            await restored.close()
        with Fleet(same_name, tmp_path) as fleet:
            fleet.start()
            await fleet.wait_for_workers(1)
            restored = open_store(same_name)
            await restored.open()
            try:
                run = await StoreClient(restored).runs.enqueue("succeed", actor="ada")
                await until(lambda: _due(StoreClient(restored)))
                assert await all_runs(restored, "clock") == []
                _accept(same_name)
                await until(lambda: all_runs(restored, "clock"))
                assert (await final(StoreClient(restored), run)).status == "succeeded"
            finally:
                await restored.close()
    postgres_server.drop_database(elsewhere)
    # The original store has not changed.
    assert not (await client.system.identity()).copy_reason


async def test_a_worker_that_is_not_to_plan(client: Client, store: Store, fleet: Fleet) -> None:
    await client.schedules.create(
        "clock", every(seconds=1), "succeed", actor="ada", unknown_task_ok=True, overlap="allow"
    )
    fleet.spawn(environment={"TICKBIRD_PLANNING": "off"})
    await fleet.wait_for_workers(1)
    await until(lambda: _due(client))
    # The run wakes the worker while the schedule is due; a worker that plans would plan it now.
    run = await client.runs.enqueue("succeed", actor="ada")
    assert (await final(client, run)).status == "succeeded"
    assert await all_runs(store, "clock") == []
    [worker] = await client.workers.list()
    assert (worker.kind, worker.standby_reason) == ("executor", "plans nothing: TICKBIRD_PLANNING is off")
    assert "this worker plans nothing: TICKBIRD_PLANNING is off" in fleet.logs()
    # It executes runs that another worker plans.
    fleet.start(role="plan-only")
    await until(lambda: all_runs(store, "clock"))
    await fleet.wait_for_runs(1)


async def _due(client: Client) -> bool:
    next_run_at = (await client.schedules.get("clock")).next_run_at
    return next_run_at is not None and next_run_at <= await client.system.now()
