"""Calendars, and what they do to coming ticks."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import BaseModel, Field, WithJsonSchema

from tickbird.api.models.parts import Body, Instant, Json
from tickbird.client.calendar_service import MAX_HORIZON
from tickbird.domain.calendars.calendar import WEEKDAYS
from tickbird.domain.calendars.definition import MAX_DATES
from tickbird.domain.schedules.json_schema import NAME


class CalendarModel(BaseModel):
    """A stored calendar: as defined, the days that it closes, and where those come from."""

    name: str
    definition: Json
    closed: list[str] = Field(description="Its days as schedules hold them.")
    source: Json = Field(description="Of public holidays: the library, the years, and their names by date.")
    revision: int
    created_at: Instant
    changed_at: Instant
    changed_by: str


class CalendarPage(BaseModel):
    """A page of calendars, by name."""

    items: list[CalendarModel]
    next: str | None


class MoveModel(BaseModel):
    """A tick that runs at another instant."""

    from_: Instant = Field(alias="from")
    to: Instant


class EffectModel(BaseModel):
    """The ticks of a schedule that a calendar moves, lets appear or lets vanish; `more` are not listed."""

    schedule: str
    moved: list[MoveModel]
    appear: list[Instant]
    vanish: list[Instant]
    more: bool


class FailureModel(BaseModel):
    """A schedule that cannot have a calendar, and why."""

    schedule: str
    error: str


class CalendarReportModel(BaseModel):
    """What a calendar does to coming ticks, or would do; `calendar` is null where it was not stored."""

    name: str
    stored: bool
    calendar: CalendarModel | None
    definition: Json
    closed: list[str]
    source: Json
    horizon: int = Field(description="Seconds ahead that were looked at.")
    schedules: int = Field(description="How many name it.")
    effects: list[EffectModel]
    complete: bool = Field(description="False where there were too many ticks to compare.")
    failed: list[FailureModel] = Field(description="Schedules that were not, or could not be, brought up to it.")


_DAYS: Final[Json] = {
    "type": "array",
    "items": {"type": "string", "description": "2026-12-24, 2026-12-24/2026-12-31, 12-25 or 12-24/01-02."},
    "maxItems": MAX_DATES,
}
_HOLIDAYS: Final[Json] = {
    "type": "object",
    "properties": {
        "country": NAME,
        "subdivision": NAME,
        "years": {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2},
    },
    "required": ["country"],
    "additionalProperties": False,
}
# Looked at by the domain, which tells better what is wrong; described here.
_DEFINED: Final[Json] = {
    "type": "object",
    "properties": {
        "weekdays": {"type": "array", "items": {"enum": list(WEEKDAYS)}, "maxItems": 7},
        "dates": _DAYS,
        "include": _DAYS,
        "holidays": _HOLIDAYS,
        "description": {"type": "string", "maxLength": 2_000},
    },
    "additionalProperties": False,
}
_HORIZON: Final[Json] = {
    "anyOf": [
        {"type": "integer", "minimum": 1, "maximum": MAX_HORIZON},
        {"type": "string", "format": "length-of-time"},
    ]
}


class CalendarBody(Body):
    """The days that a calendar closes, and how far ahead to tell what that does."""

    definition: Annotated[Json, WithJsonSchema(_DEFINED)] = Field(
        description="Some of weekdays, dates, holidays, include and description."
    )
    horizon: Annotated[int | str, WithJsonSchema(_HORIZON)] | None = Field(
        default=None, description="Seconds, or a text such as 90d, at most five years; else a year."
    )
