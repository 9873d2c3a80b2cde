"""Why a tick ran, did not run or will not: the whole chain of decisions for one instant."""

from __future__ import annotations

from tickbird.domain.errors import InvalidError
from tickbird.domain.explain.context import ExplainContext
from tickbird.domain.explain.decided_ticks import RunExplainer, SkipExplainer
from tickbird.domain.explain.explanation import Explanation
from tickbird.domain.explain.undecided_ticks import UndecidedTickExplainer
from tickbird.domain.time.instants import FIRST_SECOND, LAST_SECOND


def explain(evidence: ExplainContext) -> Explanation:
    """What was, or will be, decided for the instant, and why, from the rows that concern it."""
    if not FIRST_SECOND <= evidence.tick <= LAST_SECOND:
        raise InvalidError("at: lies outside the years 1 to 9999 in UTC.", field="at")
    run, skip = evidence.run, evidence.skip
    if run is not None:
        return RunExplainer(evidence).explain(run, skip)
    if skip is not None and (skipped := SkipExplainer(evidence).explain(skip)) is not None:
        return skipped
    return UndecidedTickExplainer(evidence).explain()
