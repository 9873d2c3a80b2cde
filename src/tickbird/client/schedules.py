"""Schedules: what they are, and how they are changed."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, get_args

from tickbird.client.base import check_choice, page_size
from tickbird.client.revisions import Revisions
from tickbird.domain.dashboard_rows import ScheduleSummary
from tickbird.domain.errors import InvalidError
from tickbird.domain.planning.commands.define import Create, Delete, Update
from tickbird.domain.planning.commands.pause import Pause, Resume
from tickbird.domain.planning.commands.ticks import Reschedule, Skip
from tickbird.domain.schedules.codec import encode_field
from tickbird.domain.schedules.definition import TASK_SETTINGS, Definition, Target, command_target
from tickbird.domain.schedules.policy_input import check_fields, policies
from tickbird.domain.schedules.schedule import Schedule, State
from tickbird.domain.targets.command import CommandSpec, program_from_json
from tickbird.domain.text import check_new_name, check_text
from tickbird.domain.time.instants import to_seconds
from tickbird.domain.triggers.trigger import Trigger as TriggerValue


class Schedules(Revisions):
    """The verbs about schedules."""

    async def create(
        self,
        name: str,
        trigger: TriggerValue,
        task: str | CommandSpec,
        *,
        actor: str,
        payload: Mapping[str, Any] | None = None,
        first: Literal["now"] | None = None,
        unknown_task_ok: bool = False,
        **options: Any,
    ) -> Schedule:
        """A new schedule of a task, or of a `command(...)`; `options` are the policies of a definition.

        A setting that is not given is the task's: of this process, or as a live worker publishes it.
        """
        check_new_name(name, "schedule")
        target = command_target(task) if isinstance(task, CommandSpec) else Target(task)
        checked, settings = await self._checked(target, payload or {}, unknown_task_ok=unknown_task_ok)
        given, stated = policies(options), frozenset(TASK_SETTINGS).intersection(options)
        definition = Definition(trigger=trigger, target=target, payload=checked, stated=stated, **{**settings, **given})
        command = Create(actor=actor, namespace=self._namespace, definition=definition, first=first)
        return (await self._change(name, command)).schedule

    async def get(self, name: str) -> Schedule:
        """A schedule by name."""
        return await self._get(name)

    async def list(
        self,
        *,
        contains: str = "",
        state: State | None = None,
        tag: str | None = None,
        after: str = "",
        limit: int = 100,
    ) -> Sequence[ScheduleSummary]:
        """Schedules by name, a page at a time: `after` is the last name of the page before."""
        if state is not None:
            check_choice(state, "state", get_args(State))
        for name, text in (("contains", contains), ("tag", tag or ""), ("after", after)):
            check_text(text, name)
        return await self._store.schedules.list(
            self._namespace, contains=contains, state=state, tag=tag, after=after, limit=page_size(limit)
        )

    async def update(
        self, name: str, *, actor: str, revision: int | None = None, unset: Collection[str] = (), **fields: Any
    ) -> Schedule:
        """Set some fields of the definition and leave the others as they are; `unset` ones go back.

        A field goes back to what code or a file declares; else to the setting of the task, or to its default.
        """
        unset = {"target" if field in ("task", "command") else field for field in unset}
        check_fields(unset)
        fields = with_target(fields)
        if twice := set(unset) & {*fields}:
            raise InvalidError(f"{min(twice)}: set it or unset it, not both.", field=min(twice))
        declared: Mapping[str, Any] = {}
        if unset:
            schedule = await self._get(name)
            if schedule.app is not None:
                # What was read of it must still hold when it is written.
                declared, revision = await self._declared(schedule), revision or schedule.revision
            elif target := fields.get("target") or (schedule.definition.target if schedule.definition else None):
                declared = await self._declared_by_task(target)
        if fields.get("payload") is not None:
            schedule = await self._get(name)
            target = fields.get("target") or (schedule.definition.target if schedule.definition else None)
            if target is not None:
                fields["payload"] = await self._checked_payload(target, fields["payload"], unknown_task_ok=True)
        patch = {field: encode_field(field, value) for field, value in policies(fields).items()}
        command = Update(actor=actor, revision=revision, fields=patch, unset=frozenset(unset), declared=declared)
        return (await self._change(name, command)).schedule

    async def _declared_by_task(self, target: Target) -> Mapping[str, Any]:
        """The settings of a task as JSON; none if no live worker has it."""
        settings = (await self._task_settings([target])).get(target.name, {})
        return {name: encode_field(name, value) for name, value in settings.items()}

    async def delete(
        self, name: str, *, actor: str, revision: int | None = None, cancel_runs: bool = False
    ) -> Schedule:
        """Delete a schedule; its name later goes on behind what was decided."""
        command = Delete(actor=actor, revision=revision, cancel_runs=cancel_runs)
        return (await self._change(name, command)).schedule

    async def pause(
        self,
        name: str,
        *,
        actor: str,
        note: str = "",
        until: datetime | None = None,
        revision: int | None = None,
        cancel_runs: bool = False,
    ) -> Schedule:
        """Stop planning, until resumed or until an instant; queued runs go on unless asked otherwise."""
        end = None if until is None else to_seconds(until)
        command = Pause(actor=actor, revision=revision, note=note, until=end, cancel_runs=cancel_runs)
        return (await self._change(name, command)).schedule

    async def resume(self, name: str, *, actor: str, note: str = "", revision: int | None = None) -> Schedule:
        """Go on; what was missed meanwhile is one skip `paused`."""
        command = Resume(actor=actor, revision=revision, note=note)
        return (await self._change(name, command)).schedule

    async def reschedule(
        self, name: str, to: datetime, *, actor: str, note: str = "", revision: int | None = None
    ) -> Schedule:
        """Make the next tick due at another instant."""
        command = Reschedule(actor=actor, revision=revision, to=to_seconds(to), note=note)
        return (await self._change(name, command)).schedule

    async def skip(
        self,
        name: str,
        count: int | None = None,
        *,
        actor: str,
        until: datetime | None = None,
        note: str = "",
        revision: int | None = None,
    ) -> Schedule:
        """Do not run the next ticks: one, so many, or all before an instant."""
        if count is not None and until is not None:
            raise InvalidError("count and until: give one of them, not both.", field="until")
        end = None if until is None else to_seconds(until)
        command = Skip(actor=actor, revision=revision, count=1 if count is None else count, until=end, note=note)
        return (await self._change(name, command)).schedule


def with_target(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields with the target that `task` or `command` is short for."""
    given = [name for name in ("task", "command", "target") if name in fields]
    if len(given) > 1:
        raise InvalidError(f"{given[0]} and {given[1]}: a schedule has one target; give one of them.", field=given[1])
    changed = dict(fields)
    if "task" in changed:
        changed["target"] = Target(changed.pop("task"))
    elif "command" in changed:
        program = changed.pop("command")
        changed["target"] = command_target(program if isinstance(program, CommandSpec) else program_from_json(program))
    return changed
