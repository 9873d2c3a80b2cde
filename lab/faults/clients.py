"""Clients that edit, pause, delete and trigger at random, and journal acknowledged changes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from random import Random
from typing import Any, Final

from lab.faults.checker import final_state
from tickbird.client import Client
from tickbird.domain.errors import ConflictError, NotFoundError, StoreError, TickbirdError
from tickbird.domain.runs.run import FINAL
from tickbird.domain.triggers.every import every
from tickbird.proof.journal import Journal

ACTOR: Final = "lab"


class RandomClient:
    """One client with its own random numbers; several may change the same schedules."""

    def __init__(self, client: Client, journal: Journal, names: tuple[str, ...], seed: str) -> None:
        self._client = client
        self._journal = journal
        self._names = names
        self._random = Random(seed)
        self.done = 0
        self.refused = 0
        # Requests without a response: the change may be committed or not.
        self.unknown = 0

    async def work(self, pause: float) -> None:
        """Act until cancelled."""
        while True:
            await self.act()
            await asyncio.sleep(self._random.uniform(0, 2 * pause))

    async def act(self) -> None:
        """Change or read something; accepts every response of the store."""
        actions: list[Callable[[str], Awaitable[None]]] = [self._edit, self._edit, self._retime, self._pause]
        actions += [self._resume, self._recreate, self._edit_stale, self._trigger, self._read]
        action, name = self._random.choice(actions), self._random.choice(self._names)
        try:
            await action(name)
            self.done += 1
        except (ConflictError, NotFoundError):
            self.refused += 1
        except StoreError:
            self.unknown += 1
        except TickbirdError as error:
            self._journal.write("refused", schedule=name, error=str(error))
            self.refused += 1

    def _acknowledge(self, name: str, revision: int) -> None:
        self._journal.write("acknowledged", schedule=name, revision=revision)

    async def _edit(self, name: str) -> None:
        edition = self._random.randrange(1, 1_000_000)
        changed = await self._client.schedules.update(name, actor=ACTOR, payload={"edition": edition})
        self._acknowledge(name, changed.revision)

    async def _retime(self, name: str) -> None:
        changed = await self._client.schedules.update(
            name, actor=ACTOR, trigger=every(seconds=self._random.choice((1, 2, 3)))
        )
        self._acknowledge(name, changed.revision)

    async def _pause(self, name: str) -> None:
        self._acknowledge(name, (await self._client.schedules.pause(name, actor=ACTOR)).revision)

    async def _resume(self, name: str) -> None:
        self._acknowledge(name, (await self._client.schedules.resume(name, actor=ACTOR)).revision)

    async def _recreate(self, name: str) -> None:
        """Delete it, and create it again."""
        changed = await self._client.schedules.delete(name, actor=ACTOR)
        self._acknowledge(name, changed.revision)
        await self.create(name)

    async def create(self, name: str, **policies: Any) -> None:
        """Create a schedule for clients to change."""
        policies = {"overlap": "allow", **policies}
        created = await self._client.schedules.create(
            name, every(seconds=1), "succeed", actor=ACTOR, payload={"edition": 0}, unknown_task_ok=True, **policies
        )
        self._acknowledge(name, created.revision)

    async def _edit_stale(self, name: str) -> None:
        """An edit of an old revision must be refused."""
        current = (await self._client.schedules.get(name)).revision
        if current > 1:
            await self._client.schedules.update(name, actor=ACTOR, revision=current - 1, description=f"stale {current}")
            self._journal.write("stale edit accepted", schedule=name, revision=current - 1)

    async def _trigger(self, name: str) -> None:
        await self._client.schedules.trigger(name, actor=ACTOR)

    async def _read(self, name: str) -> None:
        """Journal final runs, which must not change."""
        for run in await self._client.runs.list(schedule=name, limit=5):
            if run.status in FINAL:
                self._journal.write("final", run_id=run.id, state=final_state(run))
