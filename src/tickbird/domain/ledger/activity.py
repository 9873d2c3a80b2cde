"""Activity: runs, skips and changes of a store, in one total order."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Literal, get_args

from tickbird.domain.errors import InvalidError
from tickbird.domain.runs.run import RunRecord, SkipRecord
from tickbird.domain.time.instants import from_micros, to_micros

# In the order of activities with the same instant.
ActivityKind = Literal["changed", "planned", "skipped", "started", "requeued", "ended"]
KINDS: Final[tuple[ActivityKind, ...]] = get_args(ActivityKind)
CHANGED: Final = KINDS.index("changed")
PLANNED: Final = KINDS.index("planned")
# After everything at the same instant.
_LAST: Final = len(KINDS)
# Longer texts are not cursors.
_MAX_LENGTH: Final = 2_000
_NUMBER: Final = "(?:0|[1-9][0-9]{0,17})"
# The format of a cursor, for the API's schema.
ACTIVITY_CURSOR: Final = rf"^{_NUMBER}(?:\.{_NUMBER}){{3}}(?:~{_NUMBER}\.{_NUMBER})*$"
_CURSOR: Final = re.compile(ACTIVITY_CURSOR, re.ASCII)


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One entry of the audit log."""

    id: int
    at: datetime
    actor: str
    action: str
    schedule: str | None
    run_id: int | None
    detail: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Activity:
    """A run that was created, started, requeued or finished; a skip; or an audited change."""

    at: datetime
    kind: ActivityKind
    schedule: str | None
    run: RunRecord | None = None
    skip: SkipRecord | None = None
    audit: AuditEntry | None = None
    namespace: str = ""

    @property
    def key(self) -> tuple[str, int, datetime | None]:
        """A unique key; an extended skip is a new activity."""
        if self.skip is not None:
            return self.kind, self.skip.id, self.skip.last
        assert self.run is not None
        return self.kind, self.run.id, None


# Transactions that were open when later ones were delivered, each with its progress: 2 * id of the last delivered run,
# or 2 * id - 1 if only the audit entry of that run was delivered.
OpenAtCursor = tuple[tuple[int, int], ...]

# An instant, the rank of a kind and the id of a row.
ActivityPosition = tuple[datetime, int, int]


@dataclass(frozen=True, slots=True)
class ActivityCursor:
    """A position in the activity. All activity before it was delivered, except that of the transactions in `passed`."""

    at: datetime
    rank: int
    id: int
    # Runs created after this position have higher ids.
    floor: int
    passed: OpenAtCursor = ()

    @property
    def position(self) -> ActivityPosition:
        """The sort key."""
        return self.at, self.rank, self.id

    def __str__(self) -> str:
        passed = "".join(f"~{transaction}.{floor}" for transaction, floor in self.passed)
        return f"{to_micros(self.at)}.{self.rank}.{self.id}.{self.floor}{passed}"


def parse_activity_cursor(text: str) -> ActivityCursor:
    """Parse a cursor, or raise InvalidError."""
    if len(text) > _MAX_LENGTH or _CURSOR.fullmatch(text) is None:
        raise InvalidError(
            f"Last-Event-ID: {text[:60]!r} is not the id of an event.",
            field="Last-Event-ID",
            hint="Send the last id unchanged, or omit it to start now.",
        )
    micros, rank, row, floor, *rest = (int(part) for part in re.split(r"[.~]", text))
    return ActivityCursor(from_micros(micros), rank, row, floor, tuple(zip(rest[::2], rest[1::2], strict=True)))


@dataclass(frozen=True, slots=True)
class OpenTransaction:
    """An open transaction: its activities are not before `since`, and its runs have ids above `floor`."""

    since: datetime
    floor: int
    # When the feed first saw it.
    first_seen_at: datetime


@dataclass(frozen=True, slots=True)
class Watermark:
    """The instant before which no activity can still be committed, with data for the next poll."""

    at: datetime
    floor: int
    # When the watermark was computed.
    clock: datetime
    passed: OpenAtCursor = ()
    # The last assigned run id at that time, and those of earlier polls that may still matter.
    last_id: int = 0
    looks: tuple[tuple[datetime, int], ...] = ()
    open: Mapping[str, OpenTransaction] = field(default_factory=dict)
    # On SQLite: `PRAGMA data_version` at that time.
    data_version: int = 0

    @property
    def cursor(self) -> ActivityCursor:
        return ActivityCursor(self.at, _LAST, 0, self.floor, self.passed)


@dataclass(frozen=True, slots=True)
class ActivityPage:
    """Activities between two positions, in order; `more` if there were too many."""

    items: tuple[tuple[ActivityCursor, Activity], ...] = ()
    more: bool = False
