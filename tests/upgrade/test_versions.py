"""Two versions in parallel under load, in both directions, as min_compatible allows."""

from __future__ import annotations

import json
import subprocess

import psycopg
import pytest

from lab.faults import until
from tests.upgrade.codes import Code, kind_of
from tests.upgrade.conftest import Workers
from tests.upgrade.ledgers import check, notes, stored_runs
from tickbird.stores import open_store

# From version, to version, and store. The possible next versions raise min_compatible, or not: both are tried, whatever
# the migrations of this checkout say.
STEPS = [
    ("sqlite", "previous", "current"),
    ("postgres", "previous", "current"),
    ("sqlite", "current", "raised"),
    ("postgres", "current", "raised"),
    ("postgres", "current", "added"),
]


async def _busy(workers: Workers, code: Code, more: int = 4) -> None:
    """Wait until workers of a version have executed this many more runs."""
    seen = workers.ran(code)
    await until(lambda: workers.ran(code) >= seen + more)


async def _ended(process: subprocess.Popen[bytes]) -> int:
    await until(lambda: process.poll() is not None)
    return int(process.returncode)


def _is_refused(workers: Workers, process: subprocess.Popen[bytes], knows: int) -> bool:
    """Did a worker say that it is too old?"""
    return f"this tickbird supports only {knows}. Upgrade tickbird." in workers.said(process)


@pytest.mark.parametrize("url,older,newer", STEPS, indirect=["url"])
async def test_there_and_back_under_load(
    url: str, workers: Workers, codes: dict[str, Code], older: str, newer: str
) -> None:
    old, new, kind = codes[older], codes[newer], kind_of(url)
    allowed = old.may_run_on(new, kind)
    old.ok(url, "migrate")
    one = workers.start(old)
    await _busy(workers, old)
    run = json.loads(old.ok(url, "trigger", "slow", "--json"))["run"]["id"]
    await until(lambda: notes(workers.folder, "began"))

    # There.
    new.ok(url, "migrate")
    two = workers.start(new)
    await _busy(workers, new)
    (workers.folder / "gate").touch()
    if allowed:
        await _busy(workers, old)
        workers.end(one)
    else:
        assert await _ended(one) == 5
        assert _is_refused(workers, one, old.newest(kind))
    # The old worker has finished its runs, once.
    assert [note["code"] for note in notes(workers.folder) if note["run"] == run] == [old.name]
    await _busy(workers, new)
    workers.end(two)

    # And back.
    before = stored_runs(url)
    three = workers.start(old)
    if allowed:
        await _busy(workers, old)
        workers.end(three)
    else:
        assert await _ended(three) == 5
        assert _is_refused(workers, three, old.newest(kind))
        assert stored_runs(url) == before
    four = workers.start(new)
    await _busy(workers, new)
    workers.end(four)
    check(url, workers.folder, minimum=5)
    for process in workers.processes:
        assert "Traceback" not in workers.said(process)


@pytest.mark.parametrize("url", ["postgres"], indirect=True)
async def test_a_migration_without_a_lock_fails(url: str, workers: Workers, codes: dict[str, Code]) -> None:
    """A long transaction must not make all planners wait forever behind a migration."""
    old, new = codes["current"], codes["added"]
    old.ok(url, "migrate")
    worker = workers.start(old)
    await _busy(workers, old)
    with psycopg.connect(url) as connection:
        connection.execute("SELECT count(*) FROM tickbird.runs")
        refused = new.tickbird(url, "migrate")
        assert refused.returncode == 5
        assert "lock" in refused.stderr
        await _busy(workers, old)
    new.ok(url, "migrate")
    await _busy(workers, old)
    workers.end(worker)
    check(url, workers.folder, minimum=5)


@pytest.mark.parametrize("url", ["postgres"], indirect=True)
async def test_an_open_store_continues_after_a_migration(url: str, codes: dict[str, Code]) -> None:
    """A statement prepared before a view got another column is prepared again."""
    codes["current"].ok(url, "migrate")
    store = open_store(url)
    await store.open()
    try:
        # Repeated so often that every connection of the pool has prepared it.
        before = [await store.runs.list("default", limit=10) for _ in range(20)]
        codes["added"].ok(url, "migrate")
        assert [await store.runs.list("default", limit=10) for _ in range(20)] == before
    finally:
        await store.close()
