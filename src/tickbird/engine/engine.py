"""The engine: every step in its loop, woken by the store, ended by a drain."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field

from tickbird.domain.errors import SchemaError, StoreError
from tickbird.domain.leadership import DEFAULT_TIMEOUT, LEADER, Coordination
from tickbird.domain.targets.target import TargetKey
from tickbird.domain.workers import Worker, executes, is_planner
from tickbird.engine.clock import Clock, ClockGuard, StoreClock
from tickbird.engine.code_sync import Declarations
from tickbird.engine.consumers import ConsumerSet, ConsumerSteps
from tickbird.engine.coverage import IDLE_INTERVAL, CoverageStep
from tickbird.engine.dispatcher import Dispatcher
from tickbird.engine.fallback import DEFAULT_MAX_AGE, Fallback
from tickbird.engine.leadership import Leadership
from tickbird.engine.loop import Step, StepLoop
from tickbird.engine.maintenance import PRUNE_PAUSE, Maintenance, Retention
from tickbird.engine.planner_step import PlannerStep
from tickbird.engine.processes.pool import ProcessPool
from tickbird.engine.readiness import WorkerReadiness
from tickbird.engine.reconciler import ReconcileStep, find_reconcilers
from tickbird.engine.run_logs import RunLogBuffer
from tickbird.engine.stamper import StamperStep
from tickbird.engine.worker_health import WorkerHealth
from tickbird.engine.worker_ticks import WorkerTickStep
from tickbird.store.protocol.store import Store
from tickbird.targets.protocol import Executable, RunSink

log = logging.getLogger("tickbird.engine")
_PLAN_AFTER = 0.005


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineOptions:
    """Settings of a worker; times in seconds. An idle worker sends two heartbeats and four other requests a minute."""

    # "leader": it plans only while it is the leader, and takes over if there is no heartbeat for the timeout. None: the
    # setting of the app.
    coordination: Coordination | None = None
    leader_timeout: float | None = None
    lease: float = 30.0
    heartbeat: float = 30.0
    safety_poll: float = 60.0
    drain: float = 30.0
    # In fallback, rows of schedules that were read longer ago are not used; None: no fallback.
    fallback_max_age: float | None = DEFAULT_MAX_AGE
    # Why planning is switched off; empty if it is not.
    off: str = ""
    retention: Retention = field(default_factory=Retention)


class Engine:
    """Plans, claims, renews, finishes and rescues in one event loop, in which no user code runs.

    The kind of the worker decides what it does: only one that plans also rescues, prunes and stamps events.
    """

    def __init__(
        self,
        store: Store,
        worker: Worker,
        executables: Mapping[TargetKey, Executable],
        declarations: Declarations,
        options: EngineOptions,
        *,
        work_loop: asyncio.AbstractEventLoop,
        threads: Executor | None,
        clock: Clock | None = None,
        sink: RunSink | None = None,
        children: ProcessPool | None = None,
        wall: Callable[[], float] | None = None,
        consumers: ConsumerSet | None = None,
    ) -> None:
        clock = clock or StoreClock()
        self.logs = RunLogBuffer(store)
        self._store = store
        self._options = options
        self.plans, self.executes = is_planner(worker), executes(worker)
        clock_guard = ClockGuard(clock)
        self.execution = Dispatcher(
            store,
            clock,
            worker,
            executables,
            lease=options.lease,
            work_loop=work_loop,
            threads=threads,
            sink=sink or self.logs,
            children=children,
            clock_guard=clock_guard,
        )
        dispatcher = self.execution if self.executes else None
        self.fallback = Fallback(clock, max_age=options.fallback_max_age)
        self.planning = PlannerStep(
            store, clock, self._wake_claim, clock_guard=clock_guard, dispatcher=dispatcher, fallback=self.fallback
        )
        self.worker_ticks = WorkerTickStep(
            store, clock, worker, self._wake_claim, fallback=self.fallback, clock_guard=clock_guard
        )
        self.readiness = WorkerReadiness(store, clock, plans=self.plans, off=options.off)
        self.maintenance = Maintenance(
            store,
            clock,
            worker,
            declarations,
            lease=options.lease,
            heartbeat=options.heartbeat,
            retention=options.retention,
            on_runs=self._wake_claim,
            on_schedules=self._wake_plan,
            clock_guard=clock_guard,
            readiness=self.readiness,
            fallback=self.fallback,
            health=WorkerHealth(lambda: self.execution.stuck, wall, lambda: self.execution.unreadable),
        )
        poll = options.safety_poll
        self._claim = StepLoop("claim", self.execution.claim, poll, self._may_work)
        self._finish = StepLoop("finish", self.execution.finish, poll)
        self._renew = StepLoop("renew", self.execution.leases.renew, options.lease / 3)
        self.leadership: Leadership | None = None
        plan: Step = self.planning.step
        if options.coordination == LEADER and is_planner(worker):
            timeout = options.leader_timeout or DEFAULT_TIMEOUT
            self.leadership = Leadership(
                store.leadership,
                clock,
                lambda: self.maintenance.worker,
                self.planning,
                timeout=timeout,
                may_lead=lambda: self.readiness.may_work and not clock_guard.alarmed,
                is_second_choice=lambda: not self.readiness.plans_all_zones,
            )
            self.worker_ticks.leadership = self.leadership
            plan = self.leadership.plan
            self._lead = StepLoop("leader", self.leadership.step, timeout)
            self.leadership.on_elected = self._wake_plan
            self.leadership.on_unusable = self.fallback.start
            self.planning.on_planned = self.leadership.count
        self._plan = StepLoop("plan", plan, poll, self._may_work)
        self._tick = StepLoop("ticks in memory", self.worker_ticks.step, poll, self._may_work)
        self._rescue = StepLoop("rescue", self.maintenance.rescue, 2 * options.lease, self._may_work)
        self._heartbeat = StepLoop("heartbeat", self.maintenance.heartbeat, options.heartbeat)
        self._prune = StepLoop("prune", self.maintenance.prune, PRUNE_PAUSE, self._may_work)
        self._zones = StepLoop("zones", self.readiness.step, PRUNE_PAUSE)
        self.coverage = CoverageStep(store, clock, worker.namespace, options.heartbeat)
        self._cover = StepLoop("coverage", self.coverage.step, IDLE_INTERVAL * options.heartbeat, self._may_work)
        self.maintenance.on_heartbeat = self.coverage.observe
        self.readiness.on_change = self._wake_readiness
        self.fallback.on_change = self._wake_fallback
        clock_guard.on_alarm = self._wake_alarmed
        self.readiness.on_outdated = self.drain
        self.readiness.on_drained = self.drain
        self.execution.on_free_slots = self._claim.wake
        self.execution.on_outcome = self._finish.wake
        self.execution.before_finish = self.logs.flush
        self.execution.on_over = self.logs.forget
        self._logs = StepLoop("logs", self.logs.step, poll)
        self.stamping: StamperStep | None = None
        if "events" in store.capabilities:
            self.stamping = StamperStep(store.events, clock, worker.namespace, self._wake_consumers)
            self._stamp = StepLoop("stamp", self.stamping.step, poll, self._may_work)
            self.planning.on_events = self._wake_stamper
        self.logs.on_lines = self._logs.wake
        self.consuming: ConsumerSteps | None = None
        self._consumer_loops: list[StepLoop] = []
        if consumers is not None and consumers.consumers and self.executes:
            self.consuming = ConsumerSteps(
                store, clock, worker, consumers, lease=options.lease, work_loop=work_loop, clock_guard=clock_guard
            )
            self._consume = StepLoop("consume", self.consuming.claim, poll, self._may_work)
            record = StepLoop("finish deliveries", self.consuming.finish, poll)
            renew = StepLoop("renew partitions", self.consuming.renew, options.lease / 3)
            self._consumer_loops = [record, renew, self._consume]
            self.consuming.on_free = self._consume.wake
            self.consuming.on_outcome = record.wake
        self.reconciling: ReconcileStep | None = None
        reconcilers = find_reconcilers(executables) if self.executes and "lost_runs" in store.capabilities else {}
        if reconcilers:
            self.reconciling = ReconcileStep(store, clock, worker, reconcilers, work_loop)
            self._reconcile = StepLoop("reconcile", self.reconciling.step, poll, self._may_work)
            self.reconciling.on_free = self.maintenance.on_lost_runs = self._reconcile.wake
            self.reconciling.on_runs = self._wake_claim
        self._ending = asyncio.Event()

    def _wake_claim(self) -> None:
        self._claim.wake()
        self._cover.wake()

    def _wake_plan(self) -> None:
        """A schedule may have changed."""
        self._plan.wake()
        self.worker_ticks.read_again()
        self._tick.wake()

    def _wake_fallback(self) -> None:
        """Run the ticks, or restore the rows, and report the state."""
        self._tick.wake()
        self._heartbeat.wake()

    def _wake_stamper(self) -> None:
        if self.stamping is not None:
            self._stamp.wake()

    def _wake_consumers(self) -> None:
        """New events have positions."""
        if self.consuming is not None:
            self._consume.wake()

    def _wake_readiness(self) -> None:
        for repeat in (self._zones, self._claim, self._plan, self._tick, self._rescue, self._prune):
            repeat.wake()
        self._wake_leadership()
        self._wake_consumers()

    def _wake_leadership(self) -> None:
        """A leader may have resigned, or this worker may be ready to lead now."""
        if self.leadership is not None:
            self._lead.wake()

    def _wake_alarmed(self) -> None:
        """Report the alarm to other workers, which must not trust the clock either; claim the runs that wait for it."""
        self._heartbeat.wake()
        self._claim.wake()
        self._wake_leadership()

    def _may_work(self) -> bool:
        """False, for example, in a copy of a store until a person accepts it."""
        return self.readiness.may_work

    def drain(self) -> None:
        """Claim nothing more, finish the running attempts, then end."""
        self._ending.set()

    async def run(self, on_begun: Callable[[], None] = lambda: None) -> None:
        """Run until drained, or until the store is migrated beyond this code; leases are renewed to the end."""
        try:
            await self.maintenance.begin()
            if self.consuming is not None and self.readiness.may_work:
                await self.consuming.declare()
        except StoreError:
            raise
        except BaseException:
            # The worker was published before its schedules were refused, and must not count as live.
            await self._retire()
            raise
        on_begun()
        working = [self._finish, self._renew, self._heartbeat, self._logs, self._cover]
        if self.plans:
            working += [self._zones, self._plan, self._tick, self._rescue, self._prune]
            if self.leadership is not None:
                working.append(self._lead)
            if self.stamping is not None:
                working.append(self._stamp)
        if self.executes:
            working.append(self._claim)
        working += self._consumer_loops
        if self.reconciling is not None:
            working.append(self._reconcile)
        tasks = [asyncio.create_task(repeat.run(), name=f"tickbird {repeat.name}") for repeat in working]
        listening = asyncio.create_task(self._listen(), name="tickbird wake-ups")
        try:
            await self._ending.wait()
            ending = (self._zones, self._plan, self._tick, self._claim, self._rescue, self._prune, self._cover)
            for repeat in ending:
                repeat.stop()
            if self.stamping is not None:
                self._stamp.stop()
            if self.reconciling is not None:
                self._reconcile.stop()
                self.reconciling.stop()
            self.execution.stop_claiming()
            if self.consuming is not None:
                self._consume.stop()
                self.consuming.stop_claiming()
            if self.leadership is not None:
                self._lead.stop()
                await self.leadership.end("the worker drains")
            await self._report_draining()
            await asyncio.gather(
                *(part.drain(self._options.drain) for part in (self.execution, self.consuming) if part is not None)
            )
        finally:
            listening.cancel()
            for repeat in working:
                repeat.stop()
            await asyncio.gather(*tasks, listening, return_exceptions=True)
            if self.leadership is not None:
                await self.leadership.end("the worker ended")
            await self.logs.flush()
            await self._retire()
        if self.readiness.outdated_reason:
            raise SchemaError(self.readiness.outdated_reason)

    async def _report_draining(self) -> None:
        try:
            await self.maintenance.drain()
        except StoreError as error:
            log.warning("could not report that this worker is draining: %s", error)

    async def _retire(self) -> None:
        try:
            await self.maintenance.end()
        except StoreError as error:
            log.warning("could not remove this worker from the store: %s", error)

    async def _listen(self) -> None:
        """Wake the steps when another process has created work; the safety poll covers lost wake-ups."""
        listen = StepLoop("wake-ups", self._listen_until_error, self._options.safety_poll)
        await listen.run()

    async def _listen_until_error(self) -> float | None:
        async with self._store.wakeups() as wakeups:
            # Earlier wake-ups are lost, so wake all steps now.
            self._wake_all()
            self._wake_leadership()
            async for heartbeat_requested in wakeups:
                if heartbeat_requested:
                    self._heartbeat.wake()
                    self._wake_leadership()
                self._wake_all()
        return 0.0

    def _wake_all(self) -> None:
        if self.execution.running < self.execution.slots:
            self._claim.wake()
        self._renew.wake()
        self._wake_stamper()
        self._wake_consumers()
        self._cover.wake()
        # A client may be waiting for a run that it triggered, so claiming goes before planning.
        asyncio.get_running_loop().call_later(_PLAN_AFTER, self._wake_plan)
