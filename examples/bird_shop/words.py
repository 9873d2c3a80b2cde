"""One-line texts for runs, skips and schedules."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import datetime

from examples.bird_shop.snapshot import Activity, Kind, clock, plural
from tickbird.domain.runs.run import AttemptRecord, RunRecord, SkipRecord
from tickbird.domain.schedules.definition import Definition
from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.time.durations import duration_text

_SOON = 0.5
_MAX_LENGTH = 160

_REASONS = {
    "misfire": "too late",
    "coalesced": "covered by {run}",
    "overlap": "{run} is still active",
    "paused": "the schedule was paused",
    "calendar": "closed day",
    "limit": "more than catch_up_limit",
    "rescheduled": "the next tick was moved past it",
    "operator": "skipped by an operator",
    "invalid": "its definition could not be read",
    "zone_data": "its time had already passed with the previous time zone data",
    "edited": "its schedule changed before it was due",
    "shadow": "a shadow runs nothing",
    "deleted": "its schedule was deleted before it was due",
}
_SHORTER: tuple[tuple[str, str | Callable[[re.Match[str]], str]], ...] = (
    (r" seconds?\b", " s"),
    (r" minutes?\b", " min"),
    (r" hours?\b", " h"),
    (r"; or at\b", " or at"),
    (r" past the min$", " past"),
    (r"\(\w+/(?:\w+/)?(\w+)\)", lambda zone: str(zone[1]).replace("_", " ")),
)
_ATTEMPTS: dict[str, Kind] = {"lost": "lost", "drained": "requeued"}


def name_of(run: RunRecord) -> str:
    """Return the name of the schedule, or of the task if the run has no schedule."""
    return run.schedule or run.target.name


def planned(run: RunRecord) -> tuple[Kind, str]:
    """Describe why a run was created."""
    waits = ", waits for a slot" if run.status == "waiting" else ""
    tick = clock(run.scheduled_for) if run.scheduled_for else ""
    if run.origin == "schedule":
        return "tick", f"run {run.id} of {tick}{waits}"
    if run.origin == "catch_up":
        if run.covers is None:
            return "caught up", f"run {run.id} for the missed tick of {tick}{waits}"
        first, last = clock(run.covers.first), clock(run.covers.last)
        return "caught up", f"run {run.id} for {plural(run.covers.count, 'missed tick')}, {first} to {last}{waits}"
    asked = f", requested by {run.actor}" if run.actor else ""
    return "manual", f"run {run.id}{asked}{waits}"


def started(run: RunRecord) -> str:
    """Describe the started attempt, and its wait."""
    words = f"run {run.id}" + (f", attempt {run.attempt}" if run.attempt > 1 else "")
    if run.started_at is not None:
        late = (run.started_at - run.available_at).total_seconds()
        words += f", waited {duration_text(late)}" if late > _SOON else ""
    return words


def ended_attempt(run: RunRecord, attempt: AttemptRecord) -> tuple[Kind, str]:
    """Describe the end of an attempt that did not end the run."""
    words = f"run {run.id}, attempt {attempt.attempt}: {short_error(attempt.error) or attempt.outcome}"
    if run.status == "queued" and run.attempt == attempt.attempt:
        wait = (run.available_at - attempt.ended_at).total_seconds()
        words += f"; retry in {duration_text(wait)}" if wait > 0 else "; retry at once"
    return _ATTEMPTS.get(attempt.outcome, "retry"), words


def ended(run: RunRecord) -> tuple[Kind, str]:
    """Describe the end of a run."""
    attempts = f", attempt {run.attempt}" if run.attempt > 1 else ""
    if run.status == "succeeded":
        # A SQL function returns an object with a message.
        shown = run.result.get("message", run.result) if isinstance(run.result, dict) else run.result
        result = "" if shown is None else f": {shown}"
        return "ok", f"run {run.id}{attempts}, {_took(run)}{result}"[:_MAX_LENGTH]
    if run.status == "failed":
        return "failed", f"run {run.id}{attempts}: {short_error(run.error) or run.failure_kind or 'no reason recorded'}"
    # The planner cancels a run only if a newer tick replaces it.
    replaced = "replaced by a newer tick" if run.cancel_requested_by == "planner" else ""
    return "cancelled", f"run {run.id}: {replaced or run.reason or 'no reason recorded'}"[:_MAX_LENGTH]


def skipped(skip: SkipRecord, count: int) -> str:
    """Describe newly skipped ticks, with the reason."""
    which = clock(skip.last) if count == 1 else f"{plural(count, 'tick')} up to {clock(skip.last)}"
    why = _REASONS[skip.reason].format(run="a run" if skip.run_id is None else f"run {skip.run_id}")
    note = f" ({skip.note})" if skip.note else ""
    return f"{which} {skip.reason}: {why}{note}"


def doing(schedule: Schedule, active: Sequence[RunRecord], now: datetime, *, full: bool) -> tuple[Activity, str]:
    """Describe the current activity of a schedule; `full` if no slot is free."""
    running = [run for run in active if run.status == "running"]
    queued = [run for run in active if run.status == "queued"]
    waiting = sum(run.status == "waiting" for run in active)
    more = [f"{waiting} {'waits' if waiting == 1 else 'wait'}"] if waiting else []
    if running:
        oldest = running[0]
        stopping = oldest.cancel_requested_at is not None
        words = "stopping" if stopping else "running" if len(running) == 1 else f"{len(running)} running"
        words += f" {seconds_since(oldest.started_at, now)}" + (f" try {oldest.attempt}" if oldest.attempt > 1 else "")
        more += [f"{len(queued)} queued"] if queued else []
        return "stopping" if stopping else "running", ", ".join([words, *more])
    if queued:
        run = queued[0]
        wait = (run.available_at - now).total_seconds()
        if run.failures and wait > 0:
            return "retrying", ", ".join([f"try {run.attempt + 1} in {wait:.0f} s", *more])
        late = f" {-wait:.0f} s" if wait < -1 else ""
        words = "no slot" if full else "queued"
        words = f"{words}{late}" if len(queued) == 1 else f"{len(queued)} {words}{late}"
        return "waiting", ", ".join([words, *more])
    if waiting:
        return "waiting", more[0]
    if schedule.state == "paused":
        return "paused", f"paused by {schedule.pause.by}" if schedule.pause else "paused"
    if schedule.state == "parked":
        return "parked", f"parked: {schedule.error}"
    if schedule.state == "ended":
        return "ended", "ended"
    return "idle", "idle"


def policy(definition: Definition | None) -> str:
    """Return the policies that differ from the defaults, and two that are always shown."""
    if definition is None:
        return ""
    words = [f"overlap {definition.overlap}", f"catch up {definition.catch_up}"]
    if definition.retries:
        words.append(f"{definition.retries} retries" if definition.retries > 1 else "1 retry")
    if definition.timeout:
        words.append(f"timeout {duration_text(definition.timeout)}")
    if definition.spread:
        words.append(f"spread {duration_text(definition.spread)}")
    if definition.exclude or definition.calendars:
        words.append("calendar")
    if definition.priority:
        words.append(f"priority {definition.priority}")
    return ", ".join(words)


def when(definition: Definition | None) -> str:
    """Return a short text of the trigger: units as symbols, time zones by city."""
    if definition is None:
        return ""
    text = definition.trigger.describe()
    for long, short in _SHORTER:
        text = re.sub(long, short, text)
    return text[:1].lower() + text[1:]


def short_error(error: str | None) -> str:
    """Return the last line of a traceback: the error."""
    lines = [line.strip() for line in (error or "").splitlines() if line.strip()]
    return lines[-1][:_MAX_LENGTH] if lines else ""


def seconds_since(at: datetime | None, now: datetime) -> str:
    """Return the elapsed time with one decimal."""
    return "" if at is None else f"{max(0.0, (now - at).total_seconds()):.1f} s"


def _took(run: RunRecord) -> str:
    return "never started" if run.duration is None else f"{run.duration:.1f} s"
