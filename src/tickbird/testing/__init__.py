"""Tools for tests: a manual clock, a harness that moves time without sleeping, servers, the store conformance suite."""

from tickbird.testing.clock import ManualClock
from tickbird.testing.harness import Harness

__all__ = ["Harness", "ManualClock"]
