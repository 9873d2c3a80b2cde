"""Idempotency keys: a repeated request gets the existing run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from tickbird.domain.errors import ConflictError
from tickbird.domain.schedules.definition import Target
from tickbird.domain.text import check_text

# Minimum seconds for which a run with a key is stored, regardless of the retention.
KEY_SECONDS: Final = 86_400


@dataclass(frozen=True, slots=True)
class IdempotentRun:
    """The run of a key; `payload` is None if the run has the payload of its schedule."""

    id: int
    schedule_id: int | None
    target: Target
    payload: Mapping[str, Any] | None


def check_key(key: object) -> str:
    """Return the key: any text of 1 to 200 characters."""
    return check_text(key, "idempotency_key", minimum=1, maximum=200)


def match_enqueue(key: str, existing: IdempotentRun, target: Target, payload: Mapping[str, Any]) -> int:
    """Return the id of the key's run, or raise ConflictError if its task or payload differs."""
    if existing.schedule_id is not None or existing.target != target:
        raise _taken(key, existing, "has another target")
    if _text(existing.payload or {}) != _text(payload):
        raise _taken(key, existing, "has another payload")
    return existing.id


def match_trigger(key: str, existing: IdempotentRun, schedule_id: int | None, payload: Mapping[str, Any] | None) -> int:
    """Return the id of the key's run, or raise ConflictError if its schedule or payload differs."""
    if schedule_id is None or existing.schedule_id != schedule_id:
        raise _taken(key, existing, "has another schedule")
    if _text(existing.payload) != _text(payload):
        raise _taken(key, existing, "has another payload")
    return existing.id


def _text(value: Any) -> str:
    """Compare the JSON texts, because 1, 1.0 and true are equal in Python."""
    return json.dumps(value, sort_keys=True)


def _taken(key: str, existing: IdempotentRun, why: str) -> ConflictError:
    return ConflictError(
        f"idempotency key {key!r} belongs to run {existing.id}, which {why}.",
        hint="Use a different key for each request.",
    )
