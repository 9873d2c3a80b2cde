"""Results of reading the ledger."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from tickbird.domain.errors import ConflictError
from tickbird.domain.ledger.entries import LedgerEntry
from tickbird.domain.runs.run import RunRecord, SkipRecord
from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.time.instants import iso, to_datetime, to_seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class TickDecisions:
    """The runs and skips whose ticks are in a range, oldest first."""

    runs: Sequence[RunRecord] = ()
    skips: Sequence[SkipRecord] = ()


@dataclass(frozen=True, slots=True)
class RecentOutcomes:
    """Recently finished runs and skips, newest first; skips with the name of their schedule."""

    ended: Sequence[RunRecord] = ()
    skips: Sequence[tuple[str, SkipRecord]] = ()


@dataclass(frozen=True, slots=True)
class LedgerPage:
    """A page of decisions: runs by tick, skips by their last tick. Rows up to `pruned_until` may be missing."""

    runs: Sequence[LedgerEntry] = ()
    skips: Sequence[LedgerEntry] = ()
    pruned_until: int | None = None


@dataclass(frozen=True, slots=True)
class TickDecision:
    """A run or a skip: the decision for one tick, or for a range that starts with this tick."""

    tick: datetime
    run: RunRecord | None = None
    skip: SkipRecord | None = None


@dataclass(frozen=True, slots=True)
class DecisionPage:
    """A page of decisions by their ticks, oldest first; `next_second` starts the next page; None at the end."""

    items: Sequence[TickDecision] = ()
    next_second: int | None = None


def page_of_decisions(decisions: TickDecisions, start: datetime | None, limit: int) -> DecisionPage:
    """Return the first `limit` decisions; one more of each kind must have been read.

    `start` is the first tick of a later page: a skip that began before it was on the previous page.
    """
    runs = [TickDecision(run.scheduled_for or run.due_at, run) for run in decisions.runs]
    skips = [TickDecision(skip.first, skip=skip) for skip in decisions.skips]
    runs, skips = (
        sorted(
            (decision for decision in kind if start is None or decision.tick >= start),
            key=lambda decision: decision.tick,
        )
        for kind in (runs, skips)
    )
    # There may be more runs or skips after the last ones that were read.
    horizon = min((kind[limit].tick for kind in (runs, skips) if len(kind) > limit), default=None)
    items = sorted((*runs, *skips), key=lambda decision: decision.tick)
    cut = items[limit - 1].tick if len(items) > limit else None
    bound = min((at for at in (horizon, cut) if at is not None), default=None)
    if bound is None:
        return DecisionPage(items)
    shown = [decision for decision in items if decision.tick <= bound]
    more = len(shown) < len(items) or horizon == bound
    return DecisionPage(shown, to_seconds(bound) + 1 if more else None)


def decided_error(schedule: Schedule, tick: int, decisions: TickDecisions) -> ConflictError | None:
    """The error for an override of a tick that these runs or skips have decided; None if they have not."""
    name, at = schedule.name, to_datetime(tick)
    for run in decisions.runs:
        if run.scheduled_for == at:
            verb = {"succeeded": "", "failed": "", "cancelled": "was "}.get(run.status, "is ")
            return _decided(name, tick, f"run {run.id} of it {verb}{run.status}")
    for skip in decisions.skips:
        if skip.first <= at <= skip.last and schedule.definition is not None and schedule.grid.contains(tick):
            by, note = f" by {skip.actor}" if skip.actor else "", f" ({skip.note})" if skip.note else ""
            return _decided(name, tick, f"it was skipped{by} for {skip.reason}{note}")
    return None


def _decided(schedule: str, tick: int, decision: str) -> ConflictError:
    return ConflictError(
        f"the tick of {iso(tick)} is decided already: {decision}.",
        hint=f"Only upcoming ticks can be overridden. `tickbird why {schedule} {iso(tick)}` shows the reason.",
    )
