"""Trees of processes, seen from outside: who is in one, how much memory it takes, and how to end all of it."""

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
# Between two looks at processes that were killed and are not gone yet.
_AGAIN = 0.005


def adopt_orphans() -> None:
    """Become the parent of every descendant that loses its own, so that none escapes by forking twice."""
    if LINUX:
        _prctl(_SET_CHILD_SUBREAPER, 1)


def die_with_parent(parent: int, number: int) -> None:
    """Be sent a signal when the thread that made this process ends; end now if it is gone already."""
    if LINUX:
        _prctl(_SET_PDEATHSIG, number)
    if os.getppid() != parent:
        os._exit(1)


def _prctl(option: int, value: int) -> None:
    ctypes.CDLL(None).prctl(option, ctypes.c_ulong(value), 0, 0, 0)


def be_killed_first() -> None:
    """When memory runs out, let the system choose this process and not the worker."""
    if LINUX:
        with suppress(OSError):
            Path("/proc/self/oom_score_adj").write_text("500")


def descendants(root: int) -> set[int]:
    """All processes below this one, zombies included."""
    if _LISTS_CHILDREN:
        return _walk(root)
    return _below(root, _scanned() if LINUX else _listed())


# Not every kernel is built with these files.
_LISTS_CHILDREN = Path("/proc/thread-self/children").exists()


def _walk(root: int) -> set[int]:
    found: set[int] = set()
    ahead = [root]
    while ahead:
        children = _children(ahead.pop())
        ahead += children - found
        found |= children
    return found


def _children(pid: int) -> set[int]:
    """The children of a process, which the system lists by the thread that made them."""
    found: set[int] = set()
    # It may end, or a thread of it, while it is being looked at.
    with suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208 - after each run
            with suppress(OSError), open(f"/proc/{pid}/task/{thread}/children", "rb") as listed:  # noqa: PTH123
                found.update(map(int, listed.read().split()))
    return found


def _below(root: int, parents: dict[int, int]) -> set[int]:
    found: set[int] = set()
    grown = {root}
    while grown:
        grown = {pid for pid, parent in parents.items() if parent in grown} - found
        found |= grown
    return found


def _scanned() -> dict[int, int]:
    """Every process and its parent, from /proc."""
    found = {}
    for pid in _pids():
        with suppress(OSError, ValueError, IndexError):
            found[pid] = int(_status(pid)[1])
    return found


def _listed() -> dict[int, int]:
    """Every process and its parent where there is no /proc."""
    listed = subprocess.run(["/bin/ps", "-axo", "pid=,ppid="], capture_output=True, check=False).stdout
    rows = (line.split() for line in listed.splitlines())
    return {int(row[0]): int(row[1]) for row in rows if len(row) == 2}


def _pids() -> Iterable[int]:
    return [int(path.name) for path in _PROC.iterdir() if path.name.isdigit()]


def _status(pid: int) -> list[bytes]:
    """State, parent and so on: what follows the program's name, which may have blanks and brackets in it."""
    return (_PROC / str(pid) / "stat").read_bytes().rpartition(b")")[2].split()


def alive(pids: Iterable[int]) -> set[int]:
    """Those that are not zombies."""
    found = set()
    for pid in pids:
        with suppress(OSError):
            if not LINUX or _status(pid)[0] not in (b"Z", b"X"):
                found.add(pid)
    return found


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
    wanted = ",".join(map(str, pids))
    listed = subprocess.run(["/bin/ps", "-o", "rss=", "-p", wanted], capture_output=True, check=False).stdout
    return sum(int(line) * 1024 for line in listed.split())


def kill_all(find: Callable[[], set[int]], gone: Callable[[set[int]], bool]) -> None:
    """Stop, so that nothing forks on, and kill what `find` finds, until `gone` says that nothing is left."""
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
        time.sleep(_AGAIN)


def send(pid: int, number: int, spared: set[int] | None = None) -> None:
    """Signal a process that may be gone by now; one of another user is noted in `spared`."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return
    except PermissionError:
        if spared is not None:
            spared.add(pid)


def kill_marked(variable: str, value: str) -> None:
    """Kill what has this in its environment: the last resort, when the parent of a tree is gone."""
    if not LINUX:
        return
    mark = f"{variable}={value}".encode()

    def marked() -> set[int]:
        return {pid for pid in _pids() if pid != os.getpid() and _has(pid, mark)}

    kill_all(marked, lambda spared: not alive(marked() - spared))


def _has(pid: int, mark: bytes) -> bool:
    try:
        return mark in (_PROC / str(pid) / "environ").read_bytes().split(b"\0")
    except OSError:
        return False
