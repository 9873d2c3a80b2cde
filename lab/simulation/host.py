"""A simulated worker process with the real engine, which can crash, freeze and drain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from lab.oracle.spec import NAMESPACE
from lab.simulation.faulty_store import FaultyStore
from lab.simulation.tasks import SimulatedTask, SimulatedThreads
from lab.simulation.timeline import SimulatedLoop, new_loop
from tickbird.domain.errors import TickbirdError
from tickbird.domain.schedules.codec import fingerprint
from tickbird.domain.targets.target import TASK
from tickbird.domain.workers import Worker
from tickbird.engine.code_sync import Declarations
from tickbird.engine.engine import Engine, EngineOptions
from tickbird.engine.loop import StepLoop
from tickbird.engine.maintenance import Retention

if TYPE_CHECKING:
    from datetime import datetime

    from lab.simulation.world import World

APP = "shop"


async def _do_nothing() -> None:
    """A step without work."""


class HostClock:
    """A worker's monotonic clock; only the store knows the time."""

    def __init__(self, loop: SimulatedLoop) -> None:
        self._loop = loop

    def now(self) -> datetime | None:
        """None: every decision uses the store's clock."""
        return None

    def monotonic(self) -> float:
        """Continues while the process is frozen."""
        return self._loop.time()


class Host:
    """One process."""

    mortal = True

    def __init__(self, world: World, name: str, version: int) -> None:
        self.world = world
        self.id = name
        self.version = version
        self.undisturbed = world.calm
        number = int(name.removeprefix("w"))
        scenario = world.scenario
        self.in_leader_mode = bool(scenario.leader_timeout) and not (scenario.is_mixed and number % 3 == 0)
        self.loop = new_loop(world.timeline)
        self.store = FaultyStore(self)
        # True if packets between it and the store are dropped.
        self.cut_off = False
        # Intervals in which it was frozen.
        self.freezes: list[tuple[float, float]] = []
        self._engine: Engine | None = None

    @property
    def alive(self) -> bool:
        """True if it has neither crashed nor ended."""
        return not self.loop.dead

    def start(self) -> None:
        self.world.note(self.id, f"starts with version {self.version}")
        self.loop.spawn(self._run())

    async def _run(self) -> None:
        scenario = self.world.scenario
        tasks = {
            name: SimulatedTask(name, self, blocking=blocking) for name, blocking in (("work", False), ("block", True))
        }
        declared = {name: self.world.definitions[index] for name, index in scenario.versions[self.version].items()}
        worker = Worker(
            id=self.id,
            namespace=NAMESPACE,
            app=APP,
            host="simulated",
            pid=1,
            version="1",
            queues=("default", *scenario.queues),
            slots=scenario.slots,
            tasks={name: task.describe() for name, task in tasks.items()},
            declared={name: fingerprint(definition) for name, definition in declared.items()},
        )
        options = EngineOptions(
            lease=scenario.lease,
            heartbeat=float(scenario.heartbeat),
            safety_poll=2.0 * scenario.heartbeat,
            drain=scenario.lease / 2,
            retention=Retention(scenario.retention, scenario.keep),
            coordination="leader" if self.in_leader_mode else "shared",
            leader_timeout=scenario.leader_timeout or None,
        )
        engine = Engine(
            cast(Any, self.store),
            worker,
            {(TASK, name): task for name, task in tasks.items()},
            Declarations(NAMESPACE, APP, declared),
            options,
            work_loop=self.loop,
            threads=cast(Any, SimulatedThreads(self)),
            clock=HostClock(self.loop),
        )
        # Every ten minutes is too often if a heartbeat comes once a day.
        engine._prune = StepLoop("prune", self._prune_seldom(engine), 10.0 * scenario.heartbeat)
        # It only logs, and its reads would change the faults of every seed.
        engine._cover = StepLoop("coverage", _do_nothing, 10.0 * scenario.heartbeat)
        # No schedule is in memory and the store can always plan, so it only reads.
        engine._tick = StepLoop("ticks in memory", _do_nothing, 10.0 * scenario.heartbeat)
        self._engine = engine
        try:
            await engine.run()
        except TickbirdError as error:
            self.world.could_not_start(self, error)
        self.end("ends")

    def _prune_seldom(self, engine: Engine) -> Any:
        async def prune() -> float | None:
            delay = await engine.maintenance.prune()
            return delay if delay is not None and delay < 1 else 10.0 * self.world.scenario.heartbeat

        return prune

    def drain(self) -> None:
        """Request a drain."""
        self.world.note(self.id, "drains")
        if self._engine is not None:
            self._engine.drain()
        else:
            self.crash("is killed before it started")

    def crash(self, text: str = "is killed") -> None:
        self.end(text)

    def end(self, text: str) -> None:
        """End the process with all its work."""
        if self.alive:
            self.world.note(self.id, text)
            self.world.journal.die(self.id, self.world.elapsed)
            self.loop.die()
            self.world.ended(self)

    def freeze(self, text: str = "") -> None:
        """Freeze for a while, possibly longer than a lease."""
        world = self.world
        if self.loop.frozen or not self.alive:
            return
        duration = world.scenario.lease * world.chance.choice((0.1, 0.7, 1.5, 3.0)) * world.chance.uniform(0.3, 1.0)
        world.note(self.id, f"freezes {text} for {duration:.3f} s")
        self.freezes.append((world.elapsed, world.elapsed + duration))
        self.loop.freeze()
        world.later(duration, self._thaw)

    def _thaw(self) -> None:
        if self.alive and self.loop.frozen:
            self.world.note(self.id, "continues")
            self.loop.thaw()
