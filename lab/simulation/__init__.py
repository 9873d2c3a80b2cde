"""A deterministic simulation of many workers over months, in seconds, with its own checker."""

from __future__ import annotations

from lab.simulation.checker import Checker, Violation
from lab.simulation.world import Record, World

__all__ = ["Record", "Violation", "simulate"]


def simulate(seed: int) -> tuple[Record, list[Violation]]:
    """Play a seed; returns the record and the broken promises."""
    record = World(seed).run()
    return record, Checker(record).check()
