"""Revisions of schedules: their changes, and rollbacks to one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Annotated, Any

from tickbird.client.base import ClientBase
from tickbird.client.parameters import Note, ScheduleName
from tickbird.client.responses import schedule_change, schedule_warnings
from tickbird.domain.access.tokens import Role
from tickbird.domain.errors import DefinitionError, InvalidError, NotFoundError
from tickbird.domain.planning.commands.define import RollBack, override_notice
from tickbird.domain.schedules.codec import decode_field
from tickbird.domain.schedules.definition import Target
from tickbird.domain.schedules.revision import (
    MAX_REVISION,
    HistoryEntry,
    RevisionRecord,
    check_revision,
    history_entries,
)
from tickbird.domain.schedules.schedule import Schedule
from tickbird.wire.operations import editor, viewer
from tickbird.wire.parameters import Meta

Revision = Annotated[int, Meta(schema={"minimum": 1, "maximum": MAX_REVISION}, parse=check_revision)]


async def _warnings(client: Any, schedule: Schedule, arguments: Mapping[str, Any]) -> list[str]:
    notice = override_notice(schedule)
    return [*await schedule_warnings(client, schedule, arguments), *([notice] if notice else [])]


class Revisions(ClientBase):
    """Revisions of schedules."""

    @viewer.get(
        "list_revisions", "/schedules/{name}/revisions", "List revisions", page=lambda entry: entry.revision.revision
    )
    async def history(
        self, name: ScheduleName, *, before: int | None = None, limit: int = 100
    ) -> Sequence[HistoryEntry]:
        """List every revision, newest first: its definition, changed fields, actor, time and origin."""
        # One more, since the changes of a revision need the revision before it.
        schedule_id, maximum = (await self._get(name)).id, limit + 1
        records = await self._store.schedules.list_revisions(schedule_id, before=before, limit=maximum)
        return history_entries(records)[:limit]

    async def list(self, name: str, *, before: int | None = None, limit: int = 100) -> Sequence[RevisionRecord]:
        """The revisions without their changes."""
        return [entry.revision for entry in await self.history(name, before=before, limit=limit)]

    @editor.post(
        "roll_back",
        "/schedules/{name}/roll-back",
        "Roll back to a revision",
        **schedule_change("roll_back", warnings=_warnings),
    )
    async def roll_back(
        self,
        name: ScheduleName,
        to: Revision,
        *,
        actor: str,
        note: Note = "",
        revision: int | None = None,
        granted: Role | None = None,
    ) -> Schedule:
        """Create a new revision with the definition of an earlier one; 409 if the definitions are equal.

        On a schedule from code, fields that differ from the code become overrides, which survive deploys.
        """
        schedule = await self._get(name)
        old = (await self._revision(schedule, to)).definition
        if not isinstance(old, Mapping):
            # Plain SQL can store any JSON.
            raise DefinitionError(
                f"revision {to} of {name!r} cannot be read: its definition is not a JSON object.",
                hint=f"Choose another revision: `tickbird revisions {name}` lists them.",
            )
        if granted is not None:
            # A definition that cannot be read is refused below, with the reason.
            with suppress(InvalidError):
                await self._check_role(name, decode_field("target", old.get("target")), granted)
        declared: Mapping[str, Any] = {}
        if schedule.app is not None:
            # The schedule must not have changed between the read and the write.
            declared, revision = await self._declared(schedule), revision or schedule.revision
        target, payload = old.get("target"), old.get("payload")
        if isinstance(target, Mapping) and isinstance(target.get("task"), str) and isinstance(payload, Mapping):
            # Checked against the task as it is now, but stored as it was.
            await self._checked_payload(Target(target["task"]), payload, unknown_task_ok=True)
        command = RollBack(actor=actor, revision=revision, to=to, definition=old, declared=declared, note=note)
        return (await self._change(name, command)).schedule

    async def _revision(self, schedule: Schedule, number: int) -> RevisionRecord:
        for record in await self._store.schedules.list_revisions(schedule.id, before=number + 1, limit=1):
            if record.revision == number:
                return record
        raise NotFoundError(
            f"schedule {schedule.name!r} has no revision {number}, or it was pruned.",
            hint=f"The current revision is {schedule.revision}. `tickbird revisions {schedule.name}` lists them.",
        )
