"""What runs say while they execute: lines and progress, bounded."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from tickbird.domain.runs.run import Status
from tickbird.domain.text import clean_text

# Of one attempt; what comes beyond is left out, and a line says so.
MAX_LINES = 10_000
MAX_BYTES = 1_000_000
MAX_LINE_LENGTH = 10_000
MAX_LEVEL = 32_767
CUT = "[the log is cut here: it has more than {lines:,} lines or {bytes:,} bytes]"
_ELLIPSIS = " […]"
# Behind every line that a run can have.
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
    """A level as the standard library names it, in lower case."""
    return logging.getLevelName(level).lower()


@dataclass(frozen=True, slots=True)
class RunLogs:
    """Lines of a run, and how it stood before they were read: what a final one has logged is there."""

    status: Status
    lines: Sequence[LogLine]


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an attempt is, as its code said last: any JSON."""

    run_id: int
    attempt: int
    at: datetime
    value: Any


def fitting(text: str) -> str:
    """A text that a database takes as a line: without NUL and halves of characters, cut where it is too long."""
    # Cut before it is cleaned, since it may be of any length; by `str` itself, since a subclass may override this.
    text = clean_text(str.__getitem__(text, slice(MAX_LINE_LENGTH + 1)), nul="\ufffd")
    return text if len(text) <= MAX_LINE_LENGTH else text[: MAX_LINE_LENGTH - len(_ELLIPSIS)] + _ELLIPSIS


def fit_level(level: Any) -> int:
    """A level that every store can keep; one that is no number counts as INFO."""
    try:
        return max(0, min(int(level), MAX_LEVEL))
    except (ValueError, TypeError, OverflowError):
        return logging.INFO


class Meter:
    """How much of its allowance an attempt has used up."""

    __slots__ = ("bytes", "lines", "over")

    def __init__(self) -> None:
        self.lines = 0
        self.bytes = 0
        self.over = False

    def take(self, text: str) -> tuple[int, str] | None:
        """The number and the text to keep, the mark where the log ends, or None beyond it."""
        if self.over:
            return None
        text = fitting(text)
        self.lines += 1
        self.bytes += len(text.encode())
        if self.lines > MAX_LINES or self.bytes > MAX_BYTES:
            self.over = True
            text = CUT.format(lines=MAX_LINES, bytes=MAX_BYTES)
        return self.lines, text
