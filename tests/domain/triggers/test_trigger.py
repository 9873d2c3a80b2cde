"""Single instants, unions, and triggers as JSON."""

from __future__ import annotations

import datetime as dt
import json
import os
import pickle
from datetime import UTC, date, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tickbird.domain.errors import TriggerError
from tickbird.domain.time.instants import DAY, FIRST_SECOND, LAST_SECOND
from tickbird.domain.triggers.cron.cron import cron
from tickbird.domain.triggers.every import every
from tickbird.domain.triggers.trigger import AnyOf, Trigger, any_of, at, trigger_from_json

thorough = settings(deadline=None, max_examples=100 * int(os.environ.get("TICKBIRD_FUZZ", "1")))

NEW_YEAR = datetime(2026, 1, 1, tzinfo=UTC)
TICK = 1_767_225_600

SAMPLES = [
    cron("0 9 * * 1-5", tz="America/New_York"),
    cron("*/5 * * * *"),
    cron("@every 90s"),
    every(minutes=5),
    every(hours=1, minutes=30, anchor=datetime(2026, 1, 1, 0, 7), tz="Asia/Kolkata"),
    every(hours=5, anchor=datetime(2026, 11, 1, 6, 30, tzinfo=UTC), tz="America/New_York"),
    every(months=1, anchor=datetime(2026, 1, 31), tz="Europe/Berlin"),
    every(weeks=2),
    at(NEW_YEAR),
    any_of(cron("0 9 * * *"), at(NEW_YEAR), every(days=3, tz="Pacific/Apia")),
]


@pytest.mark.parametrize("trigger", SAMPLES, ids=repr)
def test_every_trigger_is_a_value(trigger: Trigger) -> None:
    assert isinstance(trigger, Trigger)
    names = {"cron": cron, "every": every, "at": at, "any_of": any_of, "datetime": dt}
    for copy in (
        trigger_from_json(json.loads(json.dumps(trigger.to_json()))),
        eval(repr(trigger), names),
        pickle.loads(pickle.dumps(trigger)),
    ):
        assert copy == trigger
        assert hash(copy) == hash(trigger)
        assert copy.to_json() == trigger.to_json()
        assert copy.next_tick(TICK - 1) == trigger.next_tick(TICK - 1)
    assert trigger.describe()
    assert trigger.tz
    assert sum(trigger == other for other in SAMPLES) == 1


@pytest.mark.parametrize(
    "value",
    [
        {"cron": "0 9 * * 1-5", "tz": "America/New_York"},
        {"cron": "@daily"},
        {"every": {"minutes": 5}},
        {"every": {"days": 1}, "anchor": "2026-01-01T09:00:00", "tz": "Europe/Berlin"},
        {"at": "2026-01-01T00:00:00Z"},
        {"any_of": [{"cron": "0 0 * * *"}, {"at": "2026-01-01T00:00:00Z"}]},
    ],
)
def test_json_shapes(value: dict[str, object]) -> None:
    assert trigger_from_json(value).to_json() == value


def test_json_leaves_defaults_out() -> None:
    value = {"every": {"minutes": 5}, "anchor": "1970-01-01T00:00:00", "tz": "UTC"}
    assert trigger_from_json(value).to_json() == {"every": {"minutes": 5}}


def nested(depth: int) -> object:
    value: object = {"cron": "* * * * *"}
    for _ in range(depth):
        value = {"any_of": [value]}
    return value


@pytest.mark.parametrize(
    "value",
    [
        None,
        5,
        "0 9 * * *",
        [],
        {},
        {"cron": None},
        {"cron": ["* * * * *"]},
        {"cron": {"a": 1}},
        {"cron": "* * * * *", "tz": None},
        {"cron": "* * * * *", "tz": []},
        {"cron": "* * * * *", "zone": "UTC"},
        {"cron": "* * * * *", "anchor": "2026-01-01T00:00:00"},
        {"cron": "* * * * *", "at": "2026-01-01T00:00:00Z"},
        {"cron": "* * * * *", 5: 5},
        {"every": 5},
        {"every": {}},
        {"every": {"minute": 5}},
        {"every": {"minutes": "5"}},
        {"every": {"minutes": None}},
        {"every": {"minutes": 5.0}},
        {"every": {5: 5}},
        {"every": {"days": 1}, "anchor": 5},
        {"every": {"days": 1}, "anchor": None},
        {"every": {"days": 1}, "anchor": "2026-13-01T00:00:00"},
        {"every": {"days": 1}, "anchor": "tomorrow"},
        {"at": 5},
        {"at": "2026-01-01"},
        {"at": "2026-01-01T00:00:00"},
        {"at": "2026-01-01T00:00:00.5Z"},
        {"at": "2026-01-01T00:00:00Z" * 1000},
        {"at": "0001-01-01T00:00:00+14:00"},
        {"at": "2026-01-01T00:00:00Z", "tz": "UTC"},
        {"any_of": None},
        {"any_of": []},
        {"any_of": [None]},
        {"any_of": {"cron": "* * * * *"}},
        {"any_of": [{"cron": f"{n} * * * *"} for n in range(33)]},
        nested(9),
        nested(5_000),
    ],
)
def test_json_refused(value: object) -> None:
    with pytest.raises(TriggerError) as caught:
        trigger_from_json(value)
    assert caught.value.field
    assert len(str(caught.value)) < 400


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from(["UTC", "* * * * *"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["cron", "every", "at", "any_of", "tz", "anchor", "days"]), inner, max_size=3)
    ),
)


@thorough
@given(JSON)
def test_any_json_is_a_trigger_or_refused(value: object) -> None:
    try:
        trigger = trigger_from_json(value)
    except TriggerError:
        return
    assert trigger_from_json(trigger.to_json()) == trigger


def test_at() -> None:
    once = at(datetime(2026, 1, 1, 1, tzinfo=timezone(timedelta(hours=1))))
    assert once == at(NEW_YEAR)
    assert once.next_after(NEW_YEAR - timedelta(microseconds=1)) == NEW_YEAR
    assert once.next_after(NEW_YEAR) is None
    assert once.previous_before(NEW_YEAR) is None
    assert once.previous_before(NEW_YEAR + timedelta(microseconds=1)) == NEW_YEAR
    assert once.contains(TICK)
    assert not once.contains(TICK + 1)
    assert once.count(TICK - 1, TICK) == 1
    assert once.count(TICK, TICK + 1) == 0
    assert once.describe() == "Once, at 2026-01-01 00:00:00 UTC"
    with pytest.raises(AttributeError):
        once.tick = 5


@pytest.mark.parametrize(
    "instant",
    [datetime(2026, 1, 1), datetime(2026, 1, 1, microsecond=1, tzinfo=UTC), date(2026, 1, 1), None, "2026-01-01", 5],
)
def test_at_refused(instant: datetime) -> None:
    with pytest.raises(TriggerError):
        at(instant)


def test_at_in_a_repeated_hour_is_the_instant_meant() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    first, second = (at(datetime(2026, 10, 25, 2, 30, tzinfo=berlin, fold=fold)) for fold in (0, 1))
    assert second.tick - first.tick == 3600


def test_any_of_flattens_and_drops_repeats() -> None:
    nine, noon = cron("0 9 * * *"), cron("0 12 * * *")
    union = any_of(any_of(nine, noon), nine)
    assert union.members == (nine, noon)
    assert union == any_of(noon, nine)
    assert hash(union) == hash(any_of(noon, nine))
    assert union != any_of(nine)
    assert any_of(nine, noon).tz == "UTC"
    assert any_of(cron("0 9 * * *", "Asia/Tokyo")).tz == "Asia/Tokyo"
    assert any_of(cron("0 9 * * *", "Asia/Tokyo"), nine).tz == "UTC"
    assert union.describe() == "At 09:00; or at 12:00"


@pytest.mark.parametrize("members", [(), (5,), (None,), ("* * * * *",), (cron,), (AnyOf,)])
def test_any_of_refused(members: tuple[Trigger, ...]) -> None:
    with pytest.raises(TriggerError):
        any_of(*members)
    with pytest.raises(TriggerError):
        any_of(*(cron(f"{n} * * * *") for n in range(33)))


def test_any_of_without_future_ticks() -> None:
    union = any_of(at(NEW_YEAR), at(NEW_YEAR + timedelta(days=1)))
    assert union.next_tick(TICK + 86_400) is None
    assert union.previous_tick(TICK) is None
    assert union.count(-(10**30), 10**30) == 2


MEMBERS = [
    cron("*/15 * * * *", "America/New_York"),
    cron("30 1 * * *", "America/New_York"),
    cron("0 0 1 * *"),
    cron("30 */2 * * 0", "America/New_York"),
    cron("*/7 1 * * * *", "Europe/Rome"),
    every(minutes=20),
    every(hours=6),
    every(seconds=77, tz="Asia/Kathmandu"),
    every(days=1, tz="Australia/Lord_Howe"),
    every(weeks=1, tz="America/New_York"),
    at(datetime(2026, 11, 1, 6, tzinfo=UTC)),
]


def walk(trigger: Trigger, after: int, until: int) -> set[int]:
    ticks, tick = set(), trigger.next_tick(after)
    while tick is not None and tick <= until:
        ticks.add(tick)
        tick = trigger.next_tick(tick)
    return ticks


# Around DST changes in both directions, and around the first and last datetime.
NOVEMBER, MARCH = 1_793_512_800, 1_773_000_000
STARTS = st.integers(NOVEMBER - 400_000, NOVEMBER + 400_000) | st.integers(MARCH - 400_000, MARCH + 3_000_000)
EDGES = st.integers(FIRST_SECOND - DAY, FIRST_SECOND + DAY) | st.integers(LAST_SECOND - 2 * DAY, LAST_SECOND + DAY)


@thorough
@given(st.sampled_from(MEMBERS), STARTS | EDGES, st.integers(0, DAY))
def test_bits_are_the_ticks(trigger: Trigger, low: int, length: int) -> None:
    bits = trigger.bits(low, low + length)
    assert {low + place for place in range(length) if bits >> place & 1} == walk(trigger, low - 1, low + length - 1)
    assert bits >> length == 0


@thorough
@given(st.lists(st.sampled_from(MEMBERS), min_size=2, max_size=5), STARTS, st.integers(0, 30 * DAY))
def test_a_tick_that_members_share_counts_once(members: list[Trigger], after: int, length: int) -> None:
    union = any_of(*members)
    ticks = set().union(*(walk(member, after, after + length) for member in members))
    assert union.count(after, after + length) == len(ticks)


@thorough
@given(
    st.lists(st.sampled_from([every(seconds=77), every(minutes=5), cron("*/7 1 * * * *"), cron("0 0 * * *")])),
    STARTS,
    st.integers(0, 10**6),
    st.integers(0, 10**6),
)
def test_long_ranges_count_as_their_parts(members: list[Trigger], start: int, one: int, two: int) -> None:
    union = any_of(every(minutes=3), *members)
    middle, end = start + one, start + one + two
    parts = union.count(start, middle) + union.count(middle, end)
    assert union.count(start, end) == parts
    # Centuries, without enumeration.
    period = union.period
    assert period is not None
    later = 400 * period
    assert union.count(start, end + later) == parts + 400 * union.count(end, end + period)


def test_many_shared_ticks_are_counted_without_enumeration() -> None:
    """A century of two members in zones has billions of ticks, too many to enumerate."""
    union = any_of(cron("* * * * * *", "Europe/Rome"), cron("*/2 * * * * *", "America/New_York"))
    assert union.count(0, 36_525 * DAY) == 36_525 * DAY


@thorough
@given(
    st.lists(st.sampled_from(MEMBERS), min_size=1, max_size=5),
    st.integers(1_793_000_000, 1_794_000_000),
    st.integers(0, 200_000),
)
def test_any_of_is_the_union(members: list[Trigger], start: int, length: int) -> None:
    ticks: set[int] = set()
    for member in members:
        tick = member.next_tick(start)
        while tick is not None and tick <= start + length:
            ticks.add(tick)
            tick = member.next_tick(tick)
    union = any_of(*members)
    found = []
    tick = union.next_tick(start)
    while tick is not None and tick <= start + length:
        found.append(tick)
        tick = union.next_tick(tick)
    assert found == sorted(ticks)
    assert union.count(start, start + length) == len(ticks)
    assert all(union.contains(tick) for tick in found)
    if found:
        assert union.previous_tick(start + length + 1) == found[-1]
