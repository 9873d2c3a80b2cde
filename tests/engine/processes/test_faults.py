"""Killed workers and supervisors, and many failing runs that must not affect others."""

from __future__ import annotations

import logging
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import replace
from datetime import UTC, datetime
from math import inf
from pathlib import Path

import pytest

from tests.engine.processes.app import bird, holds_on
from tests.engine.processes.conftest import QUICK, Place, leftovers, until, working
from tickbird import Tickbird, every
from tickbird.domain.runs.run import FINAL, ClaimedRun, RunRecord
from tickbird.engine.monotonic import steady
from tickbird.engine.processes.pool import ProcessPool
from tickbird.engine.processes.task_process import ChildConfig
from tickbird.engine.task_errors import LateStart, TaskFailure
from tickbird.targets.command import Command
from tickbird.targets.protocol import EncodedResult, LaunchSpec, Run

ROOT = Path(__file__).resolve().parents[3]
# A thousand take minutes, so the default is smaller.
RUNS = int(os.environ.get("TICKBIRD_TEST_ISOLATED_RUNS", "50"))
MIXED = {
    "noop": "succeeded",
    "plain": "succeeded",
    "raises": "failed",
    "exits": "failed",
    "segfaults": "failed",
    "leaves": "failed",
    "daemonizes": "succeeded",
    "daemonizes_and_dies": "failed",
    "closes_everything": "failed",
    "talks": "succeeded",
}


def start_worker() -> subprocess.Popen[bytes]:
    """A worker as people start it."""
    command = [sys.executable, "-m", "tickbird", "worker", "tests.engine.processes.app:bird", "--url", bird.url]
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    return subprocess.Popen([*command, "--slots", "3"], cwd=ROOT, env={**os.environ, "PYTHONPATH": path})


async def test_children_of_a_killed_worker_and_their_descendants_are_killed(tmp_path: Path) -> None:
    client = await bird.client()
    worker = start_worker()
    try:
        for task in ("hangs_on", "holds_on", "waits_for_word"):
            await client.runs.enqueue(task, {"note": str(tmp_path / task)}, actor="test")
        await until(lambda: all((tmp_path / task).exists() for task in ("hangs_on", "holds_on", "waits_for_word")))
        # Three supervisors, three children, two daemons; a process that is just starting has no name yet.
        await until(lambda: len(leftovers()) == 8)
    finally:
        worker.kill()
        worker.wait()
    await until(lambda: not leftovers())
    await bird.aclose()


async def test_a_worker_that_drains_ends_its_idle_children(tmp_path: Path) -> None:
    client = await bird.client()
    worker = start_worker()
    try:
        run_id = await client.runs.enqueue("waits_for_word", {"note": str(tmp_path / "note")}, actor="test")
        await until((tmp_path / "note").exists)
        # As a service that is stopped does: every process gets the signal, and the run may finish all the same.
        for line in leftovers():
            os.kill(int(line.split()[0]), signal.SIGTERM)
        worker.terminate()
        (tmp_path / "note.word").touch()
        assert worker.wait(60) == 0
    finally:
        worker.kill()
        worker.wait()
    assert not leftovers()
    run = await client.runs.get(run_id)
    assert (run.status, run.result) == ("succeeded", "heard"), run.error
    await bird.aclose()


async def test_a_killed_keeper_is_a_failed_run_and_nothing_is_left(place: Place, tmp_path: Path) -> None:
    note = tmp_path / "note"
    run_id = await place.send("has_family", note=str(note))
    await until(lambda: note.exists() and note.read_text())
    os.kill(int(note.read_text()), signal.SIGKILL)
    run = await place.final(run_id)
    assert (run.status, run.failure_kind) == ("failed", "raised")
    assert "was killed from outside, together with its supervisor" in (run.error or "")
    assert not leftovers()


def gone_within(seconds: float) -> bool:
    """True if the children have ended, although this blocks the loop."""
    ends = time.monotonic() + seconds
    while leftovers() and time.monotonic() < ends:
        time.sleep(0.01)
    return not leftovers()


async def test_a_run_that_loses_its_lease_is_killed_at_once(tmp_path: Path) -> None:
    async with working(options=replace(QUICK, lease=4.0)) as place:
        note = tmp_path / "note"
        run_id = await holds_on.enqueue(note=str(note))
        await until(note.exists)
        engine, loop = place.process._engine, place.process._engine_loop
        assert engine is not None
        assert loop is not None
        [attempt] = engine.execution.held.values()
        loop.call_soon_threadsafe(engine.execution.stop, attempt, "lease")
        # This test and the user's coroutines share a loop: blocking it does not keep the child alive.
        assert gone_within(60)
        run = await place.final(run_id)
    assert (run.status, run.failure_kind, run.attempt) == ("failed", "lost", 1)


async def test_bad_runs_leave_nothing_in_the_worker_and_the_others_do_not_notice(
    caplog: pytest.LogCaptureFixture,
) -> None:
    chance = random.Random(1)
    names = [*MIXED, *chance.choices(list(MIXED), k=max(0, RUNS - len(MIXED)))]
    caplog.set_level(logging.ERROR, "tickbird.run")
    async with working(slots=4, options=replace(QUICK, lease=30.0)) as place:
        await place.client.schedules.create("beat", every(seconds=1), "beat", actor="test", overlap="allow", grace="1h")
        sizes: list[tuple[int, int]] = []
        for start in range(0, len(names), 10):
            runs = [(name, await place.send(name)) for name in names[start : start + 10]]
            for name, run_id in runs:
                run = await place.final(run_id, 100)
                # A prefetched run that was requeued before it started has another attempt, but no failure.
                failures = int(MIXED[name] == "failed")
                assert (name, run.status, run.failures, run.crashes) == (name, MIXED[name], failures, 0), run.error
            children = place.process._children
            assert children is not None
            # Warm children have four files each; there are as many as slots at the most.
            await until(lambda: len(children._all) == len(children._idle) and not children._tasks)  # noqa: B023
            sizes.append((_files() - 4 * len(children._all), _resident()))
            caplog.clear()
        await place.client.schedules.pause("beat", actor="test")

        async def ended() -> list[RunRecord]:
            found = list(await place.client.runs.list(schedule="beat", limit=1_000))
            return found if all(run.status in FINAL for run in found) else []

        beats = await until(ended)
        skips = (await place.store.ledger.tick_decisions(beats[0].schedule_id or 0, *_FAR, limit=10)).skips
    assert {(run.status, run.failures, run.crashes) for run in beats} == {("succeeded", 0, 0)}
    assert {skip.reason for skip in skips} <= {"paused"}
    files, memory = zip(*sizes, strict=True)
    assert files[-1] <= files[0]
    assert memory[-1] - memory[len(memory) // 5] < 30_000_000


_FAR = datetime(2000, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC)


def _files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_children_are_renewed_after_many_runs() -> None:
    children = ProcessPool(
        ChildConfig("tests.engine.processes.app:bird", bird.url, "default"), {}, lease=30.0, max_runs=2
    )
    try:
        pids = [_execute(children, bird, "noop").value for _ in range(3)]
        assert pids[0] == pids[1] != pids[2]
    finally:
        children.close()


async def test_children_end_when_idle() -> None:
    children = ProcessPool(
        ChildConfig("tests.engine.processes.app:bird", bird.url, "default"), {}, lease=30.0, idle=0.1
    )
    try:
        assert _execute(children, bird, "noop").value
        await until(lambda: not leftovers())
    finally:
        children.close()


def _execute(children: ProcessPool, app: Tickbird, task: str, begin_by: float = inf) -> EncodedResult:
    claimed = ClaimedRun(1, 1, 0, task, "manual", datetime.now(UTC), {})
    away = children.execute(claimed, Run(claimed), app.tasks[task], lambda: None, lambda: begin_by)
    return away.future.result(60)


@pytest.mark.parametrize("task", ["noop", "echo"])
def test_a_child_begins_nothing_after_its_lease(task: str) -> None:
    children = ProcessPool(ChildConfig("tests.engine.processes.app:bird", bird.url, "default"), {}, lease=30.0)
    try:
        with pytest.raises(LateStart):
            _execute(children, bird, task, steady() - 0.001)
        assert _execute(children, bird, task, steady() + 60).value
    finally:
        children.close()


class Shell(Command):
    """A shell that creates a file."""

    def __init__(self, path: Path) -> None:
        super().__init__("/bin/sh")
        self._path = path

    def launch(self, run: Run) -> LaunchSpec:
        return LaunchSpec(argv=[self.name, "-c", f"echo here > {self._path}"], env={}, folder="/", success=[0])


def test_a_program_begins_nothing_after_its_lease(tmp_path: Path) -> None:
    children = ProcessPool(None, {}, lease=30.0)
    claimed = ClaimedRun(1, 1, 0, "/bin/sh", "manual", datetime.now(UTC), {})
    shell = Shell(tmp_path / "touched")

    def start(begin_by: float) -> EncodedResult:
        return children.execute(claimed, Run(claimed), shell, lambda: None, lambda: begin_by).future.result(60)

    try:
        with pytest.raises(LateStart):
            start(steady() - 0.001)
        assert not (tmp_path / "touched").exists()
        assert start(steady() + 60).value == {"exit_code": 0}
        assert (tmp_path / "touched").exists()
    finally:
        children.close()


@pytest.mark.parametrize(
    "code, words",
    [
        ("raise RuntimeError('not twice')", "could not import broken_app:bird: .*RuntimeError: not twice"),
        ("import os; os._exit(9)", "ended with exit code 9 while it imported broken_app:bird"),
        ("del bird.tasks['work']", "has no task 'work'"),
    ],
)
def test_a_failed_import_in_a_child_reports_the_reason(
    code: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken_app.py").write_text(
        "from tickbird import Tickbird\nimport os\nbird = Tickbird()\n"
        "@bird.task(isolation='process')\ndef work(): ...\n"
        f"if 'TICKBIRD_CHILD' in os.environ:\n    {code}\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    app = Tickbird()
    app.task(name="work", isolation="process")(lambda: None)
    children = ProcessPool(ChildConfig("broken_app:bird", app.url, "default"), {"work": "broken_app"}, lease=30.0)
    try:
        with pytest.raises(TaskFailure, match=f"(?s){words}"):
            _execute(children, app, "work")
    finally:
        children.close()
