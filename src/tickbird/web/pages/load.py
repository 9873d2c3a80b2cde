"""The load of the next seven days by hour, with the busiest hours and quieter alternatives."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from starlette.responses import Response

from tickbird.domain.errors import InvalidError
from tickbird.domain.forecast.week_load import HourLoad, WeekLoad
from tickbird.domain.time.instants import utc_text
from tickbird.web.charts import Chart, LoadCell, TickBar, load_map, tick_bars
from tickbird.web.page_request import PageRequest, PageRoute
from tickbird.wire.parameters import read_instant

# Counting many schedules is slow, so the result stays fresh for 20 times as long as it took.
FRESH, FACTOR = 2.0, 20.0
# Seconds until the page shows that the count is still running, and until it reloads.
_TIMEOUT, _REFRESH = 3.0, "2"
_NAMED: Final = 20
_QUIETER: Final = 0.8


@dataclass(frozen=True, slots=True)
class Hour:
    """The details of one hour."""

    load: HourLoad
    minutes: Chart
    quiet_minutes: list[datetime]
    quiet_hours: list[HourLoad]


async def load(visit: PageRequest) -> Response:
    client = visit.client
    week = await week_of(visit, _TIMEOUT)
    if week is None:
        answer = visit.render("load_pending.html")
        answer.headers["Refresh"] = _REFRESH
        return answer
    workers = await visit.readings.share((visit.namespace, "fleet"), client.workers.list)
    slots = sum(worker.slots for worker in workers if not worker.draining)
    cells = [
        LoadCell(
            at=hour.at,
            ticks=hour.ticks,
            busy=hour.busy,
            slots=slots or None,
            href=visit.url("/load", hour=utc_text(hour.at)) if hour.ticks else None,
        )
        for hour in week.hours
    ]
    index = _hour_index(visit, week, slots)
    return visit.render(
        "load.html",
        week=week,
        slots=slots,
        map=load_map(cells, visit.clock.zone()),
        hour=None if index is None else _hour(visit, week, index),
        most_named=_NAMED,
    )


async def week_of(visit: PageRequest, timeout: float) -> WeekLoad | None:
    """Return the load of the next week, shared by all pages; None after `timeout` seconds."""
    key = (f"load {visit.namespace}", "week")
    return await visit.readings.latest(key, visit.board.load, FRESH, FACTOR, timeout)


def _hour_index(visit: PageRequest, week: WeekLoad, slots: int) -> int | None:
    """Return the requested hour; by default, the hour that lacks most slots or has most ticks."""
    if text := visit.query.get("hour"):
        at = read_instant(text, "hour")
        for index, hour in enumerate(week.hours):
            if hour.at <= at and (index + 1 == len(week.hours) or at < week.hours[index + 1].at):
                return index
        raise InvalidError("hour is not within the next seven days.", field="hour", hint="Choose an hour in the chart.")
    full = [index for index, hour in enumerate(week.hours) if hour.ticks]
    # If no hour lacks slots, choose the peak of the map.
    short = [index for index in full if slots and week.hours[index].busy > slots]
    if short:
        return max(short, key=lambda index: week.hours[index].busy)
    return max(full, key=lambda index: week.hours[index].ticks, default=None)


def _hour(visit: PageRequest, week: WeekLoad, index: int) -> Hour:
    chosen = week.hours[index]
    start = chosen.at.timestamp()
    minutes = week.minutes[index * 60 : index * 60 + 60]
    bars = [
        TickBar(at=datetime.fromtimestamp(start + 60 * minute, chosen.at.tzinfo), runs=ticks, skips=0)
        for minute, ticks in enumerate(minutes)
    ]
    return Hour(
        chosen,
        tick_bars(bars, visit.clock.zone(), span=60, title="Ticks by minute"),
        # Suggest only minutes with considerably fewer ticks.
        [
            datetime.fromtimestamp(start + 60 * minute, chosen.at.tzinfo)
            for minute in sorted(week.quiet_minutes(index))
            if minutes[minute] <= _QUIETER * chosen.peak
        ],
        [week.hours[other] for other in week.quiet_hours(index) if week.hours[other].ticks <= _QUIETER * chosen.ticks],
    )


ROUTES: Final = (PageRoute("/load", load),)
