"""Single ticks to come over HTTP: what was decided for them, decided anew, undone."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Response

from tickbird.api import PREFIX
from tickbird.api.auth.auth import Operator, Viewer
from tickbird.api.etags import IfMatch, parse_if_match
from tickbird.api.models.parts import Note
from tickbird.api.models.schedules import ChangedSchedule
from tickbird.api.models.tick_overrides import OverrideBody, OverrideResponse, Overrides
from tickbird.api.query_types import InstantText, read_instant
from tickbird.api.schedule_response import changed_schedule
from tickbird.wire.encode.schedules import override_document

router = APIRouter(prefix=f"{PREFIX}/schedules", tags=["overrides"])
Tick = Annotated[InstantText, Path(description="The instant of a tick to come, with a zone.")]


@router.get(
    "/{name}/overrides",
    summary="Ticks that were decided one by one",
    operation_id="list_overrides",
    response_model=Overrides,
)
async def list_overrides(access: Viewer, name: str) -> Any:
    """The ticks to come that are skipped, moved or have another payload, in order."""
    return {"items": [override_document(each) for each in await access.client.overrides(name)]}


@router.put(
    "/{name}/overrides/{tick}",
    summary="Decide for one tick",
    operation_id="put_override",
    response_model=OverrideResponse,
)
async def put_override(access: Operator, name: str, tick: Tick, body: OverrideBody, if_match: IfMatch = None) -> Any:
    """Skip one tick to come, or make it due at another instant, give it another payload, or both.

    What was decided for that tick before is replaced. 409 where the tick is decided already.
    """
    made = await access.client.override(
        name,
        read_instant(tick, "tick"),
        actor=access.actor,
        skip=body.skip,
        move_to=None if body.move_to is None else read_instant(body.move_to, "move_to"),
        payload=body.payload,
        note=body.note,
        revision=parse_if_match(if_match),
    )
    return {"schedule": name, "override": override_document(made)}


@router.delete(
    "/{name}/overrides/{tick}",
    summary="Undo what was decided for a tick",
    operation_id="undo_override",
    response_model=ChangedSchedule,
)
async def undo_override(
    access: Operator,
    name: str,
    tick: Tick,
    response: Response,
    note: Annotated[Note, Query()] = "",
    if_match: IfMatch = None,
) -> Any:
    """Let a tick to come be as if nothing had been decided for it, by an override or by a reschedule."""
    undone = await access.client.undo_override(
        name, read_instant(tick, "tick"), actor=access.actor, note=note, revision=parse_if_match(if_match)
    )
    return await changed_schedule(access, undone, response)
