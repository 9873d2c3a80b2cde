"""The wheel has the product and nothing that only tests Tickbird, and works without the checkout."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new wheel of the checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    [path] = folder.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def site(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files of the wheel, like one of site-packages."""
    folder = tmp_path_factory.mktemp("site")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def run_python(site: Path, folder: Path, *arguments: str) -> str:
    """The output of Python outside of the checkout, with the wheel."""
    # `-P` keeps the working directory off the path.
    command = [sys.executable, "-P", *arguments]
    variables = {**os.environ, "PYTHONPATH": str(site), "TICKBIRD_URL": f"sqlite:///{folder}/birds.db"}
    done = subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_only_the_product_is_in_the_wheel(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        paths = [Path(name) for name in archive.namelist()]
    assert {path.parts[0].partition("-")[0] for path in paths} == {"tickbird"}
    folders = {part for path in paths for part in path.parts[:-1]}
    assert not folders & {"lab", "simulation", "faults", "conformance", "examples", "bench", "tests"}
    testing = {path.name for path in paths if path.parts[:2] == ("tickbird", "testing")}
    assert testing == {"__init__.py", "clock.py", "harness.py", "plugin.py"}
    assert Path("tickbird/py.typed") in paths


@pytest.mark.timeout(300)
def test_a_proof_needs_only_the_wheel(site: Path, tmp_path: Path) -> None:
    program = (
        "import importlib.util, tickbird; print(tickbird.__file__);"
        "print([name for name in ('lab', 'conformance', 'tests') if importlib.util.find_spec(name)])"
    )
    assert run_python(site, tmp_path, "-c", program).splitlines() == [f"{site}/tickbird/__init__.py", "[]"]
    run_python(site, tmp_path, "-m", "tickbird", "migrate")
    options = ("--minutes", "0.05", "--processes", "2", "--seed", "1", "--json")
    report = json.loads(run_python(site, tmp_path, "-m", "tickbird", "doctor", "--prove", *options))
    assert report["ok"], report
    assert report["ticks"]["run"] > 20
