"""Every benchmark runs on tiny sizes and leaves results that can be read; none of them asserts a time."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bench.__main__ import NAMES
from bench.common import Report, Samples, figure, percentile, to_markdown

ROOT = Path(__file__).parents[2]


@pytest.mark.usefixtures("postgres_server")  # left out where there is no server at all
@pytest.mark.parametrize("name", NAMES)
def test_a_quick_run_leaves_results(name: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "bench", name, "--quick", "--out", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=250)
    assert done.returncode == 0, done.stderr
    results = json.loads((tmp_path / f"{name}.json").read_text())
    assert results["name"] == name
    assert results["quick"]
    assert results["machine"]["cores"] >= 1
    assert results["command"].startswith(f"./dev bench {name} --quick")
    assert results["samples"]
    assert all(values for values in results["samples"].values())
    assert all(len(row) == len(table["columns"]) for table in results["tables"] for row in table["rows"])
    assert (tmp_path / f"{name}.md").read_text() in done.stdout


def test_a_ratio_pairs_measurements_of_the_same_round() -> None:
    samples = Samples()
    for ours, theirs in ((1, 2), (100, 200), (8, 10)):
        samples.add("ours", ours)
        samples.add("theirs", theirs)
    assert samples.ratio("ours", "theirs") == 0.5


def test_percentiles_and_figures() -> None:
    assert percentile(range(1, 101), 0.99) == 99
    assert percentile([7], 0.5) == 7
    assert [figure(value) for value in (12345.6, 12.34, 0.0123, 0)] == ["12,346", "12.3", "0.0123", "0"]


def test_bars_say_whether_they_are_met() -> None:
    report = Report("plan")
    report.hold("a", "≥ 1 ×", 2.0, True)
    report.hold("b", "≥ 1 ×", 0.5, False)
    report.hold("c", "≥ 1 ×", None, None)
    facts = {"cores": 2, "processor": "x", "load_before": 0, "system": "y", "python": "3", "packages": {}}
    text = to_markdown(report, {"machine": facts, "command": "c", "date": "d", "quick": False})
    assert "| a | ≥ 1 × | 2.00 × | yes |" in text
    assert "| b | ≥ 1 × | 0.500 × | **no** |" in text
    assert "| c | ≥ 1 × | not measured | – |" in text
