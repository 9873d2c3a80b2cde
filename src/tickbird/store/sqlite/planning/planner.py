"""Planning steps on SQLite: plan a batch, and find the schedule that makes a batch fail."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from tickbird.domain.errors import TermEndedError
from tickbird.domain.planning.plan_result import PlanResult, RefusedPlan, UnknownSchedule
from tickbird.domain.schedules.codec import ignored_reason
from tickbird.domain.time.clock_bounds import ClockBounds
from tickbird.domain.time.instants import from_micros, to_micros
from tickbird.domain.time.zone_data import Zones
from tickbird.domain.workers import HandOff
from tickbird.store.protocol.planning import PlanningStore
from tickbird.store.shared.json_columns import as_object, decode, error_text
from tickbird.store.shared.planning.backoff import PlanBackoff
from tickbird.store.shared.planning.revision_cache import RevisionCache
from tickbird.store.shared.stored_definitions import readable_bounds
from tickbird.store.shared.unstorable_values import VALUE_ERRORS
from tickbird.store.sqlite.database.connection import Session, is_incomplete
from tickbird.store.sqlite.database.database import Database, NounStore
from tickbird.store.sqlite.database.instants import has_jumped, read_clock
from tickbird.store.sqlite.database.statements import SQL
from tickbird.store.sqlite.database.transactions import read, write
from tickbird.store.sqlite.leadership import in_term
from tickbird.store.sqlite.planning.due import read_due, read_due_of
from tickbird.store.sqlite.planning.planning import park_schedules, plan_due_cursors
from tickbird.store.sqlite.planning.zone_data import SqliteZoneData
from tickbird.store.sqlite.rows import dump

# A row never causes these: the file cannot be read or written, or another process holds a lock.
_FILE_ERRORS = frozenset(
    (
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_NOTADB,
        sqlite3.SQLITE_NOMEM,
    )
)
# Only a change of the row removes the cause of these: a value that does not fit.
_ROW_ERRORS = (*VALUE_ERRORS, sqlite3.DataError, sqlite3.InterfaceError, sqlite3.ProgrammingError)
_MAX_RETRIES = 20
# Seconds after which a step leaves the rest of a search for refused schedules to the next one.
_MAX_SEARCH = 5.0


@dataclass(slots=True)
class Step:
    """One planning step."""

    db: sqlite3.Connection
    revisions: RevisionCache
    backoff: PlanBackoff
    zones: Zones
    clock: Callable[[], datetime]
    # In leader mode, the term that this process plans in.
    term: int | None = None
    now: datetime = field(init=False)

    def plan(self, limit: int, hand_off: HandOff | None) -> PlanResult:
        """Plan up to `limit` due schedules, then refused ones whose backoff is over."""
        self.now = self.clock()
        planned = read(self.db, self._peek)
        # If nothing is due, do not wait for the write lock.
        if planned.more:
            planned = self._plan_due(limit, hand_off)
        for schedule_id in self.backoff.due(self.now, _MAX_RETRIES):
            planned = planned.plus(self._retry(schedule_id))
        return replace(planned, next_at=self.backoff.next_at(planned.next_at))

    def _bounds(self) -> dict[str, Any]:
        refused = dump(list(self.backoff.ids))
        readable = {"zones": self.zones.generation, **readable_bounds()}
        return {"now": to_micros(self.now), "refused": refused, **readable}

    def _peek(self) -> PlanResult:
        """The next due instant, and whether a schedule is due now."""
        next_due, is_new = self.db.execute(SQL["next_due"], self._bounds()).fetchone()
        next_at = from_micros(next_due)
        due = bool(is_new) or (next_at is not None and next_at <= self.now)
        return PlanResult(self.now, next_at=next_at, more=due)

    def _plan_due(self, limit: int, hand_off: HandOff | None) -> PlanResult:
        """Plan a batch; if the database refuses it, plan the part that it accepts."""
        ids: list[int] = []

        def work() -> PlanResult:
            # Read when this is the only writer, so that a later instant is written later.
            self.now = self.clock()
            due = read_due(self.db, limit, self._bounds())
            ids[:] = [cursor.schedule_id for cursor in due]
            planned = plan_due_cursors(self.db, self.revisions, due, self.now, self.zones, hand_off)
            # Count the schedules that are still due, after these writes.
            return planned.plus(self._peek())

        planned = self._try(work)
        if not isinstance(planned, Exception):
            return planned
        if not ids:
            raise planned
        return self._search(ids, planned).plus(read(self.db, self._peek))

    def _plan_ids(self, ids: Sequence[int]) -> PlanResult | Exception:
        """Plan these schedules; returns the error if they are refused."""

        def work() -> PlanResult:
            due = read_due_of(self.db, ids, self._bounds())
            return plan_due_cursors(self.db, self.revisions, due, self.now, self.zones)

        return self._try(work)

    def _try(self, work: Callable[[], PlanResult]) -> PlanResult | Exception:
        """Plan in one transaction; returns the error of a refusal, and raises if the file cannot be used."""
        try:
            return write(self.db, lambda: in_term(self.db, self.term, work))
        except TermEndedError:
            raise
        except Exception as error:
            # An error in one row must not affect another.
            self.revisions.clear()
            if getattr(error, "sqlite_errorcode", 0) & 0xFF in _FILE_ERRORS or is_incomplete(error):
                raise
            return error

    def _search(self, ids: Sequence[int], error: Exception) -> PlanResult:
        """Try halves of a refused batch until each refused schedule is isolated."""
        began = time.monotonic()
        total = PlanResult(self.now)
        refused = [(ids, error)]
        while refused:
            ids, error = refused.pop()
            if len(ids) == 1:
                total = total.plus(self._refuse(ids[0], error))
                if time.monotonic() - began > _MAX_SEARCH:
                    break
                continue
            middle = len(ids) // 2
            for half in (ids[:middle], ids[middle:]):
                planned = self._plan_ids(half)
                if isinstance(planned, Exception):
                    refused.append((half, planned))
                else:
                    total = total.plus(planned)
        return total

    def _retry(self, schedule_id: int) -> PlanResult:
        planned = self._plan_ids([schedule_id])
        if isinstance(planned, Exception):
            return self._refuse(schedule_id, planned)
        self.backoff.remove(schedule_id, self.now)
        return planned

    def _refuse(self, schedule_id: int, error: Exception) -> PlanResult:
        """Park a schedule whose row is the cause; otherwise, or if parking is refused too, retry it later."""
        text = error_text(error)
        if isinstance(error, _ROW_ERRORS):
            parked = self._try(lambda: self._park(schedule_id, text))
            if not isinstance(parked, Exception):
                self.backoff.remove(schedule_id, self.now)
                return parked
            text = f"{text} (parking failed too: {error_text(parked)})"
        retry_at = self.backoff.add(schedule_id, text, self.now)
        return PlanResult(self.now, refused=(RefusedPlan(self._store_error(schedule_id, text), text, retry_at),))

    def _park(self, schedule_id: int, error: str) -> PlanResult:
        due = read_due_of(self.db, [schedule_id], self._bounds())
        return park_schedules(self.db, self.revisions, [cursor.schedule_id for cursor in due], self.now, error)

    def _store_error(self, schedule_id: int, error: str) -> str:
        """Store the error with its schedule, if the database accepts that; returns the schedule's name."""

        def work() -> str:
            [(name,)] = self.db.execute(SQL["store_refusal"], {"id": schedule_id, "error": error}).fetchall()
            self.db.execute(SQL["mark_refused"], {"id": schedule_id, "now": to_micros(self.now)})
            return str(name)

        try:
            return write(self.db, lambda: in_term(self.db, self.term, work))
        except Exception:  # noqa: BLE001 - it is logged and tried again in any case
            return f"with id {schedule_id}"


class SqlitePlanning(NounStore, PlanningStore):
    def __init__(self, database: Database, zone_data: SqliteZoneData) -> None:
        super().__init__(database)
        self._zone_data = zone_data
        self.backoff = PlanBackoff()

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
        planned = await self._db.writer.run(lambda db: self._plan(db, zones, limit, hand_off, expected, term, now))
        if planned.runs > len(planned.leased):
            self._db.signal()
        return planned

    async def ignored(self, limit: int = 20) -> Sequence[UnknownSchedule]:
        rows = await self._db.fetch("ignored", limit=limit, **readable_bounds())
        return [
            UnknownSchedule(namespace, name, ignored_reason(as_object(decode(part)))) for namespace, name, part in rows
        ]

    def _plan(
        self,
        db: Session,
        zones: Zones,
        limit: int,
        hand_off: HandOff | None,
        expected: ClockBounds | None,
        term: int | None,
        now: datetime | None,
    ) -> PlanResult:
        at = read_clock(now)
        if has_jumped(at, expected):
            return PlanResult(at)

        def clock() -> datetime:
            later = read_clock(now)
            return at if has_jumped(later, expected) else later

        return Step(db, self._db.revisions, self.backoff, zones, clock, term).plan(limit, hand_off)
