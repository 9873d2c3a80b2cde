"""The decoded definitions that a process keeps, so that planning reads only what changed."""

from __future__ import annotations

from collections.abc import Iterable

from tickbird.domain.planning.fast_path import RevisionInfo
from tickbird.domain.sized_cache import SizedCache

# Bytes of decoded definitions that a process keeps. An ordinary one takes 1.5 kB, one with a large payload megabytes.
MAX_CACHE = 100_000_000


# Characters of stored definitions that one planning step reads. Decoded, they may take 25 times as many bytes.
MAX_READ = 8_000_000


class RevisionCache:
    """Decoded definitions by (schedule id, revision), the most recently used ones; for one thread or loop.

    Any of them may be forgotten when another one is added: a caller that needs several keeps them itself.
    """

    def __init__(self, maximum: int = MAX_CACHE) -> None:
        self._known: SizedCache[tuple[int, int], RevisionInfo] = SizedCache(maximum)

    @property
    def size(self) -> int:
        """Bytes of all that is known."""
        return self._known.size

    def get(self, schedule_id: int, revision: int) -> RevisionInfo | None:
        """What is known of a revision; None when it must be read."""
        return self._known.get((schedule_id, revision))

    def missing(self, revisions: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
        """Those of these revisions that must be read."""
        return [key for key in revisions if key not in self._known]

    def add(self, schedule_id: int, revision: int, known: RevisionInfo) -> RevisionInfo:
        """Remember a revision that was read; the longest unused ones make room for it."""
        self._known.put((schedule_id, revision), known, known.size)
        return known

    def clear(self) -> None:
        """Forget everything: after a rollback, what was read in that transaction may never have been."""
        self._known.clear()


class UncommittedRevisions(RevisionCache):
    """For one transaction that writes revisions: revisions that it reads are forgotten, since it may be rolled back."""

    def __init__(self, committed: RevisionCache) -> None:
        super().__init__()
        self._committed = committed

    def get(self, schedule_id: int, revision: int) -> RevisionInfo | None:
        """As of the committed revisions, or of this transaction."""
        return super().get(schedule_id, revision) or self._committed.get(schedule_id, revision)


def leave_large(sizes: Iterable[tuple[int, int]]) -> set[int]:
    """Which schedules a planning step leaves to the next one, given their ids and the sizes of their definitions."""
    total, left = 0, set()
    for schedule_id, size in sizes:
        if total and total + size > MAX_READ:
            left.add(schedule_id)
        else:
            total += size
    return left
