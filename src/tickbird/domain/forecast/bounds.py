"""Bounds of a forecast."""

from __future__ import annotations

from typing import Final

MAX_TICKS: Final = 30_000_000
MAX_SCHEDULES: Final = 100_000
MAX_DAYS: Final = 366
MAX_OUTAGES: Final = 100
MAX_ROWS: Final = 10_000
