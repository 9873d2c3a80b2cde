"""The ticks of a backfill, for every store: read and computed without holding a connection in between."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from tickbird.cpu_threads import compute
from tickbird.domain.planning.backfills import BackfillSelection, NewBackfill
from tickbird.domain.schedules.schedule import Schedule

# Returns the rows of a statement by its name.
Fetch = Callable[..., Awaitable[list[tuple[Any, ...]]]]


async def choose_ticks(
    fetch: Fetch,
    schedule: Schedule | None,
    name: str,
    new: NewBackfill,
    offload: Callable[..., Awaitable[Any]] = compute,
) -> tuple[BackfillSelection, list[int]]:
    """The range of a backfill, and its ticks that get a run."""
    while True:
        pruned_until = await _pruned_until(fetch, schedule)
        selection: BackfillSelection = await offload(BackfillSelection, schedule, name, new, pruned_until)
        bounds = {"schedule_id": selection.schedule.id, "first": selection.runs_from, "last": selection.last}
        if selection.unknown:
            pruned = {**bounds, "first": selection.first, "last": selection.pruned_until}
            [(selection.kept,)] = await fetch("count_ticks_with_run", **pruned)
        if selection.is_countless:
            [(taken,)] = await fetch("count_ticks_with_run", **bounds)
            raise selection.too_many(taken)
        rows = await fetch("ticks_with_run", **bounds)
        ticks: list[int] = await offload(selection.ticks, {row[0] for row in rows})
        # A run that was pruned after the first lookup is missing in the second one.
        if await _pruned_until(fetch, schedule) == pruned_until:
            return selection, ticks


async def _pruned_until(fetch: Fetch, schedule: Schedule | None) -> int | None:
    rows = [] if schedule is None else await fetch("pruned_until", schedule_id=schedule.id)
    return rows[0][0] if rows else None
