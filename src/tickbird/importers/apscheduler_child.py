"""Child process that unpickles APScheduler jobs, which can execute arbitrary code, and prints them as JSON.

It runs in an interpreter that has APScheduler, but may not have Tickbird. Stdin is one JSON document, stdout another.
"""

from __future__ import annotations

import base64
import json
import pickle
import sys
from datetime import datetime, timedelta, timezone
from typing import Any

UTC = timezone.utc  # noqa: UP017 - older Pythons read this too
# Maximum number of firings of a trigger around one DST change. A trigger with more is not compared.
MAX_COUNT = 20_000
AROUND = timedelta(hours=36)


def job_document(job: dict[str, Any], after: datetime, until: datetime) -> dict[str, Any]:
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
    """Return {"value": …}, or {"shown": repr} if JSON cannot represent the value."""
    try:
        return {"value": json.loads(json.dumps(value, allow_nan=False))}
    except (TypeError, ValueError, RecursionError):
        return {"shown": repr(value)[:200]}


def trigger(value: Any, after: datetime, until: datetime) -> dict[str, Any]:
    """Return a trigger by kind; a cron trigger includes its firings around DST changes."""
    kind = type(value).__name__
    if hasattr(value, "triggers"):
        return {"kind": kind, "triggers": [trigger(member, after, until) for member in value.triggers]}
    document: dict[str, Any] = {
        "kind": kind,
        "tz": zone_name(getattr(value, "timezone", None)),
        "start": iso(getattr(value, "start_date", None)),
        "end": iso(getattr(value, "end_date", None)),
        "jitter": getattr(value, "jitter", None),
    }
    if kind == "CronTrigger":
        document["fields"] = {field.name: str(field) for field in value.fields}
        document["stretches"] = stretches(value, after, until)
    elif kind == "IntervalTrigger":
        document["seconds"] = value.interval.total_seconds()
    elif kind == "DateTrigger":
        document["at"] = iso(value.run_date)
    return document


def zone_name(zone: Any) -> str | None:
    """Return the name of a zoneinfo, pytz or other time zone."""
    name = getattr(zone, "key", None) or getattr(zone, "zone", None) or (None if zone is None else str(zone))
    return None if name is None else str(name)


def iso(at: datetime | None) -> str | None:
    return None if at is None else at.astimezone(UTC).isoformat()


def stretches(value: Any, after: datetime, until: datetime) -> list[dict[str, Any]]:
    """Return the firings around each DST change: after, until, fires."""
    periods: list[dict[str, Any]] = []
    jitter, value.jitter = getattr(value, "jitter", None), None
    try:
        for start, usual in changes(value.timezone, after, until):
            end = usual
            fires: list[int] = []
            previous, now = None, start
            while len(fires) <= MAX_COUNT:
                at = value.get_next_fire_time(previous, now)
                if at is not None and at > end and now < usual - AROUND:
                    # A rare trigger may carry the old offset to its first firing after the change, so include that one.
                    end = at + timedelta(days=1)
                if at is None or at.timestamp() > end.timestamp():
                    break
                if fires and at.timestamp() <= fires[-1]:
                    # Some versions return the same time forever at a DST change.
                    break
                fires.append(int(at.timestamp()))
                previous, now = at, at.astimezone(UTC) + timedelta(microseconds=1)
            periods.append({"after": int(start.timestamp()), "until": int(end.timestamp()), "fires": fires})
    finally:
        value.jitter = jitter
    return periods


def changes(zone: Any, after: datetime, until: datetime) -> list[tuple[datetime, datetime]]:
    """Return periods of about four days around the days on which the offset changes."""
    periods: list[tuple[datetime, datetime]] = []
    day = after
    while day < until:
        following = day + timedelta(days=1)
        if day.astimezone(zone).utcoffset() != following.astimezone(zone).utcoffset():
            start, end = day - AROUND, following + AROUND
            if periods and start <= periods[-1][1]:
                periods[-1] = (periods[-1][0], end)
            else:
                periods.append((start, end))
        day = following
    return periods


def main() -> None:
    """Unpickle the jobs and print them. The output of a pickle itself goes to stderr."""
    output, sys.stdout = sys.stdout, sys.stderr
    request = json.load(sys.stdin)
    after, until = (datetime.fromtimestamp(request[name], UTC) for name in ("after", "until"))
    answers = []
    for state in request["jobs"]:
        try:
            answers.append(job_document(pickle.loads(base64.b64decode(state)), after, until))  # noqa: S301 - see --trust-pickle
        except Exception as error:  # noqa: BLE001 - a pickle can raise any error
            answers.append({"error": f"{type(error).__name__}: {error}"[:300]})
    json.dump(answers, output)


if __name__ == "__main__":
    main()
