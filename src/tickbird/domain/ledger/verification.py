"""Verification: compares the ticks of a schedule's revisions with the decisions in its ledger.

Ticks are counted in closed form; the cost grows with the rows of the ledger, not with the ticks.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import floor

from tickbird.domain.explain.context import readable
from tickbird.domain.ledger.entries import LedgerEntry
from tickbird.domain.ledger.eras import GridEra, eras
from tickbird.domain.ledger.report import Kind, LedgerError, LedgerReport
from tickbird.domain.planning.pending_ticks import PendingTicks
from tickbird.domain.schedules.codec import ignored_reason
from tickbird.domain.schedules.grid import TickGrid
from tickbird.domain.schedules.revision import RevisionRecord
from tickbird.domain.schedules.schedule import Schedule, check_readable, ignored_error
from tickbird.domain.time.instants import to_seconds

# Maximum of listed findings; the others are only counted.
MAX_FINDINGS = 1_000


def _moves(revisions: Iterable[RevisionRecord]) -> list[tuple[int, int]]:
    """Return the moved ticks, and when each was moved."""
    moves = (revision for revision in revisions if revision.action in ("reschedule", "override"))
    return [(int(move.detail["tick"]), to_seconds(move.at)) for move in moves if move.detail.get("to") is not None]


class LedgerVerifier:
    """Checks the decisions of a schedule, given in the order of their ticks."""

    def __init__(
        self,
        schedule: Schedule,
        revisions: Sequence[RevisionRecord],
        first: int,
        last: int,
        now: float,
        pruned_until: int | None = None,
    ) -> None:
        """Verify first..last; rows up to `pruned_until` may have been pruned. ConflictError for an ignored schedule."""
        self._schedule = schedule
        self._now = now
        self._first, self._last = first, last
        self._pruned_until = pruned_until
        reached = schedule.cursor.planned_until
        # Ticks after the cursor are not decided, and may be decided under a later revision.
        if schedule.in_memory:
            # It has no cursor: its past ticks are decided, or there is no record of them.
            reached = max(reached or 0, floor(now))
        self._cap = first - 1 if reached is None else min(last, reached)
        self._revisions = {item.revision: item for item in revisions if item.revision <= schedule.revision}
        self._eras = eras(list(self._revisions.values()), self._cap)
        self._lowest = first - 1 if pruned_until is None else max(first - 1, pruned_until)
        self._check_readable()
        self._fold = _Fold(self._eras, self._revisions, self._lowest, self._cap)

    def _check_readable(self) -> None:
        """Raise ConflictError if this process ignores a definition of the range, because its ticks are unknown."""
        if self._schedule.state != "deleted":
            check_readable(self._schedule)
        for era in self._eras:
            revision = self._revisions[era.revision]
            if era.definition is None and era.until > self._lowest and ignored_reason(revision.definition):
                raise ignored_error(self._schedule.name, revision.definition)

    @property
    def reach(self) -> int:
        """The last tick to read: a later tick may have been moved to an earlier instant."""
        moved = [tick for tick, at in _moves(self._revisions.values()) if at <= self._cap]
        return max([self._cap, *moved])

    def take(self, decisions: Iterable[LedgerEntry]) -> None:
        """Add decisions, ordered by their first tick."""
        for decision in decisions:
            self._fold.take(decision)

    def finish(self) -> LedgerReport:
        fold = self._fold
        fold.end()
        waiting = self._undecided()
        born = self._eras[0].start if self._eras else None
        begins = [second for second in (born, self._pruned_until) if second is not None]
        start = self._lowest if born is None else max(self._lowest, born)
        return LedgerReport(
            schedule=self._schedule.name,
            first=start + 1 if start < self._cap else None,
            last=self._cap if start < self._cap else None,
            complete_from=max(begins) + 1 if begins else None,
            expected=fold.expected,
            runs=fold.runs,
            skipped=fold.skipped,
            open=waiting,
            findings=tuple(fold.findings),
            finding_count=fold.finding_count,
        )

    def _undecided(self) -> int:
        """Count the past ticks of the range after the cursor; late ones are a finding."""
        schedule = self._schedule
        reached = schedule.cursor.planned_until
        if reached is None or schedule.state not in ("active", "paused", "parked") or schedule.in_memory:
            return 0
        after, end = max(reached, self._first - 1), min(self._last, int(self._now))
        if schedule.definition is None:
            if end > after and schedule.state != "paused":
                text = "its definition cannot be read, so its due ticks are unknown"
                self._fold.report("undecided", after + 1, end, 0, text)
            return 0
        pending = PendingTicks(schedule)
        following = pending.next(reached)
        past = pending.count(after, end) if end > after else 0
        if not past or following is None:
            return 0
        decides = schedule.state in ("active", "parked")
        late = decides and self._now - schedule.due_at(following) > schedule.definition.grace
        reach = pending.decidable_until(end - schedule.offset)
        due = list(pending.segments(after, reach)) if late and reach > after else []
        if not due:
            return past
        count = sum(segment.count for segment in due)
        them = "it" if count == 1 else "them"
        text = f"{_ticks(count)} became due, but no worker has planned {them}"
        if schedule.state == "parked":
            text = (
                f"{_ticks(count)} became due while the schedule is parked: `tickbird resume` records {them} as skipped"
            )
        self._fold.report("undecided", due[0].first, due[-1].last, count, text)
        return past - count


class _Fold:
    """Compares eras and decisions in one pass."""

    def __init__(self, eras: list[GridEra], revisions: Mapping[int, RevisionRecord], lowest: int, cap: int) -> None:
        self._eras = eras
        self._revisions = revisions
        self._index = 0
        self._lowest = lowest
        self._cap = cap
        self.expected = self.runs = self.skipped = self.finding_count = 0
        self.findings: list[LedgerError] = []
        # Everything up to here has been compared.
        self._reached = max(lowest, eras[0].start) if eras else lowest
        self._moves = _moves(revisions.values())
        # Ticks that were backfilled and may have no other decision.
        self._backfilled: deque[int] = deque()
        # Ticks that were decided before their era began, with their decision; in order.
        self._early: list[tuple[int, LedgerEntry]] = []

    @property
    def _era(self) -> GridEra | None:
        return self._eras[self._index] if self._index < len(self._eras) else None

    def take(self, decision: LedgerEntry) -> None:
        """Process one decision; expected ticks before it without a decision are missing."""
        if decision.last <= self._lowest or self._is_of_earlier_row(decision):
            return
        if decision.cause == "backfill":
            self._take_backfill(decision)
            return
        if decision.cause == "invalid":
            self._go_to_repair(decision)
        while (era := self._era) is not None and decision.first > era.until and self._index + 1 < len(self._eras):
            self._leave()
        if era is None:
            return
        era = self._go_back(decision, era)
        if decision.last <= self._eras[0].start:
            # A schedule whose last tick was already past at its creation has one misfire skip.
            if decision.cause != "misfire":
                self._invented(decision, "before the schedule was created")
        elif decision.revision < era.revision and decision.first > era.start:
            # Decided before this era began, because it or a later tick was moved to an earlier instant.
            if any(tick >= decision.last and at <= era.start for tick, at in self._moves):
                self._take_early(decision, era)
            elif decision.first <= self._cap:
                self._invented(decision, f"at a time when its revision {decision.revision} was no longer in force")
        elif decision.first <= self._cap:
            self._compare(decision, era)

    def _is_of_earlier_row(self, decision: LedgerEntry) -> bool:
        """Return whether it was decided before the schedule was created.

        The decisions of a row stay if plain SQL deletes it and inserts the name again; its revisions do not.
        """
        return bool(self._eras) and max(decision.last, decision.decided_at) <= self._eras[0].start

    def _go_back(self, decision: LedgerEntry, era: GridEra) -> GridEra:
        """Return the era of the decision.

        If no planner pass comes between two SQL edits, the earlier grid stays in force.
        """
        while self._index and not era.decided and decision.revision < era.revision and decision.first > era.start:
            start = next((at for at in era.later_starts if at >= decision.first), None)
            if start is None:
                break
            before = self._eras[self._index - 1]
            before.until = era.start = min(start, era.until)
            if start >= era.until:
                del self._eras[self._index]
            self._index -= 1
            era = before
        return era

    def _compare(self, decision: LedgerEntry, era: GridEra) -> None:
        if era.grid is None:
            # The same misfire skip, for a schedule that was deleted and created again.
            if not (decision.cause == "misfire" and decision.revision > era.revision):
                self._invented(decision, "at a time when nothing had to be decided")
            return
        first = max(decision.first, self._lowest + 1)
        if not era.decided:
            self._reached = max(self._reached, min(first - 1, era.began_by))
        era.decided = True
        if first <= self._reached:
            self._overlap(decision, era.grid, first)
            first = self._reached + 1
        self._gap(era.grid, first - 1)
        self._count(decision, era.grid, first)
        for tick, early in self._pop_early(min(decision.last, self._cap)):
            self._twice(early, era.grid, tick)
        self._reached = max(self._reached, min(decision.last, self._cap))

    def _take_early(self, decision: LedgerEntry, era: GridEra) -> None:
        """Store a decision that was made early; it counts for the same ticks in this era."""
        ticks = [decision.first]
        if decision.count > 1:
            grid = self._grid_of(decision)
            ticks = [] if grid is None else _between(grid, decision.first - 1, decision.last)
        for tick in ticks:
            if self._lowest < tick <= self._reached:
                self._twice(decision, era.grid, tick)
            elif tick <= self._cap:
                insort(self._early, (tick, decision), key=lambda entry: entry[0])

    def _twice(self, decision: LedgerEntry, grid: TickGrid | None, tick: int) -> None:
        if grid is not None and grid.contains(tick):
            self.report("doubled", tick, tick, 1, f"{decision.name} decides 1 tick that has another decision", decision)

    def _pop_early(self, until: int) -> list[tuple[int, LedgerEntry]]:
        """Remove and return the early decisions up to an instant."""
        index = bisect_right(self._early, until, key=lambda entry: entry[0])
        taken, self._early = self._early[:index], self._early[index:]
        return taken

    def end(self) -> None:
        """Finish: all further expected ticks are missing."""
        while self._era is not None:
            self._leave()

    def report(
        self, kind: Kind, first: int, last: int, count: int, text: str, decision: LedgerEntry | None = None
    ) -> None:
        self.finding_count += 1
        if len(self.findings) < MAX_FINDINGS:
            run_id, skip_id = (decision.run_id, decision.skip_id) if decision else (None, None)
            self.findings.append(LedgerError(kind, first, last, count, text, run_id, skip_id))

    def _go_to_repair(self, decision: LedgerEntry) -> None:
        """Advance to the era after a repair.

        The skip of the missed ticks is on the repaired grid and starts at the cursor.
        """
        while (era := self._era) is not None and self._index + 1 < len(self._eras):
            if self._eras[self._index + 1].revision > decision.revision:
                return
            if decision.first > era.until:
                self._leave()
            else:
                self._index += 1
            self._reached = max(self._reached, decision.first - 1)

    def _leave(self) -> None:
        """Leave this era: the rest of its ticks have no decision."""
        era = self._eras[self._index]
        end = min(era.until, self._cap)
        if not era.decided:
            self._reached = max(self._reached, min(era.began_by, end))
        if era.grid is not None and not era.ends_early:
            self._gap(era.grid, end)
        self._reached = max(self._reached, end)
        self._index += 1

    def _gap(self, grid: TickGrid, until: int) -> None:
        """Report the ticks up to `until` without a decision, except early and backfilled ones."""
        decided = dict.fromkeys(self._pop_backfilled(until), True)
        decided |= {tick: decision.run_id is not None for tick, decision in self._pop_early(until)}
        for tick in sorted(decided):
            if tick > self._reached and grid.contains(tick):
                self._miss(grid, tick - 1)
                self.expected += 1
                self.runs += decided[tick]
                self.skipped += not decided[tick]
                self._reached = tick
        self._miss(grid, until)

    def _pop_backfilled(self, until: int) -> Iterator[int]:
        while self._backfilled and self._backfilled[0] <= until:
            yield self._backfilled.popleft()

    def _miss(self, grid: TickGrid, until: int) -> None:
        if self._era is not None and not self._era.is_complete:
            return
        missing = grid.range(self._reached, until) if until > self._reached else None
        if missing is not None:
            self.expected += missing.count
            text = f"no decision was recorded for {_ticks(missing.count)}"
            self.report("missing", missing.first, missing.last, missing.count, text)

    def _overlap(self, decision: LedgerEntry, grid: TickGrid, first: int) -> None:
        twice = grid.range(first - 1, min(decision.last, self._reached))
        if twice is not None:
            text = f"{decision.name} decides {_ticks(twice.count)} that {'was' if twice.count == 1 else 'were'} already"
            self.report("doubled", twice.first, twice.last, twice.count, f"{text} decided", decision)
        elif decision.first == decision.last:
            self._invented(decision, "off the grid in force")

    def _count(self, decision: LedgerEntry, grid: TickGrid, first: int) -> None:
        last = min(decision.last, self._cap)
        if first > last:
            return
        count = grid.count(first - 1, last)
        self.expected += count
        ends = {decision.first, decision.last}
        off = [end for end in sorted(ends) if not grid.contains(end)]
        if off:
            self._invented(decision, "off the grid in force", off[0])
            if decision.run_id is not None:
                return
        whole = grid.count(decision.first - 1, decision.last)
        if decision.run_id is not None:
            self.runs += count
        else:
            self.skipped += count
            if whole != decision.count and not off:
                text = f"{decision.name} has a count of {_ticks(decision.count)}, but its range has {whole:,}"
                self.report("miscounted", decision.first, decision.last, decision.count - whole, text, decision)

    def _invented(self, decision: LedgerEntry, where: str, at: int | None = None) -> None:
        first, last = (decision.first, decision.last) if at is None else (at, at)
        self.report("invented", first, last, 1, f"{decision.name} is {where}", decision)

    def _grid_of(self, decision: LedgerEntry) -> TickGrid | None:
        revision = self._revisions.get(decision.revision)
        definition = None if revision is None else readable(revision)
        return None if definition is None else definition.grid

    def _check_own(self, decision: LedgerEntry) -> None:
        grid = self._grid_of(decision)
        if grid is None or not grid.contains(decision.first):
            self._invented(decision, "off the grid of its revision")

    def _take_backfill(self, decision: LedgerEntry) -> None:
        """Check a backfill run: its tick may have another decision, and must be on the grid of its revision."""
        if decision.first <= self._cap:
            self._check_own(decision)
            self._backfilled.append(decision.first)


def _between(grid: TickGrid, after: int, until: int) -> list[int]:
    ticks: list[int] = []
    while (tick := grid.next(after)) is not None and tick <= until:
        ticks.append(tick)
        after = tick
    return ticks


def _ticks(count: int) -> str:
    return f"{count:,} tick" + ("" if count == 1 else "s")
