"""The strip of ticks and the course of a run."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from tests.web.charts.drawn import find, marks, place, sound, texts, told
from tickbird.web.charts import AttemptLine, StripTick, run_line, tick_strip
from tickbird.web.charts.symbols import LABELS

NOW = datetime(2026, 11, 16, 14, 5, tzinfo=UTC)


def after(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


def test_ticks_are_equal_steps_with_the_present_between_past_and_coming() -> None:
    ticks = [StripTick(at=after(60 * each**3), kind="succeeded" if each < 0 else "coming") for each in range(-4, 5)]
    picture = tick_strip(ticks[::-1], NOW, "Europe/Rome")
    root = sound(picture)
    xs = [place(each[1]) for each in marks(root)]
    assert [b - a for a, b in pairwise(xs)] == pytest.approx([xs[1] - xs[0]] * 8, abs=0.05)
    now = place(find(root, "pic-now-line")[0])
    assert now == pytest.approx((xs[3] + xs[4]) / 2, abs=0.05)
    assert texts(root, "pic-now-text") == ["now 15:05 CET"]
    assert len(picture.table.rows) == 9


def test_every_kind_has_a_shape_of_its_own_and_its_word() -> None:
    ticks = [
        StripTick(at=after(each), kind=kind, note="because", href=f"/why/{each}") for each, kind in enumerate(LABELS)
    ]
    picture = tick_strip(ticks, NOW, "UTC")
    root = sound(picture)
    shapes = set()
    for mark, row in zip(marks(root), picture.table.rows, strict=True):
        assert mark[0].text == f"{row[0]}: {row[1]}, because"
        shapes.add(tuple((each.tag, each.get("class", "").replace(WORDS_CLASS, "")) for each in mark[2:]))
    assert len(shapes) == len(LABELS)
    assert texts(root, "pic-legend") == list(LABELS.values())
    assert set(picture.table.hrefs) == {f"/why/{each}" for each in range(len(LABELS))}


WORDS_CLASS = "pic-shape "


def test_those_nearest_to_the_present_are_shown_and_the_others_counted() -> None:
    ticks = [StripTick(at=after(60 * each), kind="failed" if each < 0 else "coming") for each in range(-500, 500)]
    picture = tick_strip(ticks, NOW, "UTC", width=400, more_past=9)
    root = sound(picture)
    shown = len(marks(root))
    numbers = [int(each.strip("+")) for each in texts(root, "pic-note")]
    assert shown + sum(numbers) == 1_009
    assert any("14:04" in tip for tip in told(root))
    assert any("14:05" in tip for tip in told(root))
    assert "earlier" in picture.summary
    assert "later" in picture.summary


def test_run_gantt_shows_attempts_waits_and_heartbeats() -> None:
    attempts = [
        AttemptLine(
            number=1, status="failed", claimed_at=after(0.2), started_at=after(0.4), finished_at=after(41), note="boom"
        ),
        AttemptLine(
            number=2,
            status="succeeded",
            claimed_at=after(71),
            started_at=after(71.2),
            finished_at=after(100),
            heartbeats=[after(80), after(90)],
            worker="w2",
        ),
    ]
    picture = run_line(NOW, attempts, after(500), "Europe/Rome")
    root = sound(picture)
    assert texts(root, "pic-step") == ["due", "claimed +0.2 s", "started +0.4 s", "succeeded +1 min 40 s"]
    first, second = marks(root)
    bars = [find(each, "pic-bar")[0] for each in (first, second)]
    widths = [float(each.attrib["width"]) for each in bars]
    assert widths[0] / widths[1] == pytest.approx(40.6 / 28.8, abs=0.01)
    assert len(find(second, "pic-heart")) == 2
    waits = find(root, "pic-lead")
    assert float(waits[-1].attrib["x2"]) - float(waits[-1].attrib["x1"]) == pytest.approx(
        widths[0] / 40.6 * 30, abs=0.1
    )
    assert picture.summary == "The run succeeded after 2 attempts, +1 min 40 s after it was due."
    assert ("attempt 1 ended", "Mon 16 Nov 2026 15:05:41 CET", "+41 s", "failed boom") in picture.table.rows
    assert ("attempt 2 claimed", "Mon 16 Nov 2026 15:06:11 CET", "+1 min 11 s", "w2") in picture.table.rows
    assert "worker w2" in (second[0].text or "")


def test_a_run_under_way_reaches_to_the_present() -> None:
    attempt = AttemptLine(number=1, status="running", claimed_at=NOW, started_at=after(1))
    root = sound(run_line(NOW, [attempt], after(42), "UTC"))
    assert texts(root, "pic-step")[-1] == "now +42 s"
    assert find(root, "pic-growing")
    many = [
        AttemptLine(number=each, status="failed", started_at=after(each), finished_at=after(each + 1))
        for each in range(50)
    ]
    picture = run_line(NOW, many, NOW, "UTC")
    assert len(marks(sound(picture))) == 12
    assert "The first 38 are not drawn." in picture.summary


def test_with_nothing_yet_they_teach() -> None:
    assert tick_strip([], NOW, "UTC").summary.startswith("No ticks yet.")
    assert run_line(NOW, [], NOW, "UTC").summary.startswith("Not started yet.")
