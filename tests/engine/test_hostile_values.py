"""A task that returns, raises, logs or reports hostile values ends only its own run, once."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engine.hostile import ERRORS, VALUES
from tests.engine.hostile_app import bird
from tests.engine.test_worker import working
from tickbird.client import Client
from tickbird.domain.runs.logs import MAX_LEVEL
from tickbird.domain.runs.run import FINAL, RunRecord
from tickbird.engine.engine import EngineOptions

TASKS = ("blocks", "awaits", "isolated")
# Long enough that no attempt is lost on a busy machine: each value is encoded in at most a second.
OPTIONS = EngineOptions(lease=20.0, heartbeat=1.0, safety_poll=0.5, drain=10.0)


@pytest.fixture(params=["sqlite", "postgres"], autouse=True)
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[None]:
    """The app's store, of each kind."""
    sqlite = request.param == "sqlite"
    kept, bird.url = bird.url, f"sqlite:///{tmp_path}/hostile.db" if sqlite else request.getfixturevalue("migrated_url")
    # Log handlers of the test runner raise for a bad line.
    logger, handler = logging.getLogger("tickbird.run"), logging.NullHandler()
    logger.addHandler(handler)
    logger.propagate = False
    yield
    logger.propagate = True
    logger.removeHandler(handler)
    bird.url = kept


async def final(client: Client, run_id: int) -> RunRecord:
    """A run once it is final."""
    async with asyncio.timeout(60):
        while (run := await client.runs.get(run_id)).status not in FINAL:  # noqa: ASYNC110 - it is in a database
            await asyncio.sleep(0.02)
    return run


async def ended(client: Client, task: str, kind: str, names: list[str]) -> dict[str, RunRecord]:
    """The runs of these names, and of healthy neighbours, when all are final."""
    runs = {}
    neighbours = []
    for name in names:
        runs[name] = await client.runs.enqueue(task, {"kind": kind, "name": name}, actor="test")
        neighbours.append(await client.runs.enqueue("healthy", actor="test"))
    for run_id in neighbours:
        neighbour = await final(client, run_id)
        assert (neighbour.status, neighbour.result, neighbour.crashes) == ("succeeded", "well", 0)
    records = {name: await final(client, run_id) for name, run_id in runs.items()}
    for name, record in records.items():
        assert (record.crashes, record.failures) == (0, int(kind == "error")), name
    return records


@pytest.mark.parametrize("task", TASKS)
async def test_each_result_is_kept_or_named_and_the_run_succeeds(task: str) -> None:
    async with working(bird, options=OPTIONS) as (client, _):
        runs = await ended(client, task, "value", list(VALUES))
        runs |= await ended(client, task, "random", [str(seed) for seed in range(20)])
        assert {name for name, run in runs.items() if run.status != "succeeded"} == set()
        assert "too long" in runs["large"].result["unreadable"]


@pytest.mark.parametrize("task", TASKS)
async def test_each_error_fails_its_run(task: str) -> None:
    async with working(bird, options=OPTIONS) as (client, _):
        runs = await ended(client, task, "error", list(ERRORS))
        assert {name for name, run in runs.items() if (run.status, run.failure_kind) != ("failed", "raised")} == set()
        assert all(run.error for run in runs.values())


@pytest.mark.parametrize("task", TASKS)
async def test_each_progress_is_kept_or_named(task: str) -> None:
    async with working(bird, options=OPTIONS) as (client, _):
        runs = await ended(client, task, "progress", list(VALUES))
        for name, run in runs.items():
            assert (run.status, run.result) == ("succeeded", "well"), name
            assert await client.runs.progress(run.id) is not None, name


@pytest.mark.parametrize("task", TASKS)
async def test_each_line_is_stored_and_no_later_one_is_lost(task: str) -> None:
    async with working(bird, options=OPTIONS) as (client, _):
        runs = await ended(client, task, "speech", ["first", "second"])
        for run in runs.values():
            assert (run.status, run.result) == ("succeeded", "well"), run.error
            lines = await client.runs.logs(run.id)
            assert (lines[0].text, lines[-1].text) == ("before", "after")
            levels = [line.level for line in lines if line.text.endswith("a level")]
            assert levels == [MAX_LEVEL] * 8


@pytest.mark.parametrize("task", TASKS)
async def test_a_value_may_log_while_it_is_encoded(task: str) -> None:
    async with working(bird, options=OPTIONS) as (client, _):
        run = (await ended(client, task, "talkative", ["one"]))["one"]
        assert (run.status, run.result) == ("succeeded", "talkative")
        assert [line.text for line in await client.runs.logs(run.id)] == ["asked for a text"] * 2
        progress = await client.runs.progress(run.id)
        assert progress is not None
        assert progress.value == {"a": "talkative"}
