"""Activity: as a list and as a stream."""

from __future__ import annotations

from pydantic import BaseModel, Field

from tickbird.api.models.audit import AuditModel
from tickbird.api.models.parts import Instant, Json
from tickbird.api.models.runs import RunModel
from tickbird.api.models.ticks import SkipModel
from tickbird.domain.ledger.activity import ActivityKind


class StreamedActivityModel(BaseModel):
    """One thing that happened; of run, skip and audit, the one that it is about."""

    at: Instant
    kind: ActivityKind
    schedule: str | None
    run: Json | None = Field(description="The run as it was when this was sent, without payload and result.")
    skip: SkipModel | None
    audit: AuditModel | None


class ActivityModel(BaseModel):
    """A run that was planned or has ended, or ticks that were skipped; `audit` is what somebody did, of other kinds."""

    at: Instant
    kind: ActivityKind
    schedule: str | None
    run: RunModel | None
    skip: SkipModel | None
    audit: AuditModel | None


class ActivityPage(BaseModel):
    """What happened, oldest first."""

    items: list[ActivityModel]
