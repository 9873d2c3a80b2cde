"""One run, enqueued on whatever connection; also on one that is somebody else's, in their transaction."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from tickbird.domain.runs.idempotency import IdempotentRun, match_enqueue
from tickbird.domain.runs.run import NewRun, enqueued_detail
from tickbird.domain.schedules.definition import Target, check_payload
from tickbird.store.postgres.database import schema_name
from tickbird.store.shared.json_columns import decode
from tickbird.store.shared.postgres_url import PostgresUrl
from tickbird.store.shared.statement_scripts import StatementScript


def statements(url: str) -> Mapping[str, str]:
    """Statements by name, for the schema that a URL names."""
    return schema_name.statements(PostgresUrl.parse(url).schema)


def enqueueing(
    namespace: str, run: NewRun, actor: str, now: datetime | None = None, *, audited: bool = False
) -> StatementScript[int]:
    """Insert a run, or find the one that its key stands for; not all who may enqueue may write to audit_log."""
    key = run.idempotency_key
    values: dict[str, Any] = {
        "namespace": namespace,
        "kind": run.target.kind,
        "target": run.target.name,
        "queue": run.queue,
        "priority": run.priority,
        # As text: drivers differ in how they send an instant.
        "at": None if run.at is None else run.at.isoformat(),
        "delay": float(run.delay),
        "start_within": None if run.start_within is None else float(run.start_within),
        "crash_limit": run.crash_limit,
        "retry_of": run.retry_of,
        "payload": check_payload(run.payload) if run.payload else None,
        "idempotency_key": key,
        "concurrency_key": run.concurrency_key,
        # Somebody else's transaction must not hold up a key until its end, so who has a place is found out afterwards.
        "status": "queued" if run.concurrency_key is None else "waiting",
        "actor": actor,
        "now": None if now is None else now.isoformat(),
    }
    # The one that the key stood for may be pruned in between.
    while True:
        made = yield "enqueue_run", values
        if made:
            if audited:
                yield "tell_enqueued", {"id": made[0][0], "detail": json.dumps(enqueued_detail([run]))}
            return int(made[0][0])
        assert key is not None
        found = yield from finding(namespace, key)
        if found is not None:
            return match_enqueue(key, found, run.target, run.payload)


def placing(url: str) -> StatementScript[None]:
    """Any connection that finds the schema will do: one server has many addresses."""
    yield from ()


def publishing(namespace: str, task: str) -> StatementScript[Mapping[str, Any] | None]:
    """What a live worker publishes of a task."""
    rows = yield "published_task", {"namespace": namespace, "task": task}
    return decode(rows[0][0]) if rows else None


def finding(namespace: str, key: str) -> StatementScript[IdempotentRun | None]:
    """The run that a key stands for."""
    rows = yield "keyed_run", {"namespace": namespace, "idempotency_key": key}
    if not rows:
        return None
    run_id, schedule_id, kind, name, payload = rows[0]
    return IdempotentRun(run_id, schedule_id, Target(name, kind), decode(payload))
