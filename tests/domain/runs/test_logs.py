"""How much of what an attempt says is kept."""

from __future__ import annotations

from tickbird.domain.runs.logs import LONGEST_LINE, MOST_BYTES, MOST_LINES, Meter, fitting


def test_lines_are_counted_until_there_are_too_many() -> None:
    meter = Meter()
    kept = [meter.take(f"{number}") for number in range(MOST_LINES + 5)]
    assert kept[:2] == [(1, "0"), (2, "1")]
    assert kept[MOST_LINES - 1] == (MOST_LINES, f"{MOST_LINES - 1}")
    number, mark = kept[MOST_LINES] or (0, "")
    assert number == MOST_LINES + 1
    assert mark.startswith("[the log is cut here")
    assert kept[MOST_LINES + 1 :] == [None] * 4


def test_bytes_count_not_characters() -> None:
    meter = Meter()
    line = "ü" * 5_000
    kept = [meter.take(line) for _ in range(MOST_BYTES // 10_000 + 1)]
    assert all(one is not None and one[1] == line for one in kept[:-1])
    assert "cut here" in (kept[-1] or (0, ""))[1]
    assert meter.take("x") is None


def test_what_databases_refuse_is_replaced_and_long_lines_are_cut() -> None:
    assert fitting("a\0b\udc80c") == "a\ufffdb?c"
    assert len(fitting("x" * (LONGEST_LINE + 1))) == LONGEST_LINE
    assert fitting("x" * (LONGEST_LINE + 1)).endswith(" […]")
    assert fitting("x" * LONGEST_LINE) == "x" * LONGEST_LINE
