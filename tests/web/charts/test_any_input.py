"""Charts with any input are well formed, finite, inside their frame, and without foreign markup."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from typing import TypeVar

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.web.charts.drawn import HOSTILE, sound
from tickbird.web.charts import (
    AttemptLine,
    ChangedBar,
    Chart,
    DurationPoint,
    Lateness,
    LoadCell,
    Outcome,
    RunSymbol,
    SkipSymbol,
    StripTick,
    TickBar,
    TimelineRow,
    UpcomingSymbol,
    changed_load,
    durations,
    lateness,
    load_map,
    local_hours,
    measure,
    outcomes,
    run_line,
    tick_bars,
    tick_strip,
    timeline,
)
from tickbird.web.charts.symbols import LABELS
from tickbird.web.charts.time_scale import time_ticks

T = TypeVar("T")
FIRST, LAST = datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)
ZONES = ("UTC", "Europe/Rome", "Asia/Kolkata", "Australia/Lord_Howe", "Pacific/Apia", "America/New_York")

THOROUGH = int(os.environ.get("TICKBIRD_FUZZ", "1"))
BASES = (datetime(2026, 3, 29, tzinfo=UTC), datetime(2026, 10, 25, tzinfo=UTC), datetime(2011, 12, 30, tzinfo=UTC))

moves = st.one_of(
    st.timedeltas(timedelta(hours=-12), timedelta(hours=12)),
    st.timedeltas(timedelta(days=-400), timedelta(days=400)),
    st.just(timedelta(0)),
)
zones = st.sampled_from(ZONES)
kinds = st.sampled_from(list(LABELS))
statuses = st.sampled_from(("waiting", "queued", "running", "succeeded", "failed", "cancelled"))
words = st.one_of(st.sampled_from(HOSTILE), st.text(max_size=12))
hrefs = st.sampled_from((None, "/runs/1", *HOSTILE))
widths = st.sampled_from((0, 240, 380, 960, 5_000))
lengths = st.floats() | st.floats(0, 1e5)


def few(values: st.SearchStrategy[T]) -> st.SearchStrategy[list[T]]:
    return st.lists(values, max_size=4)


def pictures(base: datetime) -> st.SearchStrategy[Chart]:
    """Any of the pictures, of instants around one, so that they meet."""
    at = moves.map(lambda each: base + each)
    maybe = st.none() | at
    runs = few(
        st.builds(RunSymbol, due_at=at, status=statuses, started_at=maybe, finished_at=maybe, note=words, href=hrefs)
    )
    skips = st.builds(SkipSymbol, first_at=at, last_at=maybe, count=st.integers(-5, 10**9), reason=words, href=hrefs)
    coming = st.builds(UpcomingSymbol, due_at=at, skipped=st.none() | words, moved_from=maybe, href=hrefs)
    rows = st.builds(
        TimelineRow,
        name=words,
        href=hrefs,
        runs=runs | runs.map(lambda each: each * 60),
        skips=few(skips),
        coming=few(coming),
        more=st.integers(-3, 10**6),
    )
    ticks = st.builds(StripTick, at=at, kind=kinds, note=words, href=hrefs)
    outcome = st.builds(Outcome, at=at, kind=kinds, seconds=st.none() | lengths, href=hrefs)
    points = st.builds(DurationPoint, at=at, seconds=lengths, kind=kinds, href=hrefs)
    many = st.integers(-3, 10**12)
    slots = st.none() | st.integers(0, 99)
    cells = st.builds(LoadCell, at=at, ticks=many, busy=st.none() | lengths, slots=slots, href=hrefs)
    attempts = st.builds(
        AttemptLine,
        number=st.integers(0, 10**6),
        status=statuses,
        claimed_at=maybe,
        started_at=maybe,
        finished_at=maybe,
        heartbeats=few(at),
        worker=words,
        note=words,
        href=hrefs,
    )
    changed = st.builds(ChangedBar, at=at, before=many, after=many)
    bars = st.builds(TickBar, at=at, runs=many, skips=many, href=hrefs)
    return st.one_of(
        st.builds(timeline, few(rows), at, at, at, zones, width=widths, more=st.integers(0, 9)),
        st.builds(tick_strip, few(ticks), at, zones, width=widths),
        st.builds(outcomes, few(outcome), zones, has_marks=st.booleans()),
        st.builds(lateness, st.lists(lengths, max_size=9).map(measure), width=widths, href=hrefs),
        st.builds(durations, few(points), zones, timeout=st.none() | lengths, width=widths),
        st.builds(load_map, few(cells), zones, width=widths),
        st.builds(run_line, at, few(attempts), at, zones, width=widths),
        st.builds(changed_load, few(changed), zones, span=st.sampled_from((0, 60, 3_600)), width=widths),
        st.builds(tick_bars, few(bars), zones, span=st.sampled_from((0, 60, 3_600, 86_400)), width=widths),
    )


# A failing picture is told as it is: to make it smaller would take minutes.
@settings(
    max_examples=120 * THOROUGH,
    derandomize=THOROUGH == 1,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
)
@given(st.one_of(*map(pictures, BASES)))
def test_any_picture_is_well_formed_finite_and_inside_its_frame(picture: Chart) -> None:
    sound(picture)


@pytest.mark.parametrize("name", HOSTILE)
def test_names_reasons_and_errors_are_words_and_nothing_else(name: str) -> None:
    now = datetime(2026, 11, 16, 14, 5, tzinfo=UTC)
    hour = timedelta(hours=1)
    row = TimelineRow(
        name=name,
        href=name,
        runs=[
            RunSymbol(due_at=now - hour, status="failed", started_at=now - hour, finished_at=now, note=name, href=name)
        ],
        skips=[SkipSymbol(first_at=now, reason=name)],
        coming=[UpcomingSymbol(due_at=now + hour, skipped=name)],
    )
    attempt = AttemptLine(number=1, status="failed", started_at=now, finished_at=now + hour, worker=name, note=name)
    for picture in (
        timeline([row, row], now - hour, now + hour, now, "UTC", title=name or "t"),
        tick_strip([StripTick(at=now, kind="skipped", note=name, href=name)], now, "UTC"),
        run_line(now, [attempt], now, "UTC"),
    ):
        root = sound(picture, 20_000)
        words = " ".join(root.itertext())
        if name and len(name) < 100 and name.isascii() and name.isprintable():
            assert name in words
        # What turns text around does not reach beyond the name.
        for cell in [each for line in picture.table.rows for each in line] + [each.text or "" for each in root.iter()]:
            assert cell.count("\u2068") == cell.count("\u2069")
            assert not set(cell) & set("\u202e\u2066\x00\x1b\uffff")
        assert all(href is None or href.startswith("/") for href in picture.table.hrefs)
        assert "href" not in {key for each in root.iter() for key in each.attrib}


@pytest.mark.parametrize("tz", ZONES)
@pytest.mark.parametrize("at", [FIRST, LAST, datetime(2400, 2, 29, tzinfo=UTC)])
def test_the_ends_of_time_and_windows_of_no_length(at: datetime, tz: str) -> None:
    row = TimelineRow(name="a", runs=[RunSymbol(due_at=at, status="running", started_at=at)])
    for since, until in ((at, at), (FIRST, LAST), (LAST, FIRST)):
        sound(timeline([row], since, until, at, tz))
    sound(load_map([LoadCell(at=each, ticks=1) for each in local_hours(at, tz)], tz))
    sound(tick_bars([TickBar(at=at, runs=1)], tz))
    sound(changed_load([ChangedBar(at=at, before=1, after=2)], tz))
    sound(durations([DurationPoint(at=at, seconds=1)], tz))
    sound(lateness(Lateness((1, 2), 0, 1e300)))


@given(st.floats(-6e10, 2.5e11), st.floats(0.1, 1e11), zones, st.integers(1, 20))
@settings(max_examples=100 * THOROUGH, derandomize=THOROUGH == 1, deadline=None)
def test_round_times_are_few_in_order_and_within_their_window(start: float, span: float, tz: str, maximum: int) -> None:
    ticks = time_ticks(start, start + span, tz, maximum)
    assert len(ticks) <= maximum + 4
    assert all(start <= each.at <= start + span for each in ticks)
    assert [each.at for each in ticks] == sorted({each.at for each in ticks})
    assert all(each.text for each in ticks)
