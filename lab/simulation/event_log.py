"""Random interleavings of publishers, consumers that get lost, and operators, on one event log in virtual time."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any, Final
from uuid import UUID, uuid5

from tickbird.domain.errors import ConflictError, InvalidError
from tickbird.domain.events.dead_letters import UNRESOLVED, LetterFilter
from tickbird.domain.events.deliveries import (
    Delivery,
    DeliveryFailure,
    DeliveryOutcome,
    GroupRequest,
    Unit,
    success,
)
from tickbird.domain.events.event import Event, NewEvent
from tickbird.domain.events.groups import NewGroup
from tickbird.domain.events.topics import matches
from tickbird.stores import open_store

NAMESPACE: Final = "default"
_BEGIN: Final = datetime(2026, 1, 1, tzinfo=UTC)
_IDS: Final = UUID(int=0)
_LEASE: Final = 10.0
_RETRIES: Final = 1
_KEYS: Final = ("a", "b", "c", "d", None)
_TOPICS: Final = ("orders.paid", "orders.sent", "stock")
_GROUPS: Final = {"all": ("#",), "orders": ("orders.*",)}


@dataclass(eq=False)
class LeasedDelivery:
    """A delivery, and what its worker has handled so far."""

    delivery: Delivery
    until: datetime
    units: list[Unit] = field(default_factory=list)
    # Units that are done, and the outcome as soon as it is known.
    done: int = 0
    outcome: DeliveryOutcome | None = None


class EventLog:
    """One seed: plays steps, then lets everything finish, and collects broken promises."""

    def __init__(self, seed: int) -> None:
        self.chance = Random(f"event log {seed}")
        self.store: Any = open_store("sqlite://:memory:")
        self.now = _BEGIN
        self.violations: list[str] = []
        self.calls = 0
        self._number = 0
        # The last position that was read.
        self._head = 0
        self._calm = False
        self._leased: list[LeasedDelivery] = []
        self._tokens: dict[tuple[str, int], int] = {}
        # By group: events that were handled, that may be handled again, and that an operator has skipped.
        self.handled: dict[str, set[UUID]] = defaultdict(set)
        self._uncertain: dict[str, set[UUID]] = defaultdict(set)
        self._skipped: dict[str, set[UUID]] = defaultdict(set)
        self._known: dict[UUID, Event] = {}
        # By group and key: the versions of events that were neither handled nor skipped.
        self._open: dict[str, dict[str | None, dict[UUID, int | None]]] = {
            group: defaultdict(dict) for group in _GROUPS
        }

    async def play(self, steps: int) -> list[str]:
        """Return the broken promises of this many steps."""
        await self.store.open()
        try:
            await self.store.migrate()
            groups = [NewGroup(name=name, topics=topics) for name, topics in _GROUPS.items()]
            await self.store.consumers.declare(NAMESPACE, groups, app="shop", now=self.now)
            actions = (self._publish, self._claim, self._work, self._finish, self._lose, self._operate, self._wait)
            for _ in range(steps):
                [action] = self.chance.choices(actions, weights=(20, 25, 30, 20, 2, 3, 10))
                await action()
            await self._finish_all()
            return self.violations
        finally:
            await self.store.close()

    def _break(self, text: str) -> None:
        self.violations.append(f"at {(self.now - _BEGIN).total_seconds():.0f} s: {text}")

    async def _publish(self) -> None:
        events = []
        for _ in range(self.chance.choice((1, 1, 1, 2, 4))):
            self._number += 1
            events.append(
                NewEvent(
                    topic=self.chance.choice(_TOPICS),
                    type="Fact",
                    key=self.chance.choice(_KEYS),
                    data={"n": self._number, "poison": self.chance.random() < 0.02},
                    id=uuid5(_IDS, str(self._number)),
                )
            )
        await self.store.events.publish(NAMESPACE, events, source="/lab", actor="lab", now=self.now)
        self.calls += 1
        await self._read_events()

    async def _claim(self) -> None:
        requests = [GroupRequest(name, self.chance.choice((1, 3, 50))) for name in _GROUPS]
        worker = f"w{self.chance.randrange(1, 4)}"
        claimed = await self.store.consumers.claim(
            NAMESPACE, requests, worker, limit=self.chance.choice((1, 4, 32)), lease=_LEASE, now=self.now
        )
        self.calls += 1
        for delivery in claimed.deliveries:
            lease = delivery.lease
            partition = (lease.group, lease.partition)
            if lease.token <= self._tokens.get(partition, 0):
                self._break(f"token {lease.token} of {partition} does not grow")
            for leased in self._leased:
                if (leased.delivery.lease.group, leased.delivery.lease.partition) != partition:
                    continue
                if leased.until > self.now:
                    self._break(f"{partition} has two leases")
                # Its finish will be refused.
                self._may_repeat(leased)
            self._tokens[partition] = lease.token
            self._leased.append(LeasedDelivery(delivery, self.now + timedelta(seconds=_LEASE), list(delivery.units())))

    async def _work(self) -> None:
        """Handle one unit of a delivery whose lease has not expired."""
        waiting = [leased for leased in self._leased if leased.outcome is None and leased.until > self.now]
        if not waiting:
            return
        leased = self.chance.choice(waiting)
        delivery = leased.delivery
        while leased.done < len(leased.units) and leased.units[leased.done].is_held:
            leased.done += 1
        if leased.done == len(leased.units):
            leased.outcome = success(delivery, leased.units, is_whole=True)
            return
        unit = leased.units[leased.done]
        draw = 1.0 if self._calm else self.chance.random()
        if any(event.data.get("poison") for event in unit.events) or draw < 0.03:
            failures = unit.failures + 1
            failure = DeliveryFailure(
                positions=unit.positions,
                error="failed",
                failures=failures,
                retry_in=5.0 if failures <= _RETRIES else None,
            )
            leased.outcome = self._partial_outcome(leased, through=unit.positions[-1], failure=failure)
        elif draw < 0.05:
            leased.outcome = self._partial_outcome(leased, through=None, pause=3.0, error="down")
        else:
            for event in unit.events:
                self._handle(delivery.lease.group, event)
            leased.done += 1

    def _partial_outcome(self, leased: LeasedDelivery, *, through: int | None, **fields: Any) -> DeliveryOutcome:
        part = success(leased.delivery, leased.units[: leased.done], is_whole=False)
        return DeliveryOutcome(
            lease=part.lease,
            is_redelivery=part.is_redelivery,
            after=part.after,
            through=part.through if through is None else through,
            delivered=part.delivered,
            deferred=part.deferred,
            **fields,
        )

    def _handle(self, group: str, event: Event) -> None:
        """The effect of an event: after the earlier ones of its key, and once unless a worker is lost."""
        handled, topics = self.handled[group], _GROUPS[group]
        if not matches(event.topic, topics):
            self._break(f"{group} got topic {event.topic}")
        if event.id in handled and event.id not in self._uncertain[group]:
            self._break(f"{group} handled {event.data['n']} twice without a lost worker")
        self._uncertain[group].discard(event.id)
        earlier = self._open[group][event.key]
        if event.key is not None and any((version or 0) < (event.version or 0) for version in earlier.values()):
            self._break(f"{group} handled {event.key}/{event.version} before an earlier one")
        earlier.pop(event.id, None)
        handled.add(event.id)

    async def _finish(self) -> None:
        ended = [leased for leased in self._leased if leased.outcome is not None]
        if not ended:
            return
        leased = self.chance.choice(ended)
        assert leased.outcome is not None
        self._leased.remove(leased)
        lease = leased.outcome.lease
        accepted = await self.store.consumers.finish([leased.outcome], now=self.now)
        self.calls += 1
        is_current = self._tokens[lease.group, lease.partition] == lease.token
        if (lease in accepted) != is_current:
            self._break(f"the finish of {lease} was {'accepted' if lease in accepted else 'refused'}")
        if lease not in accepted:
            self._may_repeat(leased)

    async def _lose(self) -> None:
        """A worker is killed, before or after its last effect."""
        if self._leased:
            self._drop(self.chance.choice(self._leased))

    def _drop(self, leased: LeasedDelivery) -> None:
        self._leased.remove(leased)
        self._may_repeat(leased)

    def _may_repeat(self, leased: LeasedDelivery) -> None:
        self._uncertain[leased.delivery.lease.group].update(
            event.id for unit in leased.units[: leased.done] if not unit.is_held for event in unit.events
        )

    async def _operate(self) -> None:
        which = LetterFilter(states=("failed", "retrying"))
        letters = list(await self.store.dead_letters.list(NAMESPACE, which, limit=50))
        self.calls += 1
        if not letters:
            return
        letter = self.chance.choice(letters)
        action = self.chance.choice(("replay", "skip", "repair", "repair"))
        try:
            if action == "skip":
                changed = await self.store.dead_letters.skip(NAMESPACE, letter.id, "ops", now=self.now)
                for one in changed.letters:
                    event = (await self.store.dead_letters.get(NAMESPACE, one)).event
                    self._skipped[letter.group].add(event.id)
                    self._open[letter.group][event.key].pop(event.id, None)
                return
            if action == "repair" and letter.state == "failed":
                await self._repair(letter)
                return
            await self.store.dead_letters.replay(NAMESPACE, letter.id, "ops", now=self.now)
        except (ConflictError, InvalidError):
            pass

    async def _repair(self, letter: Any) -> None:
        data = {**letter.event.data, "poison": False}
        await self.store.dead_letters.repair(NAMESPACE, letter.id, data, "ops", now=self.now)

    async def _wait(self) -> None:
        self.now += timedelta(seconds=self.chance.choice((0, 1, 3, 12)))
        # Few frozen workers come back.
        for leased in [leased for leased in self._leased if leased.until < self.now and self.chance.random() < 0.5]:
            self._drop(leased)

    async def _read_events(self) -> None:
        """Read events that were published since, so that order can be judged."""
        while events := await self.store.events.read(NAMESPACE, self._head, limit=1_000):
            for event in events:
                self._known[event.id] = event
                for group, topics in _GROUPS.items():
                    if matches(event.topic, topics):
                        self._open[group][event.key][event.id] = event.version
            self._head = events[-1].position or 0

    async def _finish_all(self) -> None:
        """No more faults: repair every letter until nothing is left."""
        self._calm = True
        for _ in range(5_000):
            await self._claim()
            while any(leased.outcome is None and leased.until > self.now for leased in self._leased):
                await self._work()
            for leased in list(self._leased):
                if leased.outcome is None:
                    self._drop(leased)
            while self._leased:
                await self._finish()
            self.now += timedelta(seconds=6)
            for letter in await self.store.dead_letters.list(NAMESPACE, LetterFilter(states=("failed",)), limit=50):
                await self._repair(letter)
            if await self._is_settled():
                break
        else:
            self._break("does not settle")
        positions = sorted(event.position or 0 for event in self._known.values())
        if positions != list(range(1, self._number + 1)):
            self._break("positions have gaps")
        for group, topics in _GROUPS.items():
            for event in self._known.values():
                missing = event.id not in self.handled[group] and event.id not in self._skipped[group]
                if matches(event.topic, topics) and missing:
                    self._break(f"{group} never got event {event.position}")

    async def _is_settled(self) -> bool:
        groups = await self.store.consumers.list(NAMESPACE)
        letters = await self.store.dead_letters.list(NAMESPACE, LetterFilter(states=UNRESOLVED), limit=1)
        return not letters and not any(group.lag for group in groups)


def play_event_log(seed: int, steps: int = 500) -> tuple[int, list[str]]:
    """Play one seed; returns the number of store calls and the broken promises."""
    log = EventLog(seed)
    violations = asyncio.run(log.play(steps))
    return log.calls, violations
