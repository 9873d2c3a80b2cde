"""Importing an app's code is fast: modules for connecting and working are not loaded."""

from __future__ import annotations

import subprocess
import sys

HEAVY = {
    "asyncio",
    "pydantic",
    "psycopg",
    "sqlite3",
    "jsonschema",
    "tickbird.client",
    "tickbird.domain.planning.planner",
}
CODE = """
import sys
from tickbird import Tickbird, cron
Tickbird()
cron("0 9 * * *", tz="Europe/Paris")
print(*sys.modules)
"""


def test_a_bird_and_a_trigger_load_nothing_heavy() -> None:
    loaded = subprocess.run([sys.executable, "-c", CODE], check=True, capture_output=True, text=True).stdout.split()
    assert "tickbird.app" in loaded
    assert HEAVY.isdisjoint(loaded)
