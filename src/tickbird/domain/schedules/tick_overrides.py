"""Overrides of single ticks: skip the tick, move it, or give its run another payload."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from tickbird.domain.time.instants import clamp_seconds, to_datetime

# Limits per schedule, because the planner reads all overrides; the length is in characters of JSON.
MAX_OVERRIDES = 200
MAX_OVERRIDES_LENGTH = 1_000_000
# At most this many ticks of a schedule are decided early, because after an edit each of them is stored.
MAX_EARLY_TICKS = 1_000


@dataclass(frozen=True, slots=True)
class TickOverride:
    """An override of one tick, who set it and why; instants are whole seconds since the epoch."""

    tick: int
    actor: str = ""
    created_at: int = 0
    skip: bool = False
    # The tick is due at this instant instead of its own.
    due_at: int | None = None
    payload: Mapping[str, Any] | None = None
    note: str = ""
    # The tick was decided before its time, on an earlier grid; its decision is in the ledger.
    decided_early: bool = False

    def to_json(self) -> dict[str, Any]:
        """The stored form, without fields that are not set."""
        if self.decided_early:
            return {"tick": self.tick, "decided_early": True}
        encoded: dict[str, Any] = {"tick": self.tick, "actor": self.actor, "created_at": self.created_at}
        if self.skip:
            encoded["skip"] = True
        if self.due_at is not None:
            encoded["due_at"] = self.due_at
        if self.payload is not None:
            encoded["payload"] = dict(self.payload)
        if self.note:
            encoded["note"] = self.note
        return encoded


def overrides_text(overrides: Iterable[TickOverride]) -> str | None:
    """Return overrides as the JSON text of a cursor; None if there are none."""
    encoded = [override.to_json() for override in overrides]
    return json.dumps(encoded, separators=(",", ":"), ensure_ascii=False) if encoded else None


def read_overrides(stored: str | Sequence[Mapping[str, Any]] | None) -> tuple[TickOverride, ...]:
    """Read the overrides of a cursor, sorted by tick; empty if plain SQL wrote something invalid."""
    if not stored:
        return ()
    try:
        encoded = json.loads(stored) if isinstance(stored, str) else stored
        overrides = [TickOverride(**override) for override in encoded]
    except (TypeError, ValueError, RecursionError):
        overrides = []
    # Only plain SQL can write an invalid override, and it must not delay other schedules.
    return tuple(sorted(overrides, key=lambda override: override.tick)) if all(map(_is_sound, overrides)) else ()


def _is_sound(override: TickOverride) -> bool:
    seconds = (override.tick, override.created_at, 0 if override.due_at is None else override.due_at)
    return (
        all(type(instant) is int and clamp_seconds(instant) == instant for instant in seconds)
        and isinstance(override.actor, str)
        and isinstance(override.note, str)
        and (override.payload is None or isinstance(override.payload, dict))
    )


@dataclass(frozen=True, slots=True)
class AppliedOverride:
    """The override that was applied to a run: who moved it or changed its payload, and why."""

    actor: str
    created_at: int
    moved: bool = False
    payload: bool = False
    note: str = ""


def applied_override_text(override: TickOverride) -> str:
    """Return the JSON that is stored with the run of an overridden tick."""
    stored = {
        "actor": override.actor,
        "created_at": override.created_at,
        "moved": override.due_at is not None,
        "payload": override.payload is not None,
        "note": override.note,
    }
    return json.dumps(stored, separators=(",", ":"), ensure_ascii=False)


def read_applied_override(stored: str | Mapping[str, Any] | None) -> AppliedOverride | None:
    """Read the override that was applied to a run; None if there was none."""
    if not stored:
        return None
    try:
        return AppliedOverride(**(json.loads(stored) if isinstance(stored, str) else stored))
    except (TypeError, ValueError, RecursionError):
        # Only plain SQL can write something invalid.
        return None


# The audit action for an override that was not applied.
VOID = "void_override"
# An override that was not applied, and why: the reason of the skip instead, or the change that removed its tick.
Void = tuple[TickOverride, str]


def void_detail(override: TickOverride, reason: str) -> dict[str, Any]:
    """Return the audit detail of an override that was not applied."""
    return {**override.to_json(), "reason": reason}


@dataclass(frozen=True, slots=True, kw_only=True)
class OverrideRecord:
    """An overridden tick as users see it; `passes_over` counts the ticks that its move skips."""

    scheduled_for: datetime
    due_at: datetime
    skip: bool
    moved: bool
    payload: Mapping[str, Any] | None
    note: str
    actor: str
    created_at: datetime
    passes_over: int = 0


def override_record(override: TickOverride, due_at: int, passes_over: int) -> OverrideRecord:
    return OverrideRecord(
        scheduled_for=to_datetime(override.tick),
        due_at=to_datetime(due_at),
        skip=override.skip,
        moved=override.due_at is not None,
        payload=override.payload,
        note=override.note,
        actor=override.actor,
        created_at=to_datetime(override.created_at),
        passes_over=passes_over,
    )
