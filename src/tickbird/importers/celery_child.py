"""Child process that executes a Celery settings file and prints its beat schedule as one JSON document.

It runs in an interpreter that has Celery, but may not have Tickbird. Its argument is the file.
"""

from __future__ import annotations

import json
import runpy
import sys
from typing import Any

SCHEDULES = ("beat_schedule", "CELERY_BEAT_SCHEDULE", "CELERYBEAT_SCHEDULE")
ZONES = ("timezone", "CELERY_TIMEZONE")
CRONTAB = ("minute", "hour", "day_of_week", "day_of_month", "month_of_year")


def entry_document(name: str, entry: Any) -> dict[str, Any]:
    schedule = entry["schedule"]
    document: dict[str, Any] = {
        "name": name,
        "task": entry.get("task"),
        "args": plain(list(entry.get("args") or ())),
        "kwargs": plain(dict(entry.get("kwargs") or {})),
        "options": plain(dict(entry.get("options") or {})),
        "relative": bool(entry.get("relative") or getattr(schedule, "relative", False)),
        "kind": type(schedule).__name__,
        "nowfun": getattr(schedule, "nowfun", None) is not None,
    }
    if hasattr(schedule, "_orig_minute"):
        document["kind"] = "crontab"
        document["crontab"] = [_listed(getattr(schedule, f"_orig_{field}")) for field in CRONTAB]
    elif hasattr(schedule, "run_every"):
        document["seconds"] = schedule.run_every.total_seconds()
    elif hasattr(schedule, "total_seconds"):
        document["seconds"] = schedule.total_seconds()
    elif isinstance(schedule, (int, float)):
        document["seconds"] = float(schedule)
    return document


def _listed(value: Any) -> Any:
    return value if isinstance(value, (int, str)) else sorted(value)


def plain(value: Any) -> Any:
    """Return {"value": …}, or {"shown": repr} if JSON cannot represent the value."""
    try:
        return {"value": json.loads(json.dumps(value, allow_nan=False))}
    except (TypeError, ValueError, RecursionError):
        return {"shown": repr(value)[:200]}


def main() -> None:
    """Execute the file and print its schedule. The output of the file itself goes to stderr."""
    output, sys.stdout = sys.stdout, sys.stderr
    names = runpy.run_path(sys.argv[1], run_name="settings")
    entries: dict[str, Any] = {}
    zone, local = None, False
    for value in list(names.values()):
        if not isinstance(value, type) and hasattr(value, "finalize") and hasattr(value, "conf"):
            value.finalize()
            entries.update(value.conf.beat_schedule or {})
            zone, local = zone or value.conf.timezone, local or not value.conf.enable_utc
    for name in SCHEDULES:
        entries.update(names.get(name) or {})
    local = local or any(names.get(name) is False for name in ("enable_utc", "CELERY_ENABLE_UTC"))
    zone = next((names[name] for name in ZONES if isinstance(names.get(name), str)), zone)
    json.dump(
        {
            "zone": str(zone) if zone else None,
            "local": local,
            "entries": [entry_document(name, entry) for name, entry in entries.items()],
        },
        output,
    )


if __name__ == "__main__":
    main()
