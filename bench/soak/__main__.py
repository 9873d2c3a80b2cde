"""`./dev soak --minutes 30 [--store sqlite]`: does anything grow while a fleet works under faults?

Workers execute schedules that tick every second, are triggered by hand, retry, log and run children; one of them is
killed, frozen and drained, the server is restarted; what has ended is pruned. Memory, descriptors, threads, connections
and sizes are looked at all the time. Ends with 1 if one of them grows, or if a tick is not accounted for.
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
@click.option("--minutes", type=click.FloatRange(0.1), default=10.0, show_default=True, help="How long.")
@click.option("--store", type=click.Choice(["postgresql", "sqlite"]), default="postgresql", show_default=True)
@click.option("--every", type=click.FloatRange(0.2), help="Seconds between looks; else a 200th of the time, 1 to 30.")
@click.option("--seed", type=int, default=1, show_default=True, help="Which faults come when.")
@click.option(
    "--leak", type=int, default=0, metavar="BYTES", help="Lose so much a second in the later part, to see it found."
)
@click.option("--out", type=click.Path(path_type=Path), default=RESULTS, help="Folder for the results.")
def main(minutes: float, store: str, every: float | None, seed: int, leak: int, out: Path) -> None:
    """Soak, tell, and leave picture, table and samples."""
    seconds = 60 * minutes
    facts = machine()
    with tempfile.TemporaryDirectory(prefix="tickbird-soak-") as temporary, _store(store, temporary) as (url, server):
        step = every or max(1.0, min(30.0, seconds / 200))
        soak = Soak(url, Path(temporary), seconds, server=server, every=step, seed=seed, leak=leak)
        with _progress(seconds) as soak.on_progress:
            soaked = asyncio.run(soak.run())
        logged = soak.fleet.logs()
    whole = {
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
        "verdicts": [asdict(each) for each in soaked.judged],
        "samples": [_rounded(each) for each in soaked.samples.series],
    }
    path = write(out, f"soak-{store}", whole, soaked)
    click.echo(path.read_text())
    click.echo(f"results are in {path}, and beside it as picture and JSON", err=True)
    sys.exit(1 if soaked.growing or soaked.broken else 0)


def _rounded(series: Series) -> dict[str, Any]:
    """With as many digits as tell something."""
    seconds, values = [round(at, 1) for at in series.seconds], [round(value, 3) for value in series.values]
    return {"kind": series.kind, "name": series.name, "seconds": seconds, "values": values}


def write(out: Path, name: str, whole: dict[str, Any], soaked: Soaked) -> Path:
    """Leave the results; the path of the Markdown."""
    out.mkdir(parents=True, exist_ok=True)
    title = f"{whole['runs']:,} runs on {whole['store']} under {len(soaked.faults)} faults"
    (out / f"{name}.svg").write_text(draw(soaked.samples.series, soaked.faults, title))
    (out / f"{name}.json").write_text(json.dumps(whole) + "\n")
    path = out / f"{name}.md"
    path.write_text(to_markdown(whole, soaked, title, f"{name}.svg"))
    return path


def to_markdown(whole: dict[str, Any], soaked: Soaked, title: str, picture: str) -> str:
    """The verdict for people."""
    facts = whole["machine"]
    if soaked.growing:
        verdict = f"**Growing: {', '.join(f'{each.kind} of {each.name}' for each in soaked.growing)}.**"
    elif not soaked.told:
        verdict = "Too short to tell whether anything grows."
    else:
        verdict = "Flat: nothing grows."
    accounts = "; ".join(soaked.broken) or "every tick of every schedule, as far as it was not pruned; every run ended"
    counts = ", ".join(f"{count} × {what}" for what, count in soaked.counts.most_common()) or "none"
    rows = [
        [
            each.kind,
            each.name,
            f"{figure(each.level)} {UNITS.get(each.kind, '')}".strip(),
            f"{each.growth:+.3g}",
            figure(each.allowed),
            each.word if each.word != "growing" else "**growing**",
        ]
        for each in soaked.judged
    ]
    limits = "; ".join(f"{kind} {share.share:.0%} or {share.amount:g}" for kind, share in THRESHOLDS.items())
    where = f"{facts['cores']} cores ({facts['processor']}), load {facts['load_before']} before"
    pruned = f"what ended {KEPT_SECONDS:.0f} s ago is pruned, except for the newest {KEPT_RUNS} of each schedule"
    how = (
        f"The slope is the median over all pairs of samples behind the first {WARM_UP:.0%} of the time (grey); growth "
        "is that slope times the time behind it. What counts as flat then is a share of the level or an amount: "
    )
    lines = [
        f"# `{whole['command']}`",
        "",
        f"{whole['date']}; {where}; Python {facts['python']}.",
        "",
        verdict,
        "",
        f"- {title}, in {soaked.seconds / 60:.1f} minutes; {pruned}.",
        f"- Faults: {counts}.",
        f"- Accounted for: {accounts}." if not soaked.broken else f"- **Broken: {accounts}.**",
        f"- Tracebacks in the workers' logs: {whole['tracebacks']}.",
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

        def tell(done: float, text: str) -> None:
            progress.update(task, completed=done, description=text or None)

        yield tell


if __name__ == "__main__":
    main()
