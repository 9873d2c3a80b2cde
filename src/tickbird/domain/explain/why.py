"""`why`: explains the decision for one instant of a schedule."""

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

# Verdicts on ticks that a copy does not plan, and on runs that it does not execute.
_PLANNED: Final = ("will run", "will be skipped", "undecided")
_ACTIVE: Final = ("running", "queued", "waiting")


def explain(context: ExplainContext) -> Explanation:
    """Explain the past or expected decision for the instant."""
    if not FIRST_SECOND <= context.tick <= LAST_SECOND:
        raise InvalidError(
            "at is outside the years 1 to 9999 in UTC.", field="at", hint="Choose an instant in this range."
        )
    explanation = _explain(context)
    if not context.copy_reason or explanation.verdict not in (*_PLANNED, *_ACTIVE):
        return explanation
    start = f"{explanation.sentence.removesuffix('.')}, {'and' if ', but ' in explanation.sentence else 'but'}"
    return replace(
        explanation,
        verdict="undecided" if explanation.verdict in _PLANNED else explanation.verdict,
        sentence=f"{start} nothing is planned or executed here: {context.copy_reason}.",
        steps=(*explanation.steps, copy_step(context.copy_reason)),
    )


def copy_step(copy_reason: str) -> Step:
    """Return the step about a copy that was not accepted."""
    return Step(False, "copy", f"{capital(copy_reason)}.")


def _explain(context: ExplainContext) -> Explanation:
    run, skip = context.run, context.skip
    if run is not None:
        return RunExplainer(context).explain(run, skip)
    if skip is not None and (skipped := SkipExplainer(context).explain(skip)) is not None:
        return skipped
    return UndecidedTickExplainer(context).explain()
