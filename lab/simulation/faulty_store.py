"""The store as a simulated process reaches it: every call may be late or fail, or the process may crash in it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from tickbird.domain.errors import StoreUnavailableError

if TYPE_CHECKING:
    from lab.simulation.host import Host

TIMED = frozenset(
    (
        "plan_due",
        "change_schedule",
        "enqueue",
        "claim_runs",
        "renew",
        "finish",
        "cancel_run",
        "rescue",
        "prune",
        "heartbeat",
        "list_workers",
        "drain_worker",
        "set_limit",
        "backfill",
        "cancel_backfill",
        "resolve_held",
        "set_queue_rate",
        "list_queues",
    )
)


def _unreachable(when: str) -> StoreUnavailableError:
    return StoreUnavailableError(f"the store is out of reach ({when});", hint="this is a simulation.")


class FaultyStore:
    """Passes every verb on to the one real store, at the store's simulated time, with faults before and after."""

    planners = 2

    def __init__(self, host: Host) -> None:
        self._host = host
        self._world = host.world

    def __getattr__(self, verb: str) -> Any:
        return partial(self._call, verb)

    async def now(self) -> Any:
        """The store's clock."""
        return self._world.store_now()

    async def _call(self, verb: str, *args: Any, **options: Any) -> Any:
        host, world = self._host, self._world
        if host.loop.dead:
            raise _unreachable("the process is dead")
        called_at = world.elapsed
        fault = world.draw_fault(mortal=host.mortal)
        await self._wait()
        if world.store_is_down or host.cut_off or fault == "fail before":
            # As in a black hole: the time-out is what tells. It also keeps a long outage from being millions of calls.
            await asyncio.sleep(world.chance.random() * world.scenario.heartbeat)
            raise _unreachable("before")
        if fault == "crash before":
            await self._crash(f"crashes before {verb}")
        if fault == "freeze before":
            await self._freeze(verb, "before")
        call = await world.perform(host.id, verb, args, options)
        call.there = call.at - called_at
        if world.calm:
            # What was to befall it came too late.
            fault = ""
        if fault == "crash after":
            await self._crash(f"crashes after {verb}")
        if fault == "fail after":
            world.note(host.id, f"the answer to {verb} is lost")
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
        """Wakes as the world decides; some get lost."""
        if self._world.store_is_down or self._host.cut_off:
            await asyncio.sleep(self._world.chance.random() * self._world.scenario.heartbeat)
            raise _unreachable("listening")
        event = asyncio.Event()
        self._world.listeners[self._host.id] = event
        try:
            yield _Wakeups(event)
        finally:
            self._world.listeners.pop(self._host.id, None)


class _Wakeups:
    """Yields whenever the event was set."""

    def __init__(self, event: asyncio.Event) -> None:
        self._event = event

    def __aiter__(self) -> _Wakeups:
        return self

    async def __anext__(self) -> None:
        await self._event.wait()
        self._event.clear()
