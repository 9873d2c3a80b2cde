"""Revisions of a schedule: who made each, when, where from, and what it changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from starlette.responses import Response

from tickbird.client.revisions import HistoryEntry
from tickbird.domain.differences import differences, origin_of
from tickbird.domain.schedule import Schedule
from tickbird.store.protocol import RevisionRecord
from tickbird.web.visits import Door, Visit

_PAGE: Final = 25


def entries_of(records: Sequence[RevisionRecord], most: int) -> list[HistoryEntry]:
    """Revisions, newest first, with what each changed; the one behind the last is only compared with."""
    known = {each.revision: each.definition for each in records}
    found = []
    for record in records[:most]:
        before = {} if record.revision == 1 else known.get(record.revision - 1)
        changes = None if before is None else differences(before, record.definition)
        found.append(HistoryEntry(record, origin_of(record.action, record.actor, record.detail), changes))
    return found


async def find(visit: Visit, name: str) -> Schedule:
    """A schedule by name, also a deleted one; else the page that says which names are like it."""
    return await visit.client.board.find(name) or await visit.client.get(name)


async def revisions(visit: Visit) -> Response:
    """All revisions, a page at a time."""
    schedule = await find(visit, visit.param("name"))
    asked = visit.query.get("before", "")
    before = int(asked) if asked.isascii() and asked.isdigit() and len(asked) <= 9 else None
    records = await visit.client.board.revisions(schedule.id, before=before, limit=_PAGE + 1)
    older = visit.here(before=records[_PAGE - 1].revision) if len(records) > _PAGE else None
    newest = visit.here(before=None) if before else None
    entries = entries_of(records, _PAGE)
    return visit.render("revisions.html", schedule=schedule, entries=entries, older=older, newest=newest)


DOORS: Final = (Door("/schedules/{name:path}/revisions", revisions),)
