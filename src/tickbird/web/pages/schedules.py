"""The list of schedules, with live search, recent outcomes and problems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from starlette.responses import RedirectResponse, Response

from tickbird.domain.dashboard_rows import CappedCount, Marked, ScheduleFilter, ScheduleSummary
from tickbird.domain.doctor.schedule_warnings import problems
from tickbird.domain.planning.upcoming import next_skipped
from tickbird.domain.schedules.schedule import LISTED_STATES, trigger_description
from tickbird.domain.time.instants import to_datetime
from tickbird.web.charts import Chart, outcomes
from tickbird.web.filters import FIELDS, is_spelled, query_of, requested_filter
from tickbird.web.page_request import PageRequest, PageRoute
from tickbird.web.schedule_charts import outcome_of

PAGE: Final = 50
# Shown tags per schedule; plain SQL can insert any number.
_MAX_TAGS: Final = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A row of the list."""

    row: ScheduleSummary
    picture: Chart
    problems: Sequence[str]
    zone: str
    # The reason if the next tick will be skipped.
    skipped: str | None

    @property
    def name(self) -> str:
        return self.row.schedule.name

    @property
    def what(self) -> str:
        """The description of its trigger."""
        return trigger_description(self.row.schedule)

    @property
    def tags(self) -> Sequence[str]:
        definition = self.row.schedule.definition
        return () if definition is None else definition.tags[:_MAX_TAGS]

    @property
    def is_shadow(self) -> bool:
        definition = self.row.schedule.definition
        return definition is not None and definition.shadow

    @property
    def paused_until(self) -> Any:
        """The end of its pause, or None."""
        pause = self.row.schedule.pause
        return None if pause is None or pause.until is None else to_datetime(pause.until)

    @property
    def next_at(self) -> Any:
        """Its next tick, or None."""
        return self.row.schedule.next_run_at if self.row.schedule.state == "active" else None


@dataclass(frozen=True, slots=True)
class SchedulesPageData:
    rows: Sequence[ScheduleSummary]
    marks: Mapping[int, Sequence[Marked]]
    workers: Sequence[Any]
    count: CappedCount
    # Charts by schedule id and zone, shared by all users.
    pictures: dict[tuple[int, str], Chart] = field(default_factory=dict)


async def schedules(visit: PageRequest) -> Response:
    if not is_spelled(visit):
        # The form also sends empty parameters. Redirect to the canonical URL.
        return RedirectResponse(visit.url("/schedules", **query_of(requested_filter(visit))), 303)
    wanted = requested_filter(visit)
    after, before = visit.query.get("after", ""), visit.query.get("before") or None
    key = (visit.namespace, "schedules", tuple(query_of(wanted).items()), after, before)
    data = await visit.readings.share(key, lambda: _read(visit, wanted, after, before))
    rows = data.rows[-PAGE:] if before is not None else data.rows[:PAGE]
    more = len(data.rows) > PAGE
    lines = [_line(visit, row, data) for row in rows]
    first, last = (rows[0].schedule.name, rows[-1].schedule.name) if rows else ("", "")
    return visit.render(
        "schedules.html",
        lines=lines,
        count=data.count,
        wanted=wanted,
        query=query_of(wanted),
        fields=FIELDS,
        states=LISTED_STATES,
        tags=sorted({tag for line in lines for tag in line.tags}),
        paged=bool(after or before),
        previous=visit.here(before=first, after=None) if rows and (after or (before and more)) else None,
        following=visit.here(after=last, before=None) if rows and (before or more) else None,
    )


async def _read(visit: PageRequest, wanted: ScheduleFilter, after: str, before: str | None) -> SchedulesPageData:
    board = visit.board
    rows = await board.schedules(wanted, after=after, before=before, limit=PAGE + 1)
    marks = await board.newest_points([row.schedule.id for row in rows])
    return SchedulesPageData(rows, marks, await visit.client.workers.list(), await board.count(wanted))


def _line(visit: PageRequest, row: ScheduleSummary, data: SchedulesPageData) -> Line:
    schedule = row.schedule
    own = "UTC" if schedule.definition is None else schedule.definition.trigger.tz
    whose = (schedule.id, visit.clock.zone(own))
    if whose not in data.pictures:
        marks = data.marks.get(schedule.id, ())
        data.pictures[whose] = outcomes([outcome_of(mark) for mark in marks], whose[1], has_marks=False)
    return Line(
        row=row,
        picture=data.pictures[whose],
        problems=problems(schedule, data.workers, visit.clock.now, row.held),
        zone=own,
        skipped=next_skipped(schedule, visit.clock.now),
    )


ROUTES: Final = (PageRoute("/schedules", schedules),)
