"""Preview of a definition: ticks, warnings, and the load of other schedules."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tickbird.domain.calendars.calendar import Calendar, exclude
from tickbird.domain.errors import InvalidError
from tickbird.domain.forecast.preview import preview
from tickbird.domain.forecast.tick_load import MAX_INSTANTS, count_running_ticks, load_around
from tickbird.domain.schedules.definition import Definition, Target, spread_offset
from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.schedules.warnings import MAX_COUNT, definition_warnings
from tickbird.domain.time.instants import to_seconds
from tickbird.domain.triggers.cron.cron import cron
from tickbird.domain.triggers.every import every
from tickbird.domain.triggers.rrule.rrule import rrule
from tickbird.domain.triggers.trigger import Trigger, any_of, at

NOW = datetime(2026, 11, 16, 7, 20, tzinfo=UTC)


def define(trigger: Trigger | str, tz: str = "Europe/Rome", **options: Any) -> Definition:
    """A definition of which only the ticks matter."""
    made = cron(trigger, tz) if isinstance(trigger, str) else trigger
    return Definition(trigger=made, target=Target("report"), **options)


def told(definition: Definition, now: datetime = NOW) -> list[tuple[str, str]]:
    """Its warnings."""
    return [(each.code, each.text) for each in definition_warnings(definition, to_seconds(now))]


def test_fixed_time_in_a_gap_moves_and_a_repeated_time_ticks_once() -> None:
    (moved, text), (once, other) = told(define("30 2 * * *"))
    assert (moved, once) == ("ticks-move", "ticks-once")
    change = "2027-03-28: the clock of Europe/Rome goes from 02:00 to 03:00"
    assert text == f"{change}, so 02:30 does not exist: it ticks at 03:00 instead"
    change = "2027-10-31: the clock of Europe/Rome goes back from 03:00 to 02:00"
    assert other == f"{change}, so 02:30 comes twice, and ticks the first time only"
    [first, _] = definition_warnings(define("0,15,45 2 * * *"), to_seconds(NOW))
    assert "02:00 to 02:45 (3 ticks) do not exist: it ticks once, at 03:00, instead" in first.text
    assert first.at == datetime(2027, 3, 28, 1, tzinfo=UTC)


def test_wildcard_times_vanish_in_a_gap_and_repeat() -> None:
    codes = dict(told(define("*/20 2 * * *")))
    assert codes.keys() == {"ticks-vanish", "ticks-twice"}
    assert codes["ticks-vanish"].endswith("so 02:00 to 02:40 (3 ticks) do not exist, and do not tick")
    assert codes["ticks-twice"].endswith("so 02:00 to 02:40 (3 ticks) come twice, and tick both times")


@pytest.mark.parametrize(
    "trigger", ["0 9 * * *", "0 * * * *", "*/5 * * * 1-5", "30 2 * * 1-5", every(hours=5, tz="Europe/Rome")]
)
def test_times_away_from_a_clock_change_have_no_warning(trigger: Any) -> None:
    assert told(define(trigger)) == []


def test_half_hour_clock_change_is_reported() -> None:
    assert [code for code, _ in told(define("0 * * * *", "Australia/Lord_Howe"))] == ["ticks-vanish"]
    assert told(define("*/30 * * * *", "Australia/Lord_Howe")) == []


def test_days_from_intervals_move_too() -> None:
    nightly = every(days=1, anchor=datetime(2026, 1, 1, 2, 30), tz="Europe/Rome")
    assert [code for code, _ in told(define(nightly))] == ["ticks-move", "ticks-once"]


def test_clock_changes_on_closed_days_or_outside_the_window_are_not_reported() -> None:
    assert told(define("30 2 * * *", exclude=exclude("sun"))) == []
    assert [code for code, _ in told(define("30 2 * * *", end_at=datetime(2027, 5, 1, tzinfo=UTC)))] == ["ticks-move"]
    late = define("30 2 * * *", start_at=datetime(2027, 5, 1, tzinfo=UTC))
    assert [code for code, _ in told(late)][:1] == ["ticks-once"]


def test_members_of_any_of_use_their_own_clock() -> None:
    both = any_of(cron("30 2 * * *", "Europe/Rome"), cron("30 2 * * *", "America/New_York"))
    zones = [text.split("clock of ")[1].split()[0] for _, text in told(define(both))]
    assert zones == ["Europe/Rome", "Europe/Rome", "America/New_York"]


@pytest.mark.parametrize(
    "expr, text",
    [
        ("0 9 31 * *", "there is no 31st of February, April, June, September or November, so it does not tick then"),
        ("0 9 30 2,3 *", "there is no 30th of February, so it does not tick then"),
        ("0 9 15,31 4 *", "there is no 31st of April, so it does not tick then"),
        ("0 9 31W 6,7 *", "there is no 31st of June, so it does not tick then"),
        ("0 9 L-30 3-5 *", "there is no day L-30 of April, so it does not tick then"),
        ("0 9 L-28W 2 *", "February has a day L-28 in leap years only"),
        ("0 9 * * 5#5", "most months have only four Fridays: no tick in months without a fifth"),
    ],
)
def test_dates_that_do_not_come_every_month(expr: str, text: str) -> None:
    assert ("missing-dates", text) in told(define(expr, "UTC"))


@pytest.mark.parametrize(
    "expr", ["0 9 1-31 * *", "0 9 */2 * *", "0 9 28 * *", "0 9 L-27 * *", "@monthly", "0 9 31 1,3 *"]
)
def test_existing_dates_are_not_reported(expr: str) -> None:
    assert told(define(expr, "UTC")) == []


@pytest.mark.parametrize(
    "rule, start, text",
    [
        (
            "FREQ=MONTHLY;BYMONTHDAY=31",
            "2026-12-01T09:00:00",
            "there is no 31st of February, April, June, September or November, so it does not tick then",
        ),
        ("FREQ=MONTHLY;INTERVAL=3", "2026-01-31T09:00:00", "there is no 31st of April, so it does not tick then"),
        ("FREQ=YEARLY;BYMONTH=2,3;BYMONTHDAY=-30", "2026-01-01T09:00:00", "there is no 30th to last day of February"),
        ("FREQ=YEARLY", "2024-02-29T09:00:00", "February has a 29th in leap years only"),
        ("FREQ=DAILY;BYMONTHDAY=30", "2026-01-01T09:00:00", "there is no 30th of February, so it does not tick then"),
        ("FREQ=MONTHLY;BYDAY=5FR", "2026-01-01T09:00:00", "most months have only four Fridays"),
        ("FREQ=YEARLY;BYYEARDAY=-366", "2026-01-01T09:00:00", "only leap years have a 366th day"),
        ("FREQ=YEARLY;BYWEEKNO=53;BYDAY=MO", "2026-01-01T09:00:00", "most years have only 52 weeks"),
    ],
)
def test_dates_of_a_rule_that_do_not_always_come(rule: str, start: str, text: str) -> None:
    [found] = [found for code, found in told(define(rrule(rule, dtstart=start))) if code == "missing-dates"]
    assert found.startswith(text)


@pytest.mark.parametrize(
    "rule",
    [
        "FREQ=MONTHLY;BYMONTHDAY=28,29,30,31;BYSETPOS=-1",
        "FREQ=MONTHLY;BYMONTHDAY=-1",
        "FREQ=MONTHLY;BYMONTH=1,3;BYMONTHDAY=31",
        "FREQ=MONTHLY;INTERVAL=12;BYMONTHDAY=31",
        "FREQ=DAILY;BYMONTHDAY=27,28,29,30,31",
        "FREQ=DAILY",
        "FREQ=MONTHLY;BYDAY=-1FR",
    ],
)
def test_rules_whose_dates_always_come(rule: str) -> None:
    assert told(define(rrule(rule, dtstart="2026-12-31T09:00:00"))) == []


def test_distant_or_missing_first_tick_is_reported() -> None:
    assert [code for code, _ in told(define("0 9 29 2 *", "UTC"))] == ["far-off", "missing-dates"]
    [(code, text)] = told(define(at(NOW - timedelta(days=1))))
    assert (code, text) == ("no-ticks", "it has no tick after 2026-11-16T07:20:00Z, so it cannot be created")
    month_end = every(months=1, anchor=datetime(2026, 1, 31), tz="UTC")
    assert [code for code, _ in told(define(month_end))] == ["last-day"]


def test_closed_days_that_leave_nothing() -> None:
    workdays = exclude("mon", "tue", "wed", "thu", "fri")
    [(code, text)] = told(define("0 9 * * 1-5", "UTC", exclude=workdays))
    assert (code, text.split(",")[0]) == ("closed", "its first 400 ticks")
    only = define("0 9 * * 1-5", "UTC", exclude=workdays, end_at=NOW + timedelta(days=3))
    assert told(only) == [("closed", "all of its ticks fall on closed days")]


def test_very_many_ticks() -> None:
    assert told(define("*/5 * * * * *", "UTC")) == [
        ("frequent", "it ticks up to 17,280 times a day, about every 5 s, and each tick is a run")
    ]
    assert told(define("* * * * *", "UTC")) == []


def test_number_of_warnings_is_limited() -> None:
    nights = [cron(f"{minute} 2 29,30,31 * *", "Europe/Rome") for minute in range(32)]
    assert len(told(define(any_of(*nights)))) == MAX_COUNT


def test_the_ticks_of_a_preview() -> None:
    found = preview(define("0 9 * * *", exclude=exclude("2026-11-17"), max_runs=2), to_seconds(NOW), 5)
    assert [(tick.local.isoformat(), tick.skipped) for tick in found.ticks] == [
        ("2026-11-16T09:00:00+01:00", None),
        ("2026-11-17T09:00:00+01:00", "calendar"),
        ("2026-11-18T09:00:00+01:00", None),
    ]
    assert found.ticks[0].scheduled_for == datetime(2026, 11, 16, 8, tzinfo=UTC)
    assert (found.trigger_description, found.zone) == ("At 09:00 (Europe/Rome)", "Europe/Rome")


def test_spread_offset_depends_on_the_name() -> None:
    daily = define("0 9 * * *", "UTC", spread=600)
    named = preview(daily, to_seconds(NOW), 1, namespace="shop", name="digest")
    late = named.ticks[0].due_at - named.ticks[0].scheduled_for
    assert late == timedelta(seconds=spread_offset("shop", "digest", 600)) > timedelta(0)
    assert named.warnings == []
    [caution] = preview(daily, to_seconds(NOW), 1).warnings
    assert caution.text == "each tick is delayed by less than 10 min; the delay depends on the name"


def test_a_preview_stays_within_the_calendar() -> None:
    edge = to_seconds(datetime(9999, 12, 1, tzinfo=UTC))
    for trigger in (every(hours=1, tz="Pacific/Kiritimati"), cron("* * * * * *", "Pacific/Kiritimati")):
        assert len(preview(define(trigger, spread=7 * 86_400), edge, 1_000, name="x").ticks) > 0
    assert preview(define("0 0 1 1 *", "UTC"), edge, 10).ticks == []


@pytest.mark.parametrize("count", [0, 10_001, True, "3"])
def test_invalid_count_is_refused(count: Any) -> None:
    with pytest.raises(InvalidError, match="count must be a whole number"):
        preview(define("0 9 * * *"), to_seconds(NOW), count)


def stored(name: str, trigger: Trigger | str, **options: Any) -> Schedule:
    """An active schedule in the same store."""
    return Schedule(1, "default", name, 1, "active", define(trigger, "UTC", **options))


NINE = to_seconds(datetime(2026, 11, 17, 9, tzinfo=UTC))


def around(*others: Schedule, instants: list[int] | None = None) -> list[tuple[int, int, int]]:
    """Before, in and after the minute of nine o'clock."""
    found = load_around(instants or [NINE + 30], others, complete=True)
    return [(each.hour_before, each.in_minute, each.hour_after) for each in found.instants]


@pytest.mark.parametrize(
    "other, expected",
    [
        (stored("same", "0 9 * * *"), (0, 1, 0)),
        (stored("before", "0 8 * * *"), (1, 0, 0)),
        (stored("just before", "59 8 * * *"), (1, 0, 0)),
        (stored("after", "1 9 * * *"), (0, 0, 1)),
        (stored("just after", "0 10 * * *"), (0, 0, 1)),
        (stored("too late", "1 10 * * *"), (0, 0, 0)),
        (stored("too early", "59 7 * * *"), (0, 0, 0)),
        (stored("often", "* * * * * *"), (3_600, 60, 3_600)),
        (stored("spread", "0 9 * * *", spread=7 * 86_400), (0, 0, 0)),
        (stored("closed", "* * * * *", exclude=exclude("tue")), (0, 0, 0)),
        (stored("open", "* * * * *", exclude=exclude("mon")), (60, 1, 60)),
        (stored("begun", "* * * * *", start_at=datetime(2026, 11, 17, 9, 30, tzinfo=UTC)), (0, 0, 31)),
        (stored("over", "* * * * *", end_at=datetime(2026, 11, 17, 8, 30, tzinfo=UTC)), (31, 0, 0)),
        (stored("two", any_of(cron("0 9 * * *"), cron("30 9 * * *"))), (0, 1, 1)),
        (
            stored("rolled", "0 9 * * 1", roll="next", calendars=("x",), closed={"x": Calendar(frozenset(), {0})}),  # type: ignore[arg-type]
            (0, 1, 0),
        ),
    ],
    ids=lambda each: each.name if isinstance(each, Schedule) else "",
)
def test_ticks_of_others_are_counted_around_an_instant(other: Schedule, expected: tuple[int, int, int]) -> None:
    assert around(other) == [expected]


def test_only_active_schedules_and_the_first_instants_count() -> None:
    busy = stored("busy", "0 9 * * *")
    paused = Schedule(2, "default", "paused", 1, "paused", busy.definition)
    broken = Schedule(3, "default", "broken", 1, "active", None)
    found = load_around([NINE], [busy, paused, broken, busy], complete=False)
    assert (found.schedules, found.complete, found.instants[0].in_minute) == (2, False, 2)
    days = [NINE + day * 86_400 for day in range(20)]
    assert len(around(busy, instants=days)) == MAX_INSTANTS


def test_shadows_do_not_count_as_load() -> None:
    definition = Definition(trigger=cron("0 9 * * *"), target=Target("work"))
    counts = [count_running_ticks(replace(definition, shadow=shadow), 0, 30 * 86_400) for shadow in (False, True)]
    assert counts == [30, 0]
    assert {tick.skipped for tick in preview(replace(definition, shadow=True), 0, 3).ticks} == {"shadow"}
