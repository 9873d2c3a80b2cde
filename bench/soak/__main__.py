"""`./dev soak --minutes 30 [--store sqlite]`: does anything grow while a fleet works under faults?

Workers execute schedules that tick every second, manual runs, retries, logs and child processes. One of them is killed,
frozen and drained, the server is restarted, and ended runs are pruned. Memory, descriptors, threads, connections and
sizes are sampled all the time. The exit code is 1 if one of them grows, or if a tick is not accounted for.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from bench.common import RESULTS, figure, grid, machine
from bench.soak.drawing import draw
from bench.soak.run import KEPT_RUNS, KEPT_SECONDS, Soak, Soaked
from bench.soak.series import THRESHOLDS, UNITS, WARM_UP, Series
from lab.servers import PostgresServer


@click.command(help=__doc__)
@click.option("--minutes", type=click.FloatRange(0.1), default=10.0, show_default=True, help="Duration of the soak.")
@click.option("--store", type=click.Choice(["postgresql", "sqlite"]), default="postgresql", show_default=True)
@click.option(
    "--every", type=click.FloatRange(0.2), help="Seconds between samples (default: a 200th of the duration, 1 to 30)."
)
@click.option("--seed", type=int, default=1, show_default=True, help="Seed of the faults.")
@click.option(
    "--leak",
    type=int,
    default=0,
    metavar="BYTES",
    help="Leak this many bytes per second after the warm-up, to test the detection.",
)
@click.option("--out", type=click.Path(path_type=Path), default=RESULTS, help="Folder for the results.")
def main(minutes: float, store: str, every: float | None, seed: int, leak: int, out: Path) -> None:
    """Run the soak, and write picture, table and samples."""
    seconds = 60 * minutes
    facts = machine()
    with tempfile.TemporaryDirectory(prefix="tickbird-soak-") as temporary, _store(store, temporary) as (url, server):
        step = every or max(1.0, min(30.0, seconds / 200))
        soak = Soak(url, Path(temporary), seconds, server=server, every=step, seed=seed, leak=leak)
        with _progress(seconds) as soak.on_progress:
            soaked = asyncio.run(soak.run())
        logged = soak.fleet.logs()
    document = {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": f"./dev soak --minutes {minutes:g} --store {store}" + (f" --leak {leak}" if leak else ""),
        "machine": facts,
        "store": store,
        "seconds": round(soaked.seconds, 1),
        "runs": soaked.executed,
        "faults": [[round(at, 1), what] for at, what in soaked.faults],
        "broken": soaked.broken,
        "tracebacks": logged.count("Traceback"),
        "log": logged.splitlines()[-300:] if soaked.broken or "Traceback" in logged else [],
        "verdicts": [asdict(verdict) for verdict in soaked.judged],
        "samples": [_rounded(series) for series in soaked.samples.series],
    }
    path = write(out, f"soak-{store}", document, soaked)
    click.echo(path.read_text())
    click.echo(f"results are in {path}, and as picture and JSON next to it", err=True)
    sys.exit(1 if soaked.growing or soaked.broken else 0)


def _rounded(series: Series) -> dict[str, Any]:
    """With a reasonable number of digits."""
    seconds, values = [round(at, 1) for at in series.seconds], [round(value, 3) for value in series.values]
    return {"kind": series.kind, "name": series.name, "seconds": seconds, "values": values}


def write(out: Path, name: str, document: dict[str, Any], soaked: Soaked) -> Path:
    """Write the results; returns the path of the Markdown."""
    out.mkdir(parents=True, exist_ok=True)
    title = f"{document['runs']:,} runs on {document['store']} under {len(soaked.faults)} faults"
    (out / f"{name}.svg").write_text(draw(soaked.samples.series, soaked.faults, title))
    (out / f"{name}.json").write_text(json.dumps(document) + "\n")
    path = out / f"{name}.md"
    path.write_text(to_markdown(document, soaked, title, f"{name}.svg"))
    return path


def to_markdown(document: dict[str, Any], soaked: Soaked, title: str, picture: str) -> str:
    """The verdict as Markdown."""
    facts = document["machine"]
    if soaked.growing:
        verdict = f"**Growing: {', '.join(f'{series.kind} of {series.name}' for series in soaked.growing)}.**"
    elif not soaked.conclusive:
        verdict = "Too short to decide whether anything grows."
    else:
        verdict = "Flat: nothing grows."
    accounts = "; ".join(soaked.broken) or "every tick of every schedule that was not pruned; every run is final"
    counts = ", ".join(f"{count} × {what}" for what, count in soaked.counts.most_common()) or "none"
    rows = [
        [
            verdict_row.kind,
            verdict_row.name,
            f"{figure(verdict_row.level)} {UNITS.get(verdict_row.kind, '')}".strip(),
            f"{verdict_row.growth:+.3g}",
            figure(verdict_row.allowed),
            verdict_row.word if verdict_row.word != "growing" else "**growing**",
        ]
        for verdict_row in soaked.judged
    ]
    limits = "; ".join(f"{kind} {share.share:.0%} or {share.amount:g}" for kind, share in THRESHOLDS.items())
    machine_text = f"{facts['cores']} cores ({facts['processor']}), load {facts['load_before']} before"
    pruned = f"runs that ended {KEPT_SECONDS:.0f} s ago are pruned, except the newest {KEPT_RUNS} of each schedule"
    how = (
        f"The slope is the median over all pairs of samples after the first {WARM_UP:.0%} of the time (grey); growth "
        "is that slope times the remaining time. Flat means at most a share of the level or an amount: "
    )
    lines = [
        f"# `{document['command']}`",
        "",
        f"{document['date']}; {machine_text}; Python {facts['python']}.",
        "",
        verdict,
        "",
        f"- {title}, in {soaked.seconds / 60:.1f} minutes; {pruned}.",
        f"- Faults: {counts}.",
        f"- Accounted for: {accounts}." if not soaked.broken else f"- **Broken: {accounts}.**",
        f"- Tracebacks in the workers' logs: {document['tracebacks']}.",
        "",
        f"![{title}]({picture})",
        "",
        f"{how}{limits}.",
        "",
        *grid(("what", "of", "level", "growth", "allowed", "verdict"), rows),
    ]
    return "\n".join(lines) + "\n"


@contextmanager
def _store(kind: str, folder: str) -> Iterator[tuple[str, PostgresServer | None]]:
    if kind == "sqlite":
        yield f"sqlite:///{folder}/tickbird.db", None
        return
    with PostgresServer(fsync=True) as server:
        yield server.create_database(), server


@contextmanager
def _progress(seconds: float) -> Iterator[Any]:
    columns = (TextColumn("soak"), BarColumn(), TimeRemainingColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task("starting", total=seconds)

        def show(done: float, text: str) -> None:
            progress.update(task, completed=done, description=text or None)

        yield show


if __name__ == "__main__":
    main()
