"""Files over HTTP: diagnostics of the server get their location in the files."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from tickbird.client.files import Files
from tickbird.client.http.operations import HttpNoun
from tickbird.domain.access.tokens import Role
from tickbird.domain.errors import ConflictError, InvalidError
from tickbird.files.diagnostics import Diagnostic, DocumentError, OwnedError
from tickbird.files.document import Document, read_document
from tickbird.files.plan import FilePlan
from tickbird.wire.operations import operations_of

_OPERATIONS: Final = operations_of(Files)
# The field that a diagnostic of a server names.
_ABOUT: Final = re.compile(r"(schedule|calendar|limit|queue) ([^\s:]+):")


class HttpFiles(HttpNoun, Files):
    """Files, applied by a server."""

    async def apply(
        self,
        document: Document | Mapping[str, Any],
        *,
        actor: str,
        prune: bool = False,
        dry_run: bool = False,
        adopt: bool = False,
        progress: Callable[[int, int], None] | None = None,
        granted: Role | None = None,
    ) -> FilePlan:
        """`progress` is called at the start and at the end only, because the server does not report it."""
        read = read_document(document)
        total = len(read.schedules)
        if progress is not None:
            progress(0, total)
        asked = {"document": read, "prune": prune, "adopt": adopt, "dry_run": False}
        try:
            plan = await self._plan("diff" if dry_run else "apply", asked)
        except (InvalidError, ConflictError) as error:
            if dry_run or getattr(error, "field", "document") != "document":
                raise
            # All diagnostics, with their locations.
            plan = await self._plan("diff", asked)
            if plan.diagnostics:
                raise DocumentError([*plan.diagnostics, *plan.conflicts]) from error
            if plan.conflicts:
                raise OwnedError(plan.conflicts) from error
            raise
        if progress is not None:
            progress(total, total)
        return plan

    async def _plan(self, verb: str, asked: Mapping[str, Any]) -> FilePlan:
        plan: FilePlan = await self.send(_OPERATIONS[verb], asked)
        document = asked["document"]
        return replace(
            plan, diagnostics=_located(document, plan.diagnostics), conflicts=_located(document, plan.conflicts)
        )


def _located(document: Document, diagnostics: Sequence[Diagnostic]) -> list[Diagnostic]:
    """Diagnostics with their locations in the files, which the server does not know."""
    matches = [(diagnostic, _ABOUT.match(diagnostic.text)) for diagnostic in diagnostics]
    return [
        diagnostic if about is None else replace(diagnostic, location=document.location(f"{about[1]}s", about[2]))
        for diagnostic, about in matches
    ]
