"""New runs: from arguments and the settings of a task, or as a retry."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from tickbird.domain.errors import InvalidError, NotFinishedError
from tickbird.domain.limits.concurrency import check_concurrency_key, key_for
from tickbird.domain.runs.idempotency import check_key
from tickbird.domain.runs.run import NewRun, RunRecord
from tickbird.domain.schedules.definition import Target
from tickbird.domain.schedules.fields import POLICIES, Policies, Priority
from tickbird.domain.schedules.task_settings import FROM_TASK, FromTask
from tickbird.domain.schedules.task_settings import crash_limit as declared_limit
from tickbird.domain.text import check_name
from tickbird.domain.time.durations import Duration, duration_text, seconds
from tickbird.domain.time.instants import to_seconds

# The maximum of `crash_limit`.
MAX_CRASHES: Final = 1_000


def new_run(
    task: str,
    payload: Mapping[str, Any],
    *,
    at: datetime | None = None,
    delay: Duration = 0,
    queue: str | None = None,
    priority: Priority | None = None,
    start_within: Duration | None = None,
    crash_limit: int | None = None,
    idempotency_key: str | None = None,
    concurrency_key: str | FromTask | None = FROM_TASK,
    settings: Mapping[str, Any] | None = None,
) -> NewRun:
    """Build a run. Arguments take precedence over `settings`, those of the task. The payload is already validated."""
    declared = settings or {}
    queue = declared.get("queue", "default") if queue is None else queue
    rank: int = POLICIES["priority"].read(declared.get("priority", 0) if priority is None else priority)
    crash_limit = declared_limit(declared) if crash_limit is None else crash_limit
    if isinstance(concurrency_key, FromTask):
        concurrency_key = declared.get("concurrency_key")
    check_name(task, "task")
    # Raises DefinitionError for values that a schedule would not accept.
    Policies(queue=queue, priority=rank)
    if at is not None:
        to_seconds(at)
        if delay:
            raise InvalidError("at and delay cannot be combined. Give one of them.", field="at")
    if isinstance(crash_limit, bool) or not isinstance(crash_limit, int) or not abs(crash_limit) <= MAX_CRASHES:
        raise InvalidError(
            f"crash_limit: {str(crash_limit)[:60]!r} is not a whole number from -{MAX_CRASHES} to {MAX_CRASHES}.",
            field="crash_limit",
            hint="Use 0 to never start the run twice. If negative, an answer is needed before each further attempt.",
        )
    if concurrency_key is not None and (at is not None or delay):
        raise InvalidError(
            "concurrency_key: a run that starts later would occupy a slot until then.",
            field="concurrency_key",
            hint="Create a schedule with at(...), which creates the run when it is due, or pass concurrency_key=None.",
        )
    return NewRun(
        Target(task),
        payload,
        queue,
        rank,
        at,
        seconds(delay, "delay"),
        None if start_within is None else seconds(start_within, "start_within"),
        crash_limit,
        idempotency_key=None if idempotency_key is None else check_key(idempotency_key),
        concurrency_key=None if concurrency_key is None else key_for(check_concurrency_key(concurrency_key), payload),
    )


def retry_of(run: RunRecord, payload: Mapping[str, Any], idempotency_key: str | None) -> NewRun:
    """A retry of a run that has no schedule, with its target and policies."""
    return NewRun(
        run.target,
        payload,
        run.queue,
        run.priority,
        start_within=None if run.start_by is None else round((run.start_by - run.due_at).total_seconds()),
        retry_of=run.id,
        idempotency_key=idempotency_key,
        concurrency_key=run.concurrency_key,
    )


def not_finished(run: RunRecord, waited: float) -> NotFinishedError:
    """The error for a run that is not final after this many seconds."""
    return NotFinishedError(
        f"run {run.id} is still {run.status} after {duration_text(waited)} of waiting.",
        hint=f"Wait again, or inspect it with `tickbird runs {run.id}`.",
    )
