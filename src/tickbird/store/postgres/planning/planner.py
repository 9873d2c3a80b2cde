"""Planning steps on PostgreSQL: plan a batch, and find the schedule that makes a batch fail."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final, TypeVar

import psycopg

from tickbird.domain.errors import StoreError, TermEndedError
from tickbird.domain.planning.plan_result import PlanResult, RefusedPlan, UnknownSchedule, earliest
from tickbird.domain.schedules.codec import ignored_reason
from tickbird.domain.time.clock_bounds import ClockBounds
from tickbird.domain.time.zone_data import Zones
from tickbird.domain.workers import HandOff
from tickbird.store.postgres.database.connection import Connections, Session
from tickbird.store.postgres.database.database import Database, NounStore
from tickbird.store.postgres.database.errors import is_of_row, refusal_text, translate, unusable_schedules
from tickbird.store.postgres.planning import planning
from tickbird.store.postgres.planning.due import LockResult, lock_due, lock_due_by_id
from tickbird.store.postgres.planning.zone_data import PostgresZoneData
from tickbird.store.postgres.rows import numbers
from tickbird.store.postgres.schedule_changes import apply_requests
from tickbird.store.protocol.planning import PlanningStore
from tickbird.store.shared.planning.backoff import PlanBackoff
from tickbird.store.shared.planning.next_due import NextDue
from tickbird.store.shared.planning.revision_cache import RevisionCache, UncommittedRevisions
from tickbird.store.shared.stored_definitions import readable_bounds
from tickbird.store.shared.zone_data import PlanningPermission

T = TypeVar("T")

# A due schedule may be locked by another planner, which may never commit.
_RECHECK_AFTER: Final = timedelta(seconds=1)
_MAX_RETRIES: Final = 20
# Seconds after which a step leaves the rest of a search, or of the retries, to the next step.
_MAX_SEARCH: Final = 5.0
_MAX_RETRY_TIME: Final = 1.0


@dataclass(slots=True)
class Step:
    """One planning step of a process."""

    connections: Connections
    revisions: RevisionCache
    backoff: PlanBackoff
    next_due: NextDue
    zones: Zones
    expected: ClockBounds | None
    now: datetime | None
    # In leader mode, the term that this process plans in.
    term: int | None = None

    async def plan(self, limit: int, hand_off: HandOff | None, wake: Callable[[], None]) -> PlanResult:
        """Plan up to `limit` due schedules, then refused ones whose backoff is over."""
        if self.next_due.has_come(self.now):
            planned = await self._plan_due(limit, hand_off)
        else:
            planned = await self._peek()
            if planned.more and self._is_expected(planned.now):
                planned = await self._plan_due(limit, hand_off)
        if not self._is_expected(planned.now):
            return PlanResult(planned.now)
        began = time.monotonic()
        for schedule_id in self.backoff.due(planned.now, _MAX_RETRIES):
            planned = planned.plus(await self._retry(schedule_id, planned.now))
            if time.monotonic() - began > _MAX_RETRY_TIME:
                break
        # A requested change may have released runs.
        if planned.runs > len(planned.leased) or planned.requested:
            wake()
        planned = replace(planned, next_at=self.backoff.next_at(planned.next_at))
        self.next_due.note(planned)
        return planned

    def _bounds(self) -> dict[str, Any]:
        return {"now": self.now, "zones": self.zones.generation, **readable_bounds()}

    def _is_expected(self, now: datetime) -> bool:
        return self.expected is None or self.expected[0] <= now <= self.expected[1]

    async def _peek(self) -> PlanResult:
        """The store's clock, the next due instant, and whether a schedule is due now."""
        bounds = {**self._bounds(), "refused": numbers(self.backoff.ids)}
        try:
            [row] = await self.connections.statement(lambda db: db.fetch_named("peek_due", **bounds))
        except psycopg.Error as error:
            location = self.connections.display_name
            raise unusable_schedules(error, location) or translate(error, location) from None
        return PlanResult(row["now"], next_at=row["next_at"], more=row["due"])

    async def _plan_due(self, limit: int, hand_off: HandOff | None) -> PlanResult:
        """Plan a batch; if the database refuses it, plan the part that it accepts."""
        bounds = {**self._bounds(), "refused": numbers(self.backoff.ids)}
        locked: LockResult | None = None
        ids: list[int] = []

        async def work(db: Session) -> PlanResult:
            nonlocal locked
            locked, due = await lock_due(db, limit, bounds)
            ids[:] = [cursor.schedule_id for cursor in due]
            if not due or not self._is_expected(locked.now):
                return PlanResult(locked.now)
            return await planning.plan_locked(db, self.revisions, due, locked.now, self.zones, hand_off)

        planned = await self._try(work)
        if isinstance(planned, Exception):
            if locked is None:
                raise (
                    translate(planned, self.connections.display_name) if isinstance(planned, psycopg.Error) else planned
                )
            planned = await self._search(ids, planned, locked.now)
        planned = planned.plus(await self._apply_requests(planned))
        assert locked is not None
        seen = PlanResult(locked.now, next_at=_next_at(locked), more=len(ids) >= limit)
        return seen.plus(planned)

    async def _plan_ids(self, ids: Sequence[int], error: str | None = None) -> PlanResult | Exception:
        """Plan these schedules, or with an error park them; returns the error if the database refuses them."""

        async def work(db: Session) -> PlanResult:
            await db.execute("limit_search")
            locked, due = await lock_due_by_id(db, ids, self._bounds())
            planned = PlanResult(locked.now, next_at=_next_at(locked))
            if not due or not self._is_expected(locked.now):
                return planned
            if error is not None:
                return planned.plus(await planning.park_locked(db, self.revisions, due, locked.now, error))
            return planned.plus(await planning.plan_locked(db, self.revisions, due, locked.now, self.zones))

        return await self._try(work)

    async def _try(self, work: Callable[[Session], Awaitable[PlanResult]]) -> PlanResult | Exception:
        """Plan in one transaction; returns the error of a refusal, and raises if the store is unreachable."""
        try:
            # A single schedule may cause a lock timeout.
            return await self.connections.transact(lambda db: self._in_term(db, work), patient=False)
        except psycopg.Error as error:
            location = self.connections.display_name
            if error.sqlstate is None and not isinstance(error, psycopg.DataError):
                raise translate(error, location) from None
            if unusable := unusable_schedules(error, location):
                # No part of the batch can be planned.
                raise unusable from None
            return error
        except StoreError:
            raise
        except Exception as error:  # noqa: BLE001 - an error that one row causes must not concern another
            return error

    async def _in_term(self, db: Session, work: Callable[[Session], Awaitable[T]]) -> T:
        """Hold the term until the commit."""
        if self.term is not None and not await db.fetch("hold_term", term=self.term):
            raise TermEndedError(f"term {self.term} has ended.", hint="`tickbird leader` shows the current leader.")
        return await work(db)

    async def _search(self, ids: Sequence[int], error: Exception, now: datetime) -> PlanResult:
        """Try halves of a refused batch until each refused schedule is isolated."""
        began = time.monotonic()
        total = PlanResult(now)
        refused = [(ids, error)]
        while refused:
            ids, error = refused.pop()
            if len(ids) == 1:
                total = total.plus(await self._refuse(ids[0], error, total.now))
                if time.monotonic() - began > _MAX_SEARCH:
                    return replace(total, more=total.more or bool(refused))
                continue
            middle = len(ids) // 2
            for half in (ids[:middle], ids[middle:]):
                planned = await self._plan_ids(half)
                if isinstance(planned, Exception):
                    refused.append((half, planned))
                else:
                    total = total.plus(planned)
        return total

    async def _retry(self, schedule_id: int, now: datetime) -> PlanResult:
        planned = await self._plan_ids([schedule_id])
        if isinstance(planned, Exception):
            return await self._refuse(schedule_id, planned, now)
        planned = planned.plus(await self._apply_requests(planned))
        if not planned.refused:
            self.backoff.remove(schedule_id, planned.now)
        return planned

    async def _apply_requests(self, planned: PlanResult) -> PlanResult:
        """Apply the changes that plain SQL requested, one schedule per transaction."""
        total = PlanResult(planned.now)
        for schedule_id in planned.requested:
            applied = await self._try(partial(self._apply_requests_of, schedule_id, planned.now))
            if isinstance(applied, Exception):
                applied = await self._refuse(schedule_id, applied, planned.now)
            total = total.plus(applied)
        return total

    async def _apply_requests_of(self, schedule_id: int, now: datetime, db: Session) -> PlanResult:
        await apply_requests(
            db, UncommittedRevisions(self.revisions), PlanningPermission(self.zones, anything=True), schedule_id
        )
        # Its cursor has changed: the next step reads when it is due.
        return PlanResult(now, schedules=1, more=True)

    async def _refuse(self, schedule_id: int, error: Exception, now: datetime) -> PlanResult:
        """Park a schedule whose row is the cause; otherwise, or if parking is refused too, retry it later."""
        text = refusal_text(error)
        if is_of_row(error):
            parked = await self._plan_ids([schedule_id], error=text)
            if not isinstance(parked, Exception):
                self.backoff.remove(schedule_id, parked.now)
                return parked
            text = f"{text} (parking failed too: {refusal_text(parked)})"
        retry_at = self.backoff.add(schedule_id, text, now)
        return PlanResult(now, refused=(RefusedPlan(await self._store_error(schedule_id, text, now), text, retry_at),))

    async def _store_error(self, schedule_id: int, error: str, now: datetime) -> str:
        """Store the error with its schedule, if the database accepts that; returns the schedule's name."""

        async def work(db: Session) -> str:
            await db.execute("limit_search")
            [(name,)] = await db.fetch("store_refusal", id=schedule_id, error=error)
            await db.execute("mark_refused", id=schedule_id, now=now)
            return str(name)

        try:
            return await self.connections.transact(lambda db: self._in_term(db, work), patient=False)
        except Exception:  # noqa: BLE001 - it is logged and tried again in any case
            return f"with id {schedule_id}"


def _next_at(locked: LockResult) -> datetime | None:
    return earliest((locked.next_at, locked.now + _RECHECK_AFTER)) if locked.others_due else locked.next_at


class PostgresPlanning(NounStore, PlanningStore):
    def __init__(self, database: Database, zone_data: PostgresZoneData) -> None:
        super().__init__(database)
        self._zone_data = zone_data
        self._backoff = PlanBackoff()
        self._next_due = NextDue()

    async def plan_due(
        self,
        limit: int = 500,
        *,
        hand_off: HandOff | None = None,
        expected: ClockBounds | None = None,
        term: int | None = None,
        now: datetime | None = None,
    ) -> PlanResult:
        zones = await self._zone_data.cached()
        database = self._db
        step = Step(database.connections, database.revisions, self._backoff, self._next_due, zones, expected, now, term)
        return await step.plan(limit, hand_off, self._db.notifier.notify)

    async def ignored(self, limit: int = 20) -> Sequence[UnknownSchedule]:
        rows = await self._db.fetch("ignored", limit=limit, **readable_bounds())
        return [UnknownSchedule(namespace, name, ignored_reason(part)) for namespace, name, part in rows]
