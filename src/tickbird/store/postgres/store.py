"""The store on PostgreSQL: every verb of the protocol, each a whole transaction."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final, TypeVar

import psycopg
from psycopg import errors
from psycopg.types.json import Jsonb

from tickbird.domain.access.http_responses import StoredResponse
from tickbird.domain.access.sessions import NewSession, SessionRecord
from tickbird.domain.calendars.calendar import Calendar
from tickbird.domain.calendars.definition import CalendarRecord
from tickbird.domain.dashboard_rows import ScheduleFilter, ScheduleSummary
from tickbird.domain.doctor.metrics import MAX_COUNTED, RECENTLY, NamespaceMetrics, measured
from tickbird.domain.doctor.snapshot import StoreSnapshot
from tickbird.domain.errors import StoreError, StoreUnavailableError
from tickbird.domain.ledger.activity import ActivityCursor, ActivityPage, AuditEntry, Watermark
from tickbird.domain.ledger.decisions import LedgerPage, RecentOutcomes, TickDecisions
from tickbird.domain.ledger.shadow_report import MAX_PINGS
from tickbird.domain.ledger.verification import LedgerEntry
from tickbird.domain.limits.concurrency import ConcurrencyLimit
from tickbird.domain.limits.rate_limits import QueuePosition, QueueStatus, RateLimit
from tickbird.domain.planning.backfills import BackfillPlan, BackfillRecord, NewBackfill
from tickbird.domain.planning.changes import ChangeResult, ChangeSet, Counted
from tickbird.domain.planning.code_sync import AppSchedule
from tickbird.domain.planning.commands import Command
from tickbird.domain.planning.plan_result import PlanResult
from tickbird.domain.runs.durations import LOOKED_AT, DurationStats, run_length
from tickbird.domain.runs.held import Drop, HeldSchedule, Release
from tickbird.domain.runs.leases import ClaimResult, FinishResult, LeaseRef, RenewResult, RescueResult
from tickbird.domain.runs.logs import LogLine, Progress
from tickbird.domain.runs.run import AttemptRecord, NewRun, Outcome, RunRecord, SkipRecord, Status
from tickbird.domain.schedules.dependencies import LastSuccess
from tickbird.domain.schedules.revision import RevisionRecord
from tickbird.domain.schedules.schedule import MAX_SQL_EDITS, Schedule, State
from tickbird.domain.store_identity import StoreIdentity
from tickbird.domain.time.clock_bounds import ClockBounds
from tickbird.domain.time.zone_data import ZoneData, ZoneRecomputeResult, ZoneRecord, Zones, zone_source
from tickbird.domain.workers import HandOff, HeartbeatResult, Worker
from tickbird.store.postgres import activity, bulk_changes, calendars, doctor, logs, queues, sessions, workers
from tickbird.store.postgres import http_responses as responses
from tickbird.store.postgres import schedule_changes as changes
from tickbird.store.postgres.dashboard import PostgresDashboard
from tickbird.store.postgres.database import identity, notifications, schema
from tickbird.store.postgres.database.connection import Connections, Session
from tickbird.store.postgres.database.database import Database
from tickbird.store.postgres.database.errors import is_data_error, translate
from tickbird.store.postgres.planning import backfills, concurrency, zone_data
from tickbird.store.postgres.planning.batches import Step
from tickbird.store.postgres.planning.claims import ClaimRequest, Claims
from tickbird.store.postgres.planning.dependencies import read_successes, watch
from tickbird.store.postgres.planning.held import resolve_held
from tickbird.store.postgres.planning.zone_recompute import follow
from tickbird.store.postgres.rows import texts, to_run, to_schedule, to_schedules
from tickbird.store.postgres.runs import (
    START,
    cancel,
    enqueue,
    finish,
    page_of,
    prune,
    prune_revisions,
    renew,
    rescue,
)
from tickbird.store.postgres.tokens import PostgresTokens
from tickbird.store.protocol.tokens import TokenStore
from tickbird.store.shared.backfills import choose_ticks
from tickbird.store.shared.identity import compare, same_database
from tickbird.store.shared.json_columns import as_object
from tickbird.store.shared.migrations import outdated, read_version
from tickbird.store.shared.plan_backoff import PlanBackoff
from tickbird.store.shared.plans import RevisionCache, UncommittedRevisions
from tickbird.store.shared.unstorable_values import refused_value, refusing_values
from tickbird.store.shared.zone_data import UNKNOWN, PlanningPermission

T = TypeVar("T")
Work = Callable[[Session], Awaitable[T]]

# After an answer to COMMIT got lost, it is tried again after so long.
_PAUSES: Final = (0.1, 0.5, 2.0)


class PostgresStore:
    """Tickbird's tables in the schema `tickbird` of a PostgreSQL database, or in another one with `?schema=`.

    `listen_url` is for servers behind a pooler that hands out a connection per transaction, which cannot LISTEN.
    `within` is how many seconds a statement may take, if not as long as planning gives it.
    """

    planners = 2

    def __init__(
        self, url: str, *, listen_url: str | None = None, connections: int = 10, within: float | None = None
    ) -> None:
        self._connections = Connections(url, connections, within)
        self._listening = self._connections if listen_url is None else Connections(listen_url, 1)
        self._known = RevisionCache()
        self._database = Database(self._connections)
        self.tokens: TokenStore = PostgresTokens(self._database)
        self._claims = Claims(self._known, self._statement, self._transact)
        self._bell = notifications.Notifier(self._connections)
        self._backoff = PlanBackoff()
        self._pruned = START
        self._zones = UNKNOWN
        self._place: StoreIdentity | None = None
        self.plans = True

    @property
    def url(self) -> str:
        """Where it is, without a password."""
        return self._connections.url

    @property
    def readings(self) -> PostgresDashboard:
        """What a dashboard reads of it."""
        return PostgresDashboard(self._statement)

    async def open(self) -> None:
        """Connect; raise SchemaError unless the schema fits this code."""
        await self.close()
        async with self._connections.dedicated() as connection:
            await self._plainly(schema.check(connection, self._connections.schema))
        await self._connections.open()

    async def close(self) -> None:
        """Let go of every connection; harmless when not open."""
        await self._bell.close()
        await self._connections.close()

    async def migrate(self) -> Sequence[str]:
        """Bring the schema up to date under a lock; the names of what was applied, empty when it was."""
        async with self._connections.dedicated() as connection:
            applied = await self._plainly(schema.migrate(connection, self._connections.schema))
            async with self._connections.dedicated() as guard:
                built = await self._plainly(schema.build_indexes(connection, guard, self._connections.schema))
            return [*applied, *built]

    async def inspect(self, namespace: str, *, now: datetime | None = None) -> StoreSnapshot:
        """Look at everything that may need a person; also where the store is not open, or has no schema."""
        return await self._plainly(doctor.examine(self._connections, self._listening, namespace, now))

    async def now(self) -> datetime:
        """The store's own clock."""
        [(now,)] = await self._statement(lambda db: db.fetch("clock", now=None))
        return now  # type: ignore[no-any-return]

    async def schema_version(self) -> int | None:
        """The number of the newest migration that was applied to it."""
        return read_version(dict(await self._statement(lambda db: db.fetch("read_meta"))))[0]

    def wakeups(self) -> AbstractAsyncContextManager[AsyncIterator[bool]]:
        """Yields whenever another process may have made work; coalesced, may be spurious, may get lost."""
        return notifications.listen(self._listening, self._connections.schema)

    # Planning

    async def plan_due(
        self,
        limit: int = 500,
        *,
        hand_off: HandOff | None = None,
        expected: ClockBounds | None = None,
        now: datetime | None = None,
    ) -> PlanResult:
        """Plan up to `limit` due schedules: runs, skips and cursors commit together or not at all."""
        step = Step(self._connections, self._known, self._backoff, await self._zones_checked(), expected, now)
        return await step.plan(limit, hand_off, self._bell.notify)

    async def change_schedule(
        self, namespace: str, name: str, command: Command, *, now: datetime | None = None
    ) -> ChangeResult:
        """Plan what is due under the old revision, then apply the command, its revision and its audit row."""

        may = await self._may_plan()
        if named := {(namespace, name) for name in command.needs(None)}:
            # On its own: to wait for runs of other schedules while this one is held might be a circle.
            await self._transact(lambda db: watch(db, named))

        async def work(db: Session) -> ChangeResult:
            known = UncommittedRevisions(self._known)
            return await changes.change(db, known, may, namespace, name, command, now)

        try:
            return await self._connections.transact(work)
        except errors.UniqueViolation:
            # Somebody else created it at the same moment; now the command can see that.
            return await self._transact(work)
        except psycopg.Error as error:
            raise translate(error, self._connections.display_name) from None

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
        may = await self._may_plan()
        named = {(namespace, name) for _, command in changes.commands for name in command.needs(None)}
        if named:
            # On its own, as for a single change.
            await self._transact(lambda db: watch(db, named))

        async def work(db: Session) -> None:
            known = UncommittedRevisions(self._known)
            await bulk_changes.apply_changes(db, known, may, namespace, changes, actor, now, counted)

        try:
            await self._connections.transact(work)
        except errors.UniqueViolation:
            # Somebody else created one of them at the same moment; now the commands can see that.
            await self._transact(work)
        except psycopg.Error as error:
            raise translate(error, self._connections.display_name) from None

    # Copies

    async def check_identity(self) -> StoreIdentity:
        """Is the store where it says it is?"""
        self._place = await self._statement(identity.check)
        return self._place

    async def _identity_checked(self) -> StoreIdentity:
        return await self.check_identity() if self._place is None else self._place

    async def accept_copy(self, namespace: str, actor: str, *, now: datetime | None = None) -> StoreIdentity:
        """Let a copy go on where it is, as a store of its own."""
        place = await self.check_identity()
        self._place = await self._transact(lambda db: identity.accept(db, place, namespace, actor, now))
        return self._place

    # Zones

    async def check_zone_data(
        self, here: ZoneData | None = None, *, adopt: bool = False, actor: str = "", now: datetime | None = None
    ) -> Zones:
        """Compare zone rules with the store's; from then on only who has the same plans schedules outside of UTC."""
        mine = zone_source().data if here is None else here
        self._zones = await self._statement(lambda db: zone_data.check(db, mine, adopt, actor, now))
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
        return await self._transact(lambda db: follow(db, self._known, mine, after, limit, now))

    async def list_zone_data(self, *, limit: int = 100) -> Sequence[ZoneRecord]:
        """The zone rules that the store has gone by, newest first."""
        return await self._statement(lambda db: zone_data.records(db, limit))

    # Runs

    async def enqueue(
        self, namespace: str, runs: Sequence[NewRun], actor: str, *, now: datetime | None = None
    ) -> Sequence[int]:
        """Insert runs that belong to no schedule."""
        if not runs:
            return []
        rung = False
        made: list[int] = []

        async def work(db: Session) -> None:
            nonlocal rung
            made[:] = await enqueue(db, self._known, namespace, runs, actor, now, made)
            if rung := self._bell.may_notify_with_commit():
                await db.execute("wake")

        for pause in (*_PAUSES, None):
            try:
                await self._connections.transact(work)
                break
            except psycopg.Error as error:
                if made and isinstance(error, errors.UniqueViolation):
                    # The answer to COMMIT got lost, but it counted: the runs are there.
                    break
                # With their ids taken, inserting the same runs again can never make them twice.
                if pause is None or not made or not isinstance(error, psycopg.OperationalError):
                    raise translate(error, self._connections.display_name) from None
                await asyncio.sleep(pause)
        if not rung:
            self._bell.notify()
        return made

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
        """Lease up to `limit` available runs of these queues and tasks, by priority, then oldest first."""
        begin = limit if at_once is None else at_once
        return await self._claims.claim(ClaimRequest(worker, limit, lease, queues, tasks, begin, now, expected))

    async def renew(
        self, worker: Worker, held: Sequence[LeaseRef], lease: float, *, now: datetime | None = None
    ) -> RenewResult:
        """Extend the leases that this worker still holds under the attempt it names."""
        return await self._statement(lambda db: renew(db, worker.id, held, lease, now))

    async def finish(
        self, outcomes: Sequence[Outcome], *, worker: Worker | None = None, now: datetime | None = None
    ) -> FinishResult:
        """Record how attempts ended; release the next waiters."""
        # Where nobody can be waiting, one statement is the whole transaction.
        whole = (
            self._connections.statement if all(outcome.alone for outcome in outcomes) else self._connections.transact
        )
        done = await self._record(
            whole(lambda db: finish(db, self._known, None if worker is None else worker.id, outcomes, now))
        )
        if done.released:
            self._bell.notify()
        return done

    async def cancel_run(self, run_id: int, actor: str, *, reason: str = "", now: datetime | None = None) -> RunRecord:
        """Cancel a run that has not started; ask a running one to stop. A final one raises ConflictError."""
        return await self._transact(lambda db: cancel(db, self._known, run_id, actor, reason, now))

    async def rescue(
        self, limit: int = 500, *, expected: ClockBounds | None = None, now: datetime | None = None
    ) -> RescueResult:
        """Take runs whose lease has expired from their worker; cancel those not started in time."""
        [(last_heartbeat_at, next_at, waiting)] = await self._statement(lambda db: db.fetch("next_rescue", now=now))
        if not waiting and (next_at is None or next_at >= last_heartbeat_at):
            return RescueResult(last_heartbeat_at, next_at=next_at)
        if expected is not None and not expected[0] <= last_heartbeat_at <= expected[1]:
            return RescueResult(last_heartbeat_at)
        rescued = await self._transact(lambda db: rescue(db, self._known, limit, last_heartbeat_at))
        if rescued.requeued or rescued.released:
            self._bell.notify()
        return rescued

    async def prune(self, *, older_than: float, keep: int, limit: int = 1_000, now: datetime | None = None) -> int:
        """Delete final runs that ended so many seconds ago and are not among the newest `keep` of their schedule."""
        since = self._pruned
        gone, self._pruned = await self._transact(lambda db: prune(db, older_than, keep, limit, since, now))
        cutoff = (await self.now() if now is None else now) - timedelta(seconds=older_than)
        return gone + await self._prune_revisions(cutoff, limit)

    async def _prune_revisions(self, cutoff: datetime, limit: int) -> int:
        gone = after = 0
        while gone < limit:
            edited = await self._rows("edited_often", after=after, limit=MAX_SQL_EDITS)
            for (after,) in edited:
                work = partial(prune_revisions, schedule_id=after, cutoff=cutoff, limit=limit - gone)
                gone += await self._transact(work)
            if len(edited) < MAX_SQL_EDITS:
                break
        return gone

    # Backfills

    async def backfill(
        self, namespace: str, name: str, new: NewBackfill, *, dry_run: bool = False, now: datetime | None = None
    ) -> BackfillPlan:
        """Make a run of each tick that is asked for and has none; they wait in order behind all other runs."""
        if dry_run:
            wanted, ticks = await choose_ticks(self._rows, await self.get_schedule(namespace, name), name, new)
            return wanted.plan(ticks)
        may = await self._may_plan()
        return await self._transact(lambda db: backfills.make(db, self._known, may, namespace, name, new, now))

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
        return await self._transact(
            lambda db: backfills.cancel(db, self._known, namespace, backfill_id, actor, note, stop_running, now)
        )

    async def get_backfill(self, namespace: str, backfill_id: int) -> BackfillRecord:
        """A backfill by id, and how far it is."""
        return await self._statement(lambda db: backfills.read(db, namespace, backfill_id))

    async def list_backfills(
        self, namespace: str, *, schedule: str | None = None, before: int | None = None, limit: int = 20
    ) -> Sequence[BackfillRecord]:
        """Backfills, newest first, with ids below `before`."""
        rows = await self._named("list_backfills", namespace=namespace, schedule=schedule, before=before, limit=limit)
        return [backfills.to_backfill(row) for row in rows]

    # Held runs

    async def list_held_schedules(self, namespace: str, *, schedule: str | None = None) -> Sequence[HeldSchedule]:
        """The schedules of which runs are held, by name; or one of them."""
        rows = await self._named("held_schedules", namespace=namespace, schedule=schedule)
        return [HeldSchedule(**row) for row in rows]

    async def list_held_runs(
        self, namespace: str, schedule: str, *, after: int = 0, limit: int = 100
    ) -> Sequence[RunRecord]:
        """The held runs of a schedule, oldest first, with ids above `after`."""
        rows = await self._named("list_held_runs", namespace=namespace, schedule=schedule, after=after, limit=limit)
        return [to_run(row) for row in rows]

    async def resolve_held(
        self, namespace: str, name: str, decision: Release | Drop, *, now: datetime | None = None
    ) -> int:
        """Release or drop the oldest held runs of a schedule; how many that were."""
        return await self._transact(lambda db: resolve_held(db, self._known, namespace, name, decision, now))

    # Limits

    async def set_limit(
        self, namespace: str, key: str, max_running: int | None, actor: str, *, now: datetime | None = None
    ) -> ConcurrencyLimit:
        """Let so many runs of a key go on at once, or the default with None; who may go now, goes now."""
        limit, released = await self._transact(
            lambda db: concurrency.change(db, self._known, namespace, key, max_running, actor, now)
        )
        if released:
            self._bell.notify()
        return limit

    async def list_limits(
        self, namespace: str, *, key: str | None = None, after: str = "", limit: int | None = None
    ) -> Sequence[ConcurrencyLimit]:
        """The keys that have a limit or active runs, by name, behind `after`; or one of them."""
        return await self._statement(lambda db: concurrency.read(db, namespace, key, after, limit))

    async def list_runs_of_key(self, namespace: str, key: str, *, limit: int = 100) -> Sequence[RunRecord]:
        """The runs that have a place of a key, oldest first."""
        return [to_run(row) for row in await self._named("list_runs_of_key", namespace=namespace, key=key, limit=limit)]

    # Queues

    async def set_queue_rate(
        self, namespace: str, queue: str, rate: RateLimit | None, actor: str, *, now: datetime | None = None
    ) -> QueueStatus:
        """Let runs of a queue begin at this rate, or as they come with None; what has begun counts for the new rate."""
        return await self._transact(lambda db: queues.limit(db, namespace, queue, rate, actor, now))

    async def list_queues(
        self, namespace: str, *, queue: str | None = None, now: datetime | None = None
    ) -> Sequence[QueueStatus]:
        """The queues that have a rate or active runs, by name; or one of them."""
        return await self._transact(lambda db: queues.listed(db, namespace, queue, now))

    async def queue_position(self, run_id: int, *, now: datetime | None = None) -> QueuePosition | None:
        """What keeps a queued run back in its queue: a rate, or others that may pass it; None where nothing does."""
        return await self._transact(lambda db: queues.turn(db, run_id, now))

    # Workers and code

    async def heartbeat(self, worker: Worker, live_for: float, *, now: datetime | None = None) -> HeartbeatResult:
        """Insert or refresh this worker's row; it counts as live for so long."""
        here = (await self._identity_checked()).here
        try:
            rows = await self._statement(
                lambda db: db.fetch(
                    "heartbeat",
                    id=worker.id,
                    namespace=worker.namespace,
                    app=worker.app,
                    kind=worker.kind,
                    host=worker.host,
                    pid=worker.pid,
                    version=worker.version,
                    queues=texts(worker.queues),
                    slots=worker.slots,
                    tasks=Jsonb(dict(worker.tasks)),
                    declares=Jsonb(dict(worker.declares)),
                    draining=worker.draining,
                    standby_reason=worker.standby_reason,
                    health=Jsonb(dict(worker.health)),
                    started_at=worker.started_at,
                    live_for=live_for,
                    now=now,
                )
            )
        except StoreUnavailableError:
            raise
        except StoreError:
            # Migrated meanwhile, perhaps beyond what this code can write.
            meta = dict(await self._statement(lambda db: db.fetch("read_meta")))
            if not (too_new := outdated(schema.MIGRATIONS, meta)):
                raise
            return HeartbeatResult(await self.now(), outdated=too_new)
        [(last_heartbeat_at, peers, generation, stored, version, compatible, drained_by)] = rows
        self._place = compare(here, stored, same_database)
        meta = {"version": version or 0, "min_compatible": compatible or 0}
        too_old, copied = outdated(schema.MIGRATIONS, meta), self._place.copy_reason
        return HeartbeatResult(last_heartbeat_at, frozenset(peers), generation, copied, too_old, drained_by)

    async def drain_worker(
        self, namespace: str, worker_id: str, actor: str, *, note: str = "", now: datetime | None = None
    ) -> Worker:
        """Ask a live worker to drain; harmless where that was done before."""
        return await self._transact(lambda db: workers.drain(db, namespace, worker_id, actor, note, now))

    async def remove_worker(self, worker_id: str) -> None:
        """Remove this worker's row."""
        await self._statement(lambda db: db.execute("remove_worker", id=worker_id))

    async def list_workers(self, namespace: str, *, now: datetime | None = None) -> Sequence[Worker]:
        """The live workers."""
        rows = await self._named("list_workers", namespace=namespace, now=now)
        return [workers.record(row) for row in rows]

    async def list_app_schedules(self, namespace: str, app: str, names: Collection[str]) -> Mapping[str, AppSchedule]:
        """Every schedule of the app, and those of other owners among `names`, deleted ones included."""
        rows = await self._named("list_app_schedules", namespace=namespace, app=app, names=texts(list(names)))
        seen = [frozenset(row["seen"]) for row in rows]
        schedules = await to_schedules(rows)
        return {one.name: AppSchedule(one, names) for one, names in zip(schedules, seen, strict=True)}

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
        """Insert or replace a calendar; schedules that name it are changed by commands of their own."""
        return await self._transact(
            lambda db: calendars.put(db, namespace, name, definition, closed, source, actor, revision, now)
        )

    async def delete_calendar(
        self, namespace: str, name: str, actor: str, *, revision: int | None = None, now: datetime | None = None
    ) -> None:
        """Delete a calendar; ConflictError while a schedule names it."""
        await self._transact(lambda db: calendars.delete(db, namespace, name, actor, revision, now))

    async def list_calendars(
        self, namespace: str, *, name: str | None = None, after: str = "", limit: int | None = None
    ) -> Sequence[CalendarRecord]:
        """The stored calendars, by name."""
        return await self._statement(lambda db: calendars.listed(db, namespace, name, after, limit))

    async def schedules_with_calendar(
        self, namespace: str, name: str, *, after: str = "", limit: int = 100
    ) -> Sequence[Schedule]:
        """Schedules that name a calendar and are not deleted, by name, behind `after`."""
        return await self._statement(lambda db: calendars.naming(db, namespace, name, after, limit))

    # Sessions

    async def open_session(self, namespace: str, new: NewSession, *, now: datetime | None = None) -> SessionRecord:
        """Keep a new session."""
        return await self._transact(lambda db: sessions.open_one(db, namespace, new, now))

    async def find_session(self, session_id: str, *, now: datetime | None = None) -> SessionRecord | None:
        """A session by its id."""
        return await self._statement(lambda db: sessions.find(db, session_id, now))

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
        return await self._statement(lambda db: sessions.listed(db, token_id, within, live, after, limit, now))

    async def close_session(
        self, namespace: str, session_id: str, actor: str, *, now: datetime | None = None
    ) -> SessionRecord:
        """End a session."""
        return await self._transact(lambda db: sessions.close(db, namespace, session_id, actor, now))

    async def close_sessions(self, namespace: str, token_id: str, actor: str, *, now: datetime | None = None) -> int:
        """End all sessions of a token."""
        return await self._transact(lambda db: sessions.close_all(db, namespace, token_id, actor, now))

    async def touch_session(self, session_id: str, *, now: datetime | None = None) -> None:
        """Write that a session was used, at most once a minute."""
        await self._statement(lambda db: sessions.note_use(db, session_id, now))

    # Answers

    async def begin_request(
        self, namespace: str, key: str, request: str, *, now: datetime | None = None
    ) -> StoredResponse | None:
        """Note that a request with a key is being answered."""
        return await self._transact(lambda db: responses.begin(db, namespace, key, request, now))

    async def finish_request(
        self, namespace: str, key: str, request: str, answer: StoredResponse | None, *, now: datetime | None = None
    ) -> None:
        """Keep the answer to such a request for a day, or forget that it was asked."""
        await self._statement(lambda db: responses.end(db, namespace, key, request, answer))

    # Pings

    async def ping(self, schedule_id: int, at: datetime | None = None, *, now: datetime | None = None) -> datetime:
        """Note that another system really ran what a schedule is to do; of one schedule the newest 100,000 stay."""

        async def add(db: Session) -> datetime:
            [(moment,)] = await db.fetch("ping", schedule_id=schedule_id, at=at, now=now)
            await db.execute("trim_pings", schedule_id=schedule_id, maximum=MAX_PINGS)
            assert isinstance(moment, datetime)
            return moment

        return await self._transact(add)

    async def list_pings(
        self, schedule_id: int, first: datetime, last: datetime, *, after: datetime | None = None, limit: int = 1_000
    ) -> Sequence[datetime]:
        """The pings of a schedule from `first` to `last`, oldest first; behind `after`, where that is given."""
        bounds = {"schedule_id": schedule_id, "first": first, "last": last, "after": after, "limit": limit}
        return [at for (at,) in await self._statement(lambda db: db.fetch("list_pings", **bounds))]

    # Dependencies

    async def last_successes(self, namespace: str, names: Collection[str]) -> Mapping[str, LastSuccess]:
        """When these schedules last succeeded, as the planner knows it of those that others depend on."""
        found = await self._statement(lambda db: read_successes(db, {(namespace, name) for name in names}))
        return found.get(namespace, {})

    # Reading

    async def get_schedule(self, namespace: str, name: str) -> Schedule | None:
        """A schedule by name, also a deleted one."""
        rows = await self._named("get_schedule", namespace=namespace, name=name)
        return to_schedule(rows[0]) if rows else None

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
        """Schedules by name, behind `after`; deleted ones only when asked for by state."""
        wanted = ScheduleFilter(contains=contains, states=() if state is None else (state,), tag=tag)
        return await self.readings.schedules(namespace, wanted, after=after, limit=limit)

    async def duration_stats(self, namespace: str, names: Collection[str]) -> Mapping[str, DurationStats]:
        """How long the last successful runs of these schedules took; without those that have none."""
        rows = await self._named("durations", namespace=namespace, names=sorted(names), looked_at=LOOKED_AT)
        return {row["name"]: run_length(row["seconds"]) for row in rows}

    async def get_run(self, run_id: int) -> RunRecord | None:
        """A run by id."""
        rows = await self._named("get_run", id=run_id)
        return to_run(rows[0]) if rows else None

    async def list_runs(
        self,
        namespace: str,
        *,
        schedule: str | None = None,
        status: Status | None = None,
        before: int | None = None,
        limit: int = 100,
    ) -> Sequence[RunRecord]:
        """Runs, newest first, with ids below `before`."""
        bounds = {"namespace": namespace, "status": status, "before": before, "limit": limit}
        statement = page_of(status)
        if schedule is not None:
            statement, bounds["schedule"] = f"{statement}_of", schedule
        return [to_run(row) for row in await self._named(statement, **bounds)]

    async def list_attempts(self, run_id: int) -> Sequence[AttemptRecord]:
        """The attempts of a run that ended without ending the run well."""
        return [AttemptRecord(*row) for row in await self._statement(lambda db: db.fetch("list_attempts", id=run_id))]

    async def write_logs(self, lines: Sequence[LogLine], progress: Sequence[Progress]) -> None:
        """Keep what runs said: lines, each once, and the newest progress of each run."""
        await self._record(self._connections.transact(lambda db: logs.write_logs(db, lines, progress)))

    async def read_logs(self, run_id: int, *, after: tuple[int, int] = (0, 0), limit: int = 1_000) -> Sequence[LogLine]:
        """The lines of a run in order, behind this attempt and number."""
        attempt, number = after
        bounds = {"id": run_id, "attempt": attempt, "number": number, "limit": limit}
        return [LogLine(*row) for row in await self._statement(lambda db: db.fetch("read_lines", **bounds))]

    async def read_progress(self, run_id: int) -> Progress | None:
        """How far a run said that it was, last."""
        rows = await self._statement(lambda db: db.fetch("read_progress", id=run_id))
        return Progress(*rows[0]) if rows else None

    async def active_runs(self, schedule_id: int) -> Sequence[RunRecord]:
        """The runs of a schedule that are not final, oldest first."""
        return [to_run(row) for row in await self._named("active_runs", schedule_id=schedule_id)]

    async def tick_decisions(
        self, schedule_id: int, first: datetime, last: datetime, limit: int = 1_000
    ) -> TickDecisions:
        """Runs and skips whose ticks touch the range."""
        bounds = {"schedule_id": schedule_id, "first": first, "last": last, "limit": limit}
        found = await self._named("runs_between", **bounds)
        skips = await self._statement(lambda db: db.fetch("skips_between", **bounds))
        return TickDecisions(runs=[to_run(row) for row in found], skips=[SkipRecord(*row) for row in skips])

    async def recent_outcomes(self, namespace: str, since: datetime, limit: int = 1_000) -> RecentOutcomes:
        """Runs that ended, and skips that were recorded or extended, since an instant."""
        bounds = {"namespace": namespace, "since": since, "limit": limit}
        ended = await self._named("ended_since", **bounds)
        skips = await self._statement(lambda db: db.fetch("skipped_since", **bounds))
        return RecentOutcomes([to_run(row) for row in ended], [(name, SkipRecord(*row)) for name, *row in skips])

    async def read_metrics(
        self, namespace: str, *, maximum: int = MAX_COUNTED, now: datetime | None = None
    ) -> NamespaceMetrics:
        """How much there is of everything in a namespace."""
        rows = await self._statement(
            lambda db: db.fetch("measure", namespace=namespace, now=now, maximum=maximum, recently=RECENTLY)
        )
        [at] = [at for kind, _, _, at in rows if kind == "now"]
        return measured(at, [(kind, label, number, at) for kind, label, number, at in rows if kind != "now"], maximum)

    async def activity_watermark(self, before: Watermark | None = None, *, now: datetime | None = None) -> Watermark:
        """Up to where nothing can happen any more that is not seen yet."""
        return await self._statement(lambda db: activity.settle(db, before, now))

    async def read_activity(
        self, namespaces: Collection[str], after: ActivityCursor, until: Watermark, *, limit: int = 20_000
    ) -> ActivityPage:
        """What happened in these namespaces behind a place, up to the horizon."""
        return await self._statement(lambda db: activity.read_activity(db, namespaces, after, until, limit))

    async def ledger(
        self, schedule_id: int, runs_from: datetime, skips_from: datetime, last: datetime, limit: int = 10_000
    ) -> LedgerPage:
        """A page of all decisions about ticks."""
        bounds = {"schedule_id": schedule_id, "last": last, "limit": limit}
        runs = await self._statement(lambda db: db.fetch("ledger_runs", runs_from=runs_from, **bounds))
        skips = await self._statement(lambda db: db.fetch("ledger_skips", skips_from=skips_from, **bounds))
        pruned = await self._statement(lambda db: db.fetch("pruned_until", schedule_id=schedule_id))
        return LedgerPage(
            [LedgerEntry.run(*row) for row in runs],
            [LedgerEntry.skip(*row) for row in skips],
            pruned[0][0] if pruned else None,
        )

    async def list_revisions(
        self, schedule_id: int, *, before: int | None = None, made_before: datetime | None = None, limit: int = 100
    ) -> Sequence[RevisionRecord]:
        """The newest revisions of a schedule, newest first; those below `before`, and made before an instant."""
        bounds = {"before": before, "made_before": made_before, "limit": limit}
        rows = await self._named("list_revisions", schedule_id=schedule_id, **bounds)
        objects = ("definition", "detail")
        return [RevisionRecord(**{**row, **{name: as_object(row[name]) for name in objects}}) for row in rows]

    async def list_audit(
        self, namespace: str, *, schedule: str | None = None, before: int | None = None, limit: int = 100
    ) -> Sequence[AuditEntry]:
        """What was done, newest first."""
        rows = await self._named("list_audit", namespace=namespace, schedule=schedule, before=before, limit=limit)
        return [AuditEntry(**{**row, "detail": as_object(row["detail"])}) for row in rows]

    async def _named(self, statement: str, **values: Any) -> list[dict[str, Any]]:
        return await self._statement(lambda db: db.fetch_named(statement, **values))

    async def _rows(self, statement: str, **values: Any) -> list[tuple[Any, ...]]:
        return await self._statement(lambda db: db.fetch(statement, **values))

    async def _statement(self, work: Work[T]) -> T:
        return await self._plainly(self._connections.statement(work))

    async def _transact(self, work: Work[T]) -> T:
        return await self._plainly(self._connections.transact(work))

    async def _record(self, work: Awaitable[T]) -> T:
        """Write what runs gave; raises InvalidError if a value can never be stored."""
        try:
            with refusing_values():
                return await work
        except psycopg.Error as error:
            if is_data_error(error):
                raise refused_value(error) from None
            raise translate(error, self._connections.display_name) from None

    async def _plainly(self, work: Awaitable[T]) -> T:
        """Errors of the driver become one sentence."""
        try:
            return await work
        except psycopg.Error as error:
            raise translate(error, self._connections.display_name) from None
