"""Runs with `on_crash="ask"` that have lost their worker: did the attempt have its effect?"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal, get_args

from tickbird.domain.errors import ConflictError, InvalidError
from tickbird.domain.runs.run import ClaimedRun
from tickbird.domain.text import check_text

# yes: the run has succeeded. no: another attempt. unknown: a person decides.
Effect = Literal["yes", "no", "unknown"]
Decision = Literal["yes", "no"]
EFFECTS: Final[tuple[Effect, ...]] = get_args(Effect)
# After this many calls of a reconcile function that lost their worker, a person decides.
MAX_CALLS: Final = 3
LOST_CALLS: Final = f"the worker was lost during each of {MAX_CALLS} calls of the reconcile function"
# The reason of a run that has succeeded because its effect had happened.
EFFECT_CONFIRMED: Final = "its worker was lost after the effect"


@dataclass(frozen=True, slots=True, kw_only=True)
class LostRun:
    """A run whose worker was lost, and the answer so far; `schedule` is None if it has none."""

    run_id: int
    schedule: str | None
    target: str
    # The attempt that has lost its worker.
    attempt: int
    lost_at: datetime
    # Calls of the reconcile function.
    calls: int = 0
    # None: there is no answer yet. After "unknown", a person may answer.
    effect: Effect | None = None
    # Why the reconcile function has no answer.
    error: str | None = None
    resolved_at: datetime | None = None
    # The person who answered; None for the reconcile function.
    resolved_by: str | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class ReconcileCall:
    """A leased call of a reconcile function; with the run's attempt, its number is the fencing token."""

    run: ClaimedRun
    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ReconcileReport:
    """The answer of a reconcile function, with the error if it has none."""

    run_id: int
    attempt: int
    number: int
    effect: Effect
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolution:
    """A person's answer whether the lost attempt had its effect."""

    actor: str
    effect: Decision
    note: str = ""

    def __post_init__(self) -> None:
        check_text(self.actor, "actor", minimum=1, maximum=200)
        check_text(self.note, "note")
        if self.effect not in ("yes", "no"):
            raise InvalidError(
                f"effect: {str(self.effect)[:40]!r} is neither yes nor no.",
                field="effect",
                hint="yes: the run has succeeded; no: it gets another attempt.",
            )


def not_undecided(run_id: int, status: str) -> ConflictError:
    return ConflictError(
        f"run {run_id} is {status}, and waits for no answer.", hint="`tickbird undecided` lists the runs that do."
    )
