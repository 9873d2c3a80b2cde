"""Pruning: only old final runs outside of the newest ones are deleted, and ticks stay decided."""

from __future__ import annotations

from conformance.steps import (
    NAMESPACE,
    YEAR,
    change,
    claim,
    create,
    define,
    enqueue,
    finish,
    later,
    plan,
    plan_all,
    ranges,
    read,
    runs_of,
    since,
    start,
    ticks,
    work_off,
)
from tickbird.domain.planning.commands.define import SyncFromCode, Update
from tickbird.domain.planning.commands.pause import Pause, Resume
from tickbird.domain.planning.commands.run import Trigger
from tickbird.domain.schedules.schedule import MIN_REVISIONS_KEPT
from tickbird.store.protocol.store import Store

DAY = 86_400


async def prune(store: Store, at: float, *, older_than: float = DAY, keep: int = 0, limit: int = 1_000) -> None:
    """Prune until nothing is left to prune."""
    for _ in range(1_000):
        if not await store.runs.prune(older_than=older_than, keep=keep, limit=limit, now=later(at)):
            return
    raise AssertionError("pruning does not come to an end")


class Prune:
    """By age, and by count per schedule."""

    async def test_old_final_runs_are_pruned_with_their_rows(self, store: Store) -> None:
        gone = await enqueue(store, 0, payload={"n": 1})
        await finish(store, await start(store, 1), 2, "queued")
        await finish(store, await start(store, 3), 4, "failed", error="no")
        kept = await enqueue(store, DAY, payload={"n": 2})
        await finish(store, await start(store, DAY), DAY)
        await prune(store, DAY + 100)
        assert await store.runs.get(gone) is None
        assert list(await store.runs.list_attempts(gone)) == []
        assert (await read(store, kept)).payload == {"n": 2}

    async def test_age_counts_from_the_end(self, store: Store) -> None:
        await enqueue(store)
        run = await start(store, 1, lease=YEAR)
        await finish(store, run, 5 * DAY)
        await prune(store, 5 * DAY + 100)
        assert await store.runs.get(run.id) is not None
        await prune(store, 6 * DAY + 1)
        assert await store.runs.get(run.id) is None

    async def test_active_runs_are_not_pruned(self, store: Store) -> None:
        await create(store, catch_up="all")
        await plan_all(store, 330)
        await enqueue(store, 400, queue="unserved")
        await start(store, 401)
        await prune(store, YEAR)
        assert [run.status for run in await runs_of(store)] == ["running"] + ["waiting"] * 4
        assert len(await store.runs.list(NAMESPACE)) == 6

    async def test_the_newest_of_each_schedule_stay(self, store: Store) -> None:
        for name in ("a", "b"):
            await create(store, name)
        for number in range(1, 7):
            await plan(store, number * 60)
            await work_off(store, number * 60)
        loose = await enqueue(store, 400)
        await work_off(store, 401)
        await prune(store, YEAR, keep=2)
        for name in ("a", "b"):
            assert [since(run.scheduled_for) for run in await runs_of(store, name)] == [300, 360]
        assert await store.runs.get(loose) is None

    async def test_prune_deletes_at_most_the_limit_oldest_first(self, store: Store) -> None:
        ids = []
        for number in range(10):
            ids.append(await enqueue(store, number))
            await work_off(store, number)
        assert await store.runs.prune(older_than=DAY, keep=0, limit=3, now=later(YEAR)) > 0
        left = [run_id for run_id in ids if await store.runs.get(run_id)]
        assert left == ids[10 - len(left) :]
        assert 7 <= len(left) < 10
        await prune(store, YEAR, limit=3)
        assert list(await store.runs.list(NAMESPACE)) == []

    async def test_nothing_to_prune(self, store: Store) -> None:
        assert await store.runs.prune(older_than=DAY, keep=0, now=later(0)) == 0

    async def test_a_pruned_tick_never_runs_again(self, store: Store) -> None:
        await create(store)
        for at_ in (60, 120):
            await plan(store, at_)
            await work_off(store, at_)
        await prune(store, 10 * DAY)
        assert await ticks(store) == []
        for at_ in (60, 120, 130):
            assert (await plan(store, at_)).runs == 0
        assert await ticks(store) == []

    async def test_the_last_skip_stays_and_can_be_extended(self, store: Store) -> None:
        await create(store)
        await plan(store, 60)
        [run] = (await claim(store, 60, lease=YEAR)).runs
        await plan(store, 120)
        await prune(store, 10 * DAY)
        assert await ranges(store) == [("overlap", 120, 120, 1)]
        await plan(store, 180)
        assert await ranges(store) == [("overlap", 120, 180, 2)]
        assert (await read(store, run)).status == "running"

    async def test_definitions_of_kept_runs_stay(self, store: Store) -> None:
        await create(store, payload={"n": 1})
        await plan(store, 60)
        await prune(store, YEAR)
        [found] = (await claim(store, YEAR)).runs
        assert found.definition is not None
        assert found.payload == {"n": 1}

    async def test_old_skips_and_audit_rows_go_too(self, store: Store) -> None:
        schedule = await create(store)
        for at_ in (60, 120, 180, 240, 300):
            await plan(store, at_)
            if at_ in (120, 240):
                await work_off(store, at_)
        assert await ranges(store) == [("overlap", 120, 120, 1), ("overlap", 240, 240, 1)]
        await prune(store, YEAR)
        assert await ranges(store) == [("overlap", 240, 240, 1)]
        assert list(await store.ledger.list_audit(NAMESPACE)) == []
        assert len(await store.schedules.list_revisions(schedule.id)) == 1

    async def test_old_revisions_go_unless_they_are_in_use(self, store: Store) -> None:
        """A run, and a retry of a run that is gone, keep the revision that they are executed with."""
        schedule = await create(store, payload={"n": 1})
        waiting = retried = 0
        for number in range(2, MIN_REVISIONS_KEPT + 52):
            await change(store, Update(actor="ada", fields={"payload": {"n": number}}), number / 10)
            if number == 20:
                await change(store, Trigger(actor="ada"), number / 10)
                run = await start(store, number / 10)
                await finish(store, run, number / 10)
                retried = (await change(store, Trigger(actor="ada", retry_of=run.id), number / 10)).run_ids[0]
                await finish(store, await start(store, number / 10), number / 10, "queued", delay=YEAR)
            if number == 30:
                waiting = (await change(store, Trigger(actor="ada"), number / 10)).run_ids[0]
        newest = set(range(52, MIN_REVISIONS_KEPT + 52))
        await prune(store, DAY, older_than=2 * DAY)
        assert len(await store.schedules.list_revisions(schedule.id, limit=1_000)) == MIN_REVISIONS_KEPT + 51
        await prune(store, YEAR, limit=7)
        kept = {each.revision for each in await store.schedules.list_revisions(schedule.id, limit=1_000)}
        # The first one says who created it.
        assert kept == {1, 20, 30} | newest
        assert (await read(store, retried)).payload == {"n": 20}
        assert (await read(store, waiting)).payload == {"n": 30}
        for run_id, payload in ((retried, {"n": 20}), (waiting, {"n": 30})):
            [claimed] = (await claim(store, 2 * YEAR)).runs
            assert (claimed.id, claimed.payload, claimed.definition is not None) == (run_id, payload, True)
            await finish(store, claimed, 2 * YEAR)

    async def test_revisions_that_code_declared_stay(self, store: Store) -> None:
        """A fingerprint that was seen before does not win against live workers, however long ago it was seen."""
        schedule = await create(store, app="app", fingerprint="one")
        declared = SyncFromCode(actor="ada", definition=define(priority=2), app="app", fingerprint="two")
        await change(store, declared, 1)
        for number in range(MIN_REVISIONS_KEPT):
            await change(store, (Pause if number % 2 == 0 else Resume)(actor="ada"), 2 + number / 10)
        await prune(store, YEAR)
        kept = [each.revision for each in await store.schedules.list_revisions(schedule.id, limit=1_000)]
        assert kept == [*range(MIN_REVISIONS_KEPT + 2, 0, -1)]
        for number in range(MIN_REVISIONS_KEPT):
            await change(store, (Pause if number % 2 == 0 else Resume)(actor="ada"), 20 + number / 10)
        await prune(store, YEAR)
        kept = [each.revision for each in await store.schedules.list_revisions(schedule.id, limit=1_000)]
        assert kept == [*range(2 * MIN_REVISIONS_KEPT + 2, MIN_REVISIONS_KEPT + 2, -1), 2, 1]
        [stored] = (await store.schedules.list_of_app(NAMESPACE, "app", ())).values()
        assert stored.fingerprints == {"one", "two"}
