"""Timelines: marks stand where their time is, and the table says the same."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from tests.web.charts.drawn import find, marks, place, sound, texts, told
from tickbird.web.charts import RunSymbol, SkipSymbol, TimelineRow, UpcomingSymbol, timeline

NOW = datetime(2026, 11, 16, 14, 5, tzinfo=UTC)
HOURS = timedelta(hours=3)


def minutes(number: float) -> datetime:
    return NOW + timedelta(minutes=number)


def test_timeline_symbols_are_proportional_to_time() -> None:
    rows = [
        TimelineRow(name="etl", coming=[UpcomingSymbol(due_at=minutes(each)) for each in (30, 60, 120)]),
        TimelineRow(name="other", coming=[UpcomingSymbol(due_at=minutes(60))]),
    ]
    root = sound(timeline(rows, NOW - HOURS, NOW + HOURS, NOW, "UTC"))
    now = place(find(root, "pic-now-line")[0])
    rings = [place(each) for mark in marks(root) for each in find(mark, "is-coming")]
    assert rings[1] - now == pytest.approx(2 * (rings[0] - now), abs=0.05)
    assert rings[2] - now == pytest.approx(4 * (rings[0] - now), abs=0.05)
    assert rings[3] == rings[1]
    base = find(root, "pic-base")[0]
    assert now == pytest.approx(place(base), abs=0.05)  # in the middle of as much past as future


def test_a_run_reaches_from_its_start_to_its_end_and_shows_how_late_it_was() -> None:
    run = RunSymbol(
        due_at=minutes(-120),
        status="succeeded",
        started_at=minutes(-100),
        finished_at=minutes(-40),
        href="/runs/7",
    )
    root = sound(timeline([TimelineRow(name="etl", runs=[run])], NOW - HOURS, NOW + HOURS, NOW, "UTC"))
    (mark,) = marks(root)
    (bar,) = find(mark, "pic-bar")
    lead = find(mark, "pic-lead")[0]
    pixels_a_minute = float(bar.attrib["width"]) / 60
    assert float(lead.attrib["x2"]) == pytest.approx(float(bar.attrib["x"]))
    assert float(lead.attrib["x2"]) - float(lead.attrib["x1"]) == pytest.approx(20 * pixels_a_minute, abs=0.05)
    assert mark.attrib["href"] == "/runs/7"
    assert "started +20 min after it was due, took 1 h" in (mark[0].text or "")


def test_timeline_running_run_ends_now_and_short_run_is_visible() -> None:
    runs = [
        RunSymbol(due_at=minutes(-90), status="failed", started_at=minutes(-90), finished_at=minutes(-90)),
        RunSymbol(due_at=minutes(-60), status="running", started_at=minutes(-60)),
    ]
    root = sound(timeline([TimelineRow(name="etl", runs=runs)], NOW - HOURS, NOW + HOURS, NOW, "UTC"))
    failed, running = marks(root)
    assert find(failed, "pic-cross")
    (bar,) = find(running, "pic-bar")
    now = place(find(root, "pic-now-line")[0])
    assert float(bar.attrib["x"]) + float(bar.attrib["width"]) == pytest.approx(now, abs=0.05)


def test_the_table_has_a_row_for_every_mark_with_the_same_facts() -> None:
    row = TimelineRow(
        name="etl",
        runs=[RunSymbol(due_at=minutes(-10), status="queued", note="no worker serves queue gpu")],
        skips=[SkipSymbol(first_at=minutes(-90), last_at=minutes(-30), count=7, reason="paused", href="/why")],
        coming=[
            UpcomingSymbol(due_at=minutes(20), skipped="calendar"),
            UpcomingSymbol(due_at=minutes(50), moved_from=minutes(40)),
            UpcomingSymbol(due_at=minutes(70)),
        ],
    )
    picture = timeline([row], NOW - HOURS, NOW + HOURS, NOW, "Europe/Rome")
    root = sound(picture)
    assert len(marks(root)) == len(picture.table.rows) == 5
    for tip, cells in zip(told(root), picture.table.rows, strict=True):
        for cell in cells:
            assert cell in tip
    assert picture.table.rows[0][2] == "skipped (7 ticks)"
    assert "moved from Mon 16 Nov 2026 15:45 CET" in picture.table.rows[3][5]
    assert picture.summary == "1 schedule: 1 queued, 7 skipped, 1 upcoming, 1 will be skipped, 1 moved."
    assert find(root, "pic-hatch")


def test_a_dense_row_is_binned_and_says_how_often() -> None:
    runs = [
        RunSymbol(
            due_at=minutes(-each),
            status="failed" if each == 100 else "succeeded",
            started_at=minutes(-each),
            finished_at=minutes(-each),
        )
        for each in range(1, 180)
    ]
    picture = timeline(
        [TimelineRow(name="beat", runs=runs, coming=[UpcomingSymbol(due_at=minutes(each)) for each in range(1, 180)])],
        NOW - HOURS,
        NOW + HOURS,
        NOW,
        "UTC",
    )
    root = sound(picture)
    assert texts(root, "pic-rate") == ["60/h"]
    assert len(marks(root)) == len(picture.table.rows) < 60
    assert sum(int(row[5].split()[0]) for row in picture.table.rows) == 358
    assert sum("1 failed" in row[2] for row in picture.table.rows) == 1
    assert len(find(root, "pic-cross")) == 2  # in its bin and in the legend


def test_timeline_with_many_runs_stays_small_and_counts_the_rest() -> None:
    start = NOW - HOURS
    runs = [
        RunSymbol(due_at=start + timedelta(seconds=2 * each), status="succeeded", started_at=start, finished_at=start)
        for each in range(5_000)
    ]
    rows = [TimelineRow(name=f"s{each}", runs=runs if each < 3 else (), more=3) for each in range(100)]
    picture = timeline(rows, start, NOW + HOURS, NOW, "UTC", more=5)
    root = sound(picture, 300_000)
    assert len(find(root, "pic-row")) == 30
    assert texts(root, "pic-note") == ["+75 more schedules"]
    assert "+75 more schedules" in picture.summary


def test_timeline_clips_symbols_at_the_window() -> None:
    runs = [
        RunSymbol(due_at=minutes(-600), status="succeeded", started_at=minutes(-600), finished_at=minutes(-500)),
        RunSymbol(due_at=minutes(-300), status="succeeded", started_at=minutes(-300), finished_at=minutes(-100)),
    ]
    rows = [TimelineRow(name="etl", runs=runs, coming=[UpcomingSymbol(due_at=minutes(600))])]
    root = sound(timeline(rows, NOW - HOURS, NOW + HOURS, NOW, "UTC"))
    (mark,) = marks(root)
    assert find(mark, "pic-bar")[0].attrib["x"] == find(root, "pic-base")[0].attrib["x1"]
    elsewhere = sound(timeline(rows, NOW - HOURS, NOW + HOURS, NOW + timedelta(days=9), "UTC"))
    assert not find(elsewhere, "pic-now-line")


def test_time_axis_follows_local_time_over_a_dst_change() -> None:
    # Rome, 25 October 2026: 02:00 comes twice.
    now = datetime(2026, 10, 25, 0, 30, tzinfo=UTC)
    root = sound(timeline([TimelineRow(name="a")], now - HOURS, now + HOURS, now, "Europe/Rome"))
    labels = texts(root, "pic-axis")
    assert labels == ["Sun 25 Oct", "01:00", "02:00", "02:00 CET", "03:00", "04:00", "CEST"]
    xs = [float(each.attrib["x"]) for each in find(root, "pic-axis")]
    gaps = [after - before for before, after in pairwise(xs[:6])]
    assert gaps == pytest.approx([gaps[0]] * 5, abs=0.1)
    # 29 March 2026: there is no 02:00.
    now = datetime(2026, 3, 29, 1, 30, tzinfo=UTC)
    root = sound(timeline([TimelineRow(name="a")], now - HOURS, now + HOURS, now, "Europe/Rome"))
    assert texts(root, "pic-axis") == ["Sun 29 Mar", "01:00", "03:00 CEST", "04:00", "05:00", "06:00", "CEST"]


def test_with_no_schedules_it_teaches() -> None:
    picture = timeline([], NOW - HOURS, NOW + HOURS, NOW, "UTC")
    root = sound(picture)
    assert root.get("role") == "img"
    assert "No past runs and no future ticks" in picture.summary
    assert picture.table.rows == ()
