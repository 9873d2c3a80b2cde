"""The message that starts a run in a child."""

from __future__ import annotations

from datetime import datetime

from tickbird.domain.runs.run import ClaimedRun, Covers
from tickbird.engine.processes.framing import Message


def to_message(run: ClaimedRun, module: str, begin_by: float, worker: str | None = None) -> Message:
    """Encode a run. `module` defines its function, which must not start after `begin_by`."""
    covers = run.covers
    return {
        "do": "run",
        "module": module,
        "begin_by": begin_by,
        "id": run.id,
        "attempt": run.attempt,
        "incarnation": run.incarnation,
        "worker": worker,
        "failures": run.failures,
        "target": run.target,
        "origin": run.origin,
        "due_at": run.due_at.isoformat(),
        "payload": run.payload,
        "scheduled_for": None if run.scheduled_for is None else run.scheduled_for.isoformat(),
        "covers": None if covers is None else [covers.first.isoformat(), covers.last.isoformat(), covers.count],
        "schedule": run.schedule,
    }


def from_message(message: Message) -> ClaimedRun:
    tick, covers = message["scheduled_for"], message["covers"]
    return ClaimedRun(
        message["id"],
        message["attempt"],
        message["failures"],
        message["target"],
        message["origin"],
        datetime.fromisoformat(message["due_at"]),
        message["payload"],
        None if tick is None else datetime.fromisoformat(tick),
        covers and Covers(datetime.fromisoformat(covers[0]), datetime.fromisoformat(covers[1]), covers[2]),
        schedule=message["schedule"],
        incarnation=message["incarnation"],
    )
