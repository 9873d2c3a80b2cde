"""What a person defines: a trigger, a target and the policies between them."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from functools import cached_property, lru_cache
from typing import Any, Literal, get_args

from tickbird.domain.calendars.calendar import BUILT_IN, Calendar, ClosedDays, merge
from tickbird.domain.errors import DefinitionError
from tickbird.domain.json_depth import check_levels
from tickbird.domain.limits.concurrency import check_concurrency_key, key_for
from tickbird.domain.schedules.dependencies import MAX_DEPENDENCIES, After
from tickbird.domain.schedules.grid import TickGrid
from tickbird.domain.schedules.rolled_grid import MAX_PER_DAY, RolledGrid
from tickbird.domain.targets.command import CommandSpec
from tickbird.domain.text import check_name, check_text
from tickbird.domain.time.durations import duration_text
from tickbird.domain.triggers.trigger import Trigger

CatchUp = Literal["one", "latest", "all", "skip"]
Overlap = Literal["skip", "queue", "replace", "allow"]
OnCrash = Literal["retry", "fail"]
Roll = Literal["skip", "previous", "next"]

MAX_PAYLOAD = 1_000_000
# The escape itself, not a backslash followed by these letters.
_NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")
CRASH_LIMIT = 3
MAX_CALENDARS = 20
MAX_DESCRIPTION_LENGTH = 10_000


@dataclass(frozen=True, slots=True)
class Target:
    """What a run does: a registered task by its name, or a command by its program."""

    name: str
    kind: str = "task"
    # What a command starts, and how; runs have only its name and find the rest in their schedule's revision.
    program: CommandSpec | None = None


def command_target(program: CommandSpec) -> Target:
    """The target that starts this program. No task has a name like it, since every path has a slash."""
    return Target(program.program, "command", program)


@dataclass(frozen=True, slots=True)
class Backoff:
    """Seconds before another attempt: full jitter below `base * 2 ** failures`, at most `max`."""

    base: int = 1
    max: int = 300

    def delay(self, failures: int, chance: float) -> float:
        """The wait before the next attempt after so many failures; `chance` is uniform in [0, 1)."""
        return chance * float(min(self.max, self.base * 2 ** min(failures - 1, 40)))


@dataclass(frozen=True, kw_only=True)
class Definition:
    """An immutable schedule definition; durations are whole seconds."""

    trigger: Trigger
    target: Target
    payload: Mapping[str, Any] = field(default_factory=dict)
    description: str = ""
    tags: tuple[str, ...] = ()
    queue: str = "default"
    priority: int = 0
    catch_up: CatchUp = "one"
    catch_up_limit: int = 100
    hold_above: int | None = None
    grace: int = 10
    start_within: int | None = None
    overlap: Overlap = "skip"
    max_concurrent: int = 1
    spread: int = 0
    start_at: datetime | None = None
    end_at: datetime | None = None
    max_runs: int | None = None
    exclude: Calendar = field(default_factory=Calendar)
    # Names of calendars, and what they say: that is not a person's to set but comes from the store.
    calendars: tuple[str, ...] = ()
    closed: Mapping[str, Calendar] = field(default_factory=dict)
    roll: Roll = "skip"
    retries: int = 0
    backoff: Backoff = field(default_factory=Backoff)
    timeout: int | None = None
    on_crash: OnCrash = "retry"
    concurrency_key: str | None = None
    depends_on: tuple[After, ...] = ()
    # Its ticks are planned and recorded, and nothing runs: another system still does the work.
    shadow: bool = False
    # Task settings that whoever defined it stated, also at their defaults. The others came from the task.
    stated: frozenset[str] = field(default=frozenset(), compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.target.program is None:
            check_name(self.target.name, "task")
        check_name(self.queue, "queue")
        if not isinstance(self.tags, tuple):
            self._refuse("tags", "must be a list of names")
        for tag in self.tags:
            check_name(tag, "tag")
        self._check_calendars()
        choices_of = (("catch_up", CatchUp), ("overlap", Overlap), ("on_crash", OnCrash), ("roll", Roll))
        for name, allowed in choices_of:
            choices = get_args(allowed)
            if getattr(self, name) not in choices:
                self._refuse(name, f"is not one of {', '.join(choices)}")
        for name, minimum, maximum in RANGES:
            value = getattr(self, name)
            if value is None and name in _OPTIONAL:
                continue
            if isinstance(value, bool) or not isinstance(value, int) or not minimum <= value <= maximum:
                self._refuse(name, f"must be a whole number from {minimum} to {maximum}")
        if not isinstance(self.shadow, bool):
            self._refuse("shadow", "is neither true nor false")
        if self.hold_above is not None and self.catch_up != "all":
            self._refuse("hold_above", 'needs catch_up="all", whose runs it holds')
        for name in ("start_at", "end_at"):
            self._check_instant(name)
        if self.start_at and self.end_at and self.start_at > self.end_at:
            self._refuse("end_at", f"lies before start_at ({self.start_at.isoformat()})")
        check_text(self.description, "description", maximum=MAX_DESCRIPTION_LENGTH)
        check_payload(self.payload)
        if self.concurrency_key is not None:
            key_for(check_concurrency_key(self.concurrency_key), self.payload)
        if self.depends_on:
            self._check_dependencies()

    def _check_dependencies(self) -> None:
        names = [each.schedule for each in self.depends_on]
        if len(names) > MAX_DEPENDENCIES:
            self._refuse("depends_on", f"must be a list of at most {MAX_DEPENDENCIES}")
        for name in names:
            check_name(name, "depends_on")
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise DefinitionError(
                f"depends_on: names {twice!r} twice;", field="depends_on", hint="keep the stricter one."
            )
        longest, limit = max(each.wait for each in self.depends_on), self.start_limit
        if limit is not None and longest > limit:
            rule = "start_within" if self.start_within is not None else "the grace of catch_up=skip"
            raise DefinitionError(
                f"depends_on: a run cannot wait {duration_text(longest)}, since it is too late for it to start after "
                f"{duration_text(limit) or '0 s'} ({rule});",
                field="depends_on",
                hint="set a start_within that is longer than the wait.",
            )

    def _check_calendars(self) -> None:
        if not isinstance(self.calendars, tuple) or len(self.calendars) > MAX_CALENDARS:
            self._refuse("calendars", f"must be a list of at most {MAX_CALENDARS} names")
        for name in self.calendars:
            check_name(name, "calendar")
        if self.roll != "skip" and self.trigger.max_per_day > MAX_PER_DAY:
            raise DefinitionError(
                f"roll: {self.roll!r} is for at most {MAX_PER_DAY:,} ticks a day, and this trigger has up to "
                f"{self.trigger.max_per_day:,};",
                field="roll",
                hint='leave roll="skip".',
            )
        shared = merge(self.closed.values())
        if len(self.exclude.weekdays | shared.weekdays) == 7 and not shared.opened:
            raise DefinitionError(
                "calendars: together they close all seven weekdays, so nothing would ever run.", field="calendars"
            )

    def _check_instant(self, name: str) -> None:
        value = getattr(self, name)
        if value is not None and not isinstance(value, datetime):
            self._refuse(name, "is not a datetime")
        if value is not None and (value.tzinfo is None or value.microsecond):
            self._refuse(name, "must be a datetime with a zone, in whole seconds")

    def _refuse(self, name: str, reason: str) -> None:
        raise DefinitionError(f"{name}: {str(getattr(self, name))[:60]!r} {reason}.", field=name, reason=reason)

    @cached_property
    def grid(self) -> TickGrid:
        """The ticks of this definition; made once, since definitions are kept and schedules come and go."""
        return RolledGrid(self) if self.roll != "skip" and self.closed_days else TickGrid(self)

    @property
    def unresolved(self) -> tuple[str, ...]:
        """Names of calendars of which it is not known here what they say."""
        return tuple(name for name in self.calendars if name not in self.closed and name not in BUILT_IN)

    @cached_property
    def closed_days(self) -> ClosedDays:
        """The days on which it does not run."""
        if self.unresolved:
            raise DefinitionError(
                f"calendars: what {', '.join(self.unresolved)} says is not stored with the schedule;",
                field="calendars",
                hint="set its calendars with `client.schedules.update`, or put the calendar again.",
            )
        known = {**BUILT_IN, **self.closed}
        return ClosedDays(self.exclude, merge(known[name] for name in self.calendars))

    @cached_property
    def start_limit(self) -> int | None:
        """Seconds after `due_at` by which a run must have started; `catch_up="skip"` implies the grace."""
        if self.start_within is None and self.catch_up == "skip":
            return self.grace
        return self.start_within

    @cached_property
    def has_fast_path(self) -> bool:
        """Can a tick on time become a run without `plan`, because no policy depends on the day or on other rows?"""
        unlimited = self.max_runs is None and self.concurrency_key is None
        return unlimited and not (self.exclude or self.calendars or self.depends_on or self.shadow)

    def key(self, payload: Mapping[str, Any] | None = None) -> str | None:
        """The concurrency key of a run, with the definition's payload or one of its own."""
        if self.concurrency_key is None:
            return None
        return key_for(self.concurrency_key, self.payload if payload is None else payload)

    @property
    def max_running(self) -> int | None:
        """How many of its runs may go on at once; None: any number."""
        return None if self.overlap == "allow" else self.max_concurrent

    @property
    def crash_limit(self) -> int:
        """How often a run may lose its worker and still be tried again."""
        return CRASH_LIMIT if self.on_crash == "retry" else 0


_OPTIONAL = {"hold_above", "start_within", "max_runs", "timeout"}
_YEARS = 100 * 366 * 86_400
RANGES = (
    ("priority", -1_000, 1_000),
    ("catch_up_limit", 1, 10_000),
    ("hold_above", 0, 1_000_000),
    ("grace", 0, _YEARS),
    ("start_within", 0, _YEARS),
    ("max_concurrent", 1, 10_000),
    ("spread", 0, 7 * 86_400),
    ("max_runs", 1, 2**31 - 1),
    ("retries", 0, 1_000),
    ("timeout", 1, _YEARS),
)
# What a person sets; what the calendars say is resolved from the store.
FIELDS = tuple(f.name for f in fields(Definition) if f.name not in ("closed", "stated"))
# The fields that a task declares too.
TASK_SETTINGS = ("queue", "priority", "retries", "backoff", "timeout", "on_crash", "concurrency_key")


def check_payload(payload: object) -> str:
    """The payload as canonical JSON text, or a DefinitionError."""
    if not isinstance(payload, Mapping) or not all(isinstance(key, str) for key in payload):
        raise DefinitionError("payload: must be an object with text keys.", field="payload")
    try:
        text = json.dumps(payload, sort_keys=True, allow_nan=False, separators=(",", ":"), ensure_ascii=False)
        text.encode()  # half a surrogate pair is no text
        check_levels(payload, text)
    except (TypeError, ValueError, RecursionError) as error:
        raise DefinitionError(f"payload: is not JSON ({str(error)[:200]}).", field="payload") from None
    if _NUL.search(text):
        raise DefinitionError("payload: holds a NUL character, which databases refuse.", field="payload")
    if len(text) > MAX_PAYLOAD:
        raise DefinitionError(
            f"payload: {len(text):,} characters are more than the {MAX_PAYLOAD:,} allowed;",
            field="payload",
            hint="store it elsewhere and send a reference.",
        )
    return text


@lru_cache(maxsize=100_000)
def spread_offset(namespace: str, name: str, spread: int) -> int:
    """The schedule's own place within its spread: the same on every worker."""
    if not spread:
        return 0
    digest = hashlib.blake2b(f"{namespace}/{name}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") % spread
