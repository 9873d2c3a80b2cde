"""A run with everything that is known about its progress."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tickbird.domain.explain.explanation import Step
from tickbird.domain.limits.rate_limits import QueuePosition
from tickbird.domain.runs.logs import Progress
from tickbird.domain.runs.run import AttemptRecord, RunRecord


@dataclass(frozen=True, slots=True)
class RunDetail:
    """A run with its attempts, its progress, its position in the queue, and the reasons why it waits."""

    run: RunRecord
    attempts: Sequence[AttemptRecord]
    progress: Progress | None
    queue_position: QueuePosition | None
    waiting_for: Sequence[Step]
