"""The revisions of a schedule, with actor, time, origin and changes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from starlette.responses import Response

from tickbird.domain.schedules.diff import differences, revision_origin
from tickbird.domain.schedules.revision import HistoryEntry, RevisionRecord
from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.time.instants import FIRST_SECOND, LAST_SECOND, to_datetime
from tickbird.web.page_request import PageRequest, PageRoute

_PAGE: Final = 25
# Details of audit entries that are epoch seconds.
_INSTANTS: Final = ("tick", "to", "until", "due_at", "move_to")


@dataclass(frozen=True, slots=True)
class Entry(HistoryEntry):
    """A revision with its details: instants and numbers by name."""

    details: Sequence[tuple[str, datetime | int]] = ()


def entries_of(records: Sequence[RevisionRecord], maximum: int) -> list[Entry]:
    """Return the first `maximum` records with their changes; further records are only used for the diff."""
    definitions = {record.revision: record.definition for record in records}
    entries = []
    for record in records[:maximum]:
        before = {} if record.revision == 1 else definitions.get(record.revision - 1)
        changes = None if before is None else differences(before, record.definition)
        origin = revision_origin(record.action, record.actor, record.detail)
        entries.append(Entry(record, origin, changes, list(_detail(record))))
    return entries


def _detail(record: RevisionRecord) -> Iterator[tuple[str, datetime | int]]:
    """Yield the valid details of a revision; plain SQL may have written anything."""
    for name in _INSTANTS:
        number = record.detail.get(name)
        if isinstance(number, int) and not isinstance(number, bool) and FIRST_SECOND <= number <= LAST_SECOND:
            yield name.replace("_", " "), to_datetime(number)
    count = record.detail.get("count")
    if isinstance(count, int) and not isinstance(count, bool):
        yield "count", count


async def find(visit: PageRequest, name: str) -> Schedule:
    """Find a schedule, also a deleted one; the NotFoundError suggests similar names."""

    async def read() -> Schedule:
        return await visit.board.find(name) or await visit.client.schedules.get(name)

    return await visit.readings.share((visit.namespace, "found", name), read)


async def revisions(visit: PageRequest) -> Response:
    schedule = await find(visit, visit.schedule_name)
    text = visit.query.get("before", "")
    before = int(text) if text.isascii() and text.isdigit() and len(text) <= 9 else None
    records = await visit.board.revisions(schedule.id, before=before, limit=_PAGE + 1)
    older = visit.here(before=records[_PAGE - 1].revision) if len(records) > _PAGE else None
    newest = visit.here(before=None) if before else None
    entries = entries_of(records, _PAGE)
    return visit.render("revisions.html", schedule=schedule, entries=entries, older=older, newest=newest)


ROUTES: Final = (PageRoute("/schedules/{name:path}/revisions", revisions),)
