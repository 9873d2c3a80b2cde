"""Stretches of time in which one grid of a schedule was in force."""

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
    """A stretch (start, until] of time in which one grid was in force; None: nothing was to be decided."""

    start: int
    until: int
    definition: Definition | None
    # Its first revision: what was decided under an earlier one was decided before it began.
    revision: int
    # It began here at the latest. Before, nothing is expected until its first decision.
    began_by: int
    # When plain SQL edited it again: if no planner looked in between, it began at the last of these.
    later_starts: tuple[int, ...] = ()
    # Nothing is expected behind its last decision, since the ledger does not tell when it ended.
    ends_early: bool = False
    # Whether a decision of its own was seen.
    decided: bool = False

    @property
    def grid(self) -> TickGrid | None:
        """The ticks in force."""
        return None if self.definition is None else self.definition.grid


def eras(revisions: Sequence[RevisionRecord], until: int) -> list[GridEra]:
    """The stretches of time that the revisions of a schedule make, oldest first, up to `until`."""
    found: list[GridEra] = []
    stored: Mapping[str, Any] | None = None
    # Since the last revision that is not an edit by plain SQL: a planner decided everything before that one.
    edited: list[GridEra] = []
    for revision in sorted(revisions, key=lambda each: each.revision):
        at, number = to_seconds(revision.at), revision.revision
        by_sql = revision_origin(revision.action, revision.actor, revision.detail) == "sql"
        if by_sql and revision.action == "update":
            for era in edited:
                era.later_starts += (at,)
                era.began_by = max(era.began_by, at)
        else:
            edited = []
        # Pauses, moves and the like change no definition, and decoding one takes much longer than comparing it.
        if found and revision.action not in ("create", "delete") and revision.definition == stored:
            continue
        stored = None if revision.action == "delete" else revision.definition
        before = found[-1] if found else None
        if revision.action == "delete":
            found.append(GridEra(at, until, None, number, at))
        elif revision.action == "create" or before is None:
            # A row by plain SQL does not tick before a planner first sees it.
            unseen = by_sql and revision.action == "create"
            if unseen and before is not None:
                # It replaced another row, whose last ticks no planner decided.
                before.ends_early = True
            found.append(GridEra(at, until, readable(revision), number, LAST_SECOND if unseen else at))
        elif not _same(before.definition, definition := readable(revision)):
            # What cannot be read is parked; once repaired, the skip of what it missed begins where planning ended.
            repaired = before.definition is None
            before.ends_early |= definition is None
            era = GridEra(at, until, definition, number, LAST_SECOND if repaired else at)
            found.append(era)
            if by_sql:
                edited.append(era)
    for era, following in pairwise(found):
        era.until = max(era.start, following.start)
        # The run that uses up `max_runs` ended it; how far the last era was decided, the cursor tells.
        era.ends_early |= era.definition is not None and era.definition.max_runs is not None
    return [era for era in found if era.start < until or era is found[0]]


def _same(one: Definition | None, other: Definition | None) -> bool:
    if one is None or other is None:
        return one is other
    return same_grid(one, other) and one.max_runs == other.max_runs
