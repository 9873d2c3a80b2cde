"""A leak on purpose, to see that the soak finds it: a function of time and of nothing else."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterable
from typing import Final

from lab.faults import Member

TURN: Final = signal.SIGUSR1
_lost: list[bytes] = []


def signal_leak(members: Iterable[Member]) -> None:
    """Tell these workers to begin to lose memory; or to stop, the second time."""
    for member in members:
        if member.alive:
            os.kill(member.pid, TURN)


def await_leak() -> None:
    """In a worker: lose memory when told to; nothing where no rate was given."""
    rate, over = int(os.environ.get("SOAK_LEAK", "0")), threading.Event()
    leaking = threading.Thread(target=_leak, args=(rate, over), daemon=True)
    if rate:
        signal.signal(TURN, lambda *_: over.set() if leaking.ident else leaking.start())


def _leak(rate: int, over: threading.Event) -> None:
    """As much as is due by the clock: a thread that had to wait for its turn makes up for it."""
    began, lost = time.monotonic(), 0
    while not over.wait(0.1):
        due = int(rate * (time.monotonic() - began)) - lost
        _lost.append(b"x" * due)
        lost += due
