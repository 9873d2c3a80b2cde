"""The soak runs, judges and draws; and its verdict can fail."""

from __future__ import annotations

import json
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest

from bench.soak.drawing import draw
from bench.soak.series import Series, judge, slope

ROOT = Path(__file__).parents[2]


def series(values: list[float], kind: str = "memory", apart: float = 5.0) -> Series:
    """Samples of one thing, so many seconds apart."""
    return Series(kind, "worker 1", [apart * number for number in range(len(values))], values)


def word(values: list[float], kind: str = "memory", apart: float = 5.0) -> str:
    return judge(series(values, kind, apart), apart * (len(values) - 1)).word


def test_a_level_is_flat_however_it_wobbles() -> None:
    assert word([100.0 + number % 3 for number in range(200)]) == "flat"
    # One fault after the other, each with its peak, and a slow start.
    assert word([300.0 if number % 17 == 0 else min(100.0, 2.0 * number) for number in range(200)]) == "flat"
    assert word([500.0 - number for number in range(200)]) == "flat"


def test_what_grows_is_found() -> None:
    assert word([100.0 + 0.2 * number for number in range(200)]) == "growing"
    assert word([100.0 + 0.2 * number + 50 * (number % 19 == 0) for number in range(200)]) == "growing"
    # A leak that comes only in the later part.
    assert word([100.0 + max(0.0, number - 100.0) * 0.3 for number in range(200)]) == "growing"
    assert word([20.0 + number // 20 for number in range(200)], "descriptors") == "growing"
    assert word([20.0 + number // 20 for number in range(200)], "table size") == "growing"


def test_a_short_time_tells_only_what_is_plain() -> None:
    assert word([100.0] * 5) == "too short"
    assert word([100.0 + number for number in range(30)], apart=0.5) == "too short"
    assert word([100.0 + 10 * number for number in range(30)], apart=0.5) == "growing"


def test_a_slope_is_not_moved_by_a_few() -> None:
    assert slope([0, 1, 2, 3, 4, 5, 6], [0, 2, 4, 600, 8, 10, 12]) == 2


def test_a_picture_is_well_formed_and_shows_everything() -> None:
    found = [series([1.0, 2.0, 3.0]), series([5.0], "descriptors"), series([0.0, 0.0, 0.0], "dead rows")]
    found[1].name = "<worker & 2>"
    root = ElementTree.fromstring(draw(found, [(1.0, "worker killed")], "a & b"))
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    for text in ("a & b", "memory, MB", "descriptors", "dead rows", "worker 1", "<worker & 2>"):
        assert text in texts
    assert len(list(root.iter("{http://www.w3.org/2000/svg}polyline"))) == 3
    assert "prefers-color-scheme" in draw(found, [], "")


def soak(out: Path, *options: str) -> tuple[int, dict[str, Any]]:
    """The exit code and the results of a soak of seconds."""
    store = "sqlite" if "sqlite" in options else "postgresql"
    command = [sys.executable, "-m", "bench.soak", "--every", "0.5", "--out", str(out), *options]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=250)
    assert (out / f"soak-{store}.json").exists(), done.stderr
    results: dict[str, Any] = json.loads((out / f"soak-{store}.json").read_text())
    assert (out / f"soak-{store}.md").read_text() in done.stdout
    ElementTree.parse(out / f"soak-{store}.svg")
    return done.returncode, results


@pytest.mark.usefixtures("postgres_server")  # left out where there is no server at all
def test_a_soak_of_seconds(tmp_path: Path) -> None:
    _, results = soak(tmp_path, "--minutes", "0.15")
    assert results["broken"] == []
    assert results["runs"] > 10
    assert results["faults"]
    kinds = {each["kind"] for each in results["samples"]}
    assert {"memory", "descriptors", "threads", "connections", "table size", "index size", "dead rows"} <= kinds
    # The first child of a worker may come at any moment of it.
    told = {each["word"] for each in results["verdicts"] if "children" not in each["name"]}
    assert told == {"too short"}


def test_a_leak_is_found(tmp_path: Path) -> None:
    code, results = soak(tmp_path, "--minutes", "0.15", "--store", "sqlite", "--leak", "40000000")
    assert code == 1
    growing = {(each["kind"], each["name"]) for each in results["verdicts"] if each["word"] == "growing"}
    assert {("memory", "worker 1"), ("memory", "worker 2")} <= growing
