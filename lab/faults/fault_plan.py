"""The plan of a fault run: kinds and times of faults from a seed, so that a failure can be repeated."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from lab.faults.refusals import FINISHES, INSERTS

# Kind → weight, and its minimum and maximum duration in seconds.
_BOTH = {
    "kill": (4, 0.0, 3.0),
    "freeze": (3, 1.0, 6.0),
    "drain": (2, 0.0, 2.0),
    INSERTS: (2, 1.0, 6.0),
    FINISHES: (2, 1.0, 6.0),
}
_POSTGRES = {
    "cut": (3, 0.0, 0.0),
    "swallow": (2, 2.0, 8.0),
    "slow": (2, 2.0, 6.0),
    "unanswered commit": (3, 0.0, 0.0),
    "unheard commit": (2, 0.0, 0.0),
    "kill in commit": (3, 0.5, 2.0),
    "frozen backend": (2, 1.0, 5.0),
    "ended backends": (1, 0.0, 0.0),
    "server restart": (2, 0.0, 0.0),
}
_SQLITE = {"locked file": (3, 1.0, 4.0)}
_MEAN_PAUSE = 3.0


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault of the worker in a slot, or of its connection; times in seconds."""

    at: float
    kind: str
    slot: int
    seconds: float

    def __str__(self) -> str:
        lasts = f" for {self.seconds:.1f} s" if self.seconds else ""
        return f"{self.at:7.1f} s  {self.kind} at slot {self.slot}{lasts}"


def make_plan(seed: int, seconds: float, *, slots: int, on_file: bool) -> list[Fault]:
    """The faults of this number of seconds, in order."""
    random = Random(f"faults {seed}")
    kinds = {**_BOTH, **(_SQLITE if on_file else _POSTGRES)}
    faults: list[Fault] = []
    at = 0.0
    while (at := at + random.expovariate(1 / _MEAN_PAUSE)) < seconds:
        [kind] = random.choices(list(kinds), [weight for weight, _, _ in kinds.values()])
        faults.append(Fault(at, kind, random.randrange(slots), random.uniform(*kinds[kind][1:])))
    return faults
