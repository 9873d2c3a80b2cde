"""Ticks over HTTP: those to come, what was decided for those that came, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from tickbird.client.base import page_size
from tickbird.client.http.base import Remote, instant, instant_ceil, schedule_path
from tickbird.client.ticks import Ticks
from tickbird.domain.explain.explanation import Explanation
from tickbird.domain.ledger.activity import Activity
from tickbird.domain.ledger.decisions import TickDecisions
from tickbird.domain.ledger.report import LedgerReport
from tickbird.domain.planning.upcoming import UpcomingTick, check_count
from tickbird.wire.decode.ticks import read_activity, read_audit, read_decisions, read_explanation, read_tick

# An audit goes through a whole ledger.
_AUDIT = 300.0


class RemoteTicks(Remote, Ticks):
    """The verbs about ticks."""

    async def next_ticks(self, name: str, count: int = 10) -> Sequence[UpcomingTick]:
        """The ticks to come, as the schedule stands now."""
        path = f"{schedule_path(name)}/next"
        return await self._fetch(path, lambda found: [*map(read_tick, found["items"])], {"count": check_count(count)})

    async def why(self, name: str, at: datetime, *, tz: str | None = None) -> Explanation:
        """The whole chain of what was, or will be, decided for an instant, on the schedule's clock or another."""
        query = {"at": instant(at), "tz": tz}
        return replace(await self._fetch(f"{schedule_path(name)}/why", read_explanation, query), at=at)

    async def tick_decisions(self, name: str, first: datetime, last: datetime, *, limit: int = 1_000) -> TickDecisions:
        """The runs and skips whose ticks touch a range."""
        query = {"first": instant_ceil(first), "last": instant(last), "limit": page_size(limit)}
        return await self._fetch(f"{schedule_path(name)}/decisions", read_decisions, query)

    async def verify_ledger(
        self, name: str, first: datetime | None = None, last: datetime | None = None, *, page: int = 10_000
    ) -> LedgerReport:
        """Do the ticks that were to be expected in a range have one decision each, and no decision lacks its tick?"""
        query = {"first": instant(first), "last": instant(last)}
        return await self._fetch(f"{schedule_path(name)}/verify", read_audit, query, patience=_AUDIT)

    async def activity(
        self, since: datetime, *, schedule: str | None = None, limit: int = 10_000
    ) -> Sequence[Activity]:
        """The ticks decided and the runs ended since an instant, oldest first; of each kind the newest `limit`."""
        query = {"since": instant(since), "schedule": schedule, "limit": page_size(limit)}
        found = await self._fetch("/activity", lambda page: [*map(read_activity, page["items"])], query)
        return [each for each in found if each.at >= since]
