"""Runs where APScheduler is, and Tickbird need not be: opens pickles, which may execute anything, and tells what is in.

Started as a process of its own: one JSON document comes on standard input, one goes to standard output.
"""

from __future__ import annotations

import base64
import json
import pickle
import sys
from datetime import datetime, timedelta, timezone
from typing import Any

UTC = timezone.utc  # noqa: UP017 - older Pythons read this too
# Of one trigger around one clock change; a trigger with more is not compared.
MAX_COUNT = 20_000
AROUND = timedelta(hours=36)


def job_document(job: dict[str, Any], after: datetime, until: datetime) -> dict[str, Any]:
    """One job, as its state says."""
    return {
        "func": job.get("func"),
        "name": job.get("name"),
        "args": plain(list(job.get("args") or ())),
        "kwargs": plain(dict(job.get("kwargs") or {})),
        "misfire_grace_time": job.get("misfire_grace_time"),
        "coalesce": job.get("coalesce"),
        "max_instances": job.get("max_instances"),
        "executor": job.get("executor"),
        "paused": job.get("next_run_time") is None,
        "trigger": trigger(job["trigger"], after, until),
    }


def plain(value: Any) -> Any:
    """The value if JSON can carry it; else how it shows itself."""
    try:
        return {"value": json.loads(json.dumps(value, allow_nan=False))}
    except (TypeError, ValueError, RecursionError):
        return {"shown": repr(value)[:200]}


def trigger(value: Any, after: datetime, until: datetime) -> dict[str, Any]:
    """A trigger by its kind, and for a cron when it fires around clock changes."""
    kind = type(value).__name__
    if hasattr(value, "triggers"):
        return {"kind": kind, "triggers": [trigger(each, after, until) for each in value.triggers]}
    made: dict[str, Any] = {
        "kind": kind,
        "tz": zone_name(getattr(value, "timezone", None)),
        "start": iso(getattr(value, "start_date", None)),
        "end": iso(getattr(value, "end_date", None)),
        "jitter": getattr(value, "jitter", None),
    }
    if kind == "CronTrigger":
        made["fields"] = {field.name: str(field) for field in value.fields}
        made["stretches"] = stretches(value, after, until)
    elif kind == "IntervalTrigger":
        made["seconds"] = value.interval.total_seconds()
    elif kind == "DateTrigger":
        made["at"] = iso(value.run_date)
    return made


def zone_name(zone: Any) -> str | None:
    """The name of a zone of any library."""
    found = getattr(zone, "key", None) or getattr(zone, "zone", None) or (None if zone is None else str(zone))
    return None if found is None else str(found)


def iso(at: datetime | None) -> str | None:
    """An instant as text."""
    return None if at is None else at.astimezone(UTC).isoformat()


def stretches(value: Any, after: datetime, until: datetime) -> list[dict[str, Any]]:
    """Around each clock change: from, to, and the fires between."""
    found: list[dict[str, Any]] = []
    jitter, value.jitter = getattr(value, "jitter", None), None
    try:
        for start, usual in changes(value.timezone, after, until):
            end = usual
            fires: list[int] = []
            previous, now = None, start
            while len(fires) <= MAX_COUNT:
                at = value.get_next_fire_time(previous, now)
                if at is not None and at > end and now < usual - AROUND:
                    # A trigger that rests for longer comes out of the change with what is left of the old clock.
                    end = at + timedelta(days=1)
                if at is None or at.timestamp() > end.timestamp():
                    break
                if fires and at.timestamp() <= fires[-1]:
                    # Some versions come to a stand at a clock change.
                    break
                fires.append(int(at.timestamp()))
                previous, now = at, at.astimezone(UTC) + timedelta(microseconds=1)
            found.append({"after": int(start.timestamp()), "until": int(end.timestamp()), "fires": fires})
    finally:
        value.jitter = jitter
    return found


def changes(zone: Any, after: datetime, until: datetime) -> list[tuple[datetime, datetime]]:
    """Stretches of three days around the days on which the offset of a zone changes."""
    found: list[tuple[datetime, datetime]] = []
    day = after
    while day < until:
        following = day + timedelta(days=1)
        if day.astimezone(zone).utcoffset() != following.astimezone(zone).utcoffset():
            start, end = day - AROUND, following + AROUND
            if found and start <= found[-1][1]:
                found[-1] = (found[-1][0], end)
            else:
                found.append((start, end))
        day = following
    return found


def main() -> None:
    """Read, tell, end; what a pickle prints goes to standard error."""
    output, sys.stdout = sys.stdout, sys.stderr
    asked = json.load(sys.stdin)
    after, until = (datetime.fromtimestamp(asked[name], UTC) for name in ("after", "until"))
    answers = []
    for state in asked["jobs"]:
        try:
            answers.append(job_document(pickle.loads(base64.b64decode(state)), after, until))  # noqa: S301 - see --trust-pickle
        except Exception as error:  # noqa: BLE001 - whatever a pickle raises
            answers.append({"error": f"{type(error).__name__}: {error}"[:300]})
    json.dump(answers, output)


if __name__ == "__main__":
    main()
