"""Queued runs that a worker cannot read, and so leaves to other workers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tickbird.domain.runs.run import RunRecord

# Seconds after which a worker reads them again, because they may have been repaired.
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
        """Return whether this run is one of them."""
        if self.run_id is not None:
            return run.id == self.run_id
        return run.schedule is not None and (run.schedule, run.revision) == (self.schedule, self.revision)

    def __str__(self) -> str:
        runs = f"run {self.run_id}" if self.run_id is not None else f"revision {self.revision} of {self.schedule}"
        return f"{runs} ({self.error.rstrip('.')})"


def publish(unreadable: Sequence[Unreadable]) -> dict[str, Any]:
    """Return the part of a worker's health that lists them; empty if there are none."""
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
    """Read the output of `publish`; other versions of tickbird may publish something else."""
    listed = health.get("unreadable")
    named: Iterable[Any] = listed if isinstance(listed, list) else ()
    return tuple(
        Unreadable(str(runs.get("error")), runs.get("schedule"), runs.get("revision"), runs.get("run_id"))
        for runs in named
        if isinstance(runs, Mapping)
    )


def published_count(health: Mapping[str, Any]) -> int:
    """Return the number of unreadable entries of a worker, including those that are not listed."""
    count = health.get("unreadable_count")
    return max(len(published(health)), count if isinstance(count, int) else 0)
