"""Warnings next to a value: what keeps the runs of a schedule, or a run, from being executed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tickbird.domain.explain.unserved_runs import unserved_reason
from tickbird.domain.runs.run import RunRecord
from tickbird.domain.schedules.schedule import Schedule


async def schedule_warnings(client: Any, schedule: Schedule, _: Mapping[str, Any]) -> list[str]:
    """That no live worker serves the target of a schedule."""
    definition = schedule.definition
    if definition is None or schedule.state not in ("active", "paused"):
        return []
    unserved = unserved_reason(definition.queue, definition.target, await client.workers.list())
    return [f"{unserved}: its runs stay queued until one does"] if unserved else []


async def run_warnings(client: Any, run: RunRecord, _: Mapping[str, Any]) -> list[str]:
    """What a run waits for."""
    if run.status == "waiting":
        if run.schedule is not None:
            return [f"run {run.id} waits until the active run of {run.schedule} is final"]
        return [f"run {run.id} waits for a slot of concurrency key {run.concurrency_key!r}"]
    if run.status == "queued":
        unserved = unserved_reason(run.queue, run.target, await client.workers.list())
        return [f"{unserved}: run {run.id} stays queued until one does"] if unserved else []
    return []
