"""Idempotency keys: who asks again for what was asked for already is given the run that exists."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from tickbird.domain.errors import ConflictError
from tickbird.domain.schedules.definition import Target
from tickbird.domain.text import check_text

# A run that has a key is kept at least so many seconds from its making, whatever the retention.
KEY_SECONDS: Final = 86_400


@dataclass(frozen=True, slots=True)
class IdempotentRun:
    """The run that a key stands for; `payload` is its own, None where it has that of its schedule."""

    id: int
    schedule_id: int | None
    target: Target
    payload: Mapping[str, Any] | None


def check_key(key: object) -> str:
    """The key itself: any text of 1 to 200 characters."""
    return check_text(key, "idempotency_key", minimum=1, maximum=200)


def match_enqueue(key: str, found: IdempotentRun, target: Target, payload: Mapping[str, Any]) -> int:
    """The id of the run that this key stands for, if it is a run of the same task with the same payload."""
    if found.schedule_id is not None or found.target != target:
        raise _taken(key, found, "runs something else")
    if _text(found.payload or {}) != _text(payload):
        raise _taken(key, found, "has another payload")
    return found.id


def match_trigger(key: str, found: IdempotentRun, schedule_id: int | None, payload: Mapping[str, Any] | None) -> int:
    """The id of the run that this key stands for, if it is a run of the same schedule with the same payload."""
    if schedule_id is None or found.schedule_id != schedule_id:
        raise _taken(key, found, "belongs to something else")
    if _text(found.payload) != _text(payload):
        raise _taken(key, found, "has another payload")
    return found.id


def _text(value: Any) -> str:
    """By its text, since 1, 1.0 and true are equal and yet not the same payload."""
    return json.dumps(value, sort_keys=True)


def _taken(key: str, found: IdempotentRun, why: str) -> ConflictError:
    return ConflictError(
        f"idempotency key {key!r} stands for run {found.id}, which {why};", hint="give each request a key of its own."
    )
