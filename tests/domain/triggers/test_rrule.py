"""Recurrence rules: the rules of RFC 5545 compared with python-dateutil, zones, EXDATE and RDATE, refusals."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any

import pytest
from dateutil.rrule import rrulestr
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tickbird.domain.errors import TriggerError
from tickbird.domain.time.instants import wall_seconds
from tickbird.domain.triggers.rrule.parser import WEEKDAYS
from tickbird.domain.triggers.rrule.rrule import RRule, rrule
from tickbird.domain.triggers.trigger import any_of, first_format, trigger_from_json

START = datetime(2026, 1, 30, 9, 0)
BEFORE = -(10**11)
FORTY_YEARS = 40 * 366 * 86_400


def ticks(trigger: RRule, count: int, after: int = BEFORE) -> list[int]:
    found: list[int] = []
    tick = trigger.next_tick(after)
    while tick is not None and len(found) < count:
        found.append(tick)
        tick = trigger.next_tick(tick)
    return found


def _made(text: str, start: datetime) -> RRule | None:
    """The trigger; None if the rule never ticks."""
    try:
        return rrule(text, dtstart=start)
    except TriggerError as error:
        if "never run" not in str(error):
            raise
        return None


def shown(trigger: RRule, count: int) -> list[str]:
    return [f"{datetime.fromtimestamp(tick, UTC):%Y-%m-%dT%H:%M}" for tick in ticks(trigger, count)]


def numbers(low: int, high: int, size: int, *, signed: bool = False) -> st.SearchStrategy[str]:
    values = st.integers(low, high)
    if signed:
        values = values | values.map(lambda number: -number)
    return st.lists(values, min_size=1, max_size=size, unique=True).map(lambda chosen: ",".join(map(str, chosen)))


@st.composite
def rules(draw: st.DrawFn) -> str:
    """Rules that python-dateutil reads as RFC 5545 does.

    It joins plain and numbered weekdays by *and*, cuts the first week of WEEKLY;BYSETPOS at the start, takes all days
    of BYWEEKNO without BYDAY, and loses days of negative week numbers around New Year.
    """
    freq = draw(st.sampled_from(["YEARLY", "MONTHLY", "WEEKLY", "DAILY", "HOURLY", "MINUTELY", "SECONDLY"]))
    parts = {"FREQ": freq, "INTERVAL": str(draw(st.sampled_from([1, 1, 2, 3, 5, 7, 13, 26])))}
    optional: dict[str, st.SearchStrategy[str]] = {
        "BYMONTH": numbers(1, 12, 4),
        "BYHOUR": numbers(0, 23, 4),
        "BYMINUTE": numbers(0, 59, 4),
        "BYSECOND": numbers(0, 59, 3),
        "WKST": st.sampled_from(WEEKDAYS),
        "COUNT": st.integers(1, 30).map(str),
    }
    names = st.lists(st.sampled_from(WEEKDAYS), min_size=1, max_size=4, unique=True).map(",".join)
    if freq != "WEEKLY":
        optional["BYMONTHDAY"] = numbers(1, 31, 4, signed=True)
        optional["BYSETPOS"] = numbers(1, 5, 2, signed=True)
    if freq in ("YEARLY", "HOURLY", "MINUTELY", "SECONDLY"):
        optional["BYYEARDAY"] = numbers(1, 366, 5, signed=True)
    kind = draw(st.sampled_from(["none", "plain", "numbered", "weeks"]))
    if kind == "numbered" and freq in ("MONTHLY", "YEARLY"):
        item = st.tuples(st.integers(1, 5), st.sampled_from([1, -1]), st.sampled_from(WEEKDAYS))
        chosen = draw(st.lists(item, min_size=1, max_size=3, unique=True))
        parts["BYDAY"] = ",".join(f"{sign * number}{weekday}" for number, sign, weekday in chosen)
    elif kind != "none":
        parts["BYDAY"] = draw(names)
        if kind == "weeks" and freq == "YEARLY":
            parts["BYWEEKNO"] = draw(numbers(1, 52, 4))
    for name in draw(st.lists(st.sampled_from(sorted(optional)), max_size=4, unique=True)):
        parts[name] = draw(optional[name])
    if "BYSETPOS" in parts and not any(name.startswith("BY") and name != "BYSETPOS" for name in parts):
        del parts["BYSETPOS"]
    return ";".join(f"{name}={value}" for name, value in parts.items())


STARTS = st.datetimes(datetime(1990, 1, 1), datetime(2030, 1, 1)).map(lambda at: at.replace(microsecond=0))


@settings(deadline=None)
@given(rules(), STARTS)
def test_rules_tick_as_dateutil_computes_them(text: str, start: datetime) -> None:
    ours = _made(text, start)
    assume(ours is not None)
    assert ours is not None
    found = ticks(ours, 12)
    # dateutil enumerates every period up to the first match.
    assume(found[-1] - wall_seconds(start) < FORTY_YEARS)
    expected = [wall_seconds(at) for at in islice(iter(rrulestr(text, dtstart=start)), 12)]
    assert found == expected
    assert [ours.previous_tick(tick) for tick in found] == [None, *found[:-1]]
    assert [ours.count(BEFORE, tick) for tick in found] == list(range(1, len(found) + 1))
    assert RRule(ours.rule, ours.dtstart).to_json() == ours.to_json() == trigger_from_json(ours.to_json()).to_json()


@pytest.mark.parametrize(
    "rule, expected",
    [
        ("FREQ=MONTHLY;BYDAY=-1FR", ["2026-01-30T09:00", "2026-02-27T09:00", "2026-03-27T09:00"]),
        ("FREQ=MONTHLY;BYMONTHDAY=31", ["2026-01-31T09:00", "2026-03-31T09:00", "2026-05-31T09:00"]),
        ("FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1", ["2026-01-30T09:00", "2026-02-27T09:00", "2026-03-31T09:00"]),
        # The set of a week is that of the whole week, though the rule starts on its Friday.
        ("FREQ=WEEKLY;BYDAY=MO,FR;BYSETPOS=2", ["2026-01-30T09:00", "2026-02-06T09:00"]),
        ("FREQ=WEEKLY;BYDAY=MO,FR;BYSETPOS=1", ["2026-02-02T09:00", "2026-02-09T09:00"]),
        # Weekdays with and without a number are alternatives.
        ("FREQ=MONTHLY;BYDAY=2MO,SU", ["2026-02-01T09:00", "2026-02-08T09:00", "2026-02-09T09:00"]),
        # Without BYDAY, week numbers mean the weekday of the start.
        ("FREQ=YEARLY;BYWEEKNO=20", ["2026-05-15T09:00", "2027-05-21T09:00"]),
        ("FREQ=DAILY;COUNT=2", ["2026-01-30T09:00", "2026-01-31T09:00"]),
        ("FREQ=DAILY;UNTIL=20260131", ["2026-01-30T09:00", "2026-01-31T09:00"]),
        ("FREQ=DAILY;UNTIL=20260131T085959Z", ["2026-01-30T09:00"]),
        ("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29", ["2028-02-29T09:00", "2032-02-29T09:00"]),
    ],
)
def test_rules_of_the_rfc(rule: str, expected: list[str]) -> None:
    if rule.startswith("FREQ=YEARLY;BYWEEKNO"):
        assert all(
            datetime.fromisoformat(at).weekday() == START.weekday() for at in shown(rrule(rule, dtstart=START), 5)
        )
        return
    assert shown(rrule(rule, dtstart=START), len(expected) + (("COUNT" in rule) or ("UNTIL" in rule))) == expected


def test_gaps_and_repeated_hours() -> None:
    # Berlin skips 02:00 to 03:00 on 2026-03-29 and repeats it on 2026-10-25.
    daily = rrule("FREQ=DAILY;BYHOUR=2;BYMINUTE=30", dtstart=START, tz="Europe/Berlin")
    gap, repeated = datetime(2026, 3, 28, 12, tzinfo=UTC), datetime(2026, 10, 24, 12, tzinfo=UTC)
    assert daily.next_after(gap) == datetime(2026, 3, 29, 1, 0, tzinfo=UTC)
    assert daily.next_after(repeated) == datetime(2026, 10, 25, 0, 30, tzinfo=UTC)
    assert daily.next_after(datetime(2026, 10, 25, 0, 30, tzinfo=UTC)) == datetime(2026, 10, 26, 1, 30, tzinfo=UTC)
    # All times in a gap are one tick, at its end.
    often = rrule("FREQ=MINUTELY;INTERVAL=10", dtstart=START, tz="Europe/Berlin")
    for day in (datetime(2026, 3, 29, tzinfo=UTC), datetime(2026, 10, 25, tzinfo=UTC)):
        low, high = int((day - timedelta(hours=3)).timestamp()), int((day + timedelta(hours=9)).timestamp())
        walked = ticks(often, 1_000, low)
        assert often.count(low, high) == sum(tick <= high for tick in walked)
        assert len(set(walked)) == len(walked)
        assert all(often.previous_tick(tick + 1) == tick for tick in walked[:100])


@settings(deadline=None)
@given(
    st.sampled_from(["FREQ=HOURLY", "FREQ=DAILY;BYHOUR=2,3;BYMINUTE=0,30", "FREQ=MINUTELY;INTERVAL=7"]),
    st.sampled_from(["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Pacific/Apia", "UTC"]),
    st.datetimes(datetime(2005, 1, 1), datetime(2035, 1, 1)),
    st.integers(1, 4 * 86_400),
)
def test_counts_match_enumeration(rule: str, tz: str, at: datetime, length: int) -> None:
    trigger = rrule(rule, dtstart=datetime(2000, 1, 1), tz=tz)
    low = wall_seconds(at.replace(microsecond=0))
    walked = list(_until(trigger, low, low + length))
    assert trigger.count(low, low + length) == len(walked)
    assert all(low < tick <= low + length for tick in walked)


def _until(trigger: RRule, low: int, high: int) -> Iterator[int]:
    tick = trigger.next_tick(low)
    while tick is not None and tick <= high:
        yield tick
        tick = trigger.next_tick(tick)


def test_exdate_and_rdate() -> None:
    trigger = rrule(
        "FREQ=DAILY;COUNT=4",
        dtstart=START,
        exdate=["2026-01-31T09:00:00", datetime(2026, 2, 7, 9, tzinfo=UTC)],
        rdate=["2026-01-31T12:00:00", "2026-01-30T09:00:00", "2030-01-01T00:00:00Z"],
    )
    # COUNT includes ticks that EXDATE removes.
    expected = ["2026-01-30T09:00", "2026-01-31T12:00", "2026-02-01T09:00", "2026-02-02T09:00", "2030-01-01T00:00"]
    assert shown(trigger, 9) == expected
    assert trigger.count(BEFORE, 10**11) == len(expected)
    assert [trigger.previous_tick(tick) for tick in ticks(trigger, 9)] == [None, *ticks(trigger, 9)[:-1]]
    assert trigger_from_json(trigger.to_json()) == trigger == pickle.loads(pickle.dumps(trigger))
    assert trigger != rrule("FREQ=DAILY;COUNT=4", dtstart=START)


# Rome skips 02:00 to 03:00 on 2027-03-28 and repeats it on 2027-10-31; Lord Howe moves its clock by half an hour.
_CHANGES = [
    ("Europe/Rome", datetime(2027, 3, 28, 1)),
    ("Europe/Rome", datetime(2027, 10, 31, 1)),
    ("America/New_York", datetime(2027, 11, 7, 6)),
    ("Australia/Lord_Howe", datetime(2027, 4, 3, 15)),
    ("Australia/Lord_Howe", datetime(2027, 10, 2, 15, 30)),
    ("Pacific/Apia", datetime(2011, 12, 30, 10)),
]
_NEAR = st.lists(st.integers(-16, 16), max_size=6)


@settings(deadline=None)
@given(
    st.sampled_from(["FREQ=HOURLY", "FREQ=DAILY;BYHOUR=1,2,3;BYMINUTE=0,30", "FREQ=MINUTELY;INTERVAL=45"]),
    st.sampled_from(_CHANGES),
    _NEAR,
    _NEAR,
)
def test_dates_with_an_offset_add_and_remove_exactly_their_instant(
    rule: str, change: tuple[str, datetime], added: list[int], removed: list[int]
) -> None:
    tz, at = change
    rdate, exdate = (
        [(at + timedelta(minutes=15 * quarter)).replace(tzinfo=UTC) for quarter in quarters]
        for quarters in (added, removed)
    )
    start = datetime(2000, 1, 1)
    trigger = rrule(rule, dtstart=start, tz=tz, rdate=rdate, exdate=exdate)
    low, high = wall_seconds(at) - 2 * 86_400, wall_seconds(at) + 2 * 86_400
    expected = {*_until(rrule(rule, dtstart=start, tz=tz), low, high), *(int(moment.timestamp()) for moment in rdate)}
    expected -= {int(moment.timestamp()) for moment in exdate}
    walked = list(_until(trigger, low, high))
    assert walked == sorted(expected)
    assert trigger.count(low, high) == len(walked)
    assert all(trigger.count(low, tick) == index for index, tick in enumerate(walked, 1))
    assert [trigger.previous_tick(tick) for tick in walked[1:]] == walked[:-1]
    assert all(trigger.walls(tick) for tick in walked)
    assert trigger_from_json(trigger.to_json()) == trigger == pickle.loads(pickle.dumps(trigger))


def test_rdate_in_the_second_occurrence_of_a_repeated_hour_keeps_its_instant() -> None:
    second = datetime(2027, 10, 31, 1, 30, tzinfo=UTC)
    dates: list[str | datetime] = ["2027-10-31T01:30:00Z", "2027-10-31T02:30:00+01:00", second]
    for date in (*dates, datetime(2027, 10, 31, 2, 30, fold=1)):
        trigger = rrule("FREQ=YEARLY", dtstart="2026-11-20T09:00:00", tz="Europe/Rome", rdate=[date])
        assert trigger.to_json()["rdate"] == ["2027-10-31T01:30:00Z"]
        assert trigger.next_after(datetime(2027, 1, 1, tzinfo=UTC)) == second
    first = rrule("FREQ=YEARLY", dtstart="2026-11-20T09:00:00", tz="Europe/Rome", rdate=["2027-10-31T00:30:00Z"])
    assert first.to_json()["rdate"] == ["2027-10-31T02:30:00"]


@pytest.mark.parametrize(
    "exdate, removes",
    [
        ("2027-03-28T02:30:00", True),
        ("2027-03-28T03:00:00", True),
        ("2027-03-28T03:00:00+02:00", True),
        ("2027-03-28T01:00:00Z", True),
        (datetime(2027, 3, 28, 2, 30, fold=1), True),
        ("2027-03-28T03:30:00+02:00", False),
        ("2027-03-28T02:00:00", False),
    ],
)
def test_exdate_of_a_tick_moved_out_of_a_gap_removes_it(exdate: str | datetime, removes: bool) -> None:
    trigger = rrule("FREQ=DAILY", dtstart="2027-03-20T02:30:00", tz="Europe/Rome", exdate=[exdate])
    assert trigger.contains(int(datetime(2027, 3, 28, 1, tzinfo=UTC).timestamp())) is not removes
    assert [code for code, _ in trigger.date_warnings()] == ([] if removes else ["unused-exdate"])


def test_exdate_in_a_gap_keeps_the_tick_of_another_time() -> None:
    end = int(datetime(2027, 3, 28, 1, tzinfo=UTC).timestamp())
    options: dict[str, Any] = {"dtstart": "2027-03-20T02:30:00", "tz": "Europe/Rome"}
    for date, remains in (("2027-03-28T02:00:00", True), ("2027-03-28T03:00:00", False)):
        trigger = rrule("FREQ=DAILY;BYHOUR=2,3;BYMINUTE=0", **options, exdate=[date])
        assert trigger.contains(end) is remains


def test_exdate_of_the_second_occurrence_removes_nothing_and_warns() -> None:
    second = "2027-10-31T01:30:00Z"
    options: dict[str, Any] = {"dtstart": "2027-03-20T02:30:00", "tz": "Europe/Rome", "exdate": [second]}
    trigger = rrule("FREQ=DAILY", **options)
    assert trigger.contains(int(datetime(2027, 10, 31, 0, 30, tzinfo=UTC).timestamp()))
    [(code, text)] = trigger.date_warnings()
    assert code == "unused-exdate"
    assert second in text
    assert list(rrule("FREQ=DAILY", **options, rdate=[second]).date_warnings()) == []


def test_dates_that_older_workers_would_move_need_a_newer_format() -> None:
    second = {"rrule": "FREQ=DAILY", "tz": "Europe/Rome", "rdate": ["2027-10-31T02:30:00+01:00"]}
    stored = trigger_from_json(second).to_json()
    union = {"any_of": [{"cron": "* * * * *"}, stored]}
    assert first_format(stored) == first_format(second) == first_format(union) == 5
    first = trigger_from_json({**second, "rdate": ["2027-10-31T02:30:00+02:00"]}).to_json()
    assert first_format(first) == 1


def test_until_in_the_second_occurrence_includes_the_first() -> None:
    trigger = rrule("FREQ=DAILY;UNTIL=20271031T010500Z", dtstart="2027-10-30T02:30:00", tz="Europe/Rome")
    assert shown(trigger, 9) == ["2027-10-30T00:30", "2027-10-31T00:30"]


def test_rdate_before_dtstart_ticks() -> None:
    trigger = rrule("FREQ=DAILY;COUNT=2", dtstart=START, rdate=["2026-01-01T12:00:00"])
    assert shown(trigger, 9) == ["2026-01-01T12:00", "2026-01-30T09:00", "2026-01-31T09:00"]


def test_description_of_count_names_the_ticks_that_remain_after_a_gap() -> None:
    rule = "FREQ=HOURLY;BYMINUTE=0,15,30,45;COUNT=8"
    trigger = rrule(rule, dtstart="2027-03-28T02:00:00", tz="Europe/Rome")
    assert "8 times (4 ticks, because" in trigger.describe()
    assert len(ticks(trigger, 9)) == 4
    assert "8 times (Europe/Rome)" in rrule(rule, dtstart="2027-03-29T02:00:00", tz="Europe/Rome").describe()


def test_equal_rules_are_equal() -> None:
    one = rrule("freq=weekly; byday=MO,FR; interval=1", tz="Europe/Rome")
    other = rrule("RRULE:BYDAY=MO,FR;FREQ=WEEKLY", tz="Europe/Rome", dtstart=datetime(1970, 1, 5))
    assert one == other
    assert hash(one) == hash(other)
    assert one.to_json() == {"rrule": "FREQ=WEEKLY;BYDAY=MO,FR", "tz": "Europe/Rome"}


@pytest.mark.parametrize(
    "rule, options, reason",
    [
        ("", {}, "text"),
        ("FREQ=MONTHLY;BYDAY=-1XX", {}, "weekday"),
        ("FREQ=FORTNIGHTLY", {}, "FREQ"),
        ("FREQ=DAILY;FREQ=DAILY", {}, "twice"),
        ("FREQ=DAILY;BYEASTER=0", {}, "not a part"),
        ("FREQ=DAILY;INTERVAL=0", {}, "INTERVAL"),
        ("FREQ=DAILY;COUNT=3", {}, "dtstart"),
        ("FREQ=DAILY;COUNT=3;UNTIL=20300101", {"dtstart": START}, "cannot be combined"),
        ("FREQ=DAILY;UNTIL=20301301T000000Z", {}, "UNTIL"),
        ("FREQ=WEEKLY;BYMONTHDAY=1", {}, "BYMONTHDAY"),
        ("FREQ=WEEKLY;BYDAY=1MO", {}, "BYDAY"),
        ("FREQ=MONTHLY;BYWEEKNO=1", {}, "BYWEEKNO"),
        ("FREQ=DAILY;BYYEARDAY=1", {}, "BYYEARDAY"),
        ("FREQ=DAILY;BYSETPOS=1", {}, "BYSETPOS"),
        ("FREQ=DAILY;BYHOUR=24", {}, "BYHOUR"),
        ("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30", {}, "never run"),
        ("FREQ=HOURLY;INTERVAL=24;BYHOUR=5", {"dtstart": START}, "never run"),
        ("FREQ=DAILY", {"dtstart": "yesterday"}, "dtstart"),
        ("FREQ=DAILY", {"dtstart": START.replace(microsecond=1)}, "has microseconds"),
        ("FREQ=DAILY", {"exdate": ["2026-01-01T00:00:00"] * 1_001}, "exdate"),
        ("FREQ=DAILY", {"tz": "Mars/Base"}, "zone"),
        ("FREQ=DAILY", {"dtstart": "2027-10-31T01:30:00Z", "tz": "Europe/Rome"}, "the second 02:30"),
        ("FREQ=DAILY", {"dtstart": datetime(2027, 10, 31, 2, 30, fold=1), "tz": "Europe/Rome"}, "the second 02:30"),
        (
            "FREQ=DAILY;COUNT=2",
            {"dtstart": START, "exdate": ["2026-01-30T09:00:00", "2026-01-31T09:00:00"]},
            "never run",
        ),
    ],
)
def test_refusals(rule: str, options: dict[str, Any], reason: str) -> None:
    with pytest.raises(TriggerError) as refused:
        rrule(rule, **options)
    assert reason in f"{refused.value} {refused.value.hint}"


@pytest.mark.parametrize(
    "rule, words",
    [
        ("FREQ=MONTHLY;BYDAY=-1FR", "Every month on the last Friday, at 09:00"),
        ("FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,WE", "Every 2 weeks on Monday and Wednesday, at 09:00"),
        ("FREQ=YEARLY", "Every year on 30 January, at 09:00"),
        (
            "FREQ=MONTHLY;BYMONTHDAY=1,-1;BYHOUR=6,18",
            "Every month on the 1st and last day of the month, at 06:00 and 18:00",
        ),
        ("FREQ=DAILY;COUNT=3", "Every day, at 09:00, 3 times"),
        (
            "FREQ=HOURLY;BYMINUTE=0,30;BYSETPOS=-1",
            "Every hour, at minute 0 and 30, only the last of these in each hour",
        ),
        ("FREQ=DAILY;UNTIL=20270101T000000Z", "Every day, at 09:00, until 2027-01-01 00:00:00 UTC"),
    ],
)
def test_descriptions(rule: str, words: str) -> None:
    assert rrule(rule, dtstart=START).describe() == words


def test_a_rule_is_a_member_of_any_of() -> None:
    both = any_of(rrule("FREQ=DAILY", dtstart=START), rrule("FREQ=WEEKLY;BYDAY=FR", dtstart=START))
    low = wall_seconds(START) - 1
    assert both.count(low, low + 7 * 86_400) == 7
    assert trigger_from_json(both.to_json()) == both
