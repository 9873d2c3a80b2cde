"""Temporary time zone data: to compute the effect of an update, and for tests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tickbird.domain.time import zone_data, zones
from tickbird.domain.triggers.trigger import FORMS


@contextmanager
def zones_of(folder: str | Path) -> Iterator[None]:
    """Use the time zone data of a folder in this process, like one that was started with that PYTHONTZPATH.

    Existing definitions and triggers keep their data: decode definitions and create triggers inside. Other threads must
    not do so at the same time.
    """
    before, cached_zones, caches = zone_data._PATH, dict(zones._zones), [dict(cache) for cache in _caches()]
    _reload(str(Path(folder).absolute()))
    try:
        yield
    finally:
        _reload(before)
        zones._zones.update(cached_zones)
        for cache, entries in zip(_caches(), caches, strict=True):
            cache.update(entries)


def _caches() -> list[dict[Any, Any]]:
    return [cache for form in FORMS.values() for cache in form.caches]


def _reload(path: str) -> None:
    zone_data._PATH = path
    zone_data._info.cache_clear()
    zone_data._source.cache_clear()
    zones._zones.clear()
    for cache in _caches():
        cache.clear()
