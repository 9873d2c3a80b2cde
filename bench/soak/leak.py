"""A deliberate leak, to test that the soak detects it; it depends only on time."""

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
    """Signal these workers to start leaking memory; the second signal stops it."""
    for member in members:
        if member.alive:
            os.kill(member.pid, TURN)


def await_leak() -> None:
    """In a worker: leak memory after the signal; no effect without a rate."""
    rate, over = int(os.environ.get("SOAK_LEAK", "0")), threading.Event()
    leaking = threading.Thread(target=_leak, args=(rate, over), daemon=True)
    if rate:
        signal.signal(TURN, lambda *_: over.set() if leaking.ident else leaking.start())


def _leak(rate: int, over: threading.Event) -> None:
    """Leak the amount that is due by the clock, so that a delayed thread catches up."""
    began, lost = time.monotonic(), 0
    while not over.wait(0.1):
        due = int(rate * (time.monotonic() - began)) - lost
        _lost.append(b"x" * due)
        lost += due
