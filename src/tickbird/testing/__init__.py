"""Tools for tests of apps: a manual clock, and a harness that moves time without sleeping."""

from tickbird.testing.clock import ManualClock
from tickbird.testing.harness import Harness

__all__ = ["Harness", "ManualClock"]
