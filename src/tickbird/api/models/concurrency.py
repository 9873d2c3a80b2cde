"""Concurrency keys and queues."""

from __future__ import annotations

from pydantic import BaseModel, Field

from tickbird.api.models.parts import Body, Instant
from tickbird.domain.limits.concurrency import MAX_LIMIT

RATE = r"^[1-9][0-9]{0,5}/([1-9][0-9]{0,2})?(s|sec|second|seconds|m|min|minute|minutes|h|hour|hours|d|day|days)$"


class LimitModel(BaseModel):
    """A concurrency key: how many runs of it may go on at once, how many do, and how many wait."""

    key: str
    max_running: int
    is_explicit: bool = Field(description="By a person; else it is the default.")
    active: int
    waiting: int


class LimitPage(BaseModel):
    """A page of concurrency keys, by name."""

    items: list[LimitModel]
    next: str | None


class LimitBody(Body):
    """How many runs of the key may go on at once."""

    max_running: int = Field(ge=1, le=MAX_LIMIT)


class QueueModel(BaseModel):
    """A queue: what stands in it, its rate, when the next run may begin if not at once, and how many serve it."""

    queue: str
    rate: str | None
    next_at: Instant | None
    waiting: int
    queued: int
    running: int
    workers: int


class QueuePage(BaseModel):
    """A page of queues, by name."""

    items: list[QueueModel]
    next: str | None


class ChangedQueue(BaseModel):
    """A queue after a change, and that nobody serves it if so."""

    queue: QueueModel
    warnings: list[str]


class RateBody(Body):
    """How many runs may begin within any stretch of time of a length."""

    rate: str = Field(
        max_length=60,
        description='Such as "100/min", "5/s", "20/3h" or "1000/day".',
        json_schema_extra={"pattern": RATE},
    )
