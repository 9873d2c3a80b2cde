"""Microseconds since the epoch, from datetimes and back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tickbird.domain.errors import TriggerError
from tickbird.domain.time.instants import EARLIEST, EPOCH, LATEST, from_micros, to_micros

zones = st.sampled_from([UTC, timezone(timedelta(hours=-7)), timezone(timedelta(hours=5, minutes=30, microseconds=7))])


@given(st.datetimes(datetime(2, 1, 1), datetime(9998, 12, 31), timezones=zones))
def test_every_datetime_survives(at: datetime) -> None:
    again = from_micros(to_micros(at))
    assert (again, again.tzinfo) == (at, UTC)


@given(st.integers(to_micros(EARLIEST), to_micros(LATEST)))
def test_every_microsecond_survives(micros: int) -> None:
    assert to_micros(from_micros(micros)) == micros


def test_before_the_epoch_counts_down() -> None:
    assert to_micros(EPOCH - timedelta(microseconds=1)) == -1


@pytest.mark.parametrize("beyond", [10**18, 2**63 - 1, 10**30])
def test_instant_outside_of_python_range_is_clamped(beyond: int) -> None:
    assert (from_micros(beyond), from_micros(-beyond)) == (LATEST, EARLIEST)


def test_none_is_none() -> None:
    assert (to_micros(None), from_micros(None)) == (None, None)


def test_a_naive_datetime_is_refused() -> None:
    with pytest.raises(TriggerError, match="has no time zone"):
        to_micros(datetime(2026, 1, 1))
