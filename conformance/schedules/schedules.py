"""Reading schedules: one, or a paged and filtered list with their status."""

from __future__ import annotations

from conformance.schedules.plain_sql import Plain, raw
from conformance.steps import (
    NAME,
    NAMESPACE,
    change,
    create,
    finish,
    get,
    later,
    plan,
    runs_of,
    since,
    start,
)
from tickbird.domain.planning.commands.define import Delete
from tickbird.domain.planning.commands.pause import Pause
from tickbird.domain.planning.commands.run import Trigger
from tickbird.domain.runs.run import Status
from tickbird.domain.schedules.schedule import State
from tickbird.domain.triggers.cron.cron import cron
from tickbird.domain.triggers.trigger import at
from tickbird.store.protocol.store import Store


class Schedules:
    """Lists, filters and streaks."""

    async def test_migrating_again_applies_nothing(self, store: Store) -> None:
        assert list(await store.migrate()) == []

    async def test_the_address_shows_no_password(self, store: Store) -> None:
        assert store.url
        assert "secret" not in store.url

    async def test_unknown_schedule_is_none(self, store: Store) -> None:
        assert await store.schedules.get(NAMESPACE, NAME) is None
        assert list(await store.schedules.list(NAMESPACE)) == []

    async def test_lists_are_sorted_and_paged_by_name(self, store: Store) -> None:
        names = ["b", "a", "c-1", "c.2", "c_3", "B", "a10", "a2"]
        for name in names:
            await create(store, name)
        await create(store, "z", namespace="elsewhere")
        found = [row.schedule.name for row in await store.schedules.list(NAMESPACE)]
        assert sorted(found) == sorted(names)
        paged: list[str] = []
        while page := await store.schedules.list(NAMESPACE, after=paged[-1] if paged else "", limit=3):
            assert len(page) <= 3
            paged += [row.schedule.name for row in page]
        assert paged == found

    async def test_rows_show_whole_schedules(self, store: Store) -> None:
        await create(store, tags=("x",), payload={"n": 1})
        [row] = await store.schedules.list(NAMESPACE)
        assert row.schedule == await get(store)
        assert (row.last_run, row.failure_streak) == (None, 0)

    async def test_lists_filter_by_part_of_the_name(self, store: Store) -> None:
        for name in ("daily_report", "daily-report", "weekly", "x.daily"):
            await create(store, name)
        for part, expected in (
            ("daily", ["daily-report", "daily_report", "x.daily"]),
            ("y_r", ["daily_report"]),
            ("%", []),
            ("nothing", []),
        ):
            found = await store.schedules.list(NAMESPACE, contains=part)
            assert sorted(row.schedule.name for row in found) == expected, part

    async def test_lists_filter_by_tag(self, store: Store) -> None:
        await create(store, "a", tags=("red", "blue"))
        await create(store, "b", tags=("blue",))
        await create(store, "c", tags=("bluer",))
        for tag, expected in (("red", ["a"]), ("blue", ["a", "b"]), ("green", [])):
            assert [row.schedule.name for row in await store.schedules.list(NAMESPACE, tag=tag)] == expected

    async def test_lists_filter_by_state(self, store: Store) -> None:
        for name in ("active", "paused", "deleted"):
            await create(store, name)
        await create(store, "ended", at(later(30)))
        await change(store, Pause(actor="ada"), 10, name="paused")
        await change(store, Delete(actor="ada"), 10, name="deleted")
        await plan(store, 30)
        found = [row.schedule.name for row in await store.schedules.list(NAMESPACE)]
        assert found == ["active", "ended", "paused"]
        states: tuple[State, ...] = ("active", "paused", "ended", "deleted")
        for state in states:
            rows = await store.schedules.list(NAMESPACE, state=state)
            assert [row.schedule.name for row in rows] == [state]
        assert list(await store.schedules.list(NAMESPACE, state="parked")) == []

    async def test_a_row_shows_the_newest_run_and_the_streak(self, store: Store) -> None:
        await create(store, "failing")
        await create(store, "other")
        streaks: list[int] = []
        ends: tuple[Status, ...] = ("failed", "failed", "failed", "succeeded", "failed")
        for number, status in enumerate(ends, start=1):
            await plan(store, number * 60)
            for _ in range(2):
                run = await start(store, number * 60 + 1)
                await finish(store, run, number * 60 + 2, status if run.schedule == "failing" else "succeeded")
            rows = await store.schedules.list(NAMESPACE)
            assert [row.schedule.name for row in rows] == ["failing", "other"]
            streaks.append(rows[0].failure_streak)
            assert rows[1].failure_streak == 0
            for name, row in zip(("failing", "other"), rows, strict=True):
                assert row.last_run == (await runs_of(store, name))[-1]
        assert streaks == [1, 2, 3, 0, 1]

    async def test_a_row_shows_when_it_last_ran_and_enqueued(self, store: Store) -> None:
        await create(store, overlap="queue")

        async def last() -> tuple[int | None, int | None, int | None]:
            [row] = await store.schedules.list(NAMESPACE)
            return row.last_run_id, since(row.last_run_at), since(row.last_enqueued_at)

        assert await last() == (None, None, None)
        await plan(store, 60)
        [first] = await runs_of(store)
        assert await last() == (first.id, None, 60)
        first = await start(store, 65)
        assert await last() == (first.id, 65, 60)
        await plan(store, 120)
        second = (await runs_of(store))[-1]
        assert await last() == (second.id, 65, 120)
        # Another attempt is another start.
        await finish(store, first, 130, "queued", failures=1)
        first = await start(store, 140)
        assert await last() == (second.id, 140, 120)
        await finish(store, first, 150)
        await store.runs.cancel(second.id, "ada", now=later(151))
        assert await last() == (second.id, 140, 120)

    async def test_row_shows_the_last_start_with_a_long_backlog(self, store: Store) -> None:
        await create(store, overlap="allow")
        await plan(store, 60)
        await finish(store, await start(store, 65), 66)
        for number in range(120):
            await change(store, Trigger(actor="ada"), 70 + number / 100)
        [row] = await store.schedules.list(NAMESPACE)
        assert (since(row.last_run_at), since(row.last_enqueued_at)) == (65, 71)

    async def test_row_shows_target_and_enabled(self, store: Store, plain: Plain) -> None:
        await create(store, "cron", cron("0 9 * * MON-FRI", tz="Europe/Berlin"))
        await create(store, "every", overlap="allow")
        await create(store, "paused")
        await change(store, Pause(actor="ada"), 10, name="paused")
        await create(store, "ended", at(later(30)))
        await plan(store, 30)
        await plain.insert(NAMESPACE, "parked", raw(trigger={"cron": "61 * * * *"}, target={"task": "work"}))
        await store.planning.plan_due()
        rows = [row.schedule for row in await store.schedules.list(NAMESPACE)]
        assert [(s.name, s.state, s.enabled, s.kind, s.cron_spec, s.burst_allowed) for s in rows] == [
            ("cron", "active", True, "task", "0 9 * * MON-FRI", False),
            ("ended", "ended", True, "task", None, False),
            ("every", "active", True, "task", None, True),
            ("parked", "parked", True, None, "61 * * * *", False),
            ("paused", "paused", False, "task", None, False),
        ]

    async def test_a_deleted_schedule_is_found_by_name(self, store: Store) -> None:
        await create(store)
        await change(store, Delete(actor="ada"), 10)
        assert (await get(store)).state == "deleted"
