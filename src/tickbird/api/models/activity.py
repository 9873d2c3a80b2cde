"""What happens."""

from __future__ import annotations

from pydantic import BaseModel, Field

from tickbird.api.models.audit import AuditModel
from tickbird.api.models.parts import Instant, Json
from tickbird.api.models.ticks import SkipModel
from tickbird.domain.ledger.activity import ActivityKind


class EventModel(BaseModel):
    """One thing that happened; of run, skip and audit, the one that it is about."""

    at: Instant
    kind: ActivityKind
    schedule: str | None
    run: Json | None = Field(description="The run as it was when this was sent, without payload and result.")
    skip: SkipModel | None
    audit: AuditModel | None
