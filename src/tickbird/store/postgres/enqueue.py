"""Enqueue one run on any connection, including a caller's own transaction."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from tickbird.domain.runs.idempotency import IdempotentRun, match_enqueue
from tickbird.domain.runs.run import NewRun, enqueued_detail
from tickbird.domain.schedules.definition import Target, check_payload
from tickbird.store.postgres.committed_runs import committing_run as committing_run
from tickbird.store.postgres.database import schema_name
from tickbird.store.postgres.deliveries import committing_delivery as committing_delivery
from tickbird.store.shared.json_columns import decode
from tickbird.store.shared.postgres_url import PostgresUrl
from tickbird.store.shared.statement_scripts import StatementScript


def statements(url: str) -> Mapping[str, str]:
    """Statements by name, for the schema of a URL."""
    return schema_name.statements(PostgresUrl.parse(url).schema)


def enqueueing(
    namespace: str, run: NewRun, actor: str, now: datetime | None = None, *, audited: bool = False
) -> StatementScript[int]:
    """Insert a run, or find the run of its idempotency key. Some roles may enqueue but not write to audit_log."""
    key = run.idempotency_key
    values: dict[str, Any] = {
        "namespace": namespace,
        "kind": run.target.kind,
        "target": run.target.name,
        "queue": run.queue,
        "priority": run.priority,
        # As text, because drivers send instants differently.
        "at": None if run.at is None else run.at.isoformat(),
        "delay": float(run.delay),
        "start_within": None if run.start_within is None else float(run.start_within),
        "crash_limit": run.crash_limit,
        "retry_of": run.retry_of,
        "payload": check_payload(run.payload) if run.payload else None,
        "idempotency_key": key,
        "concurrency_key": run.concurrency_key,
        # A caller's transaction must not hold a key until its end, so slots are assigned afterwards.
        "status": "queued" if run.concurrency_key is None else "waiting",
        "actor": actor,
        "now": None if now is None else now.isoformat(),
    }
    # The run of the key may be pruned in between.
    while True:
        rows = yield "enqueue_run", values
        if rows:
            if audited:
                yield "audit_enqueued", {"id": rows[0][0], "detail": json.dumps(enqueued_detail([run]))}
            return int(rows[0][0])
        assert key is not None
        existing = yield from finding(namespace, key)
        if existing is not None:
            return match_enqueue(key, existing, run.target, run.payload)


def placing(url: str) -> StatementScript[None]:
    """Accept every connection with the schema, because one server has many addresses."""
    yield from ()


def publishing(namespace: str, task: str) -> StatementScript[Mapping[str, Any] | None]:
    """The entry that a live worker publishes for a task."""
    rows = yield "published_task", {"namespace": namespace, "task": task}
    return decode(rows[0][0]) if rows else None


def finding(namespace: str, key: str) -> StatementScript[IdempotentRun | None]:
    """The run of an idempotency key."""
    rows = yield "keyed_run", {"namespace": namespace, "idempotency_key": key}
    if not rows:
        return None
    run_id, schedule_id, kind, name, payload = rows[0]
    return IdempotentRun(run_id, schedule_id, Target(name, kind), decode(payload))


def publishing_events(
    namespace: str, events: Sequence[Mapping[str, Any]], source: str, actor: str
) -> StatementScript[list[str]]:
    """Insert events that are published together; returns their ids."""
    values = {"namespace": namespace, "source": source, "actor": actor, "events": json.dumps(events, allow_nan=False)}
    rows = yield "publish_events", values
    return [str(row[0]) for row in rows]
