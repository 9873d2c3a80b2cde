"""The cause of a run (`trigger`, `cron_spec`, `metadata`), in every read of a run."""

from __future__ import annotations

from conformance.capabilities import needs
from conformance.operations.activity import begin, told
from conformance.planning.backfills import backfill
from conformance.schedules.plain_sql import Plain
from conformance.steps import NAME, NAMESPACE, change, create, enqueue, finish, later, plan, read, runs_of, start
from tickbird.domain.planning.commands.define import Update
from tickbird.domain.planning.commands.run import Trigger
from tickbird.domain.runs.run import RunMetadata
from tickbird.domain.triggers.cron.cron import cron
from tickbird.store.protocol.store import Store

HOURLY = cron("0 * * * *")


class RunTriggers:
    """`trigger`, `cron_spec` and `metadata`."""

    async def test_run_has_the_cron_expression_of_its_schedule(self, store: Store) -> None:
        await create(store, trigger=HOURLY, overlap="allow")
        await plan(store, 3_600)
        await change(store, Update(actor="ada", fields={"trigger": {"cron": "@daily"}}), 3_700)
        await plan(store, 86_400)
        assert [run.trigger for run in await runs_of(store)] == ["schedule:0 * * * *", "schedule:@daily"]
        assert (await runs_of(store))[0].metadata == RunMetadata("cron", NAME, later(3_600))
        [row] = await store.schedules.list(NAMESPACE)
        assert row.last_run is not None
        assert row.last_run.trigger == "schedule:@daily"

    async def test_a_caught_up_run_names_it_too(self, store: Store) -> None:
        await create(store, trigger=HOURLY)
        await plan(store, 3 * 3_600 + 60)
        [run] = await runs_of(store)
        assert (run.origin, run.trigger) == ("catch_up", "schedule:0 * * * *")
        assert run.metadata == RunMetadata("cron", NAME, later(3_600))

    async def test_a_tick_of_another_trigger_is_of_the_schedule(self, store: Store) -> None:
        await create(store)
        await plan(store, 60)
        [run] = await runs_of(store)
        assert (run.trigger, run.cron_spec) == ("schedule", None)
        assert run.metadata == RunMetadata("schedule", NAME, later(60))

    @needs("backfills")
    async def test_other_runs_name_their_origin(self, store: Store) -> None:
        await create(store, trigger=HOURLY, at=-7_200, overlap="allow", catch_up="skip")
        await plan(store, -30)
        triggered = (await change(store, Trigger(actor="ada"), 10)).run
        assert triggered is not None
        assert (triggered.trigger, triggered.cron_spec) == ("manual", "0 * * * *")
        assert triggered.metadata == RunMetadata("manual", NAME, None)
        assert await read(store, triggered.id) == triggered
        await finish(store, await start(store, 11), 12)
        retried = (await change(store, Trigger(actor="ada", retry_of=triggered.id), 13)).run
        assert retried is not None
        assert (retried.trigger, retried.metadata.trigger_type) == ("retry", "retry")
        await backfill(store, -3_600, -3_600, 20)
        filled = (await runs_of(store))[-1]
        assert (filled.trigger, filled.metadata) == ("backfill", RunMetadata("backfill", NAME, later(-3_600)))
        alone = await read(store, await enqueue(store, 30))
        assert (alone.trigger, alone.metadata) == ("manual", RunMetadata("manual", None, None))

    @needs("activity")
    async def test_activity_feed_has_the_trigger(self, store: Store) -> None:
        mark = await begin(store, -1)
        await create(store, trigger=HOURLY)
        await plan(store, 3_600)
        activities = (await told(store, mark, 3_601)).items
        assert [item.run.trigger for _, item in activities if item.run is not None] == ["schedule:0 * * * *"]

    async def test_a_run_whose_revision_is_broken_or_gone_can_be_read(self, store: Store, plain: Plain) -> None:
        schedule = await create(store, trigger=HOURLY)
        await plan(store, 3_600)
        [run] = await runs_of(store)
        for definition in ('{"trigger": 5}', '{"trigger": {"cron": null}}', "[]"):
            await plain.rewrite_revision(schedule.id, 1, definition)
            assert (await read(store, run)).trigger == "schedule"
        await plain.delete_revision(schedule.id, 1)
        assert (await read(store, run)).trigger == "schedule"
