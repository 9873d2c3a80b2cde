"""The clocks of the store, of this machine and of the workers."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from tickbird.domain.doctor.finding import Finding, ok, problem, warning
from tickbird.domain.doctor.snapshot import StoreSnapshot
from tickbird.domain.time.durations import duration_text

# Seconds.
MAX_CLOCK_DIFFERENCE: Final = 5.0


def clock(condition: StoreSnapshot) -> Iterator[Finding]:
    if condition.asked_at is not None and condition.answered_at is not None:
        yield _own_clock(condition, condition.asked_at, condition.answered_at)
    for worker in condition.workers:
        apart = worker.health.get("clock")
        if not isinstance(apart, int | float) or abs(apart) <= MAX_CLOCK_DIFFERENCE:
            continue
        text = (
            f"The clock of worker {worker.id} is {duration_text(abs(apart))} {'ahead of' if apart > 0 else 'behind'} "
            "the store's. Decisions are right all the same; what its tasks read from the clock is not."
        )
        yield warning("clock", text, "Let that machine follow a time server (timedatectl set-ntp true).", apart=apart)


def _own_clock(condition: StoreSnapshot, asked_at: datetime, answered_at: datetime) -> Finding:
    behind, ahead = (asked_at - condition.now).total_seconds(), (condition.now - answered_at).total_seconds()
    # The store's clock was read at some moment between the question and the answer.
    apart = behind if behind > 0 else -ahead if ahead > 0 else 0.0
    if abs(apart) <= MAX_CLOCK_DIFFERENCE:
        told = (
            f"{duration_text(abs(apart))} apart from this machine's"
            if abs(apart) >= 1
            else "The same as this machine's"
        )
        return ok("clock", f"{told}; all decisions use the store's.", apart=apart)
    text = (
        f"The store's clock is {duration_text(abs(apart))} {'behind' if apart > 0 else 'ahead of'} this machine's. All "
        "decisions use the store's, so if that one is wrong, every tick is."
    )
    return problem("clock", text, "Let both machines follow a time server (timedatectl set-ntp true).", apart=apart)
