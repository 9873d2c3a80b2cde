"""The zone for display, stored in cookies."""

from __future__ import annotations

from typing import Final

from starlette.responses import Response

from tickbird.web.display_clock import CHOICE, MINE, find_zone
from tickbird.web.page_request import PageRequest, PageRoute, own_path

_A_YEAR: Final = 31_536_000


async def choose(visit: PageRequest) -> Response:
    """Save the choice, and redirect to the page."""
    answer = visit.done(visit.root + own_path(visit.form.text("back").removeprefix(visit.root)))
    chosen = visit.form.text("zone")
    if chosen in ("schedule", "mine", "utc"):
        keep(visit, answer, CHOICE, chosen)
    mine = find_zone(visit.form.text("mine"))
    if mine is not None:
        keep(visit, answer, MINE, mine)
    return answer


def keep(visit: PageRequest, answer: Response, name: str, value: str) -> None:
    """Set a cookie for a year, not readable by scripts."""
    answer.set_cookie(
        name,
        value,
        max_age=_A_YEAR,
        path=visit.root or "/",
        httponly=True,
        samesite="lax",
        secure=visit.request.url.scheme == "https",
    )


ROUTES: Final = (PageRoute("/zone", choose, methods=("POST",)),)
