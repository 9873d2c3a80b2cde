"""The check of leader mode: terms only grow, and nothing is planned outside of its term."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from itertools import pairwise

from tickbird.domain.leadership import LeaderTerm
from tickbird.proof.records import StoreRecords


def find_wrong_terms(records: StoreRecords) -> Iterator[str]:
    """Yield what is wrong with the terms of a store whose clock was never set."""
    terms = sorted(records.terms, key=lambda term: term.term)
    for before, after in pairwise(terms):
        if before.ended_at is None or before.ended_at > after.began_at:
            yield f"term {after.term} of {after.worker} began before term {before.term} of {before.worker} ended"
    by_number = {term.term: term for term in terms}
    for run in records.runs.values():
        if run.term is not None and not _holds(by_number.get(run.term), run.created_at):
            yield f"run {run.id} was planned at {run.created_at:%H:%M:%S.%f}, outside of its term {run.term}"
    for schedule in records.schedules.values():
        for skip in schedule.skips:
            if skip.term is not None and not _holds(by_number.get(skip.term), skip.decided_at):
                yield f"skip {skip.id} was planned at {skip.decided_at:%H:%M:%S.%f}, outside of its term {skip.term}"


def _holds(term: LeaderTerm | None, at: datetime) -> bool:
    return term is not None and term.began_at <= at and (term.ended_at is None or at <= term.ended_at)
