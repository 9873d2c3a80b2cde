"""How the store is: everything that `tickbird doctor` looks at, what needs a person first."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from starlette.responses import Response

from tickbird.api.problems import Problem
from tickbird.domain.doctor.finding import Finding, Severity
from tickbird.web.page_request import PageRequest, PageRoute

# It looks at everything; a page does not wait for it any longer.
_TIMEOUT: Final = 8.0
_GROUPS: Final[tuple[tuple[Severity, str, str], ...]] = (
    ("problem", "failed", "Problems"),
    ("warning", "late", "Warnings"),
    ("unseen", "waiting", "Not checked"),
    ("ok", "succeeded", "Passed"),
)
# What can be pasted into a shell or a database; anything else is a sentence.
_COMMAND: Final = re.compile(r"(tickbird |GRANT |ALTER |REVOKE |VACUUM|CREATE |DROP |REINDEX |pip |SELECT )")
_REMARK: Final = re.compile(r"\s{2,}(?:#|--)\s*")


@dataclass(frozen=True, slots=True)
class FindingRow:
    """A finding as a page shows it: its fix is a command to copy with a remark, or words; and where to look."""

    finding: Finding
    command: str
    words: str
    href: str | None


async def doctor(visit: PageRequest) -> Response:
    """Look, and tell by how much it matters."""
    if not visit.keeps_store:
        raise Problem(
            403,
            "forbidden",
            "The doctor checks the complete store. Your token has access to a part of it.",
            hint="Log in with an admin token for all namespaces.",
        )
    try:
        async with asyncio.timeout(_TIMEOUT):
            # Not shared: who looks again after a repair sees it repaired.
            found: Sequence[Finding] | None = await visit.client.system.doctor()
    except TimeoutError:
        found = None
    groups: list[dict[str, Any]] = []
    for severity, mark, title in _GROUPS:
        told = [_row(visit, each) for each in found or () if each.severity == severity]
        if told:
            groups.append({"severity": severity, "mark": mark, "title": title, "findings": told})
    return visit.render("doctor.html", groups=groups, looked=found is not None, patience=_TIMEOUT)


def _row(visit: PageRequest, finding: Finding) -> FindingRow:
    command, words = "", finding.fix
    if _COMMAND.match(finding.fix):
        command, *remark = _REMARK.split(finding.fix, maxsplit=1)
        words = "".join(remark)
    return FindingRow(finding, command, words, _where(visit, finding))


def _where(visit: PageRequest, finding: Finding) -> str | None:
    """The page that shows what a finding is about."""
    if schedule := finding.figures.get("schedule"):
        return visit.schedule(schedule)
    match finding.check:
        case "parked":
            return visit.url("/schedules", state="parked")
        case "failing":
            return visit.url("/schedules", failing="1")
        case "workers" | "queues" | "planning" | "leases":
            return visit.url("/workers")
    return None


ROUTES: Final = (PageRoute("/doctor", doctor, "admin"),)
