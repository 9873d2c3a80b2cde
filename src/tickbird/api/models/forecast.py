"""What is to be expected of the next days."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field

from tickbird.api.models.parts import Body, Instant, Json
from tickbird.api.query_types import InstantText
from tickbird.domain.forecast.forecast import MAX_DAYS, MAX_OUTAGES, MAX_ROWS, MAX_SCHEDULES


class OutageBody(Body):
    """Nothing plans, starts or ends from one instant to before the other."""

    from_: InstantText = Field(alias="from")
    to: InstantText


class SimulationBody(Body):
    """Which days, of what, and what would be otherwise."""

    days: int | None = Field(default=None, ge=1, le=MAX_DAYS, description="So many; a week if not said.")
    from_: InstantText | None = Field(default=None, alias="from", description="From then on; else from now on.")
    to: InstantText | None = Field(default=None, description="Up to then, instead of days.")
    document: Json | None = Field(default=None, description="As if this document of schedules was applied.")
    names: list[Annotated[str, Field(max_length=200)]] = Field(
        default=[], max_length=1_000, description="Tell of these schedules; all are played."
    )
    outages: list[OutageBody] = Field(default=[], max_length=MAX_OUTAGES)
    more: int = Field(default=0, ge=0, le=MAX_SCHEDULES, description="So many more schedules like those there are.")
    slots: int | None = Field(default=None, ge=1, le=1_000_000, description="One set of slots for everything.")
    workers: int | None = Field(default=None, ge=1, le=1_000_000, description="So many workers.")
    share: Annotated[float, Field(strict=False)] | None = Field(
        default=None, gt=0, le=1_000, description="That share of the workers there are."
    )
    slower: Annotated[float, Field(strict=False)] = Field(
        default=1.0, gt=0, le=1_000, description="Runs take so many times as long."
    )
    duration: int | None = Field(
        default=None, ge=1, le=366 * 86_400, description="Seconds that runs take of which none has succeeded yet."
    )
    limit: int = Field(default=20, ge=0, le=MAX_ROWS, description="How many schedules to list.")


class PeakModel(BaseModel):
    """The most slots that are busy at once, and when first."""

    busy: int
    at: Instant


class QueuePeakModel(BaseModel):
    """The most runs that stand in line for a slot, and when first."""

    runs: int
    at: Instant


class ExpectedLatenessModel(BaseModel):
    """How many seconds after they are due runs begin; the worst of which schedule, and when."""

    p50: float
    p99: float
    max: float
    schedule: str | None
    at: Instant | None


class BusyMinuteModel(BaseModel):
    """A minute and the ticks that are due in it."""

    at: Instant
    ticks: int


class QueueForecastModel(BaseModel):
    """A queue; without `slots` there are as many as are needed."""

    name: str
    slots: int | None
    runs: int
    peak: int
    peak_at: Instant
    worst_lateness: float


class ScheduleForecastModel(BaseModel):
    """A schedule; `has_history`: its duration is by its history."""

    name: str
    runs: int
    skips: dict[str, int]
    cancelled: int
    worst_lateness: float
    duration: float
    has_history: bool


class SuggestionModel(BaseModel):
    """A quieter minute for a schedule, and the most ticks of others beside its own, before and then."""

    schedule: str
    cron: str
    to_cron: str
    minute: int
    to_minute: int
    others: int
    others_then: int


class HourModel(BaseModel):
    """An hour: ticks due, runs that begin, and the most slots busy at once."""

    at: Instant
    ticks: int
    runs: int
    busy: int


class ForecastModel(BaseModel):
    """What is to be expected."""

    from_: Instant = Field(alias="from")
    to: Instant
    schedules: int
    without_history: int
    assumed: int
    paused: int
    workers: int
    slots: int | None
    ticks: int
    runs: int
    unserved: list[str]
    skips: dict[str, int]
    cancelled: dict[str, int]
    overlaps: int
    lost: int
    held: int
    left_over: int
    peak: PeakModel
    max_queued: QueuePeakModel
    lateness: ExpectedLatenessModel
    busiest_minutes: list[BusyMinuteModel]
    queues: list[QueueForecastModel]
    by_schedule: list[ScheduleForecastModel]
    suggestions: list[SuggestionModel]
    hours: list[HourModel]


class SimulationModel(BaseModel):
    """As things are, and as they would be where that was asked."""

    baseline: ForecastModel
    what_if: ForecastModel | None
