"""Timeline rows: the runs, skips and future ticks of a schedule as symbols with links."""

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

# Future ticks drawn per schedule. The rest is only counted.
_MAX_UPCOMING: Final = 400


def timeline_row(
    visit: PageRequest, schedule: Schedule, marks: Sequence[views.Marked], now: datetime, until: datetime
) -> TimelineRow:
    coming, more = upcoming_symbols(visit, schedule, now, until)
    return TimelineRow(
        name=schedule.name,
        href=visit.schedule(schedule.name),
        runs=[run_symbol(visit, mark) for mark in marks if isinstance(mark, views.RunPoint)],
        skips=[skip_symbol(visit, schedule.name, mark) for mark in marks if isinstance(mark, views.SkipPoint)],
        coming=coming,
        more=more,
    )


def run_symbol(visit: PageRequest, run: views.RunPoint) -> RunSymbol:
    return RunSymbol(
        due_at=run.due_at,
        status=run.status,
        started_at=run.started_at,
        finished_at=run.finished_at,
        note="" if run.origin == "schedule" else run.origin.replace("_", " "),
        href=visit.url(f"/runs/{run.id}"),
    )


def skip_symbol(visit: PageRequest, name: str, skip: views.SkipPoint) -> SkipSymbol:
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
    """Return the future ticks up to `until`, and the number of ticks that are not drawn."""
    if schedule.definition is None or until <= now:
        return (), 0
    # A moved tick can be due before its instant on the grid.
    last = max([until, *(override.scheduled_for for override in overrides_of(schedule))])
    within = takewhile(lambda tick: tick.scheduled_for <= last, iter_upcoming(schedule, now))
    ticks = [*islice(within, _MAX_UPCOMING)]
    shown = [
        UpcomingSymbol(
            due_at=tick.due_at,
            skipped=tick.skipped,
            moved_from=tick.scheduled_for if tick.override is not None and tick.override.due_at is not None else None,
            href=why_url(visit, schedule.name, tick.scheduled_for),
        )
        for tick in ticks
        if tick.due_at <= until and tick.skipped != "done"
    ]
    if len(ticks) < _MAX_UPCOMING or ticks[-1].scheduled_for >= until:
        return shown, 0
    return shown, schedule.grid.count(to_seconds(ticks[-1].scheduled_for), to_seconds(until))


def why_url(visit: PageRequest, name: str, at: datetime) -> str:
    """Return the URL of the explanation of a tick."""
    return visit.schedule(name, "/why", at=utc_text(to_datetime(to_seconds(at))))
