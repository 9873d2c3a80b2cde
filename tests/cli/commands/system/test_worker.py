"""The worker process: it starts, works, drains and ends as told."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from tests.cli.conftest import APP, Cli

WORK = """
    import os
    import time
    from pathlib import Path

    from tickbird import Tickbird, cron, every

    bird = Tickbird(app="work")


    @bird.task(schedule=every(seconds=1))
    def beat() -> None:
        with Path("beats").open("a") as file:
            file.write("beat\\n")


    @bird.task(schedule=cron("0 0 1 1 *"))
    def patient() -> None:
        os.mkfifo("running")
        Path("running").open("w").close()
        Path("go").open().close()


    @bird.task(schedule=cron("0 0 1 1 *"))
    def endless() -> None:
        Path("running").open("w").close()
        time.sleep(600)
"""


class Log:
    """The lines of a process's stderr, as they come."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.lines: list[str] = []
        self._process = process
        self._news = threading.Condition()
        self._thread = threading.Thread(target=self._read)
        self._thread.start()

    def _read(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            with self._news:
                self.lines.append(line)
                self._news.notify_all()

    def wait_for(self, text: str) -> None:
        """Until a line holds the text."""
        with self._news:
            assert self._news.wait_for(lambda: any(text in line for line in self.lines), 60), self.lines

    def end(self) -> str:
        """All of it, once the process has ended."""
        self._thread.join(60)
        return "".join(self.lines)


@contextmanager
def worker(cli: Cli, *args: str, **env: str) -> Iterator[tuple[subprocess.Popen[str], Log]]:
    """A worker that has started."""
    process = cli.start("worker", *args, **env)
    log = Log(process)
    try:
        log.wait_for(": worker ")
        yield process, log
    finally:
        process.kill()
        process.wait()
        log.end()
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        process.stderr.close()


def finished(process: subprocess.Popen[str], log: Log) -> tuple[int, str]:
    """The exit code and the log of a process that ends by itself."""
    return process.wait(60), log.end()


def test_worker_executes_due_runs_and_drains(cli: Cli) -> None:
    cli.write("work", WORK)
    beats = Path("beats")
    with worker(cli, "work:bird", "--slots", "2") as (process, log):
        wait_until(lambda: beats.exists() and beats.read_text().count("beat") >= 2)
        [live] = cli.store(lambda client, _: client.workers.list())
        assert (live.kind, live.queues, live.slots, set(live.tasks) - {"sql:store"}) == (
            "worker",
            ("default",),
            2,
            {"beat", "patient", "endless"},
        )
        process.send_signal(signal.SIGTERM)
        code, text = finished(process, log)
    assert code == 0, text
    assert "draining" in text
    assert "ended" in text
    assert "Traceback" not in text
    assert list(cli.store(lambda client, _: client.workers.list())) == []
    runs = cli.store(lambda client, _: client.runs.list(limit=1_000))
    # Every beat is recorded; what was planned last may wait for the next worker.
    assert {run.status for run in runs} <= {"succeeded", "queued"}
    assert sum(run.status == "succeeded" for run in runs) == beats.read_text().count("beat")


def wait_until(condition: Callable[[], object]) -> None:
    """Until a condition holds, looking often."""
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_drain_waits_for_running_runs(cli: Cli) -> None:
    cli.write("work", WORK)
    with worker(cli, "work:bird") as (process, log):
        os.mkfifo("go")
        cli("trigger", "patient")
        wait_until(Path("running").exists)
        Path("running").open().close()
        process.send_signal(signal.SIGINT)
        log.wait_for("draining")
        Path("go").open("w").close()
        code, text = finished(process, log)
    assert code == 0, text
    [run] = cli.store(lambda client, _: client.runs.list(schedule="patient"))
    assert run.status == "succeeded"


def test_a_second_signal_ends_at_once(cli: Cli) -> None:
    cli.write("work", WORK)
    os.mkfifo("running")
    with worker(cli, "work:bird") as (process, log):
        cli("trigger", "endless")
        Path("running").open().close()
        process.send_signal(signal.SIGTERM)
        log.wait_for("draining")
        # A second one that comes at once is taken for an echo of the first.
        while process.poll() is None:
            process.send_signal(signal.SIGTERM)
            time.sleep(0.05)
        code, text = finished(process, log)
    assert code == 128 + signal.SIGTERM, text
    assert "second signal" in text
    [run] = cli.store(lambda client, _: client.runs.list(schedule="endless"))
    assert run.status == "running"


def test_a_thread_that_does_not_stop_does_not_hold_up_the_end(cli: Cli) -> None:
    cli.write("work", WORK)
    os.mkfifo("running")
    with worker(cli, "work:bird", "--drain", "1") as (process, log):
        cli("trigger", "endless")
        Path("running").open().close()
        process.send_signal(signal.SIGTERM)
        code, text = finished(process, log)
    assert code == 0, text
    assert "1 tasks or consumers ignored the stop request" in text


def test_a_worker_that_only_plans(cli: Cli) -> None:
    cli.write("work", WORK)
    with worker(cli, "work:bird", "--plan-only") as (process, log):
        wait_until(lambda: cli.store(lambda client, _: client.runs.list()))
        [live] = cli.store(lambda client, _: client.workers.list())
        assert (live.kind, live.queues, live.slots) == ("planner", (), 0)
        process.send_signal(signal.SIGTERM)
        assert finished(process, log)[0] == 0
    assert not Path("beats").exists()


def test_a_worker_that_only_executes_some_queues(shop: Cli) -> None:
    args = ("--app", "shop:bird", "--execute-only", "--queues", "gpu,default", "--log-level", "debug")
    with worker(shop, *args) as (process, log):
        shop("trigger", "etl")
        wait_until(lambda: shop.store(lambda client, _: client.runs.list(status="failed")))
        live = [each for each in shop.store(lambda client, _: client.workers.list()) if each.kind == "executor"]
        assert live[0].queues == ("gpu", "default")
        process.send_signal(signal.SIGTERM)
        assert finished(process, log)[0] == 0
    assert "NOTE\n" in shop.ok("runs").out
    assert "ValueError: no data" in shop.ok("runs").out


def test_the_roles_of_the_environment_share_the_work(cli: Cli) -> None:
    cli.write("work", WORK)
    with worker(cli, "work:bird", TICKBIRD_ROLE="execute-only", TICKBIRD_QUEUES="default") as (executor, executing):
        executing.wait_for(" executes: app work")
        with worker(cli, "work:bird", TICKBIRD_ROLE="plan-only") as (planner, planning):
            planning.wait_for(" plans: app work")
            wait_until(lambda: Path("beats").exists() and Path("beats").read_text().count("beat") >= 2)
            workers = {worker.pid: worker for worker in cli.store(lambda client, _: client.workers.list())}
            assert {pid: worker.kind for pid, worker in workers.items()} == {
                executor.pid: "executor",
                planner.pid: "planner",
            }
            shown = cli.ok("workers").out
            assert "executor" in shown
            assert "planner" in shown
            for process, log in ((planner, planning), (executor, executing)):
                process.send_signal(signal.SIGTERM)
                assert finished(process, log)[0] == 0


def test_a_worker_never_migrates_a_server(bare: Cli, postgres_url: str) -> None:
    bare.write("shop", APP)
    words = bare.refused(5, "worker", "shop", "--url", postgres_url)
    assert words == "the database has no Tickbird schema. Run `tickbird migrate`."


def test_worker_logs_its_targets_at_startup(bare: Cli) -> None:
    text = "from tickbird import Tickbird, every\nbird = Tickbird()\n"
    bare.write("one", f"{text}@bird.task(schedule=every(hours=1))\ndef hourly(): ...")
    with worker(bare, "one", "--url", "sqlite:///one.db", "--slots", "1") as (_, log):
        log.wait_for("app default, 1 task, 1 schedule, queues default, 1 slot\n")


def test_worker_in_a_copy_is_on_standby(bare: Cli) -> None:
    bare.write("one", "from tickbird import Tickbird\nbird = Tickbird()\n")
    bare.ok("migrate", "--url", "sqlite:///one.db")
    shutil.copy(bare.folder / "one.db", bare.folder / "two.db")
    with worker(bare, "one", "--url", "sqlite:///two.db") as (process, log):
        log.wait_for(" is on standby: app default")
        process.terminate()
        code, text = finished(process, log)
    assert code == 0
    assert text.index("on standby: this store is a copy") < text.index(" is on standby: app default")
    assert " plans and executes: " not in text


def test_a_worker_of_a_server_that_is_down(bare: Cli) -> None:
    bare.write("shop", APP)
    process = bare.start("worker", "shop", "--url", "postgresql://postgres@127.0.0.1:1/db", "--log-level", "error")
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (5, "")
    assert "Traceback" not in err
    assert "cannot be reached" in err.splitlines()[-1]


@pytest.mark.parametrize(
    "args,words",
    [
        (("--plan-only", "--execute-only"), "cannot be combined"),
        (("--slots", "0"), "0 is not in the range"),
        (("--drain", "soon"), "'soon' is not a duration"),
        (("--lease", "0"), "It must be from 1 s"),
        (("--queues", "a b"), "queue: 'a b' is not a valid name"),
        (("--plan-only", "--queues", "gpu"), "plan-only executes no runs, so it serves no queues. Omit queues"),
        (("--queues", ""), "queue: '' is not a valid name"),
        (("--log-level", "loud"), "'loud' is not one of"),
        (("--namespace", "a b"), "namespace: 'a b' is not a valid name"),
    ],
)
def test_a_worker_refuses(bare: Cli, args: tuple[str, ...], words: str) -> None:
    bare.write("shop", APP)
    assert words in bare.refused(2, "worker", "shop", *args)


def test_worker_without_an_app_executes_sql_functions(folder: Path, postgres_url: str) -> None:
    cli = Cli(postgres_url, folder)
    cli.ok("migrate")
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(
            "CREATE FUNCTION cleanup() RETURNS jsonb LANGUAGE sql AS $$ SELECT tickbird.result(true, 'done') $$"
        )
        connection.execute(
            "INSERT INTO tickbird.scheduled_jobs (name, function_name, schedule)"
            " VALUES ('nightly', 'cleanup', '0 3 * * *')"
        )
        with worker(cli) as (process, log):
            log.wait_for("plans and executes: SQL functions of the store, no tasks, queues default, 10 slots")
            [(triggered,)] = connection.execute("SELECT tickbird.trigger_scheduled_job('nightly')").fetchall()
            [(report,)] = connection.execute("SELECT tickbird.wait(%s)", (triggered["run_id"],)).fetchall()
            process.send_signal(signal.SIGTERM)
            code, text = finished(process, log)
    assert (code, report["status"], report["result"]["message"]) == (0, "succeeded", "done"), text


def test_worker_without_an_app_needs_something_to_execute(bare: Cli) -> None:
    words = bare.refused(2, "worker", "--url", "sqlite:///new.db")
    assert "name the app, such as `myapp:bird`" in words
    assert "does not work through a server" in bare.refused(2, "worker", "--server", "http://localhost:1")
