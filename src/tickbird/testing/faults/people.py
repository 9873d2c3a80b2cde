"""Clients that edit, pause, delete and trigger while everything else happens, and note what they were told."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from random import Random
from typing import Any

from tickbird.client import Client
from tickbird.domain.errors import ConflictError, NotFoundError, StoreError, TickbirdError
from tickbird.domain.runs.run import FINAL
from tickbird.domain.triggers.every import every
from tickbird.testing.faults.checker import final_state
from tickbird.testing.faults.ledger import Ledger

ACTOR = "lab"


class Person:
    """One client with its own chance; several may work on the same schedules."""

    def __init__(self, client: Client, ledger: Ledger, names: tuple[str, ...], seed: str) -> None:
        self._client = client
        self._ledger = ledger
        self._names = names
        self._chance = Random(seed)
        self.done = 0
        self.refused = 0
        self.unheard = 0

    async def work(self, pause: float) -> None:
        """Until cancelled."""
        while True:
            await self.act()
            await asyncio.sleep(self._chance.uniform(0, 2 * pause))

    async def act(self) -> None:
        """One change, or a look; whatever the store answers is an answer."""
        acts: list[Callable[[str], Awaitable[None]]] = [self._edit, self._edit, self._retime, self._pause, self._resume]
        acts += [self._renew, self._stale, self._trigger, self._look]
        act, name = self._chance.choice(acts), self._chance.choice(self._names)
        try:
            await act(name)
            self.done += 1
        except (ConflictError, NotFoundError):
            self.refused += 1
        except StoreError:
            # Nobody knows whether it counted.
            self.unheard += 1
        except TickbirdError as error:
            self._ledger.note("refused", schedule=name, error=str(error))
            self.refused += 1

    def _told(self, name: str, revision: int) -> None:
        self._ledger.note("acknowledged", schedule=name, revision=revision)

    async def _edit(self, name: str) -> None:
        edition = self._chance.randrange(1, 1_000_000)
        changed = await self._client.update(name, actor=ACTOR, payload={"edition": edition})
        self._told(name, changed.revision)

    async def _retime(self, name: str) -> None:
        changed = await self._client.update(name, actor=ACTOR, trigger=every(seconds=self._chance.choice((1, 2, 3))))
        self._told(name, changed.revision)

    async def _pause(self, name: str) -> None:
        self._told(name, (await self._client.pause(name, actor=ACTOR)).revision)

    async def _resume(self, name: str) -> None:
        self._told(name, (await self._client.resume(name, actor=ACTOR)).revision)

    async def _renew(self, name: str) -> None:
        """Delete it, and create it again."""
        changed = await self._client.delete(name, actor=ACTOR)
        self._told(name, changed.revision)
        await self.create(name)

    async def create(self, name: str, **policies: Any) -> None:
        """A schedule that people edit; one that exists already will do."""
        policies = {"overlap": "allow", **policies}
        created = await self._client.create(
            name, every(seconds=1), "brief", actor=ACTOR, payload={"edition": 0}, unknown_task_ok=True, **policies
        )
        self._told(name, created.revision)

    async def _stale(self, name: str) -> None:
        """An edit of a revision that is no more must be refused."""
        known = (await self._client.get(name)).revision
        if known > 1:
            await self._client.update(name, actor=ACTOR, revision=known - 1, description=f"stale {known}")
            self._ledger.note("stale edit accepted", schedule=name, revision=known - 1)

    async def _trigger(self, name: str) -> None:
        await self._client.trigger(name, actor=ACTOR)

    async def _look(self, name: str) -> None:
        """What is final stays as it is."""
        for run in await self._client.runs(schedule=name, limit=5):
            if run.status in FINAL:
                self._ledger.note("seen final", run_id=run.id, end=final_state(run))


async def create_all(client: Client, schedules: Mapping[str, Mapping[str, Any]]) -> None:
    """Schedules of the lab's tasks: name → trigger, task and policies."""
    for name, told in schedules.items():
        policies = dict(told)
        trigger, task = policies.pop("trigger"), policies.pop("task")
        await client.create(name, trigger, task, actor=ACTOR, unknown_task_ok=True, **policies)
