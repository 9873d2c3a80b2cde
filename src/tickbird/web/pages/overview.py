"""The Now page: findings, key figures, timeline and recent activity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from statistics import median
from typing import Final

from starlette.responses import Response

from tickbird.domain.dashboard_rows import CappedCount, RunTiming, ScheduleFilter, Timeline
from tickbird.domain.doctor.findings_overview import FindingsOverview, OverviewFinding
from tickbird.domain.doctor.metrics import NamespaceMetrics
from tickbird.domain.forecast.week_load import WeekLoad
from tickbird.domain.ledger.activity import Activity
from tickbird.domain.planning.upcoming import upcoming_ticks
from tickbird.web.charts import Chart, lateness, measure, timeline
from tickbird.web.charts.labels import length
from tickbird.web.page_request import PageRequest, PageRoute
from tickbird.web.pages.consumers import group_path
from tickbird.web.pages.load import FACTOR, FRESH
from tickbird.web.timeline_rows import timeline_row

# Minutes before and after now that the user can choose.
RANGES: Final = {"2m": 2, "15m": 15, "1h": 60, "3h": 180, "12h": 720, "24h": 1_440}
# The default range shows about this number of ticks of most schedules, and has a maximum.
_WIDEST, _TICKS = "3h", 12
_RATE_TTL: Final = 30.0
_ROWS: Final = 14
# Recent activity: entries that are read, and entries shown, one per schedule and outcome.
_LOOKED_AT, _LATELY = 100, 12
_COUNTED: Final = 10_000
# Seconds. Counting the ticks of the next hour can be slow, and the page does not wait for it.
_TIMEOUT: Final = 0.25
_MEASURED: Final = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class Board:
    """The data of the page."""

    now: datetime
    measures: NamespaceMetrics
    troubles: FindingsOverview
    timeline: Timeline
    timings: Sequence[RunTiming]
    # The newest entry per schedule and outcome, and the number of entries.
    lately: Sequence[tuple[Activity, int]]
    active: CappedCount
    paused: CappedCount
    # Ticks in the next hour; None until they are counted.
    due: int | None
    # Timeline, lateness chart and p99, by zone and URL prefix.
    drawn: dict[tuple[str, str], tuple[Chart, Chart, str]] = field(default_factory=dict)


async def now(visit: PageRequest) -> Response:
    requested = visit.query.get("range", "")
    if requested not in RANGES:
        requested = await visit.readings.share((f"pace {visit.namespace}",), lambda: _default_range(visit), _RATE_TTL)
    half = timedelta(minutes=RANGES[requested])
    board = await visit.readings.share((visit.namespace, "now", requested), lambda: _read(visit, half))
    # Users with the same zone and URL prefix share the charts.
    whose = (visit.clock.zone(), visit.url("/"))
    if whose not in board.drawn:
        board.drawn[whose] = _draw(visit, board, half)
    drawn, late, p99 = board.drawn[whose]
    return visit.render(
        "now.html",
        board=board,
        most_counted=_COUNTED,
        timeline=drawn,
        lateness=late,
        p99=p99,
        ranges=RANGES,
        range=requested,
        links=[(finding, _link(visit, finding)) for finding in board.troubles.findings],
    )


def _draw(visit: PageRequest, board: Board, half: timedelta) -> tuple[Chart, Chart, str]:
    since, until = board.now - half, board.now + half
    rows = [
        timeline_row(visit, schedule, board.timeline.marks.get(schedule.id, ()), board.now, until)
        for schedule in board.timeline.schedules[:_ROWS]
    ]
    drawn = timeline(
        rows,
        since,
        until,
        board.now,
        visit.clock.zone(),
        more=max(0, len(board.timeline.schedules) - _ROWS),
        title="Past runs and future ticks",
    )
    late = measure((timing.started_at - timing.due_at).total_seconds() for timing in board.timings)
    return drawn, lateness(late), length(late.p99) if late.total else ""


async def _default_range(visit: PageRequest) -> str:
    """Return the range that fits the intervals of the schedules."""
    at = await visit.client.system.now()
    coming = await visit.board.timeline(at, at + timedelta(minutes=RANGES[_WIDEST]), schedules=_ROWS, each=1)
    gaps = []
    for schedule in coming.schedules:
        ticks = upcoming_ticks(schedule, at, 2)
        if len(ticks) == 2:
            gaps.append((ticks[1].scheduled_for - ticks[0].scheduled_for).total_seconds())
    if not gaps:
        return _WIDEST
    wanted = median(gaps) * _TICKS / 60
    return next((name for name, minutes in RANGES.items() if minutes >= wanted or name == _WIDEST), _WIDEST)


async def _read(visit: PageRequest, half: timedelta) -> Board:
    client = visit.client
    measures = await client.store.statistics.read_metrics(visit.namespace, maximum=_COUNTED)
    at = measures.now
    coming = await visit.readings.latest(
        (f"load {visit.namespace}", "next hour"),
        lambda: visit.board.load(hours=3, durations=False),
        FRESH,
        FACTOR,
        _TIMEOUT,
    )
    read_activity = await client.activity.list(at - timedelta(hours=1), limit=_LOOKED_AT)
    return Board(
        now=at,
        measures=measures,
        troubles=await visit.board.findings(maximum=8),
        timeline=await visit.board.timeline(at - half, at + half, schedules=_ROWS * 2, each=200),
        timings=await visit.board.timings(at - _MEASURED),
        lately=_selected(_grouped(read_activity)),
        active=await visit.board.count(ScheduleFilter(states=["active"]), maximum=_COUNTED),
        paused=await visit.board.count(ScheduleFilter(states=["paused"]), maximum=_COUNTED),
        due=None if coming is None else _due(coming, at),
    )


def _due(coming: WeekLoad, at: datetime) -> int:
    """Count the ticks of the next hour; `coming` may start in an earlier hour."""
    first = int((at - coming.hours[0].at).total_seconds()) // 60
    return sum(coming.minutes[first : first + 60])


def _grouped(read_activity: Sequence[Activity]) -> list[tuple[Activity, int]]:
    """Group by schedule and outcome, newest first, so that frequent runs do not hide a single failure."""
    groups: dict[tuple[str | None, str], tuple[Activity, int]] = {}
    for entry in reversed(read_activity):
        if entry.kind == "planned":
            continue
        what = entry.run.status if entry.run is not None else entry.skip.reason if entry.skip is not None else ""
        name = entry.schedule or (entry.run.target.name if entry.run is not None else None)
        newest, often = groups.get((name, what), (entry, 0))
        groups[name, what] = newest, often + 1
    return list(groups.values())


def _selected(groups: Sequence[tuple[Activity, int]]) -> list[tuple[Activity, int]]:
    """Return the groups to show, in order; failures are left out last."""
    failed = [group for group in groups if group[0].run is not None and group[0].run.status == "failed"]
    others = [group for group in groups if group not in failed]
    shown = [*failed, *others][:_LATELY]
    return [group for group in groups if group in shown]


def _link(visit: PageRequest, trouble: OverviewFinding) -> str:
    """Return the URL of the page about a finding."""
    if trouble.kind == "worker":
        return visit.url("/workers")
    if trouble.kind in ("failing", "lost") and trouble.run_id is not None:
        return visit.url(f"/runs/{trouble.run_id}")
    if trouble.kind == "dead letters":
        return visit.url("/events/dead-letters", group=trouble.group, state="failed")
    if trouble.group is not None:
        return visit.url(group_path(trouble.group))
    if trouble.schedule is not None:
        return visit.schedule(trouble.schedule)
    return visit.url("/runs", status="queued")


ROUTES: Final = (PageRoute("/", now),)
