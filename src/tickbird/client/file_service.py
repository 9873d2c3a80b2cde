"""What the client's verbs about files do: plan a document against the store, and collect what is stored."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tickbird.client.base import ClientBase
from tickbird.client.calendar_service import CalendarService
from tickbird.client.payloads import check_by_schema
from tickbird.cpu_threads import compute_now
from tickbird.domain.errors import InvalidError, PayloadError, TickbirdError
from tickbird.domain.planning.changes import CalendarUpdate, ChangeSet
from tickbird.domain.planning.code_sync import AppSchedule
from tickbird.domain.schedules.codec import decode_definition
from tickbird.domain.schedules.definition import TASK_SETTINGS, Definition
from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.schedules.task_settings import find_published, inherit
from tickbird.domain.text import is_new_name

# What reads and compares files is imported when it is used: every program that has a client would else load it.
if TYPE_CHECKING:
    from tickbird.files.diagnostics import Diagnostic
    from tickbird.files.document import Document
    from tickbird.files.plan import FilePlan
    from tickbird.files.schedule_state import ExportedState

# So often is a plan made anew when somebody else was quicker.
_TRIES = 5
_PAGE = 1_000


class FileService(ClientBase):
    """The files of one namespace."""

    def check_namespace(self, document: Document) -> None:
        if document.namespace not in (None, self._namespace):
            raise InvalidError(
                f"namespace: the document is for {document.namespace!r}, and this client works in {self._namespace!r};",
                field="namespace",
                hint="use a client of that namespace, or leave it out of the document.",
            )

    async def plan(
        self, document: Document, actor: str, *, prune: bool, adopt: bool
    ) -> tuple[FilePlan, Mapping[str, CalendarUpdate]]:
        from tickbird.files.diagnostics import Diagnostic
        from tickbird.files.plan import StoredState
        from tickbird.files.planner import plan_files

        store, namespace = self._store, self._namespace
        for noun in ("calendars", "limits", "queues"):
            if getattr(document, noun):
                # Reading it refuses what the store cannot have.
                getattr(store, noun)
        definitions = document.schedules.values()
        named = {each.schedule for definition in definitions for each in definition.depends_on}
        stored = await store.schedules.list_of_app(namespace, document.app, [*document.schedules, *named])
        records = {record.name: record for record in await self._stored_calendars()}
        stated = {name: record.definition for name, record in records.items()}
        changed = {name: said for name, said in document.calendars.items() if said != stated.get(name)}
        resolved: dict[str, CalendarUpdate] = {}
        diagnostics: list[Diagnostic] = []
        for name, said in changed.items():
            try:
                found = await CalendarService(store, namespace).resolve(said)
            except TickbirdError as error:
                diagnostics.append(Diagnostic(document.location("calendars", name), f"calendar {name}: {error}"))
            else:
                revision = records[name].revision if name in records else 0
                resolved[name] = CalendarUpdate(name, found.definition, found.closed, found.source, revision)
        known = StoredState(
            schedules=stored,
            calendars=stated,
            closed={
                **{name: record.closed for name, record in records.items()},
                **{name: each.closed for name, each in resolved.items()},
            },
            naming=await self._naming(list(changed)),
            operated={name: await self._operated(name) for name in document.state if name in stored},
            limits=await self._limits() if document.limits else {},
            queues=await self._rates() if document.queues else {},
        )
        document, refused = await self._inherit(document, stored)
        diagnostics += refused
        now = (await store.now()).timestamp()
        # Thousands are compared in seconds, in which a server serves others.
        plan = await compute_now(
            plan_files, document, known, namespace=namespace, actor=actor, now=now, prune=prune, adopt=adopt
        )
        wrong, unserved = await self._payloads(document, plan)
        return replace(plan, diagnostics=[*diagnostics, *plan.diagnostics, *wrong], unserved=unserved), resolved

    async def _inherit(
        self, document: Document, stored: Mapping[str, AppSchedule]
    ) -> tuple[Document, list[Diagnostic]]:
        """The document with the settings of tasks where its schedules do not state their own.

        If no live worker has the task, a schedule keeps the settings that it has.
        """
        from tickbird.files.diagnostics import Diagnostic

        known = await self._task_settings(definition.target for definition in document.schedules.values())
        schedules: dict[str, Definition] = {}
        diagnostics: list[Diagnostic] = []
        for name, definition in document.schedules.items():
            settings = known.get(definition.target.name) if definition.target.kind == "task" else {}
            if settings is None and name in stored and stored[name].schedule.app == document.app:
                declared = await self._as_declared(stored[name].schedule)
                if declared is not None and declared.target == definition.target:
                    settings = {each: getattr(declared, each) for each in TASK_SETTINGS}
            try:
                schedules[name] = inherit(definition, settings or {})
            except InvalidError as error:
                # A key of the task may need fields that the payload has not.
                schedules[name] = definition
                place = document.location("schedules", name)
                diagnostics.append(Diagnostic(place, f"schedule {name}: {error} Its task declares it."))
        return replace(document, schedules=schedules), diagnostics

    async def _naming(self, calendars: Sequence[str]) -> list[Schedule]:
        """The schedules that name one of these calendars."""
        found: dict[str, Schedule] = {}
        for calendar in calendars:
            after = ""
            while page := await self._store.calendars.list_schedules(
                self._namespace, calendar, after=after, limit=_PAGE
            ):
                found |= {schedule.name: schedule for schedule in page}
                after = page[-1].name
        return list(found.values())

    async def _payloads(self, document: Document, plan: FilePlan) -> tuple[list[Diagnostic], list[str]]:
        """Payloads that do not fit their tasks, by what live workers publish of these; and tasks that none has."""
        from tickbird.files.diagnostics import Diagnostic

        written = [change.name for change in plan.schedules if change.kind in ("create", "change")]
        if not written:
            return [], []
        workers = await self._store.workers.list(self._namespace)
        diagnostics, unserved = [], set()
        for name in written:
            definition = document.schedules[name]
            if definition.target.kind != "task":
                continue
            task = definition.target.name
            published = find_published(workers, task)
            if published is None:
                unserved.add(task)
                continue
            try:
                await asyncio.to_thread(check_by_schema, task, definition.payload, published, unknown_task_ok=True)
            except PayloadError as error:
                diagnostics.append(
                    Diagnostic(document.location("schedules", name, "payload"), f"schedule {name}: {error}")
                )
        return diagnostics, sorted(unserved)

    async def document(self, schedules: Sequence[Schedule], app: str) -> Document:
        """These schedules as an app has them in files, with the calendars that they name."""
        from tickbird.files.document import Document

        definitions: dict[str, Definition] = {}
        for schedule in schedules:
            definition = await self._as_declared(schedule)
            # A file with a name that only plain SQL can write could not be applied.
            if definition is not None and is_new_name(schedule.name):
                definitions[schedule.name] = definition
        names = {name for definition in definitions.values() for name in definition.calendars}
        return Document(
            app=app,
            namespace=None if self._namespace == "default" else self._namespace,
            schedules=definitions,
            calendars={
                record.name: dict(record.definition)
                for record in await self._stored_calendars()
                if record.name in names
            },
        )

    async def _operated(self, name: str) -> frozenset[str]:
        """The fields of a schedule that operators have changed, by the audit log since it was created, and `paused`."""
        parts: set[str] = set()
        for entry in await self._store.ledger.list_audit(self._namespace, schedule=name, limit=_PAGE):
            if entry.action == "create":
                break
            if entry.action in ("pause", "resume"):
                parts.add("paused")
            elif entry.action == "update":
                parts |= {*entry.detail.get("after", {})}
        return frozenset(parts)

    async def list_schedules(self) -> list[Schedule]:
        found: list[Schedule] = []
        after = ""
        while rows := await self._store.schedules.list(self._namespace, after=after, limit=_PAGE):
            found += [row.schedule for row in rows]
            after = rows[-1].schedule.name
        return found

    async def _as_declared(self, schedule: Schedule) -> Definition | None:
        """The definition without what operators have set over it; None where it cannot be read."""
        definition = schedule.definition
        if schedule.field_overrides:
            declared = await self._declared(schedule)
            definition = decode_definition({name: value for name, value in declared.items() if name != "closed"})
        return replace(definition, closed={}) if definition is not None and definition.closed else definition


def exported_states(schedules: Sequence[Schedule], document: Document) -> dict[str, ExportedState]:
    """The owner, overrides and pause of each schedule of a document that has any of them."""
    from tickbird.files.schedule_state import NO_STATE, ExportedState

    states = {
        each.name: ExportedState(
            app=None if each.app == document.app else each.app, overrides=dict(each.field_overrides), pause=each.pause
        )
        for each in schedules
        if each.name in document.schedules
    }
    return {name: state for name, state in states.items() if state != NO_STATE}


def operator_notes_of(schedule: Schedule, app: str) -> list[str]:
    """What stands beside a schedule that a document of an app has: whose it is, and what operators have done to it."""
    said = []
    if schedule.app != app:
        said.append("made by a person" if schedule.app is None else f"of app {schedule.app}")
    said += [f"{field} = {json.dumps(value)}: set by an operator" for field, value in schedule.field_overrides.items()]
    if schedule.pause is not None:
        said.append(f"paused by {schedule.pause.by}: {schedule.pause.note}".rstrip(": "))
    return said


def check_plan(plan: FilePlan) -> None:
    """Refuse a plan that cannot be carried out."""
    if plan.diagnostics:
        from tickbird.files.diagnostics import DocumentError

        raise DocumentError([*plan.diagnostics, *plan.conflicts])
    if plan.conflicts:
        from tickbird.files.diagnostics import OwnedError

        raise OwnedError(plan.conflicts)


def change_set(document: Document, plan: FilePlan, resolved: Mapping[str, CalendarUpdate]) -> ChangeSet:
    changed = {part: [each.name for each in plan.settings if each.part == part] for part in ("limits", "queues")}
    return ChangeSet(
        calendars=list(resolved.values()),
        limits={key: document.limits[key] for key in changed["limits"]},
        queues={name: document.queues[name] for name in changed["queues"]},
        commands=plan.commands,
    )


def count_changes(plan: FilePlan, counted: Callable[[int, int], None] | None) -> Callable[[int], None] | None:
    if counted is None:
        return None
    total = len(plan.schedules)
    return lambda done: counted(done, total)
