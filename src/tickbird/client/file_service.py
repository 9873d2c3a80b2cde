"""Plans of documents against the store, and documents of stored schedules."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tickbird.client.base import ClientBase
from tickbird.client.calendars import Calendars
from tickbird.cpu_threads import compute_now
from tickbird.domain.errors import InvalidError, PayloadError, TickbirdError
from tickbird.domain.planning.changes import CalendarUpdate
from tickbird.domain.planning.code_sync import AppSchedule
from tickbird.domain.schedules.codec import decode_definition
from tickbird.domain.schedules.definition import TASK_SETTINGS, Definition
from tickbird.domain.schedules.payload_schema import check_by_schema
from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.schedules.task_settings import find_published, inherit

# Code that reads and compares files is imported when it is used, so that not every client loads it.
if TYPE_CHECKING:
    from tickbird.files.diagnostics import Diagnostic
    from tickbird.files.document import Document
    from tickbird.files.plan import FilePlan


class FileService(ClientBase):
    """Documents of one namespace."""

    def check_namespace(self, document: Document) -> None:
        if document.namespace not in (None, self._namespace):
            raise InvalidError(
                f"namespace: the document is for {document.namespace!r}, and this client works in {self._namespace!r}.",
                field="namespace",
                hint="Use a client of that namespace, or remove it from the document.",
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
                # Raises UnsupportedError if the store lacks the capability.
                getattr(store, noun)
        definitions = document.schedules.values()
        needed = {dependency.schedule for definition in definitions for dependency in definition.depends_on}
        stored = await store.schedules.list_of_app(namespace, document.app, [*document.schedules, *needed])
        records = {record.name: record for record in await self._stored_calendars()}
        stated = {name: record.definition for name, record in records.items()}
        changed = {name: rules for name, rules in document.calendars.items() if rules != stated.get(name)}
        resolved: dict[str, CalendarUpdate] = {}
        diagnostics: list[Diagnostic] = []
        for name, rules in changed.items():
            try:
                calendar = await self._noun(Calendars)._resolve(rules)
            except TickbirdError as error:
                diagnostics.append(Diagnostic(document.location("calendars", name), f"calendar {name}: {error}"))
            else:
                revision = records[name].revision if name in records else 0
                resolved[name] = CalendarUpdate(name, calendar.definition, calendar.closed, calendar.source, revision)
        affected = {
            schedule.name: schedule for name in changed async for schedule in self._schedules_with_calendar(name)
        }
        known = StoredState(
            schedules=stored,
            calendars=stated,
            closed={
                **{name: record.closed for name, record in records.items()},
                **{name: update.closed for name, update in resolved.items()},
            },
            naming=list(affected.values()),
            limits=await self._limits() if document.limits else {},
            queues=await self._rates() if document.queues else {},
        )
        document, refused = await self._inherit(document, stored)
        diagnostics += refused
        now = (await store.now()).timestamp()
        # Thousands of schedules take seconds.
        plan = await compute_now(
            plan_files, document, known, namespace=namespace, actor=actor, now=now, prune=prune, adopt=adopt
        )
        wrong, unserved = await self._payloads(document, plan)
        return replace(plan, diagnostics=[*diagnostics, *plan.diagnostics, *wrong], unserved=unserved), resolved

    async def _inherit(
        self, document: Document, stored: Mapping[str, AppSchedule]
    ) -> tuple[Document, list[Diagnostic]]:
        """Fill in settings of tasks; if no live worker has the task, a schedule keeps its settings."""
        from tickbird.files.diagnostics import Diagnostic

        known = await self._task_settings(definition.target for definition in document.schedules.values())
        schedules: dict[str, Definition] = {}
        diagnostics: list[Diagnostic] = []
        for name, definition in document.schedules.items():
            settings = known.get(definition.target.name) if definition.target.kind == "task" else {}
            if settings is None and name in stored and stored[name].schedule.app == document.app:
                declared = await self._as_declared(stored[name].schedule)
                if declared is not None and declared.target == definition.target:
                    settings = {setting: getattr(declared, setting) for setting in TASK_SETTINGS}
            try:
                schedules[name] = inherit(definition, settings or {})
            except InvalidError as error:
                # The concurrency key of the task may need fields that the payload lacks.
                schedules[name] = definition
                location = document.location("schedules", name)
                diagnostics.append(Diagnostic(location, f"schedule {name}: {error} Its task declares it."))
        return replace(document, schedules=schedules), diagnostics

    async def _payloads(self, document: Document, plan: FilePlan) -> tuple[list[Diagnostic], list[str]]:
        """Diagnostics of payloads that the schemas of live workers refuse, and tasks that no live worker has."""
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
        """A document of these schedules without the overrides of operators, and of the calendars that they name."""
        from tickbird.files.document import Document

        definitions: dict[str, Definition] = {}
        for schedule in schedules:
            definition = await self._as_declared(schedule)
            if definition is not None:
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

    async def _as_declared(self, schedule: Schedule) -> Definition | None:
        """The definition without the overrides of operators; None if it cannot be read."""
        definition = schedule.definition
        if schedule.field_overrides:
            declared = await self._declared(schedule)
            definition = decode_definition({name: value for name, value in declared.items() if name != "closed"})
        return replace(definition, closed={}) if definition is not None and definition.closed else definition
