"""What a store must do: few verbs, each a whole transaction with a meaning.

Every verb that depends on time takes `now`: absent, the store's own clock; tests pass an instant.
Verbs raise StoreUnavailableError when the database cannot be reached or does not answer in time; they have
then either committed or not, and calling them again is safe.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from typing import Any, Protocol

from tickbird.domain.access.http_responses import StoredResponse
from tickbird.domain.access.sessions import NewSession, SessionRecord
from tickbird.domain.calendars.calendar import Calendar
from tickbird.domain.calendars.definition import CalendarRecord
from tickbird.domain.dashboard_rows import ScheduleSummary
from tickbird.domain.doctor.metrics import MAX_COUNTED, NamespaceMetrics
from tickbird.domain.doctor.snapshot import StoreSnapshot
from tickbird.domain.ledger.activity import ActivityCursor, ActivityPage, Watermark
from tickbird.domain.ledger.activity import AuditEntry as AuditEntry
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
from tickbird.domain.time.zone_data import ZoneData, ZoneRecomputeResult, ZoneRecord, Zones
from tickbird.domain.workers import HandOff, HeartbeatResult, Worker
from tickbird.store.protocol.dashboard import DashboardStore
from tickbird.store.protocol.tokens import TokenStore


class Store(Protocol):
    """The only durable thing."""

    # How many batches of due schedules one process does well to plan at once.
    planners: int
    # May commands of this process plan what is due before they change a schedule?
    plans: bool
    tokens: TokenStore

    @property
    def url(self) -> str:
        """Where it is, without a password."""
        ...

    @property
    def readings(self) -> DashboardStore:
        """What a dashboard reads of it."""
        ...

    async def open(self) -> None:
        """Connect; raise SchemaError unless the schema fits this code."""
        ...

    async def close(self) -> None:
        """Let go of every connection; harmless when not open."""
        ...

    async def migrate(self) -> Sequence[str]:
        """Bring the schema up to date under a lock; what was applied or set right; empty when it was."""
        ...

    async def inspect(self, namespace: str, *, now: datetime | None = None) -> StoreSnapshot:
        """Look at everything that may need a person; also where the store is not open, or has no schema."""
        ...

    async def now(self) -> datetime:
        """The store's own clock."""
        ...

    async def schema_version(self) -> int | None:
        """The number of the newest migration that was applied to it; None where none was."""
        ...

    def wakeups(self) -> AbstractAsyncContextManager[AsyncIterator[bool]]:
        """Yields whenever another process may have made work; coalesced, may be spurious, may get lost.

        What it yields tells whether a heartbeat is called for: the schema may have changed, or a worker is to drain.
        """
        ...

    # Planning

    async def plan_due(
        self,
        limit: int = 500,
        *,
        hand_off: HandOff | None = None,
        expected: ClockBounds | None = None,
        now: datetime | None = None,
    ) -> PlanResult:
        """Plan up to `limit` due schedules: runs, skips and cursors commit together or not at all.

        Runs of ticks that are on time may be leased to the worker that plans, instead of queued.
        """
        ...

    async def change_schedule(
        self, namespace: str, name: str, command: Command, *, now: datetime | None = None
    ) -> ChangeResult:
        """Plan what is due under the old revision, then apply the command, its revision and its audit row.

        A trigger with a key that was used before makes no run, and gives the one that exists.
        """
        ...

    async def apply_changes(
        self,
        namespace: str,
        changes: ChangeSet,
        actor: str,
        *,
        counted: Counted | None = None,
        now: datetime | None = None,
    ) -> None:
        """Make all these changes in one transaction, each as its own verb would; or none, with the first error."""
        ...

    # Copies

    async def check_identity(self) -> StoreIdentity:
        """Is the store where it says it is? In one that is not, commands change what they say and plan nothing."""
        ...

    async def accept_copy(self, namespace: str, actor: str, *, now: datetime | None = None) -> StoreIdentity:
        """Let a copy go on where it is, as a store of its own."""
        ...

    # Zones

    async def check_zone_data(
        self, here: ZoneData | None = None, *, adopt: bool = False, actor: str = "", now: datetime | None = None
    ) -> Zones:
        """Compare zone rules with the store's; from then on only who has the same plans schedules outside of UTC.

        With `adopt` the store takes over newer ones that it has never had; with an actor too, any.
        """
        ...

    async def recompute_for_zone_data(
        self, after: int = 0, limit: int = 500, *, now: datetime | None = None
    ) -> ZoneRecomputeResult:
        """Compute cursors anew that go by older zone rules, in the order of schedule ids behind `after`."""
        ...

    async def list_zone_data(self, *, limit: int = 100) -> Sequence[ZoneRecord]:
        """The zone rules that the store has gone by, newest first."""
        ...

    # Runs

    async def enqueue(
        self, namespace: str, runs: Sequence[NewRun], actor: str, *, now: datetime | None = None
    ) -> Sequence[int]:
        """Insert runs that belong to no schedule; the id of the run that exists where its key was used before."""
        ...

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
        """Lease up to `limit` available runs of these queues and tasks, by priority, then oldest first.

        So many of them begin at once, all if not said: of a queue with a rate nothing is leased that begins later.
        If the store's clock is ahead of what is expected, runs that waited for it are not leased, see `believed_now`.
        A run whose revision or payload this process cannot read is not leased.
        """
        ...

    async def renew(
        self, worker: Worker, held: Sequence[LeaseRef], lease: float, *, now: datetime | None = None
    ) -> RenewResult:
        """Extend the leases that this worker still holds under the attempt it names."""
        ...

    async def finish(
        self, outcomes: Sequence[Outcome], *, worker: Worker | None = None, now: datetime | None = None
    ) -> FinishResult:
        """Record how attempts ended, where the attempt is still current; release the next waiters.

        A worker names itself, and ends only runs that it holds: a store that was restored to an earlier point gives out
        the same ids and attempts again.

        Raises InvalidError, and records nothing, if a value can never be stored.
        """
        ...

    async def cancel_run(self, run_id: int, actor: str, *, reason: str = "", now: datetime | None = None) -> RunRecord:
        """Cancel a run that has not started; ask a running one to stop. A final one raises ConflictError."""
        ...

    async def rescue(
        self, limit: int = 500, *, expected: ClockBounds | None = None, now: datetime | None = None
    ) -> RescueResult:
        """Take runs whose lease has expired from their worker; cancel those that have waited too long."""
        ...

    async def prune(self, *, older_than: float, keep: int, limit: int = 1_000, now: datetime | None = None) -> int:
        """Delete final runs that ended over `older_than` seconds ago, except the newest `keep` of each schedule.

        Also deletes revisions that were replaced before then, except the newest 100 of each schedule and revisions that
        runs, skips or backfills refer to. At most `limit` of both; returns how many runs and revisions were deleted.
        """
        ...

    # Backfills

    async def backfill(
        self, namespace: str, name: str, new: NewBackfill, *, dry_run: bool = False, now: datetime | None = None
    ) -> BackfillPlan:
        """Make a run of each tick that is asked for and has none; they wait in order behind all other runs."""
        ...

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
        ...

    async def get_backfill(self, namespace: str, backfill_id: int) -> BackfillRecord:
        """A backfill by id, and how far it is."""
        ...

    async def list_backfills(
        self, namespace: str, *, schedule: str | None = None, before: int | None = None, limit: int = 20
    ) -> Sequence[BackfillRecord]:
        """Backfills, newest first, with ids below `before`."""
        ...

    # Held runs

    async def list_held_schedules(self, namespace: str, *, schedule: str | None = None) -> Sequence[HeldSchedule]:
        """The schedules of which runs are held, by name; or one of them."""
        ...

    async def list_held_runs(
        self, namespace: str, schedule: str, *, after: int = 0, limit: int = 100
    ) -> Sequence[RunRecord]:
        """The held runs of a schedule, oldest first, with ids above `after`."""
        ...

    async def resolve_held(
        self, namespace: str, name: str, decision: Release | Drop, *, now: datetime | None = None
    ) -> int:
        """Release or drop the oldest held runs of a schedule; how many that were."""
        ...

    # Limits

    async def set_limit(
        self, namespace: str, key: str, max_running: int | None, actor: str, *, now: datetime | None = None
    ) -> ConcurrencyLimit:
        """Let so many runs of a key go on at once, or the default with None; who may go now, goes now."""
        ...

    async def list_limits(
        self, namespace: str, *, key: str | None = None, after: str = "", limit: int | None = None
    ) -> Sequence[ConcurrencyLimit]:
        """The keys that have a limit or active runs, by name, behind `after`; or one of them."""
        ...

    async def list_runs_of_key(self, namespace: str, key: str, *, limit: int = 100) -> Sequence[RunRecord]:
        """The runs that have a place of a key, oldest first."""
        ...

    # Queues

    async def set_queue_rate(
        self, namespace: str, queue: str, rate: RateLimit | None, actor: str, *, now: datetime | None = None
    ) -> QueueStatus:
        """Let runs of a queue begin at this rate, or as they come with None; what has begun counts for the new rate."""
        ...

    async def list_queues(
        self, namespace: str, *, queue: str | None = None, now: datetime | None = None
    ) -> Sequence[QueueStatus]:
        """The queues that have a rate or active runs, by name; or one of them."""
        ...

    async def queue_position(self, run_id: int, *, now: datetime | None = None) -> QueuePosition | None:
        """What keeps a queued run back in its queue: a rate, or others that may pass it; None where nothing does."""
        ...

    # Workers and code

    async def heartbeat(self, worker: Worker, live_for: float, *, now: datetime | None = None) -> HeartbeatResult:
        """Insert or refresh this worker's row; it counts as live for so long."""
        ...

    async def drain_worker(
        self, namespace: str, worker_id: str, actor: str, *, note: str = "", now: datetime | None = None
    ) -> Worker:
        """Ask a live worker to drain, which nothing takes back; harmless where that was done before."""
        ...

    async def remove_worker(self, worker_id: str) -> None:
        """Remove this worker's row."""
        ...

    async def list_workers(self, namespace: str, *, now: datetime | None = None) -> Sequence[Worker]:
        """The live workers."""
        ...

    async def list_app_schedules(self, namespace: str, app: str, names: Collection[str]) -> Mapping[str, AppSchedule]:
        """Every schedule of the app, and those of other owners among `names`, deleted ones included."""
        ...

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
        """Insert or replace a calendar; schedules that name it are changed by commands of their own.

        Only if it is at this revision, or not there with 0; else StaleError.
        """
        ...

    async def delete_calendar(
        self, namespace: str, name: str, actor: str, *, revision: int | None = None, now: datetime | None = None
    ) -> None:
        """Delete a calendar, if it is at this revision; ConflictError while a schedule names it."""
        ...

    async def list_calendars(
        self, namespace: str, *, name: str | None = None, after: str = "", limit: int | None = None
    ) -> Sequence[CalendarRecord]:
        """The stored calendars by name, behind `after`; or one of them."""
        ...

    async def schedules_with_calendar(
        self, namespace: str, name: str, *, after: str = "", limit: int = 100
    ) -> Sequence[Schedule]:
        """Schedules that name a calendar and are not deleted, by name, behind `after`."""
        ...

    # Sessions

    async def open_session(self, namespace: str, new: NewSession, *, now: datetime | None = None) -> SessionRecord:
        """Keep a new session, which ends with its token at the latest; the oldest is closed where that has too many.

        Audited as done by the token's holder, where the token opens. ConflictError where the token is not live.
        """
        ...

    async def find_session(self, session_id: str, *, now: datetime | None = None) -> SessionRecord | None:
        """A session by its id, with its state, and its token's, by the store's clock."""
        ...

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
        """Sessions by id, behind `after`; of one token, of tokens that open nothing but `within`, or live ones."""
        ...

    async def close_session(
        self, namespace: str, session_id: str, actor: str, *, now: datetime | None = None
    ) -> SessionRecord:
        """End a session; harmless where it has ended before. NotFoundError where there is none."""
        ...

    async def close_sessions(self, namespace: str, token_id: str, actor: str, *, now: datetime | None = None) -> int:
        """End all sessions of a token; how many were live. NotFoundError where there is no such token."""
        ...

    async def touch_session(self, session_id: str, *, now: datetime | None = None) -> None:
        """Write that a session was used, at most once a minute."""
        ...

    # Answers

    async def begin_request(
        self, namespace: str, key: str, request: str, *, now: datetime | None = None
    ) -> StoredResponse | None:
        """Note that a request with a key is being answered; None: by whoever asks. Else what is known of the key."""
        ...

    async def finish_request(
        self, namespace: str, key: str, request: str, answer: StoredResponse | None, *, now: datetime | None = None
    ) -> None:
        """Keep the answer to such a request for a day, or with None forget that it was asked."""
        ...

    # Pings

    async def ping(self, schedule_id: int, at: datetime | None = None, *, now: datetime | None = None) -> datetime:
        """Note that another system really ran what a schedule is to do; of one schedule the newest 100,000 stay."""
        ...

    async def list_pings(
        self, schedule_id: int, first: datetime, last: datetime, *, after: datetime | None = None, limit: int = 1_000
    ) -> Sequence[datetime]:
        """The pings of a schedule from `first` to `last`, oldest first; behind `after`, where that is given."""
        ...

    # Dependencies

    async def last_successes(self, namespace: str, names: Collection[str]) -> Mapping[str, LastSuccess]:
        """When these schedules last succeeded, as the planner knows it of those that others depend on."""
        ...

    # Reading

    async def get_schedule(self, namespace: str, name: str) -> Schedule | None:
        """A schedule by name, also a deleted one."""
        ...

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
        """Schedules by name, behind `after`; deleted ones only when asked for by state.

        `contains` is looked for in names, tags and targets.
        """
        ...

    async def duration_stats(self, namespace: str, names: Collection[str]) -> Mapping[str, DurationStats]:
        """How long the last successful runs of these schedules took; without those that have none."""
        ...

    async def get_run(self, run_id: int) -> RunRecord | None:
        """A run by id."""
        ...

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
        ...

    async def list_attempts(self, run_id: int) -> Sequence[AttemptRecord]:
        """The attempts of a run that ended without ending the run well."""
        ...

    async def write_logs(self, lines: Sequence[LogLine], progress: Sequence[Progress]) -> None:
        """Keep what runs said: lines, each once, and the newest progress of each run."""
        ...

    async def read_logs(self, run_id: int, *, after: tuple[int, int] = (0, 0), limit: int = 1_000) -> Sequence[LogLine]:
        """The lines of a run in order, behind this attempt and number."""
        ...

    async def read_progress(self, run_id: int) -> Progress | None:
        """How far a run said that it was, last."""
        ...

    async def active_runs(self, schedule_id: int) -> Sequence[RunRecord]:
        """The runs of a schedule that are not final, oldest first."""
        ...

    async def tick_decisions(
        self, schedule_id: int, first: datetime, last: datetime, limit: int = 1_000
    ) -> TickDecisions:
        """Runs and skips whose ticks touch the range."""
        ...

    async def recent_outcomes(self, namespace: str, since: datetime, limit: int = 1_000) -> RecentOutcomes:
        """Runs that ended, and skips that were recorded or extended, since an instant: the newest of each."""
        ...

    async def read_metrics(
        self, namespace: str, *, maximum: int = MAX_COUNTED, now: datetime | None = None
    ) -> NamespaceMetrics:
        """How much there is of everything in a namespace, by bounded counts of what is active or ended lately."""
        ...

    async def activity_watermark(self, before: Watermark | None = None, *, now: datetime | None = None) -> Watermark:
        """Up to where nothing can happen any more that is not seen yet; `before` is what the look before found."""
        ...

    async def read_activity(
        self, namespaces: Collection[str], after: ActivityCursor, until: Watermark, *, limit: int = 20_000
    ) -> ActivityPage:
        """What happened in these namespaces behind a place, up to the horizon; runs without payload and result.

        Whatever else commits, and when: nothing is told twice, or not at all, to who goes on from mark to mark.
        """
        ...

    async def ledger(
        self, schedule_id: int, runs_from: datetime, skips_from: datetime, last: datetime, limit: int = 10_000
    ) -> LedgerPage:
        """A page of all decisions about ticks: runs from one instant on and skips that reach another one or later."""
        ...

    async def list_revisions(
        self, schedule_id: int, *, before: int | None = None, made_before: datetime | None = None, limit: int = 100
    ) -> Sequence[RevisionRecord]:
        """The newest revisions of a schedule, newest first; those below `before`, and made before an instant."""
        ...

    async def list_audit(
        self, namespace: str, *, schedule: str | None = None, before: int | None = None, limit: int = 100
    ) -> Sequence[AuditEntry]:
        """What was done, newest first."""
        ...
