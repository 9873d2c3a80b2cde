"""Results of reading the ledger."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tickbird.domain.ledger.entries import LedgerEntry
from tickbird.domain.runs.run import RunRecord, SkipRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class TickDecisions:
    """The runs and skips whose ticks are in a range, oldest first."""

    runs: Sequence[RunRecord] = ()
    skips: Sequence[SkipRecord] = ()


@dataclass(frozen=True, slots=True)
class RecentOutcomes:
    """What came to its end and what was skipped lately, newest first; skips with the name of their schedule."""

    ended: Sequence[RunRecord] = ()
    skips: Sequence[tuple[str, SkipRecord]] = ()


@dataclass(frozen=True, slots=True)
class LedgerPage:
    """A page of decisions in narrow rows: runs by tick and skips by their last one; and how far rows may be pruned."""

    runs: Sequence[LedgerEntry] = ()
    skips: Sequence[LedgerEntry] = ()
    pruned_until: int | None = None
