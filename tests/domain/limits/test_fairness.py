"""Lines: many runs of one schedule stand behind those of others, in order, and never for ever."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from tickbird.domain.limits.concurrency import WaitingRun
from tickbird.domain.limits.fairness import NOT_DEFERRED, defer_released, stagger

NOW = 29_453_760

# How many minutes later a schedule makes runs, and which: is each a tick on time?
made = st.lists(st.tuples(st.integers(0, 4), st.lists(st.booleans(), min_size=1, max_size=9)), max_size=60)


@given(made)
def test_runs_of_a_schedule_stay_in_order_and_join_one_a_minute(batches: list[tuple[int, list[bool]]]) -> None:
    now, last = NOW, 0
    places: list[int] = []
    crowd: list[int] = []
    for pause, on_time in batches:
        now += pause
        behind, last = stagger(last, now, on_time)
        assert len(behind) == len(on_time)
        # Where it stands in the line of its queue: when it came, or when it joins.
        joined = [now if each == NOT_DEFERRED else each for each in behind]
        assert all(each == NOT_DEFERRED or each > now for each in behind)
        places += joined
        crowd += [place for place, is_on_time in zip(joined, on_time, strict=True) if not is_on_time]
        # Behind the line only because of what came before, and not for longer than that many minutes.
        assert all(place <= now + len(crowd) for place in joined)
    assert places == sorted(places)
    assert all(later - earlier >= 1 for earlier, later in itertools.pairwise(crowd))


@given(st.lists(st.integers(1, 100_000), max_size=50))
def test_a_schedule_that_is_on_time_is_in_line(pauses: list[int]) -> None:
    now, last = NOW, 0
    for pause in pauses:
        now += pause
        behind, last = stagger(last, now, [True])
        assert (behind, last) == ([NOT_DEFERRED], 0)


def test_what_is_released_stands_behind_its_own_crowd_alone() -> None:
    waiters = [
        WaitingRun(1, 7, 0, 3),
        WaitingRun(2, 7, 0, 3),
        WaitingRun(3, None, 0),
        WaitingRun(4, None, 0),
        WaitingRun(5, 8, 0, None),
        WaitingRun(6, 8, 0, None),
        WaitingRun(7, 9, 0, 1, None, 20, 5),
        WaitingRun(8, 9, 0, 1, None, 21, 5),
        WaitingRun(9, 9, 0, 1, None, 20, 5),
    ]
    assert defer_released(waiters, {20: 2}, NOW) == {6: NOW + 1, 7: NOW + 2, 9: NOW + 3}
