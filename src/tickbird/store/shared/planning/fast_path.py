"""Ticks on time, as nearly all due schedules have: one run each, and nothing else to decide."""

from __future__ import annotations

from collections.abc import Container, Iterable

from tickbird.domain.planning.fast_path import OnTimeRun, on_time
from tickbird.store.shared.planning.due import DueCursor
from tickbird.store.shared.planning.revision_cache import RevisionCache


def heeding(due: Iterable[DueCursor], known: RevisionCache) -> list[int]:
    """The schedules of these cursors for which active runs matter, as far as is known."""
    return [
        cursor.schedule_id
        for cursor in due
        if not cursor.is_plain or (info := known.get(cursor.schedule_id, cursor.revision)) is None or info.heeds_runs
    ]


def plan_on_time(
    due: Iterable[DueCursor], known: RevisionCache, busy: Container[int], now: float
) -> tuple[list[OnTimeRun], list[int]]:
    """The ticks of nearly all due cursors; and the ids of those schedules whose plan takes the long way."""
    rows: list[OnTimeRun] = []
    others: list[int] = []
    for cursor in due:
        run = _on_time(cursor, known, busy, now)
        if run is None:
            others.append(cursor.schedule_id)
        else:
            rows.append(run)
    return rows, others


def _on_time(cursor: DueCursor, known: RevisionCache, busy: Container[int], now: float) -> OnTimeRun | None:
    schedule_id, revision, planned_until, is_plain = cursor
    if not is_plain or planned_until is None:
        return None
    info = known.get(schedule_id, revision)
    if info is None or (info.heeds_runs and schedule_id in busy):
        return None
    try:
        return on_time(schedule_id, revision, info, planned_until, now)
    except Exception:  # noqa: BLE001 - the long way will say what is wrong, and park this schedule alone
        return None
