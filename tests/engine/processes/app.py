"""Tasks that damage their own process, as faulty user code does."""

from __future__ import annotations

import asyncio
import ctypes
import os
import signal
import subprocess
import sys
import time
from contextvars import ContextVar
from pathlib import Path
from typing import Any, NoReturn

from tickbird import Run, Tickbird

bird = Tickbird(app="isolated")
seen: ContextVar[str] = ContextVar("seen", default="nothing")


@bird.task(isolation="process")
def noop() -> int:
    return os.getpid()


@bird.task(isolation="process")
async def echo(run: Run, value: Any = None) -> dict[str, Any]:
    await asyncio.sleep(0)
    before = seen.get()
    seen.set("something")
    return {
        "value": value,
        "seen": before,
        "attempt": run.attempt,
        "origin": run.origin,
        "tick": run.scheduled_for,
        "loop": id(asyncio.get_running_loop()),
        "url": bird.url,
    }


@bird.task(isolation="process")
def environments() -> dict[str, list[str]]:
    """The variables of its own code, of a program that it starts, and those that the system shows of it."""
    shown = {"child": Path("/proc/self/environ"), "supervisor": Path(f"/proc/{os.getppid()}/environ")}
    found = {name: path.read_bytes() for name, path in shown.items()}
    found["started"] = subprocess.run(["/usr/bin/env", "-0"], capture_output=True, check=True).stdout
    names = {name: [each.partition(b"=")[0].decode() for each in data.split(b"\0")] for name, data in found.items()}
    return {"code": [*os.environ], **names}


@bird.task(isolation="process")
def raises() -> NoReturn:
    raise ValueError("odd")


@bird.task(isolation="process")
def exits() -> NoReturn:
    sys.exit(3)


@bird.task(isolation="process")
def takes(number: int) -> int:
    return number


@bird.task(isolation="process", timeout=1)
def hangs() -> None:
    time.sleep(600)


@bird.task(isolation="process", timeout=1)
async def hangs_async() -> None:
    await asyncio.sleep(600)


@bird.task(isolation="process", timeout=1)
def ignores_signals() -> None:
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    while True:
        time.sleep(600)


@bird.task(isolation="process", timeout=1)
def holds_gil() -> None:
    ctypes.PyDLL(None).sleep(600)


def daemonize(seconds: int = 600) -> None:
    """A process that forked twice, has a session of its own, and nothing of the environment."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            os.execve("/bin/sleep", ["sleep", f"{seconds}.{MARK}"], {})
        os._exit(0)
    os.wait()


# A marker in the command lines of processes with an empty environment, unique per test process.
MARK_NAME = f"TICKBIRD_TEST_MARK_{os.environ.get('PYTEST_XDIST_WORKER', '')}"
MARK = os.environ.setdefault(MARK_NAME, f"{os.getpid():07d}")


@bird.task(isolation="process")
def daemonizes() -> str:
    daemonize()
    return "done"


@bird.task(isolation="process", timeout=1)
def daemonizes_and_hangs() -> None:
    daemonize()
    holds_gil.function()


@bird.task(isolation="process")
def daemonizes_and_dies() -> None:
    daemonize()
    os.kill(os.getpid(), signal.SIGKILL)


@bird.task(isolation="process")
def segfaults() -> None:
    print("about to fall")
    ctypes.string_at(0)


@bird.task(isolation="process")
def leaves(code: int = 3) -> None:
    print("last words", file=sys.stderr, flush=True)
    os._exit(code)


@bird.task(isolation="process")
def prints(megabytes: int = 10) -> str:
    line = "x" * 99
    for _ in range(megabytes * 10_000):
        print(line)
    sys.stderr.write("y" * 1_000_000)
    return "printed"


@bird.task(isolation="process", memory="150MB", timeout=100)
def eats_memory() -> None:
    eaten = []
    while True:
        eaten.append(bytearray(10_000_000))
        time.sleep(0.005)


@bird.task(isolation="process", memory="150MB", timeout=100)
def eats_elsewhere() -> None:
    code = "import time; eaten = bytearray(400_000_000); time.sleep(600)"
    subprocess.run([sys.executable, "-c", code], check=False)


@bird.task(isolation="process", timeout=100)
def closes_everything() -> None:
    os.closerange(0, 10_000)


@bird.task(isolation="process", timeout=1)
def closes_everything_and_hangs() -> None:
    os.closerange(0, 10_000)
    time.sleep(600)


@bird.task(isolation="process")
def talks(run: Run) -> None:
    run.log.debug("not heard")
    run.log.info("one of %d", 2)
    print("printed")
    print("wrong", file=sys.stderr)
    run.heartbeat(progress=0.5)


@bird.task(isolation="process")
def waits_to_be_told(run: Run, note: str) -> str:
    Path(note).write_text("waits")
    while not run.cancelled:
        time.sleep(0.01)
    Path(note).write_text("told")
    return "stopped by itself"


@bird.task(isolation="process")
def waits_for_word(note: str) -> str:
    Path(note).write_text("waits")
    while not Path(f"{note}.word").exists():
        time.sleep(0.01)
    return "heard"


@bird.task(isolation="process", on_crash="fail")
def holds_on(note: str) -> None:
    daemonize()
    Path(note).write_text("holds")
    holds_gil.function()


@bird.task(isolation="process")
def has_family(note: str) -> None:
    subprocess.Popen(["sleep", f"600.{MARK}"], start_new_session=True)
    Path(note).write_text(str(os.getppid()))
    time.sleep(600)


@bird.task(isolation="process")
def hangs_on(note: str) -> None:
    daemonize()
    Path(note).write_text("hangs")
    while True:
        time.sleep(600)


@bird.task
async def plain() -> str:
    return "plain"


@bird.task
async def beat() -> None: ...
