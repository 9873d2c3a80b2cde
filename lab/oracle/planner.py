"""One pass over a schedule: every due tick gets its fate, then its decision, one at a time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import floor

from lab.oracle.schedule import Schedule, TickDecision

_LATENESS = ("misfire", "late", "on_time")
_NO_SUCCESSES: Mapping[str, int | None] = {}


@dataclass(eq=False)
class Run:
    """A run that counts for overlap: one that is active before the pass, or a new one, which has no id."""

    id: int
    status: str
    of_tick: bool = True
    awaits: bool = False
    replaced: bool = False


@dataclass(eq=False)
class _NewRun(Run):
    decision: TickDecision = field(kw_only=True)
    stopped: Sequence[Run] = ()


@dataclass
class _Draft:
    """A preliminary decision about a tick: a later run of the same pass may replace its run."""

    tick: int
    fate: str
    run: _NewRun | None = None
    blocker: Run | None = None


@dataclass(frozen=True)
class PassResult:
    """The decisions in the order of their ticks, and the ids of the active runs that are cancelled or stopped."""

    decisions: Sequence[TickDecision] = ()
    cancelled: Sequence[int] = ()
    stopped: Sequence[int] = ()


def plan(
    schedule: Schedule,
    now: float,
    active: Iterable[Run] = (),
    *,
    held: bool = False,
    successes: Mapping[str, int | None] = _NO_SUCCESSES,
) -> PassResult:
    """Decide every due tick; `active` are its runs, oldest first, and `held` is whether there are held ones.

    `successes` has, for each schedule that exists, the second of its last success.
    """
    if schedule.next_wakeup is None or schedule.next_wakeup > now:
        return PassResult()
    paused: list[TickDecision] = []
    if schedule.state == "paused":
        until = schedule.next_wakeup
        schedule.state, schedule.paused_until = "active", None
        paused = schedule.pass_over("paused", until - 1 - schedule.offset)
        schedule.settle()
    if schedule.state != "active":
        return PassResult(paused)
    result = _Pass(schedule, now, active, held, successes).plan()
    return PassResult([*paused, *result.decisions], result.cancelled, result.stopped)


class _Pass:
    def __init__(
        self, schedule: Schedule, now: float, active: Iterable[Run], held: bool, successes: Mapping[str, int | None]
    ) -> None:
        self.schedule, self.spec, self.now = schedule, schedule.spec, now
        self.active = list(active)
        self.active_tick_runs = [run for run in self.active if run.of_tick]
        self.other_active_count = len(self.active) - len(self.active_tick_runs)
        self.held = held
        self.successes = successes
        self.drafts: dict[int, _Draft] = {}

    def plan(self) -> PassResult:
        self.drafts = {tick: _Draft(tick, fate) for tick, fate in self._fates()}
        late = [tick for tick, draft in self.drafts.items() if draft.fate == "late"]
        on_time = [tick for tick, draft in self.drafts.items() if draft.fate == "on_time"]
        holds = self.spec.hold_above is not None and (self.held or len(late) > self.spec.hold_above)
        self._catch_up(late, holds=holds)
        for tick in on_time:
            if (blocker := self._blocker()) is not None:
                self._skip([tick], "overlap", blocker)
            else:
                self._run(tick, "schedule")
        self._drop_replaced([] if holds else late)
        for draft in self.drafts.values():
            if draft.fate == "rescheduled" and (moved := self.schedule.passed_over_by(draft.tick)) is not None:
                draft.blocker = self.drafts[moved].run
        return self._finish()

    # Fates

    def _fates(self) -> Iterable[tuple[int, str]]:
        minimum, limit = 0, self.spec.start_limit
        for tick, why_not in self.schedule.pending(floor(self.now) - self.schedule.offset):
            if not why_not:
                seconds = self.now - self.schedule.due_at(tick)
                lateness = 0 if limit is not None and seconds > limit else 1 if seconds > self.spec.grace else 2
                # No tick is later than one that is decided before it.
                minimum = max(minimum, lateness)
            yield tick, why_not or self._fate(tick, _LATENESS[minimum])

    def _fate(self, tick: int, lateness: str) -> str:
        override = self.schedule.tick_overrides.get(tick)
        if (override is None or override.due_at is None) and self.spec.excludes(tick):
            return "calendar"
        if self.spec.shadow:
            return "shadow"
        if lateness == "misfire" or (lateness == "late" and self.spec.catch_up == "skip"):
            return "misfire"
        return "dependency" if self._awaits(tick) is None else lateness

    def _awaits(self, tick: int) -> tuple[tuple[str, int, int], ...] | None:
        """The successes that the run of a tick must wait for; None if it is too late for one of them."""
        awaits = []
        due_at = self.schedule.due_at(tick)
        for name, within, wait in self.spec.depends_on:
            last = self.successes.get(name)
            if last is not None and last >= due_at - within:
                continue
            if name not in self.successes or not wait or self.now > due_at + wait:
                return None
            awaits.append((name, due_at - within, due_at + wait))
        return tuple(awaits)

    # Decisions

    def _catch_up(self, late: list[int], *, holds: bool) -> None:
        if not late:
            return
        if self.spec.catch_up == "all":
            newest = late[-self.spec.catch_up_limit :]
            self._skip(late[: -len(newest)], "limit")
            for tick in newest:
                self._run(tick, "catch_up", held=holds)
        elif (blocker := self._blocker()) is not None:
            self._skip(late, "overlap", blocker)
        else:
            own_run_ticks = self._own_run_ticks(late)
            others = [tick for tick in late if tick not in own_run_ticks]
            label = next(iter(others if self.spec.catch_up == "one" else others[::-1]), None)
            covers = (others[0], others[-1], len(others)) if len(others) > 1 else None
            for tick in late:
                if tick == label or tick in own_run_ticks:
                    self._run(tick, "catch_up", covers if tick == label else None)
            if label is not None:
                self._skip([tick for tick in others if tick != label], "coalesced", self.drafts[label].run)

    def _own_run_ticks(self, late: list[int]) -> list[int]:
        """Late ticks with their own payload, which get their own run, if `max_runs` allows one for each."""
        overrides = self.schedule.tick_overrides
        own_run_ticks = [tick for tick in late if tick in overrides and overrides[tick].payload]
        fits = len(own_run_ticks) + (len(own_run_ticks) < len(late)) <= self.schedule.room
        return own_run_ticks if fits and self.spec.overlap != "replace" else []

    def _blocker(self) -> Run | None:
        """The run that makes the overlap policy refuse another one."""
        if self.spec.overlap in ("allow", "replace") or len(self.active_tick_runs) < self.spec.max_concurrent:
            return None
        if self.spec.overlap == "skip":
            return self.active_tick_runs[0]
        return next((run for run in self.active_tick_runs if run.status == "waiting"), None)

    def _skip(self, ticks: list[int], reason: str, blocker: Run | None = None) -> None:
        for tick in ticks:
            self.drafts[tick] = _Draft(tick, reason, blocker=blocker)

    def _run(self, tick: int, origin: str, covers: tuple[int, int, int] | None = None, *, held: bool = False) -> None:
        awaits = () if held else self._awaits(tick) or ()
        stopped: Sequence[Run] = ()
        maximum, waits_in_order = self.spec.max_concurrent, origin == "catch_up" and self.spec.catch_up == "all"
        if self.spec.overlap == "replace" and not waits_in_order and len(self.active_tick_runs) >= maximum:
            for run in self.active_tick_runs:
                run.replaced = run.status != "running"
            self.active_tick_runs = [run for run in self.active_tick_runs if not run.replaced]
            # A run that may never start stops no other run.
            stopped = () if awaits else self.active_tick_runs[: max(0, len(self.active_tick_runs) + 1 - maximum)]
        busy = self.other_active_count + sum(not run.awaits for run in self.active_tick_runs)
        waits = held or awaits or (self.spec.overlap != "allow" and busy >= maximum)
        due_at, limit = self.schedule.due_at(tick), self.spec.start_limit
        decision = TickDecision(
            tick,
            "run",
            origin=origin,
            status="waiting" if waits else "queued",
            due_at=due_at,
            start_by=None if limit is None else due_at + limit,
            covers=covers,
            held=held,
            awaits=awaits,
            override=self.schedule.tick_overrides.get(tick),
        )
        new = _NewRun(0, decision.status, awaits=bool(awaits), decision=decision, stopped=stopped)
        self.drafts[tick].run = new
        if not held:
            self.active_tick_runs.append(new)

    def _drop_replaced(self, late: list[int]) -> None:
        """A run that a later one of the same pass replaces is not created: its ticks are skipped instead."""
        replaced = [tick for tick, draft in self.drafts.items() if draft.run is not None and draft.run.replaced]
        if replaced:
            runs = (draft.run for draft in self.drafts.values() if draft.run is not None)
            first = next(run for run in runs if not run.replaced and not run.decision.held)
            self._skip(sorted({*replaced, *late}), "overlap", first)

    def _finish(self) -> PassResult:
        """Cut where `max_runs` ends, even before ticks that are skipped because of a run that is not created."""
        schedule = self.schedule
        runs = [draft.run for draft in self.drafts.values() if draft.run is not None]
        created = runs if schedule.spec.max_runs is None else runs[: int(schedule.room)]
        decisions: list[TickDecision] = []
        reached = schedule.planned_until
        for draft in self.drafts.values():
            if any(isinstance(run, _NewRun) and run not in created for run in (draft.run, draft.blocker)):
                break
            if draft.run is not None:
                decisions.append(draft.run.decision)
            elif draft.fate != "done":
                decisions.append(TickDecision(draft.tick, draft.fate, self._id(draft.blocker, created)))
            reached = draft.tick
        schedule.reach(reached)
        schedule.runs_planned += len(created)
        schedule.settle()
        replaces = any(not run.decision.held for run in created)
        cancelled = [run.id for run in self.active if run.replaced and replaces]
        return PassResult(decisions, cancelled, [run.id for new in created for run in new.stopped])

    def _id(self, run: Run | None, created: list[_NewRun]) -> int | None:
        if run is None:
            return None
        return -1 - created.index(run) if isinstance(run, _NewRun) else run.id
