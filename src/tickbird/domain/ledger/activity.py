"""What happens in a store, in one order that everybody sees alike: runs, skips and changes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Literal, get_args

from tickbird.domain.errors import InvalidError
from tickbird.domain.runs.run import RunRecord, SkipRecord
from tickbird.domain.time.instants import from_micros, to_micros

# In the order in which they are told where they happen in the same instant.
ActivityKind = Literal["changed", "planned", "skipped", "started", "requeued", "ended"]
KINDS: Final[tuple[ActivityKind, ...]] = get_args(ActivityKind)
CHANGED: Final = KINDS.index("changed")
PLANNED: Final = KINDS.index("planned")
# Behind everything of its instant.
_LAST: Final = len(KINDS)
# Longer ones were not made here.
_MAX_LENGTH: Final = 2_000
_NUMBER: Final = "(?:0|[1-9][0-9]{0,17})"
# How the text of a mark looks, for those who describe it.
ACTIVITY_CURSOR: Final = rf"^{_NUMBER}(?:\.{_NUMBER}){{3}}(?:~{_NUMBER}\.{_NUMBER})*$"
_CURSOR: Final = re.compile(ACTIVITY_CURSOR, re.ASCII)


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """Who did what to which thing, and when."""

    id: int
    at: datetime
    actor: str
    action: str
    schedule: str | None
    run_id: int | None
    detail: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Activity:
    """A run that was made, started, was put back or has ended; ticks that were skipped; or what somebody did."""

    at: datetime
    kind: ActivityKind
    schedule: str | None
    run: RunRecord | None = None
    skip: SkipRecord | None = None
    audit: AuditEntry | None = None
    namespace: str = ""

    @property
    def key(self) -> tuple[str, int, datetime | None]:
        """What tells it from all others; a skip that is extended happens again."""
        if self.skip is not None:
            return self.kind, self.skip.id, self.skip.last
        assert self.run is not None
        return self.kind, self.run.id, None


# A transaction that was open when others after it were told of, and how far its own runs were: twice the id up to which
# they are all told of, less one where only the audit of the last one is.
OpenAtCursor = tuple[tuple[int, int], ...]

# An instant, the rank of a kind and the id of a row.
ActivityPosition = tuple[datetime, int, int]


@dataclass(frozen=True, slots=True)
class ActivityCursor:
    """A place in the order of what happens: everything before it was told of, but for what the passed ones hold."""

    at: datetime
    rank: int
    id: int
    # Runs made behind this place have ids above it.
    floor: int
    passed: OpenAtCursor = ()

    @property
    def position(self) -> ActivityPosition:
        """What tells before from behind."""
        return self.at, self.rank, self.id

    def __str__(self) -> str:
        passed = "".join(f"~{transaction}.{floor}" for transaction, floor in self.passed)
        return f"{to_micros(self.at)}.{self.rank}.{self.id}.{self.floor}{passed}"


def parse_activity_cursor(text: str) -> ActivityCursor:
    """A mark from its text."""
    if len(text) > _MAX_LENGTH or _CURSOR.fullmatch(text) is None:
        raise InvalidError(
            f"Last-Event-ID: {text[:60]!r} is not the id of an event;",
            field="Last-Event-ID",
            hint="send the last one that came as it is, or none to begin now.",
        )
    micros, rank, row, floor, *rest = (int(each) for each in re.split(r"[.~]", text))
    return ActivityCursor(from_micros(micros), rank, row, floor, tuple(zip(rest[::2], rest[1::2], strict=True)))


@dataclass(frozen=True, slots=True)
class OpenTransaction:
    """An open transaction: it dates nothing before `since`, and its runs have ids above `floor`."""

    since: datetime
    floor: int
    # When the feed first saw it.
    first_seen_at: datetime


@dataclass(frozen=True, slots=True)
class Watermark:
    """Up to where everything can be seen that has happened, and what of it the next look needs."""

    at: datetime
    floor: int
    # When this was found out.
    clock: datetime
    passed: OpenAtCursor = ()
    # The last id given out then; and of looks before, as far as they may matter.
    last_id: int = 0
    looks: tuple[tuple[datetime, int], ...] = ()
    open: Mapping[str, OpenTransaction] = field(default_factory=dict)
    # On SQLite, the version of the data then.
    data_version: int = 0

    @property
    def cursor(self) -> ActivityCursor:
        """The position after all of it."""
        return ActivityCursor(self.at, _LAST, 0, self.floor, self.passed)


@dataclass(frozen=True, slots=True)
class ActivityPage:
    """What happened between two places, in order; `more` where it was too much to be told."""

    items: tuple[tuple[ActivityCursor, Activity], ...] = ()
    more: bool = False
