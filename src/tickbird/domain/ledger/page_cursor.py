"""A cursor through the ledger, which has runs and skips in separate pages."""

from __future__ import annotations

from collections.abc import Sequence

from tickbird.domain.ledger.decisions import LedgerPage
from tickbird.domain.ledger.entries import LedgerEntry


class LedgerCursor:
    """Merges pages of at most `limit` runs and `limit` skips, in order, up to the second `reach`."""

    def __init__(self, start: int, reach: int, limit: int) -> None:
        self.runs_from = self.skips_from = start
        self.reach = reach
        self._limit = limit
        self._complete = False

    @property
    def done(self) -> bool:
        return self._complete or self.reach < min(self.runs_from, self.skips_from)

    def take(self, page: LedgerPage) -> Sequence[LedgerEntry]:
        """The entries of the next page up to the second at which both parts are complete."""
        full = [entries[-1].first for entries in (page.runs, page.skips) if len(entries) == self._limit]
        horizon = min(full, default=self.reach)
        entries = sorted(
            (entry for entry in (*page.runs, *page.skips) if entry.first <= horizon), key=lambda entry: entry.first
        )
        self._complete = not full
        self.runs_from = max([self.runs_from, *(entry.last + 1 for entry in entries if entry.run_id is not None)])
        self.skips_from = max([self.skips_from, *(entry.last + 1 for entry in entries if entry.skip_id is not None)])
        return entries
