"""The first page: what happens now, what needs a person, what comes next."""

from __future__ import annotations

from typing import Final

from starlette.responses import Response

from tickbird.web.visits import Door, Visit


async def now(visit: Visit) -> Response:
    """The board."""
    return visit.render("now.html")


DOORS: Final = (Door("/", now),)
