"""Forecasts: previews of a definition, and simulations of the next days."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Final

from tickbird.client.base import ClientBase
from tickbird.client.file_service import FileService
from tickbird.client.parameters import nullable
from tickbird.cpu_threads import compute, compute_now
from tickbird.domain.cancellation import checkpoint
from tickbird.domain.forecast.bounds import MAX_DAYS, MAX_OUTAGES, MAX_ROWS
from tickbird.domain.forecast.bounds import MAX_SCHEDULES as MAX_MORE
from tickbird.domain.forecast.preview import Preview, preview
from tickbird.domain.forecast.tick_load import MAX_SCHEDULES, load_around
from tickbird.domain.limits.rate_limits import RateLimit
from tickbird.domain.planning.commands.calendars import resolve_calendars
from tickbird.domain.runs.durations import DurationStats
from tickbird.domain.runs.run import RunRecord
from tickbird.domain.schedules.codec import encode_field
from tickbird.domain.schedules.definition import Definition, Target
from tickbird.domain.schedules.definition_input import read_draft
from tickbird.domain.schedules.json_schema import NAME, field_schemas
from tickbird.domain.schedules.policy_input import policies
from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.targets.target import TASK
from tickbird.domain.text import check_name
from tickbird.domain.time.instants import to_seconds
from tickbird.domain.triggers.trigger import Trigger
from tickbird.wire.codec import shape
from tickbird.wire.operations import viewer
from tickbird.wire.parameters import Meta

# The simulator is imported only when it is used, so that not every client loads it.
if TYPE_CHECKING:
    from tickbird.domain.forecast.forecast import ForecastComparison, WhatIf
    from tickbird.files.document import Document

_PAGE: Final = 1_000
_MAX_ACTIVE: Final = 10_000
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
    """From `from` until just before `to`, nothing is planned, started or finished."""

    from_: datetime
    to: datetime


shape(Outage, closed=True)


def _types() -> Mapping[str, Any]:
    from tickbird.domain.forecast.forecast import ForecastComparison, WhatIf
    from tickbird.files.document import Document

    return {"ForecastComparison": ForecastComparison, "WhatIf": WhatIf, "Document": Document}


class Forecasts(ClientBase):
    """Previews and simulations."""

    async def preview(
        self,
        trigger: Trigger,
        *,
        count: int = 10,
        after: datetime | None = None,
        name: str | None = None,
        **options: Any,
    ) -> Preview:
        """List the next ticks of a trigger with these policies, with warnings, and ticks of other schedules near them.

        `name` sets the offset within a spread. `target` adds the settings of that task.
        """
        target = options.get("target")
        own = self._settings.get(target.name, {}) if isinstance(target, Target) and target.kind == TASK else {}
        if "payload" not in options:
            # A concurrency key may need fields of the payload.
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
        count: Annotated[int, Meta(ge=1, le=10_000, description="How many ticks.")] = 10,
        after: Annotated[datetime | None, Meta(description="The ticks after this instant (default: now).")] = None,
        name: Annotated[
            str | None,
            Meta(schema=nullable(NAME), description="The schedule's name, which sets its offset within a spread."),
        ] = None,
    ) -> Preview:
        """List the next ticks of a definition, with warnings, and the ticks of other schedules around them.

        Nothing is stored. Counts ticks of at most 500 active schedules, around the first ten ticks that would run.
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
        result = await compute(preview, draft, start, count, namespace=self._namespace, name=name)
        # Two more than are used: the schedule itself, and one that shows whether there are more.
        rows = await self._store.schedules.list(self._namespace, state="active", limit=MAX_SCHEDULES + 2)
        others = [row.schedule for row in rows if row.schedule.name != name]
        instants = [to_seconds(tick.due_at) for tick in result.ticks if tick.skipped is None]
        complete = len(others) <= MAX_SCHEDULES
        load = await compute(load_around, instants, others[:MAX_SCHEDULES], complete=complete)
        return replace(result, load=load)

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

        Nothing is stored. A request simulates at most 12,000,000 ticks. Requests are processed one at a time.
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
        """Forecast from `start` (default: now) to `end`, or for `days` (default: a week).

        With `document`, its schedules are applied first. With `what_if`, both the baseline and the changed forecast.
        All schedules are simulated; `names` are listed (default: the `limit` most noteworthy ones).
        """
        from tickbird.domain.forecast import request
        from tickbird.domain.forecast.bounds import MAX_TICKS
        from tickbird.domain.forecast.forecast import ForecastInput, WhatIf, simulate

        now = to_seconds(await self._store.now())
        first = now if start is None else to_seconds(start)
        last = request.span_end(first, days, None if end is None else to_seconds(end))
        what_if = WhatIf() if what_if is None else request.clip_outages(what_if, first, last)
        schedules, limits, rates = await self._stored_or_applied(document)
        existing = {schedule.name for schedule in schedules}
        if unknown := next((name for name in names if name not in existing), None):
            raise await self._no_such_schedule(unknown)
        if first != now:
            schedules = [request.advance_schedule(schedule, first) for schedule in schedules]
        readable = [schedule.name for schedule in schedules if schedule.definition is not None]
        durations: dict[str, DurationStats] = {}
        for index in range(0, len(readable), _PAGE):
            durations |= await self._store.statistics.read_durations(self._namespace, readable[index : index + _PAGE])
        needed = {need.schedule for row in schedules if row.definition for need in row.definition.depends_on}
        successes = await self._store.schedules.last_successes(self._namespace, needed) if needed else {}
        forecast_input = ForecastInput(
            namespace=self._namespace,
            schedules=schedules,
            start=first,
            end=last,
            durations=durations,
            workers=request.worker_capacities(await self._store.workers.list(self._namespace)),
            limits=limits,
            rates=rates,
            successes={name: success.at for name, success in successes.items() if success.at is not None},
            going=request.active_runs(await self._active_runs()) if first == now else (),
            assumed=request.check_duration(assumed),
        )

        def report(done: int, total: int) -> None:
            checkpoint()
            if progress is not None:
                progress(done, total)

        return await compute_now(
            simulate,
            forecast_input,
            what_if,
            names=names,
            limit=limit,
            max_ticks=MAX_TICKS if max_ticks is None else max_ticks,
            counted=report,
        )

    async def _unstated(self, given: Mapping[str, Any]) -> Mapping[str, Any]:
        target = given.get("target")
        if not isinstance(target, Target):
            return {}
        settings = (await self._task_settings([target])).get(target.name, {})
        # A concurrency key may need fields of the payload.
        return settings if "payload" in given else {**settings, "concurrency_key": None}

    async def _stored_or_applied(
        self, document: Document | Mapping[str, Any] | None
    ) -> tuple[list[Schedule], dict[str, int], dict[str, RateLimit]]:
        """Schedules by name, limits by key and rates by queue: stored, or with a document applied."""
        schedules = {schedule.name: schedule for schedule in await self._all_schedules()}
        limits, rates = await self._limits(), await self._rates()
        if document is not None:
            from tickbird.files.document import read_document

            read = read_document(document)
            service = self._noun(FileService)
            service.check_namespace(read)
            plan, _ = await service.plan(read, "simulate", prune=False, adopt=True)
            plan.check()
            for change in plan.schedules:
                if change.kind == "delete":
                    schedules.pop(change.name, None)
                else:
                    schedules[change.name] = change.schedule
            limits |= read.limits
            rates |= read.queues
        return [schedules[name] for name in sorted(schedules)], limits, rates

    async def _active_runs(self) -> list[RunRecord]:
        """Running, queued and waiting runs; if there are too many, the newest."""
        runs: list[RunRecord] = []
        for status in ("running", "queued", "waiting"):
            before: int | None = None
            while len(runs) < _MAX_ACTIVE:
                page = await self._store.runs.list(self._namespace, status=status, before=before, limit=_PAGE)
                runs += page
                if len(page) < _PAGE:
                    break
                before = page[-1].id
        return runs
