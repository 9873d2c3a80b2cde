"""The store on SQLite: one writer, one reader, and every verb a whole transaction."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import datetime
from functools import partial
from typing import Any, TypeVar

from tickbird.domain.access.http_responses import StoredResponse
from tickbird.domain.access.sessions import NewSession, SessionRecord
from tickbird.domain.calendars.calendar import Calendar
from tickbird.domain.calendars.definition import CalendarRecord
from tickbird.domain.dashboard_rows import ScheduleFilter, ScheduleSummary
from tickbird.domain.doctor.metrics import MAX_COUNTED, RECENTLY, NamespaceMetrics, measured
from tickbird.domain.doctor.snapshot import StoreSnapshot
from tickbird.domain.errors import InvalidError, TickbirdError
from tickbird.domain.ledger.activity import ActivityCursor, ActivityPage, AuditEntry, Watermark
from tickbird.domain.ledger.decisions import LedgerPage, RecentOutcomes, TickDecisions
from tickbird.domain.limits.concurrency import ConcurrencyLimit
from tickbird.domain.limits.rate_limits import QueuePosition, QueueStatus, RateLimit
from tickbird.domain.planning.backfills import BackfillPlan, BackfillRecord, NewBackfill
from tickbird.domain.planning.changes import ChangeResult, ChangeSet, Counted
from tickbird.domain.planning.code_sync import AppSchedule
from tickbird.domain.planning.commands import Command
from tickbird.domain.planning.plan_result import PlanResult
from tickbird.domain.runs.durations import DurationStats
from tickbird.domain.runs.held import Drop, HeldSchedule, Release
from tickbird.domain.runs.leases import ClaimResult, FinishResult, LeaseRef, RenewResult, RescueResult
from tickbird.domain.runs.logs import LogLine, Progress
from tickbird.domain.runs.run import AttemptRecord, NewRun, Outcome, RunRecord, Status
from tickbird.domain.schedules.dependencies import LastSuccess
from tickbird.domain.schedules.revision import RevisionRecord
from tickbird.domain.schedules.schedule import Schedule, State
from tickbird.domain.store_identity import StoreIdentity
from tickbird.domain.time.clock_bounds import ClockBounds
from tickbird.domain.time.zone_data import ZoneData, ZoneRecomputeResult, ZoneRecord, Zones, zone_source
from tickbird.domain.workers import HandOff, HeartbeatResult, Worker
from tickbird.store.protocol.tokens import TokenStore
from tickbird.store.shared.backfills import choose_ticks
from tickbird.store.shared.fairness import Turns
from tickbird.store.shared.migrations import read_version
from tickbird.store.shared.plan_backoff import PlanBackoff
from tickbird.store.shared.plans import RevisionCache
from tickbird.store.shared.unreadable_runs import UnreadableRuns
from tickbird.store.shared.unstorable_values import refusing_values
from tickbird.store.shared.zone_data import UNKNOWN, PlanningPermission
from tickbird.store.sqlite import (
    activity,
    bulk_changes,
    calendars,
    doctor,
    logs,
    pings,
    queries,
    queues,
    sessions,
    workers,
)
from tickbird.store.sqlite import http_responses as responses
from tickbird.store.sqlite import schedule_changes as changes
from tickbird.store.sqlite.dashboard import SqliteDashboard
from tickbird.store.sqlite.database import identity, schema
from tickbird.store.sqlite.database.connection import Connection, read, write
from tickbird.store.sqlite.database.database import Database
from tickbird.store.sqlite.database.instants import MICROS, clock, to_instant, to_micros
from tickbird.store.sqlite.database.schema import meta_of
from tickbird.store.sqlite.database.statements import SQL
from tickbird.store.sqlite.database.url import MEMORY, read_url
from tickbird.store.sqlite.planning import backfills, concurrency, held, planning, zone_data
from tickbird.store.sqlite.planning.dependencies import read_successes
from tickbird.store.sqlite.planning.zone_recompute import follow
from tickbird.store.sqlite.runs import cancel, claim, enqueue, finish, get_run, prune, renew, rescue
from tickbird.store.sqlite.tokens import SqliteTokens

T = TypeVar("T")
ChangeCounters = tuple[int, int, int]

# How often another process's commits are looked for.
POLL_SECONDS = 0.1


class SqliteStore:
    """A store in a file, or in memory when the path is `:memory:`."""

    planners = 1

    def __init__(self, path_or_url: str) -> None:
        """Take a path, or a URL: `sqlite:///tickbird.db` (relative), `sqlite:////var/lib/tickbird.db`.

        With `?shared=1` at its end, the file may have tables of another program too.
        """
        place = read_url(path_or_url)
        self._at = place
        self.path = place.path
        self._writer = Connection(place, "tickbird-write")
        self._reader = self._writer if self.path == MEMORY else Connection(place, "tickbird-read")
        self._known = RevisionCache()
        self._database = Database(self._writer, self._reader, self._known)
        self.tokens: TokenStore = SqliteTokens(self._database)
        self._unread = UnreadableRuns()
        self._backoff = PlanBackoff()
        self._turns = Turns()
        self._zones = UNKNOWN
        self._place: StoreIdentity | None = None
        self.plans = True
        self._listeners: set[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = set()
        # How often heartbeats were called for by this process, whose commits it does not notice as those of others.
        self._called = 0

    @property
    def url(self) -> str:
        """Where it is."""
        return "sqlite://" if self.path == MEMORY else f"sqlite:///{self.path}"

    @property
    def readings(self) -> SqliteDashboard:
        """What a dashboard reads of it."""
        return SqliteDashboard(self._read)

    async def open(self) -> None:
        """Connect; make or migrate the schema where it is older than this code."""
        try:
            await self._writer.open()
            await self._writer.run(schema.prepare)
            await self._reader.open()
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """Let go of the connections; harmless when not open."""
        if self._reader is not self._writer:
            await self._reader.close()
        await self._writer.close()

    async def migrate(self) -> Sequence[str]:
        """Bring the schema up to date; the names of what was applied."""
        opened_here = not self._writer.is_open
        await self._writer.open()
        try:
            return await self._writer.run(schema.migrate)
        finally:
            # What is in memory would be gone with its connection.
            if opened_here and self.path != MEMORY:
                await self._writer.close()

    async def inspect(self, namespace: str, *, now: datetime | None = None) -> StoreSnapshot:
        """Look at everything that may need a person; also where the store is not open."""
        at = clock() if now is None else to_micros(now)
        if self._reader.is_open:
            return await self._reader.run(lambda db: doctor.examine(db, self.path, namespace, at))
        doctor.must_exist(self.path)
        apart = Connection(self._at, "tickbird-doctor")
        await apart.open()
        try:
            return await apart.run(lambda db: doctor.examine(db, self.path, namespace, at))
        finally:
            await apart.close()

    async def now(self) -> datetime:
        """The machine's clock."""
        return to_instant(clock())

    async def schema_version(self) -> int | None:
        """The number of the newest migration that was applied to it."""
        return await self._read(lambda db: read_version(meta_of(db) or {})[0])

    @asynccontextmanager
    async def wakeups(self) -> AsyncIterator[AsyncIterator[bool]]:
        """Yields when this process signals, or when another one's commit has made work."""
        listener = (asyncio.get_running_loop(), asyncio.Event())
        self._listeners.add(listener)
        signals = self._signals(listener[1], await self._writer.run(_data_version), self._called)
        try:
            yield signals
        finally:
            self._listeners.discard(listener)
            await signals.aclose()

    async def _signals(self, event: asyncio.Event, seen: ChangeCounters, called: int) -> AsyncGenerator[bool, None]:
        while True:
            before = seen
            try:
                async with asyncio.timeout(POLL_SECONDS):
                    await event.wait()
            except TimeoutError:
                seen = await self._writer.run(partial(_data_version, before=seen))
                if seen[1:] == before[1:]:
                    continue
            event.clear()
            before_call, called = called, self._called
            yield seen[2] != before[2] or called != before_call

    def _signal(self) -> None:
        for loop, event in tuple(self._listeners):
            # A loop that has ended needs no signal.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(event.set)

    async def _write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        def transaction(db: sqlite3.Connection) -> T:
            try:
                return write(db, lambda: work(db))
            except TickbirdError:
                raise
            except BaseException as error:
                self._known.clear()
                if isinstance(error, UnicodeError | OverflowError):
                    raise InvalidError(f"what was given cannot be stored: {error}.") from None
                raise

        return await self._writer.run(transaction)

    async def _rows(self, statement: str, **values: Any) -> list[tuple[Any, ...]]:
        return await self._read(lambda db: db.execute(SQL[statement], values).fetchall())

    async def _read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        return await self._reader.run(lambda db: read(db, lambda: work(db)))

    # Planning

    async def plan_due(
        self,
        limit: int = 500,
        *,
        hand_off: HandOff | None = None,
        expected: ClockBounds | None = None,
        now: datetime | None = None,
    ) -> PlanResult:
        """Plan up to `limit` due schedules."""

        def plan(db: sqlite3.Connection) -> PlanResult:
            at = clock() if now is None else to_micros(now)
            if _jumped(at, expected):
                return PlanResult(to_instant(at))

            def dated() -> int:
                later = _dated(now)
                return at if _jumped(later, expected) else later

            return planning.Step(db, self._known, self._backoff, mine, dated).plan(limit, hand_off)

        mine = await self._zones_checked()
        planned = await self._writer.run(plan)
        if planned.runs > len(planned.leased):
            self._signal()
        return planned

    async def change_schedule(
        self, namespace: str, name: str, command: Command, *, now: datetime | None = None
    ) -> ChangeResult:
        """Plan what is due under the old revision, then apply the command."""
        at, may = to_micros(now), await self._may_plan()
        changed = await self._write(
            lambda db: changes.change(db, self._known, may, namespace, name, command, clock() if at is None else at)
        )
        self._signal()
        return changed

    async def apply_changes(
        self,
        namespace: str,
        changes: ChangeSet,
        actor: str,
        *,
        counted: Counted | None = None,
        now: datetime | None = None,
    ) -> None:
        """Make all these changes in one transaction, or none."""
        at, may = to_micros(now), await self._may_plan()
        await self._write(
            lambda db: bulk_changes.apply_changes(
                db, self._known, may, namespace, changes, actor, clock() if at is None else at, counted
            )
        )
        self._signal()

    # Copies

    async def check_identity(self) -> StoreIdentity:
        """Is the store where it says it is?"""
        self._place = await self._write(lambda db: identity.check(db, self.path))
        return self._place

    async def _identity_checked(self) -> StoreIdentity:
        return await self.check_identity() if self._place is None else self._place

    async def accept_copy(self, namespace: str, actor: str, *, now: datetime | None = None) -> StoreIdentity:
        """Let a copy go on where it is, as a store of its own."""
        self._place = await self._write(lambda db: identity.accept(db, self.path, namespace, actor, _dated(now)))
        return self._place

    # Zones

    async def check_zone_data(
        self, here: ZoneData | None = None, *, adopt: bool = False, actor: str = "", now: datetime | None = None
    ) -> Zones:
        """Compare zone rules with the store's; from then on only who has the same plans schedules outside of UTC."""
        mine = zone_source().data if here is None else here
        self._zones = await self._write(lambda db: zone_data.check(db, mine, adopt, actor, _dated(now)))
        return self._zones

    async def _zones_checked(self, *, adopt: bool = True) -> Zones:
        """What this process may plan; looked up once, and again whenever somebody asks for a check."""
        return await self.check_zone_data(adopt=adopt) if self._zones is UNKNOWN else self._zones

    async def _may_plan(self) -> PlanningPermission:
        copied = (await self._identity_checked()).copy_reason
        return PlanningPermission(await self._zones_checked(adopt=False), self.plans and not copied)

    async def recompute_for_zone_data(
        self, after: int = 0, limit: int = 500, *, now: datetime | None = None
    ) -> ZoneRecomputeResult:
        """Compute cursors anew that go by older zone rules."""
        mine = await self._zones_checked()
        if not mine.same:
            return ZoneRecomputeResult()
        followed = await self._write(lambda db: follow(db, self._known, mine, after, limit, _dated(now)))
        if followed.moved:
            self._signal()
        return followed

    async def list_zone_data(self, *, limit: int = 100) -> Sequence[ZoneRecord]:
        """The zone rules that the store has gone by, newest first."""
        return await self._read(lambda db: zone_data.records(db, limit))

    # Runs

    async def enqueue(
        self, namespace: str, runs: Sequence[NewRun], actor: str, *, now: datetime | None = None
    ) -> Sequence[int]:
        """Insert runs that belong to no schedule."""
        at = to_micros(now)
        ids = await self._write(lambda db: enqueue(db, namespace, runs, actor, clock() if at is None else at))
        self._signal()
        return ids

    async def claim_runs(
        self,
        worker: Worker,
        limit: int,
        lease: float,
        *,
        queues: Collection[str],
        tasks: Collection[str],
        at_once: int | None = None,
        expected: ClockBounds | None = None,
        now: datetime | None = None,
    ) -> ClaimResult:
        """Lease up to `limit` available runs."""
        begin = limit if at_once is None else at_once

        def work(db: sqlite3.Connection) -> ClaimResult:
            at = clock() if now is None else to_micros(now)
            return claim(
                db, self._known, self._unread, self._turns, worker, limit, lease, queues, tasks, at, begin, expected
            )

        return await self._write(work)

    async def renew(
        self, worker: Worker, held: Sequence[LeaseRef], lease: float, *, now: datetime | None = None
    ) -> RenewResult:
        """Extend the leases that this worker still holds."""
        at = to_micros(now)
        return await self._write(lambda db: renew(db, worker.id, held, lease, clock() if at is None else at))

    async def finish(
        self, outcomes: Sequence[Outcome], *, worker: Worker | None = None, now: datetime | None = None
    ) -> FinishResult:
        """Record how attempts ended; release the next waiters."""
        at, holder = to_micros(now), None if worker is None else worker.id
        with refusing_values():
            finished = await self._write(
                lambda db: finish(db, self._known, holder, outcomes, clock() if at is None else at)
            )
        if finished.released or any(outcome.status == "queued" for outcome in outcomes):
            self._signal()
        return finished

    async def cancel_run(self, run_id: int, actor: str, *, reason: str = "", now: datetime | None = None) -> RunRecord:
        """Cancel a run that has not started; ask a running one to stop."""
        at = to_micros(now)
        run, woke = await self._write(
            lambda db: cancel(db, self._known, run_id, actor, reason, clock() if at is None else at)
        )
        if woke:
            self._signal()
        return run

    async def rescue(
        self, limit: int = 500, *, expected: ClockBounds | None = None, now: datetime | None = None
    ) -> RescueResult:
        """Take runs whose lease has expired from their worker; cancel those not started in time."""

        def take(db: sqlite3.Connection) -> RescueResult:
            at = clock() if now is None else to_micros(now)
            return RescueResult(to_instant(at)) if _jumped(at, expected) else rescue(db, self._known, limit, at)

        rescued = await self._write(take)
        if rescued.requeued or rescued.released:
            self._signal()
        return rescued

    async def prune(self, *, older_than: float, keep: int, limit: int = 1_000, now: datetime | None = None) -> int:
        """Delete old final runs."""
        at = to_micros(now)
        return await self._write(lambda db: prune(db, older_than, keep, limit, clock() if at is None else at))

    # Backfills

    async def backfill(
        self, namespace: str, name: str, new: NewBackfill, *, dry_run: bool = False, now: datetime | None = None
    ) -> BackfillPlan:
        """Make a run of each tick that is asked for and has none; they wait in order behind all other runs."""
        if dry_run:
            # Not in the thread of the connection, in which all others wait.
            wanted, ticks = await choose_ticks(self._rows, await self.get_schedule(namespace, name), name, new)
            return wanted.plan(ticks)
        at, may = to_micros(now), await self._may_plan()
        plan = await self._write(
            lambda db: backfills.make(db, self._known, may, namespace, name, new, clock() if at is None else at)
        )
        self._signal()
        return plan

    async def cancel_backfill(
        self,
        namespace: str,
        backfill_id: int,
        actor: str,
        *,
        note: str = "",
        stop_running: bool = False,
        now: datetime | None = None,
    ) -> BackfillRecord:
        """Cancel what has not started of a backfill; ask what runs to stop if `stop_running`."""
        at = to_micros(now)

        def work(db: sqlite3.Connection) -> BackfillRecord:
            moment = clock() if at is None else at
            return backfills.cancel(db, self._known, namespace, backfill_id, actor, note, stop_running, moment)

        cancelled = await self._write(work)
        self._signal()
        return cancelled

    async def get_backfill(self, namespace: str, backfill_id: int) -> BackfillRecord:
        """A backfill by id, and how far it is."""
        return await self._read(lambda db: backfills.read(db, namespace, backfill_id))

    async def list_backfills(
        self, namespace: str, *, schedule: str | None = None, before: int | None = None, limit: int = 20
    ) -> Sequence[BackfillRecord]:
        """Backfills, newest first, with ids below `before`."""
        filters = {"namespace": namespace, "schedule": schedule, "before": before, "limit": limit}
        return await self._read(lambda db: backfills.listed(db, filters))

    # Held runs

    async def list_held_schedules(self, namespace: str, *, schedule: str | None = None) -> Sequence[HeldSchedule]:
        """The schedules of which runs are held, by name; or one of them."""
        return await self._read(lambda db: held.held_schedules(db, namespace, schedule))

    async def list_held_runs(
        self, namespace: str, schedule: str, *, after: int = 0, limit: int = 100
    ) -> Sequence[RunRecord]:
        """The held runs of a schedule, oldest first, with ids above `after`."""
        filters = {"namespace": namespace, "schedule": schedule, "after": after, "limit": limit}
        return await self._read(lambda db: held.list_held_runs(db, filters))

    async def resolve_held(
        self, namespace: str, name: str, decision: Release | Drop, *, now: datetime | None = None
    ) -> int:
        """Release or drop the oldest held runs of a schedule; how many that were."""
        at = to_micros(now)
        decided = await self._write(
            lambda db: held.resolve_held(db, self._known, namespace, name, decision, clock() if at is None else at)
        )
        self._signal()
        return decided

    # Limits

    async def set_limit(
        self, namespace: str, key: str, max_running: int | None, actor: str, *, now: datetime | None = None
    ) -> ConcurrencyLimit:
        """Let so many runs of a key go on at once, or the default with None."""
        at = to_micros(now)
        limit, released = await self._write(
            lambda db: concurrency.change(
                db, self._known, namespace, key, max_running, actor, clock() if at is None else at
            )
        )
        if released:
            self._signal()
        return limit

    async def list_limits(
        self, namespace: str, *, key: str | None = None, after: str = "", limit: int | None = None
    ) -> Sequence[ConcurrencyLimit]:
        """The keys that have a limit or active runs, by name, behind `after`; or one of them."""
        return await self._read(lambda db: concurrency.read(db, namespace, key, after, limit))

    async def list_runs_of_key(self, namespace: str, key: str, *, limit: int = 100) -> Sequence[RunRecord]:
        """The runs that have a place of a key, oldest first."""
        return await self._read(lambda db: concurrency.list_runs_of_key(db, namespace, key, limit))

    # Queues

    async def set_queue_rate(
        self, namespace: str, queue: str, rate: RateLimit | None, actor: str, *, now: datetime | None = None
    ) -> QueueStatus:
        """Let runs of a queue begin at this rate, or as they come with None."""
        found = await self._write(lambda db: queues.limit(db, namespace, queue, rate, actor, _dated(now)))
        self._signal()
        return found

    async def list_queues(
        self, namespace: str, *, queue: str | None = None, now: datetime | None = None
    ) -> Sequence[QueueStatus]:
        """The queues that have a rate or active runs, by name; or one of them."""
        at = clock() if now is None else to_micros(now)
        return await self._read(lambda db: queues.listed(db, namespace, queue, at))

    async def queue_position(self, run_id: int, *, now: datetime | None = None) -> QueuePosition | None:
        """What keeps a queued run back in its queue: a rate, or others that may pass it; None where nothing does."""
        at = clock() if now is None else to_micros(now)
        return await self._read(lambda db: queues.turn(db, run_id, at))

    # Workers and code

    async def heartbeat(self, worker: Worker, live_for: float, *, now: datetime | None = None) -> HeartbeatResult:
        """Insert or refresh this worker's row."""
        at = clock() if now is None else to_micros(now)
        here = (await self._identity_checked()).here

        def report(db: sqlite3.Connection) -> HeartbeatResult:
            if too_new := schema.changed(db):
                # A row of it may be beyond what this code can write.
                return HeartbeatResult(to_instant(at), outdated=too_new)
            peers, generation, drained_by = workers.report(db, worker, live_for, at)
            self._place = identity.stored(db, here)
            return HeartbeatResult(to_instant(at), peers, generation, self._place.copy_reason, drained_by=drained_by)

        return await self._write(report)

    async def drain_worker(
        self, namespace: str, worker_id: str, actor: str, *, note: str = "", now: datetime | None = None
    ) -> Worker:
        """Ask a live worker to drain; harmless where that was done before."""
        at = clock() if now is None else to_micros(now)
        drained = await self._write(lambda db: workers.drain(db, namespace, worker_id, actor, note, at))
        self._called += 1
        self._signal()
        return drained

    async def remove_worker(self, worker_id: str) -> None:
        """Remove this worker's row."""
        await self._write(lambda db: db.execute(SQL["remove_worker"], {"id": worker_id}))

    async def list_workers(self, namespace: str, *, now: datetime | None = None) -> Sequence[Worker]:
        """The live workers."""
        at = clock() if now is None else to_micros(now)
        return await self._read(lambda db: workers.live(db, namespace, at))

    async def list_app_schedules(self, namespace: str, app: str, names: Collection[str]) -> Mapping[str, AppSchedule]:
        """Every schedule of the app, and those of other owners among `names`."""
        return await self._read(lambda db: queries.list_app_schedules(db, namespace, app, names))

    # Calendars

    async def put_calendar(
        self,
        namespace: str,
        name: str,
        definition: Mapping[str, Any],
        closed: Calendar,
        source: Mapping[str, Any],
        actor: str,
        *,
        revision: int | None = None,
        now: datetime | None = None,
    ) -> CalendarRecord:
        """Insert or replace a calendar."""
        return await self._write(
            lambda db: calendars.put(db, namespace, name, definition, closed, source, actor, revision, _dated(now))
        )

    async def delete_calendar(
        self, namespace: str, name: str, actor: str, *, revision: int | None = None, now: datetime | None = None
    ) -> None:
        """Delete a calendar that no schedule names."""
        await self._write(lambda db: calendars.delete(db, namespace, name, actor, revision, _dated(now)))

    async def list_calendars(
        self, namespace: str, *, name: str | None = None, after: str = "", limit: int | None = None
    ) -> Sequence[CalendarRecord]:
        """The stored calendars, by name."""
        return await self._read(lambda db: calendars.listed(db, namespace, name, after, limit))

    async def schedules_with_calendar(
        self, namespace: str, name: str, *, after: str = "", limit: int = 100
    ) -> Sequence[Schedule]:
        """Schedules that name a calendar, by name."""
        return await self._read(lambda db: calendars.naming(db, namespace, name, after, limit))

    # Sessions

    async def open_session(self, namespace: str, new: NewSession, *, now: datetime | None = None) -> SessionRecord:
        """Keep a new session."""
        return await self._write(lambda db: sessions.open_one(db, namespace, new, _dated(now)))

    async def find_session(self, session_id: str, *, now: datetime | None = None) -> SessionRecord | None:
        """A session by its id."""
        at = clock() if now is None else to_micros(now)
        return await self._read(lambda db: sessions.find(db, session_id, at))

    async def list_sessions(
        self,
        *,
        token_id: str | None = None,
        within: Collection[str] | None = None,
        live: bool = False,
        after: str = "",
        limit: int = 100,
        now: datetime | None = None,
    ) -> Sequence[SessionRecord]:
        """Sessions by id, behind `after`."""
        at = clock() if now is None else to_micros(now)
        return await self._read(lambda db: sessions.listed(db, token_id, within, live, after, limit, at))

    async def close_session(
        self, namespace: str, session_id: str, actor: str, *, now: datetime | None = None
    ) -> SessionRecord:
        """End a session."""
        return await self._write(lambda db: sessions.close(db, namespace, session_id, actor, _dated(now)))

    async def close_sessions(self, namespace: str, token_id: str, actor: str, *, now: datetime | None = None) -> int:
        """End all sessions of a token."""
        return await self._write(lambda db: sessions.close_all(db, namespace, token_id, actor, _dated(now)))

    async def touch_session(self, session_id: str, *, now: datetime | None = None) -> None:
        """Write that a session was used, at most once a minute."""
        await self._write(lambda db: sessions.note_use(db, session_id, _dated(now)))

    # Answers

    async def begin_request(
        self, namespace: str, key: str, request: str, *, now: datetime | None = None
    ) -> StoredResponse | None:
        """Note that a request with a key is being answered."""
        at = clock() if now is None else to_micros(now)
        return await self._write(lambda db: responses.begin(db, namespace, key, request, at))

    async def finish_request(
        self, namespace: str, key: str, request: str, answer: StoredResponse | None, *, now: datetime | None = None
    ) -> None:
        """Keep the answer to such a request for a day, or forget that it was asked."""
        await self._write(lambda db: responses.end(db, namespace, key, request, answer))

    # Pings

    async def ping(self, schedule_id: int, at: datetime | None = None, *, now: datetime | None = None) -> datetime:
        """Note that another system really ran what a schedule is to do; of one schedule the newest 100,000 stay."""
        moment = to_micros(at or now) or clock()
        await self._write(lambda db: pings.add(db, schedule_id, moment))
        return to_instant(moment)

    async def list_pings(
        self, schedule_id: int, first: datetime, last: datetime, *, after: datetime | None = None, limit: int = 1_000
    ) -> Sequence[datetime]:
        """The pings of a schedule from `first` to `last`, oldest first; behind `after`, where that is given."""
        bounds = {"first": to_micros(first), "last": to_micros(last), "after": to_micros(after), "limit": limit}
        return await self._read(lambda db: pings.read(db, schedule_id, bounds))

    # Dependencies

    async def last_successes(self, namespace: str, names: Collection[str]) -> Mapping[str, LastSuccess]:
        """When these schedules last succeeded, as the planner knows it of those that others depend on."""
        return await self._read(lambda db: read_successes(db, namespace, names))

    # Reading

    async def get_schedule(self, namespace: str, name: str) -> Schedule | None:
        """A schedule by name, also a deleted one."""
        return await self._read(lambda db: queries.get_schedule(db, namespace, name))

    async def list_schedules(
        self,
        namespace: str,
        *,
        contains: str = "",
        state: State | None = None,
        tag: str | None = None,
        after: str = "",
        limit: int = 100,
    ) -> Sequence[ScheduleSummary]:
        """Schedules by name, behind `after`."""
        wanted = ScheduleFilter(contains=contains, states=() if state is None else (state,), tag=tag)
        return await self.readings.schedules(namespace, wanted, after=after, limit=limit)

    async def duration_stats(self, namespace: str, names: Collection[str]) -> Mapping[str, DurationStats]:
        """How long the last successful runs of these schedules took; without those that have none."""
        return await self._read(lambda db: queries.durations(db, namespace, names))

    async def get_run(self, run_id: int) -> RunRecord | None:
        """A run by id."""
        return await self._read(lambda db: get_run(db, run_id))

    async def list_runs(
        self,
        namespace: str,
        *,
        schedule: str | None = None,
        status: Status | None = None,
        before: int | None = None,
        limit: int = 100,
    ) -> Sequence[RunRecord]:
        """Runs, newest first."""
        filters = {"namespace": namespace, "schedule": schedule, "status": status, "before": before, "limit": limit}
        return await self._read(lambda db: queries.list_runs(db, filters))

    async def list_attempts(self, run_id: int) -> Sequence[AttemptRecord]:
        """The attempts of a run that ended without ending the run well."""
        return await self._read(lambda db: queries.list_attempts(db, run_id))

    async def write_logs(self, lines: Sequence[LogLine], progress: Sequence[Progress]) -> None:
        """Keep what runs said: lines, each once, and the newest progress of each run."""
        with refusing_values():
            await self._writer.run(lambda db: write(db, lambda: logs.write_logs(db, lines, progress)))

    async def read_logs(self, run_id: int, *, after: tuple[int, int] = (0, 0), limit: int = 1_000) -> Sequence[LogLine]:
        """The lines of a run in order, behind this attempt and number."""
        attempt, number = after
        bounds = {"id": run_id, "attempt": attempt, "number": number, "limit": limit}
        return await self._read(lambda db: logs.read_logs(db, bounds))

    async def read_progress(self, run_id: int) -> Progress | None:
        """How far a run said that it was, last."""
        return await self._read(lambda db: logs.read_progress(db, run_id))

    async def active_runs(self, schedule_id: int) -> Sequence[RunRecord]:
        """The runs of a schedule that are not final, oldest first."""
        return await self._read(lambda db: queries.active_runs(db, schedule_id))

    async def tick_decisions(
        self, schedule_id: int, first: datetime, last: datetime, limit: int = 1_000
    ) -> TickDecisions:
        """Runs and skips whose ticks touch the range."""
        bounds = {
            "schedule_id": schedule_id,
            "first": to_micros(first),
            "last": to_micros(last),
            "limit": limit,
        }
        return await self._read(lambda db: queries.decisions(db, bounds))

    async def recent_outcomes(self, namespace: str, since: datetime, limit: int = 1_000) -> RecentOutcomes:
        """Runs that ended, and skips that were recorded or extended, since an instant."""
        bounds = {"namespace": namespace, "since": to_micros(since), "limit": limit}
        return await self._read(lambda db: queries.recent(db, bounds))

    async def read_metrics(
        self, namespace: str, *, maximum: int = MAX_COUNTED, now: datetime | None = None
    ) -> NamespaceMetrics:
        """How much there is of everything in a namespace."""
        at = clock() if now is None else to_micros(now)
        bounds = {"namespace": namespace, "now": at, "maximum": maximum, "recently": RECENTLY * MICROS}
        rows = await self._read(lambda db: db.execute(SQL["measure"], bounds).fetchall())
        return measured(to_instant(at), [(*row, to_instant(when)) for *row, when in rows], maximum)

    async def activity_watermark(self, before: Watermark | None = None, *, now: datetime | None = None) -> Watermark:
        """Up to where nothing can happen any more that is not seen yet."""
        version = 0
        if self._reader is not self._writer:
            version = await self._reader.run(lambda db: db.execute(SQL["data_version"]).fetchone()[0])
            if before is not None and before.clock == version and now is None:
                # Nobody has written anything since, so that nobody has to wait for a writer.
                return before
        at = to_micros(now)
        return await self._write(lambda db: activity.settle(db, at, version))

    async def read_activity(
        self, namespaces: Collection[str], after: ActivityCursor, until: Watermark, *, limit: int = 20_000
    ) -> ActivityPage:
        """What happened in these namespaces behind a place, up to the horizon."""
        return await self._read(lambda db: activity.read_activity(db, namespaces, after, until, limit))

    async def ledger(
        self, schedule_id: int, runs_from: datetime, skips_from: datetime, last: datetime, limit: int = 10_000
    ) -> LedgerPage:
        """A page of all decisions about ticks."""
        bounds = {
            "schedule_id": schedule_id,
            "runs_from": to_micros(runs_from),
            "skips_from": to_micros(skips_from),
            "last": to_micros(last),
            "limit": limit,
        }
        return await self._read(lambda db: queries.ledger(db, bounds))

    async def list_revisions(
        self, schedule_id: int, *, before: int | None = None, made_before: datetime | None = None, limit: int = 100
    ) -> Sequence[RevisionRecord]:
        """The newest revisions of a schedule."""
        bounds = {"schedule_id": schedule_id, "before": before, "made_before": to_micros(made_before), "limit": limit}
        return await self._read(lambda db: queries.list_revisions(db, bounds))

    async def list_audit(
        self, namespace: str, *, schedule: str | None = None, before: int | None = None, limit: int = 100
    ) -> Sequence[AuditEntry]:
        """What was done, newest first."""
        filters = {"namespace": namespace, "schedule": schedule, "before": before, "limit": limit}
        return await self._read(lambda db: queries.list_audit(db, filters))


def _data_version(db: sqlite3.Connection, before: ChangeCounters = (-1, -1, -1)) -> ChangeCounters:
    """The data version, which moves when another connection commits; how often work was made for others.

    And what moves when the schema changes, or heartbeats are called for.
    """
    [version] = db.execute(SQL["data_version"]).fetchone()
    if version == before[0]:
        return before
    [(woken,), (called,)] = db.execute(SQL["wake_counts"]).fetchall()
    [shape] = db.execute(SQL["schema_version"]).fetchone()
    return version, woken, shape + called


def _dated(now: datetime | None) -> int:
    """What is written is dated by when nobody else could write any more: what is dated later, is written later."""
    return clock() if now is None else to_micros(now)


def _jumped(at: int, expected: ClockBounds | None) -> bool:
    return expected is not None and not expected[0] <= to_instant(at) <= expected[1]
