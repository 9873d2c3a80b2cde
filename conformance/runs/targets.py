"""Targets other than tasks: a claim matches kind and name, and schedules of unknown kinds are ignored."""

from __future__ import annotations

import pytest

from conformance.schedules.plain_sql import Plain, seconds
from conformance.steps import (
    MINUTE,
    NAME,
    NAMESPACE,
    a_worker,
    change,
    claim,
    create,
    enqueue,
    get,
    later,
    plan,
    plan_all,
    read,
)
from tickbird.domain.errors import ConflictError
from tickbird.domain.planning.commands.define import Create, Update
from tickbird.domain.planning.commands.run import Trigger
from tickbird.domain.schedules import codec
from tickbird.domain.schedules.codec import CUSTOM_TRIGGERS, FORMAT, encode_definition, encode_field
from tickbird.domain.schedules.definition import Definition, Target
from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.targets.command import command
from tickbird.domain.targets.registry import first_kind_format
from tickbird.domain.targets.target import target_of
from tickbird.domain.triggers import custom
from tickbird.domain.workers import HandOff
from tickbird.store.protocol.store import Store
from tickbird.store.shared import stored_definitions

PROGRAM = "/usr/local/bin/backup"
BACKUP = command([PROGRAM, "--full"], env={"PASSWORD": {"env": "SECRET"}})


async def create_command(store: Store, name: str = NAME) -> Schedule:
    """A schedule of a command, created by Ada."""
    definition = Definition(trigger=MINUTE, target=target_of(BACKUP))
    made = Create(actor="ada", namespace=NAMESPACE, definition=definition)
    return (await store.schedules.change(NAMESPACE, name, made, now=later(0))).schedule


class Targets:
    """Commands."""

    async def test_command_is_claimed_by_a_worker_that_allows_it(self, store: Store) -> None:
        schedule = await create_command(store)
        assert schedule.definition_json["v"] == 2, "code that knows no commands leaves it alone"
        assert (await plan(store, 60)).runs == 1
        assert not (await claim(store, 60, tasks=("work", "backup", "--full", PROGRAM))).runs
        [run] = (await claim(store, 60, targets=[("command", PROGRAM)])).runs
        assert run.target == PROGRAM
        assert run.definition is not None
        assert run.definition.target.spec == BACKUP
        assert (await read(store, run)).target == Target(PROGRAM, "command")

    async def test_a_command_is_handed_to_the_planner_that_allows_it(self, store: Store) -> None:
        await create_command(store)
        hand_off = HandOff(a_worker(), 5, 60, ("default",), [("task", "work"), ("command", PROGRAM)])
        [run] = (await store.planning.plan_due(limit=10, hand_off=hand_off, now=later(60))).leased
        assert run.definition is not None
        assert run.definition.target.spec == BACKUP

    async def test_manual_runs_of_a_command_have_it_too(self, store: Store) -> None:
        await create_command(store)
        await change(store, Trigger(actor="ada", payload={"n": 1}), 5)
        [run] = (await claim(store, 5, targets=[("command", PROGRAM)])).runs
        assert run.definition is not None
        assert (run.definition.target.spec, run.payload, run.origin) == (BACKUP, {"n": 1}, "manual")

    async def test_an_edit_from_a_task_to_a_command_and_back_changes_the_format(self, store: Store) -> None:
        await create(store)
        target = encode_field("target", target_of(BACKUP))
        await change(store, Update(actor="ada", fields={"target": target}), 5)
        schedule = await get(store)
        assert (schedule.definition_json["v"], schedule.definition) == (
            2,
            Definition(trigger=MINUTE, target=target_of(BACKUP)),
        )
        await plan_all(store, 60)
        [run] = (await claim(store, 60, targets=[("command", PROGRAM)])).runs
        assert run.definition is not None
        await change(store, Update(actor="ada", fields={"target": {"task": "work"}}), 65)
        schedule = await get(store)
        assert schedule.definition_json == encode_definition(Definition(trigger=MINUTE, target=Target("work")))

    async def test_command_schedules_are_reported_by_program(self, store: Store) -> None:
        await create_command(store)
        await create(store, "task")
        seen = (await store.inspect(NAMESPACE, now=later(10))).work
        assert seen is not None
        assert {each.target.name for each in seen.scheduled} == {PROGRAM, "work"}

    async def test_targets_of_two_kinds_with_one_name_are_never_confused(self, store: Store) -> None:
        task = await enqueue(store)
        other = await enqueue(store, kind="other")
        other_later = await enqueue(store, 1, kind="other")
        assert not (await claim(store, 5, tasks=(), targets=[("third", "work"), ("other", "task")])).runs
        claimed = (await claim(store, 5, tasks=("work",))).runs
        assert [(run.id, run.target_key) for run in claimed] == [(task, ("task", "work"))]
        claimed = (await claim(store, 5, tasks=(), targets=[("other", "work")])).runs
        assert [(run.id, run.target_key) for run in claimed] == [
            (other, ("other", "work")),
            (other_later, ("other", "work")),
        ]
        assert (await read(store, other)).target == Target("work", "other")

    async def test_a_worker_takes_both_kinds_in_turn(self, store: Store) -> None:
        tasks = [await enqueue(store) for _ in range(3)]
        others = [await enqueue(store, 1, kind="other") for _ in range(3)]
        both = [("other", "work")]
        claimed = [run.id for _ in range(3) for run in (await claim(store, 5, 2, targets=both)).runs]
        assert sorted(claimed) == sorted(tasks + others)
        assert {tasks[0], others[0]} == set(claimed[:2])

    async def test_a_backlog_of_another_kind_does_not_delay_a_claim(self, store: Store) -> None:
        for _ in range(20):
            await enqueue(store, kind="other", priority=5)
        task = await enqueue(store, 1)
        [run] = (await claim(store, 5, 1)).runs
        assert run.id == task
        assert (await claim(store, 5)).next_at is None, "targets of other workers do not cause another claim"

    async def test_a_run_of_another_kind_is_not_handed_off(self, store: Store) -> None:
        await create_command(store)
        hand_off = HandOff(a_worker(), 5, 60, ("default",), [("task", PROGRAM)])
        planned = await store.planning.plan_due(limit=10, hand_off=hand_off, now=later(60))
        assert (planned.runs, list(planned.leased)) == (1, [])

    async def test_doctor_distinguishes_kinds_with_the_same_name(self, store: Store) -> None:
        await enqueue(store)
        await enqueue(store, kind="other")
        snapshot = await store.inspect(NAMESPACE, now=later(100))
        assert snapshot.work is not None
        both = {("task", "work"), ("other", "work")}
        assert {waiting.target.key for waiting in snapshot.work.waiting} == both

    async def test_schedule_of_an_unknown_kind_is_ignored(self, store: Store, plain: Plain) -> None:
        definition = {"trigger": MINUTE.to_json(), "target": {"nowhere_known": {"text": "hello"}}}
        version = first_kind_format("nowhere_known") + 3
        assert version > FORMAT, "code that knows no kinds of others leaves it alone as well"
        await plain.insert(NAMESPACE, "foreign", {"v": version, **definition})
        await create(store)
        now = await seconds(store)
        for at in (now + 60, now + 3600):
            planned = await plan(store, at)
            assert planned.parked == ()
        foreign = await get(store, "foreign")
        assert (foreign.state, foreign.error, foreign.definition) == ("active", None, None)
        assert foreign.definition_json["target"] == definition["target"]
        with pytest.raises(
            ConflictError, match=r"target kind 'nowhere_known' is not available here\. Install its package"
        ):
            await change(store, Trigger(actor="ada"), now + 60, name="foreign")
        expected = [("foreign", "target kind 'nowhere_known' is not available here")]
        assert [(one.name, one.reason) for one in await store.planning.ignored()] == expected
        snapshot = await store.inspect(NAMESPACE, now=later(now + 3600))
        assert snapshot.work is not None
        assert [(one.name, one.ignored) for one in snapshot.work.refused] == expected
        unplanned = [(one.namespace, one.name, one.requirement) for one in snapshot.work.unplanned]
        assert unplanned == [(NAMESPACE, "foreign", "target kind 'nowhere_known'")]

    async def test_known_kind_with_an_unknown_custom_trigger_is_ignored(
        self, store: Store, plain: Plain, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        version = first_kind_format("of_a_package") + CUSTOM_TRIGGERS
        for module in (codec, stored_definitions):
            monkeypatch.setattr(module, "own_formats", lambda: frozenset({version}))
        definition = {"v": version, "target": {"of_a_package": {"text": "hello"}}}
        await plain.insert(NAMESPACE, "foreign", {**definition, "trigger": {"custom": "nowhere_known"}})
        now = await seconds(store)
        assert (await plan(store, now + 60)).parked == ()
        expected = [("foreign", "custom trigger 'nowhere_known' is not available here")]
        assert [(one.name, one.reason) for one in await store.planning.ignored()] == expected
        with pytest.raises(ConflictError, match="custom trigger 'nowhere_known' is not available here"):
            await change(store, Trigger(actor="ada"), now + 60, name="foreign")
        snapshot = await store.inspect(NAMESPACE, now=later(now + 3600))
        assert snapshot.work is not None
        assert [(one.name, one.ignored) for one in snapshot.work.refused] == expected

    async def test_a_known_kind_is_planned_by_a_process_without_custom_triggers(
        self, store: Store, plain: Plain, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        version = first_kind_format("of_a_package") + 3
        for module in (codec, stored_definitions):
            monkeypatch.setattr(module, "own_formats", lambda: frozenset({version}))
        monkeypatch.setattr(custom, "_registered", {})
        # Of a task, which the process can read: the format alone tells planners whose it is.
        triggers = {"plain": MINUTE.to_json(), "union": {"any_of": [MINUTE.to_json()]}}
        for name, trigger in triggers.items():
            await plain.insert(NAMESPACE, name, {"v": version, "trigger": trigger, "target": {"task": "work"}})
        now = await seconds(store)
        await plan(store, now)
        assert (await plan(store, now + 120)).runs == 2
        assert await store.planning.ignored() == []
        snapshot = await store.inspect(NAMESPACE, now=later(now + 120))
        assert snapshot.work is not None
        assert snapshot.work.refused == []
