"""The API does what its description says, asked by schemathesis with all its checks."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent / "described"


@pytest.mark.timeout(900)
@pytest.mark.parametrize("phases", ["examples,coverage", "fuzzing,stateful"])
def test_every_route_does_what_its_description_says(tmp_path: Path, phases: str) -> None:
    asked = subprocess.Popen(
        [sys.executable, "-m", "tests.api.described.server", f"sqlite:///{tmp_path}/t.db"],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert asked.stdout is not None
        port, token = asked.stdout.readline().split()
        done = subprocess.run(
            [
                *(sys.executable, "-m", "schemathesis.cli", "--config-file", str(HERE / "schemathesis.toml")),
                *("run", f"http://127.0.0.1:{port}/api/v1/openapi.json", "--checks", "all"),
                *("--header", f"Authorization: Bearer {token}", "--generation-database", "none"),
                *("--max-examples", os.environ.get("TICKBIRD_SCHEMA_EXAMPLES", "5"), "--seed", "1", "--no-color"),
                *("--phases", phases),
            ],
            cwd=tmp_path,
            env={
                **os.environ,
                "SCHEMATHESIS_HOOKS": "tests.api.described.formats",
                "PYTHONPATH": os.pathsep.join(sys.path),
            },
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout[-20_000:] + done.stderr[-2_000:]
    finally:
        asked.terminate()
        asked.communicate(timeout=60)
