"""What was decided for single ticks."""

from __future__ import annotations

from pydantic import BaseModel

from tickbird.api.models.parts import Body, Instant, Json, Note
from tickbird.api.query_types import InstantText


class TickOverrideModel(BaseModel):
    """What was decided for one tick to come; `payload` is null where it is the schedule's."""

    tick: Instant
    skip: bool
    moved: bool
    due_at: Instant
    passes_over: int
    payload: Json | None
    note: str
    actor: str
    created_at: Instant


class AppliedOverrideModel(BaseModel):
    """Who moved the tick of a run or gave it another payload, and why."""

    moved: bool
    payload: bool
    note: str
    actor: str
    created_at: Instant


class Overrides(BaseModel):
    """The ticks to come of a schedule for which something was decided one by one, in order."""

    items: list[TickOverrideModel]


class OverrideResponse(BaseModel):
    """What was decided for one tick."""

    schedule: str
    override: TickOverrideModel


class OverrideBody(Body):
    """What is decided: skip it; or make it due at another instant, give it another payload, or both."""

    skip: bool = False
    move_to: InstantText | None = None
    payload: Json | None = None
    note: Note = ""
