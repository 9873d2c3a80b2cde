"""Schedules with a past: planned, run, failed and skipped by the verbs that do so in earnest, hour by hour."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.web.conftest import Served
from tickbird.domain.planning.commands.base import Command
from tickbird.domain.planning.commands.define import Create
from tickbird.domain.planning.commands.pause import Pause, Resume
from tickbird.domain.runs.run import Outcome
from tickbird.domain.schedules.definition import Definition, Target
from tickbird.domain.triggers.cron.cron import cron
from tickbird.domain.triggers.trigger import Trigger
from tickbird.domain.workers import Worker

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>\u202eevil"
HOUR = timedelta(hours=1)
HOURLY = cron("0 * * * *", tz="Europe/Rome")
SCHEMA = {
    "type": "object",
    "properties": {
        "limit": {"type": "integer", "minimum": 1, "default": 100, "description": "So many rows."},
        "kind": {"enum": ["daily", "weekly"], "default": "daily"},
        "dry": {"type": "boolean", "default": False},
        "day": {"type": "string", "format": "date"},
        "to": {"type": "array", "items": {"type": "string"}},
        "title": {"type": "string"},
    },
    "required": ["title"],
    "additionalProperties": False,
}
WORKER = Worker(
    id="w1",
    namespace="default",
    app="shop",
    host="node-1",
    pid=7,
    version="0",
    queues=("default",),
    slots=4,
    tasks={"report": {"queue": "default", "schema": SCHEMA}},
)


def this_hour() -> datetime:
    """The last tick of an hourly schedule."""
    return datetime.now(UTC).replace(minute=0, second=0, microsecond=0)


async def do(served: Served, command: Command, name: str = "nightly", at: datetime | None = None) -> None:
    """Change a schedule at an instant."""
    await served.store.schedules.change("default", name, command, now=at)


async def make(
    served: Served,
    name: str = "nightly",
    trigger: Trigger = HOURLY,
    at: datetime | None = None,
    app: str | None = None,
    **policies: Any,
) -> None:
    """A schedule of the task `report`, made an hour before this one, or when it is said."""
    definition = Definition(trigger=trigger, target=Target("report"), **{"payload": {"title": "Sales"}, **policies})
    command = Create(actor="ana", namespace="default", definition=definition, app=app, fingerprint=app and "f")
    await do(served, command, name, at or this_hour() - HOUR + timedelta(minutes=30))


async def a_worker(served: Served, **fields: Any) -> None:
    """One that is live, and tells what its task takes."""
    await served.store.workers.heartbeat(replace(WORKER, **fields), live_for=3_600)


async def run_tick(served: Served, tick: datetime, *, takes: float = 4, error: str | None = None) -> None:
    """Plan what is due at a tick, and execute it."""
    late = tick + timedelta(milliseconds=40)
    await served.store.planning.plan_due(now=late)
    claimed = await served.store.leases.claim(
        WORKER, 10, 60, queues=("default",), targets=[("task", "report")], now=late
    )
    outcomes = [
        Outcome(run.id, run.attempt, "failed" if error else "succeeded", error=error, failures=int(error is not None))
        for run in claimed.runs
    ]
    await served.store.leases.finish(outcomes, now=late + timedelta(seconds=takes))


async def a_past(served: Served, name: str = "nightly", **policies: Any) -> datetime:
    """Ten hours of an hourly schedule: successes, a failure, and a pause with its skip; returns the last tick."""
    last = this_hour()
    await make(served, name, at=last - 10 * HOUR - timedelta(minutes=30), **policies)
    for hours in range(10, 5, -1):
        error = f"Traceback: no such table {HOSTILE}" if hours == 7 else None
        await run_tick(served, last - hours * HOUR, takes=4 + hours, error=error)
    paused = last - 5 * HOUR + timedelta(minutes=10)
    await do(served, Pause(actor="ben", note=f"db upgrade {HOSTILE}"), name, paused)
    await do(served, Resume(actor="ben"), name, paused + 2 * HOUR)
    for hours in range(2, -1, -1):
        await run_tick(served, last - hours * HOUR, takes=5)
    return last
