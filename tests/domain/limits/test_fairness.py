"""Fairness: bursts of one schedule are deferred after runs of others, in order, and never forever."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from tickbird.domain.limits.concurrency import WaitingRun
from tickbird.domain.limits.fairness import NOT_DEFERRED, defer_released, stagger

NOW = 29_453_760

# Minutes until a schedule creates its next runs, and whether each is a punctual tick.
made = st.lists(st.tuples(st.integers(0, 4), st.lists(st.booleans(), min_size=1, max_size=9)), max_size=60)


@given(made)
def test_deferred_runs_keep_their_order_and_join_one_a_minute(batches: list[tuple[int, list[bool]]]) -> None:
    now, last = NOW, 0
    places: list[int] = []
    crowd: list[int] = []
    for pause, on_time in batches:
        now += pause
        behind, last = stagger(last, now, on_time)
        assert len(behind) == len(on_time)
        # Its position in the queue: the time of its creation, or the end of its deferral.
        joined = [now if each == NOT_DEFERRED else each for each in behind]
        assert all(each == NOT_DEFERRED or each > now for each in behind)
        places += joined
        crowd += [place for place, is_on_time in zip(joined, on_time, strict=True) if not is_on_time]
        # Deferred only because of earlier runs, and for at most that many minutes.
        assert all(place <= now + len(crowd) for place in joined)
    assert places == sorted(places)
    assert all(later - earlier >= 1 for earlier, later in itertools.pairwise(crowd))


@given(st.lists(st.integers(1, 100_000), max_size=50))
def test_punctual_tick_is_not_deferred(pauses: list[int]) -> None:
    now, last = NOW, 0
    for pause in pauses:
        now += pause
        behind, last = stagger(last, now, [True])
        assert (behind, last) == ([NOT_DEFERRED], 0)


def test_released_run_is_deferred_only_after_its_own_burst() -> None:
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
