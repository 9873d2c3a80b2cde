"""The command that checks a store, and lets a copy go on."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

import click

from tickbird.cli.errors import FAILED
from tickbird.cli.output import Cell, Screen, emit
from tickbird.cli.session import complete, opened
from tickbird.cli.settings import Command, Settings, actor_option
from tickbird.client import Client
from tickbird.domain.durations import in_words

# Seconds by which this machine's clock may differ from the store's; only people are misled by it.
_CLOCKS_APART = 5.0


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at: is it well, and what there is to say."""

    check: str
    ok: bool
    text: str


@click.command(cls=Command)
@click.option("--accept-copy", is_flag=True, help="Let a copy of a store go on where it is.")
@actor_option
@click.pass_obj
def doctor(settings: Settings, accept_copy: bool, actor: str) -> int:
    """Check the store: schema, clock, zone data, and whether it is a copy.

    Ends with 0 when all is well, and with 1 when something needs a person. A restored or copied store plans and
    executes nothing until --accept-copy: what the original does, it would do a second time.
    """

    async def work() -> list[Finding]:
        async with opened(settings) as client:
            if accept_copy:
                await client.accept_copy(actor=actor)
            return [Finding("schema", True, "It fits this version of tickbird."), *await _look(client)]

    findings = complete(work(), settings)
    well = all(finding.ok for finding in findings)

    def show_findings(screen: Screen) -> None:
        for finding in findings:
            mark = Cell("✓", "green") if finding.ok else Cell("✗", "red")
            screen.line(Cell(f"{mark.text} {finding.check}: {finding.text}", mark.style))

    document = {
        "ok": well,
        "checks": [{"check": each.check, "ok": each.ok, "text": each.text} for each in findings],
    }
    emit(settings, lambda: document, show_findings)
    return 0 if well else FAILED


async def _look(client: Client) -> list[Finding]:
    began = datetime.now(UTC)
    now = await client.now()
    apart = max((began - now).total_seconds(), (now - datetime.now(UTC)).total_seconds(), 0.0)
    told = f"{in_words(apart)} apart from this machine's" if apart >= 1 else "The same as this machine's"
    clock = Finding("clock", apart <= _CLOCKS_APART, f"{told}; all decisions use the store's.")
    place, zones = await client.place(), await client.zones()
    copy = Finding("copy", not place.copied, _sentence(place.copied) or "The store is where it belongs.")
    if zones.same:
        data = Finding("zone data", True, f"{zones.here}, which the store goes by.")
    else:
        stored = f"{zones.stored.version} ({zones.stored.digest[:8]})" if zones.stored else "none"
        data = Finding("zone data", False, f"{zones.here} here, {stored} in the store; `tickbird zones` tells more.")
    held = [worker for worker in await client.workers() if worker.held]
    workers = Finding(
        "workers", not held, "; ".join(f"{worker.id} {worker.held}" for worker in held) or "None is held."
    )
    return [clock, copy, data, workers]


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + "." if text else ""
