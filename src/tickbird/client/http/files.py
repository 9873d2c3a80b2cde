"""Files over HTTP: diagnostics of the server get their location in the files."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from tickbird.client.files import Files
from tickbird.client.http.operations import HttpBase
from tickbird.domain.errors import ConflictError, InvalidError
from tickbird.files.diagnostics import Diagnostic, DocumentError, OwnedError
from tickbird.files.document import Document, read_document
from tickbird.files.plan import FilePlan
from tickbird.wire.operations import Operation, operations_of

_DIFF: Final = operations_of(Files)["diff"]
# The definition that a diagnostic of a server names.
_SUBJECT: Final = re.compile(r"(schedule|calendar|limit|queue) ([^\s:]+):")


class HttpFiles(HttpBase, Files):
    async def send(self, operation: Operation, arguments: Mapping[str, Any]) -> Any:
        if operation.name == "export":
            return await self._request(operation, arguments, lambda answer: _read_served_document(answer["document"]))
        if operation.name != "apply":
            return await super().send(operation, arguments)
        document = read_document(arguments["document"])
        # The server does not report progress, so only the start and the end are reported.
        progress: Callable[[int, int], None] = arguments["progress"] or (lambda done, total: None)
        total = len(document.schedules)
        progress(0, total)
        dry_run = arguments["dry_run"]
        request = {**arguments, "document": document, "dry_run": False}
        try:
            plan = await self._plan(_DIFF if dry_run else operation, request)
        except (InvalidError, ConflictError) as error:
            if dry_run or getattr(error, "field", "document") != "document":
                raise
            # The error has one diagnostic; the plan has all of them, with their locations.
            plan = await self._plan(_DIFF, request)
            if plan.diagnostics:
                raise DocumentError([*plan.diagnostics, *plan.conflicts]) from error
            if plan.conflicts:
                raise OwnedError(plan.conflicts) from error
            raise
        progress(total, total)
        return plan

    async def _plan(self, operation: Operation, arguments: Mapping[str, Any]) -> FilePlan:
        plan: FilePlan = await super().send(operation, arguments)
        document = arguments["document"]
        return replace(
            plan, diagnostics=_locate(document, plan.diagnostics), conflicts=_locate(document, plan.conflicts)
        )


def _read_served_document(value: Mapping[str, Any]) -> Document:
    """Read a document of the server, without schedules that this process cannot read, such as those of a plug-in."""
    try:
        return read_document(value)
    except DocumentError as error:
        matches = [_SUBJECT.match(diagnostic.text) for diagnostic in error.diagnostics]
        unknown = {match[2] for match in matches if match and match[1] == "schedule"}
    parts = {
        part: {name: item for name, item in value[part].items() if name not in unknown}
        for part in ("schedules", "state")
        if part in value
    }
    return read_document({**value, **parts})


def _locate(document: Document, diagnostics: Sequence[Diagnostic]) -> list[Diagnostic]:
    """Add the locations in the files, which the server does not have."""
    matches = [(diagnostic, _SUBJECT.match(diagnostic.text)) for diagnostic in diagnostics]
    return [
        replace(diagnostic, location=document.location(f"{match[1]}s", match[2])) if match else diagnostic
        for diagnostic, match in matches
    ]
