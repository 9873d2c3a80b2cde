"""Simulations: what is to be expected of the next days, as things are and as they would be."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from tickbird.client.files import Files, check_plan
from tickbird.domain.errors import InvalidError
from tickbird.domain.limits.rate_limits import RateLimit
from tickbird.domain.runs.durations import DurationStats
from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.time.instants import DAY, to_seconds

# What plays time ahead is imported when it is used: every program that has a client would else load it.
if TYPE_CHECKING:
    from tickbird.domain.forecast.forecast import ForecastComparison, WhatIf, WorkerCapacity
    from tickbird.domain.forecast.model import RunningRun
    from tickbird.files.document import Document

_PAGE: Final = 1_000
# Of more runs that go on now, the newest are taken.
_MAX_RUNNING: Final = 10_000


class Simulations(Files):
    """The verb about days to come."""

    async def simulate(
        self,
        days: int | None = None,
        *,
        start: datetime | None = None,
        end: datetime | None = None,
        document: Document | Mapping[str, Any] | None = None,
        what_if: WhatIf | None = None,
        names: Sequence[str] = (),
        assumed: int | None = None,
        limit: int = 20,
        max_ticks: int | None = None,
        counted: Callable[[int, int], None] | None = None,
    ) -> ForecastComparison:
        """What the next days bring: from `start` or now, to `end` or for so many days, a week if not said.

        With `document`, as it would be with its schedules applied. With `what_if`, both as it is and as it would be.
        All schedules are played; `names` are those that are told of, else the `limit` that there is most to say of.
        """
        from tickbird.domain.forecast.forecast import DEFAULT_DURATION, MAX_TICKS, ForecastInput, WhatIf, simulate

        now = to_seconds(await self._store.now())
        first = now if start is None else to_seconds(start)
        last = span_end(first, days, None if end is None else to_seconds(end))
        asked = WhatIf() if what_if is None else within(what_if, first, last)
        schedules, limits, rates = await self._played(document)
        known = {each.name for each in schedules}
        if unknown := next((name for name in names if name not in known), None):
            raise await self._no_such_schedule(unknown)
        if first != now:
            schedules = [moved(each, first) for each in schedules]
        found = [each.name for each in schedules if each.definition is not None]
        lengths: dict[str, DurationStats] = {}
        for place in range(0, len(found), _PAGE):
            lengths |= await self._store.schedules.duration_stats(self._namespace, found[place : place + _PAGE])
        needed = {each.schedule for one in schedules if one.definition for each in one.definition.depends_on}
        successes = await self._store.schedules.last_successes(self._namespace, needed) if needed else {}
        ground = ForecastInput(
            namespace=self._namespace,
            schedules=schedules,
            start=first,
            end=last,
            durations=lengths,
            workers=await self._serving(),
            limits=limits,
            rates=rates,
            successes={name: each.at for name, each in successes.items() if each.at is not None},
            going=await self._going() if first == now else (),
            assumed=DEFAULT_DURATION if assumed is None else _length(assumed),
        )
        stopped = False

        def report(done: int, total: int) -> None:
            if stopped:
                raise _Stopped
            if counted is not None:
                counted(done, total)

        def work() -> ForecastComparison:
            return simulate(
                ground,
                asked,
                names=names,
                limit=limit,
                max_ticks=MAX_TICKS if max_ticks is None else max_ticks,
                counted=report,
            )

        try:
            return await asyncio.to_thread(work)
        except asyncio.CancelledError:
            stopped = True
            raise

    async def _played(
        self, document: Document | Mapping[str, Any] | None
    ) -> tuple[list[Schedule], dict[str, int], dict[str, RateLimit]]:
        """Schedules by name, limits of keys and rates of queues: as stored, or as a document would have them."""
        store, namespace = self._store, self._namespace
        schedules = {each.name: each for each in await self._all()}
        limits = {each.key: each.max_running for each in await store.limits.list(namespace) if each.is_explicit}
        rates = {each.name: each.rate for each in await store.queues.list(namespace) if each.rate is not None}
        if document is not None:
            from tickbird.files.document import read_document

            read = read_document(document)
            self._check_namespace(read)
            plan, _ = await self._plan(read, "simulate", prune=False, adopt=True)
            check_plan(plan)
            for change in plan.schedules:
                if change.kind == "delete":
                    schedules.pop(change.name, None)
                else:
                    schedules[change.name] = change.schedule
            limits |= read.limits
            rates |= read.queues
        return [schedules[name] for name in sorted(schedules)], limits, rates

    async def _serving(self) -> list[WorkerCapacity]:
        from tickbird.domain.forecast.forecast import WorkerCapacity

        workers = [each for each in await self._store.workers.list(self._namespace) if each.slots and not each.draining]
        return [WorkerCapacity(each.slots, frozenset(each.queues), frozenset(each.tasks)) for each in workers]

    async def _going(self) -> list[RunningRun]:
        """What runs, is queued or waits now, oldest first."""
        from tickbird.domain.forecast.model import RunningRun

        found: list[tuple[int, RunningRun]] = []
        for status in ("running", "queued", "waiting"):
            before: int | None = None
            while len(found) < _MAX_RUNNING:
                rows = await self._store.runs.list(
                    self._namespace,
                    status=status,
                    before=before,
                    limit=_PAGE,
                )
                for each in rows:
                    if each.schedule is not None and not each.held and each.origin in ("schedule", "catch_up"):
                        started = None if each.started_at is None else to_seconds(each.started_at)
                        due = to_seconds(each.due_at)
                        found.append((each.id, RunningRun(each.schedule, each.status, each.origin, due, started)))
                if len(rows) < _PAGE:
                    break
                before = rows[-1].id
        return [each for _, each in sorted(found, key=lambda one: one[0])]


class _Stopped(Exception):
    """Nobody waits for the answer any more."""


def span_end(first: int, days: int | None, last: int | None) -> int:
    """The end of a stretch that is given by its end or its days; a week if neither is said."""
    from tickbird.domain.forecast.forecast import MAX_DAYS, check_span

    if days is not None and last is not None:
        raise InvalidError("days and to: give one of them, not both.", field="days")
    if days is not None and (isinstance(days, bool) or not isinstance(days, int) or not 1 <= days <= MAX_DAYS):
        raise InvalidError(f"days: must be a whole number from 1 to {MAX_DAYS}.", field="days")
    last = first + (7 if days is None else days) * DAY if last is None else last
    check_span(first, last)
    return last


def within(what_if: WhatIf, first: int, last: int) -> WhatIf:
    """What would be otherwise, with the outages in order and cut to the stretch; one outside of it is a mistake."""
    outages = []
    for begin, end in sorted(what_if.outages):
        if end <= first or begin >= last:
            raise InvalidError("outage: lies outside of the days that are simulated.", field="outage")
        outages.append((max(begin, first), min(end, last)))
    return replace(what_if, outages=outages)


def moved(schedule: Schedule, start: int) -> Schedule:
    """The schedule as it will stand at another instant, if nothing keeps it from all before."""
    if schedule.definition is None or schedule.cursor.planned_until is None:
        return schedule
    reached = start - 1 - schedule.offset
    overrides = tuple(each for each in schedule.cursor.tick_overrides if each.tick > reached)
    cursor = replace(schedule.cursor, planned_until=reached, next_run_at=None, tick_overrides=overrides)
    if cursor.skip_until is not None and cursor.skip_until <= reached:
        cursor = replace(cursor, skip_until=None)
    until = schedule.pause.until if schedule.pause else None
    if schedule.state == "paused" and until is not None and until <= start:
        return replace(schedule, state="active", pause=None, cursor=cursor)
    return replace(schedule, cursor=cursor)


def _length(seconds: int) -> int:
    if isinstance(seconds, bool) or not isinstance(seconds, int) or not 1 <= seconds <= 366 * DAY:
        raise InvalidError("duration: must be from 1 s to 366 days.", field="duration")
    return seconds
