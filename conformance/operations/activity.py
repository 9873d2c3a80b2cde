"""Activity in one order: nothing twice, nothing missing, for any order of commits."""

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
    """The cursor after all activity up to this instant."""
    return (await store.activity.watermark(now=later(at))).cursor


async def told(
    store: Store, after: ActivityCursor, at: float, namespaces: Collection[str] = (NAMESPACE,), limit: int = 20_000
) -> ActivityPage:
    """The activity after a cursor, up to these seconds after T0."""
    return await store.activity.read(namespaces, after, await store.activity.watermark(now=later(at)), limit=limit)


def brief(read_activity: ActivityPage) -> list[tuple[int | None, str]]:
    """Seconds after T0 and the kind of each."""
    assert not read_activity.more
    return [(since(each.at), each.kind) for _, each in read_activity.items]


class ActivityFeed:
    """Following everything from mark to mark."""

    async def test_all_activities_are_delivered_in_order(self, store: Store, other: Store) -> None:
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

    async def test_feed_continues_from_every_cursor(self, store: Store) -> None:
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

    async def test_start_and_end_of_a_run_are_delivered_once(self, store: Store) -> None:
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

    async def test_activity_after_the_watermark_waits_for_the_next_poll(self, store: Store) -> None:
        mark = await begin(store, -1)
        await enqueue(store, 0)
        run = await start(store, 2)
        until = await store.activity.watermark(now=later(3))
        # It ends before the poll, but after the watermark. Its start is reported all the same.
        await finish(store, run, 4)
        found = [each for each in brief(await store.activity.read((NAMESPACE,), mark, until)) if each[1] != "changed"]
        assert found == [(0, "planned"), (2, "started")]
        assert brief(await told(store, until.cursor, 5)) == [(4, "ended")]

    async def test_only_requested_namespaces_are_delivered(self, store: Store) -> None:
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

    async def test_too_many_activities_are_not_delivered(self, store: Store) -> None:
        mark = await begin(store, -1)
        for number in range(4):
            await enqueue(store, number)
        assert (await told(store, mark, 10, limit=4)).more
        assert len((await told(store, mark, 10, limit=9)).items) >= 4

    async def test_activities_have_no_payload(self, store: Store) -> None:
        mark = await begin(store, -1)
        await enqueue(store, 0, payload={"secret": "x" * 1_000})
        run = await start(store, 1)
        await finish(store, run, 2, result={"large": True})
        for _, each in (await told(store, mark, 3)).items:
            assert each.run is None or (each.run.payload, each.run.result) == ({}, None)

    async def test_everything_is_delivered_with_the_store_clock(self, store: Store, other: Store) -> None:
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
