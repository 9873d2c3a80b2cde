"""Held runs."""

from __future__ import annotations

from pydantic import BaseModel, Field

from tickbird.api.models.parts import Body, Instant, Note
from tickbird.domain.runs.held import MAX_COUNT


class HeldScheduleModel(BaseModel):
    """How many runs of a schedule are held, of which ticks, and since when."""

    schedule: str
    count: int
    first: Instant
    last: Instant
    since: Instant


class HeldSchedulePage(BaseModel):
    """A page of schedules of which runs are held, by name."""

    items: list[HeldScheduleModel]
    next: str | None


class Released(BaseModel):
    """How many held runs were let go, and how many are held still."""

    schedule: str
    released: int
    held: int


class Dropped(BaseModel):
    """How many held runs were cancelled, and how many are held still."""

    schedule: str
    dropped: int
    held: int


class DropBody(Body):
    """How many, the oldest first, and why; all of them if that is not said."""

    count: int | None = Field(default=None, ge=1, le=MAX_COUNT)
    note: Note = ""


class ReleaseBody(DropBody):
    """The same, and how many may begin a minute."""

    per_minute: int | None = Field(default=None, ge=1, le=MAX_COUNT)
