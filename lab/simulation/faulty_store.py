"""The store for a simulated process: every call may be late or fail, or the process may crash in it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from tickbird.domain.errors import StoreUnavailableError

if TYPE_CHECKING:
    from lab.simulation.host import Host

TIMED = frozenset(
    (
        "backfills.cancel",
        "backfills.create",
        "held.resolve",
        "leadership.elect",
        "leadership.renew",
        "leadership.resign",
        "leases.claim",
        "leases.confirm",
        "leases.finish",
        "leases.renew",
        "leases.rescue",
        "limits.set",
        "planning.plan_due",
        "queues.list",
        "queues.set_rate",
        "runs.cancel",
        "runs.enqueue",
        "runs.list_waiting",
        "runs.prune",
        "schedules.change",
        "worker_ticks.read",
        "worker_ticks.restore",
        "worker_ticks.write",
        "workers.count_planners",
        "workers.drain",
        "workers.heartbeat",
        "workers.list",
        "workers.list_lost",
        "zone_data.check",
        "zone_data.recompute",
    )
)


def _unreachable(when: str) -> StoreUnavailableError:
    return StoreUnavailableError(f"the store cannot be reached ({when}).", hint="This is a simulation.")


class FaultyStore:
    """Passes every verb on to the one real store, at the store's simulated time, with faults before and after."""

    planners = 2

    def __init__(self, host: Host) -> None:
        self._host = host
        self._world = host.world

    @property
    def capabilities(self) -> frozenset[str]:
        """None: the simulation has no events."""
        return frozenset()

    def __getattr__(self, name: str) -> Any:
        return _Path(self._call, name)

    async def now(self) -> Any:
        """The store's clock."""
        return self._world.store_now()

    async def _call(self, verb: str, *args: Any, **options: Any) -> Any:
        host, world = self._host, self._world
        if host.loop.dead:
            raise _unreachable("the process has ended")
        called_at = world.elapsed
        fault = world.draw_fault(mortal=host.mortal)
        await self._wait()
        if world.store_is_down or host.cut_off or fault == "fail before":
            # Packets are dropped, so only a timeout shows the fault; it also limits the calls of a long outage.
            await asyncio.sleep(world.chance.random() * world.scenario.heartbeat)
            raise _unreachable("before")
        if fault == "crash before":
            await self._crash(f"crashes before {verb}")
        if fault == "freeze before":
            await self._freeze(verb, "before")
        call = await world.perform(host.id, verb, args, options)
        call.there = call.at - called_at
        if world.calm:
            # The fault would come too late.
            fault = ""
        if fault == "crash after":
            await self._crash(f"crashes after {verb}")
        if fault == "fail after":
            world.note(host.id, f"the response to {verb} is lost")
            raise _unreachable("after")
        if fault == "freeze after":
            await self._freeze(verb, "after")
        await self._wait()
        if host.cut_off:
            await asyncio.sleep(world.chance.random() * world.scenario.heartbeat)
            raise _unreachable("after")
        call.back = world.elapsed - call.at
        return call.result

    async def _wait(self) -> None:
        if delay := self._world.draw_delay():
            await asyncio.sleep(delay)

    async def _crash(self, text: str) -> None:
        self._host.crash(text)
        await asyncio.get_running_loop().create_future()

    async def _freeze(self, verb: str, when: str) -> None:
        self._host.freeze(f"{when} {verb}")
        await asyncio.sleep(0)

    @asynccontextmanager
    async def wakeups(self) -> AsyncIterator[Any]:
        """Yields as the world decides; some wake-ups get lost."""
        if self._world.store_is_down or self._host.cut_off:
            await asyncio.sleep(self._world.chance.random() * self._world.scenario.heartbeat)
            raise _unreachable("listening")
        event = asyncio.Event()
        self._world.listeners[self._host.id] = event
        try:
            yield _Wakeups(event)
        finally:
            self._world.listeners.pop(self._host.id, None)


class _Path:
    """A noun of the store, or one of its verbs: `schedules`, `schedules.change`."""

    def __init__(self, call: Callable[..., Awaitable[Any]], path: str) -> None:
        self._call = call
        self._path = path

    def __getattr__(self, name: str) -> _Path:
        return _Path(self._call, f"{self._path}.{name}")

    def __call__(self, *args: Any, **options: Any) -> Awaitable[Any]:
        return self._call(self._path, *args, **options)


class _Wakeups:
    """Yields whenever the event was set."""

    def __init__(self, event: asyncio.Event) -> None:
        self._event = event

    def __aiter__(self) -> _Wakeups:
        return self

    async def __anext__(self) -> None:
        await self._event.wait()
        self._event.clear()
