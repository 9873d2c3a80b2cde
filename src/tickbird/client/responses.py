"""Responses of changes: options that operations share, and warnings next to the value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tickbird.domain.explain.unserved_runs import unserved_reason
from tickbird.domain.runs.run import RunRecord
from tickbird.domain.schedules.schedule import Schedule
from tickbird.wire.operations import Extra


async def schedule_warnings(client: Any, schedule: Schedule, _: Mapping[str, Any]) -> list[str]:
    definition = schedule.definition
    if definition is None or schedule.state not in ("active", "paused"):
        return []
    unserved = unserved_reason(definition.queue, definition.target, await client.workers.list())
    return [f"{unserved}: its runs stay queued until one does"] if unserved else []


async def run_warnings(client: Any, run: RunRecord, _: Mapping[str, Any]) -> list[str]:
    if run.status == "waiting":
        if run.schedule is not None:
            return [f"run {run.id} waits until the active run of {run.schedule} is final"]
        return [f"run {run.id} waits for a slot of concurrency key {run.concurrency_key!r}"]
    if run.status == "queued":
        unserved = unserved_reason(run.queue, run.target, await client.workers.list())
        return [f"{unserved}: run {run.id} stays queued until one does"] if unserved else []
    return []


async def schedule_name(_: Any, __: Any, arguments: Mapping[str, Any]) -> str:
    return str(arguments["name"])


def schedule_change(audit: str, status: int = 200, warnings: Extra = schedule_warnings) -> dict[str, Any]:
    """The options of operations that change one schedule and return it."""
    return {
        "audit": audit,
        "status": status,
        "envelope": "schedule",
        "extras": {"warnings": warnings},
        "etag": lambda schedule: schedule.revision,
    }


def new_run_response(**options: Any) -> dict[str, Any]:
    """The options of operations that create one run."""
    return {
        "status": 201,
        "stored": False,
        "envelope": "run",
        "extras": {"warnings": run_warnings},
        "waits": True,
        **options,
    }
