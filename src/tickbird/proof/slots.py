"""Slots for workers: a worker that ends is replaced, unless a fault keeps its slot empty for some time."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from tickbird.proof.fleet import Fleet, Member

# Seconds after which a worker that drains is killed.
_MAX_DRAIN: Final = 20.0


class WorkerSlots:
    """A fixed number of slots with one worker each."""

    def __init__(self, size: int, fleet: Fleet, start: Callable[[int], Member]) -> None:
        """`start` starts a worker for a slot."""
        self._fleet = fleet
        self._start = start
        self._members: list[Member | None] = [None] * size
        # Faults that keep a slot empty, by slot.
        self._closed: Counter[int] = Counter()

    def fill(self) -> None:
        """Start a worker in every slot whose worker has ended and that no fault keeps empty."""
        for slot, member in enumerate(self._members):
            if (member is None or not member.alive) and not self._closed[slot]:
                if member is not None:
                    self._fleet.end(member)
                self._members[slot] = self._start(slot)

    def member(self, slot: int) -> Member | None:
        """The worker of a slot; None if it has ended or is frozen."""
        member = self._members[slot]
        return member if member is not None and member.alive and not member.frozen else None

    async def kill(self, slot: int, seconds: float) -> None:
        """Kill the worker, frozen or not, and keep its slot empty."""
        self._closed[slot] += 1
        if (member := self._members[slot]) is not None:
            await asyncio.to_thread(self._fleet.end, member)
        await asyncio.sleep(seconds)
        self._closed[slot] -= 1

    async def freeze(self, slot: int, seconds: float) -> None:
        if (member := self.member(slot)) is not None:
            member.freeze()
            await asyncio.sleep(seconds)
            member.thaw()

    async def drain(self, slot: int, seconds: float) -> None:
        """Let the worker drain, and keep its slot empty afterwards."""
        self._closed[slot] += 1
        if (member := self.member(slot)) is not None:
            member.drain()
            with suppress(TimeoutError):
                await member.wait(_MAX_DRAIN)
            await asyncio.to_thread(self._fleet.end, member)
        await asyncio.sleep(seconds)
        self._closed[slot] -= 1

    def thaw(self) -> None:
        for member in self._members:
            if member is not None:
                member.thaw()
