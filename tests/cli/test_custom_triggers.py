"""Custom triggers with real workers: one that knows a trigger, and one that does not."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Callable
from typing import Any

from tests.cli.conftest import Cli

MOONS = """
    from datetime import datetime, timedelta

    from tickbird import Tickbird, any_of, cron, custom_trigger

    bird = Tickbird(app="moons")


    @custom_trigger("test_moon", describe=lambda step=1: f"A moon every {step} s")
    def moon(t: datetime, step: int = 1) -> datetime | None:
        return t + timedelta(seconds=step - t.timestamp() % step)


    @bird.task(schedule=moon(step=1), overlap="allow")
    async def rise() -> None: ...
"""
PLAIN = """
    from tickbird import Tickbird, every

    bird = Tickbird(app="plain")


    @bird.task(schedule=every(seconds=1), overlap="allow")
    async def beat() -> None: ...
"""
FILE = """
app = "ops"

[schedules.from-file]
custom = "test_moon"
params = { step = 3600 }
task = "rise"
"""


def until(condition: Callable[[], Any], seconds: float = 60.0) -> Any:
    """What the condition gives once it is true."""
    deadline = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return value


def stopped(worker: subprocess.Popen[str]) -> str:
    """The log of a worker that is asked to drain."""
    worker.send_signal(signal.SIGTERM)
    out, err = worker.communicate(timeout=60)
    return out + err


def test_a_worker_that_does_not_know_a_trigger_leaves_its_schedules_to_others(cli: Cli) -> None:
    cli.write("moons", MOONS)
    cli.write("plain", PLAIN)
    synced = cli.start("sync", "moons:bird")
    synced.communicate(timeout=60)
    assert synced.returncode == 0

    def runs(name: str) -> int:
        said = cli("runs", "--json", "--schedule", name)
        return len(said.json["runs"]) if said.code == 0 else 0

    plain = cli.start("worker", "plain:bird")
    try:
        # It plans and runs its own, and nothing of the other.
        until(lambda: runs("beat") >= 3)
        shown = cli.ok("show", "rise", "--json").json
        schedule = shown
        assert (schedule["state"], schedule["error"], runs("rise")) == ("active", None, 0)
        reason = "custom trigger 'test_moon' is not available here"
        assert '{"custom":"test_moon","params":{"step":1}}: ' + reason in " ".join(cli.ok("show", "rise").out.split())
        assert reason in cli.ok("why", "rise").out
        assert f"rise is ignored: {reason}." in " ".join(cli("doctor").out.split())
        assert reason in cli.refused(4, "trigger", "rise")
        assert reason in cli.ok("preview", "rise").out
        refusal = cli.refused(2, "preview", "--custom", "test_moon")
        assert "'test_moon' is not available here. Install the package" in refusal
        assert "entry point group `tickbird.triggers`" in refusal

        moons = cli.start("worker", "moons:bird")
        try:
            until(lambda: runs("rise") >= 3)
        finally:
            log = stopped(moons)
        assert "is ignored" not in log
    finally:
        log = stopped(plain)
    assert log.count(f"schedule rise is ignored: {reason}") == 1
    assert "parked" not in log


def test_known_custom_trigger_is_read_and_written(cli: Cli) -> None:
    cli.write("moons", MOONS)
    cli.ok("sync", "moons:bird")
    out = cli.ok("preview", "--custom", 'test_moon {"step": 60}', "-c", "2", "--after", "2026-01-01T00:00:00Z").out
    assert out.startswith('test_moon {"step": 60} · A moon every 60 s\n')
    assert "2026-01-01 00:01:00 UTC" in out
    (cli.folder / "ops.toml").write_text(FILE)
    said = cli("apply", "-f", "ops.toml")
    assert said.code == 0, said
    assert "A moon every 3600 s" in cli.ok("show", "from-file").out
    cli.ok("set", "from-file", 'custom=test_moon {"step": 7200}', "tz=Europe/Rome")
    trigger = cli.ok("show", "from-file", "--json").json["definition"]["trigger"]
    assert trigger == {"custom": "test_moon", "params": {"step": 7200}, "tz": "Europe/Rome"}
    assert "params = { step = 3600 }" in cli.ok("export", "--app", "ops").out
