"""Enqueue one run on any connection, including a caller's own transaction."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from tickbird.domain.errors import InvalidError
from tickbird.domain.limits.concurrency import DEFAULT_LIMIT, Key, take
from tickbird.domain.runs.idempotency import IdempotentRun, match_enqueue
from tickbird.domain.runs.run import NewRun, enqueued_detail
from tickbird.domain.schedules.definition import Target, check_payload
from tickbird.domain.time.instants import LATEST, to_micros
from tickbird.store.shared.json_columns import as_object, decode
from tickbird.store.shared.statement_scripts import StatementScript
from tickbird.store.sqlite.committed_runs import committing_run as committing_run
from tickbird.store.sqlite.database.instants import read_clock
from tickbird.store.sqlite.database.statements import SQL
from tickbird.store.sqlite.database.url import read_url
from tickbird.store.sqlite.deliveries import committing_delivery as committing_delivery
from tickbird.store.sqlite.planning.events import inserting
from tickbird.store.sqlite.rows import dump


def statements(url: str) -> Mapping[str, str]:
    return SQL


def enqueueing(namespace: str, run: NewRun, actor: str, now: datetime | None = None) -> StatementScript[int]:
    """Insert a run, or find the run of its idempotency key."""
    if (key := run.idempotency_key) is not None:
        existing = yield from finding(namespace, key)
        if existing is not None:
            return match_enqueue(key, existing, run.target, run.payload)
    [(run_id,)] = yield "reserve_ids", {"name": "run_id", "count": 1}
    # Read when this is the only writer, so that a later instant is written later.
    at = read_clock(now)
    room: dict[Key, int] = {}
    if run.concurrency_key is not None:
        values = {"namespace": namespace, "key": run.concurrency_key, "default": DEFAULT_LIMIT}
        [(free,)] = yield "busy_key", values
        room[namespace, run.concurrency_key] = free
    yield "enqueue_run", run_row(run_id, namespace, run, actor, at, room)
    if run.payload:
        yield "enqueue_payload", {"run_id": run_id, "payload": check_payload(run.payload)}
    yield "write_audit", audit_row(run_id, namespace, [run], actor, at)
    yield "wake_others", {}
    return int(run_id)


def finding(namespace: str, key: str) -> StatementScript[IdempotentRun | None]:
    """The run of an idempotency key."""
    rows = yield "keyed_run", {"namespace": namespace, "idempotency_key": key}
    if not rows:
        return None
    run_id, schedule_id, kind, name, payload = rows[0]
    return IdempotentRun(run_id, schedule_id, Target(name, kind), decode(payload))


def publishing(namespace: str, task: str) -> StatementScript[Mapping[str, Any] | None]:
    """The entry that a live worker publishes for a task."""
    for (text,) in (yield "published_tasks", {"namespace": namespace, "now": to_micros(read_clock())}):
        if task in (tasks := as_object(decode(text))):
            return tasks[task]  # type: ignore[no-any-return]
    return None


def placing(url: str) -> StatementScript[None]:
    """Refuse a connection to a file other than the store's."""
    path = read_url(url).path
    [(file,)] = yield "main_file", {}
    if not file or not Path(path).exists() or not Path(path).samefile(file):
        raise InvalidError(
            f"this connection is to {file or 'a database in memory'}, but the store is {path}.",
            field="connection",
            hint="Pass a connection to the store's own file.",
        )


def run_row(
    run_id: int, namespace: str, run: NewRun, actor: str, now: datetime, room: MutableMapping[Key, int]
) -> dict[str, Any]:
    """The values of the statement enqueue_run; it occupies a slot of its concurrency key if one is free."""
    key = run.concurrency_key
    due_at = now + timedelta(seconds=run.delay) if run.at is None else run.at
    start_by = None
    if run.start_within is not None:
        within = timedelta(seconds=run.start_within)
        start_by = min(due_at, LATEST - within) + within
    return {
        "id": run_id,
        "namespace": namespace,
        "kind": run.target.kind,
        "target": run.target.name,
        "queue": run.queue,
        "priority": run.priority,
        "due_at": to_micros(due_at),
        "start_by": to_micros(start_by),
        "crash_limit": run.crash_limit,
        "retry_of": run.retry_of,
        "actor": actor,
        "now": to_micros(now),
        "idempotency_key": run.idempotency_key,
        "concurrency_key": key,
        "status": take(room, None if key is None else (namespace, key)),
    }


def audit_row(first: int, namespace: str, runs: Sequence[NewRun], actor: str, now: datetime) -> dict[str, Any]:
    nothing = {"schedule_id": None, "schedule": None}
    audit = {"now": to_micros(now), "actor": actor, "action": "enqueue", "namespace": namespace, "run_id": first}
    return {**audit, **nothing, "detail": dump(enqueued_detail(runs))}


def publishing_events(
    namespace: str, events: Sequence[Mapping[str, Any]], source: str, actor: str
) -> StatementScript[list[str]]:
    """Insert events that are published together; returns their ids."""
    ids = yield from inserting(namespace, events, source=source, actor=actor, now=read_clock())
    yield "wake_others", {}
    return ids
