"""What a tick needed of other schedules, in words: which, when they last succeeded, and what would have met it."""

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

_SHADOW = "a shadow (shadow=true), of which nothing runs"
_NONE_BEFORE = "the successes of it that are known came later"


class DependencyExplainer:
    """The dependencies of one tick, by when it is or was due."""

    def __init__(self, definition: Definition | None, due_at: int, context: RunContext, times: TimeFormatter) -> None:
        self.depends_on = definition.depends_on if definition is not None else ()
        self.due_at = due_at
        self.context = context
        self.times = times

    def skipped(self, note: str, decided_at: datetime) -> str:
        """Why the tick was skipped; the note names the schedules that had not succeeded."""
        told = [self._not_met(name, decided_at) for name in note.split(", ")]
        return "; ".join(told) if self.depends_on else f"{note} had not succeeded in time"

    def _not_met(self, name: str, decided_at: datetime) -> str:
        each = self._of(name)
        if each is None:
            return f"{name} had not succeeded in time"
        text = f"{name} had not succeeded since {self._since(each)} ({_rule(each)}): {self._last(name, decided_at)}"
        late = f", and waiting was over at {self.times(self.due_at + each.wait)}" if each.wait else ""
        return f"{text}{late}; any success of it from then on would have let this tick run"

    def waiting(self, run: RunRecord) -> Step:
        """What a run waits for, and until when."""
        open_ = [each for each in self.depends_on if each.wait and not self._met(each)]
        told = [
            f"{each.schedule} to succeed, by {self.times(self.due_at + each.wait)} ({_rule(each)}); "
            f"{self._last(each.schedule)}"
            for each in open_
        ]
        text = "Waits for " + (" and for ".join(told) or "another schedule to succeed")
        return Step(False, "dependency", f"{text}.", None, run.created_at)

    def met(self, run: RunRecord) -> Iterator[Step]:
        """The successes that let a run be queued, where they are still stored."""
        for each in self.depends_on:
            found = self.success(each.schedule, run.available_at)
            if found is not None and found.finished_at is not None and self._counts(each, found.finished_at):
                text = (
                    f"{each.schedule} succeeded at {self.times(found.finished_at)} as run {found.id} ({_rule(each)})."
                )
                yield Step(True, "dependency", text, found.id, found.finished_at)

    def cancelled(self, error: str | None) -> str:
        """Why a run that waited was cancelled."""
        names = (error or "").removeprefix("waited for ") or "another schedule"
        until = [self.due_at + each.wait for each in self.depends_on if each.schedule in names.split(", ")]
        by = f" by {self.times(min(until))}" if until else " in time"
        return f"{names} had not succeeded{by}, for which it waited (dependency)"

    def to_come(self) -> tuple[list[Step], str]:
        """What a tick to come needs, as things stand; and for the sentence, what is still missing."""
        steps, missing = [], []
        for each in self.depends_on:
            since, last = self._since(each), self._last(each.schedule)
            if each.schedule not in self.context.successes:
                steps.append(Step(False, "dependency", f"Needs {each.schedule}, which does not exist."))
            elif self._met(each):
                steps.append(Step(True, "dependency", f"Needs {each.schedule} since {since}: {last}."))
                continue
            else:
                fate = f"waits until {self.times(self.due_at + each.wait)}" if each.wait else "is skipped"
                text = f"Needs {each.schedule} to succeed from {since} on, else it {fate}: {last}."
                steps.append(Step(None, "dependency", text))
            vain = f", which it does not while it is {_SHADOW}" if each.schedule in self.context.shadows else ""
            missing.append(f"{each.schedule} succeeds from {since} on{vain}")
        return steps, f", provided that {' and '.join(missing)}" if missing else ""

    def success(self, name: str, before: datetime) -> RunRecord | None:
        """The last run of a schedule that succeeded up to an instant, if it is still stored."""
        ended = [
            run
            for run in self.context.needed
            if run.schedule == name and run.finished_at is not None and run.finished_at <= before
        ]
        return max(ended, key=lambda run: (run.finished_at or before, run.id), default=None)

    def _of(self, name: str) -> After | None:
        return next((each for each in self.depends_on if each.schedule == name), None)

    def _since(self, each: After) -> str:
        return self.times(self.due_at - each.within)

    def _counts(self, each: After, at: datetime) -> bool:
        return at >= to_datetime(self.due_at - each.within)

    def _met(self, each: After) -> bool:
        last = self.context.successes.get(each.schedule)
        return last is not None and last.at is not None and last.at >= self.due_at - each.within

    def _last(self, name: str, before: datetime | None = None) -> str:
        """When a schedule last succeeded, so far; or had, at an instant; and that as a shadow it does not."""
        last = self._succeeded(name, before)
        if name not in self.context.shadows:
            return last
        noted = self.context.successes[name].at
        return f"it is {_SHADOW}" if noted is None else f"{last}, and now it is {_SHADOW}"

    def _succeeded(self, name: str, before: datetime | None) -> str:
        if name not in self.context.successes:
            return "there is no such schedule"
        last = "last succeeded" if before is None else "had last succeeded"
        if (found := self.success(name, before or self.context.now)) is not None and found.finished_at is not None:
            return f"it {last} at {self.times(found.finished_at)} as run {found.id}"
        noted = self.context.successes[name].at
        if noted is not None and (before is None or to_datetime(noted) <= before):
            return f"it {last} at {self.times(noted)}"
        return f"it {'has' if before is None else 'had'} never succeeded" if noted is None else _NONE_BEFORE


def _rule(each: After) -> str:
    within = duration_text(each.within) if each.within else "0 s"
    return f"depends_on: within {within}" + (f", wait {duration_text(each.wait)}" if each.wait else "")
