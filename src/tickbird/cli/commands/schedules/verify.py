"""The `verify` command: every expected tick has one decision, and every decision has a tick."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import datetime
from typing import Any

import click

from tickbird.cli.connection import connect, run_async
from tickbird.cli.errors import FAILED
from tickbird.cli.options import Command, GlobalOptions
from tickbird.cli.output import Cell, Printer, Text, clock, iso, print_result, warn
from tickbird.cli.params import optional_name_argument, storable_text
from tickbird.cli.time_input import InstantParser
from tickbird.client import Client
from tickbird.domain.errors import ConflictError
from tickbird.domain.ledger.report import LedgerReport
from tickbird.domain.messages import count
from tickbird.domain.time.instants import to_datetime

_PAGE = 500


@click.command(cls=Command)
@optional_name_argument
@click.option(
    "--from",
    "first",
    type=storable_text,
    metavar="INSTANT",
    help="First instant (default: when the schedule was created).",
)
@click.option("--to", "last", type=storable_text, metavar="INSTANT", help="Last instant (default: now).")
@click.pass_obj
def verify(settings: GlobalOptions, name: str | None, first: str | None, last: str | None) -> int:
    """Prove that every expected tick has exactly one decision.

    Checks one schedule, or all schedules, including deleted ones.
    """

    ignored: dict[str, str] = {}

    async def read() -> tuple[list[LedgerReport], datetime | None, datetime]:
        async with connect(settings) as client:
            now = await client.system.now()
            own = await _zone(client, name)
            start, end = (
                None if text is None else InstantParser(now, settings.tz, own)(text, option).at
                for text, option in ((first, "from"), (last, "to"))
            )
            end = end or now
            names = _names(client) if name is None else _only(name)
            reports = []
            async for schedule in names:
                try:
                    reports.append(await client.ticks.verify(schedule, start, end))
                except ConflictError as error:
                    if name is not None:
                        raise
                    # A process that cannot read one schedule still verifies the others.
                    ignored[schedule] = str(error)
            return reports, start, end

    reports, start, end = run_async(read(), settings)
    # Omit schedules that did not exist in the range.
    reports = [report for report in reports if name is not None or report.first is not None or report.finding_count]
    for text in ignored.values():
        warn(f"not verified: {text}")
    ok = all(report.ok for report in reports) and not ignored

    def document() -> dict[str, Any]:
        encoded = [report.to_json() for report in reports]
        return {"from": iso(start), "to": iso(end), "ok": ok, "reports": encoded, "ignored": ignored}

    print_result(settings, document, lambda screen: _show(screen, reports, settings.tz or "UTC"))
    return 0 if ok else FAILED


async def _zone(client: Client, name: str | None) -> str | None:
    if name is None:
        return None
    schedules = [
        row.schedule for row in await client.schedules.list(contains=name, limit=1_000) if row.schedule.name == name
    ]
    definition = schedules[0].definition if schedules else None
    return definition.trigger.tz if definition else None


async def _only(name: str) -> AsyncIterator[str]:
    yield name


async def _names(client: Client) -> AsyncIterator[str]:
    """Yield all names page by page, then those of deleted schedules."""
    for state in (None, "deleted"):
        after = ""
        while page := await client.schedules.list(state=state, after=after, limit=_PAGE):
            for row in page:
                yield row.schedule.name
            after = page[-1].schedule.name


def _show(screen: Printer, reports: list[LedgerReport], tz: str) -> None:
    if not reports:
        screen.line("No schedule had an expected tick in that range.")
        return
    rows: list[tuple[Text, ...]] = []
    for report in reports:
        verdict = Cell("proven", "green") if report.ok else Cell(count(report.finding_count, "finding"), "red")
        since, until = (_at(second, tz) for second in (report.first, report.last))
        numbers = (report.expected, report.runs, report.skipped, report.open)
        rows.append((Cell(report.schedule, "bold"), verdict, since, until, *(f"{number:,}" for number in numbers)))
    screen.table(("SCHEDULE", "VERDICT", "FROM", "TO", "EXPECTED", "RUNS", "SKIPPED", "OPEN"), rows)
    for report in reports:
        if report.finding_count:
            screen.title(report.schedule)
            screen.table(
                ("KIND", "FIRST", "LAST", "TICKS", "FINDING"), [_finding(finding, tz) for finding in report.findings]
            )
            if report.finding_count > len(report.findings):
                screen.line(f"… and {report.finding_count - len(report.findings):,} more.")


def _finding(finding: Any, tz: str) -> tuple[Text, ...]:
    last = "" if finding.last == finding.first else _at(finding.last, tz)
    return (Cell(finding.kind, "red"), _at(finding.first, tz), last, f"{finding.count:,}", finding.text)


def _at(second: int | None, tz: str) -> str:
    return "" if second is None else clock(to_datetime(second), tz)
