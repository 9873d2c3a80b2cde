"""Custom triggers: planned by processes that know them, ignored by others, and parked if they misbehave."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

import pytest

from conformance.schedules.plain_sql import Plain
from conformance.steps import (
    MINUTE,
    NAME,
    NAMESPACE,
    change,
    create,
    get,
    later,
    plan,
    plan_all,
    ranges,
    runs_of,
    since,
    ticks,
)
from tickbird.domain.calendars.calendar import exclude
from tickbird.domain.doctor.snapshot import OverdueSchedules
from tickbird.domain.errors import ConflictError, TriggerError
from tickbird.domain.planning.commands.define import Delete, Update
from tickbird.domain.planning.commands.run import Trigger
from tickbird.domain.schedules.codec import CUSTOM_TRIGGERS
from tickbird.domain.triggers import custom
from tickbird.domain.triggers.cron.cron import cron
from tickbird.domain.triggers.custom import CustomTrigger, custom_trigger
from tickbird.domain.triggers.trigger import any_of
from tickbird.store.protocol.store import Store

MISBEHAVIOUR: dict[str, object] = {}


@custom_trigger("conformance_step")
def step(t: datetime, seconds: int = 60) -> datetime | None:
    """Steps of elapsed time; parameters make it misbehave."""
    if MISBEHAVIOUR.get("raise"):
        raise LookupError("no table of tides")
    if MISBEHAVIOUR.get("stuck"):
        return t
    if MISBEHAVIOUR.get("naive"):
        return datetime(2030, 1, 1)  # noqa: DTZ001
    return datetime.fromtimestamp((int(t.timestamp()) // seconds + 1) * seconds, t.tzinfo)


def _multiples(after: datetime, until: datetime, seconds: int) -> int:
    return int(until.timestamp()) // seconds - int(after.timestamp()) // seconds


@custom_trigger("conformance_counted", count=_multiples)
def counted(t: datetime, seconds: int) -> datetime | None:
    """The same with a count in closed form."""
    return t + timedelta(seconds=seconds - t.timestamp() % seconds)


@contextmanager
def unknown(trigger: CustomTrigger) -> Iterator[None]:
    """As in a process without the module that registers it."""
    registered = custom._registered.pop(trigger.name)
    try:
        yield
    finally:
        custom._registered[trigger.name] = registered


@contextmanager
def misbehaving(how: str) -> Iterator[None]:
    """Let `step` misbehave."""
    MISBEHAVIOUR[how] = True
    try:
        yield
    finally:
        MISBEHAVIOUR.clear()


class CustomTriggers:
    """They are planned as any other, and never by a process that does not know them."""

    async def test_ticks_run_and_late_ones_are_counted(self, store: Store) -> None:
        made = await create(store, NAME, step(seconds=60), overlap="allow")
        assert made.definition_json["v"] == CUSTOM_TRIGGERS
        assert made.definition_json["trigger"] == {"custom": "conformance_step", "params": {"seconds": 60}}
        await plan_all(store, 60)
        await plan_all(store, 3_600)
        [first, late, _] = await runs_of(store)
        assert (since(first.scheduled_for), since(late.scheduled_for)) == (60, 120)
        assert late.covers is not None
        assert late.covers.count == 58

    async def test_process_without_the_trigger_ignores_the_schedule(self, store: Store) -> None:
        await create(store, "known", MINUTE)
        await create(store, "alone", step(seconds=60))
        await create(store, "union", any_of(cron("0 0 * * *"), step(seconds=60)))
        with unknown(step):
            for at in (60, 120):
                planned = await plan(store, at)
                assert (planned.schedules, planned.parked, planned.more) == (1, (), False)
                assert planned.next_at == later(at + 60)
            for name in ("alone", "union"):
                schedule = await get(store, name)
                assert (schedule.state, schedule.definition, schedule.error) == ("active", None, None)
                assert schedule.definition_json["trigger"]
                for command in (Trigger(actor="ada"), Update(actor="ada", fields={"grace": 5}), Delete(actor="ada")):
                    with pytest.raises(ConflictError, match="'conformance_step' is not available here"):
                        await change(store, command, 130, name=name)
            left = await store.planning.ignored()
            assert [(each.namespace, each.name) for each in left] == [(NAMESPACE, "alone"), (NAMESPACE, "union")]
            assert {each.reason for each in left} == {"custom trigger 'conformance_step' is not available here"}
            snapshot = await store.inspect(NAMESPACE, now=later(130))
            assert snapshot.unseen == {}
            work = snapshot.work
            assert work is not None
            assert [(each.name, bool(each.ignored)) for each in work.refused] == [("alone", True), ("union", True)]
            assert work.due == OverdueSchedules()
            unplanned = [(each.name, since(each.since), each.requirement) for each in work.unplanned]
            assert sorted(unplanned) == [(name, 60, "custom trigger 'conformance_step'") for name in ("alone", "union")]
            early = (await store.inspect(NAMESPACE, now=later(59))).work
            assert early is not None
            assert early.unplanned == []
        assert await store.planning.ignored() == []
        await plan_all(store, 150)
        done = (await store.inspect(NAMESPACE, now=later(150))).work
        assert done is not None
        assert done.unplanned == []
        for name in ("alone", "union"):
            [run] = await runs_of(store, name)
            assert (since(run.scheduled_for), run.covers and run.covers.count) == (60, 2)

    @pytest.mark.parametrize(
        "how, text",
        [
            ("raise", "raised LookupError: no table of tides"),
            ("stuck", "does not advance"),
            ("naive", "with a time zone"),
        ],
    )
    async def test_misbehaving_trigger_parks_only_its_schedule(self, store: Store, how: str, text: str) -> None:
        for name in ("before", "wild", "zero"):
            await create(store, name, step(seconds=60) if name == "wild" else MINUTE)
        with misbehaving(how):
            planned = await plan(store, 60)
        assert (planned.parked, planned.refused) == (("wild",), ())
        wild = await get(store, "wild")
        assert wild.state == "parked"
        assert text in (wild.error or "")
        for name in ("before", "zero"):
            assert [at for at, *_ in await ticks(store, name)] == [60]

    async def test_too_many_ticks_to_count_park_it_and_a_count_does_not(self, store: Store) -> None:
        await create(store, "walked", step(seconds=1))
        await create(store, "counted", counted(seconds=1))
        year = 365 * 86_400
        planned = await plan(store, year)
        assert planned.parked == ("walked",)
        assert "too many to count" in ((await get(store, "walked")).error or "")
        [run] = await runs_of(store, "counted")
        assert run.covers is not None
        # Those of the last ten seconds are on time.
        assert run.covers.count == year - 11
        # With fewer of them on its grid, planning continues.
        await change(store, Update(actor="ada", fields={"trigger": step(seconds=3_600).to_json()}), year, name="walked")
        assert (await get(store, "walked")).state == "active"

    async def test_calendar_stretches_do_not_multiply_the_calls(self, store: Store) -> None:
        await create(store, NAME, step(seconds=60), exclude=exclude("sat", "sun"))
        planned = await plan(store, 5 * 365 * 86_400)
        assert planned.parked == (NAME,)
        assert "too many calls" in ((await get(store)).error or "")

    async def test_a_trigger_that_cannot_tick_is_refused(self, store: Store) -> None:
        with misbehaving("raise"), pytest.raises(TriggerError, match="no table of tides"):
            await create(store, NAME, step(seconds=60))

    async def test_an_older_format_must_not_have_one(self, store: Store, plain: Plain) -> None:
        definition = {"v": 1, "trigger": {"custom": "conformance_step"}, "target": {"task": "work"}}
        await plain.insert(NAMESPACE, NAME, definition)
        assert (await plan(store, 60)).parked == (NAME,)
        assert f"needs format {CUSTOM_TRIGGERS}" in ((await get(store)).error or "")
        assert await ranges(store) == []
