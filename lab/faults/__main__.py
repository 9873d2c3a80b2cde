"""`./dev faults`: a fleet of real worker processes under seeded faults, or a burst of schedules."""

from __future__ import annotations

import asyncio
import json
import random
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from lab.faults.burst import BurstReport, run_burst
from lab.faults.fault_run import FaultRun, Report
from tickbird.domain.leadership import COORDINATIONS, SHARED, Coordination


@click.command(help=__doc__)
@click.option("--minutes", type=click.FloatRange(0.1), default=1.0, show_default=True, help="Duration of the faults.")
@click.option("--seed", type=int, help="Repeat the faults of a seed (default: random, printed at the end).")
@click.option("--store", type=click.Choice(["postgresql", "sqlite"]), default="postgresql", show_default=True)
@click.option("--coordination", type=click.Choice(COORDINATIONS), default=SHARED, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print the verdict as JSON.")
@click.option("--burst", type=click.IntRange(1), metavar="N", help="Instead: N schedules that are due at once.")
@click.option("--keep", type=click.Path(path_type=Path), help="Write journals and logs to this folder, and keep it.")
def main(
    minutes: float,
    seed: int | None,
    store: str,
    coordination: Coordination,
    as_json: bool,
    burst: int | None,
    keep: Path | None,
) -> None:
    """Exit with 1 if a promise was broken."""
    if burst is not None:
        with _folder(keep) as folder, _store(store, folder) as (url, _):
            burst_report = asyncio.run(run_burst(url, folder, burst))
        click.echo(json.dumps(asdict(burst_report), indent=2) if as_json else _format_burst(burst_report))
        sys.exit(1 if burst_report.late else 0)
    seed = random.randrange(1_000_000) if seed is None else seed
    with _folder(keep) as folder, _store(store, folder) as (url, server), _progress(60 * minutes) as show_progress:
        fault_run = FaultRun(url, folder, seed, 60 * minutes, server=server, coordination=coordination)
        fault_run.on_progress = show_progress
        report = asyncio.run(fault_run.run())
    if as_json:
        click.echo(json.dumps(to_json(report), indent=2))
    else:
        print_report(report, minutes)
    sys.exit(0 if report.verdict.clean else 1)


@contextmanager
def _folder(keep: Path | None) -> Iterator[Path]:
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
        yield keep
        return
    with tempfile.TemporaryDirectory(prefix="tickbird-faults-") as folder:
        yield Path(folder)


@contextmanager
def _store(kind: str, folder: Path) -> Iterator[tuple[str, Any]]:
    if kind == "sqlite":
        yield f"sqlite:///{folder}/tickbird.db", None
        return
    # SQLite does not need the driver.
    from lab.servers import PostgresServer

    with PostgresServer(fsync=True) as server:
        yield server.create_database(), server


@contextmanager
def _progress(seconds: float) -> Iterator[Any]:
    columns = (TextColumn("faults"), BarColumn(), TimeRemainingColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task("starting", total=seconds)

        def show_progress(seconds: float, event: str) -> None:
            progress.update(task, completed=seconds, description=event or None)

        yield show_progress


def _format_burst(report: BurstReport) -> str:
    before, after = (size >> 20 for size in report.memory)
    lines = [
        f"burst   {report.size} schedules due at once had run after {report.seconds:.0f} s",
        f"memory  {after} MiB at most per worker, {before} MiB before",
        f"ticks   {report.ticks} of another schedule, one per second; worst lateness {report.worst_lateness:.2f} s",
    ]
    return "\n".join([*lines, *(f"late    {line}" for line in report.late)])


def to_json(report: Report) -> dict[str, Any]:
    verdict = report.verdict
    return {
        "seed": report.seed,
        "store": report.store,
        "clean": verdict.clean,
        "ticks": {
            "expected": verdict.expected,
            "run": verdict.run,
            "skipped": dict(verdict.skipped),
            "doubled": verdict.doubled,
            "lost": verdict.lost,
        },
        "runs_repeated": verdict.repeated,
        "worst_lateness": round(report.lateness.worst, 3),
        "edits": report.edits,
        "refused": report.refused,
        "faults": dict(report.faults),
        "violations": [asdict(violation) for violation in verdict.violations],
        "log": report.log,
    }


def print_report(report: Report, minutes: float) -> None:
    """Print a summary, and the violations and faults if a promise was broken."""
    verdict = report.verdict
    skipped = ", ".join(f"{count} {reason}" for reason, count in verdict.skipped.most_common()) or "none"
    faults = ", ".join(f"{count} × {kind}" for kind, count in report.faults.most_common()) or "none"
    click.echo(
        f"ticks   {verdict.expected} expected: {verdict.run} run, {sum(verdict.skipped.values())} skipped ({skipped})"
    )
    click.echo(f"        {verdict.doubled} doubled, {verdict.lost} lost; worst lateness {report.lateness.worst:.2f} s")
    click.echo(f"runs    {verdict.repeated} executed again because their worker was lost")
    click.echo(f"edits   {report.edits} done, {report.refused} refused")
    click.echo(f"faults  {sum(report.faults.values())}: {faults}")
    if verdict.clean:
        click.echo(f"seed {report.seed}: every promise was kept")
        return
    for violation in verdict.violations[:50]:
        click.echo(f"{violation.promise}: {violation.text}")
    click.echo("faults:")
    for line in report.log:
        click.echo(line)
    command = f"./dev faults --minutes {minutes:g} --seed {report.seed} --store {report.store}"
    click.echo(f"seed {report.seed} breaks {len(verdict.violations)} promises; repeat it: {command}")


if __name__ == "__main__":
    main()
