"""Specs: a definition as the checker reads it, without the planner and the triggers of the product."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Final

NAMESPACE: Final = "default"
_CRON_EVERY_MINUTE: Final = "* * * * *"


class UnsupportedDefinition(ValueError):
    """A definition that is broken, or that the checker cannot judge."""


@dataclass(frozen=True, kw_only=True)
class Spec(ABC):
    """The policies that the checker judges by, in whole seconds. Subclasses add the grid."""

    catch_up: str = "one"
    grace: int = 10
    overlap: str = "skip"
    max_concurrent: int = 1
    spread: int = 0
    max_runs: int | None = None
    retries: int = 0
    on_crash: str = "retry"

    @abstractmethod
    def ticks(self, first: int, last: int) -> Sequence[int]:
        """All ticks from first to last, both included, in order."""

    @property
    def crash_limit(self) -> int:
        """The number of lost workers that a run survives."""
        return 3 if self.on_crash == "retry" else 0

    def offset(self, name: str) -> int:
        """Seconds from a tick of this schedule to its `due_at`."""
        if not self.spread:
            return 0
        digest = hashlib.blake2b(f"{NAMESPACE}/{name}".encode(), digest_size=8).digest()
        return int.from_bytes(digest, "big") % self.spread


@dataclass(frozen=True, kw_only=True)
class IntervalSpec(Spec):
    """Ticks at the multiples of an interval since the epoch: `every(seconds=N)` in UTC, and cron every minute."""

    interval: int

    def ticks(self, first: int, last: int) -> Sequence[int]:
        return range(first + -first % self.interval, last + 1, self.interval)


_POLICIES: Final = frozenset(field.name for field in fields(Spec))
# Fields that affect neither ticks nor attempts.
_IGNORED: Final = frozenset(("v", "trigger", "target", "payload"))


def read_spec(raw: Mapping[str, Any]) -> IntervalSpec:
    """The spec of a stored definition; UnsupportedDefinition if a field or the trigger is not one of the proof's."""
    if unknown := raw.keys() - _POLICIES - _IGNORED:
        raise UnsupportedDefinition(f"unknown fields: {', '.join(sorted(unknown))}")
    policies = {name: value for name, value in raw.items() if name in _POLICIES}
    match raw.get("trigger"):
        case {"every": {"seconds": int(seconds)}, **rest} if not rest and seconds > 0:
            return IntervalSpec(interval=seconds, **policies)
        # The offset of every zone is a whole number of minutes, so minutes begin at the same instants as in UTC.
        case {"cron": str(expression), **rest} if expression == _CRON_EVERY_MINUTE and rest.keys() <= {"tz"}:
            return IntervalSpec(interval=60, **policies)
        case trigger:
            raise UnsupportedDefinition(f"unknown trigger: {trigger!r}")
