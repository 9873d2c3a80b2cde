"""Positions in the log of a run, after which a reader continues."""

from __future__ import annotations

import re
from typing import Final

from tickbird.domain.errors import PageTokenError
from tickbird.domain.runs.logs import LogLine

# The attempt and the number of a line.
LogPosition = tuple[int, int]
START: Final[LogPosition] = (0, 0)
LOG_POSITION: Final = r"^([0-9]{1,9})(?:\.([0-9]{1,9}))?$"


def position_of(line: LogLine) -> LogPosition:
    return line.attempt, line.number


def format_position(line: LogLine) -> str:
    """The position in text: line 17 of attempt 2 is `2.17`."""
    return f"{line.attempt}.{line.number}"


def parse_position(text: str | None, field: str) -> LogPosition:
    """Parse a position (default: the start)."""
    if text is None:
        return START
    match = re.fullmatch(LOG_POSITION, text)
    if match is None:
        raise PageTokenError(
            f"{field}: {text[:60]!r} is not a position in a log.",
            field=field,
            hint="Send the attempt and the number of the last line, such as 1.17, or leave it out.",
        )
    return int(match[1]), int(match[2] or 0)
