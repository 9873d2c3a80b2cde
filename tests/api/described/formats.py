"""Texts of the formats that the description names, and names of things that exist; schemathesis loads it as hooks."""

from __future__ import annotations

from typing import Any
from zoneinfo import available_timezones

import schemathesis
from hypothesis import strategies as st

from tests.api.described.server import RUNS, SCHEDULES

_CRONS = ("0 9 * * 1-5", "*/15 * * * *", "@daily", "0 0 L * *", "30 2 29 2 *", "0 0 * * 5#3", "15 30 4 1,15 JAN-MAR ?")
_LENGTHS = ("0s", "1s", "90s", "10m", "1h30m", "2d")

schemathesis.openapi.format("cron", st.sampled_from(_CRONS))
schemathesis.openapi.format("time-zone", st.sampled_from(sorted(available_timezones())))
schemathesis.openapi.format("length-of-time", st.sampled_from(_LENGTHS))


@schemathesis.hook
def map_path_parameters(context: Any, path_parameters: dict[str, Any]) -> dict[str, Any]:
    """Every other request is about something that exists."""
    found = dict(path_parameters or {})
    for name, known in (("name", SCHEDULES), ("id", RUNS), ("run_id", RUNS)):
        if name in found and len(str(found[name])) % 2:
            found[name] = known[len(str(found[name])) % len(known)]
    return found or path_parameters
