"""Runs in every state, made by the verbs that make them in earnest."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.web.conftest import Served
from tickbird.domain.runs.logs import LogLine
from tickbird.domain.runs.run import ClaimedRun, Outcome
from tickbird.domain.triggers.every import every
from tickbird.domain.workers import Worker

HOSTILE = "<img src=x onerror=alert(1)><script>alert(2)</script>\u202eevil\x1b[31mred\x1b[0m"
TRACEBACK = f"""Traceback (most recent call last):
  File "report.py", line 7, in digest
    send(rows)
ConnectionError: mail refused {HOSTILE}"""


def now() -> datetime:
    """This moment, in whole seconds."""
    return datetime.now(UTC).replace(microsecond=0)


W1 = Worker(
    id="w1",
    namespace="default",
    app="shop",
    host="node-1",
    pid=7,
    version="0.1.0",
    slots=10,
    queues=("default",),
)
TASKS = ("digest", "report")


async def a_worker(served: Served, schema: dict[str, Any] | None = None) -> None:
    """One that knows the tasks."""
    tasks = {name: {"queue": "default", "schema": schema or {}} for name in TASKS}
    await served.store.workers.heartbeat(replace(W1, tasks=tasks), live_for=600)


async def a_schedule(served: Served, name: str = "nightly", task: str = "digest", **options: Any) -> None:
    """An hourly one."""
    await served.client.schedules.create(name, every(hours=1), task, actor="ana", unknown_task_ok=True, **options)


async def enqueue(served: Served, payload: dict[str, Any] | None = None, task: str = "digest", **options: Any) -> int:
    """A run without a schedule."""
    return await served.client.runs.enqueue(task, payload, actor="ana", unknown_task_ok=True, **options)


async def claim(served: Served, count: int = 1, at: datetime | None = None) -> Sequence[ClaimedRun]:
    """The next runs of the queue, taken by w1."""
    claimed = await served.store.leases.claim(
        W1, count, 600, queues=("default",), targets=[("task", name) for name in TASKS], now=at
    )
    return claimed.runs


async def finish(served: Served, run: ClaimedRun, status: Any = "succeeded", **how: Any) -> None:
    """The end of an attempt."""
    at = how.pop("at", None)
    await served.store.leases.finish([Outcome(run.id, run.attempt, status, **how)], now=at)


async def say(served: Served, run_id: int, *texts: str, attempt: int = 1, first: int = 1, level: int = 20) -> None:
    """Lines of a log."""
    at = now()
    lines = [
        LogLine(run_id, attempt, first + place, at + timedelta(milliseconds=place), level, text)
        for place, text in enumerate(texts)
    ]
    await served.store.logs.write(lines, [])
