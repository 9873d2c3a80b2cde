"""Ticks to come, the ledger, and explanations."""

from __future__ import annotations

from pydantic import BaseModel

from tickbird.api.models.parts import Instant
from tickbird.api.models.runs import RunModel
from tickbird.api.models.steps import StepModel
from tickbird.api.models.tick_overrides import TickOverrideModel
from tickbird.domain.explain.explanation import Verdict
from tickbird.domain.runs.run import SkipReason


class UpcomingTickModel(BaseModel):
    """A tick to come: when it is due, why it will not run if so, and what changes of the clock do to it."""

    scheduled_for: Instant
    due_at: Instant
    skipped: str | None
    override: TickOverrideModel | None
    notes: list[str]


class UpcomingTicks(BaseModel):
    """The next ticks of a schedule, as it stands now."""

    now: Instant
    items: list[UpcomingTickModel]


class SkipModel(BaseModel):
    """Ticks that were not run, and why."""

    id: int
    schedule_id: int
    reason: SkipReason
    first: Instant
    last: Instant
    count: int
    revision: int
    run_id: int | None
    actor: str | None
    note: str | None
    decided_at: Instant


class DecisionModel(BaseModel):
    """What was decided for a tick, or for ticks from this one on: a run or a skip."""

    tick: Instant
    run: RunModel | None
    skip: SkipModel | None


class LedgerPage(BaseModel):
    """A page of decisions, by their ticks, oldest first."""

    items: list[DecisionModel]
    next: str | None


class ExplanationModel(BaseModel):
    """What became, or will become, of an instant of a schedule, and every decision on the way."""

    schedule: str
    at: Instant
    verdict: Verdict
    sentence: str
    run_id: int | None
    revision: int | None
    steps: list[StepModel]
