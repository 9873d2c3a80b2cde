"""Who did what: every change, newest first."""

from __future__ import annotations

from typing import Any, Final

from starlette.responses import Response

from tickbird.web.visits import Door, Visit

_PAGE: Final = 100


async def audit(visit: Visit) -> Response:
    """A page of changes; of one schedule, if asked."""
    schedule = visit.query.get("schedule") or None
    before = _number(visit.query.get("before"))

    async def read() -> Any:
        return await visit.client.audit(schedule=schedule, before=before, limit=_PAGE + 1)

    found = await visit.readings.share((visit.namespace, "audit", schedule, before), read)
    shown = found[:_PAGE]
    older = visit.here(before=shown[-1].id) if len(found) > _PAGE else None
    newest = visit.here(before=None) if before is not None else None
    return visit.render("audit.html", records=shown, schedule=schedule, older=older, newest=newest)


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.isascii() and text.isdigit() and len(text) <= 18 else None


DOORS: Final = (Door("/audit", audit),)
