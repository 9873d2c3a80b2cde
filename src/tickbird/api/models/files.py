"""Schedules in files."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field

from tickbird.api.models.parts import Body, Instant, Json
from tickbird.api.models.schedules import ScheduleModel
from tickbird.files.plan import Kind


class DiffBody(Body):
    """A document of schedules, as a file has it in JSON, and how it would be applied."""

    document: Json = Field(description="app, schedules, calendars, limits, queues and state, as in a file.")
    prune: bool = Field(default=False, description="Delete schedules of its app that it does not have.")
    adopt: bool = Field(default=False, description="Those that a person made become the app's.")


class ApplyBody(DiffBody):
    """A document of schedules, as a file has it in JSON, and how to apply it."""

    dry_run: bool = False


class FieldChangeModel(BaseModel):
    """A field of a definition, before and after; null is its default."""

    name: str
    before: Any
    after: Any


class KeptOverrideModel(BaseModel):
    """A field that an operator has set, and that stays as it is."""

    name: str
    value: Any
    declared: Any


class KeptPauseModel(BaseModel):
    """A pause that stays; `until` in seconds since the epoch."""

    by: str
    note: str
    until: int | None


class TickMoveModel(BaseModel):
    """A tick that comes at another instant."""

    from_: Instant = Field(alias="from")
    to: Instant


class TickChangesModel(BaseModel):
    """The ticks of the next seven days, before and after, and the first of those that differ."""

    before: int
    after: int
    appear: int
    vanish: int
    moved: int
    complete: bool
    appearing: list[Instant]
    vanishing: list[Instant]
    moving: list[TickMoveModel]


class LateModel(BaseModel):
    """Ticks that are due and not decided yet: these come first."""

    ticks: int
    catch_up: str


class ScheduleChangeModel(BaseModel):
    """What becomes of one schedule; `schedule` is as it will be, or was if it is deleted."""

    name: str
    kind: Kind
    fields_: list[FieldChangeModel] = Field(alias="fields")
    kept_overrides: list[KeptOverrideModel]
    pause: KeptPauseModel | None
    ticks: TickChangesModel
    late: LateModel | None
    void: int
    notes: list[str]
    schedule: ScheduleModel


class UnchangedModel(BaseModel):
    """A schedule that is as the document says, but for what people have done beside it, which stays."""

    name: str
    kept_overrides: list[KeptOverrideModel]
    pause: KeptPauseModel | None


class SettingChangeModel(BaseModel):
    """A calendar, a limit or a rate that is set to something else."""

    part: Literal["calendars", "limits", "queues"]
    name: str
    before: Any
    after: Any


class CrowdModel(BaseModel):
    """A minute in which many schedules are due."""

    at: Instant
    schedules: int
    names: list[str]


class DiagnosticModel(BaseModel):
    """Something that is wrong with a document."""

    file: str
    line: int | None
    column: int | None
    text: str


class FilePlanModel(BaseModel):
    """All that would change, or was changed; `diagnostics` and `conflicts` keep it from being applied."""

    app: str
    namespace: str
    applied: bool
    changes: dict[str, int] = Field(description="How many schedules are changed in each way.")
    same: int
    not_in_files: list[str]
    stays: list[UnchangedModel]
    schedules: list[ScheduleChangeModel]
    settings: list[SettingChangeModel]
    crowds: list[CrowdModel]
    unserved: list[str]
    diagnostics: list[DiagnosticModel]
    conflicts: list[DiagnosticModel]


class ExportModel(BaseModel):
    """What is stored, as a file has it in JSON, and what operators have done beside it, by schedule."""

    document: Json
    operator_notes: dict[str, list[str]]
