"""The audit."""

from __future__ import annotations

from pydantic import BaseModel

from tickbird.api.models.parts import Instant, Json


class AuditModel(BaseModel):
    """Who did what, when and to what."""

    id: int
    at: Instant
    actor: str
    action: str
    schedule: str | None
    run_id: int | None
    detail: Json


class AuditPage(BaseModel):
    """A page of the audit log, newest first."""

    items: list[AuditModel]
    next: str | None
