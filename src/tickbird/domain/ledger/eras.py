"""Eras: periods in which one grid of a schedule was in force."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from tickbird.domain.explain.context import readable
from tickbird.domain.planning.edits import same_grid
from tickbird.domain.schedules.definition import Definition
from tickbird.domain.schedules.diff import revision_origin
from tickbird.domain.schedules.grid import TickGrid
from tickbird.domain.schedules.revision import RevisionRecord
from tickbird.domain.time.instants import LAST_SECOND, to_seconds


@dataclass(slots=True)
class GridEra:
    """A period (start, until] in which one grid was in force; None: nothing had to be decided."""

    start: int
    until: int
    definition: Definition | None
    # Its first revision: decisions under an earlier one were made before it began.
    revision: int
    # The latest possible start. Before it, no decision is expected until the first one.
    began_by: int
    # Further edits by plain SQL: without a planner pass in between, the era began at the last of these.
    later_starts: tuple[int, ...] = ()
    # Nothing is expected after its last decision, because the ledger does not record when it ended.
    ends_early: bool = False
    # Whether a decision of this era was processed.
    decided: bool = False

    @property
    def is_complete(self) -> bool:
        """Whether every tick has a decision; ticks of a schedule in memory may have none."""
        return self.definition is None or self.definition.durable

    @property
    def grid(self) -> TickGrid | None:
        return None if self.definition is None else self.definition.grid


def eras(revisions: Sequence[RevisionRecord], until: int) -> list[GridEra]:
    """Return the eras of a schedule's revisions, oldest first, up to `until`."""
    periods: list[GridEra] = []
    stored: Mapping[str, Any] | None = None
    # Eras since the last revision that is not an edit by plain SQL; a planner decided everything before it.
    edited: list[GridEra] = []
    for revision in sorted(revisions, key=lambda item: item.revision):
        at, number = to_seconds(revision.at), revision.revision
        by_sql = revision_origin(revision.action, revision.actor, revision.detail) == "sql"
        if by_sql and revision.action == "update":
            for era in edited:
                era.later_starts += (at,)
                era.began_by = max(era.began_by, at)
        else:
            edited = []
        # Pauses and moves do not change the definition, and decoding takes much longer than comparing.
        if periods and revision.action not in ("create", "delete") and revision.definition == stored:
            continue
        stored = None if revision.action == "delete" else revision.definition
        before = periods[-1] if periods else None
        if revision.action == "delete":
            periods.append(GridEra(at, until, None, number, at))
        elif revision.action == "create" or before is None:
            # A row by plain SQL does not tick before its first planner pass.
            unseen = by_sql and revision.action == "create"
            if unseen and before is not None:
                # It replaced another row, whose last ticks were not decided.
                before.ends_early = True
            periods.append(GridEra(at, until, readable(revision), number, LAST_SECOND if unseen else at))
        elif not _same(before.definition, definition := readable(revision)):
            # An unreadable definition is parked; after a repair, the skip of missed ticks begins where planning ended.
            repaired = before.definition is None
            before.ends_early |= definition is None
            era = GridEra(at, until, definition, number, LAST_SECOND if repaired else at)
            periods.append(era)
            if by_sql:
                edited.append(era)
    for era, following in pairwise(periods):
        era.until = max(era.start, following.start)
        # The run that reaches `max_runs` ends the era; the cursor shows how far the last era was decided.
        era.ends_early |= era.definition is not None and era.definition.max_runs is not None
    return [era for era in periods if era.start < until or era is periods[0]]


def _same(left: Definition | None, right: Definition | None) -> bool:
    if left is None or right is None:
        return left is right
    return same_grid(left, right) and (left.max_runs, left.durable) == (right.max_runs, right.durable)
