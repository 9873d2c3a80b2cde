"""The schedules of a proof: every policy of overlap, catch-up, retries and crashes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tickbird import cron, every
from tickbird.client import Client

# Name → trigger, task and policies. `specs.py` must be able to read the triggers.
SCHEDULES: Final[dict[str, dict[str, Any]]] = {
    "all": {"trigger": every(seconds=1), "task": "succeed", "overlap": "allow", "catch_up": "all", "grace": 2},
    "one": {"trigger": every(seconds=1), "task": "succeed", "overlap": "allow", "grace": 1},
    "latest": {"trigger": every(seconds=1), "task": "succeed", "overlap": "allow", "catch_up": "latest", "grace": 1},
    "missed": {"trigger": every(seconds=1), "task": "succeed", "overlap": "allow", "catch_up": "skip", "grace": 1},
    "skip": {"trigger": every(seconds=1), "task": "sleep", "payload": {"seconds": 1.5}},
    "queue": {"trigger": every(seconds=2), "task": "sleep", "payload": {"seconds": 1.5}, "overlap": "queue"},
    "replace": {"trigger": every(seconds=2), "task": "sleep", "payload": {"seconds": 2.5}, "overlap": "replace"},
    "two": {"trigger": every(seconds=1), "task": "sleep", "payload": {"seconds": 1.5}, "max_concurrent": 2},
    "retried": {"trigger": every(seconds=1), "task": "raise_sometimes", "overlap": "allow", "retries": 2},
    "never-twice": {"trigger": every(seconds=1), "task": "sleep", "payload": {"seconds": 0.5}, "on_crash": "fail"},
    "thread": {"trigger": every(seconds=2), "task": "sleep_in_thread", "payload": {"seconds": 0.5}},
    "unstorable": {"trigger": every(seconds=1), "task": "report_unstorable", "overlap": "allow"},
    "spread": {"trigger": every(seconds=5), "task": "succeed", "spread": 3, "overlap": "allow"},
    "berlin": {"trigger": cron("* * * * *", "Europe/Berlin"), "task": "succeed"},
}


async def create_schedules(client: Client, schedules: Mapping[str, Mapping[str, Any]], actor: str) -> None:
    """Create schedules in the form of SCHEDULES."""
    for name, schedule in schedules.items():
        policies = dict(schedule)
        trigger, task = policies.pop("trigger"), policies.pop("task")
        await client.schedules.create(name, trigger, task, actor=actor, unknown_task_ok=True, **policies)
