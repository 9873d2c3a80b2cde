"""Pings over HTTP: another system says that it really ran what a schedule is to do."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query

from tickbird.api import PREFIX
from tickbird.api.auth.auth import Operator, Viewer
from tickbird.api.models.pings import PingBody, PingModel, PingPage
from tickbird.api.paging import AfterNumber, Limit, page, read_number
from tickbird.api.query_types import InstantText, read_instant
from tickbird.domain.time.instants import from_micros, to_micros, utc_text

router = APIRouter(prefix=f"{PREFIX}/schedules", tags=["pings"])
# How far back is read when nothing else is said.
_LATELY: Final = timedelta(days=7)


@router.post(
    "/{name}/pings", summary="Tell that it really ran", operation_id="ping", response_model=PingModel, status_code=201
)
async def ping(access: Operator, name: str, body: PingBody | None = None) -> Any:
    """Note that the old system ran this schedule's work, now or at an instant; the same instant twice is one ping."""
    at = None if body is None or body.at is None else read_instant(body.at, "at")
    return _document(await access.client.ping(name, at))


@router.get("/{name}/pings", summary="The pings", operation_id="list_pings", response_model=PingPage)
async def list_pings(
    access: Viewer,
    name: str,
    first: Annotated[InstantText | None, Query(description="From here on; else of the last seven days.")] = None,
    last: Annotated[InstantText | None, Query(description="Up to here; else up to now.")] = None,
    limit: Limit = 100,
    after: AfterNumber = None,
) -> Any:
    """When the old system told that it ran this schedule's work, oldest first."""
    end = await access.client.now() if last is None else read_instant(last, "last")
    start = end - _LATELY if first is None else read_instant(first, "first")
    found = await access.client.pings(name, start, end, after=from_micros(read_number(after)), limit=limit + 1)
    return await page(found, limit, to_micros, _document)


def _document(at: datetime) -> dict[str, Any]:
    return {"at": utc_text(at)}
