"""Consumer groups: read their offsets and lag, and move, copy, stop, resume or delete them."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from datetime import datetime
from difflib import get_close_matches
from typing import Annotated, TypeVar

from tickbird.client.base import ClientBase
from tickbird.client.parameters import MAX_ID, Note, nullable
from tickbird.domain.errors import ConflictError, InvalidError, NotFoundError
from tickbird.domain.events.groups import ConsumerGroup
from tickbird.domain.events.positions import POSITION_PATTERN, EventPosition, as_position
from tickbird.domain.schedules.json_schema import NAME
from tickbird.domain.text import check_name, check_new_name
from tickbird.domain.workers import Worker, executes
from tickbird.wire.operations import editor, operator, viewer
from tickbird.wire.parameters import Meta

T = TypeVar("T")
GroupName = Annotated[str, Meta(schema={"pattern": NAME["pattern"]}, parse=lambda name: check_name(name, "group"))]
NewGroupName = Annotated[
    str, Meta(schema={"pattern": NAME["pattern"]}, parse=lambda name: check_new_name(name, "scratch"))
]
Position = Annotated[
    int | str | EventPosition | None,
    Meta(
        parse=as_position,
        schema=nullable(
            {
                "anyOf": [
                    {"type": "integer", "minimum": 0, "maximum": MAX_ID},
                    {"type": "string", "pattern": POSITION_PATTERN},
                ]
            }
        ),
        description="Continue after this position: a number, or the `resume_token` of an event; 0 is before the first.",
    ),
]
Instant = Annotated[
    datetime | None, Meta(description="Continue with the first event that got its position at this instant or later.")
]
Force = Annotated[bool, Meta(description="Also if a live worker declares the group.")]


class Consumers(ClientBase):
    """Consumer groups, and their offsets."""

    @viewer.get("list_consumers", "/consumers", "List consumer groups", page=lambda group: group.name)
    async def list(self) -> Sequence[ConsumerGroup]:
        """List the groups by name, with the lag of each partition and the number of dead letters by state."""
        return await self._store.consumers.list(self._namespace)

    @viewer.get("get_consumer", "/consumers/{group}", "Get a consumer group")
    async def get(self, group: GroupName) -> ConsumerGroup:
        """Get one group, with its partitions."""
        groups = await self._store.consumers.list(self._namespace, group=group)
        if not groups:
            raise await self._no_such_group(group)
        return groups[0]

    @operator.post("seek_consumer", "/consumers/{group}/seek", "Move a consumer group", audit="seek_consumer")
    async def seek(
        self, group: GroupName, position: Position = None, at: Instant = None, *, actor: str, note: Note = ""
    ) -> ConsumerGroup:
        """Continue from another position or time in all partitions, and resume the group if it is stopped.

        If it moves back, events are delivered again; if it moves ahead, the events in between are never delivered.
        Unresolved dead letters after the position are skipped, because the group reads these events again.
        """
        after = await self._after(position, at)
        return await self.of_group(group, self._store.consumers.seek(self._namespace, group, after, actor, note=note))

    @editor.post("copy_consumer", "/consumers/{group}/copy", "Copy a consumer group", status=201, audit="copy_consumer")
    async def copy(
        self, group: GroupName, scratch: NewGroupName, position: Position = None, at: Instant = None, *, actor: str
    ) -> ConsumerGroup:
        """Create a scratch group that the same consumer reads too, from another position or time.

        The offsets of the group stay. 409 if there is a group with the name of the scratch group.
        """
        after = await self._after(position, at)
        return await self.of_group(group, self._store.consumers.copy(self._namespace, group, scratch, after, actor))

    @operator.post("stop_consumer", "/consumers/{group}/stop", "Stop a consumer group", audit="stop_consumer")
    async def stop(self, group: GroupName, *, actor: str, reason: Note = "") -> ConsumerGroup:
        """Deliver nothing more to a group until it is resumed; it keeps its offsets."""
        return await self.of_group(group, self._store.consumers.stop(self._namespace, group, actor, reason=reason))

    @operator.post("resume_consumer", "/consumers/{group}/resume", "Resume a consumer group", audit="resume_consumer")
    async def resume(self, group: GroupName, *, actor: str) -> ConsumerGroup:
        """Continue a stopped group where it was; 409 if retention has removed events that it has not read."""
        return await self.of_group(group, self._store.consumers.resume(self._namespace, group, actor))

    @editor.delete(
        "delete_consumer", "/consumers/{group}", "Delete a consumer group", status=204, audit="delete_consumer"
    )
    async def delete(self, group: GroupName, *, force: Force = False, actor: str) -> None:
        """Delete a group with its offsets and dead letters; 409 if a live worker declares it, unless `force`.

        A worker that declares it creates it again, at its start.
        """
        if not force and (worker := await self._find_declaring(await self.get(group))) is not None:
            raise ConflictError(
                f"group {group!r}: worker {worker.id} of app {worker.app!r} declares it, and would create it again at"
                " its start.",
                hint="Remove it from the code first, stop it (`tickbird consumers stop`), or delete it with `--force`.",
            )
        await self.of_group(group, self._store.consumers.delete(self._namespace, group, actor))

    async def _find_declaring(self, group: ConsumerGroup) -> Worker | None:
        """A live worker that may have declared the group last; None if there is none."""
        if group.scratch_of is not None:
            return None
        workers = await self._store.workers.list(self._namespace)
        return next(
            (
                worker
                for worker in workers
                # Workers that began later do not declare it.
                if worker.app == group.app
                and executes(worker)
                and (worker.started_at is None or worker.started_at <= group.declared_at)
            ),
            None,
        )

    async def _after(self, position: int | str | EventPosition | None, at: datetime | None) -> int:
        """The position after which a group continues."""
        if (position is None) == (at is None):
            raise InvalidError(
                "position or at: give exactly one of them.",
                field="position",
                hint="position is a number, at an instant.",
            )
        if at is not None:
            return await self._store.consumers.find_position(self._namespace, at)
        assert position is not None
        start = as_position(position)
        if start.incarnation is not None:
            start.check(await self._store.identity.incarnation())
        return start.position

    async def of_group(self, group: str, call: Awaitable[T]) -> T:
        """Await a call of the store; its error about an unknown group suggests similar names."""
        try:
            return await call
        except NotFoundError:
            raise await self._no_such_group(group) from None

    async def _no_such_group(self, group: str) -> NotFoundError:
        known = [other.name for other in await self._store.consumers.list(self._namespace)]
        close = get_close_matches(group, known, 3)
        hint = f"Did you mean {' or '.join(close)}?" if close else "`tickbird consumers ls` lists the groups."
        where = "" if self._namespace == "default" else f" in namespace {self._namespace!r}"
        return NotFoundError(f"there is no consumer group {group[:200]!r}{where}.", hint=hint)
