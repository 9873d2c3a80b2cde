"""Adoption: schedules in memory become durable, and return to memory if a tick is doubled, lost or late."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal

from tickbird.client import Client
from tickbird.domain.errors import DefinitionError, NotFoundError
from tickbird.domain.schedules.canary import is_in_share
from tickbird.domain.schedules.definition import Definition
from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.time.instants import iso, to_datetime, to_seconds

DAYS: Final = 7
# Seconds between two checks of the adopted schedules.
_INTERVAL: Final = 60.0
_MAX_DECISIONS: Final = 10_000

Fate = Literal["adopt", "not in the share", "not chosen", "durable", "other owner", "not stored", "not active"]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A schedule that the code declares in memory: its ticks of the next week by the code and as a durable schedule."""

    name: str
    fate: Fate
    # None: the ticks cannot be counted here, because the store has the days of its calendars.
    ticks_in_memory: int | None
    ticks_durable: int | None = None
    next_at: datetime | None = None
    # The first tick that only one of both sides has.
    differs_at: datetime | None = None


async def list_candidates(
    client: Client, app: str, declared: Mapping[str, Definition], *, share: float | None, names: Sequence[str]
) -> list[Candidate]:
    """The schedules that code declares in memory, by name, and what an adoption does with each."""
    if unknown := sorted(set(names) - declared.keys()):
        raise NotFoundError(f"the app declares no schedule {unknown[0][:200]!r}.", hint="Check the name.")
    now = to_seconds(await client.system.now())
    candidates = []
    for name, definition in sorted(declared.items()):
        if definition.durable:
            continue
        try:
            stored: Schedule | None = await client.schedules.get(name)
        except NotFoundError:
            stored = None
        candidates.append(_candidate(client, app, name, definition, stored, now, share, names))
    return candidates


def _candidate(
    client: Client,
    app: str,
    name: str,
    declared: Definition,
    stored: Schedule | None,
    now: int,
    share: float | None,
    names: Sequence[str],
) -> Candidate:
    in_memory = _ticks(declared, now)
    if stored is None or stored.definition is None:
        return Candidate(name, "not stored", None if in_memory is None else len(in_memory))
    durable = _ticks(stored.definition, now)
    fate: Fate = "adopt"
    if stored.app != app:
        fate = "other owner"
    elif not stored.in_memory:
        fate = "durable"
    elif stored.state not in ("active", "paused"):
        fate = "not active"
    elif names and name not in names:
        fate = "not chosen"
    elif share is not None and not is_in_share(stored.namespace, name, share):
        fate = "not in the share"
    differing = sorted(set(in_memory or ()) ^ set(durable or ())) if None not in (in_memory, durable) else []
    return Candidate(
        name,
        fate,
        None if in_memory is None else len(in_memory),
        None if durable is None else len(durable),
        to_datetime(durable[0]) if durable else None,
        to_datetime(differing[0]) if differing else None,
    )


def _ticks(definition: Definition, now: int) -> list[int] | None:
    """The ticks of the next week; None if the closed days of calendars are unknown here."""
    ticks: list[int] = []
    try:
        tick = definition.grid.next(now)
        while tick is not None and tick <= now + DAYS * 86_400:
            ticks.append(tick)
            tick = definition.grid.next(tick)
    except DefinitionError:
        return None
    return ticks


async def make_durable(client: Client, names: Sequence[str], actor: str) -> None:
    """Make these schedules durable, one by one."""
    for name in names:
        await client.schedules.update(name, actor=actor, durable=True)


async def return_to_memory(client: Client, names: Sequence[str], actor: str) -> None:
    """Undo an adoption: `durable` has the value of the code again."""
    for name in names:
        await client.schedules.update(name, actor=actor, unset=["durable"])


async def watch(
    client: Client,
    names: Sequence[str],
    seconds: float,
    *,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> Mapping[str, str]:
    """Watch adopted schedules for some time; returns the first problem of each, as soon as there is one."""
    since = checked_at = await client.system.now()
    until = since + timedelta(seconds=seconds)
    while True:
        now = await client.system.now()
        problems = {
            name: problem for name in names if (problem := await _problem(client, name, since, checked_at, now))
        }
        if problems or now >= until:
            return problems
        checked_at = now
        await sleep(min(_INTERVAL, (until - now).total_seconds()))


async def _problem(client: Client, name: str, since: datetime, checked_at: datetime, now: datetime) -> str:
    """A doubled, lost or late tick since an instant; empty if there is none. Runs are read from `checked_at` on."""
    schedule = await client.schedules.get(name)
    if schedule.definition is None or schedule.state == "parked":
        return f"it is parked: {schedule.error}"
    report = await client.ticks.verify(name, since, now)
    for finding in report.findings:
        return f"{finding.kind} at {iso(finding.first)}: {finding.text}"
    grace = timedelta(seconds=schedule.definition.grace)
    decisions = await client.ticks.decisions(name, checked_at, now, limit=_MAX_DECISIONS)
    for skip in decisions.skips:
        if skip.reason == "misfire":
            return f"lost: the tick {iso(to_seconds(skip.first))} was skipped as a misfire"
    for run in decisions.runs:
        is_late = run.origin == "catch_up" or run.created_at - run.due_at > grace
        if is_late and run.scheduled_for is not None:
            return (
                f"late: the tick {iso(to_seconds(run.scheduled_for))} was planned at {iso(to_seconds(run.created_at))}"
            )
    return ""
