"""Revisions of schedules: what each changed, and the way back to one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tickbird.client.base import ClientBase, page_size
from tickbird.domain.errors import DefinitionError, InvalidError, NotFoundError
from tickbird.domain.planning.commands.define import RollBack
from tickbird.domain.schedules.definition import Target
from tickbird.domain.schedules.diff import FieldDiff, RevisionOrigin, differences, revision_origin
from tickbird.domain.schedules.revision import HistoryEntry, RevisionRecord
from tickbird.domain.schedules.schedule import Schedule

_MAX_REVISION = 2**31 - 1


class Revisions(ClientBase):
    """The verbs about revisions."""

    async def revisions(self, name: str, *, before: int | None = None, limit: int = 100) -> Sequence[RevisionRecord]:
        """The revisions of a schedule, newest first, a page at a time: `before` is the last of the page before."""
        return await self._store.schedules.list_revisions((await self._get(name)).id, before=before, limit=limit)

    async def history(self, name: str, *, before: int | None = None, limit: int = 100) -> Sequence[HistoryEntry]:
        """The same, each with what it changed, field by field."""
        found = await self.revisions(name, before=before, limit=page_size(limit) + 1)
        known = {each.revision: each.definition for each in found}
        return [HistoryEntry(each, _origin(each), _changes(each, known)) for each in found[:limit]]

    async def roll_back(
        self, name: str, to: int, *, actor: str, note: str = "", revision: int | None = None
    ) -> Schedule:
        """Make a new revision with the definition of an earlier one.

        On a schedule from code, what differs from the code is set over it and stays so through deploys, as by `update`.
        """
        schedule = await self._get(name)
        old = (await self._revision(schedule, to)).definition
        if not isinstance(old, Mapping):
            # Plain SQL can store any JSON.
            raise DefinitionError(f"revision {to} of {name!r} cannot be read: its definition is not a JSON object.")
        declared: Mapping[str, Any] = {}
        if schedule.app is not None:
            # What was read of it must still hold when it is written.
            declared, revision = await self._declared(schedule), revision or schedule.revision
        target, payload = old.get("target"), old.get("payload")
        if isinstance(target, Mapping) and isinstance(target.get("task"), str) and isinstance(payload, Mapping):
            # Of the task as it is now. It is stored as it was, though.
            await self._checked_payload(Target(target["task"]), payload, unknown_task_ok=True)
        command = RollBack(actor=actor, revision=revision, to=to, definition=old, declared=declared, note=note)
        return (await self._change(name, command)).schedule

    async def _revision(self, schedule: Schedule, number: int) -> RevisionRecord:
        check_revision(number)
        for found in await self._store.schedules.list_revisions(schedule.id, before=number + 1, limit=1):
            if found.revision == number:
                return found
        raise NotFoundError(
            f"schedule {schedule.name!r} has no revision {number}, or it is no longer kept;",
            hint=f"it is at revision {schedule.revision}; `tickbird revisions {schedule.name}` shows those there are.",
        )


def check_revision(number: object) -> int:
    """The number of a revision to go back to, or an InvalidError."""
    if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= _MAX_REVISION:
        raise InvalidError(
            f"to: {str(number)[:60]!r} is not the number of a revision;", field="to", hint="the first is 1."
        )
    return number


def _origin(record: RevisionRecord) -> RevisionOrigin:
    return revision_origin(record.action, record.actor, record.detail)


def _changes(record: RevisionRecord, known: Mapping[int, Mapping[str, Any]]) -> Sequence[FieldDiff] | None:
    if record.revision == 1:
        return differences({}, record.definition)
    before = known.get(record.revision - 1)
    return None if before is None else differences(before, record.definition)
