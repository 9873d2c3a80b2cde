"""One change to many schedules."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from tickbird.api.models.parts import Body, Note
from tickbird.api.query_types import InstantText
from tickbird.domain.planning.bulk import BulkVerb

FilterState = Literal["active", "paused", "parked", "ended"]


class FilterBody(Body):
    """Which schedules, as in the list of them: all that is said must hold. Nothing said: all of the namespace."""

    contains: str = Field(default="", max_length=200, description="Those whose name contains this.")
    tag: str | None = Field(default=None, max_length=200, description="Those with this tag.")
    state: FilterState | None = Field(default=None, description="Those in this state.")


class BulkBody(Body):
    """Which schedules, and how many of them were seen."""

    filter: FilterBody
    expected: int = Field(
        ge=0, le=2**31 - 1, description="How many match, as was seen: refused where that is off by more than a tenth."
    )


class BulkPauseBody(BulkBody):
    """Which schedules, how many of them were seen, why they are paused and until when."""

    note: Note = ""
    until: InstantText | None = None
    cancel_runs: bool = Field(default=False, description="Also cancel their runs that have not started.")


class BulkResumeBody(BulkBody):
    """Which schedules, how many of them were seen, and why they go on."""

    note: Note = ""


class NotChangedModel(BaseModel):
    """A schedule that matched and was not changed, and why."""

    schedule: str
    why: str


class BulkModel(BaseModel):
    """How many schedules matched, which of them were changed, and which were left alone and why."""

    verb: BulkVerb
    matched: int
    changed: list[str]
    not_changed: list[NotChangedModel]
    runs: dict[str, int] = Field(description="Of a trigger: the id of each schedule's run.")
