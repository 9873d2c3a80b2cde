"""What is sent with a run: looked at before it is stored."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from tickbird.domain.errors import InvalidError, NotFoundError, PayloadError
from tickbird.domain.limits.concurrency import check_concurrency_key, key_for
from tickbird.domain.runs.idempotency import check_key
from tickbird.domain.runs.run import NewRun
from tickbird.domain.schedules.definition import Target, check_payload
from tickbird.domain.schedules.fields import POLICIES, Policies, Priority
from tickbird.domain.schedules.task_settings import FROM_TASK, FromTask
from tickbird.domain.schedules.task_settings import crash_limit as declared_limit
from tickbird.domain.text import check_name
from tickbird.domain.time.durations import Duration, seconds
from tickbird.domain.time.instants import to_seconds

log = logging.getLogger("tickbird.client")
# So many lost workers may be survived, if somebody asks for it.
MAX_CRASHES = 1_000
MAX_ERRORS = 100
_MAX_ERROR_LENGTH = 300


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
    """A run to enqueue, with the settings of its task unless others are given; its payload was checked before."""
    declared = settings or {}
    queue = declared.get("queue", "default") if queue is None else queue
    rank: int = POLICIES["priority"].read(declared.get("priority", 0) if priority is None else priority)
    crash_limit = declared_limit(declared) if crash_limit is None else crash_limit
    if isinstance(concurrency_key, FromTask):
        concurrency_key = declared.get("concurrency_key")
    check_name(task, "task")
    # The same ranges as those of a schedule.
    Policies(queue=queue, priority=rank)
    if at is not None:
        to_seconds(at)
        if delay:
            raise InvalidError("at and delay: give one of them, not both.", field="at")
    if isinstance(crash_limit, bool) or not isinstance(crash_limit, int) or not 0 <= crash_limit <= MAX_CRASHES:
        raise InvalidError(
            f"crash_limit: {str(crash_limit)[:60]!r} is not a whole number from 0 to {MAX_CRASHES};",
            field="crash_limit",
            hint="0 never starts it twice.",
        )
    if concurrency_key is not None and (at is not None or delay):
        raise InvalidError(
            "concurrency_key: a run that is to begin later would keep others from a slot until then;",
            field="concurrency_key",
            hint="create a schedule with at(...) instead, which makes the run when its time has come; "
            "or give concurrency_key=None.",
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


def check_by_schema(
    task: str, payload: Mapping[str, Any], published: Mapping[str, Any] | None, *, unknown_task_ok: bool
) -> Mapping[str, Any]:
    """The payload of a task whose code is not here, by what a live worker publishes of it; None: none knows it."""
    check_payload(payload)
    if published is not None:
        _validate_by_schema(task, payload, published.get("schema", {}))
    elif not unknown_task_ok:
        raise NotFoundError(
            f"no live worker knows a task {task!r};",
            hint="check its name, start the worker that has it, or allow it with unknown_task_ok=True.",
        )
    return payload


def _validate_by_schema(task: str, payload: Mapping[str, Any], schema: Mapping[str, Any]) -> None:
    for path, text in payload_errors(payload, schema):
        where = ".".join(str(part) for part in path)
        raise PayloadError(f"payload of task {task!r}: {f'{where[:200]}: ' if where else ''}{text}.", field="payload")


def payload_errors(payload: Mapping[str, Any], schema: Mapping[str, Any]) -> Iterator[tuple[tuple[Any, ...], str]]:
    """What a schema says against a payload: the path to where, and what.

    Nothing where the schema itself cannot be gone by: the task looks at its payload anyway.
    """
    from jsonschema import Draft202012Validator
    from referencing import Registry

    # A reference out of the schema is not fetched from anywhere.
    validator = Draft202012Validator(schema, registry=Registry())
    try:
        for error in itertools.islice(validator.iter_errors(dict(payload)), MAX_ERRORS):
            told = _nearest(error)
            yield tuple(told.absolute_path), str(told.message)[:_MAX_ERROR_LENGTH]
    except Exception:
        log.debug("the schema of a task cannot be gone by", exc_info=True)


def _nearest(error: Any) -> Any:
    """Of a choice among schemas, what is wrong by the only one that is of the kind of the value."""
    near = [each for each in error.context or () if each.validator != "type" or list(each.relative_path)]
    return _nearest(near[0]) if error.validator in ("anyOf", "oneOf") and len(near) == 1 else error
