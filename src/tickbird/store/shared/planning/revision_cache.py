"""The cache of decoded definitions of a process, so that planning reads only changed ones."""

from __future__ import annotations

from collections.abc import Iterable

from tickbird.domain.planning.fast_path import RevisionInfo
from tickbird.domain.sized_cache import SizedCache

Key = tuple[int, int]

# Bytes of decoded definitions in the cache. A typical one takes 1.5 kB, one with a large payload megabytes.
MAX_CACHE = 100_000_000
# Characters of stored definitions that one planning step reads. Decoded, they may take 25 times as many bytes.
MAX_READ = 8_000_000


class RevisionCache(SizedCache[Key, RevisionInfo]):
    """Decoded definitions by (schedule id, revision), with LRU eviction; for one thread or loop.

    Any entry may be evicted when another one is added: a caller that needs several must hold references.
    """

    def __init__(self, max_bytes: int = MAX_CACHE) -> None:
        super().__init__(max_bytes)

    def add(self, key: Key, revision: RevisionInfo) -> RevisionInfo:
        self.put(key, revision, revision.size)
        return revision


class UncommittedRevisions(RevisionCache):
    """For one transaction that writes revisions: its own ones are dropped with it, because it may be rolled back."""

    def __init__(self, committed: RevisionCache) -> None:
        super().__init__()
        self._committed = committed

    def get(self, key: Key) -> RevisionInfo | None:
        return super().get(key) or self._committed.get(key)


def leave_large(sizes: Iterable[tuple[int, int]]) -> set[int]:
    """The schedules that a planning step leaves to the next one, given ids and sizes of definitions."""
    total, excluded = 0, set()
    for schedule_id, size in sizes:
        if total and total + size > MAX_READ:
            excluded.add(schedule_id)
        else:
            total += size
    return excluded
