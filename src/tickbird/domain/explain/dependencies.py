"""Dependencies of a tick: which schedules it needs, when they last succeeded, and which success would satisfy it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from tickbird.domain.explain.context import RunContext
from tickbird.domain.explain.explanation import Step, TimeFormatter
from tickbird.domain.runs.run import RunRecord
from tickbird.domain.schedules.definition import Definition
from tickbird.domain.schedules.dependencies import After
from tickbird.domain.time.durations import duration_text
from tickbird.domain.time.instants import to_datetime

_SHADOW = "a shadow (shadow=true), which never runs"
_NONE_BEFORE = "its recorded successes are later"


class DependencyExplainer:
    """Explains the dependencies of one tick."""

    def __init__(self, definition: Definition | None, due_at: int, context: RunContext, times: TimeFormatter) -> None:
        self.depends_on = definition.depends_on if definition is not None else ()
        self.due_at = due_at
        self.context = context
        self.times = times

    def skipped(self, note: str, decided_at: datetime) -> str:
        """Explain the skip; `note` names the schedules that had not succeeded."""
        reasons = [self._not_met(name, decided_at) for name in note.split(", ")]
        return "; ".join(reasons) if self.depends_on else f"{note} had not succeeded in time"

    def _not_met(self, name: str, decided_at: datetime) -> str:
        dependency = self._of(name)
        if dependency is None:
            return f"{name} had not succeeded in time"
        since, last = self._since(dependency), self._last(name, decided_at)
        text = f"{name} had not succeeded since {since} ({_rule(dependency)}): {last}"
        late = f", and the wait ended at {self.times(self.due_at + dependency.wait)}" if dependency.wait else ""
        return f"{text}{late}; a success since then would have let this tick run"

    def waiting(self, run: RunRecord) -> Step:
        """Describe the dependencies that a run waits for, with their deadlines."""
        unmet = [dependency for dependency in self.depends_on if dependency.wait and not self._met(dependency)]
        reasons = [
            f"{dependency.schedule} to succeed, by {self.times(self.due_at + dependency.wait)} ({_rule(dependency)}); "
            f"{self._last(dependency.schedule)}"
            for dependency in unmet
        ]
        text = "Waits for " + (" and for ".join(reasons) or "another schedule to succeed")
        return Step(False, "dependency", f"{text}.", None, run.created_at)

    def met(self, run: RunRecord) -> Iterator[Step]:
        """Yield the successes that released a run, if they are still stored."""
        for dependency in self.depends_on:
            success = self.last_success(dependency.schedule, run.available_at)
            if (
                success is not None
                and success.finished_at is not None
                and self._counts(dependency, success.finished_at)
            ):
                at = self.times(success.finished_at)
                text = f"{dependency.schedule} succeeded at {at} as run {success.id} ({_rule(dependency)})."
                yield Step(True, "dependency", text, success.id, success.finished_at)

    def cancelled(self, error: str | None) -> str:
        """Explain why a waiting run was cancelled."""
        names = (error or "").removeprefix("waited for ") or "another schedule"
        until = [
            self.due_at + dependency.wait for dependency in self.depends_on if dependency.schedule in names.split(", ")
        ]
        by = f" by {self.times(min(until))}" if until else " in time"
        return f"{names} had not succeeded{by}, and the wait ended (dependency)"

    def to_come(self) -> tuple[list[Step], str]:
        """Return the steps of a future tick, and a clause with its unmet dependencies."""
        steps, missing = [], []
        for dependency in self.depends_on:
            since, last = self._since(dependency), self._last(dependency.schedule)
            if dependency.schedule not in self.context.successes:
                steps.append(Step(False, "dependency", f"Needs {dependency.schedule}, which does not exist."))
            elif self._met(dependency):
                steps.append(Step(True, "dependency", f"Needs {dependency.schedule} since {since}: {last}."))
                continue
            else:
                fate = f"waits until {self.times(self.due_at + dependency.wait)}" if dependency.wait else "is skipped"
                text = f"Needs {dependency.schedule} to succeed after {since}, otherwise it {fate}: {last}."
                steps.append(Step(None, "dependency", text))
            never = f" (but it is {_SHADOW})" if dependency.schedule in self.context.shadows else ""
            missing.append(f"{dependency.schedule} succeeds after {since}{never}")
        return steps, f", provided that {' and '.join(missing)}" if missing else ""

    def last_success(self, name: str, before: datetime) -> RunRecord | None:
        """Return the last run of a schedule that succeeded by an instant; None if it is not stored."""
        ended = [
            run
            for run in self.context.needed
            if run.schedule == name and run.finished_at is not None and run.finished_at <= before
        ]
        return max(ended, key=lambda run: (run.finished_at or before, run.id), default=None)

    def _of(self, name: str) -> After | None:
        return next((dependency for dependency in self.depends_on if dependency.schedule == name), None)

    def _since(self, dependency: After) -> str:
        return self.times(self.due_at - dependency.within)

    def _counts(self, dependency: After, at: datetime) -> bool:
        return at >= to_datetime(self.due_at - dependency.within)

    def _met(self, dependency: After) -> bool:
        last = self.context.successes.get(dependency.schedule)
        return last is not None and last.at is not None and last.at >= self.due_at - dependency.within

    def _last(self, name: str, before: datetime | None = None) -> str:
        """Describe the last success of a schedule (with `before`: as of then), and whether it is a shadow."""
        last = self._succeeded(name, before)
        if name not in self.context.shadows:
            return last
        recorded_at = self.context.successes[name].at
        return f"it is {_SHADOW}" if recorded_at is None else f"{last}, and now it is {_SHADOW}"

    def _succeeded(self, name: str, before: datetime | None) -> str:
        if name not in self.context.successes:
            return "there is no such schedule"
        last = "last succeeded" if before is None else "had last succeeded"
        if (run := self.last_success(name, before or self.context.now)) is not None and run.finished_at is not None:
            return f"it {last} at {self.times(run.finished_at)} as run {run.id}"
        recorded_at = self.context.successes[name].at
        if recorded_at is not None and (before is None or to_datetime(recorded_at) <= before):
            return f"it {last} at {self.times(recorded_at)}"
        return f"it {'has' if before is None else 'had'} never succeeded" if recorded_at is None else _NONE_BEFORE


def _rule(dependency: After) -> str:
    within = duration_text(dependency.within) if dependency.within else "0 s"
    return f"depends_on: within {within}" + (f", wait {duration_text(dependency.wait)}" if dependency.wait else "")
