"""A job store of APScheduler 3 moves over; its pickles are opened by a process of their own, and only when trusted."""

from __future__ import annotations

import base64
import json
import os
import pickle
import select
import sqlite3
import sys
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.importers.conftest import HORIZON, Origins, check, made_of
from tickbird.domain.errors import InvalidError
from tickbird.importers.apscheduler import read_jobs

NEW_YORK = {"timezone": "America/New_York"}
Job = tuple[str, Any, dict[str, Any]]
JOBS: dict[str, Job] = {
    "gap": ("cron", {"hour": 2, "minute": 30, **NEW_YORK}, {"kwargs": {"full": True}}),
    "repeated": ("cron", {"hour": 1, "minute": 30, **NEW_YORK}, {"args": [1, 2]}),
    "quarters": ("cron", {"month": "3,11", "minute": "*/15", "day_of_week": "sun", **NEW_YORK}, {}),
    "hours": (
        "cron",
        {"month": "3,10", "hour": "*/3", "timezone": "Europe/Berlin"},
        {"max_instances": 3, "coalesce": False},
    ),
    "weekdays": ("cron", {"day_of_week": "mon-fri", "hour": "8,17", "timezone": "Europe/Berlin"}, {}),
    "numbers": ("cron", {"day_of_week": "0-1,6", "hour": 5, "timezone": "UTC"}, {}),
    "last": ("cron", {"day": "last", "hour": 4, "timezone": "Australia/Lord_Howe"}, {"misfire_grace_time": 90}),
    "third": ("cron", {"day": "3rd fri", "hour": 4, "timezone": "UTC"}, {}),
    "last-monday": ("cron", {"day": "last mon", "month": "jan-jun", "hour": 4, "timezone": "UTC"}, {}),
    "both": ("cron", {"day": "1-7", "day_of_week": "tue", "hour": 6, "timezone": "UTC"}, {}),
    "several": ("cron", {"day": "1,last", "hour": 6, "timezone": "UTC"}, {}),
    "seconds": ("cron", {"day": 1, "hour": 0, "minute": 0, "second": "*/20", "timezone": "UTC"}, {}),
    # What rests through a change of half an hour comes out of it half an hour late, once.
    "rests": ("cron", {"month": "1,7", "day": 1, "minute": "10,25,40", "timezone": "Australia/Lord_Howe"}, {}),
    "month": ("cron", {"month": "*/4", "timezone": "Europe/Berlin"}, {}),
    "every": ("interval", {"hours": 7, "start_date": "2026-12-01T00:00:07", "timezone": "UTC"}, {"executor": "pool"}),
    "daily": ("interval", {"days": 1, "start_date": "2026-12-01T12:00:00", **NEW_YORK}, {}),
    "once": ("date", {"run_date": "2027-05-05T05:05:05", "timezone": "UTC"}, {}),
    "either": ("or", [["cron", {"hour": 3, **NEW_YORK}], ["cron", {"hour": 2, "minute": 10, **NEW_YORK}]], {}),
    "mixed": (
        "or",
        [
            ["cron", {"hour": 3, "timezone": "UTC"}],
            ["interval", {"hours": 50, "start_date": "2026-12-01T00:00:00", "timezone": "UTC"}],
        ],
        {},
    ),
    "paused": ("cron", {"hour": 5, "timezone": "UTC"}, {}),
    "jitter": ("cron", {"hour": 5, "jitter": 120, "timezone": "UTC"}, {}),
    "window": ("cron", {"hour": 5, "start_date": "2027-02-01", "end_date": "2027-02-10", "timezone": "UTC"}, {}),
    "week": ("cron", {"week": 5, "timezone": "UTC"}, {}),
    "year": ("cron", {"year": 2027, "timezone": "UTC"}, {}),
    "and": ("and", [["cron", {"hour": 3, "timezone": "UTC"}], ["cron", {"hour": "3,4", "timezone": "UTC"}]], {}),
}


def test_a_store_ticks_on_the_same_instants(origins: Origins, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/jobs.db"
    fires = origins.ask("apscheduler", url=url, jobs=JOBS)
    made = made_of(read_jobs(url, "jobs.db", HORIZON, python=str(origins.python)))
    schedules = made.document.schedules
    told = "\n".join(map(str, made.not_imported))
    assert [each.origin.partition(":")[0] for each in made.not_imported] == ["and", "mixed", "week", "year"], told
    assert "its trigger is of the kind AndTrigger, which has no equivalent" in told
    assert [each.name for each in made.off] == ["paused"]
    for name in ("and", "mixed", "week", "year", "paused"):
        fires.pop(name, None)
    check(made, fires)
    assert made.differences["gap"], "which is the day on which there is no such time"
    assert {each.target.name for each in schedules.values()} == {"builtins.dict"}
    assert (schedules["gap"].payload, schedules["repeated"].payload) == ({"full": True}, {"args": [1, 2]})
    assert (schedules["hours"].max_concurrent, schedules["hours"].catch_up) == (3, "all")
    assert (schedules["last"].start_within, schedules["gap"].catch_up) == (90, "latest")
    assert (schedules["jitter"].spread, schedules["gap"].spread) == (120, 0)
    notes = {each.name: " ".join(each.notes) for each in made.imported.entries}
    assert "executor 'pool' is not imported" in notes["every"]


def store(path: Path, *states: bytes) -> str:
    """A table as APScheduler makes it."""
    with closing(sqlite3.connect(path)) as file, file:
        file.execute("CREATE TABLE apscheduler_jobs (id TEXT PRIMARY KEY, next_run_time REAL, job_state BLOB)")
        for number, state in enumerate(states):
            file.execute("INSERT INTO apscheduler_jobs VALUES (?, 1.0, ?)", (f"job{number}", state))
    return f"sqlite:///{path}"


# Nothing of it may keep the one busy who reads it.
SPOOFED = json.dumps(
    [
        {
            "func": "x",
            **dict.fromkeys(("name", "misfire_grace_time", "coalesce", "max_instances", "executor", "paused")),
            "args": {"value": None},
            "kwargs": {"value": None},
            "trigger": {
                **dict.fromkeys(("jitter", "start", "end", "tz")),
                "kind": "CronTrigger",
                "fields": {**dict.fromkeys(("year", "week", "month", "day", "day_of_week"), "*"), "hour": "*"}
                | {"minute": "0-99999999999", "second": "0"},
                "stretches": [{"after": -(10**30), "until": 10**30, "fires": []}],
            },
        }
    ]
)


class Says:
    """A pickle that executes this."""

    def __init__(self, code: str) -> None:
        self.code = code

    def __reduce__(self) -> Any:
        return exec, (self.code,)


@pytest.mark.parametrize(
    "answer",
    [
        "[[1]]",
        '[{"trigger": 1}]',
        '[{"name": [], "trigger": {"kind": "CronTrigger"}}]',
        "[" * 100_000,
        "{}",
        SPOOFED,
        SPOOFED.replace("-99999999999", "").replace('"fires": []', '"fires": ["x"]'),
    ],
)
def test_output_of_a_malicious_pickle_is_not_trusted(tmp_path: Path, answer: str) -> None:
    code = f"import os; os.write(1, {answer!r}.encode()); os._exit(0)"
    url = store(tmp_path / "jobs.db", pickle.dumps(Says(code)))
    try:
        made = made_of(read_jobs(url, "jobs.db", HORIZON, python=sys.executable))
    except InvalidError:
        return
    assert not made.document.schedules
    reasons = ("its data is invalid", "is not from 0 to 59", "invalid literal")
    assert any(words in str(made.not_imported[0]) for words in reasons)


def test_a_pickle_gets_neither_secrets_nor_a_process_that_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TICKBIRD_TOKEN", "secret")
    code = (
        "import json, os, subprocess\n"
        f"stays = subprocess.Popen(['/bin/sleep', '100'])\n"
        f"told = {{'env': sorted(os.environ), 'session': os.getsid(0), 'pid': os.getpid(), 'stays': stays.pid}}\n"
        f"open({str(tmp_path / 'told')!r}, 'w').write(json.dumps(told))"
    )
    url = store(tmp_path / "jobs.db", pickle.dumps(Says(code)))
    read_jobs(url, "jobs.db", HORIZON, python=sys.executable)
    told = json.loads((tmp_path / "told").read_text())
    assert not [name for name in told["env"] if name.startswith("TICKBIRD_")]
    assert told["session"] == told["pid"] != os.getsid(0)
    with suppress(ProcessLookupError):
        process = os.pidfd_open(told["stays"])
        # It can be read from when the process has ended.
        ended, _, _ = select.select([process], [], [], 60)
        os.close(process)
        assert ended


def test_pickles_are_opened_in_a_process_of_their_own(tmp_path: Path) -> None:
    """Also broken ones, and those that end the process, are told."""
    bad = base64.b64decode(b"bm8gcGlja2xl")
    url = store(tmp_path / "bad.db", bad, pickle.dumps({"func": "x"}))
    made = made_of(read_jobs(url, "bad.db", HORIZON, python=sys.executable))
    assert [str(each).partition(":")[0] for each in made.not_imported] == ["job0", "job1"]
    assert "cannot be read" in str(made.not_imported[0])
    deadly = store(tmp_path / "deadly.db", b"cos\n_exit\n(I3\ntR.")
    with pytest.raises(InvalidError, match="the child process that unpickles the jobs failed with exit code 3"):
        read_jobs(deadly, "deadly.db", HORIZON, python=sys.executable)
    with pytest.raises(InvalidError, match="/no/such/python cannot be started"):
        read_jobs(url, "bad.db", HORIZON, python="/no/such/python")
