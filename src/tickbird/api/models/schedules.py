"""Schedules, and what changes them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field, WithJsonSchema

from tickbird.api.models.parts import Body, Instant, Json, Note
from tickbird.api.models.runs import RunModel, Wait
from tickbird.api.models.tick_overrides import TickOverrideModel
from tickbird.api.query_types import InstantText
from tickbird.domain.planning.commands.ticks import MAX_SKIPPED
from tickbird.domain.schedules.json_schema import NAME, changes_schema, definition_schema
from tickbird.domain.schedules.schedule import State


class PausedModel(BaseModel):
    """Who paused a schedule, why and until when."""

    by: str
    note: str
    until: Instant | None


class PendingSkipModel(BaseModel):
    """Up to where ticks are not to run, who said so and why."""

    until: Instant
    by: str | None
    note: str


class ScheduleModel(BaseModel):
    """A schedule as it is stored; `trigger_description` is null if the definition cannot be read."""

    id: int
    namespace: str
    name: str
    state: State
    enabled: bool = Field(description="Neither paused nor deleted.")
    kind: str | None = Field(description="The kind of its target; null if the definition cannot be read.")
    cron_spec: str | None = Field(description="The cron expression; null if it has another trigger.")
    burst_allowed: bool = Field(description='May more than `max_concurrent` of its runs be active (`overlap="allow"`)?')
    trigger_description: str | None
    zone: str | None
    definition: Json
    field_overrides: Json = Field(description="Fields that an operator set over what code declares.")
    tick_overrides: list[TickOverrideModel]
    early_ticks: list[Instant] = Field(description="Coming ticks that were decided before the trigger changed.")
    pending_skip: PendingSkipModel | None
    revision: int
    fingerprint: str | None = Field(description="Of the definition that code declares.")
    app: str | None
    paused: PausedModel | None
    error: str | None
    next_run_at: Instant | None
    planned_until: Instant | None
    runs_planned: int
    created_at: Instant | None
    changed_at: Instant | None


class ScheduleRowModel(ScheduleModel):
    """A schedule in a list: with its newest run, how often in a row it failed, and what keeps it from running."""

    last_run: RunModel | None
    last_run_id: int | None
    last_run_at: Instant | None = Field(description="When an attempt of its runs last began.")
    last_enqueued_at: Instant | None = Field(description="When its newest run was created.")
    failure_streak: int
    held: int
    problems: list[str]


class SchedulePage(BaseModel):
    """A page of schedules, by name."""

    items: list[ScheduleRowModel]
    next: str | None = Field(description="The `after` of the next page; null on the last.")


class ChangedSchedule(BaseModel):
    """A schedule after a change, and what keeps its runs from being executed."""

    schedule: ScheduleModel
    warnings: list[str]


# Looked at by the domain, which tells better what is wrong; described here.
DefinitionJson = Annotated[Json, WithJsonSchema(definition_schema())]
Some = Annotated[Json, WithJsonSchema(changes_schema())]


class NewSchedule(Body):
    """A schedule to be made."""

    name: Annotated[str, WithJsonSchema(NAME)]
    definition: DefinitionJson = Field(description="As in the document of a schedule: trigger, target and policies.")
    first: Literal["now"] | None = Field(default=None, description="`now`: also one run at once.")
    unknown_task_ok: bool = Field(default=True, description="404 where no live worker knows the task, if false.")
    none: list[str] = Field(
        default_factory=list, description="Fields that are to be nothing, whatever the task declares."
    )


class DefinitionBody(Body):
    """All of a schedule's definition; what it does not state goes back to code, to the task or to its default."""

    definition: DefinitionJson
    none: list[str] = Field(
        default_factory=list, description="Fields that are to be nothing, whatever the task declares."
    )


class Changes(Body):
    """The fields of a definition that are to change; null takes one back to code, to the task or to its default."""

    definition: Some = Field(default_factory=dict)
    unset: list[str] = Field(default_factory=list, description="Fields that go back, as null does in `definition`.")
    none: list[str] = Field(default_factory=list, description="Fields that are to be nothing, whatever code declares.")


class PauseBody(Body):
    """Why it is paused, and until when."""

    note: Note = ""
    until: InstantText | None = None
    cancel_runs: bool = Field(default=False, description="Also cancel its runs that have not started.")


class RescheduleBody(Body):
    """When the next tick is to be due."""

    to: InstantText
    note: Note = ""


class SkipBody(Body):
    """The next ticks that are not to run: so many, or all before an instant; one if neither is said."""

    count: Annotated[int, Field(json_schema_extra={"minimum": 1, "maximum": MAX_SKIPPED})] | None = None
    until: InstantText | None = None
    note: Note = ""


class TriggerBody(Body):
    """A payload other than the schedule's, and how long to wait for the run to come to its end."""

    payload: Json | None = None
    wait: Wait | None = None
