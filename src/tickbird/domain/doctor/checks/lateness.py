"""Seconds after which late planning and execution are reported."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from tickbird.domain.doctor.snapshot import StoreSnapshot

LATE: Final = 15.0
VERY_LATE: Final = 60.0


def age(condition: StoreSnapshot, since: datetime | None) -> float:
    return 0.0 if since is None else (condition.now - since).total_seconds()
