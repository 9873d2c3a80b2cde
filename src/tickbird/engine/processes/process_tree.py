"""Process trees: list their members, measure their memory, and kill them."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

LINUX = sys.platform == "linux"
_PROC = Path("/proc")
_SET_PDEATHSIG, _SET_CHILD_SUBREAPER = 1, 36
# Seconds between two checks for killed processes that still exist.
_KILL_INTERVAL = 0.005


def adopt_orphans() -> None:
    """Become the parent of every orphaned descendant, so that none escapes by forking twice."""
    if LINUX:
        _prctl(_SET_CHILD_SUBREAPER, 1)


def die_with_parent(parent: int, number: int) -> None:
    """Receive a signal when the thread that created this process ends; end now if it has ended."""
    if LINUX:
        _prctl(_SET_PDEATHSIG, number)
    if os.getppid() != parent:
        os._exit(1)


def _prctl(option: int, value: int) -> None:
    ctypes.CDLL(None).prctl(option, ctypes.c_ulong(value), 0, 0, 0)


def be_killed_first() -> None:
    """Let the kernel choose this process, not the worker, when memory runs out."""
    if LINUX:
        with suppress(OSError):
            Path("/proc/self/oom_score_adj").write_text("500")


def descendants(root: int) -> set[int]:
    """All processes below this one, zombies included."""
    if _LISTS_CHILDREN:
        return _walk(root)
    return _below(root, _parents_from_proc() if LINUX else _parents_from_ps())


# Some kernels are built without these files.
_LISTS_CHILDREN = Path("/proc/thread-self/children").exists()


def _walk(root: int) -> set[int]:
    pids: set[int] = set()
    ahead = [root]
    while ahead:
        children = _children(ahead.pop())
        ahead += children - pids
        pids |= children
    return pids


def _children(pid: int) -> set[int]:
    """The children of a process; the kernel lists them per thread."""
    pids: set[int] = set()
    # The process, or a thread of it, may end while it is read.
    with suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208 - after each run
            with suppress(OSError), open(f"/proc/{pid}/task/{thread}/children", "rb") as listed:  # noqa: PTH123
                pids.update(map(int, listed.read().split()))
    return pids


def _below(root: int, parents: dict[int, int]) -> set[int]:
    pids: set[int] = set()
    grown = {root}
    while grown:
        grown = {pid for pid, parent in parents.items() if parent in grown} - pids
        pids |= grown
    return pids


def _parents_from_proc() -> dict[int, int]:
    """Every process and its parent, from /proc."""
    parents = {}
    for pid in _pids():
        with suppress(OSError, ValueError, IndexError):
            parents[pid] = int(_status(pid)[1])
    return parents


def _parents_from_ps() -> dict[int, int]:
    """Every process and its parent, on systems without /proc."""
    listed = subprocess.run(["/bin/ps", "-axo", "pid=,ppid="], capture_output=True, check=False).stdout
    rows = (line.split() for line in listed.splitlines())
    return {int(row[0]): int(row[1]) for row in rows if len(row) == 2}


def _pids() -> Iterable[int]:
    return [int(path.name) for path in _PROC.iterdir() if path.name.isdigit()]


def _status(pid: int) -> list[bytes]:
    """State, parent and so on: the fields after the program's name, which may contain spaces and brackets."""
    return (_PROC / str(pid) / "stat").read_bytes().rpartition(b")")[2].split()


def alive(pids: Iterable[int]) -> set[int]:
    """The pids that are not zombies."""
    living = set()
    for pid in pids:
        with suppress(OSError):
            if not LINUX or _status(pid)[0] not in (b"Z", b"X"):
                living.add(pid)
    return living


def memory(pids: Iterable[int]) -> int:
    """Bytes of resident memory of these processes together."""
    return sum(_resident(pid) for pid in pids) if LINUX else _resident_listed(pids)


def _resident(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/statm", "rb") as statm:  # noqa: PTH123
            return int(statm.read().split()[1]) * _PAGE
    except (OSError, IndexError):
        return 0


_PAGE = os.sysconf("SC_PAGE_SIZE")


def _resident_listed(pids: Iterable[int]) -> int:
    joined = ",".join(map(str, pids))
    listed = subprocess.run(["/bin/ps", "-o", "rss=", "-p", joined], capture_output=True, check=False).stdout
    return sum(int(line) * 1024 for line in listed.split())


def kill_all(find: Callable[[], set[int]], gone: Callable[[set[int]], bool]) -> None:
    """Stop all processes that `find` returns, so that none can fork, and kill them, until `gone` returns True."""
    spared: set[int] = set()
    while True:
        stopped: set[int] = set()
        while new := find() - stopped - spared:
            for pid in new:
                send(pid, signal.SIGSTOP, spared)
            stopped |= new
        for pid in stopped:
            send(pid, signal.SIGKILL, spared)
        if gone(spared):
            return
        time.sleep(_KILL_INTERVAL)


def send(pid: int, number: int, spared: set[int] | None = None) -> None:
    """Signal a process that may have ended; adds a process of another user to `spared`."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return
    except PermissionError:
        if spared is not None:
            spared.add(pid)


def kill_marked(variable: str, value: str) -> None:
    """Kill all processes with this variable: the last resort, if the parent of a tree has ended."""
    if not LINUX:
        return
    entry = f"{variable}={value}".encode()

    def marked() -> set[int]:
        return {pid for pid in _pids() if pid != os.getpid() and _has(pid, entry)}

    kill_all(marked, lambda spared: not alive(marked() - spared))


def _has(pid: int, entry: bytes) -> bool:
    try:
        return entry in (_PROC / str(pid) / "environ").read_bytes().split(b"\0")
    except OSError:
        return False
