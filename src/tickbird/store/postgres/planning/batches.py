"""Planning steps: a batch of due schedules, and the search for the schedule that makes a batch fail."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

import psycopg

from tickbird.domain.errors import StoreError
from tickbird.domain.planning.plan_result import PlanResult, RefusedPlan
from tickbird.domain.schedules.codec import FORMAT
from tickbird.domain.time.clock_bounds import ClockBounds
from tickbird.domain.time.zone_data import Zones
from tickbird.domain.workers import HandOff
from tickbird.store.postgres.database.connection import Connections, Session
from tickbird.store.postgres.database.errors import is_of_row, refusal_text, translate
from tickbird.store.postgres.planning import planning
from tickbird.store.postgres.planning.planning import Batch
from tickbird.store.postgres.rows import numbers
from tickbird.store.shared.planning.backoff import PlanBackoff
from tickbird.store.shared.planning.revision_cache import RevisionCache

# A schedule that is due may be locked by another planner, which may never commit.
_RECHECK_AFTER: Final = timedelta(seconds=1)
_MAX_RETRIES: Final = 20
# Seconds after which a step leaves the rest of a search, or of the schedules to be tried again, to the next one.
_MAX_SEARCH: Final = 5.0
_MAX_RETRY_TIME: Final = 1.0


@dataclass(frozen=True, slots=True)
class Step:
    """One planning step of a process."""

    connections: Connections
    known: RevisionCache
    backoff: PlanBackoff
    zones: Zones
    expected: ClockBounds | None
    now: datetime | None

    async def plan(self, limit: int, hand_off: HandOff | None, wake: Callable[[], None]) -> PlanResult:
        """Plan up to `limit` due schedules, then refused ones whose backoff is over."""
        now, next_at, due = await self._peek()
        retries = self.backoff.due(now, _MAX_RETRIES)
        if not due and not retries:
            return PlanResult(now, next_at=self.backoff.next_at(next_at))
        if not self._is_expected(now):
            return PlanResult(now)
        batch, more = Batch(now=now), False
        if due:
            ids = await self._plan_due(limit, hand_off, batch)
            more = len(ids) >= limit
        began = time.monotonic()
        for schedule_id in retries:
            await self._retry(schedule_id, batch)
            if time.monotonic() - began > _MAX_RETRY_TIME:
                break
        if batch.runs > len(batch.leased):
            wake()
        more |= batch.left
        if not more:
            # A schedule that another planner had locked may still be due.
            looked_at, next_at, due = await self._peek()
            if due:
                next_at = min(filter(None, (next_at, looked_at + _RECHECK_AFTER)))
        return PlanResult(
            batch.now or now,
            batch.schedules,
            batch.runs,
            batch.skips,
            tuple(batch.parked),
            self.backoff.next_at(next_at),
            more=more,
            leased=batch.leased,
            refused=tuple(batch.refused),
        )

    def _bounds(self) -> dict[str, Any]:
        return {"now": self.now, "format": FORMAT, "zones": self.zones.generation}

    def _is_expected(self, now: datetime) -> bool:
        return self.expected is None or self.expected[0] <= now <= self.expected[1]

    async def _peek(self) -> tuple[datetime, datetime | None, bool]:
        """The store's clock, the next instant at which a schedule is due, and whether one is due already."""
        bounds = {**self._bounds(), "refused": numbers(self.backoff.ids)}
        try:
            [(now, next_at, due)] = await self.connections.statement(lambda db: db.fetch("peek_due", **bounds))
        except psycopg.Error as error:
            raise translate(error, self.connections.display_name) from None
        return now, next_at, due

    async def _plan_due(self, limit: int, hand_off: HandOff | None, total: Batch) -> list[int]:
        """Plan a batch; returns its schedules."""
        bounds = {**self._bounds(), "refused": numbers(self.backoff.ids)}
        ids: list[int] = []

        async def work(db: Session) -> Batch:
            rows = await db.fetch("lock_due", limit=limit, **bounds)
            ids[:] = [row[0] for row in rows]
            return await self._plan_locked(db, rows, hand_off)

        error = await self._try(work, total)
        if error is not None and not ids:
            raise translate(error, self.connections.display_name) if isinstance(error, psycopg.Error) else error
        if error is not None:
            await self._search(ids, error, total)
        return ids if total.now is not None and self._is_expected(total.now) else []

    async def _plan_these(self, ids: Sequence[int], total: Batch, refusal: str | None = None) -> Exception | None:
        """Plan these schedules, or park them; returns the error if the database refuses them."""

        async def work(db: Session) -> Batch:
            await db.execute("limit_search")
            rows = await db.fetch("lock_these", ids=numbers(ids), **self._bounds())
            return await self._plan_locked(db, rows, refusal=refusal)

        return await self._try(work, total)

    async def _plan_locked(
        self, db: Session, rows: Sequence[Any], hand_off: HandOff | None = None, refusal: str | None = None
    ) -> Batch:
        if rows and not self._is_expected(planning.clock(rows)):
            # It jumped since the look.
            return Batch(now=planning.clock(rows))
        return await planning.plan_locked(db, self.known, rows, self.zones, hand_off, refusal)

    async def _try(self, work: Callable[[Session], Awaitable[Batch]], total: Batch) -> Exception | None:
        """Add what one transaction plans; returns the error of a refusal, and raises if the store is unreachable."""
        try:
            # A lock that is not available in time may be the fault of one schedule.
            total.add(await self.connections.transact(work, patient=False))
        except psycopg.Error as error:
            if error.sqlstate is None and not isinstance(error, psycopg.DataError):
                raise translate(error, self.connections.display_name) from None
            return error
        except StoreError:
            raise
        except Exception as error:  # noqa: BLE001 - an error that one row causes must not concern another
            return error
        return None

    async def _search(self, ids: Sequence[int], error: Exception, total: Batch) -> None:
        """Try halves of a refused batch until each refused schedule is alone."""
        began = time.monotonic()
        refused = [(ids, error)]
        while refused:
            ids, error = refused.pop()
            if len(ids) == 1:
                await self._refuse(ids[0], error, total)
                if time.monotonic() - began > _MAX_SEARCH:
                    total.left |= bool(refused)
                    return
                continue
            middle = len(ids) // 2
            halves = (ids[:middle], ids[middle:])
            errors = [await self._plan_these(half, total) for half in halves]
            refused += [(half, again) for half, again in zip(halves, errors, strict=True) if again is not None]

    async def _retry(self, schedule_id: int, total: Batch) -> None:
        error = await self._plan_these([schedule_id], total)
        if error is not None:
            await self._refuse(schedule_id, error, total)
        else:
            self.backoff.remove(schedule_id, _now(total))

    async def _refuse(self, schedule_id: int, error: Exception, total: Batch) -> None:
        """Park a schedule whose row is the cause; try it again later if it is not, or if parking is refused too."""
        text = refusal_text(error)
        if is_of_row(error):
            unparkable = await self._plan_these([schedule_id], total, refusal=text)
            if unparkable is None:
                self.backoff.remove(schedule_id, _now(total))
                return
            text = f"{text} (and it could not be parked: {refusal_text(unparkable)})"
        now = _now(total)
        retry_at = self.backoff.add(schedule_id, text, now)
        total.refused.append(RefusedPlan(await self._show(schedule_id, text, now), text, retry_at))

    async def _show(self, schedule_id: int, error: str, now: datetime) -> str:
        """Store the error with its schedule, if the database accepts that; returns the schedule's name."""

        async def work(db: Session) -> str:
            await db.execute("limit_search")
            [(name,)] = await db.fetch("store_refusal", id=schedule_id, error=error)
            await db.execute("mark_refused", id=schedule_id, now=now)
            return str(name)

        try:
            return await self.connections.transact(work, patient=False)
        except Exception:  # noqa: BLE001 - it is logged and tried again in any case
            return f"with id {schedule_id}"


def _now(total: Batch) -> datetime:
    assert total.now is not None
    return total.now
