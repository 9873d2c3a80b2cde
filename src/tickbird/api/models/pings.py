"""Pings of other systems."""

from __future__ import annotations

from pydantic import BaseModel, Field

from tickbird.api.models.parts import Body, Instant
from tickbird.api.query_types import InstantText


class PingBody(Body):
    """When it really ran."""

    at: InstantText | None = Field(default=None, description="Else now.")


class PingModel(BaseModel):
    """When the old system ran it."""

    at: Instant


class PingPage(BaseModel):
    """A page of pings, oldest first."""

    items: list[PingModel]
    next: str | None
