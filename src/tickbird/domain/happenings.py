"""What happens across schedules: ticks that are decided, and runs that come to their end."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from tickbird.domain.runs import RunRecord, SkipRecord

HappeningKind = Literal["planned", "ended", "skipped"]


@dataclass(frozen=True, slots=True)
class Happening:
    """A run that was made, a run that has ended, or ticks that were skipped."""

    at: datetime
    kind: HappeningKind
    schedule: str | None
    run: RunRecord | None = None
    skip: SkipRecord | None = None

    @property
    def key(self) -> tuple[str, int, datetime | None]:
        """What tells it from all others; a skip that is extended happens again."""
        if self.skip is not None:
            return self.kind, self.skip.id, self.skip.last
        assert self.run is not None
        return self.kind, self.run.id, None
