"""Schedules in files: diff, apply and export."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Final

from tickbird.client.base import ClientBase
from tickbird.client.file_service import FileService
from tickbird.domain.access.tokens import Role
from tickbird.domain.errors import ConflictError, NotFoundError
from tickbird.domain.planning.changes import ChangeSet
from tickbird.domain.schedules.codec import decode_field
from tickbird.wire.operations import editor, viewer
from tickbird.wire.parameters import Meta

# The code that reads and compares files is imported only when it is used, so that not every client loads it.
if TYPE_CHECKING:
    from tickbird.files.document import Document
    from tickbird.files.plan import FilePlan
# How often a plan is computed again after another client has changed the schedules.
_TRIES: Final = 5
# Thousands of schedules are compared and written in one transaction.
_TIMEOUT: Final = 300
_DOCUMENT: Final = {
    "type": "object",
    "description": "app, schedules, calendars, limits, queues and state, as in a file.",
}
Prune = Annotated[bool, Meta(description="Delete the app's schedules that are not in the document.")]
Adopt = Annotated[bool, Meta(description="Let the app take over schedules that a person created.")]


def _types() -> Mapping[str, Any]:
    from tickbird.files.document import Document
    from tickbird.files.plan import FilePlan

    return {"Document": Document, "FilePlan": FilePlan}


async def _operator_notes(client: Any, document: Any, _: Mapping[str, Any]) -> dict[str, list[str]]:
    notes: dict[str, list[str]] = await client.files.operator_notes(document)
    return notes


class Files(ClientBase):
    """Schedules in files."""

    @editor.post(
        "apply", "/apply", "Apply a document", audit="create", timeout=_TIMEOUT, local=("progress",), types=_types
    )
    async def apply(
        self,
        document: Annotated[Document | Mapping[str, Any], Meta(schema=_DOCUMENT)],
        *,
        actor: str,
        prune: Prune = False,
        dry_run: bool = False,
        adopt: Adopt = False,
        progress: Callable[[int, int], None] | None = None,
        granted: Role | None = None,
    ) -> FilePlan:
        """Create, change and delete schedules as a document says, in one transaction; returns the applied plan.

        `prune` deletes the app's schedules that are not in the document. `adopt` gives the app the schedules that a
        person created. `dry_run` changes nothing, and the plan has the errors and conflicts.
        """
        from tickbird.files.document import read_document

        # Reading thousands of schedules takes seconds; meanwhile other requests are served.
        read = await asyncio.to_thread(read_document, document)
        service = self._noun(FileService)
        service.check_namespace(read)
        if granted is not None and not dry_run:
            await self._check_roles(read, granted)
        for tries in range(_TRIES):
            plan, resolved = await service.plan(read, actor, prune=prune, adopt=adopt)
            if dry_run:
                return plan
            plan.check()
            if plan.is_empty:
                return replace(plan, applied=True)
            await self._check_clock()
            changed = {(change.part, change.name) for change in plan.settings}
            changes = ChangeSet(
                calendars=list(resolved.values()),
                limits={key: limit for key, limit in read.limits.items() if ("limits", key) in changed},
                queues={name: rate for name, rate in read.queues.items() if ("queues", name) in changed},
                commands=plan.commands,
            )
            counted = None if progress is None else partial(_report, progress, len(plan.schedules))
            try:
                await self._store.bulk_changes.apply(self._namespace, changes, actor, counted=counted)
            except (ConflictError, NotFoundError):
                # Another client has changed the schedules, so the plan is out of date.
                if tries == _TRIES - 1:
                    raise
            else:
                return replace(plan, applied=True)
        raise AssertionError

    async def _check_roles(self, document: Document, granted: Role) -> None:
        for name, definition in document.schedules.items():
            await self._check_role(name, definition.target, granted)
        for name, state in document.state.items():
            if "target" in state.overrides:
                await self._check_role(name, decode_field("target", state.overrides["target"]), granted)

    @viewer.post("diff", "/diff", "Preview the changes of a document", timeout=_TIMEOUT, types=_types)
    async def diff(
        self,
        document: Annotated[Document | Mapping[str, Any], Meta(schema=_DOCUMENT)],
        *,
        actor: str,
        prune: Prune = False,
        adopt: Adopt = False,
    ) -> FilePlan:
        """List the changes, errors and conflicts of applying a document; this changes nothing."""
        return await self.apply(document, actor=actor, prune=prune, dry_run=True, adopt=adopt)

    @viewer.get(
        "export",
        "/export",
        "Export schedules as a document",
        timeout=_TIMEOUT,
        envelope="document",
        extras={"operator_notes": _operator_notes},
        types=_types,
    )
    async def export(
        self,
        *,
        app: Annotated[
            str | None,
            Meta(
                max_length=200, description="Only the schedules of this app (default: the owner, if there is only one)."
            ),
        ] = None,
        everything: Annotated[bool, Meta(description="The schedules of all owners.")] = False,
    ) -> Document:
        """Export the stored schedules of an app as a document; applying it to this store changes nothing.

        It has neither the overrides of operators nor calendars that no schedule names. With `everything`, for another
        store, it has the schedules of all owners, with owners, pauses and overrides, and all calendars.
        """
        from tickbird.files.document import DEFAULT_APP
        from tickbird.files.export import choose_app, exported_states

        service = self._noun(FileService)
        schedules = await self._all_schedules()
        if app is not None or not everything:
            app = choose_app({schedule.app for schedule in schedules}, app)
        if not everything:
            schedules = [schedule for schedule in schedules if schedule.app == app]
        document = await service.document(schedules, app if app is not None and not everything else DEFAULT_APP)
        if everything:
            states = exported_states((row for row in schedules if row.name in document.schedules), document.app)
            document = replace(document, state=states)
        calendars = await self._stored_calendars() if everything else ()
        return replace(
            document,
            calendars={**document.calendars, **{record.name: dict(record.definition) for record in calendars}},
            limits=await self._limits(),
            queues=await self._rates(),
        )

    async def operator_notes(self, document: Document) -> dict[str, list[str]]:
        """Notes on a document's schedules, by name: their owners, their pauses, and the fields that operators set."""
        from tickbird.client.schedules import Schedules
        from tickbird.files.export import operator_notes

        notes: dict[str, list[str]] = {}
        after = ""
        while rows := await self._noun(Schedules).list(after=after, limit=1_000):
            for schedule in (row.schedule for row in rows):
                if schedule.name in document.schedules and (lines := operator_notes(schedule, document.app)):
                    notes[schedule.name] = lines
            after = rows[-1].schedule.name
        return notes


def _report(progress: Callable[[int, int], None], total: int, done: int) -> None:
    progress(done, total)
