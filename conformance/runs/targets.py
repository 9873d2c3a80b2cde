"""What runs do, other than calling a task: a command is planned as any, and given only to who allows its program."""

from __future__ import annotations

from conformance.steps import (
    MINUTE,
    NAME,
    NAMESPACE,
    a_worker,
    change,
    claim,
    create,
    get,
    later,
    plan,
    plan_all,
    read,
)
from tickbird.domain.planning.commands.define import Create, Update
from tickbird.domain.planning.commands.run import Trigger
from tickbird.domain.schedules.codec import encode_definition, encode_field
from tickbird.domain.schedules.definition import Definition, Target, command_target
from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.targets.command import command
from tickbird.domain.workers import HandOff
from tickbird.store.protocol.store import Store

PROGRAM = "/usr/local/bin/backup"
BACKUP = command([PROGRAM, "--full"], env={"PASSWORD": {"env": "SECRET"}})


async def create_command(store: Store, name: str = NAME) -> Schedule:
    """A schedule of a command, made by Ada."""
    definition = Definition(trigger=MINUTE, target=command_target(BACKUP))
    made = Create(actor="ada", namespace=NAMESPACE, definition=definition)
    return (await store.schedules.change(NAMESPACE, name, made, now=later(0))).schedule


class Targets:
    """Commands."""

    async def test_a_command_is_planned_and_given_to_who_allows_its_program(self, store: Store) -> None:
        schedule = await create_command(store)
        assert schedule.definition_json["v"] == 2, "code that knows no commands leaves it alone"
        assert (await plan(store, 60)).runs == 1
        assert not (await claim(store, 60, tasks=("work", "backup", "--full"))).runs
        [run] = (await claim(store, 60, tasks=("work", PROGRAM))).runs
        assert run.target == PROGRAM
        assert run.definition is not None
        assert run.definition.target.program == BACKUP
        assert (await read(store, run)).target == Target(PROGRAM, "command")

    async def test_a_command_is_handed_to_the_planner_that_allows_it(self, store: Store) -> None:
        await create_command(store)
        hand_off = HandOff(a_worker(), 5, 60, ("default",), ("work", PROGRAM))
        [run] = (await store.planning.plan_due(limit=10, hand_off=hand_off, now=later(60))).leased
        assert run.definition is not None
        assert run.definition.target.program == BACKUP

    async def test_manual_runs_of_a_command_have_it_too(self, store: Store) -> None:
        await create_command(store)
        await change(store, Trigger(actor="ada", payload={"n": 1}), 5)
        [run] = (await claim(store, 5, tasks=(PROGRAM,))).runs
        assert run.definition is not None
        assert (run.definition.target.program, run.payload, run.origin) == (BACKUP, {"n": 1}, "manual")

    async def test_an_edit_from_a_task_to_a_command_and_back_changes_the_format(self, store: Store) -> None:
        await create(store)
        target = encode_field("target", command_target(BACKUP))
        await change(store, Update(actor="ada", fields={"target": target}), 5)
        schedule = await get(store)
        assert (schedule.definition_json["v"], schedule.definition) == (
            2,
            Definition(trigger=MINUTE, target=command_target(BACKUP)),
        )
        await plan_all(store, 60)
        [run] = (await claim(store, 60, tasks=(PROGRAM,))).runs
        assert run.definition is not None
        await change(store, Update(actor="ada", fields={"target": {"task": "work"}}), 65)
        schedule = await get(store)
        assert schedule.definition_json == encode_definition(Definition(trigger=MINUTE, target=Target("work")))

    async def test_schedules_of_commands_are_told_by_their_programs(self, store: Store) -> None:
        await create_command(store)
        await create(store, "task")
        seen = (await store.inspect(NAMESPACE, now=later(10))).work
        assert seen is not None
        assert {each.task for each in seen.scheduled} == {PROGRAM, "work"}
