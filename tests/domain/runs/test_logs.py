"""Limits of the log of an attempt."""

from __future__ import annotations

from tickbird.domain.runs.logs import MAX_BYTES, MAX_LINE_LENGTH, MAX_LINES, Meter, fitting


def test_log_is_truncated_after_the_maximum_of_lines() -> None:
    meter = Meter()
    kept = [meter.take(f"{number}") for number in range(MAX_LINES + 5)]
    assert kept[:2] == [(1, "0"), (2, "1")]
    assert kept[MAX_LINES - 1] == (MAX_LINES, f"{MAX_LINES - 1}")
    number, mark = kept[MAX_LINES] or (0, "")
    assert number == MAX_LINES + 1
    assert mark.startswith("[log truncated")
    assert kept[MAX_LINES + 1 :] == [None] * 4


def test_bytes_count_not_characters() -> None:
    meter = Meter()
    line = "ü" * 5_000
    kept = [meter.take(line) for _ in range(MAX_BYTES // 10_000 + 1)]
    assert all(one is not None and one[1] == line for one in kept[:-1])
    assert "log truncated" in (kept[-1] or (0, ""))[1]
    assert meter.take("x") is None


def test_invalid_characters_are_replaced_and_long_lines_truncated() -> None:
    assert fitting("a\0b\udc80c") == "a\ufffdb?c"
    assert len(fitting("x" * (MAX_LINE_LENGTH + 1))) == MAX_LINE_LENGTH
    assert fitting("x" * (MAX_LINE_LENGTH + 1)).endswith(" […]")
    assert fitting("x" * MAX_LINE_LENGTH) == "x" * MAX_LINE_LENGTH
