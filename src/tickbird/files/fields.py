"""What a schedule may have in a file: one table, from which files are read, written, and described to editors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from tickbird.domain.schedules.definition import FIELDS as STORED
from tickbird.domain.schedules.definition import CatchUp, OnCrash, Overlap, Roll

Kind = Literal[
    "text", "choice", "whole", "length", "flag", "names", "days", "instant", "payload", "backoff", "dependencies"
]


@dataclass(frozen=True, slots=True)
class Field:
    """A policy of a schedule: its name in code, in files and on the command line, what it takes, and what it does."""

    name: str
    kind: Kind
    about: str
    choices: tuple[str, ...] = ()
    # Fields without which nothing can be said of this one: while one of them is wrong, this one is not looked at.
    relies: tuple[str, ...] = ()
    # May be false: then there is none, whatever the task declares. TOML has no null.
    can_be_none: bool = False


TRIGGERS = {
    "cron": "A cron expression, five fields or six with seconds first, such as 0 3 * * *.",
    "every": "A step such as 10m, 1h30m or 1d; or an object such as { months = 1 }.",
    "rrule": "A recurrence rule of iCalendar, such as FREQ=MONTHLY;BYDAY=-1FR.",
    "at": "One instant, such as 2026-12-24T18:00:00Z; without an offset, on the clock of tz.",
    "any_of": "Several triggers, of which any may tick: a list of objects.",
}
BESIDE = {
    "tz": "The zone whose clock the trigger goes by, such as Europe/Rome; else UTC.",
    "anchor": "Where the steps of `every` are counted from; else 1970-01-01T00:00.",
    "dtstart": "The first possible tick of `rrule`, on the clock of tz; else 1970-01-01T00:00.",
    "exdate": "Ticks of `rrule` to leave out: a list of dates with times.",
    "rdate": "Ticks that `rrule` has besides: a list of dates with times.",
}
# Exactly one of these: what a run does.
TARGETS = {
    "task": "The name of the task to run, as a worker has it.",
    "command": "A program to start, where a worker allows it: a list of its path and arguments, or an object.",
}

TABLE = (
    Field("description", "text", "What it is for."),
    Field("payload", "payload", "What each run is given: an object, or a text that holds one as JSON."),
    Field("tags", "names", "Words to find it by."),
    Field("queue", "text", "The queue that its runs stand in; else that of the task, or default."),
    Field("priority", "whole", "Runs with a higher priority start first; -1000 to 1000 (default: the task's, or 0)."),
    Field("catch_up", "choice", "What becomes of late ticks.", get_args(CatchUp)),
    Field("catch_up_limit", "whole", "With catch_up = all, so many of the newest late ticks run; else 100."),
    Field("hold_above", "whole", "More late ticks than these wait for a person.", relies=("catch_up",)),
    Field("grace", "length", "A tick planned later than this is late; else 10s."),
    Field("start_within", "length", "A run that has not started by then is cancelled."),
    Field("overlap", "choice", "What becomes of a tick while a run goes on.", get_args(Overlap)),
    Field("max_concurrent", "whole", "So many of its runs may go on at once; else 1."),
    Field("spread", "length", "Runs are due up to so much later, each schedule at its own moment."),
    Field("start_at", "instant", "No tick before this instant."),
    Field("end_at", "instant", "No tick after this instant.", relies=("start_at",)),
    Field("max_runs", "whole", "It ends after so many runs."),
    Field("exclude", "days", "Weekdays and dates on which it does not run: sat, 2026-12-25."),
    Field("calendars", "names", "Names of calendars on whose closed days it does not run."),
    Field("roll", "choice", "Where a tick of a closed day goes.", get_args(Roll), relies=("trigger",)),
    Field("retries", "whole", "How often a run that failed is tried again; else as the task declares, or 0."),
    Field(
        "backoff",
        "backoff",
        "The first wait before another attempt, or an object with base and max; else that of the task.",
    ),
    Field(
        "timeout",
        "length",
        "The longest time that an attempt may take; false: no limit (default: the task's, or none).",
        can_be_none=True,
    ),
    Field(
        "on_crash",
        "choice",
        "What becomes of a run whose worker was lost; else as the task declares, or retry.",
        get_args(OnCrash),
    ),
    Field(
        "concurrency_key",
        "text",
        "Runs with the same key share a limit; false: no key. Else that of the task, or none.",
        relies=("payload",),
        can_be_none=True,
    ),
    Field(
        "depends_on",
        "dependencies",
        "Schedules that must have succeeded: objects with after, within and wait.",
        relies=("start_within", "catch_up", "grace"),
    ),
    Field("shadow", "flag", "Its ticks are planned and recorded, and nothing runs; else false."),
)
POLICIES: Mapping[str, Field] = {field.name: field for field in TABLE}
NAMES = (*TRIGGERS, *BESIDE, *TARGETS, *POLICIES)
# Of `depends_on`, `backoff` and a trigger of `any_of`.
DEPENDENCY = ("after", "within", "wait")
BACKOFF = ("base", "max")
MEMBER = (*TRIGGERS, *BESIDE)
# Of the document.
PARTS: Mapping[str, str] = {
    "app": "Whose schedules these are; others are never touched. Else files.",
    "namespace": "The namespace they belong to; else default.",
    "schedules": "Schedules by name.",
    "calendars": "Calendars of closed days by name.",
    "limits": "How many runs of a concurrency key may go on at once, by key.",
    "queues": "At what rate the runs of a queue may begin, such as 100/min, by queue.",
    "state": "Owning app, pause and overrides of schedules by name, as `tickbird export --all` writes them.",
}
# What editors put there for themselves.
IGNORED = ("$schema",)


def unwritten() -> set[str]:
    """Fields of a definition that a file has no words for."""
    return set(STORED) - {"trigger", "target", *POLICIES}


def as_length(seconds: int) -> str | int:
    """Seconds as people write them: 5400 is 1h30m."""
    text, rest = "", seconds
    for unit, size in (("w", 604_800), ("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1)):
        count, rest = divmod(rest, size)
        text += f"{count}{unit}" if count else ""
    return text or 0


Plain = dict[str, Any]
