"""Concurrency keys: the key of a run, and which waiting runs can be released."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, MutableMapping
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import Any, Literal

from tickbird.domain.errors import DefinitionError, InvalidError
from tickbird.domain.text import check_text

# Limit of a key without its own limit.
DEFAULT_LIMIT = 1
MAX_LIMIT = 100_000
MAX_KEY_LENGTH = 200
# A key within its namespace.
Key = tuple[str, str]

_FIELD = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}", re.ASCII)


def check_concurrency_key(template: object) -> str:
    """Check a key template: text in which {field} is replaced by a field of the payload."""
    if not isinstance(template, str) or not template.isprintable() or not 1 <= len(template) <= MAX_KEY_LENGTH:
        raise _refused(template, f"is not a text of 1 to {MAX_KEY_LENGTH} characters on one line.")
    if any(brace in _FIELD.sub("", template) for brace in "{}"):
        raise _refused(template, "has a brace that does not enclose a field.")
    return template


def key_for(template: str, payload: Mapping[str, Any]) -> str:

    def value(match: re.Match[str]) -> str:
        field_value = payload.get(match[1])
        if isinstance(field_value, bool) or not isinstance(field_value, str | int) or field_value == "":
            what = "is not in the payload" if match[1] not in payload else "is neither a text nor a whole number"
            raise DefinitionError(
                f"concurrency_key: {template[:60]!r} needs the field {match[1]!r}, which {what}.",
                field="concurrency_key",
                hint="Add it to the payload, or use a key without it.",
            )
        return str(field_value)

    key = _FIELD.sub(value, template)
    if not key.isprintable() or len(key) > MAX_KEY_LENGTH:
        raise _refused(key, f"is longer than {MAX_KEY_LENGTH} characters, or has more than one line.")
    return key


def _refused(key: object, reason: str) -> DefinitionError:
    return DefinitionError(
        f"concurrency_key: {str(key)[:60]!r} {reason}",
        field="concurrency_key",
        hint="Use a key such as 'warehouse' or 'tenant:{tenant}'.",
    )


def check_max_running(maximum: object) -> int:
    if isinstance(maximum, bool) or not isinstance(maximum, int) or not 1 <= maximum <= MAX_LIMIT:
        raise InvalidError(
            f"max_running: {str(maximum)[:60]!r} is not a whole number from 1 to {MAX_LIMIT}.",
            field="max_running",
            hint="To stop all runs of the key, pause their schedules.",
        )
    return maximum


def check_key(key: str) -> str:
    """A key that a run may have."""
    return check_text(key, "key", minimum=1, maximum=MAX_KEY_LENGTH)


def check_limit_key(key: str) -> str:
    """A key that may have a limit."""
    if not check_key(key).isprintable():
        raise InvalidError(
            f"key: {key[:60]!r} is not one line of text.",
            field="key",
            hint="Remove line breaks and control characters.",
        )
    return key


@dataclass(frozen=True, slots=True)
class ConcurrencyLimit:
    """The limit of a key, with its active and waiting runs; `is_explicit` if a user has set the limit."""

    key: str
    max_running: int
    is_explicit: bool
    active: int
    waiting: int


def take(free_slots: MutableMapping[Key, int], key: Key | None) -> Literal["queued", "waiting"]:
    """Return the status of a new run; takes a slot if one is free."""
    if key is None:
        return "queued"
    if free_slots[key] <= 0:
        return "waiting"
    free_slots[key] -= 1
    return "queued"


@dataclass(frozen=True, slots=True)
class WaitingRun:
    """A waiting run; `max_running` limits the active runs of its schedule (None: no limit)."""

    id: int
    schedule_id: int | None
    priority: int
    max_running: int | None = None
    key: Key | None = None
    # Of a backfill: it comes after all other waiting runs of its schedule, with its own concurrency.
    backfill_id: int | None = None
    concurrency: int = 0


def pick_releasable(
    waiters: Iterable[WaitingRun],
    busy: Mapping[int, int],
    room: Mapping[Key, int],
    of_backfills: Mapping[int, int] | None = None,
) -> list[int]:
    """Return the ids of runs to release, by priority, then by age; within a limited schedule, only by age.

    `busy` and `of_backfills` count the active runs by schedule and by backfill. A key that is missing in `room` has no
    slot to give.
    """
    slots = _Slots(busy, room, of_backfills or {})
    queues: defaultdict[int, list[WaitingRun]] = defaultdict(list)
    candidates: list[tuple[int, int, WaitingRun]] = []
    backfill_runs: list[WaitingRun] = []
    for waiter in sorted(waiters, key=lambda run: run.id):
        if waiter.backfill_id is not None:
            backfill_runs.append(waiter)
        elif waiter.schedule_id is None or waiter.max_running is None:
            candidates.append((-waiter.priority, waiter.id, waiter))
        else:
            queues[waiter.schedule_id].append(waiter)
    for queue in queues.values():
        queue.reverse()
        candidates.append(_head(queue))
    heapify(candidates)
    chosen: list[int] = []
    blocked: set[int | None] = set()
    while candidates:
        _, _, waiter = heappop(candidates)
        if not slots.take(waiter):
            # Later runs of the schedule must not pass it: it might never get both slots at once.
            blocked.add(waiter.schedule_id)
            continue
        chosen.append(waiter.id)
        if waiter.schedule_id is not None and waiter.max_running is not None and (queue := queues[waiter.schedule_id]):
            heappush(candidates, _head(queue))
    backfill_runs.sort(key=lambda run: (run.backfill_id, run.id))
    return chosen + [run.id for run in backfill_runs if run.schedule_id not in blocked and slots.take(run)]


def _head(queue: list[WaitingRun]) -> tuple[int, int, WaitingRun]:
    waiter = queue.pop()
    return -waiter.priority, waiter.id, waiter


class _Slots:
    """Free slots by schedule, key and backfill."""

    def __init__(self, busy: Mapping[int, int], room: Mapping[Key, int], of_backfills: Mapping[int, int]) -> None:
        self.busy = defaultdict(int, busy)
        self.room = defaultdict(int, room)
        self.of_backfills = defaultdict(int, of_backfills)

    def take(self, waiter: WaitingRun) -> bool:
        """Take the slots for a waiting run if all of them are free."""
        schedule_id, key, backfill_id = waiter.schedule_id, waiter.key, waiter.backfill_id
        if key is not None and self.room[key] <= 0:
            return False
        if schedule_id is not None and waiter.max_running is not None and self.busy[schedule_id] >= waiter.max_running:
            return False
        if backfill_id is not None and self.of_backfills[backfill_id] >= waiter.concurrency:
            return False
        if key is not None:
            self.room[key] -= 1
        if schedule_id is not None:
            self.busy[schedule_id] += 1
        if backfill_id is not None:
            self.of_backfills[backfill_id] += 1
        return True
