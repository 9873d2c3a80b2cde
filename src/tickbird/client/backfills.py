"""Backfills: runs of ticks that have none."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

from tickbird.client.base import ClientBase
from tickbird.client.parameters import MAX_ID, From, Note, OfSchedule, Payload, ScheduleName
from tickbird.domain.planning.backfills import (
    MAX_CONCURRENCY,
    BackfillPlan,
    BackfillRecord,
    NewBackfill,
    Order,
    no_such_backfill,
)
from tickbird.domain.text import check_text
from tickbird.domain.time.instants import to_seconds, to_seconds_ceil
from tickbird.wire.operations import operator, viewer
from tickbird.wire.parameters import Meta


def check_backfill_id(backfill_id: int) -> None:
    if not 0 < backfill_id <= MAX_ID:
        raise no_such_backfill(backfill_id)


BackfillId = Annotated[int, Meta(ge=1, le=MAX_ID, check=check_backfill_id)]
Concurrency = Annotated[int, Meta(schema={"minimum": 1, "maximum": MAX_CONCURRENCY})]


class Backfills(ClientBase):
    """Runs of ticks that have none."""

    @operator.post("backfill", "/schedules/{name}/backfill", "Create a backfill", audit="backfill")
    async def create(
        self,
        name: ScheduleName,
        first: From,
        last: datetime,
        *,
        actor: str,
        concurrency: Concurrency = 1,
        order: Order = "oldest",
        payload: Payload = None,
        note: Note = "",
        dry_run: Annotated[bool, Meta(description="Only return which ticks would run.")] = False,
        revision: int | None = None,
    ) -> BackfillPlan:
        """Create a run for each tick from `first` to `last`, inclusive, that has none; they run after all others."""
        if payload is not None:
            payload = await self._payload_for(name, payload)
        new = NewBackfill(
            actor=actor,
            first=to_seconds_ceil(first),
            last=to_seconds(last),
            concurrency=concurrency,
            order=order,
            payload=payload,
            note=note,
            revision=revision,
        )
        return await self._store.backfills.create(self._namespace, check_text(name, "schedule"), new, dry_run=dry_run)

    @viewer.post("preview_backfill", "/schedules/{name}/backfill/preview", "Preview a backfill")
    async def preview(
        self,
        name: ScheduleName,
        first: From,
        last: datetime,
        *,
        actor: str,
        concurrency: Concurrency = 1,
        order: Order = "oldest",
        payload: Payload = None,
        note: Note = "",
        revision: int | None = None,
    ) -> BackfillPlan:
        """List the ticks from `first` to `last` that have no run; this creates nothing."""
        options = {"concurrency": concurrency, "order": order, "payload": payload, "note": note, "revision": revision}
        return await self.create(name, first, last, actor=actor, dry_run=True, **options)  # type: ignore[arg-type]

    @viewer.get("list_backfills", "/backfills", "List backfills", page=lambda backfill: backfill.id)
    async def list(
        self, *, schedule: OfSchedule = None, before: int | None = None, limit: int = 20
    ) -> Sequence[BackfillRecord]:
        """List backfills with their progress, newest first."""
        if schedule is not None:
            await self._find(schedule)
        return await self._store.backfills.list(self._namespace, schedule=schedule, before=before, limit=limit)

    @viewer.get("get_backfill", "/backfills/{id}", "Get a backfill", keys={"backfill_id": "id"})
    async def get(self, backfill_id: BackfillId) -> BackfillRecord:
        """Get a backfill and the number of its runs in each status."""
        check_backfill_id(backfill_id)
        return await self._store.backfills.get(self._namespace, backfill_id)

    @operator.post(
        "cancel_backfill",
        "/backfills/{id}/cancel",
        "Cancel a backfill",
        keys={"backfill_id": "id"},
        audit="cancel_backfill",
    )
    async def cancel(
        self,
        backfill_id: BackfillId,
        *,
        actor: str,
        note: Note = "",
        stop_running: Annotated[bool, Meta(description="Also ask running runs to stop.")] = False,
    ) -> BackfillRecord:
        """Cancel the runs that have not started; running ones are asked to stop only with `stop_running`."""
        await self.get(backfill_id)
        return await self._store.backfills.cancel(
            self._namespace, backfill_id, actor, note=note, stop_running=stop_running
        )
