"""Calendars, and what they do to coming ticks."""

from __future__ import annotations

from pydantic import BaseModel, Field

from tickbird.api.models.parts import Body, Instant, Json


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


class CalendarBody(Body):
    """The days that a calendar closes, and how far ahead to tell what that does."""

    definition: Json = Field(description="Some of weekdays, dates, holidays, include and description.")
    horizon: int | str | None = Field(default=None, description="Seconds, or a text such as 90d; else a year.")
