"""The report of a proof, and its JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from tickbird.domain.runs.run import RunRecord
from tickbird.proof.checker import Verdict


@dataclass(frozen=True, slots=True)
class Lateness:
    """Seconds from `due_at` to `started_at`, by the store's clock, of runs planned on time and started once."""

    median: float = 0.0
    p99: float = 0.0
    worst: float = 0.0

    @classmethod
    def of(cls, runs: Sequence[RunRecord]) -> Lateness:
        on_time = [run for run in runs if run.origin == "schedule" and run.attempt == 1 and run.started_at is not None]
        late = sorted((run.started_at - run.due_at).total_seconds() for run in on_time if run.started_at is not None)
        if not late:
            return cls()
        return cls(late[len(late) // 2], late[min(len(late) - 1, len(late) * 99 // 100)], late[-1])


@dataclass
class Report:
    """The verdict, and the parameters and counts of the proof."""

    seed: int
    store: str
    scratch: str
    seconds: float
    processes: int
    schedules: int
    verdict: Verdict
    lateness: Lateness = field(default_factory=Lateness)
    faults: Counter[str] = field(default_factory=Counter)
    # The number of terms of leaders; None without leader mode.
    terms: int | None = None
    # Hours by which the clocks of some workers were wrong.
    wrong_clocks: tuple[float, ...] = ()
    # The reason why something is left behind; empty if nothing is.
    leftovers: str = ""

    @property
    def proven(self) -> bool:
        """True if every promise was kept, at least one run was executed, and all schedules were checked."""
        return self.verdict.clean and self.verdict.run > 0 and not self.verdict.unsupported

    def to_json(self) -> dict[str, Any]:
        verdict = self.verdict
        return {
            "ok": self.proven,
            "seed": self.seed,
            "store": self.store,
            "seconds": self.seconds,
            "processes": self.processes,
            "schedules": self.schedules,
            "ticks": {
                "expected": verdict.expected,
                "run": verdict.run,
                "skipped": dict(verdict.skipped),
                "doubled": verdict.doubled,
                "lost": verdict.lost,
            },
            "lateness": {name: round(value, 3) for name, value in asdict(self.lateness).items()},
            "runs_repeated": verdict.repeated,
            "late_starts": verdict.late_starts,
            "faults": dict(self.faults),
            "wrong_clocks": list(self.wrong_clocks),
            "terms": self.terms,
            "violations": [asdict(violation) for violation in verdict.violations],
            "leftovers": self.leftovers,
        }
