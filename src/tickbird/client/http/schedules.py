"""Schedules over HTTP: what they are, and how they are changed."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, get_args

from tickbird.client.base import check_choice
from tickbird.client.http.base import instant, read_changed, schedule_path, sent
from tickbird.client.http.revisions import RemoteRevisions
from tickbird.client.schedules import Schedules, with_target
from tickbird.domain.dashboard_rows import ScheduleSummary
from tickbird.domain.errors import InvalidError
from tickbird.domain.schedules.codec import encode_field, encode_stated
from tickbird.domain.schedules.definition import TASK_SETTINGS, Definition, Target, command_target
from tickbird.domain.schedules.policy_input import check_fields, policies
from tickbird.domain.schedules.schedule import Schedule, State
from tickbird.domain.targets.command import CommandSpec
from tickbird.domain.text import check_new_name, check_text
from tickbird.domain.triggers.trigger import Trigger as TriggerValue
from tickbird.wire.decode.schedules import read_row, read_schedule


class RemoteSchedules(RemoteRevisions, Schedules):
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
        checked = self._payload(target, payload or {})
        own = self._settings.get(target.name, {}) if target.kind == "task" else {}
        given = {**own, **policies(options)}
        stated = frozenset(TASK_SETTINGS).intersection(given)
        encoded = encode_stated(Definition(trigger=trigger, target=target, payload=checked, stated=stated, **given))
        none = sorted(field for field, value in encoded.items() if value is None)
        body = {
            "name": name,
            "definition": {field: value for field, value in encoded.items() if value is not None},
            "first": first,
            "unknown_task_ok": unknown_task_ok or target.name in self._validators,
            **({"none": none} if none else {}),
        }
        return await self._post("/schedules", read_changed, body)

    async def get(self, name: str) -> Schedule:
        """A schedule by name."""
        return await self._fetch(schedule_path(name), read_schedule)

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
        query = {"contains": contains or None, "state": state, "tag": tag}
        return await self._pages("/schedules", read_row, limit, after, query)

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
        if fields.get("payload") is not None:
            target, payload = fields.get("target"), fields["payload"]
            fields["payload"] = sent(payload) if target is None else self._payload(target, payload)
        patch = {field: encode_field(field, value) for field, value in policies(fields).items()}
        body = {
            "definition": {field: value for field, value in patch.items() if value is not None},
            "unset": sorted(unset),
            "none": sorted(field for field, value in patch.items() if value is None),
        }
        return await self._other("PATCH", schedule_path(name), read_changed, body, revision=revision)

    async def delete(
        self, name: str, *, actor: str, revision: int | None = None, cancel_runs: bool = False
    ) -> Schedule:
        """Delete a schedule; its name later goes on behind what was decided."""
        query = {"cancel_runs": cancel_runs}
        return await self._other("DELETE", schedule_path(name), read_changed, query=query, revision=revision)

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
        body = {"note": note, "until": instant(until), "cancel_runs": cancel_runs}
        return await self._have_done(name, "pause", body, revision)

    async def resume(self, name: str, *, actor: str, note: str = "", revision: int | None = None) -> Schedule:
        """Go on; what was missed meanwhile is one skip `paused`."""
        return await self._have_done(name, "resume", {"note": note}, revision)

    async def reschedule(
        self, name: str, to: datetime, *, actor: str, note: str = "", revision: int | None = None
    ) -> Schedule:
        """Make the next tick due at another instant."""
        return await self._have_done(name, "reschedule", {"to": instant(to), "note": note}, revision)

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
        return await self._have_done(name, "skip", {"count": count, "until": instant(until), "note": note}, revision)
