"""The checks of `tickbird doctor`, problems first."""

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
from tickbird.web.pages.consumers import group_path

# Seconds.
_TIMEOUT: Final = 8.0
_GROUPS: Final[tuple[tuple[Severity, str, str], ...]] = (
    ("problem", "failed", "Problems"),
    ("warning", "late", "Warnings"),
    ("unseen", "waiting", "Not checked"),
    ("ok", "succeeded", "Passed"),
)
# Fixes that are a command or an SQL statement. All others are sentences.
_COMMAND: Final = re.compile(r"(tickbird |GRANT |ALTER |REVOKE |VACUUM|CREATE |DROP |REINDEX |pip |SELECT )")
_REMARK: Final = re.compile(r"\s{2,}(?:#|--)\s*")


@dataclass(frozen=True, slots=True)
class FindingRow:
    """A finding for display: its fix as command with a comment or as text, and a link."""

    finding: Finding
    command: str
    words: str
    href: str | None


async def doctor(visit: PageRequest) -> Response:
    if not visit.keeps_store:
        raise Problem(
            403,
            "forbidden",
            "The doctor checks the complete store. Your token has access to a part of it.",
            hint="Log in with an admin token for all namespaces.",
        )
    try:
        async with asyncio.timeout(_TIMEOUT):
            # Not cached, so that a repeated check shows a repair.
            findings: Sequence[Finding] | None = await visit.client.system.doctor()
    except TimeoutError:
        findings = None
    groups: list[dict[str, Any]] = []
    for severity, mark, title in _GROUPS:
        rows = [_row(visit, finding) for finding in findings or () if finding.severity == severity]
        if rows:
            groups.append({"severity": severity, "mark": mark, "title": title, "findings": rows})
    return visit.render("doctor.html", groups=groups, is_complete=findings is not None, timeout=_TIMEOUT)


def _row(visit: PageRequest, finding: Finding) -> FindingRow:
    command, words = "", finding.fix
    if _COMMAND.match(finding.fix):
        command, *remark = _REMARK.split(finding.fix, maxsplit=1)
        words = "".join(remark)
    return FindingRow(finding, command, words, _where(visit, finding))


def _where(visit: PageRequest, finding: Finding) -> str | None:
    """Return the URL of the page about a finding, or None."""
    if schedule := finding.figures.get("schedule"):
        return visit.schedule(schedule)
    if group := finding.figures.get("group"):
        if finding.check == "dead letters":
            return visit.url("/events/dead-letters", group=group)
        return visit.url(group_path(str(group)))
    match finding.check:
        case "parked":
            return visit.url("/schedules", state="parked")
        case "failing":
            return visit.url("/schedules", failing="1")
        case "workers" | "queues" | "planning" | "leases":
            return visit.url("/workers")
    return None


ROUTES: Final = (PageRoute("/doctor", doctor, "admin"),)
