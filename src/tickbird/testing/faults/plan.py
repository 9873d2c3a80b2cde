"""Which faults come when: all of it from a seed, so that a failure can be played again."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from tickbird.testing.faults.refusals import FINISHES, INSERTS

# Kind → how often, and the seconds that it lasts: from, to.
_ANYWHERE = {
    "kill": (4, 0.0, 3.0),
    "freeze": (3, 1.0, 6.0),
    "drain": (2, 0.0, 2.0),
    INSERTS: (2, 1.0, 6.0),
    FINISHES: (2, 1.0, 6.0),
}
_ON_A_WIRE = {
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
_ON_A_FILE = {"locked file": (3, 1.0, 4.0)}
_PAUSE = 3.0


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault: when, of what kind, at which worker's place, for how long."""

    at: float
    kind: str
    place: int
    seconds: float

    def __str__(self) -> str:
        lasts = f" for {self.seconds:.1f} s" if self.seconds else ""
        return f"{self.at:7.1f} s  {self.kind} at place {self.place}{lasts}"


def make_plan(seed: int, seconds: float, *, places: int, on_a_file: bool) -> list[Fault]:
    """The faults of so many seconds."""
    chance = Random(f"faults {seed}")
    kinds = {**_ANYWHERE, **(_ON_A_FILE if on_a_file else _ON_A_WIRE)}
    found: list[Fault] = []
    at = 0.0
    while (at := at + chance.expovariate(1 / _PAUSE)) < seconds:
        [kind] = chance.choices(list(kinds), [often for often, _, _ in kinds.values()])
        found.append(Fault(at, kind, chance.randrange(places), chance.uniform(*kinds[kind][1:])))
    return found
