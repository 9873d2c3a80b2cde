"""Schedules in files over HTTP: what applying them would do, doing it, and writing back what is stored."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from tickbird.client.files import Files, operator_notes_of
from tickbird.client.http.base import Remote
from tickbird.client.http.transport import HttpRequest
from tickbird.domain.errors import ConflictError, InvalidError
from tickbird.files.diagnostics import Diagnostic, DocumentError, OwnedError
from tickbird.files.document import Document, read_document
from tickbird.files.plan import FilePlan
from tickbird.files.writer import to_plain
from tickbird.wire.decode.files import read_plan
from tickbird.wire.decode.schedules import read_row

_PAGE: Final = 1_000
# Thousands of schedules are compared and written in one transaction.
_APPLY: Final = 300.0
_ABOUT: Final = re.compile(r"(schedule|calendar) ([A-Za-z0-9_.-]+): ", re.ASCII)


class RemoteFiles(Remote, Files):
    """The verbs about schedules in files."""

    async def apply(
        self,
        document: Document | Mapping[str, Any],
        *,
        actor: str,
        prune: bool = False,
        dry_run: bool = False,
        adopt: bool = False,
        counted: Callable[[int, int], None] | None = None,
    ) -> FilePlan:
        """Bring the store to what a document says, in one transaction; the plan that was carried out.

        With `prune`, schedules of its app that it does not have are deleted. With `adopt`, those that a person made
        become the app's. With `dry_run` nothing is changed, and the plan has what would keep it from being applied.
        """
        read = read_document(document)
        body = {"document": to_plain(read), "prune": prune, "adopt": adopt}
        total = len(read.schedules)
        if counted is not None:
            # How far it is, only the server knows; that it is at work is something.
            counted(0, total)
        try:
            plan = await self._planned("/diff" if dry_run else "/apply", read, body)
        except (InvalidError, ConflictError) as error:
            if dry_run or getattr(error, "field", "document") != "document":
                raise
            # All of what is wrong, where it stands.
            plan = await self._planned("/diff", read, body)
            if plan.diagnostics:
                raise DocumentError([*plan.diagnostics, *plan.conflicts]) from error
            if plan.conflicts:
                raise OwnedError(plan.conflicts) from error
            raise
        if counted is not None:
            counted(total, total)
        return plan

    async def _planned(self, path: str, document: Document, body: Mapping[str, Any]) -> FilePlan:
        question = HttpRequest("POST", path, self._query(), body, self._key(), _APPLY, repeatable=True)
        plan = await self._send(read_plan, question)
        return replace(
            plan, diagnostics=_placed(document, plan.diagnostics), conflicts=_placed(document, plan.conflicts)
        )

    async def export(self, *, app: str | None = None, everything: bool = False) -> Document:
        """The stored schedules of an app as a document; applying it to this store changes nothing.

        What operators have set over it is left out, as it is not the app's; so are calendars that no schedule names.
        With `everything`, the schedules of all owners, for another store: with their owners, pauses and overrides, and
        with all calendars.
        """
        query = {"app": app, "everything": everything}
        return await self._fetch("/export", lambda found: read_document(found["document"]), query, patience=_APPLY)

    async def operator_notes(self, document: Document) -> dict[str, list[str]]:
        """What stands in the store beside a document's schedules: pauses, and what operators have set over them."""
        found: dict[str, list[str]] = {}
        after = ""
        while rows := await self._pages("/schedules", read_row, _PAGE, after):
            for schedule in (row.schedule for row in rows):
                if schedule.name in document.schedules and (said := operator_notes_of(schedule, document.app)):
                    found[schedule.name] = said
            after = rows[-1].schedule.name
        return found


def _placed(document: Document, diagnostics: Sequence[Diagnostic]) -> list[Diagnostic]:
    """With where they stand in the files, of which the server knows nothing."""
    return [_in_file(document, diagnostic) for diagnostic in diagnostics]


def _in_file(document: Document, diagnostic: Diagnostic) -> Diagnostic:
    about = _ABOUT.match(diagnostic.text)
    if about is None:
        return diagnostic
    return replace(diagnostic, location=document.location(f"{about[1]}s", about[2]))
