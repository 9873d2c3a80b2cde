"""The store as a whole: its clock, how it is, where it is, and its zone rules."""

from __future__ import annotations

from pydantic import BaseModel, Field

from tickbird.api.models.parts import Instant, Json
from tickbird.domain.doctor.finding import Severity


class NowModel(BaseModel):
    """The store's clock."""

    now: Instant


class FindingModel(BaseModel):
    """What was looked at, how it is, and what to do about it; `figures` are for programs."""

    check: str
    severity: Severity
    ok: bool
    text: str
    fix: str
    figures: Json


class DoctorModel(BaseModel):
    """All that was looked at."""

    items: list[FindingModel]


class IdentityModel(BaseModel):
    """Where the store is, where it says it is, and why it is taken for a copy; empty where it is none."""

    here: dict[str, str]
    stored: dict[str, str]
    copy_reason: str


class ZoneDataModel(BaseModel):
    """One state of the zone rules: its release, a digest of all its files, and where it was found."""

    version: str
    digest: str
    source: str


class ZoneRecordModel(BaseModel):
    """A version of the tz database that the store has used; `recomputed_at` is None while cursors are recomputed."""

    generation: int
    version: str
    digest: str
    adopted_at: Instant
    adopted_by: str
    recomputed_at: Instant | None


class ZonesModel(BaseModel):
    """The zone rules of the server's process beside those of the store."""

    here: ZoneDataModel
    store: ZoneRecordModel | None
    same: bool
    adopted: bool = Field(description="The store took them over by this very request.")


class ZoneHistory(BaseModel):
    """Zone rules, newest first."""

    items: list[ZoneRecordModel]


class ZoneImpactModel(BaseModel):
    """Ticks of a schedule that only one of two sets of rules has: how many of each, and the first of them."""

    schedule: str
    zone: str
    removed: int
    added: int
    first_removed: list[Instant]
    first_added: list[Instant]
    until: Instant


class ZoneImpactPage(BaseModel):
    """Schedules whose ticks move, the nearest first."""

    items: list[ZoneImpactModel]
