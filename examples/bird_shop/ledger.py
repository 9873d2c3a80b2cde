"""Collects the data of the view. It reads only the records of the store, never the tasks themselves."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta

from examples.bird_shop import words
from examples.bird_shop.snapshot import CaughtUp, Counts, Event, Kind, Result, Row, Snapshot
from tickbird.client import Client
from tickbird.domain.dashboard_rows import ScheduleSummary
from tickbird.domain.runs.run import ACTIVE, FINAL, RunRecord, SkipRecord
from tickbird.domain.workers import Worker
from tickbird.store.protocol.store import Store

_MAX_EVENTS = 500
_MAX_SCHEDULES = 1_000
_PAGE = 100
_STRIP = 12
_AFTER = timedelta(seconds=1)


class Ledger:
    """Reads runs and skips, and reports changes since the last snapshot."""

    def __init__(self, client: Client, store: Store, worker: Worker) -> None:
        self._client = client
        # Skips have no list in the client yet.
        self._store = store
        self._worker = worker
        self._runs: dict[int, RunRecord] = {}
        self._skips: dict[int, int] = {}
        self._decided: dict[int, datetime | None] = {}
        self._results: dict[int, deque[Result]] = {}
        self._new: list[Event] = []
        self._events: deque[Event] = deque(maxlen=_MAX_EVENTS)
        self._counts = Counts()
        self._caught_up = CaughtUp()
        self._started_at: datetime

    async def begin(self) -> None:
        """Read the existing runs before the worker starts, so that only later changes are events."""
        self._started_at = await self._client.system.now()
        self._keep(await self._client.runs.list(limit=_PAGE))
        for status in ACTIVE:
            self._keep(await self._client.runs.list(status=status, limit=_MAX_SCHEDULES))
        for row in await self._client.schedules.list(limit=_MAX_SCHEDULES):
            schedule = row.schedule
            self._decided[schedule.id] = schedule.planned_until
            past = await self._client.runs.list(schedule=schedule.name, limit=_STRIP)
            ends = (_result(run) for run in reversed(past))
            self._results[schedule.id] = deque((end for end in ends if end is not None), maxlen=_STRIP)
            if schedule.planned_until is not None:
                last = await self._store.ledger.tick_decisions(
                    schedule.id, schedule.planned_until, schedule.planned_until
                )
                self._skips.update((skip.id, skip.count) for skip in last.skips)

    def _keep(self, runs: Iterable[RunRecord]) -> None:
        self._runs.update((run.id, run) for run in runs)

    async def look(self) -> Snapshot:
        """Return the current snapshot; `take_new` then returns the events since the last one."""
        now = await self._client.system.now()
        rows = await self._client.schedules.list(limit=_MAX_SCHEDULES)
        seen = {run.id: run for run in await self._client.runs.list(limit=_PAGE)}
        for row in rows:
            seen |= {run.id: run for run in await self._decisions(row, now)}
        for run in list(self._runs.values()):
            if run.status not in FINAL and run.id not in seen:
                seen[run.id] = await self._client.runs.get(run.id)
        for run_id in sorted(seen):
            await self._compare(seen[run_id])
        self._new.sort(key=lambda event: event.at)
        self._events.extend(self._new)
        self._forget(seen)
        active = [run for run in self._runs.values() if run.status in ACTIVE]
        busy = sum(run.status == "running" and run.worker == self._worker.id for run in active)
        return Snapshot(
            now=now,
            started_at=self._started_at,
            url=self._store.url,
            worker=self._worker.id,
            slots=self._worker.slots,
            busy=busy,
            counts=self._counts,
            caught_up=self._caught_up,
            rows=tuple(self._row(row, active, now, full=busy >= self._worker.slots) for row in rows),
            events=tuple(self._events),
        )

    def take_new(self) -> list[Event]:
        """Return the events since the last call, oldest first."""
        new, self._new = self._new, []
        return new

    def executing(self, now: datetime) -> tuple[str, ...]:
        """Return the running runs of this worker, as of the last snapshot."""
        mine = [run for run in self._runs.values() if run.status == "running" and run.worker == self._worker.id]
        return tuple(f"{words.name_of(run)} run {run.id} ({words.seconds_since(run.started_at, now)})" for run in mine)

    async def _decisions(self, row: ScheduleSummary, now: datetime) -> Iterable[RunRecord]:
        """Return the runs of ticks decided since the last snapshot; skips become events."""
        schedule = row.schedule
        before, reached = self._decided.get(schedule.id), schedule.planned_until
        if reached is None or reached == before:
            return ()
        self._decided[schedule.id] = reached
        # A one-shot in the past is decided before the first cursor of its schedule.
        first = self._started_at - timedelta(days=1) if before is None else before + _AFTER
        decisions = await self._store.ledger.tick_decisions(schedule.id, first, reached)
        for skip in decisions.skips:
            self._add_skip(schedule.name, skip)
        return decisions.runs

    def _add_skip(self, name: str, skip: SkipRecord) -> None:
        # A skip row grows while its reason stays the same.
        count = skip.count - self._skips.get(skip.id, 0)
        if count <= 0:
            return
        self._skips[skip.id] = skip.count
        self._new.append(Event(max(skip.decided_at, skip.last), "skip", name, words.skipped(skip, count)))
        self._results.setdefault(skip.schedule_id, deque(maxlen=_STRIP)).append("skipped")
        self._counts = replace(self._counts, skipped=self._counts.skipped + count)
        if skip.last < self._started_at and skip.reason in ("misfire", "limit"):
            self._caught_up = replace(self._caught_up, skipped=self._caught_up.skipped + count)

    async def _compare(self, run: RunRecord) -> None:
        """Add events for the changes of a run, with the instants that the store recorded."""
        old = self._runs.get(run.id)
        if old == run:
            return
        self._runs[run.id] = run
        if old is None:
            self._add(run, run.created_at, *words.planned(run))
            self._count_planned(run)
        if run.started_at is not None and run.attempt > (old.attempt if old else 0):
            self._add(run, run.started_at, "start", words.started(run))
        # Attempts that ended without ending the run: raised errors, lost workers, drains.
        if run.attempt > 1 or (run.attempt == 1 and run.status == "queued"):
            await self._add_attempts(run, old)
        if run.status in FINAL and run.finished_at is not None:
            self._add(run, run.finished_at, *words.ended(run))
            self._count_ended(run)

    async def _add_attempts(self, run: RunRecord, old: RunRecord | None) -> None:
        done = 0
        if old is not None:
            done = old.attempt if old.status == "queued" else old.attempt - 1
        for attempt in await self._client.runs.list_attempts(run.id):
            final = run.status in FINAL and attempt.attempt == run.attempt
            if attempt.attempt > done and not final:
                kind, text = words.ended_attempt(run, attempt)
                self._add(run, attempt.ended_at, kind, text)
                if kind == "retry":
                    self._counts = replace(self._counts, retried=self._counts.retried + 1)

    def _add(self, run: RunRecord, at: datetime, kind: Kind, text: str) -> None:
        self._new.append(Event(at, kind, words.name_of(run), text, run.id))

    def _count_planned(self, run: RunRecord) -> None:
        self._counts = replace(self._counts, runs=self._counts.runs + 1)
        if run.origin == "catch_up" and run.scheduled_for is not None and run.scheduled_for < self._started_at:
            ticks = run.covers.count if run.covers else 1
            caught = self._caught_up
            self._caught_up = replace(caught, runs=caught.runs + 1, ticks=caught.ticks + ticks)

    def _count_ended(self, run: RunRecord) -> None:
        counts = self._counts
        if run.status == "succeeded":
            self._counts = replace(counts, succeeded=counts.succeeded + 1)
        elif run.status == "failed":
            self._counts = replace(counts, failed=counts.failed + 1)
        else:
            self._counts = replace(counts, cancelled=counts.cancelled + 1)
        result = _result(run)
        if run.schedule_id is not None and result is not None:
            self._results.setdefault(run.schedule_id, deque(maxlen=_STRIP)).append(result)

    def _forget(self, seen: dict[int, RunRecord]) -> None:
        """Forget final runs that are no longer listed."""
        for run in list(self._runs.values()):
            if run.status in FINAL and run.id not in seen:
                del self._runs[run.id]

    def _row(self, row: ScheduleSummary, active: list[RunRecord], now: datetime, *, full: bool) -> Row:
        schedule = row.schedule
        mine = sorted((run for run in active if run.schedule_id == schedule.id), key=lambda run: run.id)
        activity, doing = words.doing(schedule, mine, now, full=full)
        return Row(
            name=schedule.name,
            words=words.when(schedule.definition),
            policy=words.policy(schedule.definition),
            results=tuple(self._results.get(schedule.id, ())),
            activity=activity,
            doing=doing,
            next_at=schedule.next_run_at,
        )


def _result(run: RunRecord) -> Result | None:
    if run.status == "succeeded":
        return "recovered" if run.attempt > 1 else "ok"
    if run.status == "failed":
        return "failed"
    return "cancelled" if run.status == "cancelled" else None
