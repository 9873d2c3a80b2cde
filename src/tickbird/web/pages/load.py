"""What is to come: the ticks of the next seven days by hour, who crowds the fullest ones, and where there is room."""

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

# Of many schedules it takes a while to compute: it is told anew after twenty times as long.
FRESH, FACTOR = 2.0, 20.0
# Who waits for the first count for longer than this is told that it goes on, and comes again by itself.
_PATIENCE, _AGAIN = 3.0, "2"
_NAMED: Final = 20
_QUIETER: Final = 0.8


@dataclass(frozen=True, slots=True)
class Hour:
    """One hour that is looked into."""

    load: HourLoad
    minutes: Chart
    quiet_minutes: list[datetime]
    quiet_hours: list[HourLoad]


async def load(visit: PageRequest) -> Response:
    """The map, and the fullest hour or the one that was asked for."""
    client = visit.client
    week = await week_of(visit, _PATIENCE)
    if week is None:
        answer = visit.render("load_pending.html")
        answer.headers["Refresh"] = _AGAIN
        return answer
    workers = await visit.readings.share((visit.namespace, "fleet"), client.workers.list)
    slots = sum(each.slots for each in workers if not each.draining)
    cells = [
        LoadCell(
            at=each.at,
            ticks=each.ticks,
            busy=each.busy,
            slots=slots or None,
            href=visit.url("/load", hour=utc_text(each.at)) if each.ticks else None,
        )
        for each in week.hours
    ]
    place = _hour_index(visit, week, slots)
    return visit.render(
        "load.html",
        week=week,
        slots=slots,
        map=load_map(cells, visit.clock.zone()),
        hour=None if place is None else _hour(visit, week, place),
        most_named=_NAMED,
    )


async def week_of(visit: PageRequest, patience: float) -> WeekLoad | None:
    """The load of the coming week, counted once for everybody; None where it is not there within so many seconds."""
    key = (f"load {visit.namespace}", "week")
    return await visit.readings.latest(key, visit.board.load, FRESH, FACTOR, patience)


def _hour_index(visit: PageRequest, week: WeekLoad, slots: int) -> int | None:
    """Which hour is looked into: the one that was asked for, else the one that needs most slots, or the fullest."""
    if asked := visit.query.get("hour"):
        at = read_instant(asked, "hour")
        for place, each in enumerate(week.hours):
            if each.at <= at and (place + 1 == len(week.hours) or at < week.hours[place + 1].at):
                return place
        raise InvalidError(
            "hour: is not within the next seven days.", field="hour", hint="Choose an hour in the chart."
        )
    full = [place for place, each in enumerate(week.hours) if each.ticks]
    # Where all have slots enough, it is the one that the map marks as its peak.
    short = [place for place in full if slots and week.hours[place].busy > slots]
    if short:
        return max(short, key=lambda place: week.hours[place].busy)
    return max(full, key=lambda place: week.hours[place].ticks, default=None)


def _hour(visit: PageRequest, week: WeekLoad, place: int) -> Hour:
    chosen = week.hours[place]
    start = chosen.at.timestamp()
    minutes = week.minutes[place * 60 : place * 60 + 60]
    bars = [
        TickBar(at=datetime.fromtimestamp(start + 60 * minute, chosen.at.tzinfo), runs=ticks, skips=0)
        for minute, ticks in enumerate(minutes)
    ]
    return Hour(
        chosen,
        tick_bars(bars, visit.clock.zone(), span=60, title="Ticks by minute"),
        # To move there is worth it only where there is less to do.
        [
            datetime.fromtimestamp(start + 60 * minute, chosen.at.tzinfo)
            for minute in sorted(week.quiet_minutes(place))
            if minutes[minute] <= _QUIETER * chosen.peak
        ],
        [week.hours[each] for each in week.quiet_hours(place) if week.hours[each].ticks <= _QUIETER * chosen.ticks],
    )


ROUTES: Final = (PageRoute("/load", load),)
