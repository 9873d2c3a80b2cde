"""Why a tick ran, did not run or will not: the whole chain of decisions for one instant."""

from __future__ import annotations

from tickbird.domain.errors import InvalidError
from tickbird.domain.explain.context import Evidence
from tickbird.domain.explain.decided_ticks import RunChain, SkipChain
from tickbird.domain.explain.explanation import Explanation
from tickbird.domain.explain.undecided_ticks import OpenChain
from tickbird.domain.time.instants import FIRST_SECOND, LAST_SECOND


def explain(evidence: Evidence) -> Explanation:
    """What was, or will be, decided for the instant, and why, from the rows that concern it."""
    if not FIRST_SECOND <= evidence.tick <= LAST_SECOND:
        raise InvalidError("at: lies outside the years 1 to 9999 in UTC.", field="at")
    run, skip = evidence.run, evidence.skip
    if run is not None:
        return RunChain(evidence).explain(run, skip)
    if skip is not None and (skipped := SkipChain(evidence).explain(skip)) is not None:
        return skipped
    return OpenChain(evidence).explain()
