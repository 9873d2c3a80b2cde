"""Ticks that are on time, as nearly all are: one run each, and nothing else to decide."""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import NamedTuple

from tickbird.domain.planning.fast_path import OnTime, on_time
from tickbird.store.shared.planning.revision_cache import RevisionCache, RevisionInfo, RunTemplate

# Schedule id, revision, `planned_until`, and: is the schedule active, with nothing moved, skipped or just edited?
DueCursor = tuple[int, int, int | None, bool]


class OnTimeRun(NamedTuple):
    """A tick that becomes a queued run and moves its cursor by one; all other columns follow from the revision."""

    schedule_id: int
    revision: int
    tick: int
    due_at: int
    start_by: int | None
    next_run_at: int
    known: RevisionInfo

    @property
    def template(self) -> RunTemplate:
        """What all runs of its revision have in common."""
        return self.known.template


def plan_on_time(
    due: Iterable[DueCursor], known: RevisionCache, busy: Container[int], now: float
) -> tuple[list[OnTimeRun], list[int]]:
    """The ticks of nearly all due cursors; and the ids of those schedules whose plan takes the long way."""
    rows: list[OnTimeRun] = []
    others: list[int] = []
    for schedule_id, revision, planned_until, is_plain in due:
        if is_plain and planned_until is not None:
            one = known.get(schedule_id, revision)
            if one is None or (one.heeds_runs and schedule_id in busy):
                pass
            elif (found := _on_time(one, planned_until, now)) is not None:
                rows.append(OnTimeRun(schedule_id, revision, *found, one))
                continue
        others.append(schedule_id)
    return rows, others


def _on_time(one: RevisionInfo, planned_until: int, now: float) -> OnTime | None:
    try:
        return on_time(one.definition, one.offset, planned_until, now)
    except Exception:  # noqa: BLE001 - the long way will say what is wrong, and park this schedule alone
        return None
