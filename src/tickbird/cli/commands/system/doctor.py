"""The `doctor` command."""

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
from tickbird.domain.leadership import COORDINATIONS, SHARED, Coordination
from tickbird.domain.messages import count
from tickbird.domain.store_identity import StoreIdentity
from tickbird.stores import must_exist, open_store

# In the order of the output.
_SYMBOLS: dict[Severity, Cell] = {
    "problem": Cell("✗", "red"),
    "warning": Cell("!", "yellow"),
    "unseen": Cell("?", "dim"),
    "ok": Cell("✓", "green"),
}


@click.command(cls=Command)
@click.option("--strict", is_flag=True, help="Exit with 1 also on warnings.")
@click.option(
    "--accept-copy", is_flag=True, help="Accept this copy as an independent store: workers plan and execute here."
)
@click.option(
    "--restored",
    is_flag=True,
    help="The store was restored from a backup in place: readers of events do not continue at positions from before.",
)
@click.option(
    "--prove", is_flag=True, help="Run real workers with injected faults in a temporary store, and check them."
)
@click.option(
    "--minutes",
    type=click.FloatRange(0.02, 24 * 60),
    default=1.0,
    show_default=True,
    help="With --prove: duration in minutes.",
)
@click.option(
    "--processes", type=click.IntRange(1, 64), default=4, show_default=True, help="With --prove: number of workers."
)
@click.option(
    "--coordination",
    type=click.Choice(COORDINATIONS),
    default=SHARED,
    show_default=True,
    help="With --prove: whether all workers plan, or one of them (leader mode).",
)
@click.option("--seed", type=click.IntRange(0), metavar="N", help="With --prove: seed of the faults (default: random).")
@click.option("--clean", is_flag=True, help="With --prove: only remove the leftovers of an interrupted proof.")
@actor_option
@click.pass_obj
def doctor(
    settings: GlobalOptions,
    strict: bool,
    accept_copy: bool,
    restored: bool,
    prove: bool,
    minutes: float,
    processes: int,
    coordination: Coordination,
    seed: int | None,
    clean: bool,
    actor: str,
) -> int:
    """Check the store, the workers and the schedules, and suggest fixes.

    Checks schema, permissions, clocks, timeouts, durability, pooler, replication, open transactions, dead rows, copies,
    time zone data, workers, overdue schedules, unserved queues, and parked and failing schedules. The checks change
    nothing.
    A restored or copied store does not plan or execute until you give --accept-copy, because it would repeat the runs
    of the original. A restore in place is not noticed: give --restored after it.

    With --prove, the command runs no checks. It runs workers in a temporary schema or file next to the store, kills,
    freezes and disconnects them, and gives them wrong clocks. Then it compares their work with the store and with every
    expected tick. It removes the temporary store at the end, also after Ctrl-C.
    """
    for option in () if prove else ("clean", "minutes", "processes", "coordination", "seed"):
        if click.get_current_context().get_parameter_source(option) is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"--{option} requires --prove.")
    # A range accepts NaN, because NaN is neither below nor above.
    if isnan(minutes):
        raise click.BadParameter("give a number of minutes, such as 5.", param_hint="'--minutes'")
    if prove:
        from tickbird.cli.commands.system import proof

        return proof.clean(settings) if clean else proof.prove(settings, minutes, processes, coordination, seed)

    accepted: StoreIdentity | None = None

    async def work() -> Sequence[Finding]:
        nonlocal accepted
        if accept_copy or restored:
            async with connect(settings) as client:
                copy = await client.system.identity()
                await client.system.accept_copy(restored=restored, actor=actor)
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
        code = STORE if any((finding.check, finding.severity) == ("schema", "problem") for finding in findings) else 0
    except StoreError as error:
        # With --json, an unusable store is a finding in the document.
        if accept_copy or restored or not settings.as_json:
            raise
        findings, code = [unusable(error.message, error.hint)], STORE
    bad = ("problem", "warning") if strict else ("problem",)
    ok = not any(finding.severity in bad for finding in findings)

    def show(screen: Printer) -> None:
        if accepted is not None and restored and not accepted.copy_reason:
            screen.line("The store has a new incarnation: readers of events start again from a time or the beginning.")
            screen.line()
        elif accepted is not None:
            screen.line("Copy accepted: workers now plan and execute in this store, independently of the original.")
            screen.line()
        _show(screen, findings)

    print_result(settings, lambda: _document(settings, findings, ok, accepted), show)
    return code or (0 if ok else FAILED)


def _document(
    settings: GlobalOptions, findings: Sequence[Finding], ok: bool, accepted: StoreIdentity | None
) -> dict[str, Any]:
    counts = Counter(finding.severity for finding in findings)
    return {
        "ok": ok,
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
    totals = [count(counts[severity], severity) for severity in ("problem", "warning") if counts[severity]]
    if counts["unseen"]:
        totals.append(f"{counts['unseen']} not checked")
    screen.line()
    screen.line(", ".join([*totals, f"{counts['ok']} passed"]) + ".")
