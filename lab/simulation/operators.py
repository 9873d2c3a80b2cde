"""A simulated operator, who creates, edits, pauses, moves, skips, overrides, triggers, cancels, retries and deletes."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any, cast

from lab.definitions import to_options
from lab.oracle.spec import NAMESPACE, Spec
from lab.oracle.triggers import Interval, utc
from lab.simulation.faulty_store import FaultyStore
from lab.simulation.scenario import changed_fields, make_spec, with_needs
from lab.simulation.timeline import new_loop
from tickbird.client import StoreClient
from tickbird.domain.errors import StoreError, TickbirdError
from tickbird.domain.limits.rate_limits import RateLimit

if TYPE_CHECKING:
    from lab.simulation.world import World

_PLAIN = Spec(form=Interval("days", 1))


@dataclass(frozen=True)
class Intent:
    """The change of a schedule that an operator requests, as the checker reads it."""

    action: str
    values: Mapping[str, Any] = field(default_factory=dict)


class Operator:
    """An operator with the real client, whose process never crashes, but whose responses get lost."""

    mortal = False
    cut_off = False

    def __init__(self, world: World, name: str) -> None:
        self.world = world
        self.id = name
        self.loop = new_loop(world.timeline)
        self.intent: Intent | None = None
        tasks = {"work": dict, "block": dict}
        self._client = StoreClient(cast(Any, FaultyStore(cast(Any, self))), NAMESPACE, cast(Any, tasks))

    def start(self) -> None:
        self.loop.spawn(self._work())

    def crash(self, text: str = "") -> None:
        """Never called: this process does not crash."""

    freeze = crash

    async def _work(self) -> None:
        scenario, chance = self.world.scenario, self.world.chance
        for queue in scenario.queues:
            await self._try(self._rate(queue))
        for name in scenario.operator_schedules:
            await self._try(self._create(name))
        actions = _ACTIONS | ({"limit": 4} if scenario.keys else {})
        if scenario.backfills:
            actions |= {"backfill": 10, "cancel_backfill": 3}
        if scenario.queues:
            actions |= {"rate": 4}
        if scenario.holds:
            actions |= {"resolve_held": 8}
        gap = scenario.span / (scenario.operations + 1)
        for _ in range(scenario.operations):
            await asyncio.sleep(chance.random() * 2 * gap)
            if self.world.calm:
                return
            names = [*scenario.operator_schedules, *scenario.versions[0]]
            name = chance.choice(names)
            action = chance.choices(list(actions), list(actions.values()))[0]
            await self._try(getattr(self, f"_{action}")(name))

    async def _try(self, work: Any) -> None:
        try:
            await work
        except StoreError:
            pass  # unknown result, as after any lost response
        except TickbirdError as error:
            self.world.note(self.id, f"was refused: {error}")
        finally:
            self.intent = None

    def _spec(self, spec: Spec) -> tuple[Spec, int]:
        index = self.world.scenario.add(spec)
        return spec, index

    async def _create(self, name: str) -> None:
        scenario = self.world.scenario
        if name.startswith("code"):
            return
        random_spec = with_needs(
            scenario, make_spec(scenario, self.world.chance), self._before(name), self.world.chance
        )
        spec, index = self._spec(random_spec)
        self.intent = Intent("create", {"spec": spec})
        options = to_options(spec)
        trigger = options.pop("trigger")
        first = self.world.chance.choice((None, None, "now"))
        await self._client.schedules.create(
            name, trigger, spec.task, actor=self.id, payload={"spec": index}, first=cast(Any, first), **options
        )

    def _before(self, name: str) -> list[str]:
        """Schedules that it may depend on without a cycle; an operator sometimes errs."""
        scenario = self.world.scenario
        names = [*scenario.versions[0], *scenario.operator_schedules]
        if name in scenario.operator_schedules and self.world.chance.random() < 0.2:
            return [other for other in names if other != name or self.world.chance.random() < 0.2]
        return names[: names.index(name)] if name in names else []

    async def _update(self, name: str) -> None:
        scenario, chance = self.world.scenario, self.world.chance
        fields = changed_fields(scenario, chance)
        if scenario.dependencies and chance.random() < 0.3:
            # The declared catch_up must allow an operator's wait in every version.
            wait = name in scenario.operator_schedules
            fields = {"depends_on": with_needs(scenario, _PLAIN, self._before(name), chance, wait=wait).depends_on}
        current = await self._client.schedules.get(name)
        if "end_at" in fields and fields["end_at"] is not None and current.definition is not None:
            start = fields.get("start_at")
            fields["end_at"] = max(cast(int, fields["end_at"]), cast(int, start or 0))
        self.intent = Intent("update", fields)
        plain = Spec(form=cast(Any, fields.get("form")))
        options = to_options(replace(plain, **cast(Any, fields)), *fields)
        revision = current.revision if self.world.chance.random() < 0.5 else None
        await self._client.schedules.update(name, actor=self.id, revision=revision, **options)

    async def _pause(self, name: str) -> None:
        chance, heartbeat = self.world.chance, self.world.scenario.heartbeat
        now = int(self.world.store_now().timestamp())
        until = None if chance.random() < 0.6 else now + 1 + int(chance.random() * 12 * heartbeat)
        self.intent = Intent("pause", {"until": until})
        await self._client.schedules.pause(
            name,
            actor=self.id,
            until=None if until is None else utc(until),
            cancel_runs=chance.random() < 0.2,
        )

    async def _resume(self, name: str) -> None:
        self.intent = Intent("resume")
        await self._client.schedules.resume(name, actor=self.id)

    async def _reschedule(self, name: str) -> None:
        now = int(self.world.store_now().timestamp())
        to = now + 1 + int(self.world.chance.random() * 8 * self.world.scenario.heartbeat)
        self.intent = Intent("reschedule", {"to": to})
        await self._client.schedules.reschedule(name, utc(to), actor=self.id)

    async def _run_early(self, name: str) -> None:
        """Run the next tick now, and change the trigger soon after."""
        chance, to = self.world.chance, int(self.world.store_now().timestamp()) + 1
        if chance.random() < 0.3:
            await self._skip(name)
        self.intent = Intent("reschedule", {"to": to})
        await self._client.schedules.reschedule(name, utc(to), actor=self.id)
        await asyncio.sleep(1 + chance.random() * 4)
        if not self.world.calm:
            form = make_spec(self.world.scenario, chance).form
            self.intent = Intent("update", {"form": form})
            await self._client.schedules.update(name, actor=self.id, **to_options(Spec(form), "form"))

    async def _skip(self, name: str) -> None:
        count = self.world.chance.choice((1, 1, 2, 4))
        self.intent = Intent("skip", {"count": count})
        await self._client.schedules.skip(name, count, actor=self.id)

    async def _override(self, name: str) -> None:
        chance, heartbeat = self.world.chance, self.world.scenario.heartbeat
        ticks = [tick.scheduled_for for tick in await self._client.ticks.next(name, 5)]
        if not ticks:
            return
        tick = chance.choice(ticks)
        kind = chance.choice(("skip", "move", "payload", "both"))
        shift = timedelta(seconds=int((chance.random() * 6 - 2) * heartbeat))
        self.intent = Intent("override", {"tick": tick, "what": kind, "to": tick + shift})
        definition = (await self._client.schedules.get(name)).definition
        own = {**(definition.payload if definition else {}), "own": 1}
        await self._client.overrides.put(
            name,
            tick,
            actor=self.id,
            skip=kind == "skip",
            move_to=tick + shift if kind in ("move", "both") else None,
            payload=own if kind in ("payload", "both") else None,
            note=kind,
        )

    async def _undo(self, name: str) -> None:
        overrides = await self._client.overrides.list(name)
        if overrides:
            self.intent = Intent("undo")
            tick = self.world.chance.choice(overrides).scheduled_for
            await self._client.overrides.undo(name, tick, actor=self.id)

    async def _trigger(self, name: str) -> None:
        self.intent = Intent("trigger")
        await self._client.schedules.trigger(name, actor=self.id)

    async def _delete(self, name: str) -> None:
        self.intent = Intent("delete")
        await self._client.schedules.delete(name, actor=self.id, cancel_runs=self.world.chance.random() < 0.3)
        if name.startswith("hand"):
            await asyncio.sleep(self.world.chance.random() * 4 * self.world.scenario.heartbeat)
            if not self.world.calm:
                await self._create(name)

    async def _cancel(self, name: str) -> None:
        runs = [run for run in await self._client.runs.list(schedule=name, limit=10) if run.finished_at is None]
        if runs:
            await self._client.runs.cancel(self.world.chance.choice(runs).id, actor=self.id)

    async def _retry(self, name: str) -> None:
        # Runs of this schedule, or of any schedule or none.
        of_schedule = name if self.world.chance.random() < 0.7 else None
        runs = [
            run for run in await self._client.runs.list(schedule=of_schedule, limit=10) if run.finished_at is not None
        ]
        if runs:
            self.intent = Intent("trigger")
            await self._client.runs.retry(self.world.chance.choice(runs).id, actor=self.id)

    async def _enqueue(self, name: str) -> None:
        chance, scenario = self.world.chance, self.world.scenario
        heartbeat = scenario.heartbeat
        key = chance.choice((None, *scenario.keys))
        await self._client.runs.enqueue(
            chance.choice(("work", "block")),
            {"instead of": name},
            actor=self.id,
            # A run with a key starts at once or waits for a slot.
            delay=0 if key else int(chance.random() * 3 * heartbeat),
            concurrency_key=key,
            queue=chance.choice(("default", *scenario.queues)),
            start_within=chance.choice((None, heartbeat)),
            priority=chance.choice((0, 9)),
            crash_limit=chance.choice((0, 3)),
        )

    async def _limit(self, _: str) -> None:
        key, limit = self.world.chance.choice(self.world.scenario.keys), self.world.chance.choice((None, 1, 2, 3))
        if limit is None:
            await self._client.limits.remove(key, actor=self.id)
        else:
            await self._client.limits.set(key, limit, actor=self.id)

    async def _backfill(self, name: str) -> None:
        chance, scenario = self.world.chance, self.world.scenario
        heartbeat = scenario.heartbeat
        if chance.random() < 0.5:
            # Workers prune once an hour, which is longer than many scenarios.
            await self._client._store.runs.prune(older_than=scenario.retention, keep=scenario.keep)
        first = int(self.world.store_now().timestamp() - chance.random() * 20 * heartbeat)
        created = await self._client.backfills.create(
            name,
            utc(first),
            utc(first + int(chance.uniform(1, 12) * heartbeat)),
            actor=self.id,
            concurrency=chance.choice((1, 1, 2, 3)),
            order=chance.choice(("oldest", "newest")),
        )
        if created.backfill_id is not None and chance.random() < 0.2:
            await self._client.backfills.cancel(created.backfill_id, actor=self.id)

    async def _cancel_backfill(self, name: str) -> None:
        backfills = await self._client.backfills.list(schedule=name, limit=3)
        if backfills:
            backfill = self.world.chance.choice(backfills)
            await self._client.backfills.cancel(
                backfill.id, actor=self.id, stop_running=self.world.chance.random() < 0.5
            )

    async def _rate(self, _: str) -> None:
        chance, scenario = self.world.chance, self.world.scenario
        rate = RateLimit(chance.choice((1, 2, 3)), max(1, int(scenario.heartbeat * chance.choice((0.5, 1, 3)))))
        for queue in scenario.queues:
            if chance.random() < 0.9:
                await self._client.queues.set_rate(queue, rate, actor=self.id)
            else:
                await self._client.queues.remove_rate(queue, actor=self.id)

    async def _resolve_held(self, _: str) -> None:
        chance, held = self.world.chance, await self._client.held.list()
        if not held:
            return
        name = chance.choice(held).schedule
        count = chance.choice((None, None, 1, 2))
        if chance.random() < 0.3:
            await self._client.held.drop(name, count=count, actor=self.id)
        else:
            await self._client.held.release(
                name, count=count, per_minute=chance.choice((None, 1, 7, 60)), actor=self.id
            )

    async def pause_everything(self) -> None:
        """So that every run can end."""
        for queue in self.world.scenario.queues:
            await self._try(self._client.queues.remove_rate(queue, actor=self.id))
        for row in await self._client.schedules.list(limit=1_000):
            self.intent = Intent("pause", {"until": None})
            await self._try(self._client.schedules.pause(row.schedule.name, actor=self.id))
        for held in await self._client.held.list():
            await self._try(self._client.held.release(held.schedule, per_minute=60, actor=self.id))


_ACTIONS = {
    "update": 5,
    "pause": 3,
    "resume": 3,
    "reschedule": 3,
    "run_early": 2,
    "skip": 2,
    "override": 4,
    "undo": 1,
    "trigger": 3,
    "delete": 2,
    "create": 1,
    "cancel": 2,
    "retry": 1,
    "enqueue": 2,
}
