"""Records: schedules with their revisions, runs and skips, as a store returns them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from tickbird.domain.leadership import MAX_TERMS, LeaderTerm
from tickbird.domain.runs.run import RunRecord, SkipRecord
from tickbird.domain.schedules.revision import RevisionRecord
from tickbird.domain.schedules.schedule import Schedule
from tickbird.proof.specs import NAMESPACE, Spec, UnsupportedDefinition, read_spec
from tickbird.store.protocol.store import Store

_ALL_TIME: Final = datetime(2000, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC)
_NO_LIMIT: Final = 1_000_000
_PAGE: Final = 500

SpecReader = Callable[[Mapping[str, Any]], Spec]


@dataclass
class ScheduleRecords:
    """A schedule with its revisions, oldest first, and its decisions."""

    schedule: Schedule
    revisions: Sequence[RevisionRecord]
    runs: list[RunRecord] = field(default_factory=list)
    skips: Sequence[SkipRecord] = ()
    # By revision; empty if one of them is unsupported.
    specs: dict[int, Spec] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.schedule.name

    def ticks(self, since: int, until: int) -> dict[int, int]:
        """Every tick of (since, until] → the revision in force; an edit applies to the ticks after it."""
        ticks: dict[int, int] = {}
        begins = [int(revision.at.timestamp()) for revision in self.revisions]
        for revision, begin, end in zip(self.revisions, begins, [*begins[1:], until], strict=True):
            first, last = max(since, begin), min(until, end)
            if revision.action != "delete" and first < last:
                grid = self.specs[revision.revision].ticks(first + 1, last)
                ticks.update(dict.fromkeys(grid, revision.revision))
        return ticks


@dataclass
class StoreRecords:
    """All schedules by name, and all runs by id, also those of no schedule."""

    schedules: dict[str, ScheduleRecords]
    runs: dict[int, RunRecord]
    # Of leaders, newest first; empty without leader mode.
    terms: Sequence[LeaderTerm] = ()


async def read_records(store: Store, read: SpecReader = read_spec) -> StoreRecords:
    """Read a store that no longer changes."""
    runs = sorted(await store.runs.list(NAMESPACE, limit=_NO_LIMIT), key=lambda run: run.id)
    schedules: dict[str, ScheduleRecords] = {}
    after = ""
    while page := await store.schedules.list(NAMESPACE, after=after, limit=_PAGE):
        for row in page:
            schedule = row.schedule
            revisions = await store.schedules.list_revisions(schedule.id, limit=_NO_LIMIT)
            records = ScheduleRecords(schedule, sorted(revisions, key=lambda revision: revision.revision))
            records.skips = (await store.ledger.tick_decisions(schedule.id, *_ALL_TIME, limit=_NO_LIMIT)).skips
            records.specs = _read_specs(records.revisions, read)
            schedules[schedule.name] = records
        after = page[-1].schedule.name
    for run in runs:
        if run.schedule is not None and run.schedule in schedules:
            schedules[run.schedule].runs.append(run)
    terms = (await store.leadership.get(limit=MAX_TERMS)).terms if "leadership" in store.capabilities else ()
    return StoreRecords(schedules, {run.id: run for run in runs}, terms)


def _read_specs(revisions: Sequence[RevisionRecord], read: SpecReader) -> dict[int, Spec]:
    try:
        return {revision.revision: read(revision.definition) for revision in revisions}
    except UnsupportedDefinition:
        return {}
