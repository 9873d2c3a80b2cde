"""Why a tick ran, did not run or will not: the whole chain of decisions for one instant."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from tickbird.domain.errors import InvalidError
from tickbird.domain.explain.context import ExplainContext
from tickbird.domain.explain.decided_ticks import RunExplainer, SkipExplainer
from tickbird.domain.explain.explanation import Explanation, Step
from tickbird.domain.explain.undecided_ticks import UndecidedTickExplainer
from tickbird.domain.messages import capital
from tickbird.domain.time.instants import FIRST_SECOND, LAST_SECOND

# Verdicts on ticks that a copy does not decide, and on runs that it does not execute.
_PLANNED: Final = ("will run", "will be skipped", "undecided")
_ACTIVE: Final = ("running", "queued", "waiting")


def explain(context: ExplainContext) -> Explanation:
    """What was, or will be, decided for the instant, and why, from the rows that concern it."""
    if not FIRST_SECOND <= context.tick <= LAST_SECOND:
        raise InvalidError("at: lies outside the years 1 to 9999 in UTC.", field="at")
    told = _explain(context)
    if not context.copy_reason or told.verdict not in (*_PLANNED, *_ACTIVE):
        return told
    start = f"{told.sentence.removesuffix('.')}, {'and' if ', but ' in told.sentence else 'but'}"
    return replace(
        told,
        verdict="undecided" if told.verdict in _PLANNED else told.verdict,
        sentence=f"{start} nothing is planned or executed here: {context.copy_reason}.",
        steps=(*told.steps, copy_step(context.copy_reason)),
    )


def copy_step(copy_reason: str) -> Step:
    """The step that tells of a copy that nobody has accepted."""
    return Step(False, "copy", f"{capital(copy_reason)}.")


def _explain(context: ExplainContext) -> Explanation:
    run, skip = context.run, context.skip
    if run is not None:
        return RunExplainer(context).explain(run, skip)
    if skip is not None and (skipped := SkipExplainer(context).explain(skip)) is not None:
        return skipped
    return UndecidedTickExplainer(context).explain()
