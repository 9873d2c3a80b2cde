"""What is known of a schedule as marks on a line: runs, skips and ticks to come, each a link to more."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import islice, takewhile
from typing import Final

from tickbird.domain import dashboard_rows as views
from tickbird.domain.planning.upcoming import iter_upcoming, overrides_of
from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.time.instants import to_datetime, to_seconds, utc_text
from tickbird.web.charts import RunSymbol, SkipSymbol, TimelineRow, UpcomingSymbol
from tickbird.web.page_request import PageRequest

# Ticks to come that are drawn one by one; of a schedule that has more until then, the rest is counted.
_MAX_UPCOMING: Final = 400


def timeline_row(
    visit: PageRequest, schedule: Schedule, marks: Sequence[views.Marked], now: datetime, until: datetime
) -> TimelineRow:
    """One schedule's row."""
    coming, more = upcoming_symbols(visit, schedule, now, until)
    return TimelineRow(
        name=schedule.name,
        href=visit.schedule(schedule.name),
        runs=[run_symbol(visit, each) for each in marks if isinstance(each, views.RunPoint)],
        skips=[skip_symbol(visit, schedule.name, each) for each in marks if isinstance(each, views.SkipPoint)],
        coming=coming,
        more=more,
    )


def run_symbol(visit: PageRequest, run: views.RunPoint) -> RunSymbol:
    """A run."""
    return RunSymbol(
        due_at=run.due_at,
        status=run.status,
        started_at=run.started_at,
        finished_at=run.finished_at,
        note="" if run.origin == "schedule" else run.origin.replace("_", " "),
        href=visit.url(f"/runs/{run.id}"),
    )


def skip_symbol(visit: PageRequest, name: str, skip: views.SkipPoint) -> SkipSymbol:
    """A range of ticks that did not run."""
    return SkipSymbol(
        first_at=skip.first,
        last_at=skip.last,
        count=skip.count,
        reason=skip.reason,
        href=why_url(visit, name, skip.last),
    )


def upcoming_symbols(
    visit: PageRequest, schedule: Schedule, now: datetime, until: datetime
) -> tuple[Sequence[UpcomingSymbol], int]:
    """Ticks up to an instant, and how many more there are than are drawn."""
    if schedule.definition is None or until <= now:
        return (), 0
    # One that was moved may come before its place on the grid.
    last = max([until, *(each.scheduled_for for each in overrides_of(schedule))])
    within = takewhile(lambda tick: tick.scheduled_for <= last, iter_upcoming(schedule, now))
    ticks = [*islice(within, _MAX_UPCOMING)]
    shown = [
        UpcomingSymbol(
            due_at=each.due_at,
            skipped=each.skipped,
            moved_from=each.scheduled_for if each.override is not None and each.override.due_at is not None else None,
            href=why_url(visit, schedule.name, each.scheduled_for),
        )
        for each in ticks
        if each.due_at <= until and each.skipped != "done"
    ]
    if len(ticks) < _MAX_UPCOMING or ticks[-1].scheduled_for >= until:
        return shown, 0
    return shown, schedule.grid.count(to_seconds(ticks[-1].scheduled_for), to_seconds(until))


def why_url(visit: PageRequest, name: str, at: datetime) -> str:
    """Where a tick is explained."""
    return visit.schedule(name, "/why", at=utc_text(to_datetime(to_seconds(at))))
