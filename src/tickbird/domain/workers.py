"""Workers that are asked to drain."""

from __future__ import annotations

from tickbird.domain.errors import ConflictError, NotFoundError
from tickbird.domain.explain.context import LiveWorker


def no_such_worker(worker_id: str) -> NotFoundError:
    """The error for an id that no live worker has."""
    return NotFoundError(
        f"there is no live worker {worker_id[:200]!r};", hint="`tickbird workers` shows those that there are."
    )


def check_drainable(worker: LiveWorker) -> None:
    """A deploy step has no work to finish."""
    if worker.kind == "sync":
        raise ConflictError(
            f"{worker.id} is a deploy step, not a worker;", hint="it ends by itself once it has declared its schedules."
        )
