"""What all benchmarks share: sizes, the machine's facts, interleaving, and results as JSON and as Markdown."""

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
# Durability is on, as a team would run it; checkpoints of a small log would only add noise.
SERVER_SETTINGS: Final = {
    "shared_buffers": "512MB",
    "max_wal_size": "8GB",
    "checkpoint_timeout": "30min",
    "max_connections": "250",
}


@dataclass(frozen=True, slots=True)
class Options:
    """How large a benchmark is; `quick` proves in seconds that it works and says nothing about speed."""

    quick: bool = False
    out: Path = RESULTS
    command: str = "./dev bench"
    # Other sizes than a benchmark's own.
    schedules: int | None = None
    runs: int | None = None

    def size(self, full: int, quick: int) -> int:
        """A number of rows, rounds or seconds."""
        return quick if self.quick else full


@dataclass(frozen=True, slots=True)
class Bar:
    """A promise of speed, and what was measured; None: it could not be measured here."""

    work: str
    bar: str
    measured: str
    met: bool | None


@dataclass(frozen=True, slots=True)
class Table:
    """Figures for people."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    note: str = ""


@dataclass(slots=True)
class Report:
    """Everything one benchmark found."""

    name: str
    tables: list[Table] = field(default_factory=list)
    bars: list[Bar] = field(default_factory=list)
    # Every single measurement, so that others may judge the spread for themselves.
    samples: dict[str, list[float]] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)

    def hold(self, work: str, bar: str, measured: float | None, met: bool | None, unit: str = "×") -> None:
        """Add a bar with the figure it was measured by."""
        self.bars.append(Bar(work, bar, "not measured" if measured is None else f"{figure(measured)} {unit}", met))


class Samples:
    """Measurements by variant, taken in turns: A B C A B C …, so that the machine's moods hit all alike."""

    def __init__(self) -> None:
        self.taken: dict[str, list[float]] = {}

    def add(self, name: str, value: float) -> None:
        """Another measurement of a variant."""
        self.taken.setdefault(name, []).append(value)

    def median(self, name: str) -> float:
        """The middle of a variant's measurements."""
        return statistics.median(self.taken[name])

    def ratio(self, name: str, other: str) -> float:
        """The median over rounds of one variant as a share of another, each pair from the same round."""
        pairs = zip(self.taken[name], self.taken[other], strict=True)
        return statistics.median(mine / theirs for mine, theirs in pairs)

    def spread(self, name: str) -> str:
        """The least and the most."""
        return f"{figure(min(self.taken[name]))} – {figure(max(self.taken[name]))}"


async def interleave(rounds: int, variants: Mapping[str, Callable[[], Awaitable[float]]]) -> Samples:
    """Measure each variant once in every round."""
    samples = Samples()
    for number in range(rounds):
        # Begin elsewhere each time, so that nobody always comes after the same neighbour.
        names = list(variants)
        start = number % len(names)
        for name in names[start:] + names[:start]:
            samples.add(name, await variants[name]())
    return samples


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that so many are not above."""
    ordered = sorted(values)
    if not ordered:
        return math.nan
    return ordered[max(0, min(len(ordered) - 1, math.ceil(share * len(ordered)) - 1))]


def figure(value: float) -> str:
    """A number with three digits that count."""
    if value == 0 or not math.isfinite(value):
        return str(value)
    if abs(value) >= 100:
        return f"{value:,.0f}"
    digits = max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{value:.{digits}f}"


def machine() -> dict[str, Any]:
    """What a reader must know of where this was measured."""
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
    """The command that gives these results again, wherever they were written to."""
    chosen = [f"--{name}={size}" for name, size in sizes.items()]
    return shlex.join(["./dev", "bench", *names, *(["--quick"] if quick else []), *chosen])


def say(text: str) -> None:
    """Tell what goes on."""
    print(f"bench: {text}", file=sys.stderr, flush=True)


@contextmanager
def step(name: str) -> Any:
    """Tell how long a part took."""
    began = time.monotonic()
    yield
    say(f"{name} ({time.monotonic() - began:.1f} s)")


def write_report(report: Report, options: Options, facts: dict[str, Any]) -> Path:
    """Leave the results as JSON and Markdown; the path of the Markdown."""
    options.out.mkdir(parents=True, exist_ok=True)
    whole = {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": options.command,
        "quick": options.quick,
        "machine": facts,
        **asdict(report),
    }
    (options.out / f"{report.name}.json").write_text(json.dumps(whole, indent=1, default=str) + "\n")
    path = options.out / f"{report.name}.md"
    path.write_text(to_markdown(report, whole))
    return path


def to_markdown(report: Report, whole: dict[str, Any]) -> str:
    """The report for people."""
    facts = whole["machine"]
    packages = ", ".join(f"{name} {number}" for name, number in facts["packages"].items() if number)
    lines = [
        f"# `{whole['command']}`",
        "",
        f"{whole['date']}; {facts['cores']} cores ({facts['processor']}), load {facts['load_before']} before;",
        f"{facts['system']}; Python {facts['python']}; {packages}.",
    ]
    if whole["quick"]:
        lines += ["", "**Quick: sizes are tiny, these figures say nothing about speed.**"]
    if report.facts:
        lines += ["", *(f"- {name}: {value}" for name, value in report.facts.items())]
    if report.bars:
        words = {True: "yes", False: "**no**", None: "–"}
        rows = [(bar.work, bar.bar, bar.measured, words[bar.met]) for bar in report.bars]
        lines += ["", "## Bars", "", *grid(("work", "bar", "measured", "met?"), rows)]
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
