"""Simulations over HTTP: what is to be expected of the next days."""

from __future__ import annotations

import asyncio
from typing import Any, Final

from fastapi import APIRouter, Request

from tickbird.api import PREFIX
from tickbird.api.auth.auth import Viewer
from tickbird.api.middleware.timeouts import extend_timeout
from tickbird.api.models.forecast import SimulationBody, SimulationModel
from tickbird.api.query_types import read_instant
from tickbird.domain.forecast.forecast import WhatIf
from tickbird.domain.time.instants import to_seconds
from tickbird.wire.encode.forecast import simulation_document

router = APIRouter(prefix=f"{PREFIX}/simulate", tags=["previews"])
# So many ticks are played for one request, before and after together; and so many seconds it may wait its turn.
MAX_TICKS: Final = 12_000_000
_TIMEOUT: Final = 240


@router.post("", summary="What the next days bring", operation_id="simulate", response_model=SimulationModel)
async def simulate(request: Request, access: Viewer, body: SimulationBody) -> Any:
    """Ticks, runs, skips, busy slots and lateness to expect, as things are and as they would be.

    Nothing is stored. At most 12,000,000 ticks are played for a request, one request at a time.
    """
    extend_timeout(request, _TIMEOUT)
    what_if = WhatIf(
        outages=sorted(
            (to_seconds(read_instant(each.from_, "outage")), to_seconds(read_instant(each.to, "outage")))
            for each in body.outages
        ),
        more=body.more,
        slots=body.slots,
        workers=body.workers,
        share=body.share,
        slower=body.slower,
    )
    state = request.app.state
    if not hasattr(state, "simulating"):
        # A thread that computes takes turns with all others: two of them would be felt.
        state.simulating = asyncio.Semaphore(1)
    async with state.simulating:
        found = await access.client.simulate(
            body.days,
            start=None if body.from_ is None else read_instant(body.from_, "from"),
            end=None if body.to is None else read_instant(body.to, "to"),
            document=body.document,
            what_if=what_if,
            names=body.names,
            assumed=body.duration,
            limit=body.limit,
            max_ticks=MAX_TICKS,
        )
    return simulation_document(found)
