"""What was imported beside its originals, each by its own code, over two years."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from tickbird.files.document import read_bytes
from tickbird.importers.dst_differences import Horizon
from tickbird.importers.entries import Imported
from tickbird.importers.result import ImportResult, make, text_of

ROOT = Path(__file__).resolve().parents[2]
PYTHON = ROOT / ".venv-origins" / "bin" / "python"
# Two years, with clock changes of both hemispheres and of half an hour.
AFTER = int(datetime(2027, 1, 1, tzinfo=UTC).timestamp()) - 1
UNTIL = int(datetime(2029, 1, 1, tzinfo=UTC).timestamp()) - 1
HORIZON = Horizon(AFTER, UNTIL)


class Origins:
    """The originals, in an environment of their own."""

    def __init__(self, python: Path) -> None:
        self.python = python

    def ask(self, kind: str, **asked: Any) -> Any:
        """What they answer."""
        done = subprocess.run(
            [self.python, Path(__file__).with_name("origins.py"), kind],
            input=json.dumps({"after": AFTER, "until": UNTIL, **asked}),
            capture_output=True,
            text=True,
            check=False,
            timeout=100,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)


@pytest.fixture(scope="session")
def origins() -> Origins:
    """Left out where `./dev setup` has not made their environment; under CI that is a failure."""
    if not PYTHON.exists():
        if os.environ.get("CI", "") not in ("", "0", "false"):
            pytest.fail("there is no .venv-origins; `./dev setup` makes it")
        pytest.skip("there is no .venv-origins; `./dev setup` makes it")
    return Origins(PYTHON)


def made_of(imported: Imported) -> ImportResult:
    """The document, which its text in every spelling reads back as."""
    made = make(imported, "moved", HORIZON)
    for spelling in ("toml", "yaml", "json"):
        again = read_bytes(text_of(made, spelling).encode(), f"moved.{spelling}", spelling)
        assert again.schedules == made.document.schedules
    return made


def ticks(made: ImportResult, name: str) -> set[int]:
    """When a schedule runs within the two years."""
    grid, found = made.document.schedules[name].grid, set()
    tick = grid.next(AFTER)
    while tick is not None and tick <= UNTIL:
        if not grid.excludes(tick):
            found.add(tick)
        tick = grid.next(tick)
    return found


def check(made: ImportResult, fires: Mapping[str, Sequence[int]]) -> None:
    """The same instants as the originals have, but on the days that the import names, and on each of those others."""
    assert fires
    for name, theirs in fires.items():
        ours = ticks(made, name)
        assert len(ours) > 0
        zone = ZoneInfo(made.document.schedules[name].trigger.tz)
        apart = {datetime.fromtimestamp(at, zone).date() for at in ours ^ set(theirs)}
        assert apart == {each.day for each in made.differences.get(name, ())}, name
