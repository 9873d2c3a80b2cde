"""The map of load: every hour of the local clock once, also on days that have 23 or 25."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from tests.web.charts.drawn import find, marks, place, sound, told
from tickbird.web.charts import LoadCell, load_map, local_hours
from tickbird.web.charts.load_heatmap import shade


@pytest.mark.parametrize(
    "first, tz, hours",
    [
        (datetime(2026, 11, 16, 14, tzinfo=UTC), "Europe/Rome", 168),
        (datetime(2026, 10, 24, 12, tzinfo=UTC), "Europe/Rome", 169),
        (datetime(2026, 3, 28, 12, tzinfo=UTC), "Europe/Rome", 167),
        (datetime(2026, 9, 5, 12, tzinfo=UTC), "America/Santiago", 167),  # a day that begins at 01:00
        (datetime(2026, 11, 16, 14, tzinfo=UTC), "Asia/Kolkata", 168),
    ],
)
def test_the_hours_of_a_week_follow_the_local_clock(first: datetime, tz: str, hours: int) -> None:
    instants = local_hours(first, tz)
    assert len(instants) == hours
    assert instants == sorted(set(instants))
    local = [each.astimezone(ZoneInfo(tz)) for each in instants]
    assert all(each.minute == 0 for each in local)
    assert len({each.date() for each in local}) == 7
    assert local[0].date() == first.astimezone(ZoneInfo(tz)).date()


def test_a_repeated_hour_shares_its_column_and_one_left_out_is_hatched() -> None:
    autumn = [LoadCell(at=each, ticks=1) for each in local_hours(datetime(2026, 10, 24, 12, tzinfo=UTC), "Europe/Rome")]
    picture = load_map(autumn, "Europe/Rome")
    root = sound(picture)
    assert len(marks(root)) == len(picture.table.rows) == 169
    assert Counter(row[3] for row in picture.table.rows)["this hour occurs twice (DST)"] == 2
    twice = [tip for tip in told(root) if tip.startswith("Sun 25 Oct 02:00")]
    assert [tip.split(":")[2].split()[1] for tip in twice] == ["CEST", "CET"]
    assert not find(root, "pic-lost")

    spring = [LoadCell(at=each, ticks=1) for each in local_hours(datetime(2026, 3, 28, 12, tzinfo=UTC), "Europe/Rome")]
    root = sound(load_map(spring, "Europe/Rome"))
    assert len(marks(root)) == 167
    (lost,) = find(root, "pic-lost")
    column = place(next(each for each in find(root, "pic-axis") if each.text == "02"))
    assert place(find(lost, "pic-range")[0]) == pytest.approx(column, abs=0.05)


def test_load_heatmap_marks_peak_and_too_few_slots() -> None:
    start = datetime(2026, 11, 16, tzinfo=UTC)
    cells = [
        LoadCell(
            at=start + timedelta(hours=each),
            ticks=184 if each == 27 else each % 5,
            busy=96 if each == 27 else 3,
            slots=40,
        )
        for each in range(168)
    ]
    picture = load_map(cells, "UTC")
    root = sound(picture)
    assert (
        picture.summary
        == "Peak Tue 17 Nov 03:00 UTC: 184 ticks, about 96 busy of 40 slots. 1 hour needs more slots than available."
    )
    (row,) = [row for row in picture.table.rows if "peak" in row[3]]
    assert row == ("Tue 17 Nov 03:00–04:00 UTC", "184", "96 busy of 40 slots", "peak, too few slots")
    (over,) = [each for each in marks(root) if find(each, "pic-over")]
    assert find(over, "pic-peak")
    assert find(over, "is-shade-4")


def test_shade_is_logarithmic_and_zero_only_without_ticks() -> None:
    assert [shade(each, 1_000) for each in (-1, 0, 1, 10, 100, 1_000)] == [0, 0, 1, 2, 3, 4]
    assert shade(1, 1) == 4
    assert shade(5, 0) == 0


def test_a_week_with_no_ticks_and_no_week_at_all() -> None:
    start = datetime(2026, 11, 16, tzinfo=UTC)
    picture = load_map([LoadCell(at=start + timedelta(hours=each), ticks=0) for each in range(168)], "UTC")
    assert sound(picture).get("role") == "img"
    assert picture.summary == "No ticks are due in these days."
    assert "No future ticks." in load_map([], "UTC").summary
