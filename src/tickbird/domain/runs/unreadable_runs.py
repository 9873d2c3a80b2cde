"""Queued runs that a worker cannot read, and so leaves to other workers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tickbird.domain.runs.run import RunRecord

# A worker reads them again after this time: a person may have repaired them.
RECHECK_SECONDS: Final = 60
# A worker publishes at most this many with its heartbeat.
_MAX_PUBLISHED: Final = 20
_MAX_ERROR_LENGTH: Final = 200


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Runs of one revision of a schedule, or one run whose own payload cannot be decoded."""

    error: str
    schedule: str | None = None
    revision: int | None = None
    run_id: int | None = None

    def covers(self, run: RunRecord) -> bool:
        """Is this run one of them?"""
        if self.run_id is not None:
            return run.id == self.run_id
        return run.schedule is not None and (run.schedule, run.revision) == (self.schedule, self.revision)

    def __str__(self) -> str:
        runs = f"run {self.run_id}" if self.run_id is not None else f"revision {self.revision} of {self.schedule}"
        return f"{runs} ({self.error.rstrip('.')})"


def publish(unreadable: Sequence[Unreadable]) -> dict[str, Any]:
    """The part of a worker's health that names them; empty if there are none."""
    if not unreadable:
        return {}
    named = [
        {
            "schedule": runs.schedule,
            "revision": runs.revision,
            "run_id": runs.run_id,
            "error": runs.error[:_MAX_ERROR_LENGTH],
        }
        for runs in unreadable[:_MAX_PUBLISHED]
    ]
    return {"unreadable": named, "unreadable_count": len(unreadable)}


def published(health: Mapping[str, Any]) -> tuple[Unreadable, ...]:
    """What a worker has published with `publish`; other versions of tickbird may publish something else."""
    told = health.get("unreadable")
    named: Iterable[Any] = told if isinstance(told, list) else ()
    return tuple(
        Unreadable(str(runs.get("error")), runs.get("schedule"), runs.get("revision"), runs.get("run_id"))
        for runs in named
        if isinstance(runs, Mapping)
    )


def published_count(health: Mapping[str, Any]) -> int:
    """How many a worker has, also of those that it does not name."""
    count = health.get("unreadable_count")
    return max(len(published(health)), count if isinstance(count, int) else 0)
