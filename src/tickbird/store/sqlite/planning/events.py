"""Publish events in a write transaction: positions and versions are assigned at once, because there is one writer."""

from __future__ import annotations

import sqlite3
import uuid
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from tickbird.domain.errors import ConflictError
from tickbird.domain.events.event import merge_payload, partition_of, run_event_id, tick_event_id
from tickbird.domain.limits.concurrency import Key
from tickbird.domain.time.instants import to_micros
from tickbird.store.shared.json_columns import as_object, decode
from tickbird.store.shared.planning.revision_cache import RevisionCache
from tickbird.store.shared.statement_scripts import StatementScript, run_sync
from tickbird.store.sqlite.database.statements import SQL
from tickbird.store.sqlite.planning.dependencies import record_successes
from tickbird.store.sqlite.planning.waiting_runs import release
from tickbird.store.sqlite.rows import dump

_TICKS: Final = ("schedule", "catch_up", "backfill")
# Runs per round, and rounds per transaction: published runs can release others.
_MAX_RUNS: Final = 500
_MAX_ROUNDS: Final = 100


def inserting(
    namespace: str, events: Sequence[Mapping[str, Any]], *, source: str, actor: str | None, now: datetime
) -> StatementScript[list[str]]:
    """Insert events that are published together; returns their ids. An id that exists is not published again."""
    [(partitions,)] = yield "event_partitions", {}
    yield "add_event_stream", {"namespace": namespace}
    yield from _checking_versions(namespace, events)
    together = str(uuid.uuid4()) if len(events) > 1 else None
    ids = []
    for ordinal, event in enumerate(events, 1):
        ids.append(event["event_id"])
        [(exists,)] = yield "has_event", {"namespace": namespace, "event_id": event["event_id"]}
        if exists:
            continue
        [(position,)] = yield "advance_event_stream", {"namespace": namespace, "count": 1}
        key = event["key"]
        version = None
        if key is not None:
            [(last,)] = yield "event_version", {"namespace": namespace, "key": key}
            version = last + 1
        row = {
            "namespace": namespace,
            "position": position,
            "version": version,
            "partition": position % partitions if key is None else partition_of(key, partitions),
            "event_id": event["event_id"],
            "topic": event["topic"],
            "type": event["type"],
            "source": source,
            "key": key,
            "tenant": event["tenant"],
            "time": event.get("time", to_micros(now)),
            "published_at": to_micros(now),
            "transaction_id": together,
            "ordinal": ordinal,
            "count": len(events),
            "run_id": event.get("run_id"),
            "actor": actor,
            "headers": dump(event["headers"]) if event["headers"] else None,
            "data": dump(event["data"]),
        }
        yield "insert_event", row
    return ids


def _checking_versions(namespace: str, events: Sequence[Mapping[str, Any]]) -> StatementScript[None]:
    """Raise ConflictError unless every key has the expected version, counting earlier events of the same call."""
    earlier: Counter[str] = Counter()
    for event in events:
        key, expected = event["key"], event.get("expected_version")
        if expected is not None:
            [(version,)] = yield "event_version", {"namespace": namespace, "key": key}
            if version + earlier[key] != expected:
                raise ConflictError(
                    f"key {key!r}: has version {version + earlier[key]}, not {expected}.",
                    hint="Read the newest event of the key, then decide again.",
                )
        earlier[key] += 1


def insert_events(
    db: sqlite3.Connection,
    namespace: str,
    events: Sequence[Mapping[str, Any]],
    *,
    source: str,
    actor: str | None,
    now: datetime,
) -> list[str]:
    """Insert events in this transaction."""
    script = inserting(namespace, events, source=source, actor=actor, now=now)
    return run_sync(script, lambda name, values: db.execute(SQL[name], values).fetchall())


def publish_queued(db: sqlite3.Connection, revisions: RevisionCache, now: datetime) -> int:
    """Publish the events of queued runs, and end these runs; returns their number."""
    published = 0
    for _ in range(_MAX_ROUNDS):
        rows = db.execute(SQL["queued_event_runs"], {"now": to_micros(now), "limit": _MAX_RUNS}).fetchall()
        if not rows:
            break
        [(incarnation,)] = db.execute(SQL["read_incarnation"]).fetchall()
        schedules: set[int] = set()
        keys: set[Key] = set()
        for run_id, namespace, name, schedule_id, origin, scheduled_for, key, definition, payload in rows:
            stored = as_object(decode(definition))
            target = stored["target"]["event"]
            event_id = (
                tick_event_id(namespace, name, scheduled_for // 1_000_000)
                if origin in _TICKS
                else run_event_id(incarnation, run_id)
            )
            event = {
                "event_id": str(event_id),
                "topic": target["topic"],
                "type": target["type"],
                "key": target.get("key"),
                "tenant": target.get("tenant"),
                "headers": target.get("headers"),
                "data": merge_payload(target.get("data"), decode(payload) or stored.get("payload")),
                "run_id": run_id,
                "time": to_micros(now) if scheduled_for is None else scheduled_for,
            }
            insert_events(db, namespace, [event], source=f"/tickbird/{namespace}/{name}", actor=None, now=now)
            db.execute(SQL["end_event_run"], {"id": run_id, "now": to_micros(now), "event_id": str(event_id)})
            schedules.add(schedule_id)
            if key is not None:
                keys.add((namespace, key))
        release(db, revisions, schedules | record_successes(db, schedules, now), now, keys=keys)
        published += len(rows)
    return published
