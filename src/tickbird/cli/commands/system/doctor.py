"""The command that looks at a store and says what needs a person."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import isnan
from typing import Any

import click
from click.core import ParameterSource

from tickbird.cli.connection import connect, run_async
from tickbird.cli.errors import FAILED, STORE
from tickbird.cli.options import Command, GlobalOptions, actor_option
from tickbird.cli.output import Cell, Printer, print_result
from tickbird.client import StoreClient
from tickbird.domain.doctor.finding import Finding, Severity, to_json, unusable
from tickbird.domain.errors import StoreError
from tickbird.domain.messages import count
from tickbird.domain.store_identity import StoreIdentity
from tickbird.stores import must_exist, open_store

# What is shown first, and how.
_SYMBOLS: dict[Severity, Cell] = {
    "problem": Cell("✗", "red"),
    "warning": Cell("!", "yellow"),
    "unseen": Cell("?", "dim"),
    "ok": Cell("✓", "green"),
}


@click.command(cls=Command)
@click.option("--strict", is_flag=True, help="End with 1 also where there are only warnings.")
@click.option("--accept-copy", is_flag=True, help="Let a copy of a store go on where it is.")
@click.option("--prove", is_flag=True, help="Run real workers under faults in a store of their own, and judge them.")
@click.option(
    "--minutes", type=click.FloatRange(0.02, 24 * 60), default=1.0, show_default=True, help="--prove: for how long."
)
@click.option(
    "--processes", type=click.IntRange(1, 64), default=4, show_default=True, help="--prove: how many workers."
)
@click.option("--seed", type=click.IntRange(0), metavar="N", help="--prove: which faults; else other ones each time.")
@click.option("--clean", is_flag=True, help="--prove: drop what a proof has left behind that was killed.")
@actor_option
@click.pass_obj
def doctor(
    settings: GlobalOptions,
    strict: bool,
    accept_copy: bool,
    prove: bool,
    minutes: float,
    processes: int,
    seed: int | None,
    clean: bool,
    actor: str,
) -> int:
    """Look at the store and all that relies on it, and say what to do about what is wrong.

    Changes nothing. Ends with 0 when all is well, and with 1 when something needs a person; warnings alone count only
    with --strict. A restored or copied store plans and executes nothing until --accept-copy: what the original does, it
    would do a second time.

    With --prove, nothing is looked at: workers of its own run in a schema, or a file, beside the store for a while, are
    killed, frozen, cut off and given wrong clocks, and then what they did is compared with what the store says and with
    every tick that was to come. Ends with 0 when every promise was kept; nothing is left behind, also after Ctrl-C.
    """
    for option in () if prove else ("clean", "minutes", "processes", "seed"):
        if click.get_current_context().get_parameter_source(option) is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"--{option} belongs to --prove.")
    # A range lets through what is no number: it is neither below nor above.
    if isnan(minutes):
        raise click.BadParameter("give a number of minutes, such as 5.", param_hint="'--minutes'")
    if prove:
        from tickbird.cli.commands.system import proof

        return proof.clean(settings) if clean else proof.prove(settings, minutes, processes, seed)

    accepted: StoreIdentity | None = None

    async def work() -> Sequence[Finding]:
        nonlocal accepted
        if accept_copy:
            async with connect(settings) as client:
                copy = await client.system.identity()
                await client.system.accept_copy(actor=actor)
                accepted = copy
        if settings.server_url is not None:
            async with connect(settings) as client:
                return await client.system.doctor()
        store = open_store(settings.store_url)
        must_exist(store)
        return await StoreClient(store, settings.namespace or "default").system.doctor()

    try:
        findings = run_async(work(), settings)
        # A schema that is missing, too old or too new keeps every command from using the store.
        code = STORE if any((one.check, one.severity) == ("schema", "problem") for one in findings) else 0
    except StoreError as error:
        # Who asks for a document gets one, also where there is nothing to look at.
        if accept_copy or not settings.as_json:
            raise
        findings, code = [unusable(error.message, error.hint)], STORE
    bad = ("problem", "warning") if strict else ("problem",)
    well = not any(finding.severity in bad for finding in findings)

    def show(screen: Printer) -> None:
        if accepted is not None:
            screen.line("Copy accepted: workers now plan and execute in this store, independently of the original.")
            screen.line()
        _show(screen, findings)

    print_result(settings, lambda: _document(settings, findings, well, accepted), show)
    return code or (0 if well else FAILED)


def _document(
    settings: GlobalOptions, findings: Sequence[Finding], well: bool, accepted: StoreIdentity | None
) -> dict[str, Any]:
    counts = Counter(finding.severity for finding in findings)
    return {
        "ok": well,
        "accepted_copy": None if accepted is None else {"from": dict(accepted.stored), "to": dict(accepted.here)},
        "namespace": settings.namespace or "default",
        "counts": {severity: counts[severity] for severity in _SYMBOLS},
        "checks": [to_json(finding) for finding in findings],
    }


def _show(screen: Printer, findings: Sequence[Finding]) -> None:
    for severity, mark in _SYMBOLS.items():
        for finding in findings:
            if finding.severity == severity:
                screen.line(Cell(f"{mark.text} {finding.check}: {finding.text}", mark.style))
                if finding.fix:
                    screen.line(f"    → {finding.fix}")
    counts = Counter(finding.severity for finding in findings)
    told = [count(counts[severity], severity) for severity in ("problem", "warning") if counts[severity]]
    if counts["unseen"]:
        told.append(f"{counts['unseen']} not looked at")
    screen.line()
    screen.line(", ".join([*told, f"{counts['ok']} well"]) + ".")
