"""Report of `verify`: ticks and decisions that do not match."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from tickbird.domain.time.instants import clamp_seconds, to_datetime

Kind = Literal["missing", "doubled", "invented", "miscounted", "undecided"]


@dataclass(frozen=True, slots=True)
class LedgerError:
    """A difference between expected ticks and recorded decisions."""

    kind: Kind
    first: int
    last: int
    count: int
    text: str
    run_id: int | None = None
    skip_id: int | None = None

    def to_json(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "first": _iso(self.first),
            "last": _iso(self.last),
            "count": self.count,
            "text": self.text,
            "run_id": self.run_id,
            "skip_id": self.skip_id,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerReport:
    """The result of verifying one schedule over a range; it is correct if there are no findings."""

    schedule: str
    # The verified part of the range (None if there is none), and from when on the rows are complete.
    first: int | None
    last: int | None
    complete_from: int | None
    expected: int
    runs: int
    skipped: int
    # Ticks of the range that need no decision yet: paused, or not due.
    open: int
    findings: tuple[LedgerError, ...]
    finding_count: int

    @property
    def ok(self) -> bool:
        """Whether every expected tick has exactly one decision, and every decision has a tick."""
        return not self.finding_count

    def to_json(self) -> dict[str, Any]:
        return {
            "schedule": self.schedule,
            "ok": self.ok,
            "first": _iso(self.first),
            "last": _iso(self.last),
            "complete_from": _iso(self.complete_from),
            "expected": self.expected,
            "runs": self.runs,
            "skipped": self.skipped,
            "open": self.open,
            "finding_count": self.finding_count,
            "findings": [finding.to_json() for finding in self.findings],
        }


def _iso(second: int | None) -> str | None:
    return None if second is None else to_datetime(clamp_seconds(second)).isoformat().replace("+00:00", "Z")
