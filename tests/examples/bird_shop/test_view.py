"""The view draws whatever a snapshot holds, in narrow and in wide terminals."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from rich.console import Console, RenderableType

from examples.bird_shop import view
from examples.bird_shop.snapshot import CaughtUp, Counts, Event, Row, Snapshot

NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)
EMPTY = Snapshot(now=NOW, started_at=NOW, url="sqlite:///demo.db", worker="host-1-abcd", slots=4)
SIZES = [(80, 24), (160, 50)]


def row(name: str, **fields: object) -> Row:
    known: dict[str, object] = {
        "words": "every 5 s",
        "policy": "overlap skip, catch up one",
        "results": ("ok", "recovered", "failed", "cancelled", "skipped"),
        "activity": "running",
        "doing": "running 1.2 s, 1 waits",
        "next_at": NOW + timedelta(seconds=3),
    }
    return Row(name, **{**known, **fields})  # type: ignore[arg-type]


def event(second: int, kind: str, name: str, text: str, run_id: int | None = None) -> Event:
    return Event(NOW + timedelta(seconds=second), kind, name, text, run_id)  # type: ignore[arg-type]


FULL = Snapshot(
    now=NOW + timedelta(seconds=72),
    started_at=NOW,
    url="sqlite:///demo.db",
    worker="host-1-abcd",
    slots=4,
    busy=3,
    counts=Counts(runs=1_234, succeeded=1_200, failed=3, cancelled=2, retried=12, skipped=41),
    caught_up=CaughtUp(runs=2, ticks=30, skipped=5),
    rows=(
        row("sync-orders"),
        row("fresh", results=(), activity="idle", doing="idle"),
        row("welcome", activity="ended", doing="ended", next_at=None),
    ),
    events=(
        event(1, "tick", "sync-orders", "run 1 of 12:00:01", 1),
        event(2, "start", "sync-orders", "run 1", 1),
        event(3, "failed", "sync-orders", "run 1: OSError: no route", 1),
        event(4, "skip", "fresh", "12:00:04 overlap: run 1 is still active"),
        event(5, "caught up", "ledger", "run 2 for 3 missed ticks", 2),
    ),
    notice="plan failed, retrying: the database is locked",
)


def drawn(what: RenderableType, width: int, height: int = 100) -> list[str]:
    console = Console(width=width, height=height, color_system=None, force_terminal=False)
    with console.capture() as capture:
        console.print(what)
    return capture.get().splitlines()


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("snapshot", [EMPTY, FULL])
def test_fits_the_terminal(snapshot: Snapshot, size: tuple[int, int]) -> None:
    width, height = size
    lines = drawn(view.render(snapshot, width, height), width)
    assert len(lines) == height
    assert max(map(len, lines)) <= width


@pytest.mark.parametrize("size", SIZES)
def test_shows_what_matters_in_words(size: tuple[int, int]) -> None:
    text = "\n".join(drawn(view.render(FULL, *size), size[0]))
    for words in (
        "sqlite:///demo.db",
        "up 1 min 12 s",
        "3/4 slots busy",
        "1,234 runs planned, 1,200 ok, 3 failed, 12 retried, 2 cancelled, 41 skipped",
        "caught up: 2 runs for 30 missed ticks, 5 missed ticks skipped",
        "the database is locked",
        "●◐✗■○  skipped",
        "none yet",
        "running 1.2 s, 1 waits",
        "OSError: no route",
        "overlap: run 1 is still active",
        "run 2 for 3 missed ticks",
    ):
        assert words in text, text


def test_policies_need_a_wide_terminal() -> None:
    assert "catch up one" in "\n".join(drawn(view.render(FULL, 160, 50), 160))
    assert "catch up one" not in "\n".join(drawn(view.render(FULL, 80, 24), 80))


def test_a_run_has_one_line_in_the_feed_its_newest() -> None:
    assert [each.kind for each in view.newest(FULL.events, 10)] == ["failed", "skip", "caught up"]
    assert [each.kind for each in view.newest(FULL.events, 2)] == ["skip", "caught up"]


def test_what_is_worth_a_look_stays_beside_the_rest_in_very_wide_terminals() -> None:
    text = "\n".join(drawn(view.render(FULL, 160, 50), 160))
    assert text.count("OSError: no route") == 2


def test_rows_that_do_not_fit_are_counted() -> None:
    crowd = replace(FULL, rows=tuple(row(f"schedule-{n}") for n in range(40)))
    lines = drawn(view.render(crowd, 80, 24), 80)
    assert len(lines) == 24
    shown = sum(line.startswith("schedule-") for line in lines)
    assert f"… and {40 - shown} more: use a taller window" in lines


def test_a_drain_says_what_it_waits_for() -> None:
    drain = replace(FULL, draining=("thumbnails run 7 (1.2 s)",))
    lines = drawn(view.render(drain, 80, 24), 80)
    assert any("draining: waiting for thumbnails run 7 (1.2 s); Ctrl-C again ends at once" in line for line in lines)


def test_a_drain_that_waits_for_many_says_all_that_matters_in_one_line() -> None:
    drain = replace(FULL, draining=tuple(f"thumbnails run {n} (1.2 s)" for n in range(4)))
    for width, words in ((90, "thumbnails run 0 (1.2 s) and 3 more"), (80, "4 runs")):
        lines = drawn(view.render(drain, width, 30), width)
        assert f"draining: waiting for {words}; Ctrl-C again ends at once" in lines


def test_the_foot_tells_what_ctrl_c_does_now() -> None:
    for draining, words in ((None, "Ctrl-C drains and ends"), ((), "Ctrl-C again ends at once")):
        *_, foot = drawn(view.render(replace(FULL, draining=draining), 120, 40), 120)
        assert foot.endswith(words)


def test_terminals_without_unicode_get_plain_shapes() -> None:
    text = "\n".join(drawn(view.summary(FULL, 80, plain_shapes=True), 80))
    assert "orxc-  skipped" in text
    assert not set(text) & set("●◐✗■○")


def test_what_comes_next_is_sorted_and_overdue_is_said() -> None:
    rows = (row("later", next_at=NOW + timedelta(seconds=90)), row("late", next_at=NOW - timedelta(seconds=9)))
    text = view.coming(replace(EMPTY, rows=rows), 80).plain
    assert text == "next  late overdue, later in 1 min 30 s"


def test_an_event_is_one_line_of_text() -> None:
    line = view.line_of(FULL.events[3])
    assert line.endswith("○ skip       fresh            12:00:04 overlap: run 1 is still active")
