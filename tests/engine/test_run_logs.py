"""Log lines of a run in a real worker are stored: from coroutines, threads and child tasks, and while it runs."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.engine.test_worker import until, working
from tickbird import Run, Tickbird
from tickbird.domain.runs.logs import LogLine, Progress
from tickbird.domain.runs.run import ClaimedRun, NewRun
from tickbird.domain.schedules.definition import Target
from tickbird.engine.run_logs import RunLogBuffer
from tickbird.store.sqlite import SqliteStore
from tickbird.store.sqlite.logs import SqliteLogs

elsewhere = logging.getLogger("shop.elsewhere")


@pytest.fixture
def bird(tmp_path: Path) -> Tickbird:
    return Tickbird(f"sqlite:///{tmp_path}/logs.db")


@pytest.fixture(autouse=True)
def verbose() -> None:
    elsewhere.setLevel(logging.INFO)


async def test_lines_of_each_run_are_its_own(bird: Tickbird) -> None:
    @bird.task
    async def awaits(run: Run) -> None:
        run.log.info("a %s", "coroutine")
        elsewhere.warning("seen from %s", run.id)
        await asyncio.create_task(helper(run.id))

    async def helper(run_id: int) -> None:
        elsewhere.info("in a task of %d", run_id)

    @bird.task
    def blocks(run: Run) -> None:
        elsewhere.info("in a thread of %d", run.id)
        run.log.debug("not kept")
        run.log.info("half \udc80 and \0")

    async with working(bird) as (client, _):
        runs = [await client.runs.enqueue(task, actor="ada") for task in ("awaits", "blocks") for _ in range(3)]
        elsewhere.warning("nobody's")
        for run_id in runs:
            await client.runs.wait(run_id)
            texts = [line.text for line in await client.runs.logs(run_id)]
            awaited = ["a coroutine", f"seen from {run_id}", f"in a task of {run_id}"]
            assert texts in (awaited, [f"in a thread of {run_id}", "half ? and \ufffd"])
        first = (await client.runs.logs(runs[0]))[0]
        assert (first.attempt, first.number, first.level) == (1, 1, logging.INFO)


async def test_lines_and_progress_are_readable_while_it_runs_and_every_attempt_counts(bird: Tickbird) -> None:
    go_on = threading.Event()

    @bird.task(retries=1)
    def slow(run: Run) -> None:
        run.log.info("attempt %d begins", run.attempt)
        run.heartbeat(progress={"done": run.attempt, "of": 2})
        assert go_on.wait(60)
        if run.attempt == 1:
            raise ValueError("once more")

    async with working(bird) as (client, _):
        run_id = await client.runs.enqueue("slow", actor="ada")

        async def said() -> list[str]:
            return [line.text for line in await client.runs.logs(run_id)]

        await until(said)
        assert await said() == ["attempt 1 begins"]
        assert (await client.runs.get(run_id)).status == "running"
        # It is reported after the line, so the next batch may write it.
        progress = await until(lambda: client.runs.progress(run_id))
        assert (progress.attempt, progress.value) == (1, {"done": 1, "of": 2})
        go_on.set()
        await client.runs.wait(run_id)
        assert await said() == ["attempt 1 begins", "attempt 2 begins"]
        assert [line.attempt for line in await client.runs.logs(run_id, after=(1, 1))] == [2]
        progress = await client.runs.progress(run_id)
        assert progress is not None
        assert progress.value == {"done": 2, "of": 2}


async def test_a_talkative_run_is_cut_and_does_no_harm(bird: Tickbird) -> None:
    @bird.task
    async def talks(run: Run) -> str:
        for number in range(30_000):
            run.log.info("line %d", number)
        return "said it all"

    async with working(bird) as (client, _):
        run = await client.runs.wait(await client.runs.enqueue("talks", actor="ada"))
        assert (run.status, run.result) == ("succeeded", "said it all")
        lines = await client.runs.logs(run.id, after=(1, 9_990), limit=100)
        assert [line.number for line in lines] == list(range(9_991, 10_002))
        assert "log truncated" in lines[-1].text


async def test_an_end_waits_for_the_batch_that_is_being_written() -> None:
    begun, go_on = asyncio.Event(), asyncio.Event()

    class Slow(SqliteLogs):
        async def write(self, lines: Sequence[LogLine], progress: Sequence[Progress]) -> None:
            begun.set()
            await go_on.wait()
            await super().write(lines, progress)

    store = SqliteStore("sqlite://")
    store.logs = Slow(store._database)
    await store.open()
    [run_id] = await store.runs.enqueue("default", [NewRun(Target("work"), {})], "ada")
    logs = RunLogBuffer(store)
    claimed = ClaimedRun(run_id, 1, 0, "work", "manual", datetime.now(UTC), {})
    logs.line(Run(claimed, logs), logging.INFO, "the last words", datetime.now(UTC))
    writing = asyncio.create_task(logs.write())
    await begun.wait()
    flushing = asyncio.create_task(logs.flush())
    await asyncio.sleep(0)
    assert not flushing.done()
    go_on.set()
    await flushing
    assert [line.text for line in await store.logs.read(run_id)] == ["the last words"]
    await writing
    await store.close()
