"""Everything that a store says of the past, read by its public verbs."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from tickbird.domain.runs.run import RunRecord, SkipRecord
from tickbird.domain.schedules.revision import RevisionRecord
from tickbird.domain.schedules.schedule import Schedule
from tickbird.store.protocol.store import Store
from tickbird.stores import open_store
from tickbird.testing.faults.definitions import Unreadable, read_spec
from tickbird.testing.simulation.specs import Spec

_EVER = datetime(2000, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC)
_ALL = 1_000_000
_PAGE = 500


@dataclass
class History:
    """A schedule with its revisions and decisions."""

    schedule: Schedule
    revisions: Sequence[RevisionRecord]
    runs: list[RunRecord] = field(default_factory=list)
    skips: Sequence[SkipRecord] = ()
    specs: dict[int, Spec] = field(default_factory=dict)
    # Why the oracle has no opinion on it, if so.
    unread: str = ""

    @property
    def name(self) -> str:
        """The schedule's."""
        return self.schedule.name

    def ticks(self, since: int, until: int) -> list[tuple[int, int]]:
        """Every tick of (since, until] with the revision in force: an edit counts for what comes after it."""
        found: list[tuple[int, int]] = []
        begins = [revision.at.timestamp() for revision in self.revisions]
        for place, revision in enumerate(self.revisions):
            first = max(since, _floor(begins[place]))
            last = until if place + 1 == len(begins) else min(until, _floor(begins[place + 1]))
            if revision.action != "delete" and first < last:
                ticks = self.specs[revision.revision].grid((since, until)).between(first, last)
                found += [(tick, revision.revision) for tick in ticks]
        return found


def _floor(instant: float) -> int:
    return int(instant // 1)


@dataclass
class Evidence:
    """The schedules, and the runs of none."""

    histories: dict[str, History]
    runs: dict[int, RunRecord]
    now: datetime


async def read_evidence(url: str, namespace: str = "default") -> Evidence:
    """All of it; the store should be at rest."""
    store = open_store(url)
    await store.open()
    try:
        return await _read(store, namespace)
    finally:
        await store.close()


async def _read(store: Store, namespace: str) -> Evidence:
    now = await store.now()
    runs = sorted(await store.list_runs(namespace, limit=_ALL), key=lambda run: run.id)
    histories: dict[str, History] = {}
    after = ""
    while page := await store.list_schedules(namespace, after=after, limit=_PAGE):
        for row in page:
            schedule = row.schedule
            revisions = sorted(await store.list_revisions(schedule.id, limit=_ALL), key=lambda each: each.revision)
            skips = (await store.tick_decisions(schedule.id, *_EVER, limit=_ALL)).skips
            history = History(schedule, revisions, skips=skips)
            try:
                history.specs = {each.revision: read_spec(each.definition) for each in revisions}
            except Unreadable as error:
                history.unread = str(error)
            histories[schedule.name] = history
        after = page[-1].schedule.name
    for run in runs:
        if run.schedule is not None and run.schedule in histories:
            histories[run.schedule].runs.append(run)
    return Evidence(histories, {run.id: run for run in runs}, now)


def within(ticks: Sequence[int], first: datetime, last: datetime) -> Sequence[int]:
    """The ticks of [first, last]."""
    begin, end = int(first.timestamp()), int(last.timestamp())
    return ticks[bisect_left(ticks, begin) : bisect_left(ticks, end + 1)]
