"""Clocks of the store, of this machine and of the workers."""

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
            "the store's. Decisions are still correct, but its tasks read a wrong time."
        )
        yield warning("clock", text, "Synchronize the clock of that machine (timedatectl set-ntp true).", apart=apart)


def _own_clock(condition: StoreSnapshot, asked_at: datetime, answered_at: datetime) -> Finding:
    behind, ahead = (asked_at - condition.now).total_seconds(), (condition.now - answered_at).total_seconds()
    # The store read its clock between `asked_at` and `answered_at`.
    apart = behind if behind > 0 else -ahead if ahead > 0 else 0.0
    if abs(apart) <= MAX_CLOCK_DIFFERENCE:
        difference = (
            f"{duration_text(abs(apart))} difference to this machine's clock"
            if abs(apart) >= 1
            else "No difference to this machine's clock"
        )
        return ok("clock", f"{difference}; all decisions use the store's clock.", apart=apart)
    text = (
        f"The store's clock is {duration_text(abs(apart))} {'behind' if apart > 0 else 'ahead of'} this machine's. All "
        "decisions use the store's clock. If it is wrong, every tick is wrong."
    )
    return problem("clock", text, "Synchronize both clocks (timedatectl set-ntp true).", apart=apart)
