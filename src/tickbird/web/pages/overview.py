"""The first page: what happens now, what needs a person, what comes next."""

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
from tickbird.web.pages.load import FACTOR, FRESH
from tickbird.web.timeline_rows import timeline_row

# Minutes to either side of now, as one may choose.
RANGES: Final = {"2m": 2, "15m": 15, "1h": 60, "3h": 180, "12h": 720, "24h": 1_440}
# Where nobody has chosen: so wide that most schedules tick some times within it, and no wider than this.
_WIDEST, _TICKS = "3h", 12
_RATE_TTL: Final = 30.0
_ROWS: Final = 14
# What ended lately: so many are looked at, and told once for each schedule and outcome.
_LOOKED_AT, _LATELY = 100, 12
_COUNTED: Final = 10_000
# What is due in the next hour takes a while to count of many schedules: nothing else waits for that.
_TIMEOUT: Final = 0.25
_MEASURED: Final = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class Board:
    """What was read for the page, at an instant of the store's clock."""

    now: datetime
    measures: NamespaceMetrics
    troubles: FindingsOverview
    timeline: Timeline
    timings: Sequence[RunTiming]
    # The newest of each schedule and outcome, and how often that was.
    lately: Sequence[tuple[Activity, int]]
    active: CappedCount
    paused: CappedCount
    # In the next hour; None until it was counted.
    due: int | None
    # Its pictures and how late runs start, by the zone that they are drawn in and where their links lead.
    drawn: dict[tuple[str, str], tuple[Chart, Chart, str]] = field(default_factory=dict)


async def now(visit: PageRequest) -> Response:
    """The board."""
    asked = visit.query.get("range", "")
    if asked not in RANGES:
        asked = await visit.readings.share((f"pace {visit.namespace}",), lambda: _fitting(visit), _RATE_TTL)
    half = timedelta(minutes=RANGES[asked])
    board = await visit.readings.share((visit.namespace, "now", asked), lambda: _read(visit, half))
    # Drawn once for all who look at it with the same clock and from the same place.
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
        range=asked,
        links=[(each, _link(visit, each)) for each in board.troubles.findings],
    )


def _draw(visit: PageRequest, board: Board, half: timedelta) -> tuple[Chart, Chart, str]:
    since, until = board.now - half, board.now + half
    rows = [
        timeline_row(visit, each, board.timeline.marks.get(each.id, ()), board.now, until)
        for each in board.timeline.schedules[:_ROWS]
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
    late = measure((each.started_at - each.due_at).total_seconds() for each in board.timings)
    return drawn, lateness(late), length(late.p99) if late.total else ""


async def _fitting(visit: PageRequest) -> str:
    """The range that suits the pace of the schedules: hours where they tick by the hour, minutes where by seconds."""
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
    return next((each for each, minutes in RANGES.items() if minutes >= wanted or each == _WIDEST), _WIDEST)


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
        lately=_telling(_grouped(read_activity)),
        active=await visit.board.count(ScheduleFilter(states=["active"]), maximum=_COUNTED),
        paused=await visit.board.count(ScheduleFilter(states=["paused"]), maximum=_COUNTED),
        due=None if coming is None else _due(coming, at),
    )


def _due(coming: WeekLoad, at: datetime) -> int:
    """Ticks of the hour from now on; what is known of them may have been counted before this hour began."""
    first = int((at - coming.hours[0].at).total_seconds()) // 60
    return sum(coming.minutes[first : first + 60])


def _grouped(read_activity: Sequence[Activity]) -> list[tuple[Activity, int]]:
    """Newest first: what ends every minute does not push out what failed once."""
    groups: dict[tuple[str | None, str], tuple[Activity, int]] = {}
    for each in reversed(read_activity):
        if each.kind == "planned":
            continue
        what = each.run.status if each.run is not None else each.skip.reason if each.skip is not None else ""
        name = each.schedule or (each.run.target.name if each.run is not None else None)
        newest, often = groups.get((name, what), (each, 0))
        groups[name, what] = newest, often + 1
    return list(groups.values())


def _telling(groups: Sequence[tuple[Activity, int]]) -> list[tuple[Activity, int]]:
    """Those that are shown, in their order: what failed is among them, however much went well since."""
    failed = [each for each in groups if each[0].run is not None and each[0].run.status == "failed"]
    others = [each for each in groups if each not in failed]
    kept = [*failed, *others][:_LATELY]
    return [each for each in groups if each in kept]


def _link(visit: PageRequest, trouble: OverviewFinding) -> str:
    """Where to look into it."""
    if trouble.kind == "worker":
        return visit.url("/workers")
    if trouble.kind in ("failing", "lost") and trouble.run_id is not None:
        return visit.url(f"/runs/{trouble.run_id}")
    if trouble.schedule is not None:
        return visit.schedule(trouble.schedule)
    return visit.url("/runs", status="queued")


ROUTES: Final = (PageRoute("/", now),)
