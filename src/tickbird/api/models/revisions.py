"""Revisions of a schedule."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from tickbird.api.models.parts import Body, Instant, Json, Note
from tickbird.domain.schedules.diff import How, RevisionOrigin


class DifferenceModel(BaseModel):
    """A field that a revision changed; null stands for its default where it was added or removed."""

    field: str
    path: list[str] = Field(description="The same in parts, since a name may itself hold a dot.")
    how: How
    before: Any
    after: Any


class RevisionModel(BaseModel):
    """One revision of a schedule: what it was and changed, who made it, when and by what."""

    revision: int
    action: str
    actor: str
    at: Instant
    definition: Json
    fingerprint: str | None
    detail: Json
    origin: RevisionOrigin
    changes: list[DifferenceModel] | None = Field(description="Null where the one before it is no longer kept.")


class RevisionPage(BaseModel):
    """A page of revisions, newest first."""

    items: list[RevisionModel]
    next: str | None


class RollBackBody(Body):
    """The revision whose definition is taken again, and why."""

    to: int = Field(ge=1, lt=2**31)
    note: Note = ""
