"""What a schedule would do, before there is one."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import BaseModel, Field, WithJsonSchema

from tickbird.api.models.parts import Body, Instant, Json
from tickbird.api.query_types import InstantText
from tickbird.domain.schedules.json_schema import NAME, field_schemas
from tickbird.domain.schedules.warnings import Code

# What ticks go by; whatever else a definition has may be there, too, and is described where schedules are made.
_OF_TICKS: Final = ("trigger", "spread", "calendars", "roll", "start_at", "end_at", "max_runs")
_DRAFT: Final[Json] = {
    "type": "object",
    "properties": {name: field for name, field in field_schemas().items() if name in _OF_TICKS},
    "required": ["trigger"],
}


class PreviewBody(Body):
    """A definition, as to create a schedule; only its trigger is needed."""

    definition: Annotated[Json, WithJsonSchema(_DRAFT)] = Field(
        description="As in the document of a schedule: trigger, spread, calendars, roll …"
    )
    count: int = Field(default=10, ge=1, le=10_000, description="How many ticks.")
    after: InstantText | None = Field(default=None, description="The ticks after this instant; else after now.")
    name: Annotated[str, WithJsonSchema(NAME)] | None = Field(
        default=None, description="The schedule's name: its place within a spread goes by it."
    )


class PreviewedTickModel(BaseModel):
    """A tick that would come; `skipped` tells why it would not run."""

    scheduled_for: Instant
    local: Annotated[str, Field(json_schema_extra={"format": "date-time"}, description="On the clock of the zone.")]
    due_at: Instant
    skipped: str | None
    notes: list[str]


class WarningModel(BaseModel):
    """What is unusual, and the instant that it is about, if any."""

    code: Code
    text: str
    at: Instant | None


class LoadAtModel(BaseModel):
    """How many ticks of others are due in the hour before the minute of an instant, in it, and in the hour after it."""

    at: Instant
    before: int
    minute: int
    after: int


class LoadModel(BaseModel):
    """What else goes on around the first ticks; `complete` is false where not all schedules were looked at."""

    schedules: int
    complete: bool
    instants: list[LoadAtModel]


class PreviewModel(BaseModel):
    """The next ticks of a definition, in words, with what is unusual about them and what else goes on then."""

    trigger_description: str
    zone: str
    definition: Json
    after: Instant
    ticks: list[PreviewedTickModel]
    warnings: list[WarningModel]
    load: LoadModel | None
