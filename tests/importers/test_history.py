"""What other systems did, from their own records: every form of a line, and what is wrong told and not guessed."""

from __future__ import annotations

import gzip
import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tickbird.domain.errors import InvalidError, StoreError
from tickbird.domain.schedules.definition import Definition, Target
from tickbird.domain.schedules.schedule import Schedule
from tickbird.domain.targets.command import command
from tickbird.domain.targets.target import target_of
from tickbird.domain.triggers.cron.cron import cron
from tickbird.importers.history import text_files as reading
from tickbird.importers.history.celery_results import read_results
from tickbird.importers.history.cron_log import CronLog
from tickbird.importers.history.kubernetes import read_jobs
from tickbird.importers.history.observed import Commands, Names, ObservedFirings, read_time
from tickbird.importers.history.tables import Table, parse_map
from tickbird.importers.history.text_files import lines_of

NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)


def schedule(name: str, target: Target) -> Schedule:
    return Schedule(1, "default", name, 1, "active", Definition(trigger=cron("0 3 * * *"), target=target))


BACKUP = schedule("backup", target_of(command(["/usr/local/bin/backup", "--full"])))
MAIL = schedule("mail", target_of(command(shell='cd /srv && echo "Grüße\tan %" | mail ops', user="ada")))
TASKS = [schedule("digest", Target("shop.digest")), schedule("eu", Target("offer")), schedule("us", Target("offer"))]


def log(
    *lines: str, tz: str = "UTC", now: datetime = NOW, user: str | None = None, said: Sequence[str] = ()
) -> ObservedFirings:
    heard = ObservedFirings()
    numbered = [(f"syslog:{number}", line) for number, line in enumerate(lines, 1)]
    CronLog(Commands([BACKUP, MAIL], parse_map(said)), heard, tz=tz, now=now, user=user).read(numbered)
    return heard


def times(heard: ObservedFirings, *group: str) -> list[str]:
    found = heard.firings.get(group or ("backup",), ())
    return [datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds")[:-6] for at in found]


RAN = "(root) CMD (/usr/local/bin/backup --full)"


@pytest.mark.parametrize(
    "line",
    [
        f"Mar 10 03:00:01 host CRON[123]: {RAN}",
        f"<78>Mar 10 03:00:01 host /USR/SBIN/CRON[123]: {RAN}",
        f"2026-03-10T04:00:01+01:00 host CROND[123]: {RAN}",
        f"2026-03-10T03:00:01.000123+00:00 host cron[9]: {RAN}",
        f"2026-03-10T04:00:01+0100 host crond[9]: {RAN}",
        f"2026-03-10 03:00:01 host CRON[9]: {RAN}",
        f"Tue 2026-03-10 03:00:01 UTC host CRON[9]: {RAN}",
        f"1773111601.000000 host CRON[9]: {RAN}",
        "Mar 10 03:00:01 host CRON[123]: (root) CMD (  /usr/local/bin/backup   --full )",
        "Mar 10 03:00:01 host crond[77]: USER root pid  55 cmd /usr/local/bin/backup --full",
        "Mar 10 03:00:01 host cron.info crond[77]: USER root pid  55 cmd /usr/local/bin/backup --full",
        "Mar 10 03:00:01 crond[77]: USER root pid  55 cmd /usr/local/bin/backup --full",
        f"<78>1 2026-03-10T03:00:01Z host CRON 123 - - {RAN}",
        f'<78>1 2026-03-10T03:00:01Z host CRON - - [a b="c"][d] {RAN}',
        json.dumps({"__REALTIME_TIMESTAMP": "1773111601000000", "SYSLOG_IDENTIFIER": "CRON", "MESSAGE": RAN}),
    ],
)
def test_every_form_of_a_line_of_cron(line: str) -> None:
    heard = log(line)
    assert times(heard) == ["2026-03-10T03:00:01.000"]
    assert (heard.bad_count, heard.other_count) == (0, 0)


def test_log_lines_are_matched_by_command_and_user() -> None:
    printed = r'cd /srv && echo "Gr\303\274\303\237e^Ian %" | mail ops'
    heard = log(
        f"Mar 10 03:00:01 host CRON[1]: (ada) CMD ({printed})",
        f"Mar 10 03:00:02 host CRON[1]: (bob) CMD ({printed})",
        "Mar 10 03:00:03 host CRON[1]: (root) CMD (run-parts /etc/cron.hourly)",
        "Mar 10 03:00:04 host CRON[1]: (CRON) INFO (Running @reboot jobs)",
        "Mar 10 03:00:05 host sshd[1]: (root) CMD (/usr/local/bin/backup --full)",
    )
    assert times(heard, "mail") == ["2026-03-10T03:00:01.000"]
    assert (heard.other_count, heard.others["run-parts /etc/cron.hourly"], heard.bad_count) == (2, 1, 0)
    assert times(log(f"Mar 10 03:00:01 host CRON[1]: {RAN}", user="bob")) == []
    line = "Mar 10 03:00:01 host CRON[1]: (ada) CMD (old --name=x)"
    assert times(log(line, said=["old --name=x=backup"])) == ["2026-03-10T03:00:01.000"]


def test_missing_years_are_inferred_from_now() -> None:
    heard = log(f"Dec 31 23:59:59 h CRON[1]: {RAN}", "Jan  1 00:00:01 h x: y", f"Mar 10 03:00:01 h CRON[1]: {RAN}")
    assert times(heard) == ["2025-12-31T23:59:59.000", "2026-03-10T03:00:01.000"]
    # What would still be to come was last year.
    assert times(log(f"Mar 12 03:00:01 h CRON[1]: {RAN}")) == ["2025-03-12T03:00:01.000"]
    # More than a year, and the leap day.
    many = [f"{month} 10 03:00:01 h CRON[1]: {RAN}" for month in ("Jan", "Jun", "Oct", "Feb", "Jul", "Nov", "Mar")]
    assert [each[:7] for each in times(log(*many))] == [
        *("2024-01", "2024-06", "2024-10", "2025-02", "2025-07", "2025-11", "2026-03"),
    ]
    leap = log(f"Feb 29 03:00:00 h CRON[1]: {RAN}", now=datetime(2026, 3, 10, tzinfo=UTC))
    assert times(leap) == ["2024-02-29T03:00:00.000"]
    # A line that is a little out of order does not begin a year.
    assert (
        len({each[:4] for each in times(log(f"Jan 1 00:00:01 h CRON[1]: {RAN}", f"Dec 31 23:59:59 h CRON[1]: {RAN}"))})
        == 2
    )


def test_repeated_local_time_is_resolved_by_the_previous_line() -> None:
    lines = [f"Oct 25 {time} h CRON[1]: {RAN}" for time in ("01:30:00", "02:30:00", "02:45:00", "02:30:00", "03:30:00")]
    found = times(log(*lines, tz="Europe/Rome", now=datetime(2026, 10, 26, tzinfo=UTC)))
    assert [each[11:16] for each in found] == ["23:30", "00:30", "00:45", "01:30", "02:30"]


def test_invalid_lines_are_counted_and_reported() -> None:
    heard = log(
        "-- Journal begins at Mon --",
        "",
        "what is this",
        "Mar 45 03:00:01 h CRON[1]: (root) CMD (x)",
        "Mar 10 03:00:01 h CRON[1]: (root) CMD (/usr/local/bin/backup --fu",
        '{"MESSAGE": "x"}',
        "2026-13-10T03:00:01Z h CRON[1]: (root) CMD (x)",
    )
    assert [(bad.place, bad.reason) for bad in heard.bad] == [
        ("syslog:3", "it does not start with a time"),
        ("syslog:4", "there is no such time"),
        ("syslog:5", "its command is cut off"),
        ("syslog:6", "it is not a line of journalctl -o json"),
        ("syslog:7", "'2026-13-10T03:00:01Z' is not a time"),
    ]
    assert heard.count == 0
    assert log('{"__REALTIME_TIMESTAMP": 1e999}').bad_count == 1
    # No year has such a day, so that looking for one would never end.
    for day in ("Feb 30", "Apr 31"):
        assert [each.reason for each in log(f"{day} 03:00:00 h CRON[1]: {RAN}").bad] == ["there is no such time"]


def table(text: str, schedules: Sequence[Schedule] = TASKS, *said: str, **options: Any) -> ObservedFirings:
    heard = ObservedFirings()
    numbered = [(f"t:{number}", line) for number, line in enumerate(text.splitlines(), 1)]
    Table(Names(schedules, parse_map(said)), heard, tz="Europe/Rome", **options).read(numbered)
    return heard


@pytest.mark.parametrize(
    "text",
    [
        "name,started_at\ndigest,2026-03-10T03:00:01Z\n",
        'id,"job","start_time"\n1,"digest","2026-03-10 04:00:01"\n',
        "task,at\nshop.digest,1773111601\n",
        '{"name": "digest", "at": 1773111601000}\n',
        '[{"name": "digest", "at": "2026-03-10T03:00:01+00:00"}]',
        '[\n  {\n    "name": "digest",\n    "at": "2026-03-10T03:00:01Z"\n  }\n]\n',
        "\n\nschedule,time\ndigest,2026-03-10T03:00:01Z",
    ],
)
def test_tables_of_every_kind(text: str) -> None:
    heard = table(text)
    assert times(heard, "digest") == ["2026-03-10T03:00:01.000"]
    assert heard.bad_count == 0


def test_a_task_of_several_schedules_may_be_any_of_them() -> None:
    heard = table(
        "task,at\noffer,2026-03-10T03:00:01Z\neu,2026-03-10T03:00:01Z\nold,2026-03-10T04:00:00Z", TASKS, "old=us"
    )
    assert {group: len(found) for group, found in heard.firings.items()} == {("eu", "us"): 1, ("eu",): 1, ("us",): 1}
    assert sorted(map(sorted, heard.groups(["digest", "eu", "us"]))) == [["digest"], ["eu", "us"]]
    assert [(round(at) % 3_600, [*places]) for at, places in heard.in_order(["eu", "us"])] == [
        *((1, [0]), (1, [0, 1]), (0, [1])),
    ]


def test_rows_that_cannot_be_read_are_counted_and_the_others_taken() -> None:
    heard = table(
        "name,at\ndigest\ndigest,never\n,2026-03-10T03:00:01Z\ndigest,nan\ndigest,2026-03-10T03:00:01Z\nx,1\n"
    )
    assert (heard.bad_count, times(heard, "digest"), dict(heard.others)) == (
        *(4, ["2026-03-10T03:00:01.000"], {"x": 1}),
    )
    heard = table('{"name": "digest", "at": 1}\n{"name"\n[]\n{"at": 5, "name": 7}\n')
    assert (heard.count, heard.bad_count) == (1, 3)
    heard = table('[{"name": "digest", "at": 1}, 5, {"name": "digest", ')
    assert (heard.count, [bad.reason for bad in heard.bad]) == (
        1,
        ["it is not an object", "the list ends unexpectedly here"],
    )
    with pytest.raises(InvalidError, match="--name-column"):
        table("a,b\n1,2\n")
    with pytest.raises(InvalidError, match="--time-column"):
        table("name,b\nx,2\n")
    assert table("who,when\ndigest,5\n", name="who", time="when").count == 1
    assert table("").count == 0


def test_jobs_of_cronjobs() -> None:
    def job(owner: str | None, at: str, namespace: str = "default") -> dict[str, Any]:
        owners = [] if owner is None else [{"kind": "CronJob", "name": owner}]
        metadata = {"name": "x-1", "namespace": namespace, "creationTimestamp": at, "ownerReferences": owners}
        return {"kind": "Job", "metadata": metadata, "status": {}}

    jobs = [job("digest", "2026-03-10T03:00:01Z"), job(None, "2026-03-10T03:00:01Z"), job("digest", "soon")]
    jobs += [
        job("digest", "2026-03-11T03:00:01Z", "shop"),
        {"kind": "Pod", "metadata": {}},
        job("q", "2026-03-10T03:00:01Z"),
    ]
    jobs[0]["status"] = {"startTime": "2026-03-10T03:00:02Z"}
    heard, names = ObservedFirings(), Names(TASKS, {})
    read_jobs(json.dumps({"kind": "List", "items": jobs}), "jobs.json", names, heard)
    assert times(heard, "digest") == ["2026-03-10T03:00:02.000", "2026-03-11T03:00:01.000"]
    assert (heard.bad_count, heard.other_count) == (2, 2)
    with pytest.raises(InvalidError, match="not valid JSON"):
        read_jobs("{", "jobs.json", names, heard)


@pytest.mark.parametrize("newer", [True, False])
def test_results_of_celery(tmp_path: Path, newer: bool) -> None:
    more = ", periodic_task_name TEXT, date_started TEXT" if newer else ""
    with closing(sqlite3.connect(tmp_path / "db")) as db, db:
        db.execute(
            f"CREATE TABLE django_celery_results_taskresult (id INTEGER, task_name TEXT, date_created TEXT{more})"
        )
        row = (1, "shop.digest", "2026-03-10 03:00:02", *([None, None] if newer else []))
        db.execute(f"INSERT INTO django_celery_results_taskresult VALUES ({', '.join('?' * len(row))})", row)
        if newer:
            db.execute(
                "INSERT INTO django_celery_results_taskresult VALUES (2, 'offer', 'x', 'eu', '2026-03-10 03:00:01'), "
                "(3, 'offer', 'x', NULL, NULL)"
            )
    heard = ObservedFirings()
    read_results(f"sqlite:///{tmp_path}/db", Names(TASKS, {}), heard)
    assert times(heard, "digest") == ["2026-03-10T03:00:02.000"]
    assert (len(times(heard, "eu")), heard.bad_count) == ((1, 1) if newer else (0, 0))
    with closing(sqlite3.connect(tmp_path / "other")) as db, db:
        db.execute("CREATE TABLE x (id INTEGER)")
    with pytest.raises(StoreError, match="cannot be read"):
        read_results(f"sqlite:///{tmp_path}/other", Names(TASKS, {}), ObservedFirings())


def test_files_are_read_line_by_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "plain").write_bytes(b"\xef\xbb\xbfa\r\nb\xff\nc")
    path = str(tmp_path / "plain")
    assert list(lines_of(path)) == [(f"{path}:1", "a"), (f"{path}:2", "b\ufffd"), (f"{path}:3", "c")]
    with gzip.open(tmp_path / "packed.gz", "wb") as file:
        file.write(b"a\nb\n")
    assert [line for _, line in lines_of(str(tmp_path / "packed.gz"))] == ["a", "b"]
    (tmp_path / "broken.gz").write_bytes(b"no")
    for wrong in ("broken.gz", "absent", "."):
        with pytest.raises(InvalidError, match="cannot be read"):
            list(lines_of(str(tmp_path / wrong)))
    # A list on one long line comes in pieces, and is whole again.
    monkeypatch.setattr(reading, "MAX_LINE_LENGTH", 7)
    (tmp_path / "list").write_text(json.dumps([{"name": "digest", "at": second} for second in range(50)]))
    heard = ObservedFirings()
    Table(Names(TASKS, {}), heard, tz="UTC").read(lines_of(str(tmp_path / "list")))
    assert (heard.count, heard.bad_count) == (50, 0)


@pytest.mark.parametrize("wrong", ["", None, True, "x", "inf", "1e300"])
def test_invalid_time_is_refused(wrong: object) -> None:
    with pytest.raises(ValueError, match="time"):
        read_time(wrong, "UTC")


def test_parse_map_reads_old_and_new_names() -> None:
    assert parse_map(["a=b", "c = d = e"]) == {"a": "b", "c = d": "e"}
    for wrong in ("a", "=b", "a="):
        with pytest.raises(InvalidError, match="OLD=NEW"):
            parse_map([wrong])
