"""What everything means: marks, states, why ticks are skipped, and the keys."""

from __future__ import annotations

from typing import Final, get_args

from starlette.responses import Response

from tickbird.domain.runs.run import SkipReason, Status
from tickbird.domain.schedules.schedule import State
from tickbird.web.charts.svg import Svg, element
from tickbird.web.charts.symbols import LABELS, Kind, shape
from tickbird.web.page_request import PageRequest, PageRoute

STATUSES: Final[dict[Status, str]] = {
    "waiting": "It waits for its turn: for another run of its schedule, for one that it depends on, or for a person.",
    "queued": "It is due, and the next worker with a free slot takes it.",
    "running": "A worker executes it, and says so every few seconds.",
    "succeeded": "It ended well.",
    "failed": "It ended badly, after all its attempts.",
    "cancelled": "It was ended or dropped before it could succeed; the run says by whom and why.",
}
STATES: Final[dict[State, str]] = {
    "active": "Its ticks are planned.",
    "paused": "Somebody paused it, until they or a set instant resume it; ticks in between are skipped.",
    "parked": "Its definition cannot be planned; it goes on by itself once that is repaired.",
    "ended": "It has no further tick.",
    "deleted": "It is gone; its history stays.",
}
# One sentence each; a reason of the domain that is not here fails the page, and a test before it.
SKIPS: Final[dict[SkipReason, str]] = {
    "misfire": "It was too late when a worker could start it, and the schedule does not catch up, or only for so long.",
    "coalesced": "Several ticks were late, and one run stands for all of them.",
    "overlap": "The run before had not ended, and the schedule does not run beside itself.",
    "paused": "The schedule was paused when it was due.",
    "dependency": "A schedule that it depends on had not succeeded in time.",
    "calendar": "A calendar excludes its day.",
    "limit": "After a long outage only the newest ticks are caught up, and it was older.",
    "rescheduled": "Somebody moved the next tick past it.",
    "operator": "Somebody told the schedule to skip it.",
    "invalid": "The definition could not be planned when it was due.",
    "edited": "The definition changed after its time and before it was due.",
    "deleted": "The schedule was deleted after its time and before it was due.",
    "zone_data": "By the zone rules before, its time on the wall clock had come already.",
    "shadow": "The schedule only shadows another system: it is recorded, and nothing runs.",
}
_SYMBOLS: Final[dict[Kind, str]] = {
    "coming": "A tick to come.",
    "will_skip": "A tick to come that will be skipped, by what is known now.",
    "moved": "A tick that somebody moved to another instant.",
    "skipped": "A tick that was not run; where one points at it, it says why.",
}


async def page(visit: PageRequest) -> Response:
    """All of it."""
    return visit.render(
        "help.html",
        statuses=[(each, STATUSES[each], _drawn(each)) for each in get_args(Status)],
        states=[(each, STATES[each]) for each in get_args(State)],
        marks=[(LABELS[kind], told, _drawn(kind)) for kind, told in _SYMBOLS.items()],
        skips=[(each, SKIPS[each]) for each in get_args(SkipReason)],
    )


def _drawn(kind: Kind) -> Svg:
    """A mark as pictures have it, beside the word that says it."""
    return element("svg", shape(kind, 8, 8, 6), class_="pic pic-one", viewBox="0 0 16 16", aria_hidden="true")


ROUTES: Final = (PageRoute("/help", page),)
