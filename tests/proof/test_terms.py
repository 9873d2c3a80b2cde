"""The checker finds terms that overlap, and decisions outside of their term."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from tests.domain.explain.test_why import a_run
from tickbird.domain.leadership import LeaderTerm
from tickbird.proof.records import StoreRecords
from tickbird.proof.terms import find_wrong_terms

T0 = datetime(2026, 1, 1, tzinfo=UTC)


def later(seconds: float) -> datetime:
    return T0 + timedelta(seconds=seconds)


def a_term(number: int, began: float, ended: float | None) -> LeaderTerm:
    ended_at = None if ended is None else later(ended)
    return LeaderTerm(
        term=number,
        worker=f"w{number}",
        host="h",
        pid=1,
        namespace="default",
        app="a",
        began_at=later(began),
        ended_at=ended_at,
    )


def wrong(*terms: LeaderTerm, **planned_at: float) -> list[str]:
    runs = {
        number: a_run(number, term=int(term.removeprefix("t")), created_at=later(at))
        for number, (term, at) in enumerate(planned_at.items(), 1)
    }
    return list(find_wrong_terms(StoreRecords({}, runs, terms)))


def test_terms_in_order_are_right() -> None:
    assert wrong(a_term(1, 0, 10), a_term(3, 10, None), t1=5, t3=11) == []


def test_overlapping_terms_are_wrong() -> None:
    assert wrong(a_term(1, 0, 10), a_term(2, 9, None)) == ["term 2 of w2 began before term 1 of w1 ended"]
    assert len(wrong(a_term(1, 0, None), a_term(2, 9, None))) == 1


def test_a_run_outside_of_its_term_is_wrong() -> None:
    [text] = wrong(a_term(1, 0, 10), a_term(2, 10, None), t1=11)
    assert text == "run 1 was planned at 00:00:11.000000, outside of its term 1"
    assert len(wrong(a_term(1, 0, 10), t2=5)) == 1
