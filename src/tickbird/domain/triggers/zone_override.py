"""Other zone rules for a while: to tell what a change of them would move, and to test what it does."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tickbird.domain.time import zone_data, zones
from tickbird.domain.triggers.cron import cron
from tickbird.domain.triggers.rrule import rrule


@contextmanager
def zones_of(folder: str | Path) -> Iterator[None]:
    """Let this process have the rules of a folder, as one started with that PYTHONTZPATH has.

    What was read before keeps the rules it was read with: decode definitions and make triggers within. Other threads
    must not do so meanwhile.
    """
    before, known, crons = zone_data._PATH, dict(zones._zones), dict(cron._crons)
    _forget(str(Path(folder).absolute()))
    try:
        yield
    finally:
        _forget(before)
        zones._zones.update(known)
        cron._crons.update(crons)


def _forget(path: str) -> None:
    zone_data._PATH = path
    zone_data._info.cache_clear()
    zone_data._source.cache_clear()
    zones._zones.clear()
    cron._crons.clear()
    # Its UNTIL may be in UTC.
    rrule._rules.clear()
