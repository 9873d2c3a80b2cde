"""What was decided for single ticks."""

from __future__ import annotations

from pydantic import BaseModel

from tickbird.api.models.parts import Instant, Json


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
    made_at: Instant


class OverriddenModel(BaseModel):
    """Who moved the tick of a run or gave it another payload, and why."""

    moved: bool
    payload: bool
    note: str
    actor: str
    made_at: Instant
