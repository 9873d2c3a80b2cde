"""Comparison of shadows with another system."""

from __future__ import annotations

from math import inf

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tickbird.domain.ledger.shadow_report import RecordedTicks, ShadowReport, SilentPeriod, compare

EVER = (-inf, inf)


def one(
    ticks: list[int], firings: list[float], tolerance: float = 60, known: tuple[float, float] = EVER, now: float = 1e9
) -> ShadowReport:
    shadow = RecordedTicks("a", ticks, [(0, 1e9)], [SilentPeriod(1_000, 2_000, "paused")])
    [found] = compare([shadow], ((at, (0,)) for at in firings), tolerance, known, now)
    return found


@pytest.mark.parametrize(
    "firings, missing, extra",
    [
        ([0.4, 60.2, 121], [], []),
        ([0.4, 121], [60], []),
        # A firing that is nearer to the next tick belongs to that tick.
        ([0.4, 119.9], [60], []),
        ([0.4, 30.0, 60.2, 121], [], [30.0]),
        ([0.4, 59.9, 60.0, 121], [], [59.9]),
        ([], [0, 60, 120], []),
        ([0, 60, 120, 200], [], [200]),
        # The late firing of the second tick, not an early one of the third.
        ([0.4, 95.0, 121], [], []),
        # But firings do not shift from tick to tick until they fit.
        ([0.4, 30.0, 60.0], [120], [30.0]),
        # A firing that is a minute late is not a missing one.
        ([0.4, 60, 180], [], []),
    ],
)
def test_a_firing_belongs_to_the_nearest_tick(firings: list[float], missing: list[int], extra: list[float]) -> None:
    found = one([0, 60, 120], firings)
    assert (found.missing, [each.at for each in found.extra]) == (missing, extra)
    assert found.verdict == ("differs" if missing or extra else "agrees")


def test_time_differences() -> None:
    found = one([0, 3_600, 7_200], [-2.0, 3_605.0, 7_203.0])
    assert (found.earliest, found.mean, found.latest) == (-2, 2, 5)
    assert one([0], [61.0]).verdict == "differs"
    assert one([], []).verdict == "nothing"


def test_ticks_outside_the_known_period_are_not_compared() -> None:
    # The log begins at 100 and the time is 3650: nothing is known of the first, and the last may still come.
    found = one([60, 3_600], [], known=(100, inf), now=3_650)
    assert (found.verdict, found.open, found.missing_count) == ("nothing", 2, 0)
    # Existing firings still count.
    assert one([60, 3_600], [100.0, 3_601.0], known=(100, inf), now=3_650).matched == 2
    # Outside of the range, or while it was not a shadow, a firing is not extra.
    assert one([60], [61.0, 5_000.0], known=(0, 4_000)).verdict == "agrees"
    assert one([60], [61.0, 2e9]).verdict == "agrees"


def test_extra_firing_has_the_skip_reason() -> None:
    assert [each.reason for each in one([0], [0, 500.0, 1_500.0]).extra] == [None, "paused"]


def test_ambiguous_firing_goes_to_the_nearest_free_tick() -> None:
    shadows = [RecordedTicks("a", [0, 3_600], [(0, 1e9)]), RecordedTicks("b", [0, 7_200], [(0, 1e9)])]
    found = compare(shadows, ((at, (0, 1)) for at in (0.1, 0.2, 3_601.0, 7_201.0)), 60, EVER, 1e9)
    assert [each.verdict for each in found] == ["agrees", "agrees"]
    found = compare(shadows, ((at, (0, 1)) for at in (0.1, 3_601.0, 7_201.0)), 60, EVER, 1e9)
    assert sum(each.missing_count for each in found) == 1


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.integers(0, 2_000), unique=True, max_size=40),
    st.lists(st.floats(0, 2_000), max_size=40),
    st.integers(1, 100),
)
def test_nothing_is_counted_twice_or_lost(ticks: list[int], firings: list[float], tolerance: int) -> None:
    found = one(sorted(ticks), sorted(firings), tolerance)
    assert found.matched + found.missing_count == len(ticks)
    assert found.matched + found.extra_count == len(firings)
    if found.earliest is not None and found.latest is not None:
        assert -tolerance <= found.earliest <= found.latest <= tolerance
    # A leftover firing has no free tick next to it.
    for extra in found.extra:
        beside = [
            max((t for t in ticks if t < extra.at), default=-1e9),
            min((t for t in ticks if t >= extra.at), default=1e9),
        ]
        assert not [tick for tick in beside if tick in found.missing and abs(tick - extra.at) <= tolerance]
