"""Schedules over HTTP: what they are, and how they are changed."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response

from tickbird.api import PREFIX
from tickbird.api.auth.auth import Access, Editor, Operator, Viewer
from tickbird.api.definition_body import read_changes, read_definition
from tickbird.api.etags import IfMatch, IfNoneMatch, etag, parse_if_match, read_either
from tickbird.api.models.parts import NoteBody
from tickbird.api.models.runs import TriggeredRun
from tickbird.api.models.schedules import (
    ChangedSchedule,
    Changes,
    DefinitionBody,
    NewSchedule,
    PauseBody,
    RescheduleBody,
    ScheduleModel,
    SchedulePage,
    SkipBody,
    TriggerBody,
)
from tickbird.api.paging import AfterName, Limit, page, read_name
from tickbird.api.problems import Problem
from tickbird.api.query_types import read_instant
from tickbird.api.run_response import RunKey, run_response, scoped_key
from tickbird.api.schedule_response import changed_schedule, check_command
from tickbird.domain.doctor.schedule_warnings import problems
from tickbird.domain.errors import ConflictError, NotFoundError
from tickbird.domain.schedules.policy_input import check_fields
from tickbird.domain.schedules.schedule import Schedule, State
from tickbird.wire.encode.schedules import schedule_document, schedule_summary_document

# A name that others create and delete all the time is given up after this.
_PUT_TRIES = 20

router = APIRouter(prefix=f"{PREFIX}/schedules", tags=["schedules"])


@router.get("", summary="List schedules by name", operation_id="list_schedules", response_model=SchedulePage)
async def list_schedules(
    access: Viewer,
    contains: Annotated[
        str, Query(max_length=200, description="Only those whose name, tag or target contains this.")
    ] = "",
    state: Annotated[State | None, Query(description="Only those in this state; deleted ones only so.")] = None,
    tag: Annotated[str | None, Query(max_length=200, description="Only those with this tag.")] = None,
    limit: Limit = 100,
    after: AfterName = None,
) -> Any:
    """Schedules of a namespace, each with its newest run and what keeps it from running."""
    client = access.client
    found = await client.list(contains=contains, state=state, tag=tag, after=read_name(after), limit=limit + 1)
    workers, now = await client.workers(), await client.now()
    return await page(
        found,
        limit,
        lambda row: row.schedule.name,
        lambda row: schedule_summary_document(row, problems(row.schedule, workers, now, row.held)),
    )


@router.post(
    "", summary="Create a schedule", operation_id="create_schedule", response_model=ChangedSchedule, status_code=201
)
async def create_schedule(access: Editor, body: NewSchedule, response: Response) -> Any:
    """A new schedule; 409 where there is one of this name. A task that no live worker knows is a warning.

    A setting that is not stated is the task's.
    """
    fields, _ = read_definition(body.definition, body.none)
    await check_command(access, body.name, fields)
    made = await _create(access, body.name, fields, body.first, unknown_task_ok=body.unknown_task_ok)
    return await changed_schedule(access, made, response)


@router.get("/{name}", summary="One schedule", operation_id="get_schedule", response_model=ScheduleModel)
async def get_schedule(access: Viewer, name: str, response: Response) -> Any:
    """A schedule by name; the header ETag has its revision, for If-Match."""
    schedule = await access.client.get(name)
    response.headers["ETag"] = etag(schedule.revision)
    return schedule_document(schedule)


@router.patch("/{name}", summary="Change some fields", operation_id="change_schedule", response_model=ChangedSchedule)
async def change_schedule(
    access: Editor, name: str, body: Changes, response: Response, if_match: IfMatch = None
) -> Any:
    """Change only the fields that are stated; null takes one back to what code or the task declares, or its default."""
    fields, unset = read_changes(body.definition)
    check_fields(body.none)
    fields |= dict.fromkeys(body.none)
    unset = [*unset, *body.unset]
    await check_command(access, name, fields)
    changed = await access.client.update(
        name, actor=access.actor, revision=parse_if_match(if_match), unset=unset, **fields
    )
    return await changed_schedule(access, changed, response)


@router.put(
    "/{name}",
    summary="Create or replace a schedule",
    operation_id="put_schedule",
    response_model=ChangedSchedule,
    responses={201: {"model": ChangedSchedule, "description": "It was created."}},
)
async def put_schedule(
    access: Editor,
    name: str,
    body: DefinitionBody,
    response: Response,
    if_match: IfMatch = None,
    if_none_match: IfNoneMatch = None,
) -> Any:
    """Make the schedule what is sent, whether it exists or not; settings that are left out are the task's.

    Other fields get their defaults. A field of a schedule from code goes back to what code declares.
    """
    fields, left_out = read_definition(body.definition, body.none)
    await check_command(access, name, fields)
    revision = read_either(if_match, if_none_match)
    if revision == 0:
        try:
            schedule = await _create(access, name, fields)
        except ConflictError as error:
            raise Problem(412, "stale", error.message, field="If-None-Match", hint=error.hint) from None
        response.status_code = 201
        return await changed_schedule(access, schedule, response)
    try:
        schedule, created = await _update_or_create(
            access, name, fields, left_out, revision, must_exist=if_match is not None
        )
    except NotFoundError:
        if if_match is None:
            raise
        raise Problem(
            412,
            "stale",
            f"there is no schedule {name[:200]!r};",
            field="If-Match",
            hint="leave If-Match out to create it.",
        ) from None
    if created:
        response.status_code = 201
    return await changed_schedule(access, schedule, response)


@router.delete("/{name}", summary="Delete a schedule", operation_id="delete_schedule", response_model=ChangedSchedule)
async def delete_schedule(
    access: Editor,
    name: str,
    response: Response,
    cancel_runs: Annotated[bool, Query(description="Also cancel its runs that have not started.")] = False,
    if_match: IfMatch = None,
) -> Any:
    """Delete a schedule; what was decided for its ticks stays on record, and its name later goes on from there."""
    deleted = await access.client.delete(
        name, actor=access.actor, revision=parse_if_match(if_match), cancel_runs=cancel_runs
    )
    return await changed_schedule(access, deleted, response)


@router.post("/{name}/pause", summary="Pause", operation_id="pause_schedule", response_model=ChangedSchedule)
async def pause_schedule(
    access: Operator, name: str, response: Response, body: PauseBody | None = None, if_match: IfMatch = None
) -> Any:
    """Stop planning until it is resumed, or until an instant; queued runs go on unless they are to be cancelled."""
    sent = body or PauseBody()
    paused = await access.client.pause(
        name,
        actor=access.actor,
        note=sent.note,
        until=None if sent.until is None else read_instant(sent.until, "until"),
        cancel_runs=sent.cancel_runs,
        revision=parse_if_match(if_match),
    )
    return await changed_schedule(access, paused, response)


@router.post("/{name}/resume", summary="Resume", operation_id="resume_schedule", response_model=ChangedSchedule)
async def resume_schedule(
    access: Operator, name: str, response: Response, body: NoteBody | None = None, if_match: IfMatch = None
) -> Any:
    """Go on; what was missed meanwhile is one skip `paused`. 409 where it is not paused."""
    note = "" if body is None else body.note
    resumed = await access.client.resume(name, actor=access.actor, note=note, revision=parse_if_match(if_match))
    return await changed_schedule(access, resumed, response)


@router.post(
    "/{name}/reschedule", summary="Move the next tick", operation_id="reschedule", response_model=ChangedSchedule
)
async def reschedule(
    access: Operator, name: str, body: RescheduleBody, response: Response, if_match: IfMatch = None
) -> Any:
    """Make the next tick due at another instant; ticks that this passes over are skipped."""
    moved = await access.client.reschedule(
        name, read_instant(body.to, "to"), actor=access.actor, note=body.note, revision=parse_if_match(if_match)
    )
    return await changed_schedule(access, moved, response)


@router.post("/{name}/skip", summary="Skip the next ticks", operation_id="skip_ticks", response_model=ChangedSchedule)
async def skip_ticks(
    access: Operator, name: str, response: Response, body: SkipBody | None = None, if_match: IfMatch = None
) -> Any:
    """Do not run the next tick, so many of them, or all before an instant."""
    sent = body or SkipBody()
    skipped = await access.client.skip(
        name,
        sent.count,
        until=None if sent.until is None else read_instant(sent.until, "until"),
        actor=access.actor,
        note=sent.note,
        revision=parse_if_match(if_match),
    )
    return await changed_schedule(access, skipped, response)


@router.post(
    "/{name}/trigger",
    summary="Run it now",
    operation_id="trigger_schedule",
    response_model=TriggeredRun,
    status_code=201,
)
async def trigger_schedule(
    request: Request,
    access: Operator,
    name: str,
    body: TriggerBody | None = None,
    idempotency_key: RunKey = None,
    if_match: IfMatch = None,
) -> Any:
    """One manual run now; the schedule's own ticks are not touched. With `wait`, the run as it is after that."""
    sent, client = body or TriggerBody(), access.client
    revision = parse_if_match(if_match)
    with scoped_key(access, idempotency_key) as key:
        run = await client.trigger(
            name, actor=access.actor, payload=sent.payload, idempotency_key=key, revision=revision
        )
    return await run_response(request, client, run, sent.wait)


async def _update_or_create(
    access: Access, name: str, fields: dict[str, Any], left_out: Any, revision: int | None, *, must_exist: bool
) -> tuple[Schedule, bool]:
    """The schedule, and whether it was created."""
    tries = 0
    while True:
        try:
            return await access.client.update(
                name, actor=access.actor, revision=revision, unset=left_out, **fields
            ), False
        except NotFoundError:
            if must_exist:
                raise
        try:
            return await _create(access, name, fields), True
        except ConflictError:
            # Most likely another client has created it since the look above.
            tries += 1
            if tries == _PUT_TRIES:
                raise


async def _create(
    access: Access, name: str, fields: dict[str, Any], first: Any = None, *, unknown_task_ok: bool = True
) -> Schedule:
    given = dict(fields)
    trigger, target = given.pop("trigger"), given.pop("target")
    return await access.client.create(
        name,
        trigger,
        target.program or target.name,
        actor=access.actor,
        first=first,
        unknown_task_ok=unknown_task_ok,
        **given,
    )
