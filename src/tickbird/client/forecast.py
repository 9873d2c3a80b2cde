"""Forecasts: previews of a definition, and simulations of the next days."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Final

from tickbird.client.base import ClientBase
from tickbird.client.file_service import FileService, check_plan
from tickbird.cpu_threads import compute
from tickbird.domain.errors import InvalidError
from tickbird.domain.forecast.bounds import MAX_DAYS, MAX_OUTAGES, MAX_ROWS
from tickbird.domain.forecast.bounds import MAX_SCHEDULES as MAX_MORE
from tickbird.domain.forecast.preview import Preview, preview
from tickbird.domain.forecast.tick_load import MAX_SCHEDULES, load_around
from tickbird.domain.limits.rate_limits import RateLimit
from tickbird.domain.planning.commands.calendars import resolve_calendars
from tickbird.domain.runs.durations import DurationStats
from tickbird.domain.schedules.codec import encode_field
from tickbird.domain.schedules.definition import Definition, Target
from tickbird.domain.schedules.definition_input import read_draft
from tickbird.domain.schedules.json_schema import NAME, field_schemas
from tickbird.domain.schedules.policy_input import policies
from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.targets.target import TASK
from tickbird.domain.text import check_name
from tickbird.domain.time.instants import DAY, to_seconds
from tickbird.domain.triggers.trigger import Trigger
from tickbird.wire.codec import shape
from tickbird.wire.operations import viewer
from tickbird.wire.parameters import Meta

# The simulator is imported only when it is used, so that not every client loads it.
if TYPE_CHECKING:
    from tickbird.domain.forecast.forecast import ForecastComparison, WhatIf, WorkerCapacity
    from tickbird.domain.forecast.model import RunningRun
    from tickbird.files.document import Document

_PAGE: Final = 1_000
# If more runs are active, the newest are taken.
_MAX_RUNNING: Final = 10_000


# Ticks that are simulated for one request, baseline and what-if together.
MAX_SERVED_TICKS: Final = 12_000_000
# The target does not change the ticks.
_ANY: Final = Target("preview")
# The fields that ticks depend on; other fields of a definition are accepted too.
_OF_TICKS: Final = ("trigger", "spread", "calendars", "roll", "start_at", "end_at", "max_runs")
_DRAFT: Final = {
    "type": "object",
    "properties": {name: schema for name, schema in field_schemas().items() if name in _OF_TICKS},
    "required": ["trigger"],
}


@dataclass(frozen=True, slots=True)
class Outage:
    """From one instant to just before the other, nothing is planned, started or finished."""

    from_: datetime
    to: datetime


shape(Outage, closed=True)


def _types() -> Mapping[str, Any]:
    from tickbird.domain.forecast.forecast import ForecastComparison, WhatIf
    from tickbird.files.document import Document

    return {"ForecastComparison": ForecastComparison, "WhatIf": WhatIf, "Document": Document}


class Forecasts(ClientBase):
    """`client.forecasts`: what schedules will do, or would do."""

    async def preview(
        self,
        trigger: Trigger,
        *,
        count: int = 10,
        after: datetime | None = None,
        name: str | None = None,
        **options: Any,
    ) -> Preview:
        """The next ticks of a trigger with these policies, with warnings, and the ticks of other schedules around them.

        With `name`, as the schedule of that name would have them. At most 500 others are looked at, around ten ticks.
        With `target`, its definition has the settings of that task where they are not given.
        """
        target = options.get("target")
        own = self._settings.get(target.name, {}) if isinstance(target, Target) and target.kind == TASK else {}
        if "payload" not in options:
            # A key is made of fields of the payload.
            own = {setting: value for setting, value in own.items() if setting != "concurrency_key"}
        fields = {"trigger": trigger, **own, **policies(options)}
        definition = {field: encode_field(field, value) for field, value in fields.items() if value is not None}
        return await self.preview_definition(definition, count=count, after=after, name=name)

    @viewer.post("preview", "/preview", "Preview a schedule")
    async def preview_definition(
        self,
        definition: Annotated[
            Mapping[str, Any],
            Meta(schema={**_DRAFT, "description": "As in the document of a schedule; only its trigger is needed."}),
        ],
        *,
        count: Annotated[int, Meta(schema={"minimum": 1, "maximum": 10_000}, description="How many ticks.")] = 10,
        after: Annotated[datetime | None, Meta(description="The ticks after this instant (default: now).")] = None,
        name: Annotated[
            str | None,
            Meta(
                schema={
                    "anyOf": [NAME, {"type": "null"}],
                    "description": "The schedule's name, by which its offset within a spread is computed.",
                }
            ),
        ] = None,
    ) -> Preview:
        """List the next ticks of a definition, with warnings, and the ticks of other schedules around them.

        Nothing is stored. At most 500 active schedules are looked at, around the first ten ticks that would run.
        """
        options = read_draft(definition)
        trigger = options.pop("trigger")
        if name is not None:
            check_name(name, "name")
        given = policies(options)
        draft = Definition(trigger=trigger, **{"target": _ANY, **await self._unstated(given), **given})
        if draft.calendars:
            stored = {record.name: record.closed for record in await self._stored_calendars()}
            draft = replace(draft, closed=resolve_calendars(draft.calendars, stored))
        start = to_seconds(await self._store.now() if after is None else after)
        found = await compute(preview, draft, start, count, namespace=self._namespace, name=name)
        # One more than are used, besides the schedule itself: it shows whether there are more.
        rows = await self._store.schedules.list(self._namespace, state="active", limit=MAX_SCHEDULES + 2)
        others = [row.schedule for row in rows if row.schedule.name != name]
        instants = [to_seconds(tick.due_at) for tick in found.ticks if tick.skipped is None]
        complete = len(others) <= MAX_SCHEDULES
        load = await compute(load_around, instants, others[:MAX_SCHEDULES], complete=complete)
        return replace(found, load=load)

    @viewer.post(
        "simulate",
        "/simulate",
        "Simulate the next days",
        timeout=240,
        exclusive=True,
        stored=False,
        keys={"from_": "from"},
        types=_types,
    )
    async def simulate_scenario(
        self,
        *,
        days: Annotated[int | None, Meta(ge=1, le=MAX_DAYS, description="How many days (default: 7).")] = None,
        from_: Annotated[datetime | None, Meta(description="The start (default: now).")] = None,
        to: Annotated[datetime | None, Meta(description="The end, instead of days.")] = None,
        document: Annotated[
            Mapping[str, Any] | None, Meta(description="Simulate the store with this document applied.")
        ] = None,
        names: Annotated[
            Collection[str], Meta(max_length=1_000, description="List these schedules; all are simulated.")
        ] = (),
        outages: Annotated[Collection[Outage], Meta(max_length=MAX_OUTAGES)] = (),
        more: Annotated[
            int, Meta(ge=0, le=MAX_MORE, description="How many schedules to add, copied from the existing ones.")
        ] = 0,
        slots: Annotated[
            int | None, Meta(ge=1, le=1_000_000, description="One pool of this many slots for all queues.")
        ] = None,
        workers: Annotated[int | None, Meta(ge=1, le=1_000_000, description="The number of workers.")] = None,
        share: Annotated[
            float | None, Meta(gt=0, le=1_000, description="The factor by which the current workers are multiplied.")
        ] = None,
        slower: Annotated[float, Meta(gt=0, le=1_000, description="The factor by which runs take longer.")] = 1.0,
        duration: Annotated[
            int | None,
            Meta(ge=1, le=366 * 86_400, description="Seconds that a run takes if its schedule has no success yet."),
        ] = None,
        limit: Annotated[int, Meta(ge=0, le=MAX_ROWS, description="How many schedules to list.")] = 20,
    ) -> ForecastComparison:
        """Forecast ticks, runs, skips, busy slots and lateness: as configured, and with the changes of a what-if.

        Nothing is stored. At most 12,000,000 ticks are played for a request, one request at a time.
        """
        from tickbird.domain.forecast.forecast import WhatIf

        what_if = WhatIf(
            outages=sorted((to_seconds(outage.from_), to_seconds(outage.to)) for outage in outages),
            more=more,
            slots=slots,
            workers=workers,
            share=share,
            slower=slower,
        )
        return await self.simulate(
            days,
            start=from_,
            end=to,
            document=document,
            what_if=what_if,
            names=list(names),
            assumed=duration,
            limit=limit,
            max_ticks=MAX_SERVED_TICKS,
        )

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
        progress: Callable[[int, int], None] | None = None,
    ) -> ForecastComparison:
        """The forecast of the next days: from `start` or now, to `end` or for `days` (default: a week).

        With `document`, as it would be with its schedules applied. With `what_if`, both as it is and as it would be.
        All schedules are played; `names` are those that are listed (default: the `limit` with most to say).
        """
        from tickbird.domain.forecast.bounds import MAX_TICKS
        from tickbird.domain.forecast.forecast import DEFAULT_DURATION, ForecastInput, WhatIf, simulate

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
            lengths |= await self._store.statistics.read_durations(self._namespace, found[place : place + _PAGE])
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
            if progress is not None:
                progress(done, total)

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

    async def _unstated(self, given: Mapping[str, Any]) -> Mapping[str, Any]:
        """The settings of the task that a definition names."""
        target = given.get("target")
        if not isinstance(target, Target):
            return {}
        settings = (await self._task_settings([target])).get(target.name, {})
        # A key is made of fields of the payload.
        return settings if "payload" in given else {**settings, "concurrency_key": None}

    async def _played(
        self, document: Document | Mapping[str, Any] | None
    ) -> tuple[list[Schedule], dict[str, int], dict[str, RateLimit]]:
        """Schedules by name, limits of keys and rates of queues: as stored, or as a document would have them."""
        schedules = {each.name: each for each in await self._noun(FileService).list_schedules()}
        limits, rates = await self._limits(), await self._rates()
        if document is not None:
            from tickbird.files.document import read_document

            read = read_document(document)
            service = self._noun(FileService)
            service.check_namespace(read)
            plan, _ = await service.plan(read, "simulate", prune=False, adopt=True)
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
        return [WorkerCapacity(each.slots, frozenset(each.queues), each.targets) for each in workers]

    async def _going(self) -> list[RunningRun]:
        """The runs that are running, queued or waiting now, oldest first."""
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
    """The caller has gone away."""


def span_end(first: int, days: int | None, last: int | None) -> int:
    """The end of the simulated time, given as an instant or in days; a week if neither is stated."""
    from tickbird.domain.forecast.forecast import check_span

    if days is not None and last is not None:
        raise InvalidError("days and to: give one of them, not both.", field="days")
    if days is not None and (isinstance(days, bool) or not isinstance(days, int) or not 1 <= days <= MAX_DAYS):
        raise InvalidError(f"days: must be a whole number from 1 to {MAX_DAYS}.", field="days")
    last = first + (7 if days is None else days) * DAY if last is None else last
    check_span(first, last)
    return last


def within(what_if: WhatIf, first: int, last: int) -> WhatIf:
    """The what-if with its outages sorted and cut to the simulated time; InvalidError for one outside of it."""
    outages = []
    for begin, end in sorted(what_if.outages):
        if end <= first or begin >= last:
            raise InvalidError("outage: lies outside of the days that are simulated.", field="outage")
        outages.append((max(begin, first), min(end, last)))
    return replace(what_if, outages=outages)


def moved(schedule: Schedule, start: int) -> Schedule:
    """The schedule as it will be at a later instant, if all ticks before it run."""
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
