"""Lateness, durations, outcomes, columns: the figures beside a schedule."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.web.charts.drawn import corners, find, marks, place, sound, texts, told
from tickbird.web.charts import (
    ChangedBar,
    DurationPoint,
    Outcome,
    TickBar,
    changed_load,
    durations,
    lateness,
    measure,
    outcomes,
    tick_bars,
)
from tickbird.web.charts.lateness import EDGES, NAMES, bin_of
from tickbird.web.charts.symbols import Kind

NOW = datetime(2026, 11, 16, 14, 5, tzinfo=UTC)


def test_lateness_is_counted_in_exact_bins() -> None:
    values = (-5, 0, 0.000_9, 0.001, 0.002_9, 0.003, 0.999, 1, 59.9, 60, 3_599, 3_600, 1e9)
    assert [bin_of(each) for each in values] == [
        0, 0, 0, 1, 1, 2, 6, 7, 10, 11, 13, 14, 14,
    ]  # fmt: skip
    assert [bin_of(each) for each in EDGES] == list(range(1, len(NAMES)))
    measured = measure([0, -1, 0.002, float("nan"), 10_000])
    assert measured.counts == (2, 1, *[0] * 12, 1)
    assert (measured.total, measured.early, measured.p50, measured.p99) == (4, 1, 0, 10_000)


def test_the_histogram_has_its_figures_in_words_and_lines_where_they_belong() -> None:
    picture = lateness(measure([0.002] * 60 + [0.5] * 39 + [4_000]))
    root = sound(picture)
    assert picture.summary == "100 runs: half started within 2 ms, 99% within 0.5 s."
    assert texts(root, "pic-figure-text") == ["p50 2 ms", "p99 0.5 s"]
    assert told(root) == ["1 ms–3 ms: 60 runs, 60 %", "0.3 s–1 s: 39 runs, 39 %", "≥1 h: 1 run, 1 %"]
    columns = [find(each, "is-late")[0] for each in marks(root)]
    for line, column in zip(find(root, "pic-figure"), columns, strict=False):
        left = float(column.attrib["x"]) - 1.5
        assert left <= place(line) <= left + float(column.attrib["width"]) + 3
    heights = [float(each.attrib["height"]) for each in columns]
    assert heights[1] / heights[0] == pytest.approx(39 / 60, abs=0.001)
    assert {row[0]: row[1] for row in picture.table.rows if row[1] != "0"} == {
        "1 ms–3 ms": "60",
        "0.3 s–1 s": "39",
        "≥1 h": "1",
    }


def test_durations_show_each_run_with_failures_and_timeout() -> None:
    points = [
        DurationPoint(
            at=NOW + timedelta(hours=each), seconds=10 * (each + 1), kind="failed" if each == 2 else "succeeded"
        )
        for each in range(4)
    ]
    picture = durations(points, "Europe/Rome", timeout=60)
    root = sound(picture)
    xs = [place(each[2]) for each in marks(root)]
    assert xs[3] - xs[0] == pytest.approx(3 * (xs[1] - xs[0]), abs=0.05)
    ys = [float(each.attrib["cy"]) for mark in marks(root) for each in find(mark, "is-succeeded")]
    assert ys[0] - ys[2] == pytest.approx(3 * (ys[0] - ys[1]), abs=0.05)
    assert texts(root, "pic-limit-text") == ["timeout 1 min"]
    assert find(marks(root)[2], "pic-cross")
    assert [row[1:] for row in picture.table.rows][2] == ("failed", "30 s")
    assert picture.summary == "4 runs (3 succeeded, 1 failed): half took at most 20 s, 99% at most 40 s; timeout 1 min."


def test_many_durations_are_binned_and_no_failure_vanishes() -> None:
    points = [
        DurationPoint(
            at=NOW + timedelta(minutes=each), seconds=each % 7, kind="failed" if each == 1_500 else "succeeded"
        )
        for each in range(3_000)
    ]
    picture = durations(points, "UTC")
    root = sound(picture, 80_000)
    assert len(marks(root)) == len(picture.table.rows) < 100
    assert sum(bool(find(each, "pic-cross")) for each in marks(root)) == 1
    numbers = [
        int(part.split()[0].replace(",", "")) for row in picture.table.rows for part in [row[1]] if part[0].isdigit()
    ]
    assert sum(numbers) + sum(row[1] == "failed" for row in picture.table.rows) == 3_000


def test_outcomes_are_the_last_sixty_with_the_newest_at_the_right_end() -> None:
    given = [
        Outcome(
            at=NOW + timedelta(minutes=each), kind="failed" if each in (5, 60, 68) else "succeeded", seconds=2.0**each
        )
        for each in range(70)
    ]
    picture = outcomes(given, "UTC")
    root = sound(picture)
    assert picture.summary == "58 ok, 2 failed"
    assert root.attrib["viewBox"] == "0 0 180 20"
    hits = find(root, "pic-hit")
    assert len(hits) == len(marks(root)) == len(picture.table.rows) == 60
    assert float(hits[-1].attrib["x"]) == 177
    heights = [float(each.attrib["d"].partition("v-")[2]) for each in find(root, "is-succeeded")]
    assert heights == sorted(heights)
    assert heights[0] < heights[-1]
    few = sound(outcomes(given[:3], "UTC"))
    assert [float(each.attrib["x"]) for each in find(few, "pic-hit")] == [171, 174, 177]
    assert outcomes([], "UTC").summary == "no runs yet"
    assert sound(outcomes([], "UTC")).get("role") == "img"


def test_outcomes_in_a_list_are_one_light_image_with_a_path_for_each_kind() -> None:
    kinds: list[Kind] = ["succeeded", "failed", "skipped", "cancelled", "running", "queued"]
    given = [Outcome(at=NOW + timedelta(minutes=each), kind=kinds[each % 6], seconds=each) for each in range(70)]
    light = outcomes(given, "UTC", has_marks=False)
    root = sound(light, 2_000)
    assert root.get("role") == "img"
    assert (len(find(root, "pic-stick")), marks(root)) == (6, [])
    # The newest failure is what one looks for; minute 67 of a quarter past two.
    assert light.summary.startswith("10 ok, 10 failed, 10 cancelled")
    assert light.summary.endswith("; last failed Mon 16 Nov 2026 15:12 UTC")
    # The same bars as those that are drawn one by one.
    whole = sound(outcomes(given, "UTC"))
    for kind in kinds:
        one = [corner for each in find(whole, f"is-{kind}") for corner in corners(each)]
        [joined] = find(root, f"is-{kind}")
        assert corners(joined) == one


def test_columns_are_stacked_and_joined_where_there_are_too_many() -> None:
    bars = [TickBar(at=NOW + timedelta(hours=each), runs=30, skips=10 if each == 1 else 0) for each in range(4)]
    picture = tick_bars(bars, "UTC")
    root = sound(picture)
    run = float(find(marks(root)[1], "is-run")[0].attrib["height"])
    skipped = float(find(marks(root)[1], "pic-range")[0].attrib["height"])
    assert run == pytest.approx(3 * skipped, abs=0.05)
    assert picture.table.rows[1] == ("Mon 16 Nov 2026 15:05 UTC", "30", "10")
    assert picture.summary == "120 runs and 10 skips; most from Mon 16 Nov 2026 15:05 UTC: 40."
    many = tick_bars([TickBar(at=NOW + timedelta(hours=each), runs=1) for each in range(5_000)], "UTC")
    assert len(marks(sound(many, 100_000))) < 200
    assert sum(int(row[1]) for row in many.table.rows) == 5_000
    assert "Each column covers 1 d 5 h." in many.summary


def test_with_nothing_yet_they_teach() -> None:
    for picture in (lateness(measure([])), durations([], "UTC"), tick_bars([], "UTC")):
        assert sound(picture).get("role") == "img"
        assert picture.summary.startswith("No ")


def test_load_diff_has_one_column_per_interval() -> None:
    """Same, added and removed ticks; columns without ticks have no table row, and the number of columns is limited."""
    given = ((3, 4), (2, 0), (0, 0), (5, 5))
    bars = [ChangedBar(at=NOW + timedelta(minutes=place), before=a, after=b) for place, (a, b) in enumerate(given)]
    picture = changed_load(bars, "Europe/Rome")
    root = sound(picture)
    assert [row[1:] for row in picture.table.rows] == [("3", "4"), ("2", "0"), ("5", "5")]
    assert picture.summary == (
        "From Mon 16 Nov 2026 15:05 CET: 10 ticks before, 9 after; "
        "most at Mon 16 Nov 2026 15:08 CET: 5 before, 5 after."
    )
    comes, goes, _, stays = marks(root)
    assert [len(find(each, "is-run")) for each in (comes, goes, stays)] == [1, 0, 0]
    assert [len(find(each, "pic-hatch")) for each in (comes, goes, stays)] == [0, 1, 0]
    assert len(changed_load(bars * 500, "UTC").table.rows) <= 240
