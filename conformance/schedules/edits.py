"""Commands: due ticks first, then the change, its revision and its audit row, atomically."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.capabilities import needs
from conformance.schedules.plain_sql import Plain
from conformance.steps import (
    NAME,
    NAMESPACE,
    a_worker,
    change,
    create,
    define,
    epoch,
    get,
    later,
    looks_next,
    plan,
    plan_all,
    ranges,
    runs_of,
    since,
    start,
    ticks,
    work_off,
)
from tickbird.domain.errors import ConflictError, InvalidError, NotFoundError, StoreError
from tickbird.domain.planning.commands.base import Command
from tickbird.domain.planning.commands.define import Create, Delete, RollBack, SyncFromCode, Update
from tickbird.domain.planning.commands.pause import Pause, Resume
from tickbird.domain.planning.commands.run import Trigger
from tickbird.domain.planning.commands.ticks import Reschedule, Skip
from tickbird.domain.schedules.codec import decode_definition, encode_definition, fingerprint
from tickbird.domain.triggers.every import every
from tickbird.domain.triggers.trigger import at
from tickbird.store.protocol.store import Store

COMMANDS: list[Command] = [
    Update(actor="ada", fields={"priority": 1}),
    SyncFromCode(actor="ada", definition=define(), app="app", fingerprint="f"),
    Delete(actor="ada"),
    Pause(actor="ada"),
    Resume(actor="ada"),
    Reschedule(actor="ada", to=epoch(600)),
    Skip(actor="ada"),
    Trigger(actor="ada"),
]
PAYLOADS: list[dict[str, Any]] = [
    {},
    {"text": "Zoë says “ça va” — 你好 🐦 \\ \" ' \n\t", "ключ": "\x01"},
    {"nested": {"list": [1, 2.5, -3e300, True, False, None, [], {}, [[["deep"]]]], "empty": ""}},
    {"number": 2**53, "zero": 0, "negative": -1, "small": 1e-9},
    {"big": "x" * 100_000},
]


class Edits:
    """Changes to definitions and cursors, and their traces."""

    async def test_create_twice_is_refused(self, store: Store) -> None:
        schedule = await create(store)
        with pytest.raises(ConflictError):
            await create(store, at=5, priority=3)
        assert await get(store) == schedule
        assert len(await store.schedules.list_revisions(schedule.id)) == 1
        assert len(await store.ledger.list_audit(NAMESPACE)) == 1

    async def test_create_leaves_everything_readable(self, store: Store) -> None:
        made = await create(store, at=30, app="app", fingerprint="f1", tags=("a", "b"), description="d", priority=2)
        schedule = await get(store)
        assert schedule == made
        assert (schedule.namespace, schedule.name, schedule.app, schedule.fingerprint) == (NAMESPACE, NAME, "app", "f1")
        assert (schedule.revision, schedule.state, schedule.pause, schedule.error) == (1, "active", None, None)
        assert schedule.definition == define(tags=("a", "b"), description="d", priority=2)
        assert schedule.definition_json == encode_definition(schedule.definition)
        assert (schedule.created_at, schedule.changed_at) == (later(30), later(30))
        assert schedule.field_overrides == {}
        assert schedule.cursor.runs_planned == 0

    @pytest.mark.parametrize("command", COMMANDS, ids=lambda command: type(command).__name__)
    async def test_unknown_names_are_not_found(self, store: Store, command: Command) -> None:
        with pytest.raises(NotFoundError):
            await change(store, command, 10)
        await create(store)
        with pytest.raises(NotFoundError):
            await change(store, command, 10, namespace="elsewhere")
        await change(store, Delete(actor="ada"), 10)
        with pytest.raises(NotFoundError):
            await change(store, command, 20)

    @pytest.mark.parametrize("command", COMMANDS, ids=lambda command: type(command).__name__)
    async def test_stale_revisions_are_refused(self, store: Store, command: Command) -> None:
        await create(store)
        await change(store, Pause(actor="ada"), 5)
        before = await get(store)
        stale = type(command)(**{**_fields(command), "revision": 1})
        with pytest.raises(ConflictError):
            await change(store, stale, 10)
        assert await get(store) == before
        assert [record.action for record in await store.ledger.list_audit(NAMESPACE)] == ["pause", "create"]
        current = type(command)(**{**_fields(command), "revision": 2})
        assert (await change(store, current, 10)).schedule.name == NAME

    async def test_each_command_creates_a_revision_and_an_audit_row(self, store: Store) -> None:
        schedule = await create(store)
        mark = fingerprint(define(priority=9))
        commands: list[tuple[str, Command]] = [
            ("update", Update(actor="bo", fields={"priority": 4})),
            ("sync", SyncFromCode(actor="bo", definition=define(priority=9), app="app", fingerprint=mark)),
            ("reschedule", Reschedule(actor="bo", to=epoch(900), note="later")),
            ("skip", Skip(actor="bo", count=2)),
            ("pause", Pause(actor="bo", note="why")),
            ("resume", Resume(actor="bo")),
            ("roll_back", RollBack(actor="bo", to=1, definition=schedule.definition_json, note="wrong")),
            ("delete", Delete(actor="bo")),
            ("create", Create(actor="bo", namespace=NAMESPACE, definition=define())),
        ]
        for number, (action, command) in enumerate(commands, start=2):
            changed = await change(store, command, number)
            assert (changed.schedule.id, changed.schedule.revision) == (schedule.id, number)
            assert await get(store) == changed.schedule
            assert changed.schedule.changed_at == later(number)
            newest = (await store.schedules.list_revisions(schedule.id))[0]
            assert (newest.revision, newest.action, newest.actor) == (number, action, "bo")
            assert newest.at == later(number)
            if action != "delete":
                assert newest.definition == changed.schedule.definition_json
                assert decode_definition(newest.definition) == changed.schedule.definition
            told = (await store.ledger.list_audit(NAMESPACE))[0]
            assert (told.action, told.actor, told.schedule, told.at) == (action, "bo", NAME, later(number))
        revisions = await store.schedules.list_revisions(schedule.id)
        assert [record.revision for record in revisions] == list(range(10, 0, -1))
        assert revisions[7].fingerprint == mark
        assert [record.revision for record in await store.schedules.list_revisions(schedule.id, limit=2)] == [10, 9]
        older = await store.schedules.list_revisions(schedule.id, before=8, limit=3)
        assert [record.revision for record in older] == [7, 6, 5]
        assert await store.schedules.list_revisions(schedule.id, before=1) == []
        made = await store.schedules.list_revisions(schedule.id, made_before=later(5), limit=2)
        assert [record.revision for record in made] == [4, 3]
        update = (await store.ledger.list_audit(NAMESPACE))[8]
        assert update.detail == {"before": {"priority": None}, "after": {"priority": 4}}

    async def test_manual_run_is_audited_without_a_revision(self, store: Store) -> None:
        schedule = await create(store)
        changed = await change(store, Trigger(actor="bo", payload={"n": 1}), 10)
        [run_id] = changed.run_ids
        assert changed.schedule.revision == 1
        assert len(await store.schedules.list_revisions(schedule.id)) == 1
        told = (await store.ledger.list_audit(NAMESPACE))[0]
        assert (told.action, told.actor, told.schedule) == ("trigger", "bo", NAME)
        again = await change(store, Trigger(actor="bo", retry_of=run_id), 20)
        assert (await store.ledger.list_audit(NAMESPACE))[0].action == "retry"
        run = await store.runs.get(again.run_ids[0])
        assert run is not None
        assert (run.origin, run.retry_of) == ("retry", run_id)

    async def test_audit_is_paged_and_per_namespace(self, store: Store) -> None:
        for name in ("a", "b"):
            await create(store, name)
        await create(store, "a", namespace="elsewhere")
        for number in range(1, 6):
            await change(store, Update(actor="ada", fields={"priority": number}), number, name="a")
        everything = await store.ledger.list_audit(NAMESPACE)
        assert [record.action for record in everything] == ["update"] * 5 + ["create", "create"]
        first = await store.ledger.list_audit(NAMESPACE, limit=3)
        second = await store.ledger.list_audit(NAMESPACE, before=first[-1].id, limit=100)
        assert [*first, *second] == list(everything)
        assert [record.schedule for record in await store.ledger.list_audit(NAMESPACE, schedule="b")] == ["b"]
        alone = [record for record in everything if record.schedule == "a"]
        page = await store.ledger.list_audit(NAMESPACE, schedule="a", limit=2)
        rest = await store.ledger.list_audit(NAMESPACE, schedule="a", before=page[-1].id)
        assert [*page, *rest] == alone
        assert len(await store.ledger.list_audit("elsewhere")) == 1

    async def test_due_ticks_are_planned_under_the_old_revision(self, store: Store) -> None:
        await create(store, payload={"old": True})
        await change(store, Update(actor="ada", fields={"target": {"task": "other"}, "payload": {"new": True}}), 65)
        [run] = await runs_of(store)
        assert (since(run.scheduled_for), run.revision, run.target.name) == (60, 1, "work")
        assert run.payload == {"old": True}
        await work_off(store, 66)
        await plan(store, 120)
        run = (await runs_of(store))[1]
        assert (run.revision, run.target.name, run.payload) == (2, "other", {"new": True})

    @pytest.mark.parametrize(
        "command",
        [
            Pause(actor="ada"),
            Delete(actor="ada"),
            Update(actor="ada", fields={"trigger": {"every": {"days": 1}}}),
        ],
        ids=lambda command: type(command).__name__,
    )
    async def test_edits_first_decide_due_ticks(self, store: Store, command: Command) -> None:
        await create(store)
        await change(store, command, 130)
        assert await ticks(store) == [(60, "catch_up", "queued")]
        assert await ranges(store) == [("overlap", 120, 120, 1)]

    async def test_planned_runs_keep_their_definition(self, store: Store) -> None:
        await create(store, payload={"n": 1}, retries=4)
        await plan(store, 60)
        fields = {"target": {"task": "other"}, "payload": {"n": 2}, "retries": 0, "queue": "elsewhere"}
        await change(store, Update(actor="ada", fields=fields), 70)
        claimed = await store.leases.claim(
            a_worker(),
            10,
            60,
            queues=("default", "elsewhere"),
            targets=[("task", "work"), ("task", "other")],
            now=later(70),
        )
        [found] = claimed.runs
        assert (found.target, found.payload) == ("work", {"n": 1})
        assert found.definition is not None
        assert found.definition.retries == 4
        await change(store, Delete(actor="ada"), 80)
        run = await store.runs.get(found.id)
        assert run is not None
        assert (run.payload, run.schedule) == ({"n": 1}, NAME)

    async def test_unchanged_trigger_keeps_the_cursor(self, store: Store) -> None:
        await create(store)
        await plan(store, 60)
        await change(store, Reschedule(actor="ada", to=epoch(150)), 65)
        before = (await get(store)).cursor
        await change(store, Update(actor="ada", fields={"priority": 3, "trigger": {"every": {"seconds": 60}}}), 100)
        assert (await get(store)).cursor == before

    async def test_changed_trigger_never_refires(self, store: Store) -> None:
        await create(store, overlap="allow")
        await plan(store, 60)
        await change(store, Update(actor="ada", fields={"trigger": {"every": {"seconds": 30}}}), 60)
        assert await looks_next(store) == 90
        await plan(store, 60)
        await change(store, Update(actor="ada", fields={"trigger": {"every": {"hours": 1}}}), 100)
        assert await looks_next(store) == 3600
        await change(store, Update(actor="ada", fields={"trigger": {"every": {"seconds": 60}}}), 110)
        assert await looks_next(store) == 120
        await plan(store, 120)
        assert [tick for tick, _, _ in await ticks(store)] == [60, 90, 120]

    async def test_redeploying_the_same_trigger_neither_fires_nor_skips(self, store: Store) -> None:
        await create(store, app="app", fingerprint="f0")
        for number in range(1, 30):
            redefine = SyncFromCode(
                actor="sync", definition=define(priority=number), app="app", fingerprint=f"f{number}"
            )
            await change(store, redefine, number * 2)
            await plan(store, number * 2)
        assert (await ticks(store), await ranges(store), await looks_next(store)) == ([], [], 60)

    async def test_invalid_update_changes_nothing(self, store: Store) -> None:
        before = await create(store)
        for fields in ({"trigger": {"cron": "61 * * * *"}}, {"overlap": "no"}, {"nonsense": 1}, {"grace": -1}):
            with pytest.raises(InvalidError):
                await change(store, Update(actor="ada", fields=fields), 10)
        assert await get(store) == before
        assert len(await store.ledger.list_audit(NAMESPACE)) == 1

    async def test_overrides_outlive_a_deploy(self, store: Store) -> None:
        await create(store, app="app", fingerprint="f1")
        changed = await change(store, Update(actor="ada", fields={"priority": 5}), 10)
        assert changed.schedule.field_overrides == {"priority": 5}
        redefine = SyncFromCode(actor="sync", definition=define(retries=3), app="app", fingerprint="f2")
        schedule = (await change(store, redefine, 20)).schedule
        assert schedule == await get(store)
        assert schedule.definition == define(retries=3, priority=5)
        assert (schedule.fingerprint, schedule.field_overrides) == ("f2", {"priority": 5})

    async def test_recreated_name_continues_after_its_tombstone(self, store: Store) -> None:
        made = await create(store, overlap="allow")
        await plan(store, 60)
        gone = (await change(store, Delete(actor="ada"), 60)).schedule
        assert (gone.state, gone.revision, gone.cursor.next_run_at) == ("deleted", 2, None)
        assert (await plan(store, 200)).schedules == 0
        again = await create(store, at=60, overlap="allow")
        assert (again.id, again.revision, again.state) == (made.id, 3, "active")
        await plan_all(store, 60)
        assert await ticks(store) == [(60, "schedule", "queued")]
        await plan_all(store, 120)
        assert [tick for tick, _, _ in await ticks(store)] == [60, 120]

    async def test_recreated_with_a_clock_behind_runs_nothing_again(self, store: Store) -> None:
        await create(store, overlap="allow")
        await plan(store, 60)
        await plan(store, 120)
        await change(store, Delete(actor="ada"), 125)
        await create(store, at=30, overlap="allow")
        assert await looks_next(store) == 180
        await plan_all(store, 180)
        assert [tick for tick, _, _ in await ticks(store)] == [60, 120, 180]

    async def test_delete_keeps_runs_unless_cancel_runs_is_set(self, store: Store) -> None:
        await create(store, overlap="allow")
        for at_ in (60, 120):
            await plan(store, at_)
        running = await start(store, 121)
        await change(store, Delete(actor="ada"), 130)
        assert [run.status for run in await runs_of(store)] == ["running", "queued"]
        await create(store, at=131, overlap="allow")
        await change(store, Delete(actor="bo", cancel_runs=True), 140)
        stopped, cancelled = await runs_of(store)
        assert (stopped.id, stopped.status, stopped.cancel_requested_at) == (running.id, "running", later(140))
        assert stopped.cancel_requested_by == "bo"
        assert (cancelled.status, cancelled.finished_at) == ("cancelled", later(140))
        assert cancelled.reason

    @needs("limits")
    async def test_a_revision_that_was_rolled_back_is_forgotten(self, store: Store, plain: Plain) -> None:
        schedule = await create(store, task="old", overlap="allow", concurrency_key="db")
        await plan(store, 60)
        await change(store, Delete(actor="ada"), 61)
        lost, new = (define(task=task, overlap="allow", concurrency_key="db") for task in ("lost", "new"))
        # Its first run waits for the key, so that its revision is read before the transaction is rolled back.
        await plain.refuse_rows("audit_log", schedule.id, "not now")
        with pytest.raises(StoreError):
            await change(store, Create(actor="ada", namespace=NAMESPACE, definition=lost, first="now"), 62)
        await plain.accept_rows()
        created = await change(store, Create(actor="ada", namespace=NAMESPACE, definition=new), 63)
        assert created.schedule.revision == 3
        assert (await plan(store, 120)).runs == 1
        newest = (await store.runs.list(NAMESPACE, limit=1))[0]
        assert (newest.revision, newest.target.name) == (3, "new")

    async def test_user_cannot_create_a_schedule_in_the_past(self, store: Store) -> None:
        with pytest.raises(InvalidError):
            await create(store, NAME, at(later(-60)))
        assert await store.schedules.get(NAMESPACE, NAME) is None
        assert list(await store.ledger.list_audit(NAMESPACE)) == []

    async def test_the_past_from_code_is_recorded_as_ended(self, store: Store) -> None:
        schedule = await create(store, NAME, at(later(-60)), app="app", fingerprint="f")
        assert schedule.state == "ended"
        assert await ranges(store) == [("misfire", -60, -60, 1)]
        assert (await plan(store, 100)).runs == 0

    async def test_first_now_is_a_manual_run(self, store: Store) -> None:
        command = Create(actor="ada", namespace=NAMESPACE, definition=define(), first="now")
        changed = await change(store, command, 10)
        [run] = await runs_of(store)
        assert list(changed.run_ids) == [run.id]
        assert (run.origin, run.scheduled_for, run.due_at) == ("manual", None, later(10))
        assert (changed.schedule.cursor.runs_planned, await looks_next(store)) == (0, 60)

    @pytest.mark.parametrize("payload", PAYLOADS, ids=["empty", "text", "nested", "numbers", "100kB"])
    async def test_payloads_come_back_as_they_were(self, store: Store, payload: dict[str, Any]) -> None:
        schedule = await create(store, payload=payload)
        assert (await get(store)).definition == schedule.definition
        await change(store, Trigger(actor="ada", payload=payload), 10)
        await plan(store, 60)
        for run in await runs_of(store):
            assert run.payload == payload
        found = await store.leases.claim(
            a_worker(), 9, 60, queues=("default",), targets=[("task", "work")], now=later(60)
        )
        assert [claimed.payload for claimed in found.runs] == [payload]

    async def test_definitions_come_back_as_they_were(self, store: Store) -> None:
        definition = define(
            every(minutes=5, anchor=later(30)),
            payload={"a": [1, {"b": None}]},
            description="five “minutes” 🐦",
            tags=("x", "y"),
            queue="q",
            priority=-5,
            catch_up="all",
            catch_up_limit=7,
            grace=0,
            start_within=90,
            overlap="queue",
            max_concurrent=4,
            spread=60,
            start_at=later(100),
            end_at=later(100_000),
            max_runs=12,
            retries=3,
            timeout=30,
            on_crash="fail",
        )
        await change(store, Create(actor="ada", namespace=NAMESPACE, definition=definition), 0)
        assert (await get(store)).definition == definition


def _fields(command: Command) -> dict[str, Any]:
    return {name: getattr(command, name) for name in command.__dataclass_fields__}
