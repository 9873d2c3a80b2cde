"""The output of `doctor --prove`: progress and result."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tickbird.cli.connection import run_async
from tickbird.cli.errors import FAILED
from tickbird.cli.options import GlobalOptions
from tickbird.cli.output import Cell, Printer, print_result, warn
from tickbird.domain.leadership import LEADER, Coordination
from tickbird.domain.messages import count
from tickbird.domain.time.durations import duration_text

if TYPE_CHECKING:
    from tickbird.proof import Proof, Report

_MAX_COUNT = 20


def prove(settings: GlobalOptions, minutes: float, processes: int, coordination: Coordination, seed: int | None) -> int:
    """Run the proof, print the result, and return the exit code."""
    # Imported here, because it needs everything that a worker does.
    from tickbird.proof import Proof
    from tickbird.stores import must_exist, open_store

    url = settings.store_url
    store = open_store(url)
    must_exist(store)
    # The proof uses its own store, but first reports a given store that cannot be used.
    run_async(store.check_schema(), settings)
    proof = Proof(url, seconds=60.0 * minutes, processes=processes, seed=seed, coordination=coordination)
    what = "the schema" if url.partition(":")[0].lower().startswith("postgres") else "the file"
    if not settings.as_json:
        lasts = duration_text(proof.seconds)
        warn(f"proving with {count(processes, 'worker')} on {store.url} for {lasts}, seed {proof.seed}.")
        warn(f"the proof uses {what} {proof.name} and drops it at the end. Your schedules are not affected.")
    with _progress(proof, settings):
        report = run_async(proof.run(), settings)
    print_result(settings, report.to_json, lambda screen: _show(screen, report, minutes))
    return 0 if report.proven else FAILED


def clean(settings: GlobalOptions) -> int:
    """Drop the temporary stores of proofs that were killed together with their cleanup process."""
    from tickbird.proof import drop_leftovers

    dropped, kept = run_async(drop_leftovers(settings.store_url), settings)

    def show(screen: Printer) -> None:
        for name in dropped:
            screen.line(f"dropped {name}")
        for name in kept:
            screen.line(f"kept {name}, because its workers are alive")
        if not dropped and not kept:
            screen.line("There is nothing to remove.")

    print_result(settings, lambda: {"dropped": list(dropped), "kept": list(kept)}, show)
    return 0


@contextmanager
def _progress(proof: Proof, settings: GlobalOptions) -> Iterator[None]:
    """Show a progress bar on a terminal."""
    if settings.as_json or not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("proving"), BarColumn(), TimeRemainingColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=proof.seconds)

        def show_progress(done: float, text: str) -> None:
            progress.update(task, completed=done, description=text or None)

        proof.on_progress = show_progress
        yield


def _show(screen: Printer, report: Report, minutes: float) -> None:
    verdict, late = report.verdict, report.lateness
    skipped = ", ".join(f"{number:,} {reason}" for reason, number in verdict.skipped.most_common())
    faults = ", ".join(f"{number} × {kind}" for kind, number in report.faults.most_common()) or "none"
    clocks = ", ".join(f"{abs(hours):g} h {'fast' if hours > 0 else 'slow'}" for hours in report.wrong_clocks)
    screen.fields(
        [
            (
                "ticks",
                f"{verdict.expected:,} expected from {count(report.schedules, 'schedule')}: {verdict.run:,} run, "
                f"{sum(verdict.skipped.values()):,} skipped" + (f" ({skipped})" if skipped else ""),
            ),
            ("", Cell(f"{verdict.doubled} doubled, {verdict.lost} lost", "" if verdict.clean else "red")),
            (
                "lateness",
                ", ".join(
                    f"{duration_text(figure)} {name}"
                    for name, figure in (("median", late.median), ("p99", late.p99), ("worst", late.worst))
                ),
            ),
            ("faults", faults + (f"; wrong clocks: {clocks}" if clocks else "")),
            ("retried", f"{count(verdict.repeated, 'run')} retried because the worker was lost"),
        ]
    )
    if report.terms is not None:
        screen.fields([("terms", f"{report.terms} terms of leaders; they only grew")])
    if verdict.late_starts:
        text = (
            "started late: the worker was frozen between its last lease check and the function. Its finish was refused."
        )
        screen.fields([("late", f"{count(verdict.late_starts, 'attempt')} {text}")])
    screen.line()
    for violation in verdict.violations[:_MAX_COUNT]:
        screen.line(Cell(f"✗ {violation.promise}: {violation.text}", "red"))
    if len(verdict.violations) > _MAX_COUNT:
        screen.line(f"… and {len(verdict.violations) - _MAX_COUNT:,} more.")
    if report.proven:
        screen.line(
            Cell("✓ Every promise was kept. Checked: workers' journals, the store, an independent grid.", "green")
        )
    elif verdict.clean:
        screen.line(Cell("✗ No tick ran, so nothing is proven.", "red"))
    else:
        again = f"tickbird doctor --prove --minutes {minutes:g} --processes {report.processes} --seed {report.seed}"
        again += f" --coordination {LEADER}" if report.terms is not None else ""
        screen.line(f"{count(len(verdict.violations), 'broken promise')}. Repeat the same faults with: {again}")
    if report.leftovers:
        hint = "Try again with `tickbird doctor --prove --clean`."
        warn(f"{report.scratch} could not be dropped: {report.leftovers} {hint}")
