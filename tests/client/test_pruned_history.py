"""What people ask of a past whose runs were pruned: no tick runs twice, and each answer says what is not known."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tickbird import NotFoundError, Run, Tickbird, cron
from tickbird.client import StoreClient
from tickbird.domain.planning.commands.base import Command
from tickbird.domain.planning.commands.define import Create, Update
from tickbird.domain.schedules.definition import Definition, Target
from tickbird.domain.schedules.schedule import MIN_REVISIONS_KEPT
from tickbird.store.protocol.store import Store
from tickbird.stores import open_store
from tickbird.testing import Harness

START = datetime(2026, 1, 10, tzinfo=UTC)


@pytest.fixture(params=["sqlite", "postgres"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    """An empty store."""
    sqlite = request.param == "sqlite"
    opened = open_store(f"sqlite:///{tmp_path}/t.db" if sqlite else request.getfixturevalue("postgres_url"))
    await opened.migrate()
    await opened.open()
    yield opened
    await opened.close()


async def test_backfill_retry_and_why_of_a_pruned_tick() -> None:
    bird, ran = Tickbird("sqlite://:memory:", app="shop"), Counter[str]()

    @bird.task(schedule=cron("0 2 * * *"))
    async def report(run: Run) -> None:
        ran[f"{run.scheduled_for:%d}"] += 1

    async with Harness(bird, start=START) as time:
        await time.advance(days=3)
        runs = await time.runs("report")
        await time.store.runs.prune(older_than=0, keep=0, now=time.now)
        assert await time.runs("report") == []
        for run in runs:
            assert run.scheduled_for is not None
            with pytest.raises(NotFoundError, match=f"there is no run {run.id}"):
                await time.client.runs.retry(run.id, actor="ana")
            told = await time.client.ticks.why("report", run.scheduled_for)
            assert (told.verdict, "pruned" in told.sentence) == ("no record", True)
        for _ in range(2):
            made = await time.client.backfills.create("report", START, time.now, actor="ana")
            assert (made.count, made.taken, made.pruned) == (0, 0, 3)
            assert made.pruned_until == runs[-1].scheduled_for
            await time.settle()
        await time.advance(days=1)
        assert ran == {"10": 1, "11": 1, "12": 1, "13": 1}


async def test_why_and_audit_of_a_time_whose_revisions_were_pruned(store: Store) -> None:
    """Nothing is said about it that the revisions which are left would only suggest."""
    client = StoreClient(store)

    async def edit(hour: int, command: Command) -> None:
        await store.schedules.change("default", "report", command, now=START + timedelta(hours=hour))

    definition = Definition(trigger=cron("30 * * * *"), target=Target("report"))
    await edit(0, Create(actor="ana", namespace="default", definition=definition))
    for hour in range(1, 2 * MIN_REVISIONS_KEPT):
        # Half of them do not tick at half past.
        trigger = cron(f"{45 if hour % 2 else 30} * * * *")
        await edit(hour, Update(actor="ana", fields={"trigger": trigger.to_json()}))
    # Up to there all ticks are decided.
    last = START + timedelta(hours=2 * MIN_REVISIONS_KEPT - 1)
    before = await client.ticks.verify("report", last=last)
    assert (before.ok, before.expected > MIN_REVISIONS_KEPT) == (True, True)
    while await store.runs.prune(older_than=3_600, keep=0, now=last + timedelta(hours=2)):
        pass
    history = await client.revisions.history("report", limit=1_000)
    assert [entry.revision.revision for entry in history] == [*range(2 * MIN_REVISIONS_KEPT, MIN_REVISIONS_KEPT, -1), 1]
    after = await client.ticks.verify("report", last=last)
    assert after.ok
    assert after.complete_from is not None
    assert after.complete_from > START.timestamp()
    # Revision 1 is left, and would have ticked then.
    told = await client.ticks.why("report", START + timedelta(hours=10, minutes=30))
    assert (told.verdict, "is no longer stored" in told.sentence) == ("no record", True)
    with pytest.raises(NotFoundError, match="it was pruned"):
        await client.revisions.roll_back("report", 50, actor="ana")
    assert (await client.revisions.roll_back("report", 151, actor="ana")).revision == 2 * MIN_REVISIONS_KEPT + 1
