"""What happens, told in one order: nothing twice, nothing not at all, whoever commits when."""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta

from conformance.steps import (
    NAME,
    NAMESPACE,
    change,
    create,
    enqueue,
    finish,
    later,
    plan,
    since,
    start,
)
from tickbird.domain.ledger.activity import ActivityCursor, ActivityPage
from tickbird.domain.planning.commands.pause import Pause, Resume
from tickbird.domain.runs.run import NewRun
from tickbird.domain.schedules.definition import Target
from tickbird.store.protocol.store import Store


async def begin(store: Store, at: float = 0) -> ActivityCursor:
    """The place behind all that has happened by then."""
    return (await store.activity.watermark(now=later(at))).cursor


async def told(
    store: Store, after: ActivityCursor, at: float, namespaces: Collection[str] = (NAMESPACE,), limit: int = 20_000
) -> ActivityPage:
    """What happened behind a place up to so many seconds after T0."""
    return await store.activity.read(namespaces, after, await store.activity.watermark(now=later(at)), limit=limit)


def brief(read_activity: ActivityPage) -> list[tuple[int | None, str]]:
    """Seconds after T0 and the kind of each."""
    assert not read_activity.more
    return [(since(each.at), each.kind) for _, each in read_activity.items]


class ActivityFeed:
    """Following everything from mark to mark."""

    async def test_all_that_happens_is_told_in_order(self, store: Store, other: Store) -> None:
        mark = await begin(store, -1)
        await create(store, at=0)
        await plan(store, 60)
        run = await start(store, 61)
        await finish(store, run, 62, "queued", error="no", failures=1, delay=5)
        run = await start(store, 70)
        await plan(store, 120)
        await finish(store, run, 130)
        found = await told(other, mark, 130)
        assert brief(found) == [
            (0, "changed"),
            (60, "planned"),
            (61, "started"),
            (62, "requeued"),
            (70, "started"),
            (120, "skipped"),
            (130, "ended"),
        ]
        [changed, planned, *_, skipped, ended] = [each for _, each in found.items]
        assert changed.audit is not None
        assert (changed.audit.action, changed.audit.actor, changed.schedule) == ("create", "ada", NAME)
        assert planned.run is not None
        assert (planned.run.id, planned.run.status, planned.schedule) == (run.id, "succeeded", NAME)
        assert skipped.skip is not None
        assert (skipped.skip.reason, skipped.schedule) == ("overlap", NAME)
        assert ended.run is not None
        assert {each.namespace for _, each in found.items} == {NAMESPACE}

    async def test_from_every_mark_the_rest_is_told(self, store: Store) -> None:
        mark = await begin(store, -1)
        await create(store, at=0)
        # Many at once, so that they share their instant.
        runs = [NewRun(Target("work"), {}) for _ in range(4)]
        await store.runs.enqueue(NAMESPACE, runs, "ada", now=later(1))
        for at in (2, 2, 3):
            await finish(store, await start(store, at), at)
        await change(store, Pause(actor="ada"), 4)
        await change(store, Resume(actor="ada"), 5)
        whole = await told(store, mark, 10)
        assert len(whole.items) >= 13
        for number, (place, _) in enumerate(whole.items, 1):
            assert brief(await told(store, place, 10)) == brief(whole)[number:]
        assert brief(await told(store, (await store.activity.watermark(now=later(10))).cursor, 20)) == []

    async def test_starts_and_ends_are_told_once_though_the_row_goes_on(self, store: Store) -> None:
        mark = await begin(store, -1)
        await enqueue(store, 0)
        seen = []
        run = None
        for at in range(8):
            if at == 2:
                run = await start(store, at)
            elif at == 5 and run is not None:
                await finish(store, run, at)
            until = await store.activity.watermark(now=later(at))
            found = await store.activity.read((NAMESPACE,), mark, until)
            seen += brief(found)
            mark = until.cursor
        assert [each for each in seen if each[1] != "changed"] == [(0, "planned"), (2, "started"), (5, "ended")]

    async def test_what_is_dated_behind_the_horizon_waits_for_the_next_look(self, store: Store) -> None:
        mark = await begin(store, -1)
        await enqueue(store, 0)
        run = await start(store, 2)
        until = await store.activity.watermark(now=later(3))
        # It ends before the look, but behind the horizon: its start is told of all the same.
        await finish(store, run, 4)
        found = [each for each in brief(await store.activity.read((NAMESPACE,), mark, until)) if each[1] != "changed"]
        assert found == [(0, "planned"), (2, "started")]
        assert brief(await told(store, until.cursor, 5)) == [(4, "ended")]

    async def test_only_the_namespaces_asked_for_are_told_of(self, store: Store) -> None:
        mark = await begin(store, -1)
        for number, namespace in enumerate(("a", "b", "c")):
            await create(store, at=number, namespace=namespace)
            await enqueue(store, number, namespace=namespace)
        await plan(store, 60)
        await plan(store, 120)
        found = await told(store, mark, 120, ("a", "c", "nowhere"))
        assert {each.namespace for _, each in found.items} == {"a", "c"}
        assert {each.kind for _, each in found.items} == {"changed", "planned", "skipped"}
        assert (await told(store, mark, 120, ())).items == ()

    async def test_too_much_is_not_told_at_all(self, store: Store) -> None:
        mark = await begin(store, -1)
        for number in range(4):
            await enqueue(store, number)
        assert (await told(store, mark, 10, limit=4)).more
        assert len((await told(store, mark, 10, limit=9)).items) >= 4

    async def test_what_is_told_has_no_payload(self, store: Store) -> None:
        mark = await begin(store, -1)
        await enqueue(store, 0, payload={"secret": "x" * 1_000})
        run = await start(store, 1)
        await finish(store, run, 2, result={"large": True})
        for _, each in (await told(store, mark, 3)).items:
            assert each.run is None or (each.run.payload, each.run.result) == ({}, None)

    async def test_by_its_own_clock_everything_is_told_at_last(self, store: Store, other: Store) -> None:
        until = await store.activity.watermark()
        made = await other.runs.enqueue(NAMESPACE, [NewRun(Target("work"), {})], "ada")
        mark = until.cursor
        seen: list[int] = []
        end = await store.now() + timedelta(seconds=30)
        while not seen and await store.now() < end:
            until = await store.activity.watermark(until)
            found = await store.activity.read((NAMESPACE,), mark, until)
            seen += [each.run.id for _, each in found.items if each.run is not None]
            mark = until.cursor
        assert seen == list(made)
