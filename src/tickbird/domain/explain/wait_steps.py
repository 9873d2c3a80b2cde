"""What a run waited for before it was queued: an operator, another run, a slot, a dependency."""

from __future__ import annotations

from tickbird.domain.explain.explanation import Step
from tickbird.domain.explain.run_steps import RunSteps, active_run_text, run_name, seconds_between
from tickbird.domain.limits.concurrency import ConcurrencyLimit
from tickbird.domain.messages import count
from tickbird.domain.runs.run import RunRecord
from tickbird.domain.time.durations import duration_text


class WaitSteps(RunSteps):
    """The steps about the wait of one run."""

    def seconds(self) -> float:
        """Return the seconds it waited for another run; 0 after a second attempt, which overwrites them."""
        since = self.run.released_at or self.run.created_at
        return 0.0 if self.attempts else max(0.0, seconds_between(since, self.run.available_at))

    def _blocker(self) -> RunRecord | None:
        """Return the run whose end released it, or the last one that ended before its release."""
        run = self.run
        ended = [
            other
            for other in (*self.context.others, *self.context.active, *self.context.needed)
            if other.id != run.id
            and other.finished_at is not None
            and run.created_at <= other.finished_at <= run.available_at
        ]
        return max(ended, key=lambda other: (other.finished_at or run.created_at, -other.id), default=None)

    def held(self) -> Step | None:
        run = self.run
        if run.held:
            limit = "" if self.definition is None else f" (hold_above={self.definition.hold_above})"
            text = (
                f"Held since {self.times(run.created_at)}, because the last outage left too many late ticks{limit}. "
                f"`tickbird release {run.schedule}` releases it, `tickbird drop {run.schedule}` cancels it."
            )
            return Step(False, "held", text, run.id, run.created_at)
        if run.released_at is None:
            return None
        text = f"Held until {run.released_by} released it at {self.times(run.released_at)}."
        return Step(False, "held", text, run.id, run.released_at)

    def undecided(self) -> Step | None:
        run = self.run
        if not run.undecided:
            return None
        text = (
            f"Waits for the answer whether attempt {run.attempt}, whose worker was lost, had its effect. With "
            f"`tickbird resolve {run.id} yes` it has succeeded, with `tickbird resolve {run.id} no` it is tried again."
        )
        return Step(False, "undecided", text, run.id, run.available_at)

    def waited(self) -> Step | None:
        run = self.run
        if run.held or run.undecided:
            return None
        if run.status == "waiting":
            return self.waiting()
        waited = self.seconds()
        if not waited:
            return None
        blocker = self._blocker()
        needed = blocker is not None and blocker.schedule_id != run.schedule_id
        rule = "" if needed else self._policy()
        text = f"Waited {duration_text(waited)} for {self._named(blocker)}, until {self.times(run.available_at)}{rule}."
        name = "dependency" if needed else "overlap"
        return Step(waited <= self.grace, name, text, blocker.id if blocker else None, run.available_at)

    def reason(self) -> str:
        """Describe what it waited for."""
        return self._named(self._blocker())

    def _named(self, blocker: RunRecord | None) -> str:
        """Name the blocker, with its schedule if that differs; without a row, name what it must have been."""
        if blocker is not None:
            of = f" of {blocker.schedule}" if blocker.schedule_id != self.run.schedule_id else ""
            return f"{run_name(blocker)}{of}"
        if self.run.concurrency_key is not None:
            return f"a slot of concurrency key {self.run.concurrency_key!r}"
        return "another run of its schedule"

    def waiting(self) -> Step:
        limit, definition = self.context.limit, self.definition
        if self.run.waiting_for_dependency:
            return self.dependencies.waiting(self.run)
        if limit is None or limit.active < limit.max_running:
            return self._waits_for_its_own()
        text = self._waits_for_slot(limit)
        active = sum(other.status != "waiting" for other in self.context.active if other.id != self.run.id)
        if definition is not None and definition.max_running is not None and active >= definition.max_running:
            own_wait = self._waits_for_its_own()
            text += f" {own_wait.text[:-1]} as well."
        holder = self.context.holders[0].id if self.context.holders else None
        return Step(False, "limit", text, holder, self.run.created_at)

    def _waits_for_slot(self, limit: ConcurrencyLimit) -> str:
        holders = self.context.holders
        named = ", ".join(active_run_text(other, self.times, whose=True) for other in holders[:3])
        more = f" and {limit.active - 3} more" if limit.active > 3 else ""
        others = f"; {count(limit.waiting, 'run')} wait for one" if limit.waiting > 1 else ""
        slots = f"all {limit.max_running} slots" if limit.max_running > 1 else "the only slot"
        return f"Waits for a slot of concurrency key {limit.key!r}: {slots} taken by {named}{more}{others}."

    def _waits_for_its_own(self) -> Step:
        run = self.run
        ahead = [other for other in self.context.active if other.id != run.id and other.status != "waiting"]
        aside = run.backfill_id is not None
        waiters = [
            other for other in self.context.active if other.status == "waiting" and not other.waiting_for_dependency
        ]
        earlier = sum(1 for other in waiters if aside or other.id < run.id)
        others = f", after {count(earlier, 'other waiting run')}" if earlier else ""
        if not ahead:
            text = f"Waits{others}, although no other run is active. The next maintenance step releases it."
            return Step(None, "overlap", text, None, run.created_at)
        named = " and ".join(active_run_text(other, self.times) for other in ahead[:3])
        more = f" and {len(ahead) - 3} more" if len(ahead) > 3 else ""
        turn = f" for its turn in backfill {run.backfill_id} and" if aside else ""
        text = f"Waits{turn} for {named}{more}{others}{self._policy()}."
        return Step(False, "overlap", text, ahead[0].id, run.created_at)

    def _policy(self) -> str:
        definition = self.definition
        if definition is None:
            return ""
        return f" (overlap={definition.overlap}, max_concurrent={definition.max_concurrent})"
