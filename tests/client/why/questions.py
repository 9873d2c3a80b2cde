"""Questions to `why` through the real client and store, at a time that the test chooses."""

from __future__ import annotations

from datetime import datetime
from functools import partial
from types import SimpleNamespace
from typing import Any, cast

from conformance.steps import NAME, a_worker, later
from tickbird.client import StoreClient
from tickbird.domain.explain.explanation import Explanation, Step
from tickbird.store.protocol.store import Store

DAY = 86_400
W1 = a_worker("w1", queues=("default",), slots=2, tasks={"work": {}})


class AtTime:
    """A store whose clock stands where the test puts it."""

    def __init__(self, store: Store, now: datetime) -> None:
        self._store, self._now = store, now
        verbs = ("list", "list_lost", "count_planners")
        self.workers = SimpleNamespace(**{verb: partial(getattr(store.workers, verb), now=now) for verb in verbs})

    async def now(self) -> datetime:
        return self._now

    def __getattr__(self, verb: str) -> Any:
        return getattr(self._store, verb)


async def ask(store: Store, tick: float, *, now: float, name: str = NAME) -> Explanation:
    """Why, of an instant, at another; both in seconds after T0."""
    return await StoreClient(cast(Store, AtTime(store, later(now)))).ticks.why(name, later(tick))


async def alive(store: Store, now: float, *workers: Any) -> None:
    """These workers are live for a minute from then."""
    for worker in workers or (W1,):
        await store.workers.heartbeat(worker, 60, now=later(now))


def step(answer: Explanation, name: str) -> Step:
    """The only step of that name."""
    [found] = [each for each in answer.steps if each.name == name]
    return found


def names(answer: Explanation) -> list[tuple[bool | None, str]]:
    return [(each.ok, each.name) for each in answer.steps]
