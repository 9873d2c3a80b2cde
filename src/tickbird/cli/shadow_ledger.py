"""The ledger of a shadow: its recorded ticks, and the periods in which it was a shadow."""

from __future__ import annotations

from array import array
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime
from math import floor, inf

from tickbird.client import Client
from tickbird.domain.errors import InvalidError
from tickbird.domain.ledger.shadow_report import MAX_TICKS, RecordedTicks, SilentPeriod, Span, recorded_ticks
from tickbird.domain.runs.run import SkipRecord
from tickbird.domain.schedules.codec import decode_definition
from tickbird.domain.schedules.definition import Definition
from tickbird.domain.schedules.revision import RevisionRecord
from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.time.instants import DAY, FIRST_SECOND, LAST_SECOND, to_datetime, to_seconds

_PAGE = 1_000
_MAX_SILENT_PERIODS = 10_000


async def shadows_of(client: Client, names: Sequence[str], app: str | None) -> list[Schedule]:
    """Return the named schedules, or all current shadows (of one app, if given)."""
    if names:
        return [await client.schedules.get(name) for name in dict.fromkeys(names)]
    shadows: list[Schedule] = []
    after = ""
    while page := await client.schedules.list(after=after, limit=500):
        shadows += [row.schedule for row in page if is_shadow(row.schedule) and app in (None, row.schedule.app)]
        after = page[-1].schedule.name
    if not shadows:
        raise InvalidError(
            "no schedule is a shadow.",
            field="name",
            hint="Set one with `tickbird set NAME shadow=true`, or give the name of a schedule.",
        )
    return shadows


def is_shadow(schedule: Schedule) -> bool:
    return schedule.definition is not None and schedule.definition.shadow


async def recorded(client: Client, schedule: Schedule, since: float, until: float, now: datetime) -> RecordedTicks:
    """Return the ticks recorded in a range, by the grids that were in force."""
    revisions = await _revisions(client, schedule)
    spans = _spans(revisions, _settled(schedule, now))
    if not spans:
        raise InvalidError(
            f"schedule {schedule.name!r} was never a shadow.",
            field="name",
            hint=f"Use `tickbird set {schedule.name} shadow=true`.",
        )
    definitions = _Definitions(revisions)
    first, last = _second(since), _second(until)
    ticks: array[int] = array("q")
    quiet: list[SilentPeriod] = []
    begun: int | None = None
    async for skip in _skips(client, schedule.name, first, last):
        start, end = to_seconds(skip.first), to_seconds(skip.last)
        begun = start if begun is None else min(begun, start)
        if skip.reason != "shadow":
            if len(quiet) < _MAX_SILENT_PERIODS:
                quiet.append(SilentPeriod(start, end, skip.reason))
            continue
        for tick in recorded_ticks(definitions.of(skip.revision).grid, start, end, first, last):
            ticks.append(tick)
            if len(ticks) > MAX_TICKS:
                raise InvalidError(
                    f"schedule {schedule.name!r} has more than {MAX_TICKS:,} ticks in that range.",
                    field="since",
                    hint="Choose a shorter range with --since and --until.",
                )
    return RecordedTicks(
        schedule.name, sorted(ticks), _without_pruned(spans, definitions, revisions, begun, since), quiet
    )


def _second(at: float) -> int:
    # Two days from the limits of the calendar, because a UTC offset could exceed them.
    return floor(min(max(at, FIRST_SECOND + 2 * DAY), LAST_SECOND - 2 * DAY))


async def _revisions(client: Client, schedule: Schedule) -> list[RevisionRecord]:
    """Return all stored revisions, oldest first."""
    records: list[RevisionRecord] = []
    before: int | None = None
    while page := await client.revisions.list(schedule.name, before=before, limit=_PAGE):
        records += page
        before = page[-1].revision
    return records[::-1]


def _spans(revisions: Sequence[RevisionRecord], settled: float) -> list[Span]:
    """Return the periods in which it was a shadow, up to the last decided tick."""
    spans: list[Span] = []
    ends = [revision.at.timestamp() for revision in revisions[1:]] + [inf]
    for revision, end in zip(revisions, ends, strict=True):
        if revision.definition.get("shadow") is True and revision.action != "delete":
            begin, last = revision.at.timestamp(), min(end, settled)
            if spans and spans[-1][1] == begin:
                spans[-1] = spans[-1][0], last
            elif begin <= last:
                spans.append((begin, last))
    return spans


def _settled(schedule: Schedule, now: datetime) -> float:
    """Return the instant up to which all ticks are decided: now, unless a tick is overdue."""
    look, decided = schedule.next_run_at, schedule.planned_until
    late = schedule.state == "active" and look is not None and look <= now
    return (decided or now).timestamp() if late else now.timestamp()


def _without_pruned(
    spans: Sequence[Span],
    definitions: _Definitions,
    revisions: Sequence[RevisionRecord],
    begun: int | None,
    since: float,
) -> list[Span]:
    """Cut the periods whose records were pruned."""
    first = next((revision for revision in revisions if revision.definition.get("shadow") is True), None)
    if first is None or begun is None:
        return list(spans)
    start = max(first.at.timestamp(), since)
    expected = definitions.of(first.revision).grid.next(floor(start)) if start <= LAST_SECOND else None
    if expected is None or expected >= begun:
        return list(spans)
    return [(max(begin, begun), end) for begin, end in spans if end >= begun]


class _Definitions:
    """Definitions by revision, decoded on demand."""

    def __init__(self, revisions: Sequence[RevisionRecord]) -> None:
        self._raw: Mapping[int, Mapping[str, object]] = {record.revision: record.definition for record in revisions}
        self._decoded: dict[int, Definition] = {}

    def of(self, revision: int) -> Definition:
        if revision not in self._decoded:
            if revision not in self._raw:
                raise InvalidError(
                    f"revision {revision} was pruned.", field="since", hint="Choose a later instant with --since."
                )
            self._decoded[revision] = decode_definition(self._raw[revision])
        return self._decoded[revision]


async def _skips(client: Client, name: str, first: int, last: int) -> AsyncIterator[SkipRecord]:
    """Yield the skips that overlap a range, oldest first, each once."""
    seen: set[int] = set()
    start = to_datetime(first)
    while True:
        page = (await client.ticks.decisions(name, start, to_datetime(last), limit=_PAGE)).skips
        fresh = [skip for skip in page if skip.id not in seen]
        for skip in fresh:
            yield skip
        if len(page) < _PAGE or not fresh:
            return
        seen, start = {skip.id for skip in page}, page[-1].first
