"""One-shot triggers."""

from __future__ import annotations

from datetime import datetime

from tickbird.domain.errors import TriggerError, name_field
from tickbird.domain.time.instants import parse_iso, to_datetime, to_seconds
from tickbird.domain.triggers.base import BaseTrigger
from tickbird.domain.triggers.form import Document, TriggerForm


def at(instant: datetime) -> At:
    """Create a trigger that ticks once, at an aware datetime in whole seconds."""
    return At(instant)


class At(BaseTrigger):
    """A single instant; created by `at()`."""

    __slots__ = ("tick",)
    tz = "UTC"
    max_per_day = 1

    def __init__(self, instant: datetime) -> None:
        self.tick = to_seconds(instant)
        if instant.microsecond:
            raise _refuse("at", "has microseconds, but ticks are whole seconds", "Use .replace(microsecond=0).")
        try:
            to_datetime(self.tick)
        except (ValueError, OverflowError):
            raise _refuse("at", "is outside the years 1 to 9999 in UTC", "Choose an instant in this range.") from None

    def next_tick(self, after: int) -> int | None:
        return self.tick if self.tick > after else None

    def previous_tick(self, before: int) -> int | None:
        return self.tick if self.tick < before else None

    def count(self, after: int, until: int) -> int:
        return int(after < self.tick <= until)

    def walls(self, tick: int) -> list[int]:
        return [tick]

    def describe(self) -> str:
        return f"Once, at {to_datetime(self.tick):%Y-%m-%d %H:%M:%S} UTC"

    def to_json(self) -> dict[str, object]:
        return {"at": to_datetime(self.tick).isoformat().replace("+00:00", "Z")}

    def __repr__(self) -> str:
        return f"at({to_datetime(self.tick)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, At) and self.tick == other.tick

    def __hash__(self) -> int:
        return hash((At, self.tick))


def _read(document: Document, _tz: str) -> At:
    instant = document["at"]
    if not isinstance(instant, datetime):
        instant = parse_iso(instant, "at")
    if instant.tzinfo is None:
        raise _refuse("at", "has no time zone", 'Write it like "2026-01-31T09:00:00Z".')
    return At(instant)


def _refuse(field: str, reason: str, hint: str = "") -> TriggerError:
    return TriggerError(name_field(field, reason), field=field, reason=reason, hint=hint)


FORM = TriggerForm(
    name="at",
    noun="instant",
    metavar="INSTANT",
    summary="A single instant.",
    about="One instant, such as 2026-12-24T18:00:00Z; without an offset, in the time zone tz.",
    example="at 2027-01-31T09:00",
    kind="instant",
    schema={"type": "string", "format": "date-time", "description": "An instant with a UTC offset."},
    has_zone=False,
    read=_read,
    parse_text=lambda text, read_instant: {"at": read_instant(text)},
    write_text=lambda document: document["at"],
)
