"""The world of one simulation: the store, its clock, its processes, and a record of everything."""

from __future__ import annotations

import asyncio
import random
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache
from math import inf
from operator import attrgetter
from random import Random
from typing import Any

from lab.definitions import to_definition
from lab.simulation.clocks import HOLD_TIME, POLL_TIME
from lab.simulation.faulty_store import TIMED
from lab.simulation.history import Event, read_history, watch
from lab.simulation.host import Host
from lab.simulation.operators import Intent, Operator
from lab.simulation.process_faults import ProcessFaults
from lab.simulation.scenario import Scenario, make_scenario
from lab.simulation.tasks import Behaviour, TaskJournal
from lab.simulation.timeline import Timeline, new_loop
from tickbird.domain.errors import TickbirdError
from tickbird.stores import open_store

# The number of workers that may fail to start after the last fault.
_MAX_FAILED_STARTS = 3


@dataclass(slots=True)
class Call:
    """One verb that reached the store: its caller, instant and result."""

    number: int
    at: float
    now: datetime
    host: str
    verb: str
    args: Sequence[Any]
    options: Mapping[str, Any]
    result: Any = None
    error: str = ""
    intent: Intent | None = None
    # The instants that the caller trusts; None: all.
    expected: tuple[datetime, datetime] | None = None
    # The seconds from the caller to the store, and back; infinite if the response got lost.
    there: float = 0.0
    back: float = inf
    # The schedules that planning excluded before or after it, because the database refused them.
    refused: frozenset[int] = frozenset()

    @property
    def believed(self) -> bool:
        """True if the caller trusted the store's clock."""
        return self.expected is None or self.expected[0] <= self.now <= self.expected[1]


@dataclass(slots=True)
class Record:
    """The input of the checker."""

    scenario: Scenario
    calls: list[Call]
    events: list[Event]
    journal: TaskJournal
    hosts: Mapping[str, Host]
    # Jumps of the store's clock: the instant, and the seconds by which it was ahead afterwards.
    jumps: list[tuple[float, float]]
    notes: list[tuple[float, str, str]]
    # The end of the faults.
    calm_from: float
    finished: bool
    errors: list[str]
    final: list[tuple[Any, ...]] = field(default_factory=list)


@cache
def _template() -> sqlite3.Connection:
    """A migrated database to copy, which is ten times faster than migrating."""
    store: Any = open_store("sqlite://:memory:")
    timeline = Timeline(Random(0))
    new_loop(timeline).spawn(store.open())
    timeline.run(0.0)
    # The store closes its own connection when it is garbage-collected.
    db = sqlite3.connect(":memory:", check_same_thread=False)
    store._writer._db.backup(db)
    return db


class World:
    """One simulation, from its seed to its record."""

    def __init__(self, seed: int) -> None:
        self.scenario = make_scenario(seed, Random(f"scenario {seed}"))
        self.chance = Random(f"events {seed}")
        self.definitions = {
            index: to_definition(spec, {"spec": index}) for index, spec in enumerate(self.scenario.specs)
        }
        self.timeline = Timeline(self.chance)
        self.journal = TaskJournal()
        self.behaviour = Behaviour(self.chance, self.scenario.lease)
        self.calm = False
        self.store_is_down = False
        self.offset = timedelta()
        self.jumps: list[tuple[float, float]] = []
        self.hosts: dict[str, Host] = {}
        self.listeners: dict[str, asyncio.Event] = {}
        self.calls: list[Call] = []
        self._failed_starts = 0
        self.notes: list[tuple[float, str, str]] = []
        self.fate = new_loop(self.timeline)
        self.process_faults = ProcessFaults(self)
        self.operator = Operator(self, "operator")
        self.store: Any = open_store("sqlite://:memory:")

    @property
    def elapsed(self) -> float:
        """Seconds since the start of the simulation."""
        return self.timeline.elapsed

    def store_now(self) -> datetime:
        """The store's clock, including jumps."""
        return self.scenario.begin + timedelta(seconds=self.elapsed) + self.offset

    def note(self, who: str, text: str) -> None:
        """Add a line to the trace."""
        self.notes.append((self.elapsed, who, text))

    def later(self, delay: float, action: Callable[[], None]) -> None:
        """Run an action after a delay, independent of the processes."""
        self.fate.call_later(delay, action)

    # The interface for the fault layer

    def draw_fault(self, *, mortal: bool) -> str:
        """The fault of a store call, mostly none."""
        rates = self.scenario.rates
        if self.calm:
            return ""
        draw = self.chance.random()
        for name, rate in (("crash", rates.crash), ("fail", rates.lost), ("freeze", rates.freeze)):
            if draw < rate:
                if name != "fail" and not mortal:
                    return ""
                return f"{name} before" if draw < rate / 2 else f"{name} after"
            draw -= rate
        return ""

    def draw_delay(self) -> float:
        """The latency of a call."""
        chance = self.chance
        if self.calm or chance.random() >= self.scenario.rates.delay:
            return 0.0
        return chance.random() * (self.scenario.lease / 2 if chance.random() < 0.02 else 0.05)

    async def perform(self, host: str, verb: str, args: Sequence[Any], options: Mapping[str, Any]) -> Call:
        """Call the real store, at its own time."""
        now = self.store_now()
        if verb in TIMED:
            options = {**options, "now": now}
        call = Call(len(self.calls), self.elapsed, now, host, verb, args, options, expected=options.get("expected"))
        if verb == "schedules.change" and host == self.operator.id:
            call.intent = self.operator.intent
        self.calls.append(call)
        try:
            call.refused = frozenset(self.store.planning.backoff.ids)
            call.result = await attrgetter(verb)(self.store)(*args, **options)
            call.refused |= frozenset(self.store.planning.backoff.ids)
        except TickbirdError as error:
            call.error = f"{type(error).__name__}: {error}"
            raise
        except Exception as error:
            call.error = repr(error)
            self.timeline.errors.append(f"{verb} of {host} broke: {error!r}")
            raise
        return call

    def remove_leader(self) -> None:
        """Record that the lease of the leader was deleted."""
        self.calls.append(Call(len(self.calls), self.elapsed, self.store_now(), "", "leadership.remove", (), {}))

    def set_clock(self, seconds: float) -> None:
        """Set the store's clock forward by some seconds."""
        self.note("", f"the store's clock is set by {seconds:+.3f} s")
        self.offset += timedelta(seconds=seconds)
        self.jumps.append((self.elapsed, self.offset.total_seconds()))

    def signal(self) -> None:
        """Notify the listeners of work; some notifications are lost."""
        for event in list(self.listeners.values()):
            if self.chance.random() < self.scenario.rates.wake:
                event.set()

    # Processes

    def start_host(self, version: int) -> None:
        host = Host(self, f"w{len(self.hosts) + 1}", version)
        self.hosts[host.id] = host
        host.start()

    def could_not_start(self, host: Host, error: TickbirdError) -> None:
        """A worker gave up at once. During faults that is allowed; afterwards, a few times count as forever."""
        self.note(host.id, f"could not start: {error}")
        self._failed_starts += host.undisturbed
        if self._failed_starts == _MAX_FAILED_STARTS:
            self.timeline.errors.append(f"no worker can start although there are no faults: {error}")
            self.process_faults.disable_starts()

    def alive(self) -> list[Host]:
        """The worker processes that have not ended."""
        return [host for host in self.hosts.values() if host.alive]

    def ended(self, host: Host) -> None:
        """A process has ended; another may start."""
        self.listeners.pop(host.id, None)
        self.process_faults.replace(host)

    # The run

    def run(self) -> Record:
        """Play the scenario to its end, then wait for the last runs."""
        before = random.getstate()
        random.seed(self.scenario.seed)
        try:
            return self._run()
        finally:
            random.setstate(before)

    def _run(self) -> Record:
        scenario = self.scenario
        self.fate.spawn(self._open())
        self.timeline.run(0.0)
        for _ in range(scenario.workers):
            self.start_host(0)
        self.operator.start()
        self.process_faults.start()
        self.timeline.run(scenario.span)
        calm_from = self.elapsed
        self._calm_down()
        finished = self._finish_runs()
        db = self.store._writer._db
        record = Record(
            scenario,
            self.calls,
            read_history(db),
            self.journal,
            self.hosts,
            self.jumps,
            self.notes,
            calm_from,
            finished,
            self.timeline.errors,
            db.execute(
                "SELECT s.id, s.name, s.app, s.definition, s.fingerprint, s.paused_by, s.pause_note, c.state"
                " FROM schedules AS s JOIN cursors AS c ON c.schedule_id = s.id"
            ).fetchall(),
        )
        for host in self.alive():
            host.loop.die()
        self.operator.loop.die()
        self.fate.die()
        self.timeline.run(self.elapsed)
        db.close()
        return record

    async def _open(self) -> None:
        await self.store._writer.open()
        _template().backup(self.store._writer._db)
        self.store._database.signal = self.signal
        watch(self.store._writer._db, lambda: len(self.calls) - 1)

    def _calm_down(self) -> None:
        """End all faults; processes continue, and the newest version of the app runs everywhere."""
        self.note("", "no more faults")
        self.calm, self.store_is_down = True, False
        self.process_faults.stop()
        for host in self.alive():
            host.cut_off = False
            if host.loop.frozen:
                host.loop.thaw()
            if host.version != self.process_faults.version:
                host.drain()
        self.process_faults.staff()
        heartbeat, lease = self.scenario.heartbeat, self.scenario.lease
        # Long enough for the last lease to expire, lost workers to be detected, and a clock to be trusted.
        standby_time = HOLD_TIME + POLL_TIME if self.jumps else 0.0
        self.timeline.run(self.elapsed + max(4.5 * heartbeat, heartbeat + lease, standby_time + 3 * heartbeat))

    def _finish_runs(self) -> bool:
        """Pause every schedule and wait until no run is active; False if that takes too long."""
        self.operator.loop.spawn(self.operator.pause_everything())
        for _ in range(80):
            self.timeline.run(self.elapsed + self.scenario.heartbeat)
            [(active, available_at)] = self.store._writer._db.execute(
                "SELECT count(*), max(available_at) FROM runs WHERE status IN ('waiting', 'queued', 'running')"
            ).fetchall()
            if not active:
                return True
            # Runs that were decided while the clock was ahead wait until then.
            wait = available_at / 1_000_000 - self.store_now().timestamp()
            self.timeline.run(self.elapsed + max(0.0, wait))
        return False
