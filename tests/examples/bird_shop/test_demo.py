"""The demonstration as people start it: a process that prints, drains, and catches up at its next start."""

from __future__ import annotations

import asyncio
import os
import pty
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path

from tickbird.stores import open_store

ROOT = Path(__file__).resolve().parents[3]
COMMAND = [sys.executable, "-m", "examples.bird_shop"]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}
PATIENCE = 60


class Started:
    """A demo whose output is read line by line."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.lines: list[str] = []

    def until(self, *patterns: str) -> None:
        """Read until each pattern has been seen in a line."""
        assert self.process.stdout is not None
        missing = set(patterns)
        while missing:
            line = self.process.stdout.readline()
            assert line, f"ended before {missing} came:\n{''.join(self.lines)}"
            self.lines.append(line)
            missing -= {pattern for pattern in missing if re.search(pattern, line)}

    def rest(self) -> str:
        """All that is still to come."""
        return self.process.communicate(timeout=PATIENCE)[0]


@contextmanager
def started(folder: Path, *arguments: str) -> Iterator[Started]:
    with subprocess.Popen(
        [*COMMAND, *arguments], cwd=folder, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        try:
            yield Started(process)
        finally:
            process.kill()


async def wait_until_consumed(db: Path) -> None:
    """Wait until the events of a tick and of a task are published, and each group has read some."""
    store = open_store(f"sqlite:///{db}")
    await store.open()
    async with asyncio.timeout(PATIENCE):
        while True:
            topics = {event.topic for event in await store.events.read("default")}
            groups = await store.consumers.list("default")
            read = {group.name for group in groups if any(partition.position for partition in group.partitions)}
            if topics >= {"shop.closed", "orders.placed"} and read == {"billing", "statistics"}:
                break
            await asyncio.sleep(0.05)
    await store.close()


async def wait_until_late(db: Path, *schedules: str) -> None:
    """Until a worker that starts now finds a tick of each of these beyond its grace."""
    store = open_store(f"sqlite:///{db}")
    await store.open()
    try:
        for name in schedules:
            schedule = await store.schedules.get("default", name)
            assert schedule is not None
            assert schedule.definition is not None
            assert schedule.next_run_at is not None
            late_at = schedule.next_run_at + timedelta(seconds=schedule.definition.grace)
            left = (late_at - await store.now()).total_seconds()
            await asyncio.sleep(max(0.0, left) + 0.01)
    finally:
        await store.close()


def test_two_workers_in_leader_mode(tmp_path: Path) -> None:
    with started(tmp_path, "--leader", "--no-server") as demo:
        demo.until(r"leader mode: \S+ leads in term 1$", r"· tick +sync-orders +run \d+ of \d\d:\d\d:\d\d$")
        demo.process.send_signal(signal.SIGINT)
        rest = demo.rest()
        assert demo.process.returncode == 0, rest
    assert "Traceback" not in "".join(demo.lines) + rest


def test_prints_what_happens_drains_and_catches_up_at_the_next_start(tmp_path: Path) -> None:
    with started(tmp_path) as first:
        first.until(
            r"^The dashboard is at http://127\.0\.0\.1:\d+/ \(this machine only\)\.$",
            r"^The HTTP API is at http://127\.0\.0\.1:\d+/api/v1\.$",
            r"· tick +sync-orders +run \d+ of \d\d:\d\d:\d\d$",
            r"● ok +welcome .*welcome, tired reader$",
            r"↻ retry +charge-cards +run \d+, attempt 1: ConnectionError: .*; retry in",
            r"○ skip +sync-orders +.*overlap: run \d+ is still active$",
        )
        asyncio.run(wait_until_consumed(tmp_path / ".tickbird" / "demo.db"))
        first.process.send_signal(signal.SIGINT)
        first.until("^draining: waiting for .*; Ctrl-C again ends at once$")
        rest = first.rest()
        assert first.process.returncode == 0, rest
    assert re.search(r"^sync-orders +every 3 s ", rest, re.MULTILINE)
    db = tmp_path / ".tickbird" / "demo.db"
    assert f"tickbird --url sqlite:///{db} ls" in rest
    assert "Traceback" not in "".join(first.lines) + rest

    asyncio.run(wait_until_late(db, "ledger", "heartbeat"))
    with started(tmp_path) as second:
        second.until(
            r"« caught up +ledger +run \d+ for the missed tick of",
            r"○ skip +heartbeat .* misfire: too late",
            r"^caught up: \d+ runs? for \d+ missed ticks?, \d+ missed ticks? skipped$",
            # A run that the drain waits for.
            r"○ skip +sync-orders +.*overlap: run \d+ is still active$",
        )
        assert "welcome" not in "".join(second.lines)
        second.process.send_signal(signal.SIGTERM)
        second.until("^draining: ")
        second.process.send_signal(signal.SIGTERM)
        assert "Ended at once" in second.rest()
        assert second.process.returncode == 128 + signal.SIGTERM


def test_takes_the_screen_and_gives_it_back_without_colours_where_none_are_wanted(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    environment = {**ENVIRONMENT, "TERM": "xterm-256color", "NO_COLOR": "1", "COLUMNS": "80", "LINES": "24"}
    command = [*COMMAND, "--seconds", "0.5"]
    with subprocess.Popen(
        command, cwd=tmp_path, stdin=theirs, stdout=theirs, stderr=theirs, env=environment
    ) as process:
        os.close(theirs)
        shown = b""
        # Linux reports the end of a terminal as an input/output error.
        with suppress(OSError):
            while chunk := os.read(ours, 65_536):
                shown += chunk
        assert process.wait(PATIENCE) == 0, shown.decode()
    os.close(ours)
    text = shown.decode()
    taken, given_back = text.index("\x1b[?1049h"), text.index("\x1b[?1049l")
    assert taken < text.index("charge-cards") < given_back < text.index("Drained.")
    assert not re.search(r"\x1b\[[0-9;]*3[0-7]m", text)


def test_a_file_that_is_no_database_is_refused_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text(
        "not a database, but long enough to look like a file with a header of its own\n"
    )
    done = subprocess.run(
        [*COMMAND, "--db", "notes.txt"],
        cwd=tmp_path,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 1
    assert re.fullmatch(r"demo: notes\.txt .*\.\n", done.stderr)


def test_job_of_plain_sql_runs_on_a_temporary_server(tmp_path: Path) -> None:
    with started(tmp_path, "--store", "postgres", "--no-server") as demo:
        demo.until(r"demo on postgresql://", r"ok\s+restock\s.*: (Enough in stock|Seeds ordered)", r"ok\s+heartbeat")
        demo.process.send_signal(signal.SIGINT)
        assert "The PostgreSQL server and its data are removed." in demo.rest()
        assert demo.process.returncode == 0
