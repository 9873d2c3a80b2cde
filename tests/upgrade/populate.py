"""A store with an example of everything, created by the code on the path: `python -m tests.upgrade.populate URL`.

Every instant is fixed, so that two calls write the same rows.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sqlite3
import sys
from contextlib import closing
from datetime import UTC, date, datetime
from typing import Any

import psycopg

from conformance.steps import (
    NAMESPACE,
    Outcome,
    a_worker,
    change,
    claim,
    create,
    define,
    enqueue,
    epoch,
    finish,
    later,
    plan_all,
    start,
)
from tickbird import any_of, at, cron, every
from tickbird.domain.calendars.calendar import Calendar, exclude
from tickbird.domain.planning.backfills import NewBackfill
from tickbird.domain.planning.commands.define import Delete, SyncFromCode, Update
from tickbird.domain.planning.commands.pause import Pause, Resume
from tickbird.domain.planning.commands.run import Trigger
from tickbird.domain.planning.commands.ticks import Reschedule, Skip
from tickbird.domain.runs.held import Drop, Release
from tickbird.domain.runs.logs import LogLine, Progress
from tickbird.domain.runs.run import NewRun
from tickbird.domain.schedules.codec import fingerprint
from tickbird.store.protocol.store import Store
from tickbird.stores import open_store

DAY, HOUR, MINUTE = 86_400, 3_600, 60
BROKEN = {"v": 1, "trigger": {"cron": "61 * * * *"}, "target": {"task": "work"}}


async def populate(url: str) -> None:
    """Fill an empty store."""
    store = open_store(url)
    await store.migrate()
    await store.open()
    try:
        await store.zone_data.check(adopt=True, now=later(0))
        await _kinds(store)
        await _code(store)
        await _overlaps(store)
        await _outages(store)
        await _changes(store)
        await _keys(store)
        await _backfills(store)
        await _endings(store)
        _insert_broken(url)
        await plan_all(store, 12 * DAY)
        await store.runs.prune(older_than=11 * DAY, keep=2, limit=3, now=later(12 * DAY))
        await store.workers.heartbeat(a_worker("w9", tasks={"work": {"queue": "default"}}), 60, now=later(12 * DAY))
    finally:
        await store.close()
    # So that a restored dump is not detected as a copy.
    _execute(url, "DELETE FROM meta WHERE key = 'identity'")


async def _work(store: Store, at: float, task: str, queue: str = "default") -> None:
    """Every run of a task that can start does, and ends well."""
    while found := (await claim(store, at, tasks=(task,), queues=(queue,))).runs:
        await store.leases.finish(
            [Outcome(run.id, run.attempt, "succeeded", result={"n": 1}) for run in found], now=later(at)
        )


async def _kinds(store: Store) -> None:
    """Triggers, windows, calendars."""
    weekdays = cron("30 2 * * 1-5", "Europe/Berlin")
    closed = Calendar(frozenset({date(2026, 1, 2)}), yearly=frozenset({(12, 25)}))
    source = {"library": "days 1.0", "years": [2025, 2036]}
    await store.calendars.put(NAMESPACE, "quiet", {"dates": ["2026-01-02"]}, closed, source, "cy", now=later(0))
    await create(store, "hourly", every(hours=1), tags=("mail", "eu"), priority=3, description="“ü” every hour")
    await create(store, "new-york", cron("0 9 * * 1-5", "America/New_York"), payload={"limit": 5, "who": "ü"})
    await create(store, "berlin", weekdays, spread=600, retries=3, timeout=60)
    await create(store, "either", any_of(cron("0 12 * * *"), every(days=2)), queue="gpu")
    await create(store, "once", at(datetime(2026, 1, 1, 5, tzinfo=UTC)))
    await create(store, "window", every(hours=6), start_at=later(DAY), end_at=later(3 * DAY), max_runs=4)
    await create(store, "closed", every(days=1), calendars=("quiet",))
    await create(store, "weekends", every(days=1), exclude=exclude("sat", "sun"))
    for hour in range(4 * 24):
        await plan_all(store, hour * HOUR + 1)
        await _work(store, hour * HOUR + 2, "work")
        await _work(store, hour * HOUR + 2, "work", "gpu")


async def _code(store: Store) -> None:
    """Declared schedules, with overrides of an operator."""
    declared = define(every(hours=3), task="coded", retries=2)
    given = {"app": "shop", "fingerprint": fingerprint(declared)}
    await create(store, "declared", every(hours=3), task="coded", retries=2, at=4 * DAY, **given)
    newer = define(every(hours=2), task="coded", retries=2)
    redefine = SyncFromCode(actor="sync", definition=newer, app="shop", fingerprint=fingerprint(newer))
    await change(store, redefine, 4 * DAY + 60, name="declared")
    await change(store, Update(actor="ada", fields={"retries": 5}), 4 * DAY + 90, name="declared")
    await plan_all(store, 4 * DAY + 2 * HOUR + 1)
    await _work(store, 4 * DAY + 2 * HOUR + 2, "coded")


async def _overlaps(store: Store) -> None:
    """Runs that meet: skipped, queued, replaced."""
    begin = 5 * DAY
    for policy in ("skip", "queue", "replace", "allow"):
        await create(store, f"overlap-{policy}", every(minutes=10), task=policy, at=begin, overlap=policy)
    for number in (1, 2, 3):
        await plan_all(store, begin + number * 600 + 1)
        if number == 1:
            await claim(store, begin + 602, tasks=("skip", "queue", "replace", "allow"), lease=DAY)


async def _outages(store: Store) -> None:
    """Late ticks: coalesced, all of them, misfired, and held."""
    begin = 6 * DAY
    for policy in ("one", "latest", "all", "skip"):
        await create(store, f"late-{policy}", every(hours=1), task="late", at=begin, catch_up=policy, catch_up_limit=3)
    await create(store, "held", every(hours=1), task="late", at=begin, catch_up="all", hold_above=2)
    await plan_all(store, begin + 8 * HOUR + 30)
    await store.held.resolve(NAMESPACE, "held", Release(actor="ada", count=2), now=later(begin + 9 * HOUR))
    await store.held.resolve(NAMESPACE, "held", Drop(actor="ada", count=1, note="no"), now=later(begin + 9 * HOUR))


async def _changes(store: Store) -> None:
    """Actions of operators."""
    begin = 7 * DAY
    for name in ("paused", "resumed", "moved", "skipped", "deleted", "edited", "triggered"):
        await create(store, name, every(hours=1), task="changed", at=begin)
    pause = Pause(actor="ada", note="quiet", until=epoch(400 * DAY))
    await change(store, pause, begin + HOUR + 5, name="paused")
    await change(store, Pause(actor="ada"), begin + 5, name="resumed")
    await change(store, Resume(actor="bob", note="again"), begin + 5 * HOUR, name="resumed")
    await change(store, Reschedule(actor="ada", to=epoch(begin + 5 * HOUR + 7)), begin + 5, name="moved")
    await change(store, Skip(actor="ada", count=3, note="not now"), begin + 5, name="skipped")
    await change(store, Delete(actor="ada"), begin + 2 * HOUR + 5, name="deleted")
    await change(store, Update(actor="ada", fields={"payload": {"v": 2}}), begin + 2 * HOUR + 5, name="edited")
    made = await change(store, Trigger(actor="ada", payload={"by": "hand"}), begin + 9, name="triggered")
    assert made.run is not None
    for hour in range(1, 8):
        await plan_all(store, begin + hour * HOUR + 1)
        await _work(store, begin + hour * HOUR + 2, "changed")
    await change(store, Trigger(actor="ada", retry_of=made.run.id), begin + 8 * HOUR, name="triggered")


async def _keys(store: Store) -> None:
    """Concurrency keys with a limit, and runs that wait for a slot; idempotency keys."""
    begin = 8 * DAY
    await store.limits.set(NAMESPACE, "warehouse", 2, "ada", now=later(begin))
    policies: dict[str, Any] = {"overlap": "allow", "concurrency_key": "warehouse"}
    for number in (1, 2, 3):
        await create(store, f"keyed-{number}", every(hours=1), task="keyed", at=begin, **policies)
    await plan_all(store, begin + HOUR + 1)
    await claim(store, begin + HOUR + 2, 1, tasks=("keyed",), lease=DAY)
    for _ in range(2):
        await enqueue(store, begin, task="later", idempotency_key="order-7", payload={"order": 7})


async def _backfills(store: Store) -> None:
    """A running backfill and a cancelled one."""
    begin = 9 * DAY
    await create(store, "filled", every(hours=1), task="filled", at=begin)
    await change(store, Pause(actor="ada"), begin + 1, name="filled")
    await change(store, Resume(actor="ada"), begin + 9 * HOUR + 1, name="filled")
    for first, last in ((1, 4), (6, 9)):
        start_, end = epoch(begin + first * HOUR), epoch(begin + last * HOUR)
        new = NewBackfill(actor="ben", first=start_, last=end, concurrency=2, note="new column")
        await store.backfills.create(NAMESPACE, "filled", new, now=later(begin + 10 * HOUR))
    [run] = (await claim(store, begin + 10 * HOUR, 1, tasks=("filled",))).runs
    await finish(store, run, begin + 10 * HOUR)
    await store.backfills.cancel(NAMESPACE, 2, "ben", note="enough", now=later(begin + 11 * HOUR))


async def _endings(store: Store) -> None:
    """Runs of every status, attempts, lines and progress."""
    begin = 10 * DAY
    ids = {
        name: await enqueue(store, begin, task=name) for name in ("fails", "lost", "stops", "talks", "runs", "waits")
    }
    run = await start(store, begin + 1, tasks=("fails",))
    await finish(store, run, begin + 2, "queued", delay=60.0, failures=1, error="Boom: no data", failure_kind="raised")
    run = await start(store, begin + 70, tasks=("fails",))
    await finish(store, run, begin + 71, "failed", failures=1, error="Boom: still none", failure_kind="raised")
    await store.runs.enqueue(NAMESPACE, [NewRun(run.target, {}, retry_of=run.id)], "ada", now=later(begin + 80))
    await start(store, begin + 1, tasks=("lost",), lease=5)
    await store.leases.rescue(now=later(begin + 30))
    await store.runs.cancel(ids["stops"], "ada", reason="wrong day", now=later(begin + 40))
    run = await start(store, begin + 50, tasks=("talks",))
    lines = [LogLine(run.id, 1, n, later(begin + 50 + n), logging.INFO, f"line {n} “ü”") for n in (1, 2, 3)]
    await store.logs.write(lines, [Progress(run.id, 1, later(begin + 54), {"done": 3, "of": 4})])
    await finish(store, run, begin + 55, result={"rows": 3})
    await start(store, begin + 60, tasks=("runs",), lease=DAY)


def _insert_broken(url: str) -> None:
    """A row from plain SQL that cannot be planned."""
    _execute(url, f"INSERT INTO schedules (name, definition) VALUES ('broken', '{json.dumps(BROKEN)}')")


def _execute(url: str, statement: str) -> None:
    if url.startswith("sqlite"):
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"), timeout=60)) as db:
            db.execute(statement)
            db.commit()
    else:
        with psycopg.connect(url, options="-c search_path=tickbird") as connection:
            connection.execute(statement.encode())


if __name__ == "__main__":
    asyncio.run(populate(sys.argv[1]))
