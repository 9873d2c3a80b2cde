"""`python -m tickbird.testing.faults`: a fleet of real processes under seeded faults, for as long as one likes."""

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

from tickbird.testing.faults.mountain import Climb, climb
from tickbird.testing.faults.storm import Report, Storm


@click.command(help=__doc__)
@click.option("--minutes", type=click.FloatRange(0.1), default=1.0, show_default=True, help="How long faults come.")
@click.option("--seed", type=int, help="Which faults; told at the end, so that they can come again.")
@click.option("--store", type=click.Choice(["postgresql", "sqlite"]), default="postgresql", show_default=True)
@click.option("--json", "as_json", is_flag=True, help="The verdict for programs.")
@click.option("--mountain", type=click.IntRange(1), help="Instead: so many schedules due at once, beside one other.")
@click.option("--keep", type=click.Path(path_type=Path), help="A folder for ledgers and logs, left there.")
def main(minutes: float, seed: int | None, store: str, as_json: bool, mountain: int | None, keep: Path | None) -> None:
    """Play, tell, and end with 1 if a promise was broken."""
    if mountain is not None:
        with _folder(keep) as folder, _store(store, folder) as (url, _):
            climbed = asyncio.run(climb(url, folder, mountain))
        click.echo(json.dumps(asdict(climbed), indent=2) if as_json else _in_words(climbed))
        sys.exit(1 if climbed.late else 0)
    seed = random.randrange(1_000_000) if seed is None else seed
    with _folder(keep) as folder, _store(store, folder) as (url, server), _progress(60 * minutes) as tell:
        storm = Storm(url, folder, seed, 60 * minutes, server=server)
        storm.on_progress = tell
        report = asyncio.run(storm.run())
    if as_json:
        click.echo(json.dumps(as_data(report), indent=2))
    else:
        tell_people(report, minutes)
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
    # The driver is only needed here.
    from tickbird.testing.servers import PostgresServer

    with PostgresServer(fsync=True) as server:
        yield server.create_database(), server


@contextmanager
def _progress(seconds: float) -> Iterator[Any]:
    columns = (TextColumn("faults"), BarColumn(), TimeRemainingColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task("starting", total=seconds)

        def tell(done: float, text: str) -> None:
            progress.update(task, completed=done, description=text or None)

        yield tell


def _in_words(climbed: Climb) -> str:
    before, after = (each >> 20 for each in climbed.memory)
    lines = [
        f"{climbed.size} due at once had run after {climbed.seconds:.0f} s",
        f"a worker took at most {after} MiB, and {before} before",
        f"of {climbed.ticks} ticks beside them, one a second, the latest started after {climbed.worst_lateness:.2f} s",
    ]
    return "\n".join([*lines, *(f"late: {each}" for each in climbed.late)])


def as_data(report: Report) -> dict[str, Any]:
    """The report as JSON."""
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
        "worst_lateness": round(verdict.worst_lateness, 3),
        "edits": report.edits,
        "refused": report.refused,
        "faults": dict(report.faults),
        "violations": [asdict(violation) for violation in verdict.violations],
        "log": report.log,
    }


def tell_people(report: Report, minutes: float) -> None:
    """The report in a few lines, and all of it when a promise was broken."""
    verdict = report.verdict
    skipped = ", ".join(f"{count} {reason}" for reason, count in verdict.skipped.most_common()) or "none"
    faults = ", ".join(f"{count} × {kind}" for kind, count in report.faults.most_common()) or "none"
    click.echo(
        f"ticks   {verdict.expected} expected: {verdict.run} run, {sum(verdict.skipped.values())} skipped ({skipped})"
    )
    click.echo(f"        {verdict.doubled} doubled, {verdict.lost} lost; worst lateness {verdict.worst_lateness:.2f} s")
    click.echo(f"runs    {verdict.repeated} executed again because their worker was lost")
    click.echo(f"edits   {report.edits} done, {report.refused} refused")
    click.echo(f"faults  {sum(report.faults.values())}: {faults}")
    if verdict.clean:
        click.echo(f"seed {report.seed}: every promise was kept")
        return
    for violation in verdict.violations[:50]:
        click.echo(f"{violation.promise}: {violation.text}")
    click.echo("what was done to it:")
    for line in report.log:
        click.echo(line)
    again = f"./dev faults --minutes {minutes:g} --seed {report.seed} --store {report.store}"
    click.echo(f"seed {report.seed} breaks {len(verdict.violations)} promises; play it again: {again}")


if __name__ == "__main__":
    main()
