"""What was decided, whether that accounts for every tick, and what happened lately."""

from __future__ import annotations

from pydantic import BaseModel

from tickbird.api.models.parts import Instant
from tickbird.api.models.runs import RunModel
from tickbird.api.models.ticks import SkipModel
from tickbird.domain.ledger.report import Kind


class DecisionsModel(BaseModel):
    """The runs and skips of a range of ticks, oldest first."""

    runs: list[RunModel]
    skips: list[SkipModel]


class LedgerErrorModel(BaseModel):
    """Where expected ticks and recorded decisions part."""

    kind: Kind
    first: Instant
    last: Instant
    count: int
    text: str
    run_id: int | None
    skip_id: int | None


class LedgerReportModel(BaseModel):
    """The verification of one schedule over a range; `findings` are the first of `finding_count`."""

    schedule: str
    ok: bool
    first: Instant | None
    last: Instant | None
    complete_from: Instant | None
    expected: int
    runs: int
    skipped: int
    open: int
    finding_count: int
    findings: list[LedgerErrorModel]
