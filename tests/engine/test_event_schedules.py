"""Event schedules over simulated time, through the client: the real planner, both stores, no sleeps."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tickbird import Tickbird
from tickbird.domain.errors import StaleError
from tickbird.domain.events.event import Event
from tickbird.stores import open_store
from tickbird.testing import Harness

START = datetime(2026, 1, 1, tzinfo=UTC)
EVERY_5: dict[str, Any] = {
    "schedule_name": "sync",
    "frequency_unit": "minutes",
    "frequency_time": 5,
    "start_ts": "2026-01-01T00:00:17Z",
    "event_topic": "portal-event",
    "event_type": "SyncDue",
    "event_data": '{"full": false}',
    "host_id": "01964b05-552a-7c4b-9184-6857e7f3dc5f",
}


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest) -> str:
    return "sqlite://:memory:" if request.param == "sqlite" else str(request.getfixturevalue("migrated_url"))


@asynccontextmanager
async def simulated(url: str) -> AsyncIterator[Harness]:
    async with Harness(Tickbird(), START, store=open_store(url)) as harness:
        yield harness


async def published(harness: Harness) -> list[Event]:
    """All events, after a pass of the stamper at the simulated time."""
    while (await harness.store.events.stamp(now=harness.now)).more:
        pass
    return list(await harness.store.events.read("default", limit=1_000))


async def test_a_day_of_five_minutes_under_slow_steps_is_288_events_on_the_anchor(url: str) -> None:
    async with simulated(url) as harness:
        result = await harness.client.event_schedules.put(**EVERY_5, actor="ana")
        assert result.created
        end, step = START + timedelta(days=1), 0
        while harness.now < end:
            # A step takes up to 19 minutes, so that up to four ticks are late.
            step += 1
            harness.clock.move_to(min(harness.now + timedelta(seconds=31 + step * 397 % 1_111), end))
            await harness.settle()
        events = await published(harness)
        assert not await harness.skips("sync")
    ticks = [START + timedelta(minutes=5 * number, seconds=17) for number in range(288)]
    assert [one.time for one in events] == ticks
    assert [one.version for one in events] == list(range(1, 289))
    assert {(one.topic, one.type, one.key, one.tenant) for one in events} == {
        ("portal-event", "SyncDue", "sync", EVERY_5["host_id"])
    }
    assert events[0].data == {"full": False}


async def test_active_pauses_and_resumes(url: str) -> None:
    async with simulated(url) as harness:
        put = harness.client.event_schedules.put
        created = await put(**EVERY_5, active=False, actor="ana")
        pause = created.schedule.pause
        assert pause is not None
        assert (created.created, created.schedule.state, pause.by, pause.note) == (
            True,
            "paused",
            "ana",
            "active is false",
        )
        await harness.advance(minutes=11)
        assert (await put(**EVERY_5, actor="ana")).schedule.state == "paused"
        assert not await published(harness)
        resumed = await put(**EVERY_5, active=True, actor="ana")
        assert (resumed.created, resumed.schedule.state) == (False, "active")
        await harness.advance(minutes=5)
        again = {**EVERY_5, "frequency_time": 1}
        assert (await put(**again, active=False, actor="ana")).schedule.state == "paused"
        await harness.advance(minutes=5)
        assert [one.time for one in await published(harness)] == [START + timedelta(minutes=15, seconds=17)]


async def test_a_revision_protects_from_lost_updates(url: str) -> None:
    async with simulated(url) as harness:
        put = harness.client.event_schedules.put
        first = await put(**EVERY_5, revision=0, actor="ana")
        with pytest.raises(StaleError):
            await put(**EVERY_5, revision=0, active=False, actor="ana")
        later = {**EVERY_5, "frequency_time": 10}
        second = await put(**later, revision=first.schedule.revision, active=False, actor="ana")
        assert second.schedule.state == "paused"
        with pytest.raises(StaleError):
            await put(**EVERY_5, revision=first.schedule.revision, active=True, actor="ana")
        stored = await harness.client.schedules.get("sync")
        assert (stored.definition_json["trigger"]["every"], stored.state) == ({"minutes": 10}, "paused")
