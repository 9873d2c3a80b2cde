"""Rows of the ledger: the run of a tick, or a skip."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """One row of the ledger: the run of a tick, or a skip of the ticks first..last; whole seconds."""

    first: int
    last: int
    count: int
    revision: int
    # The origin of a run, the reason of a skip.
    cause: str
    decided_at: int
    run_id: int | None = None
    skip_id: int | None = None

    @classmethod
    def run(cls, tick: int, revision: int, origin: str, decided_at: int, run_id: int) -> LedgerEntry:
        return cls(tick, tick, 1, revision, origin, decided_at, run_id)

    @classmethod
    def skip(
        cls, first: int, last: int, count: int, revision: int, reason: str, decided_at: int, skip_id: int
    ) -> LedgerEntry:
        return cls(first, last, count, revision, reason, decided_at, None, skip_id)

    @property
    def name(self) -> str:
        """A description of the row."""
        return f"run {self.run_id}" if self.run_id is not None else f"skip {self.skip_id} ({self.cause})"
