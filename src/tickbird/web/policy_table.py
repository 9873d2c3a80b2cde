"""A definition as facts that people read: every field, whether it is a default, and what was set over the code."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tickbird.domain.schedules.codec import default_field, encode_field
from tickbird.domain.schedules.definition import FIELDS
from tickbird.domain.schedules.revision import RevisionRecord
from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.time.durations import duration_text
from tickbird.web.rendering import value

# Told elsewhere on the page.
_SHOWN_ELSEWHERE: Final = {"trigger", "target", "payload", "description", "tags", "depends_on"}
_LENGTHS: Final = {"grace", "start_within", "spread", "timeout"}
_CHOICES: Final[Mapping[tuple[str, Any], str]] = {
    ("catch_up", "one"): "one run stands for all ticks that were missed",
    ("catch_up", "latest"): "one run, of the newest tick that was missed",
    ("catch_up", "all"): "each tick that was missed runs, oldest first",
    ("catch_up", "skip"): "ticks that were missed are not run",
    ("overlap", "skip"): "a tick is skipped while a run is going on",
    ("overlap", "queue"): "one tick waits while a run is going on, the others are skipped",
    ("overlap", "replace"): "a new tick stops the run that is going on",
    ("overlap", "allow"): "runs go on side by side",
    ("on_crash", "retry"): "tried again when its worker is lost, up to three times",
    ("on_crash", "fail"): "never started twice, fails when its worker is lost",
    ("roll", "skip"): "ticks on closed days are skipped",
    ("roll", "previous"): "ticks on closed days go to the open day before",
    ("roll", "next"): "ticks on closed days go to the next open day",
    ("hold_above", None): "nothing is held",
    ("start_within", None): "no limit",
    ("max_runs", None): "no limit",
    ("timeout", None): "none",
    ("concurrency_key", None): "none",
    ("start_at", None): "at once",
    ("end_at", None): "never",
}
_MEANINGS: Final[Mapping[str, str]] = {
    "queue": "which workers take its runs",
    "priority": "higher ones are taken first",
    "catch_up": "after an outage",
    "catch_up_limit": "at most so many of an outage",
    "hold_above": "more missed ticks than these wait for a person",
    "grace": "how late a tick may be planned and still be on time",
    "start_within": "a run that has not started by then is cancelled",
    "overlap": "when runs meet",
    "max_concurrent": "runs at once",
    "spread": "each tick is due up to so much later",
    "start_at": "no ticks before",
    "end_at": "no ticks after",
    "max_runs": "ends after so many",
    "exclude": "days on which it does not run",
    "calendars": "calendars that close days",
    "roll": "on closed days",
    "retries": "other attempts after an error",
    "backoff": "before another attempt",
    "timeout": "a run is stopped after",
    "on_crash": "when a worker is lost",
    "concurrency_key": "runs of the same key share a limit",
    "shadow": "planned and recorded, but not run",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One field: what it is, in words, and what it was before somebody set it over the code."""

    name: str
    meaning: str
    text: str
    is_default: bool
    # What code declares, where an operator set something over it.
    declared: str | None = None


def facts_of(schedule: Schedule, declared: Mapping[str, Any] | None) -> Sequence[Fact]:
    """Every policy of a definition that can be read."""
    definition = schedule.definition
    if definition is None:
        return []
    found = []
    for name in FIELDS:
        if name in _SHOWN_ELSEWHERE:
            continue
        encoded, default = encode_field(name, getattr(definition, name)), default_field(name)
        over = None
        if name in schedule.field_overrides:
            over = "(not known)" if declared is None else _text(name, declared.get(name, default))
        found.append(
            Fact(
                name=name,
                meaning=_MEANINGS.get(name, ""),
                text=_text(name, encoded),
                is_default=encoded == default and over is None,
                declared=over,
            )
        )
    return found


def overridden(schedule: Schedule, declared: Mapping[str, Any] | None) -> Iterator[tuple[str, str]]:
    """What an operator set over the code among the fields that are told elsewhere, and what code declares."""
    for name in sorted(_SHOWN_ELSEWHERE & set(schedule.field_overrides)):
        yield name, "(not known)" if declared is None else value(declared.get(name, default_field(name)))


def declared_by(records: Sequence[RevisionRecord]) -> Mapping[str, Any] | None:
    """What code declared last; None where that is not among these revisions."""
    for record in records:
        if record.action in ("create", "sync"):
            found = record.detail.get("declared", record.definition)
            return found if isinstance(found, Mapping) else None
    return None


def _text(name: str, encoded: Any) -> str:
    try:
        known = _CHOICES.get((name, encoded))
    except TypeError:
        known = None
    if known is not None:
        return known if encoded is None else f"{encoded}: {known}"
    if name in _LENGTHS and isinstance(encoded, int) and not isinstance(encoded, bool):
        return duration_text(encoded) if encoded else "none"
    if name == "backoff" and isinstance(encoded, Mapping):
        base, maximum = encoded.get("base", 1), encoded.get("max", 300)
        if isinstance(base, int) and isinstance(maximum, int):
            return f"up to {duration_text(base)}, twice as much each time, at most {duration_text(maximum)}"
    if isinstance(encoded, bool):
        return "yes" if encoded else "no"
    if isinstance(encoded, list):
        return ", ".join(map(value, encoded)) or "none"
    return value(encoded)
