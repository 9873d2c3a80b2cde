"""What "why" is answered from: the rows that concern one instant of a schedule, and what they say of that time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from tickbird.domain.errors import InvalidError
from tickbird.domain.limits.concurrency import ConcurrencyLimit
from tickbird.domain.limits.rate_limits import QueuePosition
from tickbird.domain.runs.run import AttemptRecord, RunRecord, SkipRecord
from tickbird.domain.schedules.codec import decode_definition
from tickbird.domain.schedules.definition import Definition, spread_offset
from tickbird.domain.schedules.dependencies import LastSuccess
from tickbird.domain.schedules.revision import RevisionRecord
from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.time.instants import to_datetime, to_seconds
from tickbird.domain.workers import Worker

# What concerns single ticks; their detail names the tick.
_ABOUT_TICKS = ("reschedule", "override", "undo_override")


@dataclass(frozen=True, slots=True)
class PausePeriod:
    """A pause that held at some instant; `until` in seconds since the epoch."""

    by: str
    note: str
    since: datetime | None
    until: int | None
    # The one that held already when this one was made.
    before: PausePeriod | None = None

    def holds(self, due_at: int) -> bool:
        """Does a tick that is due then fall into it?"""
        return self.until is None or due_at <= self.until


@dataclass(frozen=True, slots=True, kw_only=True)
class RunContext:
    """What one run has to do with, as things stand."""

    now: datetime
    # The ended attempts of the run, and other runs that it, or a skip, has to do with.
    attempts: Sequence[AttemptRecord] = ()
    others: Sequence[RunRecord] = ()
    # Why the store is a copy in which nothing is planned or executed; empty if it is none.
    copy_reason: str = ""
    # As things stand now: active runs of the schedule, live workers, and what all workers are executing.
    active: Sequence[RunRecord] = ()
    workers: Sequence[Worker] = ()
    running: Sequence[RunRecord] = ()
    # Of a waiting run's concurrency key: its limit, and the runs that have its slots.
    limit: ConcurrencyLimit | None = None
    holders: Sequence[RunRecord] = ()
    # Of a queued run, what keeps it back in its queue.
    turn: QueuePosition | None = None
    # Of the schedules that it depends on or depended on: when each last succeeded, and runs of theirs that did.
    successes: Mapping[str, LastSuccess] = field(default_factory=dict)
    needed: Sequence[RunRecord] = ()
    # Those of them that are shadows now, and so run nothing.
    shadows: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainContext(RunContext):
    """Rows about one instant: `revisions` newest first, runs and skips whose ticks touch it, and what they name."""

    schedule: Schedule
    at: datetime
    # The zone whose clock the answer is told on; None: the schedule's own.
    tz: str | None = None
    revisions: Sequence[RevisionRecord] = ()
    runs: Sequence[RunRecord] = ()
    skips: Sequence[SkipRecord] = ()

    @property
    def tick(self) -> int:
        """The whole second that was asked about."""
        return to_seconds(self.at)

    @property
    def run(self) -> RunRecord | None:
        """The run of the tick itself."""
        tick = to_datetime(self.tick)
        return next((run for run in self.runs if run.scheduled_for == tick), None)

    @property
    def skip(self) -> SkipRecord | None:
        """The skip whose ticks include the instant, if it was on the grid of that time."""
        tick = to_datetime(self.tick)
        around = (skip for skip in self.skips if skip.first <= tick <= skip.last)
        # One that was recorded ahead of its time may lie between the ticks of another grid's skip.
        return min(around, key=lambda skip: skip.last - skip.first, default=None)

    def other(self, run_id: int | None) -> RunRecord | None:
        """A run by id, if it is still stored."""
        return next((run for run in (*self.runs, *self.active, *self.others) if run.id == run_id), None)

    def revision(self, number: int | None) -> RevisionRecord | None:
        """A revision by number."""
        return next((revision for revision in self.revisions if revision.revision == number), None)

    def definition(self, number: int | None) -> Definition | None:
        """The definition of a revision, where it can be read."""
        if number == self.schedule.revision:
            return self.schedule.definition
        revision = self.revision(number)
        return None if revision is None else readable(revision)

    def offset(self, definition: Definition) -> int:
        """Seconds from a tick to its `due_at` under a definition."""
        return spread_offset(self.schedule.namespace, self.schedule.name, definition.spread)

    def in_force(self) -> RevisionRecord | None:
        """The revision that decided about the tick: a change made at that very instant came after it."""
        tick = to_datetime(self.tick)
        return next((revision for revision in self.revisions if revision.at < tick), None)

    def is_forgotten(self, revision: RevisionRecord) -> bool:
        """Is the revision that replaced it no longer kept, so that nobody knows how long it was in force?"""
        following = revision.revision + 1
        return following <= self.schedule.revision and self.revision(following) is None

    def deletion(self) -> RevisionRecord | None:
        """The delete after which the tick came, unless the name was created again in between."""
        tick = to_datetime(self.tick)
        marks = (each for each in self.revisions if each.at < tick and each.action in ("create", "delete"))
        newest = next(marks, None)
        return newest if newest is not None and newest.action == "delete" else None

    def paused_then(self, due_at: int) -> PausePeriod | None:
        """The pause that held when the tick became due, however it ended since."""
        return self._paused(to_datetime(due_at))

    def paused_now(self) -> PausePeriod | None:
        """The pause that the schedule is in."""
        pause = self.schedule.pause
        if pause is None:
            return None
        known = self._paused(None)
        return PausePeriod(
            pause.by, pause.note, known.since if known else None, pause.until, known.before if known else None
        )

    def _paused(self, before: datetime | None) -> PausePeriod | None:
        paused: PausePeriod | None = None
        for revision in reversed(self.revisions):
            if before is not None and revision.at >= before:
                break
            if revision.action == "pause":
                going_on = paused is not None and paused.holds(to_seconds(revision.at))
                note = str(revision.detail.get("note") or "")
                until, earlier = revision.detail.get("until"), paused if going_on else None
                paused = PausePeriod(revision.actor, note, revision.at, until, earlier)
            elif revision.action in ("resume", "create", "delete"):
                paused = None
        return paused

    def changed_before(self, due_at: int) -> RevisionRecord | None:
        """The first edit or delete between the tick and its `due_at`, which may have voided it."""
        tick, due = to_datetime(self.tick), to_datetime(due_at)
        edits = (each for each in reversed(self.revisions) if each.action in ("update", "sync", "calendar", "delete"))
        return next((edit for edit in edits if tick <= edit.at < due), None)

    def overridden(self, tick: int) -> RevisionRecord | None:
        """The newest reschedule or override of a tick; or its undoing, which names neither instant nor payload."""
        about = (each for each in self.revisions if each.action in _ABOUT_TICKS and each.detail.get("tick") == tick)
        return next(about, None)

    def moved(self, tick: int) -> RevisionRecord | None:
        """What moved a tick last, unless it was undone."""
        newest = self.overridden(tick)
        return None if newest is None or newest.detail.get("to") is None else newest

    def moved_past(self, offset: int) -> RevisionRecord | None:
        """The newest move of an earlier tick that passes over this one."""
        return next((m for m in self._moves() if m.detail["tick"] < self.tick <= m.detail["to"] - offset), None)

    def moved_to(self, due_at: int) -> RevisionRecord | None:
        """The newest move to an instant."""
        return next((revision for revision in self._moves() if revision.detail["to"] == due_at), None)

    def _moves(self) -> Iterator[RevisionRecord]:
        """Moves that still hold, or held when their tick was decided; newest first."""
        for revision in self.revisions:
            if revision.action in _ABOUT_TICKS and self.moved(revision.detail["tick"]) is revision:
                yield revision


def readable(revision: RevisionRecord) -> Definition | None:
    """The definition of a revision; None when it cannot be read."""
    try:
        return decode_definition(revision.definition)
    except InvalidError:
        return None
