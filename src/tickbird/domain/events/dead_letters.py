"""Dead letters: events that a group could not handle, with their keys in quarantine.

                           retries used up
 new event ─────▶ retrying ─────────────────▶ failed
 (fails)            ▲  │ ▲                       │
                    │  │ └─── replay, repair ────┤
 deferred ──────────┘  ▼                         ▼
 (fails)           delivered                  skipped

While a key has a letter that is `retrying`, `failed` or `deferred`, later events of the key become `deferred`. They are
delivered in order as soon as the earlier ones are `delivered` or `skipped`. Events that were published together are one
unit.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal

from tickbird.domain.errors import NotFoundError
from tickbird.domain.events.deliveries import DeliveryItem, Unit, group_units, split_units
from tickbird.domain.events.event import Event

LetterState = Literal["retrying", "deferred", "failed", "delivered", "skipped"]
UNRESOLVED: Final[tuple[LetterState, ...]] = ("retrying", "deferred", "failed")
RESOLVED: Final[tuple[LetterState, ...]] = ("delivered", "skipped")
MAX_ERROR: Final = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLetter:
    """An event that a group could not handle, or that waits for an earlier one of its key."""

    id: int
    group: str
    state: LetterState
    event: Event
    failures: int
    error: str | None
    created_at: datetime
    # Of the next attempt, while it is retrying.
    retry_at: datetime | None = None
    # Replaces the data of the event for this group; the event itself never changes.
    repair: Any = None
    repaired_by: str | None = None
    # The repair is used only if this is set: a second person, or its author if the namespace does not require one.
    approved_by: str | None = None
    resolved_at: datetime | None = None
    resolved_by: str | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Candidate:
    """A letter that its own key does not block."""

    item: DeliveryItem
    # The number of unresolved letters of its unit: of events published together, in this partition.
    unit_size: int
    # Another letter that was published together with it, in any partition, has failed or is not due.
    is_blocked: bool = False


def deliverable(candidates: Iterable[Candidate], limit: int = sys.maxsize) -> list[Unit]:
    """The units that can be delivered now, of candidates in order; stops after the unit with the item number `limit`.

    A unit of which a part is blocked is blocked, and so are later ones with its keys.
    """
    blocked: set[str] = set()
    chosen: list[Unit] = []
    for unit, parts in group_units(candidates, lambda candidate: candidate.item):
        if limit <= 0:
            break
        if len(parts) < parts[0].unit_size or unit.keys & blocked or any(part.is_blocked for part in parts):
            blocked |= unit.keys
        else:
            chosen.append(unit)
            limit -= len(parts)
    return chosen


def hold_units(items: Iterable[tuple[Event, bool]]) -> tuple[DeliveryItem, ...]:
    """New events as items. A unit is held as a whole, and so are later events of its keys."""
    held: set[str] = set()
    result: list[DeliveryItem] = []
    for unit in split_units(DeliveryItem(event, is_held=is_held) for event, is_held in items):
        is_held = unit.is_held or bool(unit.keys & held)
        if is_held:
            held |= unit.keys
        result += [DeliveryItem(event, is_held=is_held) for event in unit.events]
    return tuple(result)


@dataclass(frozen=True, slots=True, kw_only=True)
class LetterFilter:
    """Which dead letters to list; None: all."""

    group: str | None = None
    states: tuple[LetterState, ...] | None = UNRESOLVED
    key: str | None = None


@dataclass(frozen=True, slots=True)
class LetterChange:
    """The effect of an operator's change: the letters that it changed, of one unit or of a group."""

    letters: Sequence[int]
    # The change waits for the approval of a second person.
    is_proposed: bool = False


def no_such_letter(letter_id: int) -> NotFoundError:
    return NotFoundError(
        f"there is no dead letter {letter_id}.", hint="`tickbird dead-letters ls` lists the unresolved ones."
    )
