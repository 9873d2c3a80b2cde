"""Revisions of a schedule."""

from __future__ import annotations

from pydantic import BaseModel

from tickbird.api.models.parts import Instant, Json


class RevisionModel(BaseModel):
    """One revision of a schedule: what it was, who made it, when and by what."""

    revision: int
    action: str
    actor: str
    at: Instant
    definition: Json
    fingerprint: str | None
    detail: Json


class RevisionPage(BaseModel):
    """A page of revisions, newest first."""

    items: list[RevisionModel]
    next: str | None
