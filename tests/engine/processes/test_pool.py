"""Effects of user code on its process, and the reactions of its run and the worker."""

from __future__ import annotations

import logging
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.engine.processes.app import bird
from tests.engine.processes.conftest import QUICK, Place, leftovers, until, working
from tickbird import DefinitionError, Tickbird
from tickbird.domain.runs.run import NewRun
from tickbird.domain.schedules.definition import Target
from tickbird.worker import WorkerProcess


async def test_functions_run_in_a_child_that_stays_warm(place: Place) -> None:
    first, second = await place.run("noop"), await place.run("noop")
    assert (first.status, second.status) == ("succeeded", "succeeded"), first.error
    assert first.result == second.result != os.getpid()


async def test_coroutines_in_a_child_share_a_loop_but_not_contexts(place: Place) -> None:
    value = {"text": "ä\udc00".encode("utf-8", "replace").decode(), "deep": [1, 2.5, None]}
    first, second = await place.run("echo", value=value), await place.run("echo")
    assert first.status == "succeeded", first.error
    assert first.result["value"] == value
    assert (first.result["attempt"], first.result["origin"], first.result["tick"]) == (1, "manual", None)
    assert first.result["url"] == place.process._bird.url
    assert second.result["loop"] == first.result["loop"]
    assert second.result["seen"] == "nothing"


@pytest.mark.parametrize(
    "task, words",
    [
        ("raises", "ValueError: odd"),
        ("exits", "the function raised SystemExit(3)"),
        ("segfaults", "was killed by SIGSEGV; its last lines:"),
        ("leaves", "ended with exit code 3; its last lines:\nlast words"),
        ("daemonizes_and_dies", "was killed by SIGKILL"),
        ("eats_memory", "more than its limit of 150 MB"),
        ("eats_elsewhere", "more than its limit of 150 MB"),
        ("closes_everything", "closed the channel to the worker"),
    ],
)
async def test_a_bad_end_is_a_failed_attempt(place: Place, task: str, words: str) -> None:
    run = await place.run(task)
    assert (run.status, run.failure_kind, run.attempt) == ("failed", "raised", 1)
    assert words in (run.error or "")
    assert (await place.run("noop")).status == "succeeded"
    assert len(leftovers()) == 2, "the supervisor and its child, which is idle"


async def test_a_traceback_shows_the_tasks_own_frames(place: Place) -> None:
    run = await place.run("raises")
    assert run.error is not None
    assert run.error.startswith("Traceback")
    assert "in raises" in run.error
    assert "isolation/child.py" not in run.error


@pytest.mark.parametrize("task", ["hangs", "hangs_async", "ignores_signals", "holds_gil", "daemonizes_and_hangs"])
async def test_a_child_is_killed_at_its_timeout(place: Place, task: str) -> None:
    run = await place.run(task)
    assert (run.status, run.failure_kind) == ("failed", "timeout")
    assert not leftovers(), "it is told when all is gone"
    assert (await place.run("plain")).status == "succeeded"


async def test_a_child_that_closes_its_channel_and_hangs_is_ended(place: Place) -> None:
    run = await place.run("closes_everything_and_hangs")
    # The system keeps a line open that another thread is reading.
    assert (run.status, run.failure_kind in ("raised", "timeout")) == ("failed", True)
    assert not leftovers()


async def test_orphans_of_a_run_are_killed_with_it(place: Place) -> None:
    run = await place.run("daemonizes")
    assert (run.status, run.result) == ("succeeded", "done")
    assert not leftovers()


async def test_a_payload_that_does_not_fit_is_not_tried_again(place: Place) -> None:
    [run_id] = await place.store.runs.enqueue("default", [NewRun(Target("takes"), {"number": "x"})], "test")
    run = await place.final(run_id)
    assert (run.status, run.attempt) == ("failed", 1)
    assert "payload of task 'takes'" in (run.error or "")


async def test_ten_megabytes_of_output_neither_block_nor_pile_up(
    place: Place, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.ERROR)
    run = await place.run("prints")
    assert (run.status, run.result) == ("succeeded", "printed"), run.error
    [child] = place.process._children._idle  # type: ignore[union-attr]
    assert all(len(output.tail) <= 4_000 and not output._rest for output in child._outputs)


async def test_lines_and_progress_reach_the_worker(place: Place, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "tickbird.run")
    run = await place.run("talks")
    assert run.status == "succeeded", run.error
    lines = [(record.levelno, record.getMessage()) for record in caplog.records if record.name == "tickbird.run.talks"]
    assert sorted(lines) == [(logging.INFO, "one of 2"), (logging.INFO, "printed"), (logging.WARNING, "wrong")]
    assert {record.__dict__["run_id"] for record in caplog.records if record.name == "tickbird.run.talks"} == {run.id}
    assert sorted(line.text for line in await place.client.runs.logs(run.id)) == ["one of 2", "printed", "wrong"]
    progress = await place.client.runs.progress(run.id)
    assert progress is not None
    assert progress.value == 0.5


async def test_a_cancelled_run_gets_a_stop_request_first(tmp_path: Path) -> None:
    note = tmp_path / "note"
    # The shorter the lease, the sooner a stopped run is killed.
    async with working(options=replace(QUICK, lease=30.0)) as place:
        run_id = await place.send("waits_to_be_told", note=str(note))
        await until(lambda: note.exists() and note.read_text() == "waits")
        await place.client.runs.cancel(run_id, actor="test")
        assert (await place.final(run_id)).status == "cancelled"
    assert note.read_text() == "told"


async def test_a_cancelled_run_that_does_not_listen_is_killed(place: Place, tmp_path: Path) -> None:
    note = tmp_path / "note"
    run_id = await place.send("hangs_on", note=str(note))
    await until(note.exists)
    await place.client.runs.cancel(run_id, actor="test")
    assert (await place.final(run_id)).status == "cancelled"
    assert not leftovers()


async def test_a_drain_kills_a_busy_child_and_requeues_its_run(tmp_path: Path) -> None:
    note = tmp_path / "note"
    async with working(options=replace(QUICK, drain=0.1)) as place:
        run_id = await place.send("hangs_on", note=str(note))
        await until(note.exists)
    assert not leftovers()
    run = await (await bird.client()).runs.get(run_id)
    await bird.aclose()
    assert (run.status, run.reason, run.failures, run.crashes) == ("queued", "requeued: its worker was stopping", 0, 0)


def test_an_app_that_cannot_be_imported_is_refused() -> None:
    local = Tickbird()

    @local.task(isolation="process")
    def work() -> None: ...

    with pytest.raises(DefinitionError, match=r"\(work\).*cannot be imported. Define the app in a module"):
        WorkerProcess(local)


@pytest.mark.parametrize(
    "options, words",
    [
        ({"isolation": "thread"}, "isolation 'thread' is not supported"),
        ({"memory": "1GB"}, "memory= can only limit a process"),
        ({"isolation": "process", "memory": "much"}, "is not a memory size"),
        ({"isolation": "process", "memory": "1MB"}, "out of range"),
        ({"isolation": "process", "memory": True}, "is not a memory size"),
    ],
)
def test_invalid_options_are_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(DefinitionError, match=words):
        Tickbird().task(name="work", **options)(lambda: None)


def test_memory_accepts_units() -> None:
    app = Tickbird()
    given: dict[int | str, int] = {
        "512MB": 512_000_000,
        "1.5 GB": 1_500_000_000,
        "256MiB": 2**28,
        40_000_000: 40_000_000,
        "2g": 2 * 10**9,
    }
    for number, (text, expected) in enumerate(given.items()):
        task = app.task(name=f"t{number}", isolation="process", memory=text)(lambda: None)
        assert task.memory == expected


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="only Linux shows the environment of a process")
async def test_a_child_has_the_workers_environment_which_stays_private(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    secrets = {"TICKBIRD_URL": "postgresql://u:hush@host/db", "DATABASE_URL": "hush", "ODD": "h\udcffsh"}
    for name, value in secrets.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PYTHONUTF8", "1")
    async with working() as place:
        found = (await place.run("environments")).result
    for part in ("code", "started"):
        assert {*secrets, "PATH", "PYTHONUTF8", "TICKBIRD_CHILD"} <= {*found[part]}, part
    for part in ("child", "supervisor"):
        assert not {*secrets} & {*found[part]}, part
        assert {"PATH", "PYTHONUTF8", "TICKBIRD_CHILD"} <= {*found[part]}, part
