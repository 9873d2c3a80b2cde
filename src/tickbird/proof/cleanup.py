"""The cleanup process, which removes everything of a proof, however the proof ends; and leftovers of killed proofs.

The proof writes to the standard input of the process: first a JSON line with the store and the folder, then `+PID` for
each process that starts, `-PID` for each that has ended, and the path of a folder that the proof itself removes unless
it is killed. When the input ends, the process kills the remaining PIDs, drops the store and removes the folder.
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
from typing import Final

from tickbird.domain.errors import SchemaError, StoreError
from tickbird.stores import find_temp_stores, open_store

_TIMEOUT: Final = 60.0


class CleanupProcess:
    """Starts the process and writes to it."""

    def __init__(self, origin: str, url: str, folder: Path) -> None:
        """`url` is the temporary store to drop, next to the store at `origin`."""
        # In its own session, so that it does not get the signals of a terminal.
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tickbird.proof.cleanup"],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            text=True,
        )
        self._write(json.dumps({"origin": origin, "url": url, "folder": str(folder)}))

    def add_process(self, pid: int) -> None:
        self._write(f"+{pid}")

    def remove_process(self, pid: int) -> None:
        """Forget a process that has ended, because the system may reuse its pid."""
        self._write(f"-{pid}")

    def add_folder(self, folder: str) -> None:
        """Add a folder that the proof removes itself, unless it is killed."""
        self._write(folder)

    def finish(self) -> str:
        """Clean up and wait for the end; returns the reason if something is left, otherwise an empty text."""
        try:
            output, _ = self._process.communicate(timeout=_TIMEOUT)
        except subprocess.TimeoutExpired:
            return "the cleanup continues in the background."
        return "" if output.strip() == "clean" else output.strip() or "the cleanup process was killed."

    def _write(self, line: str) -> None:
        with suppress(BrokenPipeError, ValueError):
            assert self._process.stdin is not None
            self._process.stdin.write(f"{line}\n")
            self._process.stdin.flush()


async def drop_leftovers(url: str) -> tuple[list[str], list[str]]:
    """Drop temporary stores of killed proofs next to a store; returns dropped names, and names with live workers."""
    stores = find_temp_stores(url)
    dropped: list[str] = []
    in_use: list[str] = []
    for address in await stores.left():
        if await _has_workers(address):
            in_use.append(stores.name(address))
        else:
            await stores.drop(address)
            dropped.append(stores.name(address))
    return dropped, in_use


async def _has_workers(url: str) -> bool:
    store = open_store(url)
    try:
        await store.open()
        return bool(await store.workers.list("default"))
    except SchemaError:
        # The store has another version, or is not completely migrated.
        return False
    finally:
        await store.close()


def _run() -> str:
    """Wait until the proof ends, then clean up; returns the reason if something is left, otherwise an empty text."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    request = json.loads(sys.stdin.readline() or "{}")
    if not request:
        return ""
    parent = os.getppid()
    pids: set[int] = set()
    folders = [request["folder"]]
    folders_of_proof: list[str] = []
    for line in map(str.strip, sys.stdin):
        if line.startswith("+"):
            pids.add(int(line[1:]))
        elif line.startswith("-"):
            pids.discard(int(line[1:]))
        else:
            folders_of_proof.append(line)
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    try:
        asyncio.run(find_temp_stores(request["origin"]).drop(request["url"]))
    except StoreError as error:
        return str(error)
    finally:
        if os.getppid() != parent:
            folders += folders_of_proof
        for folder in folders:
            shutil.rmtree(folder, ignore_errors=True)
    return ""


if __name__ == "__main__":
    failure = _run()
    # The proof may have been killed.
    with suppress(BrokenPipeError):
        print(failure or "clean", flush=True)
