"""Schedules: their definitions, and changes of their state."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Final, Literal

from tickbird.client.bulk import Bulk
from tickbird.client.parameters import CancelRuns, NewScheduleName, Note, Payload, ScheduleName, nullable
from tickbird.client.responses import new_run_response, schedule_change, schedule_warnings
from tickbird.client.runs import Runs, created_run
from tickbird.domain.access.tokens import Role
from tickbird.domain.dashboard_rows import ScheduleSummary
from tickbird.domain.doctor.schedule_warnings import ProblemFinder
from tickbird.domain.errors import ConflictError, InvalidError, NotFoundError, PayloadError, StaleError
from tickbird.domain.planning.commands.define import Create, Delete, Update
from tickbird.domain.planning.commands.pause import Pause, Resume
from tickbird.domain.planning.commands.run import Trigger
from tickbird.domain.planning.commands.ticks import MAX_SKIPPED, Reschedule, Skip
from tickbird.domain.runs.run import RunRecord
from tickbird.domain.schedules.codec import decode_field, encode_field, encode_stated
from tickbird.domain.schedules.definition import Target
from tickbird.domain.schedules.definition_changes import (
    check_unset,
    encode_fields,
    encode_patch,
    new_definition,
    read_update,
)
from tickbird.domain.schedules.definition_input import read_changes, read_definition
from tickbird.domain.schedules.json_schema import NAME, changes_schema, definition_schema
from tickbird.domain.schedules.policy_input import check_fields
from tickbird.domain.schedules.schedule import PauseState, PutResult, Schedule, State
from tickbird.domain.targets.registry import as_target
from tickbird.domain.targets.spec import TargetSpec
from tickbird.domain.text import check_new_name
from tickbird.domain.time.durations import Duration
from tickbird.domain.time.instants import to_seconds
from tickbird.domain.triggers.trigger import Trigger as TriggerValue
from tickbird.wire.operations import editor, operator, viewer
from tickbird.wire.parameters import Meta

# Attempts to create or replace a schedule that other clients create and delete at the same time.
_MAX_PUT_TRIES: Final = 20
# The domain validates it, with better errors than a schema.
DefinitionJson = Annotated[
    Mapping[str, Any],
    Meta(schema=definition_schema(), description="As in the document of a schedule: trigger, target and policies."),
]
Changes = Annotated[Mapping[str, Any], Meta(schema=changes_schema())]
FieldNames = Annotated[
    Collection[str], Meta(description="Fields that have no value, even if the task or code declares one.")
]


async def _warnings(client: Any, result: PutResult, arguments: Mapping[str, Any]) -> list[str]:
    return await schedule_warnings(client, result.schedule, arguments)


class Schedules(Bulk):
    """Schedules, and changes of their state."""

    async def create(
        self,
        name: str,
        trigger: TriggerValue,
        task: str | TargetSpec,
        *,
        actor: str,
        payload: Mapping[str, Any] | None = None,
        first: Literal["now"] | None = None,
        unknown_task_ok: bool = False,
        **options: Any,
    ) -> Schedule:
        """Create a schedule of a task, or of the spec of another target, such as a `command(...)`.

        `options` are policies. Settings that are not given are those of the task, in this process or a live worker.
        """
        check_new_name(name, "schedule")
        target = as_target(task)
        own = self._settings.get(target.name, {}) if target.kind == "task" else {}
        fields = {"trigger": trigger, "target": target, **own, **options}
        encoded = encode_fields(encode_stated(new_definition(fields, self._own_payload(target, payload or {}))))
        return await self.define(
            name,
            encoded.fields,
            actor=actor,
            first=first,
            unknown_task_ok=unknown_task_ok or target.name in self._validators,
            none=encoded.none,
        )

    @editor.post("create_schedule", "/schedules", "Create a schedule", **schedule_change("create", 201))
    async def define(
        self,
        name: Annotated[str, Meta(schema=NAME)],
        definition: DefinitionJson,
        *,
        actor: str,
        first: Annotated[Literal["now"] | None, Meta(description="`now`: also start one run immediately.")] = None,
        unknown_task_ok: Annotated[
            bool, Meta(description="Accept a task that no live worker has; if false, 404.")
        ] = True,
        none: FieldNames = (),
        granted: Role | None = None,
    ) -> Schedule:
        """Create a schedule from its definition as JSON; 409 if the name is taken.

        A setting that is not stated is the task's. A task that no live worker knows is a warning.
        """
        fields, _ = read_definition(definition, none)
        await self._check_role(name, fields["target"], granted)
        return await self._create(name, fields, actor, first, unknown_task_ok=unknown_task_ok)

    async def _create(
        self,
        name: str,
        fields: Mapping[str, Any],
        actor: str,
        first: Any = None,
        *,
        unknown_task_ok: bool = True,
        pause: PauseState | None = None,
    ) -> Schedule:
        check_new_name(name, "schedule")
        fields = dict(fields)
        payload = fields.pop("payload", None) or {}
        payload, settings = await self._checked(fields["target"], payload, unknown_task_ok=unknown_task_ok)
        definition = new_definition(fields, payload, settings)
        command = Create(actor=actor, namespace=self._namespace, definition=definition, first=first, pause=pause)
        return (await self._change(name, command)).schedule

    @viewer.get("get_schedule", "/schedules/{name}", "Get a schedule", etag=lambda schedule: schedule.revision)
    async def get(self, name: ScheduleName) -> Schedule:
        """Get a schedule by name; the header ETag has its revision, for If-Match."""
        return await self._get(name)

    @viewer.get("list_schedules", "/schedules", "List schedules", page=lambda row: row.schedule.name)
    async def list(
        self,
        *,
        contains: Annotated[
            str, Meta(max_length=200, description="Only schedules whose name, tag or target contains this text.")
        ] = "",
        state: Annotated[
            State | None, Meta(description="Only schedules in this state; deleted ones are listed only with `deleted`.")
        ] = None,
        tag: Annotated[str | None, Meta(max_length=200, description="Only schedules with this tag.")] = None,
        after: str = "",
        limit: int = 100,
    ) -> Sequence[ScheduleSummary]:
        """List the schedules of a namespace by name, with the newest run and the problems of each."""
        rows = await self._store.schedules.list(
            self._namespace, contains=contains, state=state, tag=tag, after=after, limit=limit
        )
        now, workers = await self._store.workers.snapshot(self._namespace)
        finder = ProblemFinder(workers, now)
        checked = ((row, finder.find(row.schedule, row.held)) for row in rows)
        return [row.with_problems(reasons) if reasons else row for row, reasons in checked]

    async def update(
        self, name: str, *, actor: str, revision: int | None = None, unset: Collection[str] = (), **fields: Any
    ) -> Schedule:
        """Set some fields of the definition and reset the fields in `unset`; other fields do not change.

        A reset field has the value that code, a file or the task declares, or its default.
        """
        fields, unset = read_update(fields, unset)
        if fields.get("payload") is not None:
            fields["payload"] = self._own_payload(fields.get("target"), fields["payload"])
        patch = encode_fields(encode_patch(fields))
        return await self.patch(
            name, patch.fields, actor=actor, unset=sorted(unset), none=patch.none, revision=revision
        )

    @editor.patch("change_schedule", "/schedules/{name}", "Change fields of a schedule", **schedule_change("update"))
    async def patch(
        self,
        name: ScheduleName,
        definition: Changes = {},  # noqa: B006 - read only
        *,
        actor: str,
        unset: Annotated[Collection[str], Meta(description="Fields to reset, like null in `definition`.")] = (),
        none: FieldNames = (),
        revision: int | None = None,
        granted: Role | None = None,
    ) -> Schedule:
        """Change only the stated fields; null resets a field to the value of code or the task, or to its default."""
        fields, back = read_changes(definition)
        check_fields(none)
        fields |= dict.fromkeys(none)
        await self._check_role(name, fields.get("target"), granted)
        return await self._patch(name, fields, {*back, *unset}, actor, revision)

    async def _patch(
        self, name: str, fields: dict[str, Any], unset: Collection[str], actor: str, revision: int | None
    ) -> Schedule:
        check_unset(fields, unset)
        declared: Mapping[str, Any] = {}
        calls = not {"target", "payload"}.isdisjoint((*fields, *unset))
        if unset or calls:
            schedule = await self._get(name)
            stored = schedule.definition.target if schedule.definition else None
            if unset and schedule.app is not None:
                # The schedule must not have changed between the read and the write.
                declared, revision = await self._declared(schedule), revision or schedule.revision
            elif unset and (target := fields.get("target", stored)) is not None:
                declared = await self._declared_by_task(target)
            if calls:
                await self._check_call(schedule, fields, {field: declared.get(field) for field in unset})
        patch = encode_patch(fields)
        command = Update(actor=actor, revision=revision, fields=patch, unset=frozenset(unset), declared=declared)
        return (await self._change(name, command)).schedule

    async def _check_call(self, schedule: Schedule, fields: dict[str, Any], reset: Mapping[str, Any]) -> None:
        """Validate the payload that the schedule will have; replaces a given payload by its stored form."""
        before = schedule.definition.target if schedule.definition else None
        back = reset.get("target")
        target = fields.get("target") or (before if back is None else decode_field("target", back))
        if target is None:
            return
        if fields.get("payload") is not None:
            fields["payload"] = await self._checked_payload(target, fields["payload"], unknown_task_ok=True)
            return
        stored = schedule.definition_json.get("payload", {})
        payload = reset["payload"] or {} if "payload" in reset else stored
        if (target, payload) == (before, stored) or not isinstance(payload, Mapping):
            return
        try:
            await self._checked_payload(target, payload, unknown_task_ok=True)
        except PayloadError as error:
            error.hint = "Set its payload in the same change."
            raise

    async def _declared_by_task(self, target: Target) -> Mapping[str, Any]:
        """The settings of a task as JSON; empty if no live worker has the task."""
        settings = (await self._task_settings([target])).get(target.name, {})
        return {name: encode_field(name, value) for name, value in settings.items()}

    @editor.put(
        "put_schedule",
        "/schedules/{name}",
        "Create or replace a schedule",
        audit="update",
        extras={"warnings": _warnings},
        etag=lambda result: result.schedule.revision,
        created=lambda result: result.created,
        responses={201: "The schedule was created."},
    )
    async def put(
        self,
        name: NewScheduleName,
        definition: DefinitionJson,
        *,
        actor: str,
        none: FieldNames = (),
        revision: int | None = None,
        granted: Role | None = None,
    ) -> PutResult:
        """Create a schedule or replace its definition; settings that are left out are the task's.

        Other fields get their defaults. A field of a schedule from code gets the value of the code. With
        `revision`, only if that is the current one; with 0, only if the schedule does not exist.
        """
        fields, left_out = read_definition(definition, none)
        await self._check_role(name, fields["target"], granted)
        return await self._put(name, fields, left_out, actor, revision)

    async def _put(
        self,
        name: str,
        fields: Mapping[str, Any],
        left_out: Collection[str],
        actor: str,
        revision: int | None,
        pause: PauseState | None = None,
    ) -> PutResult:
        """Create or replace a schedule; `pause` is that of a new one."""
        if revision == 0:
            try:
                return PutResult(await self._create(name, fields, actor, pause=pause), created=True)
            except ConflictError as error:
                raise StaleError(error.message, hint=error.hint) from None
        for tries in range(_MAX_PUT_TRIES):
            try:
                return PutResult(await self._patch(name, dict(fields), left_out, actor, revision), created=False)
            except NotFoundError:
                if revision is not None:
                    hint = "Leave out If-Match to create it."
                    raise StaleError(f"there is no schedule {name[:200]!r}.", hint=hint) from None
            try:
                return PutResult(await self._create(name, fields, actor, pause=pause), created=True)
            except ConflictError:
                # Another client has probably created it since.
                if tries == _MAX_PUT_TRIES - 1:
                    raise
        raise AssertionError

    @editor.delete("delete_schedule", "/schedules/{name}", "Delete a schedule", **schedule_change("delete"))
    async def delete(
        self, name: ScheduleName, *, actor: str, revision: int | None = None, cancel_runs: CancelRuns = False
    ) -> Schedule:
        """Delete a schedule; its ledger stays, and a new schedule with this name continues it."""
        command = Delete(actor=actor, revision=revision, cancel_runs=cancel_runs)
        return (await self._change(name, command)).schedule

    @operator.post("pause_schedule", "/schedules/{name}/pause", "Pause a schedule", **schedule_change("pause"))
    async def pause(
        self,
        name: ScheduleName,
        *,
        actor: str,
        note: Note = "",
        until: datetime | None = None,
        revision: int | None = None,
        cancel_runs: CancelRuns = False,
    ) -> Schedule:
        """Stop planning a schedule until it is resumed, or until an instant; queued runs start unless `cancel_runs`."""
        end = None if until is None else to_seconds(until)
        command = Pause(actor=actor, revision=revision, note=note, until=end, cancel_runs=cancel_runs)
        return (await self._change(name, command)).schedule

    @operator.post("resume_schedule", "/schedules/{name}/resume", "Resume a schedule", **schedule_change("resume"))
    async def resume(self, name: ScheduleName, *, actor: str, note: Note = "", revision: int | None = None) -> Schedule:
        """Plan a schedule again; the ticks of the pause are recorded as one skip. 409 if it is not paused."""
        command = Resume(actor=actor, revision=revision, note=note)
        return (await self._change(name, command)).schedule

    @operator.post(
        "reschedule", "/schedules/{name}/reschedule", "Reschedule the next tick", **schedule_change("reschedule")
    )
    async def reschedule(
        self, name: ScheduleName, to: datetime, *, actor: str, note: Note = "", revision: int | None = None
    ) -> Schedule:
        """Make the next tick due at another instant; ticks in between are skipped."""
        command = Reschedule(actor=actor, revision=revision, to=to_seconds(to), note=note)
        return (await self._change(name, command)).schedule

    @operator.post("skip_ticks", "/schedules/{name}/skip", "Skip the next ticks", **schedule_change("skip"))
    async def skip(
        self,
        name: ScheduleName,
        count: Annotated[
            int | None,
            Meta(schema=nullable({"type": "integer", "minimum": 1, "maximum": MAX_SKIPPED})),
        ] = None,
        *,
        actor: str,
        until: datetime | None = None,
        note: Note = "",
        revision: int | None = None,
    ) -> Schedule:
        """Skip the next tick, the next `count` ticks, or all ticks before an instant."""
        if count is not None and until is not None:
            raise InvalidError("count and until cannot be combined. Give one of them.", field="until")
        end = None if until is None else to_seconds(until)
        command = Skip(actor=actor, revision=revision, count=1 if count is None else count, until=end, note=note)
        return (await self._change(name, command)).schedule

    @operator.post(
        "trigger_schedule", "/schedules/{name}/trigger", "Trigger a run now", **new_run_response(audit="trigger")
    )
    async def trigger(
        self,
        name: ScheduleName,
        *,
        actor: str,
        payload: Payload = None,
        idempotency_key: str | None = None,
        wait: Duration | None = None,
        revision: int | None = None,
    ) -> RunRecord:
        """Create a manual run now; the schedule's ticks do not change. The same key again gives the same run.

        With `wait`, wait at most that long for the run to end.
        """
        if payload is not None:
            payload = await self._payload_for(name, payload)
        command = Trigger(actor=actor, payload=payload, idempotency_key=idempotency_key, revision=revision)
        run = created_run(await self._change(name, command))
        return run if wait is None else await self._noun(Runs).wait(run.id, timeout=wait)
