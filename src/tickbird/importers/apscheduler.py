"""Importer of the job store of APScheduler 3. Jobs are pickles, and only a child process unpickles them."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from tickbird.domain.errors import InvalidError
from tickbird.importers.cron_sets import MONTHS, WEEKDAYS, spelled
from tickbird.importers.databases import fetch
from tickbird.importers.dst_differences import Horizon
from tickbird.importers.entries import Fires, Imported, ImportedSchedule
from tickbird.importers.sandbox import run_child
from tickbird.store.shared.sql import load_statements

# APScheduler's weekdays begin with Monday.
_THEIR_DAYS: Final = (*WEEKDAYS[1:], WEEKDAYS[0])
_RANGES: Final = {"month": (1, 12), "day": (1, 31), "day_of_week": (0, 6), "hour": (0, 23), "minute": (0, 59)}
# The default grace of schedules, in seconds.
_GRACE: Final = 10
_YEAR: Final = 366 * 86_400
_MAX_STRETCHES: Final = 100
_ORDINALS: Final = ("1st", "2nd", "3rd", "4th", "5th")
_NOTES: Final = (
    "A worker's app must register each function as a task with this name. Arguments become the payload, by name.",
)


def read_jobs(url: str, source: str, horizon: Horizon, *, python: str | None = None) -> Imported:
    """Read all jobs; `python` is an interpreter that has APScheduler and the code that the pickles need."""
    imported = Imported("APScheduler", source, notes=list(_NOTES))
    rows = fetch(url, load_statements("tickbird.importers", "apscheduler")["stored_jobs"])
    answers = _unpickled([bytes(row["job_state"]) for row in rows], horizon, python)
    for row, answer in zip(rows, answers, strict=True):
        origin = f"{row['id']}: {answer.get('func', 'unreadable') if isinstance(answer, dict) else 'unreadable'}"
        try:
            imported.add(_entry(str(row["id"]), answer, origin, horizon))
        except ValueError as error:
            imported.leave(origin, str(error))
        except (TypeError, KeyError, AttributeError, AssertionError, OverflowError, RecursionError) as error:
            # A pickle can make the child return anything.
            imported.leave(origin, f"its data is invalid ({type(error).__name__}: {error})")
    return imported


def _unpickled(states: Iterable[bytes], horizon: Horizon, python: str | None) -> Sequence[dict[str, Any]]:
    jobs = [base64.b64encode(state).decode() for state in states]
    request = {"jobs": jobs, "after": horizon.after, "until": horizon.until}
    answers = run_child("apscheduler_child", python=python, request=request, what="unpickles the jobs")
    if not isinstance(answers, list) or len(answers) != len(jobs):
        raise InvalidError(
            "the child process that unpickles the jobs returned an incomplete result.",
            hint="Use --python with the interpreter of the app that stored the jobs.",
        )
    return answers


def _entry(name: str, job: Mapping[str, Any], origin: str, horizon: Horizon) -> ImportedSchedule:
    if "error" in job:
        hint = ". Use --python with an interpreter that has it" if "ModuleNotFoundError" in job["error"] else ""
        raise ValueError(f"it cannot be read ({job['error']}){hint}")
    called = job["name"] if re.fullmatch(r"[0-9a-f]{32}", name) and job["name"] else name
    entry = ImportedSchedule(str(called), {}, origin)
    fields, entry.fires = _trigger(job["trigger"], entry, horizon)
    for period in job["trigger"].get("stretches", ())[:_MAX_STRETCHES]:
        # Limit the period, because a pickle can make the child return anything.
        start, end = max(horizon.after - _YEAR, int(period["after"])), min(horizon.until + _YEAR, int(period["until"]))
        entry.stretches.append((start, end))
    entry.fields |= {**fields, "task": str(job["func"]).replace(":", ".")}
    _arguments(job, entry)
    if job["misfire_grace_time"] is not None:
        grace = int(job["misfire_grace_time"])
        entry.fields["start_within"] = max(_GRACE, grace)
        if grace < _GRACE:
            entry.notes.append(
                f"misfire_grace_time = {grace} only covers the hand-over there. Here, a run may start {_GRACE} s late."
            )
    entry.fields["catch_up"] = "latest" if job["coalesce"] else "all"
    if (job["max_instances"] or 1) != 1:
        entry.fields["max_concurrent"] = job["max_instances"]
    if job["executor"] not in (None, "default"):
        entry.notes.append(f"executor {job['executor']!r} is not imported. Consider a queue.")
    if job["paused"]:
        entry.off = "it is paused"
    return entry


def _arguments(job: Mapping[str, Any], entry: ImportedSchedule) -> None:
    payload: dict[str, Any] = {}
    for part in ("kwargs", "args"):
        if "shown" in job[part]:
            entry.notes.append(f"{part} are not JSON and not imported: {job[part]['shown']}")
        elif job[part]["value"]:
            payload |= job[part]["value"] if part == "kwargs" else {"args": job[part]["value"]}
    if "args" in payload:
        entry.notes.append("Positional args have no names: use the parameter names in the payload.")
    if payload:
        entry.fields["payload"] = payload


def _trigger(trigger: Mapping[str, Any], entry: ImportedSchedule, horizon: Horizon) -> tuple[dict[str, Any], Fires]:
    kind = trigger["kind"]
    if kind == "OrTrigger":
        parts = [_trigger(member, entry, horizon) for member in trigger["triggers"]]
        for fields, _ in parts:
            if "every" in fields:
                raise ValueError("it combines an interval with other triggers, and each firing restarts the interval")
            if extra := set(fields) - {"cron", "at", "tz", "any_of"}:
                raise ValueError(
                    f"one of its triggers has {', '.join(sorted(extra))}, which Tickbird supports only per schedule"
                )
        any_of = [fields for fields, _ in parts]
        return {"any_of": any_of}, lambda after, until: [at for _, fires in parts for at in fires(after, until)]
    if kind not in ("CronTrigger", "IntervalTrigger", "DateTrigger"):
        raise ValueError(f"its trigger is of the kind {kind}, which has no equivalent")
    if trigger["jitter"]:
        entry.fields["spread"] = int(trigger["jitter"])
        entry.notes.append("jitter: Tickbird delays all runs of a schedule by the same fixed offset.")
    if kind == "DateTrigger":
        at = datetime.fromisoformat(_without_fraction(trigger["at"]))
        return {"at": at.isoformat()}, lambda after, until: [int(at.timestamp())]
    window = {"end_at": _without_fraction(trigger["end"])} if trigger["end"] else {}
    start = None if trigger["start"] is None else datetime.fromisoformat(_without_fraction(trigger["start"]))
    # A start in the past has no effect.
    if start is not None and start.timestamp() > horizon.after:
        window["start_at"] = start.isoformat()
    if kind == "IntervalTrigger":
        assert start is not None
        step = trigger["seconds"]
        if step < 1 or step != int(step):
            raise ValueError(f"every {step:g} s: ticks are whole seconds, at least one second apart")
        fields = {"every": f"{int(step)}s", "anchor": start.isoformat(), **window}
        return fields, _steps(int(start.timestamp()), int(step))
    return {**_cron(trigger["fields"]), "tz": trigger["tz"] or "UTC", **window}, _next_firings(trigger["stretches"])


def _without_fraction(at: str) -> str:
    return re.sub(r"\.\d+", "", at)


def _steps(start: int, step: int) -> Fires:
    def fires(after: int, until: int) -> Iterable[int]:
        return range(start + max(0, (after - start) // step + 1) * step, until + 1, step)

    return fires


def _next_firings(stretches: Sequence[Mapping[str, Any]]) -> Fires:
    """Return the firings that APScheduler itself has computed."""
    computed = [int(at) for period in stretches for at in period["fires"]]

    def fires(after: int, until: int) -> Iterable[int]:
        return [at for at in computed if after < at <= until]

    return fires


def _cron(fields: Mapping[str, str]) -> dict[str, Any]:
    """Convert fields that must all match to `cron`, and `exclude` if needed."""
    exclusion: dict[str, Any] = {}
    if fields["year"] != "*":
        raise ValueError(f"year = {fields['year']} cannot be expressed in cron. Set start_at and end_at")
    if fields["week"] != "*":
        raise ValueError(f"week = {fields['week']}: weeks of the year cannot be expressed in cron")
    second, minute, hour = (_clock(fields[name], name) for name in ("second", "minute", "hour"))
    month = spelled(_values(fields["month"], "month"), "month")
    weekdays = _values(fields["day_of_week"], "day_of_week")
    day, weekday = _days(fields["day"])
    if len(weekdays) < 7:
        names = [name for number, name in enumerate(_THEIR_DAYS) if number in weekdays]
        if day == weekday == "*":
            weekday = ",".join(names)
        else:
            exclusion["exclude"] = [name for name in WEEKDAYS if name not in names]
    seconds = "" if second == "0" else f"{second} "
    return {"cron": f"{seconds}{minute} {hour} {day} {month} {weekday}", **exclusion}


def _clock(text: str, name: str) -> str:
    if re.fullmatch(r"\*(/\d+)?", text):
        return text
    return spelled(_values(text, "minute" if name == "second" else name), "minute" if name == "second" else name)


def _days(text: str) -> tuple[str, str]:
    """Return the cron fields for days of the month and for weekdays such as `2nd mon`."""
    days: list[str] = []
    weekdays: list[str] = []
    numbers: set[int] = set()
    for part in text.split(","):
        position, _, name = part.strip().partition(" ")
        if part.strip() == "last":
            days.append("L")
        elif name and position == "last":
            weekdays.append(f"{WEEKDAYS.index(name)}L")
        elif name:
            weekdays.append(f"{WEEKDAYS.index(name)}#{_ORDINALS.index(position) + 1}")
        else:
            numbers |= _values(part.strip(), "day")
    if numbers:
        days.insert(0, spelled(numbers, "day"))
    # In cron, the two day fields are alternatives, like the parts of this one field.
    return ",".join(days) or "*", ",".join(weekdays) or "*"


def _values(text: str, name: str) -> set[int]:
    low, high = _RANGES[name]
    values: set[int] = set()
    for part in text.split(","):
        span, _, step = part.strip().partition("/")
        if span == "*":
            first, last = low, high
        else:
            begin, dash, end = span.partition("-")
            first = _number(begin, name)
            last = _number(end, name) if dash else (high if step else first)
        if not low <= first <= last <= high:
            raise ValueError(f"{name}: {part!r} is not from {low} to {high}")
        values |= set(range(first, last + 1, int(step or 1)))
    return values


def _number(word: str, name: str) -> int:
    if word.isdigit():
        return int(word)
    names = _THEIR_DAYS if name == "day_of_week" else ("", *MONTHS)
    if word.lower() not in names:
        raise ValueError(f"{name}: {word!r} is not a valid name")
    return names.index(word.lower())
