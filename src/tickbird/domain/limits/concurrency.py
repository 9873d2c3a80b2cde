"""Concurrency keys: how a run's key is made, and who of those that wait may go."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, MutableMapping
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import Any, Literal

from tickbird.domain.errors import DefinitionError, InvalidError
from tickbird.domain.text import check_text

# So many runs of a key that has no limit of its own go on at once.
DEFAULT_LIMIT = 1
MAX_LIMIT = 100_000
MAX_KEY_LENGTH = 200
# A key within its namespace.
Key = tuple[str, str]

_FIELD = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}", re.ASCII)


def check_concurrency_key(template: object) -> str:
    """A key as people write it: text, where {field} stands for a field of the payload."""
    if not isinstance(template, str) or not template.isprintable() or not 1 <= len(template) <= MAX_KEY_LENGTH:
        raise _refused(template, f"must be a text of 1 to {MAX_KEY_LENGTH} characters on one line;")
    if any(brace in _FIELD.sub("", template) for brace in "{}"):
        raise _refused(template, "has a brace that encloses no field;")
    return template


def key_for(template: str, payload: Mapping[str, Any]) -> str:
    """The key of a run with this payload."""

    def value(match: re.Match[str]) -> str:
        found = payload.get(match[1])
        if isinstance(found, bool) or not isinstance(found, str | int) or found == "":
            what = "is not in the payload" if match[1] not in payload else "is neither a text nor a whole number"
            raise DefinitionError(
                f"concurrency_key: {template[:60]!r} needs the field {match[1]!r}, which {what};",
                field="concurrency_key",
                hint="add it to the payload, or use a key without it.",
            )
        return str(found)

    key = _FIELD.sub(value, template)
    if not key.isprintable() or len(key) > MAX_KEY_LENGTH:
        raise _refused(key, f"must come to at most {MAX_KEY_LENGTH} characters on one line;")
    return key


def _refused(key: object, reason: str) -> DefinitionError:
    return DefinitionError(
        f"concurrency_key: {str(key)[:60]!r} {reason}",
        field="concurrency_key",
        hint="write one such as 'warehouse' or 'tenant:{tenant}'.",
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
        raise InvalidError(f"key: {key[:60]!r} is not one line of text.", field="key")
    return key


@dataclass(frozen=True, slots=True)
class ConcurrencyLimit:
    """How many runs of a key may go on at once, how many do, and how many wait; `is_explicit`: by a person."""

    key: str
    max_running: int
    is_explicit: bool
    active: int
    waiting: int


def take(room: MutableMapping[Key, int], key: Key | None) -> Literal["queued", "waiting"]:
    """How a new run begins, and one place less if it takes one."""
    if key is None:
        return "queued"
    if room[key] <= 0:
        return "waiting"
    room[key] -= 1
    return "queued"


@dataclass(frozen=True, slots=True)
class WaitingRun:
    """A waiting run: `max_running` of its schedule go on at once (None: any number), of its key as there is room."""

    id: int
    schedule_id: int | None
    priority: int
    max_running: int | None = None
    key: Key | None = None
    # Of a backfill: it comes behind all other waiters of its schedule, and so many of it go on at once.
    backfill_id: int | None = None
    concurrency: int = 0


def pick_releasable(
    waiters: Iterable[WaitingRun],
    busy: Mapping[int, int],
    room: Mapping[Key, int],
    of_backfills: Mapping[int, int] | None = None,
) -> list[int]:
    """Who may go: by priority, then the oldest; within a schedule that counts, strictly the oldest.

    `busy` and `of_backfills` count the runs that go on, by schedule and by backfill; a key that is not in `room` is
    somebody else's to give.
    """
    places = _Slots(busy, room, of_backfills or {})
    lines: defaultdict[int, list[WaitingRun]] = defaultdict(list)
    heads: list[tuple[int, int, WaitingRun]] = []
    aside: list[WaitingRun] = []
    for waiter in sorted(waiters, key=lambda one: one.id):
        if waiter.backfill_id is not None:
            aside.append(waiter)
        elif waiter.schedule_id is None or waiter.max_running is None:
            heads.append((-waiter.priority, waiter.id, waiter))
        else:
            lines[waiter.schedule_id].append(waiter)
    for line in lines.values():
        line.reverse()
        heads.append(_head(line))
    heapify(heads)
    chosen: list[int] = []
    stuck: set[int | None] = set()
    while heads:
        _, _, waiter = heappop(heads)
        if not places.take(waiter):
            # Nobody behind it may pass: it would never see a place in its schedule and one of its key at once.
            stuck.add(waiter.schedule_id)
            continue
        chosen.append(waiter.id)
        if waiter.schedule_id is not None and waiter.max_running is not None and (line := lines[waiter.schedule_id]):
            heappush(heads, _head(line))
    aside.sort(key=lambda one: (one.backfill_id, one.id))
    return chosen + [one.id for one in aside if one.schedule_id not in stuck and places.take(one)]


def _head(line: list[WaitingRun]) -> tuple[int, int, WaitingRun]:
    waiter = line.pop()
    return -waiter.priority, waiter.id, waiter


class _Slots:
    """What is taken and what is left, as waiters go."""

    def __init__(self, busy: Mapping[int, int], room: Mapping[Key, int], of_backfills: Mapping[int, int]) -> None:
        self.busy = defaultdict(int, busy)
        self.room = defaultdict(int, room)
        self.of_backfills = defaultdict(int, of_backfills)

    def take(self, waiter: WaitingRun) -> bool:
        """Let a waiter go if there is a place for it everywhere."""
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
