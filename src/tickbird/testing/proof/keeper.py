"""A process beside the proof that cleans up behind it, however the proof ends.

It is told on its standard input: first the store and the folder, then `+PID` for each process that was started and
`-PID` for each that is gone, and `/PATH` for a folder that the proof itself removes unless it is killed. When its input
ends, it kills who is left, drops the store and removes the folder.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from tickbird.domain.errors import StoreError
from tickbird.stores import find_temp_stores

_PATIENCE = 60.0


class Keeper:
    """The proof's side of it."""

    def __init__(self, beside: str, url: str, folder: Path) -> None:
        # In a session of its own: what a person sends from the keyboard is not for it.
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tickbird.testing.proof.keeper"],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            text=True,
        )
        self._tell(json.dumps({"beside": beside, "url": url, "folder": str(folder)}))

    def started(self, pid: int) -> None:
        """This process is to be killed in the end."""
        self._tell(f"+{pid}")

    def gone(self, pid: int) -> None:
        """This one is no more, and its number may become another's."""
        self._tell(f"-{pid}")

    def beside(self, folder: str) -> None:
        """Remove this folder too, should the proof not live to do it."""
        self._tell(folder)

    def clean(self) -> str:
        """Let it clean up, and wait for that; what it could not do, in words."""
        try:
            said, _ = self._process.communicate(timeout=_PATIENCE)
        except subprocess.TimeoutExpired:
            return "cleaning up takes long and goes on by itself"
        return "" if said.strip() == "clean" else said.strip() or "the process that cleans up was killed"

    def _tell(self, line: str) -> None:
        with suppress(BrokenPipeError, ValueError):
            assert self._process.stdin is not None
            self._process.stdin.write(f"{line}\n")
            self._process.stdin.flush()


def keep() -> str:
    """Wait until the proof ends, then clean up; what could not be done."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    told = json.loads(sys.stdin.readline() or "{}")
    if not told:
        return ""
    parent = os.getppid()
    pids: set[int] = set()
    folders = [told["folder"]]
    others: list[str] = []
    for line in map(str.strip, sys.stdin):
        if line.startswith("+"):
            pids.add(int(line[1:]))
        elif line.startswith("-"):
            pids.discard(int(line[1:]))
        else:
            others.append(line)
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    try:
        asyncio.run(find_temp_stores(told["beside"]).drop(told["url"]))
    except StoreError as error:
        return str(error)
    finally:
        if os.getppid() != parent:
            folders += others
        for folder in folders:
            shutil.rmtree(folder, ignore_errors=True)
    return ""


if __name__ == "__main__":
    failure = keep()
    # Who asked may be gone.
    with suppress(BrokenPipeError):
        print(failure or "clean", flush=True)
