"""An operator's day over HTTP: a server and a worker as processes of their own, on PostgreSQL."""

from __future__ import annotations

import asyncio
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.cli.commands.system.test_server import served
from tests.cli.conftest import Cli
from tickbird import Tickbird, cron
from tickbird.domain.errors import AccessError, ConflictError
from tickbird.domain.planning.commands.define import Create
from tickbird.domain.schedules.definition import Definition, Target
from tickbird.stores import open_store

SHOP = """
    import asyncio

    from tickbird import Run, Tickbird

    bird = Tickbird(app="shop")


    @bird.task
    async def report(run: Run, limit: int = 1) -> int:
        run.log.info("the limit is %d", limit)
        if limit < 0:
            raise ValueError("below zero")
        return limit


    @bird.task
    async def slow() -> None:
        await asyncio.sleep(600)
"""
DAY = timedelta(days=1)


@contextmanager
def working(cli: Cli) -> Iterator[None]:
    """A worker, which ends in order."""
    process = cli.start("worker", "shop:bird", "--drain", "5")
    try:
        yield
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.communicate()


def long_ago(url: str) -> None:
    """A daily schedule that is twelve days old, and has run on none of them."""
    definition = Definition(trigger=cron("0 6 * * *"), target=Target("report"), catch_up="skip")

    async def make() -> None:
        store = open_store(url)
        await store.open()
        command = Create(actor="ana", namespace="default", definition=definition)
        await store.schedules.change("default", "nightly", command, now=await store.now() - 12 * DAY)
        await store.planning.plan_due()
        await store.close()

    asyncio.run(make())


def eventually(look: Any) -> Any:
    """What a look gives in the end."""
    ends = time.monotonic() + 60
    while not (found := look()):
        assert time.monotonic() < ends, "it never was"
        time.sleep(0.05)
    return found


@pytest.fixture
def shop(folder: Path, postgres_url: str) -> Cli:
    """A store with nothing but an old schedule in it."""
    cli = Cli(postgres_url, folder)
    cli.write("shop", SHOP)
    cli.ok("migrate")
    long_ago(postgres_url)
    return cli


def test_an_operators_day(shop: Cli) -> None:
    token = shop.ok("token", "create", "ana", "--role", "editor", "--json").json["token"]
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    remote = ("--server", f"http://127.0.0.1:{port}", "--token", token)
    away: dict[str, Any] = {"TICKBIRD_URL": None}
    with ExitStack() as ending, Tickbird.connect(remote[1], token=token) as client:
        processes = ending.enter_context(ExitStack())
        processes.enter_context(served(shop, "--port", str(port)))
        processes.enter_context(working(shop))
        eventually(client.workers.list)

        # Create, preview, trigger with a payload and wait.
        trigger = cron("0 9 * * *", tz="America/New_York")
        coming = client.forecasts.preview(trigger, count=3, name="digest")
        made = client.schedules.create("digest", trigger, "report", actor="me", payload={"limit": 5}, tags=["mail"])
        assert [tick.scheduled_for for tick in client.ticks.next("digest", 3)] == [
            tick.scheduled_for for tick in coming.ticks
        ]
        run = client.schedules.trigger("digest", actor="me", payload={"limit": 7}, wait=60)
        assert (run.status, run.result) == ("succeeded", 7)
        assert [line.text for line in client.runs.logs(run.id)] == ["the limit is 7"]
        run = client.schedules.trigger("digest", actor="me", payload={"limit": 8})
        assert [line.text for line in client.runs.follow_logs(run.id)] == ["the limit is 8"]
        assert client.runs.get(run.id).status == "succeeded"

        # Pause with a note, restart everything, resume.
        client.schedules.pause("digest", actor="me", note="the disk is full")
        processes.close()
        processes.enter_context(served(shop, "--port", str(port)))
        processes.enter_context(working(shop))
        paused = client.schedules.get("digest")
        assert (paused.state, paused.pause.note) == ("paused", "the disk is full")
        assert "the disk is full" in shop.ok("show", "digest", *remote, **away).out
        shop.ok("resume", "digest", *remote, **away)
        eventually(client.workers.list)

        # Reschedule by 30 minutes, skip one tick.
        first, second, *_ = client.ticks.next("digest")
        client.schedules.reschedule("digest", first.due_at + timedelta(minutes=30), actor="me", note="after the backup")
        client.overrides.put("digest", second.scheduled_for, actor="me", skip=True, note="holiday")
        moved, skipped, *_ = client.ticks.next("digest")
        assert moved.due_at == first.due_at + timedelta(minutes=30)
        assert (skipped.scheduled_for, skipped.skipped) == (second.scheduled_for, "operator")

        # Backfill ten days of which two exist.
        today = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        two = client.backfills.create("nightly", today - 5 * DAY, today - 3 * DAY, actor="me")
        assert two.count == 2
        ten = client.backfills.create(
            "nightly", today - 10 * DAY, today, actor="me", concurrency=4, note="the lost days"
        )
        assert (ten.count, ten.taken) == (8, 2)
        done = eventually(lambda: (record := client.backfills.get(ten.backfill_id)).done == record.total and record)
        assert done.counts == {"succeeded": 8}

        # Cancel, retry.
        client.schedules.create("sleepy", trigger, "slow", actor="me")
        slow = client.schedules.trigger("sleepy", actor="me")
        eventually(lambda: client.runs.get(slow.id).status == "running")
        client.runs.cancel(slow.id, actor="me", reason="not today")
        assert client.runs.wait(slow.id, timeout=60).status == "cancelled"
        failed = client.schedules.trigger("digest", actor="me", payload={"limit": -1}, wait=60)
        assert (failed.status, failed.failure_kind) == ("failed", "raised")
        again = client.runs.retry(failed.id, actor="me", payload={"limit": 1})
        assert client.runs.wait(again.id, timeout=60).result == 1

        # Ask why, roll an edit back.
        assert "after the backup" in shop.ok("why", "digest", f"{first.scheduled_for:%FT%TZ}", *remote, **away).out
        assert client.ticks.why("digest", second.scheduled_for).verdict == "will be skipped"
        edited = client.schedules.update("digest", actor="me", retries=5, unset=["tags"])
        with pytest.raises(ConflictError, match="revision"):
            client.schedules.update("digest", actor="me", revision=made.revision, retries=6)
        back = client.revisions.roll_back("digest", made.revision, actor="me", revision=edited.revision)
        assert (back.definition.retries, back.definition.tags) == (0, ("mail",))

        # Read the audit; and what is an admin's to do stays so.
        told = client.audit.list(limit=100)
        mine = [each.action for each in reversed(told) if each.actor.startswith("ana (token ")]
        assert [each for each in mine if each in WANTED] == WANTED
        with pytest.raises(AccessError, match="needs the role admin"):
            client.tokens.create("other", "viewer", actor="me")
        audited = shop.ok("verify", "--json", *remote, **away).json
        assert audited["ok"]
        processes.close()


WANTED = [
    "create",
    "trigger",
    "trigger",
    "pause",
    "resume",
    "reschedule",
    "override",
    "backfill",
    "backfill",
    "create",
    "trigger",
    "cancel",
    "trigger",
    "retry",
    "update",
    "roll_back",
]
