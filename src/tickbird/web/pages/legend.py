"""The help page: statuses, states, chart symbols, skip reasons and keyboard shortcuts."""

from __future__ import annotations

from typing import Final, get_args

from starlette.responses import Response

from tickbird.domain.runs.run import SkipReason, Status
from tickbird.domain.schedules.schedule import State
from tickbird.web.charts.svg import Svg, element
from tickbird.web.charts.symbols import LABELS, Kind, shape
from tickbird.web.page_request import PageRequest, PageRoute

STATUSES: Final[dict[Status, str]] = {
    "waiting": "It waits for another run of its schedule, for a dependency, or for your decision.",
    "queued": "It is due. The next worker with a free slot claims it.",
    "running": "A worker executes it and renews its lease every few seconds.",
    "succeeded": "It ended without an error.",
    "failed": "All its attempts failed.",
    "cancelled": "It was cancelled before it succeeded. The run shows the actor and the reason.",
}
STATES: Final[dict[State, str]] = {
    "active": "Its ticks are planned.",
    "paused": "A user paused it, until it is resumed or until a set time. Ticks during the pause are skipped.",
    "parked": "Its definition has an error. It resumes automatically when the error is fixed.",
    "ended": "It has no future ticks.",
    "deleted": "It was deleted. Its history stays.",
}
# All reasons of the domain must be here; a test checks it.
SKIPS: Final[dict[SkipReason, str]] = {
    "misfire": "No worker could start it in time, and the schedule does not catch up (or only within start_within).",
    "coalesced": "Several ticks were late, and one run covers all of them.",
    "overlap": "The previous run was still active, and the schedule does not allow overlap.",
    "paused": "The schedule was paused when it was due.",
    "dependency": "A schedule that it depends on did not succeed in time.",
    "calendar": "A calendar closes that day.",
    "limit": "After an outage, only the newest ticks are caught up. This tick was older.",
    "rescheduled": "A user moved the next tick to a time after this one.",
    "operator": "A user skipped this tick.",
    "invalid": "The definition had an error when the tick was due.",
    "edited": "The tick was due later (spread or reschedule), and the schedule was edited before that.",
    "deleted": "The tick was due later (spread or reschedule), and the schedule was deleted before that.",
    "zone_data": "With the previous time zone data, this wall-clock time had already passed.",
    "shadow": "The schedule is a shadow of another system: ticks are recorded, nothing runs.",
}
_SYMBOLS: Final[dict[Kind, str]] = {
    "coming": "A future tick.",
    "will_skip": "A future tick that will be skipped if nothing changes.",
    "moved": "A tick that a user moved to another time.",
    "skipped": "A tick that did not run. Point at it to see the reason.",
}


async def page(visit: PageRequest) -> Response:
    return visit.render(
        "help.html",
        statuses=[(status, STATUSES[status], _drawn(status)) for status in get_args(Status)],
        states=[(state, STATES[state]) for state in get_args(State)],
        marks=[(LABELS[kind], meaning, _drawn(kind)) for kind, meaning in _SYMBOLS.items()],
        skips=[(reason, SKIPS[reason]) for reason in get_args(SkipReason)],
    )


def _drawn(kind: Kind) -> Svg:
    """Draw a chart symbol."""
    return element("svg", shape(kind, 8, 8, 6), class_="pic pic-one", viewBox="0 0 16 16", aria_hidden="true")


ROUTES: Final = (PageRoute("/help", page),)
