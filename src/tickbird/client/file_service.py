"""Plans of documents against the store, and documents of stored schedules."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from tickbird.client.base import ClientBase
from tickbird.client.calendars import Calendars
from tickbird.cpu_threads import compute_now
from tickbird.domain.errors import InvalidError, TickbirdError
from tickbird.domain.planning.changes import CalendarUpdate
from tickbird.domain.planning.code_sync import AppSchedule
from tickbird.domain.schedules.codec import decode_definition
from tickbird.domain.schedules.definition import Definition
from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.targets.target import TASK
from tickbird.domain.text import is_new_name

# Code that reads and compares files is imported when it is used, so that not every client loads it.
if TYPE_CHECKING:
    from tickbird.files.diagnostics import Diagnostic
    from tickbird.files.document import Document
    from tickbird.files.plan import FilePlan

_AUDIT_PAGE: Final = 1_000


class FileService(ClientBase):
    """Documents of one namespace."""

    def check_namespace(self, document: Document) -> None:
        if document.namespace not in (None, self._namespace):
            raise InvalidError(
                f"namespace: the document is for {document.namespace!r}, but this client uses {self._namespace!r}.",
                field="namespace",
                hint="Use a client of that namespace, or remove it from the document.",
            )

    async def plan(
        self, document: Document, actor: str, *, prune: bool, adopt: bool
    ) -> tuple[FilePlan, Mapping[str, CalendarUpdate]]:
        from tickbird.files.diagnostics import Diagnostic
        from tickbird.files.plan import StoredState
        from tickbird.files.planner import plan_files
        from tickbird.files.task_checks import check_payloads, inherit_settings

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
            operated={name: await self._operated(name) for name in document.state if name in stored},
            limits=await self._limits() if document.limits else {},
            queues=await self._rates() if document.queues else {},
        )
        settings = await self._task_settings(definition.target for definition in definitions)
        declared = await self._declared_settings(document, stored, settings)
        document, refused = inherit_settings(document, settings, declared)
        now = (await store.now()).timestamp()
        # Thousands of schedules take seconds.
        plan = await compute_now(
            plan_files, document, known, namespace=namespace, actor=actor, now=now, prune=prune, adopt=adopt
        )
        written = [change.name for change in plan.schedules if change.kind in ("create", "change")]
        workers = await store.workers.list(namespace) if written else ()
        wrong, unserved = await compute_now(check_payloads, document, written, workers)
        diagnostics += [*refused, *plan.diagnostics, *wrong]
        return replace(plan, diagnostics=diagnostics, unserved=unserved), resolved

    async def _declared_settings(
        self, document: Document, stored: Mapping[str, AppSchedule], settings: Collection[str]
    ) -> dict[str, Definition]:
        """Return the app's stored definitions whose task neither this process nor a live worker has, by schedule."""
        declared: dict[str, Definition] = {}
        for name, definition in document.schedules.items():
            if definition.target.kind != TASK or definition.target.name in settings:
                continue
            old = stored[name].schedule if name in stored else None
            if old is not None and old.app == document.app and (was := await self._as_declared(old)) is not None:
                declared[name] = was
        return declared

    async def document(self, schedules: Sequence[Schedule], app: str) -> Document:
        """A document of these schedules without the overrides of operators, and of the calendars that they name."""
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
        for entry in await self._store.ledger.list_audit(self._namespace, schedule=name, limit=_AUDIT_PAGE):
            if entry.action == "create":
                break
            if entry.action in ("pause", "resume"):
                parts.add("paused")
            elif entry.action == "update":
                parts |= {*entry.detail.get("after", {})}
        return frozenset(parts)

    async def _as_declared(self, schedule: Schedule) -> Definition | None:
        definition = schedule.definition
        if schedule.field_overrides:
            declared = await self._declared(schedule)
            try:
                definition = decode_definition({name: value for name, value in declared.items() if name != "closed"})
            except InvalidError:
                return None
        return replace(definition, closed={}) if definition is not None and definition.closed else definition
