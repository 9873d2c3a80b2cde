"""Backfills, and the runs that are held after an outage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from tickbird.client.base import ClientBase, page_size
from tickbird.domain.planning.backfills import BackfillPlan, BackfillRecord, NewBackfill, Order, no_such_backfill
from tickbird.domain.runs.held import Drop, HeldSchedule, Release
from tickbird.domain.runs.run import RunRecord
from tickbird.domain.text import check_text
from tickbird.domain.time.instants import to_seconds, to_seconds_ceil


class Backfills(ClientBase):
    """The verbs about ticks of the past that shall run."""

    async def backfill(
        self,
        name: str,
        first: datetime,
        last: datetime,
        *,
        actor: str,
        concurrency: int = 1,
        order: Order = "oldest",
        payload: Mapping[str, Any] | None = None,
        note: str = "",
        dry_run: bool = False,
        revision: int | None = None,
    ) -> BackfillPlan:
        """Run the ticks from `first` to `last`, both included, that have no run; a dry run only tells which."""
        if payload is not None:
            definition = (await self._get(name)).definition
            if definition is not None:
                payload = await self._checked_payload(definition.target, payload, unknown_task_ok=True)
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

    async def get_backfill(self, backfill_id: int) -> BackfillRecord:
        """A backfill by id, and how far it is."""
        if not 0 < backfill_id < 2**63:
            raise no_such_backfill(backfill_id)
        return await self._store.backfills.get(self._namespace, backfill_id)

    async def list_backfills(
        self, *, schedule: str | None = None, before: int | None = None, limit: int = 20
    ) -> Sequence[BackfillRecord]:
        """Backfills, newest first, a page at a time: `before` is the last id of the page before."""
        if schedule is not None:
            await self._find(schedule)
        return await self._store.backfills.list(
            self._namespace, schedule=schedule, before=before, limit=page_size(limit)
        )

    async def cancel_backfill(
        self, backfill_id: int, *, actor: str, note: str = "", stop_running: bool = False
    ) -> BackfillRecord:
        """Cancel the runs of a backfill that have not started; ask those that run to stop if `stop_running`."""
        await self.get_backfill(backfill_id)
        check_text(actor, "actor", minimum=1, maximum=200)
        return await self._store.backfills.cancel(
            self._namespace, backfill_id, actor, note=check_text(note, "note"), stop_running=stop_running
        )

    async def list_held_schedules(self, name: str | None = None) -> Sequence[HeldSchedule]:
        """The schedules of which runs are held after an outage, or one of them: how many, and of which ticks."""
        if name is not None:
            await self._find(name)
        return await self._store.held.list_schedules(self._namespace, schedule=name)

    async def list_held_runs(self, name: str, *, after: int = 0, limit: int = 100) -> Sequence[RunRecord]:
        """The held runs of a schedule, oldest first, a page at a time: `after` is the last id of the page before."""
        await self._find(name)
        return await self._store.held.list_runs(self._namespace, name, after=after, limit=page_size(limit))

    async def release_held(
        self, name: str, *, actor: str, count: int | None = None, per_minute: int | None = None, note: str = ""
    ) -> int:
        """Let the oldest held runs of a schedule run, or all of them, at most so many a minute; how many that were."""
        decision = Release(actor=actor, count=count, per_minute=per_minute, note=note)
        return await self._store.held.resolve(self._namespace, check_text(name, "schedule"), decision)

    async def drop_held(self, name: str, *, actor: str, count: int | None = None, note: str = "") -> int:
        """Cancel the oldest held runs of a schedule, or all of them; how many that were."""
        decision = Drop(actor=actor, count=count, note=note)
        return await self._store.held.resolve(self._namespace, check_text(name, "schedule"), decision)
