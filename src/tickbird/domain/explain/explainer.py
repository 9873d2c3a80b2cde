"""Base of all explanations: steps about the revision, the grid, the calendar, pauses and moves."""

from __future__ import annotations

from datetime import UTC, date, datetime

from tickbird.domain.calendars.calendar import BUILT_IN, WEEKDAYS
from tickbird.domain.explain.context import ExplainContext, PausePeriod, readable
from tickbird.domain.explain.explanation import Explanation, Step, TimeFormatter, Verdict
from tickbird.domain.messages import folded
from tickbird.domain.runs.run import Status
from tickbird.domain.schedules.definition import Definition
from tickbird.domain.schedules.revision import RevisionRecord
from tickbird.domain.schedules.rolled_grid import RolledGrid
from tickbird.domain.time.durations import duration_text
from tickbird.domain.time.instants import to_datetime


class Explainer:
    """Collects the steps about one instant."""

    def __init__(self, context: ExplainContext) -> None:
        self.context = context
        self.schedule = context.schedule
        self.tick = context.tick
        self.steps: list[Step] = []
        self.decided_by: int | None = None
        self.definition: Definition | None = None
        self.times = TimeFormatter(context.tz or "UTC")

    def _go_by(self, definition: Definition | None) -> None:
        self.definition = definition
        usable = definition or self.schedule.definition
        if usable is not None and self.context.tz is None:
            self.times = TimeFormatter(usable.trigger.tz)

    def _definition_of(self, revision: int | None) -> Definition | None:
        """Return the definition of a decision; if its revision is gone, the one in force then, or the current one."""
        definition = self.context.definition(revision)
        if definition is None and (then := self.context.in_force()) is not None:
            definition = readable(then)
        return definition or self.schedule.definition

    def _due_at(self, definition: Definition) -> int:
        moved = self.context.moved(self.tick)
        return self.tick + self.context.offset(definition) if moved is None else int(moved.detail["to"])

    def _step(self, ok: bool | None, name: str, text: str, run: int | None = None, at: int | None = None) -> None:
        self.steps.append(Step(ok, name, text, run, None if at is None else to_datetime(at)))

    def _explanation(self, verdict: Verdict, sentence: str, run_id: int | None = None) -> Explanation:
        return Explanation(
            schedule=self.schedule.name,
            at=self.context.at.astimezone(UTC),
            verdict=verdict,
            sentence=sentence,
            steps=tuple(self.steps),
            run_id=run_id,
            revision=self.decided_by,
        )

    def _existed(self, number: int | None, verb: str = "was") -> None:
        """Add the step that names the revision."""
        self.decided_by = number
        revision = self.context.revision(number)
        if revision is None:
            text = f"Revision {number} {verb} in force." if number else "The schedule exists."
        else:
            change = f"{revision.action} by {revision.actor} at {self.times(revision.at)}"
            text = f"Revision {number} ({change}) {verb} in force."
        self.steps.append(Step(True, "schedule", text, None, revision.at if revision else None))

    def _on_grid(self, definition: Definition) -> None:
        self._step(True, "grid", f"On the grid: {definition.trigger.describe()}.", at=self.tick)
        if window := self._window(definition):
            self._step(True, "window", f"Inside its window: {window}.")
        self._rolled(definition)

    def _window(self, definition: Definition) -> str:
        parts = []
        if definition.start_at is not None:
            parts.append(f"from {self.times(definition.start_at)}")
        if definition.end_at is not None:
            parts.append(f"until {self.times(definition.end_at)}")
        return " ".join(parts)

    def _excluded_day(self, definition: Definition) -> str:
        """Describe the excluded day of the tick; empty if the day is open."""
        if not definition.grid.excludes(self.tick):
            return ""
        day = self.times.local(to_datetime(self.tick)).date()
        return closed_day(definition, day)

    def _rolled(self, definition: Definition) -> None:
        """Add a step for each closed day from which the tick was rolled."""
        if not isinstance(definition.grid, RolledGrid):
            return
        for origin in sorted(definition.grid.origins(self.tick)):
            closed = closed_day(definition, self.times.local(to_datetime(origin)).date())
            text = f"The tick of {self.times(origin)} runs here: {closed}, and roll={definition.roll}."
            self._step(None, "calendar", text, at=origin)

    def _calendar_allows(self, definition: Definition) -> None:
        if definition.closed_days:
            self._step(True, "calendar", "Its calendars do not exclude the day.")

    def _pause(self, paused: PausePeriod, tense: str) -> str:
        text = f"{tense} by {paused.by}"
        if paused.since is not None:
            text += f" since {self.times(paused.since)}"
        if paused.until is not None:
            text += f" until {self.times(paused.until)}"
        text += noted(paused.note)
        first = paused.before
        while first is not None and first.before is not None:
            first = first.before
        if first is not None and first.since is not None:
            text += f", paused before by {first.by} since {self.times(first.since)}{noted(first.note)}"
        return text

    def _move(self, moved: RevisionRecord | None, due_at: int) -> str:
        """Add the step about a move or the spread; return a clause about the move."""
        assert self.definition is not None
        offset = self.context.offset(self.definition)
        if moved is not None:
            text = f"Moved from {self.times(self.tick)} to {self.times(due_at)} by {moved.actor}"
            text += noted(str(moved.detail.get("note") or ""))
            self.steps.append(Step(None, "reschedule", f"{text}.", None, moved.at))
            return f", moved from {self.times(self.tick)} by {moved.actor}"
        if due_at != self.tick + offset:
            self._step(None, "reschedule", f"Moved from {self.times(self.tick)} to {self.times(due_at)}.", at=due_at)
        elif offset:
            spread = duration_text(self.definition.spread)
            when = f"{duration_text(offset)} after the tick, at {self.times(due_at)}"
            text = f"Due {when}: its offset within a spread of {spread}."
            self._step(None, "spread", text, at=due_at)
        return ""

    def _payload(self, actor: str, note: str, at: datetime) -> str:
        """Add the step about a changed payload; return a clause about it."""
        self.steps.append(Step(None, "payload", f"{actor} changed its payload{noted(note)}.", None, at))
        return f", with a payload changed by {actor}"

    def _past_this(self, tick: int, due_at: int, moved: RevisionRecord | None) -> str:
        by = f" by {moved.actor}{noted(str(moved.detail.get('note') or ''))}" if moved is not None else ""
        return f"tick {self.times(tick)} was moved to {self.times(due_at)}{by}, past this one"


def closed_day(definition: Definition, day: date) -> str:
    """Describe a closed day and the rules that close it."""
    named = f"{WEEKDAYS[day.weekday()].capitalize()} {day.isoformat()} in {definition.trigger.tz}"
    if definition.exclude.excludes(day.toordinal()):
        return f"{named} is excluded ({definition.exclude.rule(day)})"
    by = [
        f"calendar {name}: {calendar.rule(day)}"
        for name, calendar in {**BUILT_IN, **definition.closed}.items()
        if name in definition.calendars and calendar.excludes(day.toordinal())
    ]
    return f"{named} is closed ({'; '.join(by) or 'it does not exist'})"


def status_phrase(status: Status) -> str:
    return {"waiting": "is waiting", "queued": "is queued", "running": "is running", "cancelled": "was cancelled"}.get(
        status, status
    )


def noted(note: str) -> str:
    return f": “{folded(note)}”" if note else ""
