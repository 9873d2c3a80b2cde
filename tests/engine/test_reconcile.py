"""Reconcile functions: called for runs of lost workers, by any worker that has the task."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from conformance.steps import a_worker
from tickbird import DefinitionError, Run, Tickbird, every
from tickbird.client import Client, StoreClient
from tickbird.domain.runs.lost_runs import Effect, LostRun, Resolution
from tickbird.domain.runs.run import RunRecord
from tickbird.domain.schedules.codec import FORMAT, encode_definition
from tickbird.engine.engine import EngineOptions
from tickbird.store.protocol.store import Store
from tickbird.stores import open_store
from tickbird.worker import WorkerProcess


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    store = open_store(f"sqlite:///{tmp_path}/app.db")
    await store.open()
    yield store
    await store.close()


@pytest.fixture
def bird(tmp_path: Path) -> Tickbird:
    return Tickbird(f"sqlite:///{tmp_path}/app.db")


@asynccontextmanager
async def working(bird: Tickbird) -> AsyncIterator[None]:
    process = WorkerProcess(bird, options=EngineOptions(lease=2.0, drain=1.0))
    started, loop = asyncio.Event(), asyncio.get_running_loop()

    def notify() -> None:
        loop.call_soon_threadsafe(started.set)

    process.on_started = notify
    task = asyncio.create_task(process.run())
    try:
        await asyncio.wait_for(started.wait(), 60)
        yield
    finally:
        process.drain()
        await task


async def lose(store: Store, bird: Tickbird, **payload: Any) -> int:
    """A run that a worker has claimed, before it was lost."""
    run_id = await bird.tasks["report"].enqueue(**payload)
    lost = a_worker("lost")
    [claimed] = (await store.leases.claim(lost, 1, 0.01, queues=["default"], targets=[("task", "report")])).runs
    assert claimed.id == run_id
    return run_id


async def until_answered(store: Store, run_id: int) -> tuple[RunRecord, LostRun]:
    async with asyncio.timeout(60):
        while (lost := await store.lost_runs.get(run_id)) is None or lost.effect is None:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
    run = await store.runs.get(run_id)
    assert run is not None
    return run, lost


async def until_final(client: Client, run_id: int) -> RunRecord:
    return await client.runs.wait(run_id, timeout=60)


@pytest.mark.parametrize("is_async", [True, False])
async def test_yes_no_and_unknown(store: Store, bird: Tickbird, is_async: bool) -> None:
    seen: list[tuple[int, int, str]] = []

    @bird.task(on_crash="ask")
    async def report(run: Run, effect: str, day: int = 1) -> str:
        return f"attempt {run.attempt}"

    if is_async:

        @report.reconcile
        async def check(run: Run, effect: Effect) -> Effect:
            seen.append((run.id, run.attempt, threading.current_thread().name))
            return effect

    else:

        @report.reconcile(timeout="20s")
        def check_in_thread(effect: Effect, lost: Run) -> Effect:
            seen.append((lost.id, lost.attempt, threading.current_thread().name))
            return effect

    client = StoreClient(store)
    yes, no, unknown = [await lose(store, bird, effect=effect) for effect in ("yes", "no", "unknown")]
    async with working(bird):
        run, lost = await until_answered(store, yes)
        assert (run.status, run.attempt, lost.effect, lost.calls) == ("succeeded", 1, "yes", 1)
        run = await until_final(client, no)
        assert (run.status, run.attempt, run.crashes, run.result) == ("succeeded", 2, 1, "attempt 2")
        run, lost = await until_answered(store, unknown)
        assert (run.status, run.undecided, lost.effect, lost.error) == ("waiting", True, "unknown", None)
        await store.lost_runs.resolve(unknown, Resolution(actor="ada", effect="no"))
        assert (await until_final(client, unknown)).attempt == 2
    assert sorted(entry[:2] for entry in seen) == [(yes, 1), (no, 1), (unknown, 1)]
    assert all(name.startswith("tickbird reconcile") != is_async for _, _, name in seen)
    await bird.aclose()


async def test_the_defaults_of_the_task_apply(store: Store, bird: Tickbird) -> None:
    seen: list[object] = []

    @bird.task(on_crash="ask")
    async def report(run: Run, region: str = "eu", day: int = 1, limit: int = 5) -> None: ...

    @report.reconcile
    def check(run: Run, region: str, day: int = 2, *, limit: int) -> Effect:
        seen.append((region, day, limit))
        return "yes"

    async with working(bird):
        run_id = await lose(store, bird, limit=7)
        _, lost = await until_answered(store, run_id)
    assert (lost.effect, lost.error, seen) == ("yes", None, [("eu", 2, 7)])
    await bird.aclose()


async def test_an_error_or_another_value_counts_as_unknown(store: Store, bird: Tickbird) -> None:
    @bird.task(on_crash="ask")
    async def report(kind: str) -> None: ...

    @report.reconcile
    def check(kind: str) -> Any:
        if kind == "raise":
            raise ValueError("the bank is closed")
        return {"value": True}

    raising, wrong = await lose(store, bird, kind="raise"), await lose(store, bird, kind="value")
    async with working(bird):
        run, lost = await until_answered(store, raising)
        assert (run.undecided, lost.effect) == (True, "unknown")
        assert lost.error is not None
        assert lost.error.strip().endswith("ValueError: the bank is closed")
        run, lost = await until_answered(store, wrong)
        assert (run.undecided, lost.effect) == (True, "unknown")
        assert lost.error is not None
        assert 'which is neither "yes", "no" nor "unknown"' in lost.error
    await bird.aclose()


@pytest.mark.parametrize("is_async", [True, False])
async def test_a_call_that_hangs_counts_as_unknown(store: Store, bird: Tickbird, is_async: bool) -> None:
    released = threading.Event()

    @bird.task(on_crash="ask")
    async def report() -> None: ...

    if is_async:

        @report.reconcile(timeout=1)
        async def check() -> Effect:
            await asyncio.sleep(3600)
            return "yes"

    else:

        @report.reconcile(timeout=1)
        def check_in_thread() -> Effect:
            released.wait()
            return "yes"

    run_id = await lose(store, bird)
    async with working(bird):
        run, lost = await until_answered(store, run_id)
        assert (run.undecided, lost.effect) == (True, "unknown")
        assert lost.error == "the reconcile function took longer than its timeout of 1 s"
        released.set()
    run = await store.runs.get(run_id)  # type: ignore[assignment]
    assert run.undecided, "a late answer counts for nothing"
    await bird.aclose()


async def test_without_a_function_a_person_decides(store: Store, bird: Tickbird) -> None:
    @bird.task(on_crash="ask")
    async def report() -> str:
        return "done"

    run_id = await lose(store, bird)
    async with working(bird):
        async with asyncio.timeout(60):
            while not (await store.lost_runs.list("default")):  # noqa: ASYNC110 - by another thread
                await asyncio.sleep(0.02)
        [lost] = await store.lost_runs.list("default")
        assert (lost.run_id, lost.effect, lost.calls) == (run_id, None, 0)
        await store.lost_runs.resolve(run_id, Resolution(actor="ada", effect="yes", note="the file is there"))
        run = await store.runs.get(run_id)
        assert run is not None
        assert (run.status, run.attempt) == ("succeeded", 1)
    await bird.aclose()


async def test_a_child_process_that_is_killed_is_a_lost_worker(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "report_app.py").write_text(
        "import os, pathlib, time\nfrom tickbird import Run, Tickbird\n"
        f"bird = Tickbird('sqlite:///{tmp_path}/app.db')\n"
        "@bird.task(on_crash='ask', isolation='process')\n"
        "def report(run: Run) -> int:\n"
        "    if run.attempt == 1:\n"
        f"        pathlib.Path('{tmp_path}/pid').write_text(str(os.getpid()))\n"
        "        time.sleep(3600)\n"
        "    return run.attempt\n"
        "@report.reconcile\n"
        "def check(run: Run) -> str:\n"
        "    return 'no'\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    import report_app  # type: ignore[import-not-found]

    bird: Tickbird = report_app.bird
    bird.reference = "report_app:bird"
    pid = tmp_path / "pid"
    async with working(bird):
        run_id = await bird.tasks["report"].enqueue()
        async with asyncio.timeout(60):
            while not (pid.exists() and pid.read_text()):  # noqa: ASYNC110 - by another process
                await asyncio.sleep(0.02)
        os.kill(int(pid.read_text()), signal.SIGKILL)
        run = await until_final(StoreClient(store), run_id)
        assert (run.status, run.attempt, run.crashes, run.failures, run.result) == ("succeeded", 2, 1, 0, 2)
    await bird.aclose()


def test_refusals(bird: Tickbird) -> None:
    @bird.task
    async def plain() -> None: ...

    with pytest.raises(DefinitionError, match="only called with on_crash='ask'"):
        plain.reconcile(lambda: "yes")

    @bird.task(on_crash="ask")
    async def report(day: int) -> None: ...

    with pytest.raises(DefinitionError, match="the task has no parameter 'month'"):
        report.reconcile(lambda month: "yes")
    report.reconcile(lambda day: "yes")
    with pytest.raises(DefinitionError, match="two reconcile functions"):
        report.reconcile(lambda day: "yes")


def test_older_workers_leave_such_schedules_alone(bird: Tickbird) -> None:
    @bird.task(schedule=every(days=1), on_crash="ask")
    async def report() -> None: ...

    definition = bird.declarations.schedules["report"]
    assert encode_definition(definition)["v"] == 7 <= FORMAT
