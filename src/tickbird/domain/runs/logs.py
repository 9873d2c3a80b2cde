"""Log lines and progress of runs, with limits."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from tickbird.domain.runs.run import Status
from tickbird.domain.text import clean_text

# Limits of one attempt; further lines are dropped, and a last line says so.
MAX_LINES = 10_000
MAX_BYTES = 1_000_000
MAX_LINE_LENGTH = 10_000
MAX_LEVEL = 32_767
CUT = "[log truncated: more than {lines:,} lines or {bytes:,} bytes]"
_ELLIPSIS = " […]"
# A position after every possible line.
END = (2**31 - 1, 2**31 - 1)


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line of one attempt; `number` counts from 1, `level` is that of the standard library."""

    run_id: int
    attempt: int
    number: int
    at: datetime
    level: int
    text: str


def level_name(level: int) -> str:
    """Return the standard library's name of a level, in lower case."""
    return logging.getLevelName(level).lower()


@dataclass(frozen=True, slots=True)
class RunLogs:
    """Lines of a run, and its status before they were read: for a final status, the lines are complete."""

    status: Status
    lines: Sequence[LogLine]


@dataclass(frozen=True, slots=True)
class Progress:
    """The last progress that an attempt reported: any JSON."""

    run_id: int
    attempt: int
    at: datetime
    value: Any


def fitting(text: str) -> str:
    """Return a text that databases accept as a line: without NUL and lone surrogates, truncated if too long."""
    # Truncate before cleaning, because the text may be huge; use `str` itself, because a subclass may override it.
    text = clean_text(str.__getitem__(text, slice(MAX_LINE_LENGTH + 1)), nul="\ufffd")
    return text if len(text) <= MAX_LINE_LENGTH else text[: MAX_LINE_LENGTH - len(_ELLIPSIS)] + _ELLIPSIS


def fit_level(level: Any) -> int:
    """Return a level that every store can store; INFO if it is not a number."""
    try:
        return max(0, min(int(level), MAX_LEVEL))
    except (ValueError, TypeError, OverflowError):
        return logging.INFO


class Meter:
    """Counts the lines and bytes of an attempt against the limits."""

    __slots__ = ("bytes", "lines", "over")

    def __init__(self) -> None:
        self.lines = 0
        self.bytes = 0
        self.over = False

    def take(self, text: str) -> tuple[int, str] | None:
        """Return the number and the text to store (the truncation mark at the limit), or None after the limit."""
        if self.over:
            return None
        text = fitting(text)
        self.lines += 1
        self.bytes += len(text.encode())
        if self.lines > MAX_LINES or self.bytes > MAX_BYTES:
            self.over = True
            text = CUT.format(lines=MAX_LINES, bytes=MAX_BYTES)
        return self.lines, text
