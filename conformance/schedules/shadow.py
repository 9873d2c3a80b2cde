"""Shadows: every tick is planned and recorded, and nothing runs until one cuts over."""

from __future__ import annotations

import pytest

from conformance.capabilities import needs
from conformance.schedules.plain_sql import Plain
from conformance.steps import (
    MINUTE,
    NAME,
    NAMESPACE,
    a_worker,
    change,
    claim,
    create,
    define,
    epoch,
    get,
    later,
    plan_all,
    ranges,
    skips_of,
    ticks,
)
from tickbird.domain.calendars.calendar import exclude
from tickbird.domain.errors import ConflictError
from tickbird.domain.planning.backfills import NewBackfill
from tickbird.domain.planning.commands.define import Create, SyncFromCode, Update
from tickbird.domain.planning.commands.pause import Pause, Resume
from tickbird.domain.planning.commands.run import Trigger
from tickbird.domain.planning.commands.ticks import Skip
from tickbird.domain.schedules.dependencies import After
from tickbird.domain.workers import HandOff
from tickbird.store.protocol.store import Store

CUT_OVER = Update(actor="ada", fields={"shadow": False})


class Shadows:
    """They are recorded as any other tick is, in one skip as long as nothing else comes between."""

    async def test_a_shadow_records_each_tick_and_runs_nothing(self, store: Store) -> None:
        await create(store, shadow=True, catch_up="all", overlap="replace")
        hand_off = HandOff(a_worker(), 5, 60, ("default",), [("task", "work")])
        for at in (60, 120, 121):
            planned = await store.planning.plan_due(limit=10, hand_off=hand_off, now=later(at))
            assert (planned.runs, list(planned.leased)) == (0, [])
        # However late it is planned, and however much was missed meanwhile.
        await plan_all(store, 3_600)
        assert await ticks(store) == []
        assert await ranges(store) == [("shadow", 60, 3_600, 60)]
        assert (await get(store)).cursor.runs_planned == 0

    async def test_code_without_shadow_support_ignores_shadows(self, store: Store, plain: Plain) -> None:
        shadow = await create(store, shadow=True)
        assert shadow.definition_json["v"] == 3
        await change(store, CUT_OVER, 5)
        real = await get(store)
        # As if it had never been one: older code reads it and plans it.
        assert (real.definition_json["v"], "shadow" in real.definition_json) == (1, False)
        await change(store, Update(actor="ada", fields={"shadow": True}), 6)
        assert (await get(store)).definition_json["v"] == 3
        # By plain SQL it may have any format that is known.
        await plain.redefine(shadow.id, {**real.definition_json, "shadow": True})
        assert (await get(store)).definition_json["v"] == 1
        await plan_all(store, 60)
        assert await ticks(store) == []

    async def test_after_the_cut_over_only_later_ticks_run(self, store: Store) -> None:
        await create(store, shadow=True, catch_up="all")
        await plan_all(store, 60)
        # No worker planned during four ticks. They are decided afterwards, under the same definition.
        await change(store, CUT_OVER, 310)
        assert await ranges(store) == [("shadow", 60, 300, 5)]
        await plan_all(store, 360)
        assert await ticks(store) == [(360, "schedule", "queued")]

    async def test_deploy_can_cut_over(self, store: Store) -> None:
        await create(store, app="files", fingerprint="one", shadow=True)
        await plan_all(store, 60)
        declared = SyncFromCode(actor="ada", definition=define(), app="files", fingerprint="two")
        await change(store, declared, 130)
        await plan_all(store, 180)
        assert await ranges(store) == [("shadow", 60, 120, 2)]
        assert await ticks(store) == [(180, "schedule", "queued")]

    async def test_existing_runs_continue_after_a_change_to_shadow(self, store: Store) -> None:
        await create(store)
        await plan_all(store, 60)
        await change(store, Update(actor="ada", fields={"shadow": True}), 70)
        await plan_all(store, 120)
        assert await ticks(store) == [(60, "schedule", "queued")]
        assert await ranges(store) == [("shadow", 120, 120, 1)]
        assert len((await claim(store, 121)).runs) == 1

    async def test_reasons_that_would_hold_without_it_come_first(self, store: Store) -> None:
        # T0 is a Thursday.
        await create(store, "closed", shadow=True, exclude=exclude("thu"))
        await create(store, "alone", shadow=True, depends_on=(After("closed", 60),), start_within=5)
        await create(store, shadow=True)
        await change(store, Skip(actor="ada"), 5)
        await plan_all(store, 120)
        await change(store, Pause(actor="ada"), 130)
        await change(store, Resume(actor="ada"), 190)
        await plan_all(store, 240)
        assert await ranges(store) == [
            ("operator", 60, 60, 1),
            ("shadow", 120, 120, 1),
            ("paused", 180, 180, 1),
            ("shadow", 240, 240, 1),
        ]
        assert await ranges(store, "closed") == [("calendar", 60, 240, 4)]
        # Neither what it depends on nor how late it is keeps a shadow from being one.
        assert await ranges(store, "alone") == [("shadow", 60, 240, 4)]

    async def test_manual_run_of_a_shadow_is_refused(self, store: Store) -> None:
        await create(store, shadow=True)
        await plan_all(store, 120)
        with pytest.raises(ConflictError, match=f"tickbird set {NAME} shadow=false"):
            await change(store, Trigger(actor="ada"), 125)
        made = Create(actor="ada", namespace=NAMESPACE, definition=define(MINUTE, shadow=True), first="now")
        with pytest.raises(ConflictError, match="is a shadow"):
            await store.schedules.change(NAMESPACE, "new", made, now=later(125))
        assert await ticks(store) == []
        assert await store.schedules.get(NAMESPACE, "new") is None

    @needs("backfills")
    async def test_a_shadow_is_not_backfilled(self, store: Store) -> None:
        await create(store, shadow=True)
        await plan_all(store, 120)
        new = NewBackfill(actor="ada", first=epoch(60), last=epoch(120))
        with pytest.raises(ConflictError, match="is a shadow"):
            await store.backfills.create(NAMESPACE, NAME, new, now=later(125))
        assert await ticks(store) == []

    async def test_a_skip_of_a_shadow_is_of_the_revision_in_force(self, store: Store) -> None:
        await create(store, shadow=True)
        await plan_all(store, 60)
        await change(store, Update(actor="ada", fields={"trigger": {"every": {"seconds": 90}}}), 65)
        await plan_all(store, 180)
        found = [(skip.revision, skip.count) for skip in await skips_of(store)]
        assert found == [(1, 1), (2, 2)]

    async def test_dependency_on_a_shadow_is_reported(self, store: Store) -> None:
        await create(store, "load", shadow=True)
        await create(store, "report", depends_on=(After("load", 60),))
        # A shadow itself depends on nothing.
        await create(store, "mail", shadow=True, depends_on=(After("load", 60),))
        seen = (await store.inspect(NAMESPACE, now=later(10))).work
        assert seen is not None
        assert list(seen.stuck) == [("report", "load", "a shadow")]
