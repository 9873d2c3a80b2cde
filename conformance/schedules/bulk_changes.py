"""Bulk changes: equal to single changes in order, and atomic."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from conformance.capabilities import needs
from conformance.steps import (
    MINUTE,
    NAMESPACE,
    change,
    create,
    define,
    get,
    later,
    plan_all,
    ranges,
    runs_of,
    since,
    start,
)
from tickbird.domain.calendars.calendar import Calendar
from tickbird.domain.errors import ConflictError, DefinitionError, NotFoundError, StaleError
from tickbird.domain.limits.rate_limits import RateLimit
from tickbird.domain.planning.changes import CalendarUpdate, ChangeSet
from tickbird.domain.planning.commands.base import Command
from tickbird.domain.planning.commands.define import Create, Delete, SyncFromCode, Update
from tickbird.domain.planning.commands.pause import Pause, Resume
from tickbird.domain.schedules.codec import fingerprint
from tickbird.domain.schedules.dependencies import After
from tickbird.domain.triggers.every import every
from tickbird.domain.triggers.trigger import Trigger, at
from tickbird.store.protocol.store import Store

HOUR = every(hours=1)


def declare(trigger: Trigger = MINUTE, **policies: Any) -> Create:
    """A new schedule of an app."""
    definition = define(trigger, **policies)
    return Create(
        actor="bo", namespace=NAMESPACE, definition=definition, app="files", fingerprint=fingerprint(definition)
    )


def declare_anew(revision: int | None, trigger: Trigger = MINUTE, **policies: Any) -> SyncFromCode:
    """Another definition of an app's schedule."""
    definition = define(trigger, **policies)
    return SyncFromCode(
        actor="bo", revision=revision, definition=definition, app="files", fingerprint=fingerprint(definition)
    )


async def apply_changes(store: Store, at: float, *commands: tuple[str, Command], **others: Any) -> None:
    """Apply all changes, in seconds after T0."""
    await store.bulk_changes.apply(NAMESPACE, ChangeSet(commands=commands, **others), "bo", now=later(at))


async def actions(store: Store) -> list[tuple[str | None, str, str]]:
    """Audit entries of schedules, oldest first."""
    found = await store.ledger.list_audit(NAMESPACE, limit=1_000)
    return [(row.schedule, row.action, row.actor) for row in reversed(found)]


class BulkChanges:
    """apply_changes."""

    async def test_many_schedules_are_created_at_once_and_tick(self, store: Store) -> None:
        names = [f"s{number:03}" for number in range(120)]
        await apply_changes(store, 0, *((name, declare(payload={"n": name}, priority=3)) for name in names))
        first = await get(store, "s000")
        assert (first.revision, first.state, first.app, first.fingerprint) == (
            1,
            "active",
            "files",
            fingerprint(define(payload={"n": "s000"}, priority=3)),
        )
        assert (since(first.cursor.planned_until), since(first.cursor.next_run_at)) == (0, 60)
        assert first.created_at == first.changed_at == later(0)
        assert await plan_all(store, 60) == (120, 0)
        run = await start(store, 60)
        assert (run.payload["n"], run.priority) == (run.schedule, 3)
        assert await actions(store) == [(name, "create", "bo") for name in names]
        [revision] = await store.schedules.list_revisions(first.id)
        assert (revision.revision, revision.action, revision.actor) == (1, "create", "bo")
        assert revision.detail["definition"] == revision.definition == first.definition_json

    async def test_bulk_change_equals_single_changes(self, store: Store) -> None:
        for name in ("kept", "moved", "gone", "paused"):
            await create(store, name, app="files")
        await apply_changes(
            store,
            90,
            ("kept", declare_anew(1, retries=2)),
            ("moved", declare_anew(1, HOUR)),
            ("gone", Delete(actor="bo", revision=1)),
            ("paused", Pause(actor="bo", revision=1, note="n")),
            ("new", declare()),
        )
        # What was due came first, under the old revision.
        for name in ("kept", "moved", "gone", "paused"):
            [run] = await runs_of(store, name)
            assert (since(run.scheduled_for), run.revision) == (60, 1)
        kept, moved, gone, paused, new = [await get(store, name) for name in ("kept", "moved", "gone", "paused", "new")]
        assert (kept.revision, kept.definition_json["retries"], since(kept.cursor.next_run_at)) == (2, 2, 120)
        assert (moved.revision, since(moved.cursor.planned_until), since(moved.cursor.next_run_at)) == (2, 90, 3_600)
        assert (gone.state, paused.state, new.state) == ("deleted", "paused", "active")
        assert paused.pause is not None
        assert paused.pause.note == "n"
        assert since(new.cursor.next_run_at) == 120
        done = [row for row in await actions(store) if row[2] == "bo"]
        assert done == [
            ("kept", "sync", "bo"),
            ("moved", "sync", "bo"),
            ("gone", "delete", "bo"),
            ("paused", "pause", "bo"),
            ("new", "create", "bo"),
        ]

    async def test_several_changes_of_one_schedule_come_in_their_order(self, store: Store) -> None:
        await create(store, "a", app="files")
        await change(store, Pause(actor="ada"), 1, name="a")
        await apply_changes(store, 5, ("a", declare_anew(2, HOUR)), ("a", Resume(actor="bo", revision=3)))
        schedule = await get(store, "a")
        assert (schedule.revision, schedule.state, schedule.pause) == (4, "active", None)
        assert schedule.definition_json["trigger"] == {"every": {"hours": 1}}

    async def test_an_override_and_a_pause_outlive_it(self, store: Store) -> None:
        await create(store, "a", app="files")
        await change(store, Update(actor="ada", fields={"retries": 7}), 1, name="a")
        await change(store, Pause(actor="ada", note="broken"), 2, name="a")
        await apply_changes(store, 5, ("a", declare_anew(3, retries=1, priority=4)), ("b", declare()))
        schedule = await get(store, "a")
        assert (
            schedule.definition_json["retries"],
            schedule.definition_json["priority"],
            schedule.field_overrides,
        ) == (7, 4, {"retries": 7})
        assert schedule.state == "paused"
        assert schedule.pause is not None
        assert schedule.pause.by == "ada"
        [newest, *_] = await store.schedules.list_revisions(schedule.id)
        assert newest.detail["declared"]["retries"] == 1

    @pytest.mark.parametrize(
        "command, error",
        [
            (declare(), ConflictError),
            (declare_anew(7), StaleError),
            (declare_anew(None, calendars=("nowhere",)), DefinitionError),
            (declare_anew(None, depends_on=(After("nothing", 60),)), DefinitionError),
        ],
    )
    @needs("calendars", "limits", "queues")
    async def test_all_or_none(self, store: Store, command: Command, error: type[Exception]) -> None:
        await create(store, "there", app="files")
        calendar = CalendarUpdate("fest", {"weekdays": ["sun"]}, Calendar(weekdays=frozenset({6})), {})
        commands = [*((f"s{n}", declare()) for n in range(3)), ("there", command), ("z", declare())]
        with pytest.raises(error):
            await apply_changes(
                store, 90, *commands, calendars=[calendar], limits={"k": 2}, queues={"mail": RateLimit(1, 60)}
            )
        assert [row.schedule.name for row in await store.schedules.list(NAMESPACE)] == ["there"]
        assert (await get(store, "there")).revision == 1
        assert await runs_of(store, "there") == []
        assert (await store.calendars.list(NAMESPACE), await store.limits.list(NAMESPACE)) == ([], [])
        assert await store.queues.list(NAMESPACE) == []
        assert len(await actions(store)) == 1
        # Nothing of it is remembered either.
        assert await plan_all(store, 90) == (1, 0)

    async def test_missing_schedule_rolls_back_the_whole_change(self, store: Store) -> None:
        with pytest.raises(NotFoundError):
            await apply_changes(store, 0, ("a", declare()), ("b", declare_anew(1)))
        assert await store.schedules.get(NAMESPACE, "a") is None

    @needs("calendars", "limits", "queues")
    async def test_settings_come_before_the_schedules_that_need_them(self, store: Store) -> None:
        calendar = CalendarUpdate("fest", {"weekdays": ["thu"]}, Calendar(weekdays=frozenset({3})), {})
        await apply_changes(
            store,
            0,
            ("a", declare(calendars=("fest",))),
            calendars=[calendar],
            limits={"k": 2},
            queues={"mail": RateLimit(5, 60)},
        )
        assert (await get(store, "a")).definition_json["closed"] == {"fest": ["thu"]}
        [limit] = await store.limits.list(NAMESPACE)
        assert (limit.key, limit.max_running, limit.is_explicit) == ("k", 2, True)
        [queue] = await store.queues.list(NAMESPACE)
        assert (queue.name, queue.rate) == ("mail", RateLimit(5, 60))
        found = [action for _, action, _ in await actions(store)]
        assert found == ["put_calendar", "limit", "rate", "create"]

    async def test_schedules_may_depend_on_each_other(self, store: Store) -> None:
        needing: dict[str, Any] = {"depends_on": (After("load", 3_600),)}
        await apply_changes(store, 0, ("load", declare()), ("report", declare(**needing)))
        assert await plan_all(store, 60) == (1, 1)
        assert [reason for reason, *_ in await ranges(store, "report")] == ["dependency"]
        with pytest.raises(ConflictError, match="report depends on it"):
            await apply_changes(store, 70, ("load", Delete(actor="bo")), ("report", Delete(actor="bo")))
        await apply_changes(store, 70, ("report", Delete(actor="bo")), ("load", Delete(actor="bo")))
        assert await store.schedules.list(NAMESPACE) == []
        with pytest.raises(DefinitionError, match="depend on itself"):
            await apply_changes(
                store,
                80,
                ("a", declare()),
                ("b", declare(depends_on=(After("a", 60),))),
                ("a", declare_anew(1, depends_on=(After("b", 60),))),
            )

    async def test_schedule_that_is_not_due_keeps_its_cursor(self, store: Store) -> None:
        for name in ("kept", "moved", "gone"):
            await create(store, name, HOUR, app="files")
        await apply_changes(
            store,
            90,
            ("kept", declare_anew(1, HOUR, retries=2)),
            ("moved", declare_anew(1, retries=2)),
            ("gone", Delete(actor="bo", revision=1)),
        )
        kept, moved, gone = [await get(store, name) for name in ("kept", "moved", "gone")]
        assert (kept.revision, since(kept.cursor.planned_until), since(kept.cursor.next_run_at)) == (2, 0, 3_600)
        assert (moved.revision, since(moved.cursor.planned_until), since(moved.cursor.next_run_at)) == (2, 90, 120)
        assert (gone.state, gone.fingerprint, gone.cursor.next_run_at) == ("deleted", None, None)
        assert kept.changed_at == later(90)
        [newest, oldest] = await store.schedules.list_revisions(kept.id)
        assert (newest.action, newest.detail["before"], newest.definition) == (
            "sync",
            oldest.definition,
            kept.definition_json,
        )
        assert newest.fingerprint == kept.fingerprint == fingerprint(define(HOUR, retries=2))
        assert await plan_all(store, 120) == (1, 0)

    async def test_deleted_schedule_continues_after_decided_ticks(self, store: Store) -> None:
        await create(store, "a", app="files")
        await plan_all(store, 60)
        await change(store, Delete(actor="ada"), 70, name="a")
        await apply_changes(store, 80, ("a", declare(overlap="allow")), ("b", declare()))
        again = await get(store, "a")
        assert (again.state, again.revision, since(again.cursor.planned_until)) == ("active", 3, 80)
        await plan_all(store, 120)
        assert [since(run.scheduled_for) for run in await runs_of(store, "a")] == [60, 120]

    async def test_schedule_without_future_ticks_is_a_misfire(self, store: Store) -> None:
        await apply_changes(store, 100, ("once", declare(at(later(50)))), ("next", declare(at(later(150)))))
        assert (await get(store, "once")).state == "ended"
        assert [reason for reason, *_ in await ranges(store, "once")] == ["misfire"]
        assert await plan_all(store, 150) == (1, 0)

    async def test_bulk_change_respects_concurrency_slots(self, store: Store) -> None:
        both: dict[str, Any] = {"concurrency_key": "k", "overlap": "allow"}
        await apply_changes(store, 0, ("a", declare(**both)), ("b", declare(**both)))
        await plan_all(store, 60)
        await apply_changes(
            store, 120, ("a", declare_anew(1, retries=1, **both)), ("b", declare_anew(1, retries=1, **both))
        )
        statuses = sorted(run.status for run in [*await runs_of(store, "a"), *await runs_of(store, "b")])
        assert statuses == ["queued", "waiting", "waiting", "waiting"]

    async def test_concurrent_bulk_changes_do_not_mix(self, store: Store, other: Store) -> None:
        names = [f"s{number:02}" for number in range(40)]
        done = await asyncio.gather(
            apply_changes(store, 0, *((name, declare(priority=1)) for name in names)),
            apply_changes(other, 0, *((name, declare(priority=2)) for name in reversed(names))),
            return_exceptions=True,
        )
        assert sorted(type(each).__name__ for each in done) == ["ConflictError", "NoneType"]
        rows = await store.schedules.list(NAMESPACE)
        assert [row.schedule.name for row in rows] == names
        assert len({row.schedule.definition_json["priority"] for row in rows}) == 1
        assert len(await actions(store)) == 40
        # A planner that runs meanwhile blocks no other.
        planned, changed = await asyncio.gather(
            plan_all(other, 60),
            apply_changes(store, 60, *((name, declare_anew(1, retries=1)) for name in names)),
            return_exceptions=True,
        )
        assert (isinstance(planned, tuple), changed) == (True, None)
        for name in names:
            assert [(since(run.scheduled_for), run.origin) for run in await runs_of(store, name)] == [(60, "schedule")]
            assert (await get(store, name)).revision == 2

    async def test_progress_is_reported(self, store: Store) -> None:
        told: list[int] = []
        changes = ChangeSet(commands=[(f"s{number}", declare()) for number in range(7)])
        await store.bulk_changes.apply(NAMESPACE, changes, "bo", counted=told.append, now=later(0))
        assert told
        assert told == sorted(told)
        assert told[-1] == 7

    async def test_empty_change_set_changes_nothing(self, store: Store) -> None:
        await apply_changes(store, 0)
        assert await actions(store) == []
