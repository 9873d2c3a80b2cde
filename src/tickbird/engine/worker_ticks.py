"""The step for ticks that this worker computes itself: of schedules in memory, and of durable ones in fallback."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Final

from tickbird.domain.errors import SchedulesUnusableError
from tickbird.domain.planning.decided_ticks import as_durable, recent_start
from tickbird.domain.planning.worker_ticks import (
    WorkerSchedules,
    WorkerTick,
    WorkerTickPlan,
    can_fall_back,
    plan_worker_ticks,
)
from tickbird.domain.schedules.schedule import Cursor, Schedule
from tickbird.domain.time.clock_bounds import ClockBounds
from tickbird.domain.triggers.custom import limited_calls
from tickbird.domain.workers import Worker
from tickbird.engine.clock import Clock, ClockGuard
from tickbird.engine.fallback import Fallback
from tickbird.engine.leadership import Leadership
from tickbird.store.protocol.store import Store

log = logging.getLogger("tickbird.engine")

# Seconds. After a wake-up, the schedules are read again at most this often, and less often if there are many.
_READ_INTERVAL: Final = 1.0
_READS_PER_SECOND: Final = 5_000
# Without a wake-up, they are read after this time.
_READ_BY: Final = 55.0
# No revision has this number.
_UNKNOWN: Final = -1
# A worker that has made no step for longer than this, for example because it was frozen, starts as if it were new.
_MAX_SILENCE: Final = 150.0
# Runs are created in sets of this size.
_MAX_TICKS: Final = 500


class _Planned:
    """A schedule as this worker last read it, with its cursor in memory."""

    __slots__ = ("cursor", "next_at", "read", "schedule")

    def __init__(self, schedule: Schedule, planned_until: int) -> None:
        # As stored, and as the planner sees it; made once, because a definition caches its grid.
        self.read = schedule
        cursor = replace(schedule.cursor, planned_until=planned_until)
        self.schedule = as_durable(schedule, cursor)
        self.cursor: Cursor = cursor
        # Due at once, so that the first plan computes the next tick; None: no further tick.
        self.next_at: int | None = planned_until


class WorkerTickStep:
    """Creates the runs of due ticks without a cursor in the store, and wakes at the next tick."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        worker: Worker,
        on_runs: Callable[[], None],
        *,
        fallback: Fallback,
        clock_guard: ClockGuard | None = None,
    ) -> None:
        self._store = store
        self._clock = clock
        self._worker = worker
        self._on_runs = on_runs
        self._fallback = fallback
        self._clock_guard = clock_guard or ClockGuard(clock)
        self._in_memory: dict[int, _Planned] = {}
        # Durable schedules of the app: as last read, and while the fallback lasts with their cursors.
        self._durable: dict[int, Schedule] = {}
        # The last instant at which all their due ticks were decided, also by another worker.
        self._decided_at: dict[int, datetime | None] = {}
        self._falling_back: dict[int, _Planned] = {}
        # The store's clock at the last read and in the last step.
        self._read_at: datetime | None = None
        self._stepped_at: datetime | None = None
        self._must_read = True
        # Only in leader mode.
        self.leadership: Leadership | None = None
        # Monotonic instants: before them, no read and no tick.
        self._read_after = float("-inf")
        self._due_after = float("-inf")
        # The instant of the next read without a wake-up, because one may have been lost.
        self._read_by = float("-inf")

    @property
    def _follows(self) -> bool:
        """Whether another worker plans: leader mode, and this worker is not the leader."""
        return self.leadership is not None and self.leadership.term is None

    def read_again(self) -> None:
        """Read the schedules in the next step: one may have changed."""
        self._must_read = True

    async def step(self) -> float | None:
        """Create the runs of due ticks; returns the seconds until the next one is due."""
        began, expected = self._clock.monotonic(), self._clock_guard.expected()
        self._must_read |= began >= self._read_by
        reads = self._must_read and (began >= self._read_after or self._clock.now() is not None)
        if not reads and began < self._due_after and not self._fallback.is_active:
            # A wake-up for other steps.
            return self._wait(began)
        now = await self._read(began) if reads else await self._now()
        if not self._clock_guard.trusts(now, began, expected):
            return self._clock_guard.recheck_after
        if self._fallback.is_ending:
            await self._end_fallback()
        if self._fallback.is_active:
            self._fall_back(now)
            if (self._follows or self._has_due_ticks(now)) and await self._can_plan(expected):
                # The planner may have skipped these ticks.
                await self._end_fallback()
        stale = await self._create_runs(self._in_memory, now, without_cursors=self._fallback.is_active)
        if self._falling_back:
            await self._create_runs(self._falling_back, now, without_cursors=True)
        self._stepped_at = now
        if stale:
            for schedule_id in stale:
                if (planned := self._in_memory.get(schedule_id)) is not None:
                    # It is read again, and its cursor in memory continues.
                    planned.read, planned.next_at = replace(planned.read, revision=_UNKNOWN), None
            self._must_read, self._read_after = True, float("-inf")
            return 0.0
        waits = [planned.next_at for planned in (*self._in_memory.values(), *self._falling_back.values())]
        next_at = min((at for at in waits if at is not None), default=None)
        # The store read its clock at the start of the step, so the step's duration is part of the wait.
        self._due_after = float("inf") if next_at is None else began + next_at - now.timestamp()
        return self._wait(self._clock.monotonic())

    def _wait(self, now: float) -> float | None:
        """Seconds until the next tick, or the next read that is wanted; None: neither."""
        until = min(self._due_after, self._read_after) if self._must_read else self._due_after
        return None if until == float("inf") else max(0.0, until - now)

    async def _now(self) -> datetime:
        return self._clock.now() or await self._store.now()

    async def _read(self, began: float) -> datetime:
        """Read changed schedules; in fallback, the last rows stay."""
        known = {schedule_id: planned.read.revision for schedule_id, planned in self._in_memory.items()}
        known |= {schedule_id: schedule.revision for schedule_id, schedule in self._durable.items()}
        self._must_read, self._read_after, self._read_by = False, began + _READ_INTERVAL, began + _READ_BY
        app = self._worker.app if self._fallback.is_on else None
        try:
            rows = await self._store.worker_ticks.read(self._worker.namespace, app, known, now=self._clock.now())
        except SchedulesUnusableError as error:
            if not self._fallback.start(error):
                raise
            return await self._now()
        self._read_after = began + max(_READ_INTERVAL, len(rows.ids) / _READS_PER_SECOND)
        if not self._fallback.is_active:
            self._update(rows)
            self._fallback.on_rows(rows.now, sum(map(can_fall_back, self._durable.values())))
        return rows.now

    def _update(self, rows: WorkerSchedules) -> None:
        """Take over the rows. A schedule that is new here starts from the last read, another one from its last tick."""
        silent = self._stepped_at is None or abs((rows.now - self._stepped_at).total_seconds()) > _MAX_SILENCE
        since = rows.now if silent or self._read_at is None else self._read_at
        if silent:
            for planned in self._in_memory.values():
                _move(planned, recent_start(planned.schedule, rows.now.timestamp()))
        for schedule in rows.changed:
            before = self._in_memory.pop(schedule.id, None)
            self._durable.pop(schedule.id, None)
            if schedule.definition is None:
                continue
            if not schedule.in_memory:
                self._durable[schedule.id] = schedule
                continue
            start = recent_start(schedule, since.timestamp())
            reached = None if before is None else before.cursor.planned_until
            self._in_memory[schedule.id] = _Planned(schedule, start if reached is None else max(start, reached))
        for schedule_id in self._in_memory.keys() - rows.ids:
            del self._in_memory[schedule_id]
        for schedule_id in self._durable.keys() - rows.ids:
            del self._durable[schedule_id]
        self._decided_at = {
            schedule_id: self._decided_at.get(schedule_id) if schedule_id in rows.due else rows.now
            for schedule_id in self._durable
        }
        self._read_at = rows.now

    def _fall_back(self, now: datetime) -> None:
        """Begin to plan the durable schedules after the last instant at which the store has planned them."""
        if not self._fallback.may_continue(now):
            self._falling_back = {}
            return
        for schedule in self._durable.values():
            if schedule.id not in self._falling_back and can_fall_back(schedule):
                start = self._start(schedule)
                self._falling_back[schedule.id] = _Planned(schedule, int(now.timestamp()) if start is None else start)

    def _has_due_ticks(self, now: datetime) -> bool:
        at = now.timestamp()
        return any(planned.next_at is not None and planned.next_at <= at for planned in self._falling_back.values())

    async def _can_plan(self, expected: ClockBounds | None) -> bool:
        """Whether the store plans again; the planner's own loop notices it later, after a backoff.

        A follower may not plan, so it only reads the schedules.
        """
        if self.leadership is not None and self.leadership.is_unusable:
            return False
        try:
            if self._follows:
                await self._store.worker_ticks.read(self._worker.namespace, self._worker.app, {}, now=self._clock.now())
            else:
                term = None if self.leadership is None else self.leadership.term
                await self._store.planning.plan_due(1, expected=expected, term=term, now=self._clock.now())
        except SchedulesUnusableError:
            return False
        return True

    async def _end_fallback(self) -> None:
        """Restore the rows that a repair could not, then leave the rest to the planner."""
        rows = [*self._durable.values(), *(planned.read for planned in self._in_memory.values())]
        try:
            restored = await self._store.worker_ticks.restore(
                [replace(row, cursor=replace(row.cursor, planned_until=self._start(row))) for row in rows],
                self._worker.id,
                now=self._clock.now(),
            )
        except SchedulesUnusableError as error:
            self._fallback.start(error)
            return
        for name in restored:
            log.warning("schedule %s: restored from the row that this worker last read", name)
        self._falling_back = {}
        self._must_read, self._read_after = True, float("-inf")
        self._fallback.end()

    def _start(self, schedule: Schedule) -> int | None:
        """The instant up to which the ticks of a durable schedule are decided, as far as this worker knows."""
        reached = schedule.cursor.planned_until
        # A follower plans nothing, but reads what its leader has planned.
        decided = [at for at in (self._fallback.planned_at, self._decided_at.get(schedule.id)) if at is not None]
        if not decided or schedule.definition is None or schedule.in_memory or schedule.state != "active":
            return reached
        return max(int(max(decided).timestamp()) - schedule.offset, reached or 0)

    async def _create_runs(
        self, schedules: dict[int, _Planned], now: datetime, *, without_cursors: bool
    ) -> frozenset[int]:
        """Create the runs of due ticks, in sets; returns the ids of schedules that have changed in the store."""
        at = now.timestamp()
        due = [planned for planned in schedules.values() if planned.next_at is not None and planned.next_at <= at]
        stale: set[int] = set()
        ticks: list[WorkerTick] = []
        moves: list[tuple[_Planned, Cursor, int | None]] = []
        for planned in due:
            if (plan := _plan(planned, now)) is None:
                continue
            ticks += (WorkerTick(planned.read, tick.run) for tick in plan.ticks)
            moves.append((planned, plan.cursor, plan.next_at))
            if len(ticks) >= _MAX_TICKS:
                stale |= await self._write(ticks, moves, without_cursors=without_cursors)
                ticks, moves = [], []
        return frozenset(stale | await self._write(ticks, moves, without_cursors=without_cursors))

    async def _write(
        self,
        ticks: list[WorkerTick],
        moves: list[tuple[_Planned, Cursor, int | None]],
        *,
        without_cursors: bool,
    ) -> frozenset[int]:
        """Create these runs, then move the cursors in memory: a tick whose run was not written stays due."""
        stale: frozenset[int] = frozenset()
        if ticks:
            written = await self._store.worker_ticks.write(ticks, fallback=without_cursors, now=self._clock.now())
            stale = written.stale
            if written.runs:
                log.debug("created %d runs of ticks without a cursor", written.runs)
                self._on_runs()
        for planned, cursor, next_at in moves:
            if planned.read.id not in stale:
                planned.cursor, planned.next_at = cursor, next_at
        return stale


def _plan(planned: _Planned, now: datetime) -> WorkerTickPlan | None:
    """Plan one schedule; None if that fails, which concerns no other schedule."""
    try:
        with limited_calls():
            return plan_worker_ticks(planned.schedule, planned.cursor, now.timestamp())
    except Exception as error:  # noqa: BLE001 - see above
        log.error("schedule %s cannot be planned in memory: %s", planned.read.name, error)
        planned.next_at = None
        return None


def _move(planned: _Planned, planned_until: int) -> None:
    reached = max(planned.cursor.planned_until or 0, planned_until)
    planned.cursor, planned.next_at = replace(planned.cursor, planned_until=reached), reached
