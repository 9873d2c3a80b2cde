"""Input of `why`: the rows about one instant of a schedule, and lookups in its revisions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from tickbird.domain.errors import InvalidError
from tickbird.domain.limits.concurrency import ConcurrencyLimit
from tickbird.domain.limits.rate_limits import QueuePosition
from tickbird.domain.runs.logs import Progress
from tickbird.domain.runs.run import AttemptRecord, RunRecord, SkipRecord
from tickbird.domain.schedules.codec import decode_definition
from tickbird.domain.schedules.definition import Definition, spread_offset
from tickbird.domain.schedules.dependencies import LastSuccess
from tickbird.domain.schedules.revision import RevisionRecord
from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.time.instants import to_datetime, to_seconds
from tickbird.domain.workers import Worker

# Actions that concern a single tick; the tick is in their detail.
_ABOUT_TICKS = ("reschedule", "override", "undo_override")


@dataclass(frozen=True, slots=True)
class PausePeriod:
    """A pause that was in effect at an instant; `until` in seconds since the epoch."""

    by: str
    note: str
    since: datetime | None
    until: int | None
    # The pause that was already in effect when this one was created.
    before: PausePeriod | None = None

    def holds(self, due_at: int) -> bool:
        """Return whether a tick with this `due_at` falls into the pause."""
        return self.until is None or due_at <= self.until


@dataclass(frozen=True, slots=True, kw_only=True)
class RunContext:
    """The rows related to one run, as of `now`."""

    now: datetime
    # The ended attempts of the run, and other runs that the run or a skip refers to.
    attempts: Sequence[AttemptRecord] = ()
    others: Sequence[RunRecord] = ()
    # Why the store is a copy in which nothing is planned or executed; empty if it is not a copy.
    copy_reason: str = ""
    # As of `now`: active runs of the schedule, all running runs, and live workers.
    active: Sequence[RunRecord] = ()
    running: Sequence[RunRecord] = ()
    workers: Sequence[Worker] = ()
    # Of a run that no live worker may serve, and of a tick that none may plan: lost workers, the last one first.
    lost: Sequence[Worker] = ()
    # The number of live workers of all namespaces that plan.
    planners: int = 0
    # Of a waiting run's concurrency key: its limit, and the runs that hold its slots.
    limit: ConcurrencyLimit | None = None
    holders: Sequence[RunRecord] = ()
    # Of a running run: its last reported progress.
    progress: Progress | None = None
    # Of a queued run: its position in the queue.
    turn: QueuePosition | None = None
    # Of its dependencies: the last success of each, and runs that succeeded.
    successes: Mapping[str, LastSuccess] = field(default_factory=dict)
    needed: Sequence[RunRecord] = ()
    # Dependencies that are shadows now, and so never run.
    shadows: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainContext(RunContext):
    """Rows about one instant: `revisions` (newest first), runs and skips that cover it, and rows these refer to."""

    schedule: Schedule
    at: datetime
    # The time zone of the explanation; None: the schedule's own.
    tz: str | None = None
    revisions: Sequence[RevisionRecord] = ()
    runs: Sequence[RunRecord] = ()
    skips: Sequence[SkipRecord] = ()

    @property
    def tick(self) -> int:
        """The instant in question, in whole seconds."""
        return to_seconds(self.at)

    @property
    def run(self) -> RunRecord | None:
        tick = to_datetime(self.tick)
        return next((run for run in self.runs if run.scheduled_for == tick), None)

    @property
    def skip(self) -> SkipRecord | None:
        """The skip whose range includes the instant."""
        tick = to_datetime(self.tick)
        around = (skip for skip in self.skips if skip.first <= tick <= skip.last)
        # A skip that was recorded early may lie inside the range of a skip of another grid.
        return min(around, key=lambda skip: skip.last - skip.first, default=None)

    def other(self, run_id: int | None) -> RunRecord | None:
        """Return a run by id; None if it is no longer stored."""
        return next((run for run in (*self.runs, *self.active, *self.others) if run.id == run_id), None)

    def revision(self, number: int | None) -> RevisionRecord | None:
        """Return a revision by number; None if it is no longer stored."""
        return next((revision for revision in self.revisions if revision.revision == number), None)

    def definition(self, number: int | None) -> Definition | None:
        """Return the definition of a revision; None if it is missing or cannot be read."""
        if number == self.schedule.revision:
            return self.schedule.definition
        revision = self.revision(number)
        return None if revision is None else readable(revision)

    def offset(self, definition: Definition) -> int:
        """Return the seconds from a tick to its `due_at` under a definition."""
        return spread_offset(self.schedule.namespace, self.schedule.name, definition.spread)

    def in_force(self) -> RevisionRecord | None:
        """Return the revision that decided the tick. A change at the same instant applies after the tick."""
        tick = to_datetime(self.tick)
        return next((revision for revision in self.revisions if revision.at < tick), None)

    def is_forgotten(self, revision: RevisionRecord) -> bool:
        """Return whether the next revision is no longer stored, so that the end of this one is unknown."""
        following = revision.revision + 1
        return following <= self.schedule.revision and self.revision(following) is None

    def deletion(self) -> RevisionRecord | None:
        """Return the deletion before the tick, unless the schedule was created again before the tick."""
        tick = to_datetime(self.tick)
        marks = (
            revision for revision in self.revisions if revision.at < tick and revision.action in ("create", "delete")
        )
        newest = next(marks, None)
        return newest if newest is not None and newest.action == "delete" else None

    def paused_then(self, due_at: int) -> PausePeriod | None:
        """Return the pause that was in effect when the tick became due."""
        return self._paused(to_datetime(due_at))

    def paused_now(self) -> PausePeriod | None:
        """Return the current pause of the schedule, with its start."""
        pause = self.schedule.pause
        if pause is None:
            return None
        recorded = self._paused(None)
        return PausePeriod(
            pause.by,
            pause.note,
            recorded.since if recorded else None,
            pause.until,
            recorded.before if recorded else None,
        )

    def _paused(self, before: datetime | None) -> PausePeriod | None:
        paused: PausePeriod | None = None
        for revision in reversed(self.revisions):
            if before is not None and revision.at >= before:
                break
            if revision.action == "pause":
                overlapping = paused is not None and paused.holds(to_seconds(revision.at))
                note = str(revision.detail.get("note") or "")
                until, earlier = revision.detail.get("until"), paused if overlapping else None
                paused = PausePeriod(revision.actor, note, revision.at, until, earlier)
            elif revision.action in ("resume", "create", "delete"):
                paused = None
        return paused

    def changed_before(self, due_at: int) -> RevisionRecord | None:
        """Return the first edit or deletion between the tick and its `due_at`, which may have voided it."""
        tick, due = to_datetime(self.tick), to_datetime(due_at)
        actions = ("update", "sync", "calendar", "delete")
        edits = (revision for revision in reversed(self.revisions) if revision.action in actions)
        return next((edit for edit in edits if tick <= edit.at < due), None)

    def overridden(self, tick: int) -> RevisionRecord | None:
        """Return the newest override of a tick, or its undo, which has neither an instant nor a payload."""
        tick_actions = (revision for revision in self.revisions if revision.action in _ABOUT_TICKS)
        return next((action for action in tick_actions if action.detail.get("tick") == tick), None)

    def moved(self, tick: int) -> RevisionRecord | None:
        """Return the newest move of a tick; None if it was undone."""
        newest = self.overridden(tick)
        return None if newest is None or newest.detail.get("to") is None else newest

    def moved_past(self, offset: int) -> RevisionRecord | None:
        """Return the newest move of an earlier tick past this one."""
        return next((m for m in self._moves() if m.detail["tick"] < self.tick <= m.detail["to"] - offset), None)

    def moved_to(self, due_at: int) -> RevisionRecord | None:
        """Return the newest move to an instant."""
        return next((revision for revision in self._moves() if revision.detail["to"] == due_at), None)

    def _moves(self) -> Iterator[RevisionRecord]:
        """Yield moves that were not undone, newest first."""
        for revision in self.revisions:
            if revision.action in _ABOUT_TICKS and self.moved(revision.detail["tick"]) is revision:
                yield revision


def readable(revision: RevisionRecord) -> Definition | None:
    """Decode the definition of a revision; None if it cannot be read."""
    try:
        return decode_definition(revision.definition)
    except InvalidError:
        return None
