"""Positions as readers outside the store remember them: with the incarnation of the store that assigned them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from tickbird.domain.errors import ConflictError, InvalidError

MAX_POSITION: Final = 2**63 - 1
# Every text that matches is a position.
POSITION_PATTERN: Final = r"^(?:[0-9]{1,10}:)?[0-9]{1,18}$"
_START_AGAIN: Final = (
    "Start again from a time or from the beginning (position 0), and ignore ids that you have handled."
)


@dataclass(frozen=True, slots=True)
class EventPosition:
    """A position in a namespace; its text is `INCARNATION:POSITION`."""

    position: int
    # None: of any store, which is not checked.
    incarnation: int | None = None

    def __str__(self) -> str:
        return str(self.position) if self.incarnation is None else f"{self.incarnation}:{self.position}"

    def check(self, incarnation: int, head: int | None = None) -> None:
        """Raise ConflictError if the store has assigned this position to another event, or not yet."""
        if self.incarnation not in (None, incarnation):
            raise ConflictError(
                f"position {self}: belongs to incarnation {self.incarnation} of the store, and this is incarnation"
                f" {incarnation}: it was restored or copied, and later positions are assigned again.",
                hint=_START_AGAIN,
            )
        if head is not None and self.position > head:
            raise ConflictError(
                f"position {self}: the log ends at position {head}. The store was restored to an earlier state, or the"
                " position belongs to another store or namespace.",
                hint=_START_AGAIN,
            )


def as_position(value: EventPosition | int | str, field: str = "position") -> EventPosition:
    """Read a position with or without an incarnation; raises InvalidError."""
    if isinstance(value, EventPosition):
        return value
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_POSITION:
        return EventPosition(value)
    if isinstance(value, str) and re.fullmatch(POSITION_PATTERN, value, re.ASCII):
        incarnation, _, position = value.rpartition(":")
        return EventPosition(int(position), int(incarnation) if incarnation else None)
    raise InvalidError(
        f"{field}: {str(value)[:60]!r} is not a position.",
        field=field,
        hint="Write a number such as 120, or INCARNATION:POSITION as Tickbird returns it.",
    )
