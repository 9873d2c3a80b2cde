"""Backfills over HTTP, and the runs that are held after an outage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from tickbird.client.backfills import Backfills
from tickbird.client.http.base import Remote, instant, instant_ceil, schedule_path, sent
from tickbird.domain.planning.backfills import BackfillPlan, BackfillRecord, Order, no_such_backfill
from tickbird.domain.runs.held import Drop, HeldSchedule, Release
from tickbird.domain.runs.run import RunRecord
from tickbird.wire.decode.backfills import read_backfill, read_backfill_plan
from tickbird.wire.decode.runs import read_held, read_run

_PAGE = 1_000


class RemoteBackfills(Remote, Backfills):
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
        body = {
            "first": instant_ceil(first),
            "last": instant(last),
            "concurrency": concurrency,
            "order": order,
            "payload": None if payload is None else sent(payload),
            "note": note,
        }
        path = f"{schedule_path(name)}/backfill{'/preview' if dry_run else ''}"
        return await self._post(path, read_backfill_plan, body, revision=revision)

    async def get_backfill(self, backfill_id: int) -> BackfillRecord:
        """A backfill by id, and how far it is."""
        return await self._fetch(_path(backfill_id), read_backfill)

    async def list_backfills(
        self, *, schedule: str | None = None, before: int | None = None, limit: int = 20
    ) -> Sequence[BackfillRecord]:
        """Backfills, newest first, a page at a time: `before` is the last id of the page before."""
        return await self._pages("/backfills", read_backfill, limit, before, {"schedule": schedule})

    async def cancel_backfill(
        self, backfill_id: int, *, actor: str, note: str = "", stop_running: bool = False
    ) -> BackfillRecord:
        """Cancel the runs of a backfill that have not started; ask those that run to stop if `stop_running`."""
        body = {"note": note, "stop_running": stop_running}
        return await self._post(f"{_path(backfill_id)}/cancel", read_backfill, body)

    async def list_held_schedules(self, name: str | None = None) -> Sequence[HeldSchedule]:
        """The schedules of which runs are held after an outage, or one of them: how many, and of which ticks."""
        found: list[HeldSchedule] = []
        while page := await self._pages(
            "/held", read_held, _PAGE, found[-1].schedule if found else None, {"schedule": name}
        ):
            found += page
            if len(page) < _PAGE:
                break
        return found

    async def list_held_runs(self, name: str, *, after: int = 0, limit: int = 100) -> Sequence[RunRecord]:
        """The held runs of a schedule, oldest first, a page at a time: `after` is the last id of the page before."""
        return await self._pages(f"{schedule_path(name)}/held", read_run, limit, after or None)

    async def release_held(
        self, name: str, *, actor: str, count: int | None = None, per_minute: int | None = None, note: str = ""
    ) -> int:
        """Let the oldest held runs of a schedule run, or all of them, at most so many a minute; how many that were."""
        Release(actor="remote", count=count, per_minute=per_minute, note=note)
        body = {"count": count, "per_minute": per_minute, "note": note}
        return await self._post(f"{schedule_path(name)}/held/release", lambda done: int(done["released"]), body)

    async def drop_held(self, name: str, *, actor: str, count: int | None = None, note: str = "") -> int:
        """Cancel the oldest held runs of a schedule, or all of them; how many that were."""
        Drop(actor="remote", count=count, note=note)
        body = {"count": count, "note": note}
        return await self._post(f"{schedule_path(name)}/held/drop", lambda done: int(done["dropped"]), body)


def _path(backfill_id: int) -> str:
    if not 0 < backfill_id < 2**63:
        raise no_such_backfill(backfill_id)
    return f"/backfills/{backfill_id}"
