"""Other zone rules for a while: to tell what a change of them would move, and to test what it does."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tickbird.domain.time import zone_data, zones
from tickbird.domain.triggers.trigger import FORMS


@contextmanager
def zones_of(folder: str | Path) -> Iterator[None]:
    """Let this process have the rules of a folder, as one started with that PYTHONTZPATH has.

    What was read before keeps the rules it was read with: decode definitions and make triggers within. Other threads
    must not do so meanwhile.
    """
    before, known, caches = zone_data._PATH, dict(zones._zones), [dict(cache) for cache in _caches()]
    _forget(str(Path(folder).absolute()))
    try:
        yield
    finally:
        _forget(before)
        zones._zones.update(known)
        for cache, entries in zip(_caches(), caches, strict=True):
            cache.update(entries)


def _caches() -> list[dict[Any, Any]]:
    return [cache for form in FORMS.values() for cache in form.caches]


def _forget(path: str) -> None:
    zone_data._PATH = path
    zone_data._info.cache_clear()
    zone_data._source.cache_clear()
    zones._zones.clear()
    for cache in _caches():
        cache.clear()
