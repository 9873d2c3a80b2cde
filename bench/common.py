"""Shared code of the benchmarks: sizes, facts about the machine, interleaving, and results as JSON and Markdown."""

from __future__ import annotations

import json
import math
import os
import platform
import shlex
import statistics
import sys
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

RESULTS: Final = Path(__file__).parent / "results"
PEERS: Final = ("pgqueuer", "procrastinate", "cronsim", "croniter")
# Durability is on, as in production; frequent checkpoints would only add noise.
SERVER_SETTINGS: Final = {
    "shared_buffers": "512MB",
    "max_wal_size": "8GB",
    "checkpoint_timeout": "30min",
    "max_connections": "250",
}


@dataclass(frozen=True, slots=True)
class Options:
    """The size of a benchmark; `quick` checks in seconds that it works and measures no speed."""

    quick: bool = False
    out: Path = RESULTS
    command: str = "./dev bench"
    # Overrides of a benchmark's sizes.
    schedules: int | None = None
    runs: int | None = None

    def size(self, full: int, quick: int) -> int:
        """A number of rows, rounds or seconds."""
        return quick if self.quick else full


@dataclass(frozen=True, slots=True)
class Bar:
    """A target and its measured value; None: it could not be measured here."""

    work: str
    bar: str
    measured: str
    met: bool | None


@dataclass(frozen=True, slots=True)
class Table:
    """A table of the report."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    note: str = ""


@dataclass(slots=True)
class Report:
    """The results of one benchmark."""

    name: str
    tables: list[Table] = field(default_factory=list)
    bars: list[Bar] = field(default_factory=list)
    # Every single measurement, so that readers can judge the spread.
    samples: dict[str, list[float]] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)

    def hold(self, work: str, bar: str, measured: float | None, met: bool | None, unit: str = "×") -> None:
        """Add a target with its measured value."""
        self.bars.append(Bar(work, bar, "not measured" if measured is None else f"{figure(measured)} {unit}", met))


class Samples:
    """Measurements by variant, interleaved (A B C A B C …), so that the machine's load affects all variants."""

    def __init__(self) -> None:
        self.values: dict[str, list[float]] = {}

    def add(self, name: str, value: float) -> None:
        self.values.setdefault(name, []).append(value)

    def median(self, name: str) -> float:
        return statistics.median(self.values[name])

    def ratio(self, name: str, other: str) -> float:
        """The median over rounds of the ratio of two variants, each pair from the same round."""
        pairs = zip(self.values[name], self.values[other], strict=True)
        return statistics.median(mine / theirs for mine, theirs in pairs)

    def spread(self, name: str) -> str:
        """The minimum and the maximum."""
        return f"{figure(min(self.values[name]))} – {figure(max(self.values[name]))}"


async def interleave(rounds: int, variants: Mapping[str, Callable[[], Awaitable[float]]]) -> Samples:
    """Measure each variant once in every round."""
    samples = Samples()
    for number in range(rounds):
        # Rotate the order, so that no variant always follows the same one.
        names = list(variants)
        start = number % len(names)
        for name in names[start:] + names[:start]:
            samples.add(name, await variants[name]())
    return samples


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that is not exceeded by this share of the values."""
    ordered = sorted(values)
    if not ordered:
        return math.nan
    return ordered[max(0, min(len(ordered) - 1, math.ceil(share * len(ordered)) - 1))]


def figure(value: float) -> str:
    """A number with three significant digits."""
    if value == 0 or not math.isfinite(value):
        return str(value)
    if abs(value) >= 100:
        return f"{value:,.0f}"
    digits = max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{value:.{digits}f}"


def machine() -> dict[str, Any]:
    """Facts about the machine that readers need."""
    return {
        "python": platform.python_version(),
        "system": platform.platform(),
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)),
        "load_before": round(os.getloadavg()[0], 2),
        "packages": {name: _version(name) for name in ("tickbird", "psycopg", *PEERS)},
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown")


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def command_line(names: Sequence[str], quick: bool, sizes: Mapping[str, int]) -> str:
    """The command that reproduces these results, wherever they were written to."""
    chosen = [f"--{name}={size}" for name, size in sizes.items()]
    return shlex.join(["./dev", "bench", *names, *(["--quick"] if quick else []), *chosen])


def say(text: str) -> None:
    """Print progress."""
    print(f"bench: {text}", file=sys.stderr, flush=True)


@contextmanager
def step(name: str) -> Any:
    """Print the duration of a step."""
    began = time.monotonic()
    yield
    say(f"{name} ({time.monotonic() - began:.1f} s)")


def write_report(report: Report, options: Options, facts: dict[str, Any]) -> Path:
    """Write the results as JSON and Markdown; returns the path of the Markdown."""
    options.out.mkdir(parents=True, exist_ok=True)
    document = {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": options.command,
        "quick": options.quick,
        "machine": facts,
        **asdict(report),
    }
    (options.out / f"{report.name}.json").write_text(json.dumps(document, indent=1, default=str) + "\n")
    path = options.out / f"{report.name}.md"
    path.write_text(to_markdown(report, document))
    return path


def to_markdown(report: Report, document: dict[str, Any]) -> str:
    """The report as Markdown."""
    facts = document["machine"]
    packages = ", ".join(f"{name} {number}" for name, number in facts["packages"].items() if number)
    lines = [
        f"# `{document['command']}`",
        "",
        f"{document['date']}; {facts['cores']} cores ({facts['processor']}), load {facts['load_before']} before;",
        f"{facts['system']}; Python {facts['python']}; {packages}.",
    ]
    if document["quick"]:
        lines += ["", "**Quick: the sizes are tiny, so these numbers do not measure speed.**"]
    if report.facts:
        lines += ["", *(f"- {name}: {value}" for name, value in report.facts.items())]
    if report.bars:
        words = {True: "yes", False: "**no**", None: "–"}
        rows = [(bar.work, bar.bar, bar.measured, words[bar.met]) for bar in report.bars]
        lines += ["", "## Targets", "", *grid(("work", "target", "measured", "met?"), rows)]
    for table in report.tables:
        lines += ["", f"## {table.title}", ""]
        if table.note:
            lines += [table.note, ""]
        lines += grid(table.columns, table.rows)
    return "\n".join(lines) + "\n"


def grid(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[str]:
    """A table in Markdown."""

    def line(cells: Sequence[Any]) -> str:
        return "| " + " | ".join(figure(cell) if isinstance(cell, float) else str(cell) for cell in cells) + " |"

    return [line(columns), "|" + "---|" * len(columns), *map(line, rows)]
