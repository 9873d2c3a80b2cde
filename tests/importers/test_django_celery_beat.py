"""A database of django-celery-beat moves over."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.importers.conftest import AFTER, Origins, check, made_of
from tickbird.domain.errors import InvalidError, StoreError
from tickbird.importers.databases import fetch, shown
from tickbird.importers.django_celery_beat import read_database

NEW_YORK = {"timezone": "America/New_York"}
TASKS: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "Nightly report (EU)": ("crontab", {"minute": "30", "hour": "2", "timezone": "Europe/Berlin"}, {"queue": "mail"}),
    "gap": ("crontab", {"minute": "30", "hour": "2", **NEW_YORK}, {"kwargs": '{"full": true}', "description": "Full."}),
    "both": ("crontab", {"minute": "0", "hour": "6", "day_of_week": "1", "day_of_month": "1-7", **NEW_YORK}, {}),
    "quarters": (
        "crontab",
        {"minute": "*/15", "day_of_week": "sun", "month_of_year": "3,11", **NEW_YORK},
        {"args": "[1, 2]"},
    ),
    "interval": (
        "interval",
        {"every": 36, "period": "hours"},
        {"last_run_at": "2026-12-30T01:02:03+00:00", "expire_seconds": 60},
    ),
    "days": ("interval", {"every": 2, "period": "days"}, {"last_run_at": "2026-12-30T01:02:03Z", "one_off": True}),
    "once": ("clocked", {"clocked_time": "2027-06-01T12:00:00+00:00"}, {"one_off": True}),
    "sun": ("solar", {"event": "sunset", "latitude": 1, "longitude": 2}, {}),
    "quick": ("interval", {"every": 500, "period": "microseconds"}, {"last_run_at": "2026-12-30T01:02:03Z"}),
    "disabled": ("crontab", {"minute": "1", "hour": "1", "timezone": "UTC"}, {"enabled": False}),
    "window": (
        "crontab",
        {"minute": "5", "hour": "5", "timezone": "UTC"},
        {"start_time": "2027-02-01T00:00:00Z", "expires": "2027-03-01T00:00:00Z", "priority": 3},
    ),
    "odd args": ("crontab", {"minute": "9", "timezone": "UTC"}, {"args": "[1,"}),
    "odd kwargs": ("crontab", {"minute": "10", "timezone": "UTC"}, {"kwargs": "[1]"}),
    "cleanup": ("crontab", {"minute": "0", "hour": "4", "timezone": "UTC"}, {"task": "celery.backend_cleanup"}),
}


def copy_to_postgres(path: Path, url: str) -> None:
    """The same tables with the types that Django gives them there."""
    times = {"last_run_at", "date_changed", "start_time", "expires", "clocked_time"}
    with closing(sqlite3.connect(path)) as file, psycopg.connect(url) as database:
        for name in ("periodictask", "crontabschedule", "intervalschedule", "clockedschedule", "solarschedule"):
            table = f"django_celery_beat_{name}"
            columns = [(row[1], str(row[2]).lower()) for row in file.execute(f"PRAGMA table_info({table})")]
            kinds = {"bool": "boolean", "datetime": "timestamptz", "integer": "bigint"}
            typed = ", ".join(f'"{each}" {kinds.get(kind.split(" ")[0], "text")}' for each, kind in columns)
            database.execute(f"CREATE TABLE {table} ({typed})".encode())
            places = ", ".join(["%s"] * len(columns))
            for row in file.execute(f"SELECT * FROM {table}"):
                values = [
                    bool(value) if kind == "bool" else f"{value}Z" if each in times and value is not None else value
                    for value, (each, kind) in zip(row, columns, strict=True)
                ]
                database.execute(f"INSERT INTO {table} VALUES ({places})".encode(), values)


def test_a_database_ticks_on_the_same_instants(origins: Origins, tmp_path: Path, postgres_url: str) -> None:
    path = tmp_path / "django.db"
    fires = origins.ask("django", path=str(path), tasks=TASKS)
    made = made_of(read_database(f"sqlite:///{path}", "django.db"))
    schedules = made.document.schedules
    for name in ("window", "disabled", "cleanup", "quick", "days", "odd args", "odd kwargs"):
        fires.pop(name, None)
    fires["Nightly-report-EU"] = fires.pop("Nightly report (EU)")
    check(made, fires)
    assert made.differences["gap"][0].description("Celery") == "2027-03-14: Celery at 03:30 EDT, Tickbird at 03:00 EDT"
    assert schedules["both"].exclude.weekdays == frozenset({1, 2, 3, 4, 5, 6}), "both days must match"
    assert (schedules["Nightly-report-EU"].queue, schedules["gap"].payload) == ("mail", {"full": True})
    assert (schedules["quarters"].payload, schedules["gap"].description) == ({"args": [1, 2]}, "Full.")
    assert (schedules["interval"].start_within, schedules["days"].max_runs) == (60, 1)
    assert schedules["once"].trigger.to_json() == {"at": "2027-06-01T12:00:00Z"}
    assert (str(schedules["window"].start_at)[:10], str(schedules["window"].end_at)[:10]) == (
        "2027-02-01",
        "2027-03-01",
    )
    assert [each.name for each in made.off] == ["disabled"]
    told = "\n".join(map(str, made.not_imported))
    for words in (
        "sun: shop.tasks.work: solar schedules are not supported",
        "quick: shop.tasks.work: ticks are whole seconds",
        "odd args: shop.tasks.work: its args are not JSON: [1,",
        "odd kwargs: shop.tasks.work: its kwargs are not a JSON object: [1]",
        "it cleans up Celery's own tables",
    ):
        assert words in told
    notes = {each.name: " ".join(each.notes) for each in made.imported.entries}
    assert "priority = 3 is not imported" in notes["window"]
    copy_to_postgres(path, postgres_url)
    there = made_of(read_database(postgres_url, "postgres"))
    assert there.document.schedules == schedules, there.not_imported
    assert [each.reason for each in there.not_imported] == [each.reason for each in made.not_imported]
    with closing(sqlite3.connect(path)) as file, file:
        change = "SET last_run_at = NULL, start_time = '2027-02-01 00:00:30' WHERE name = 'interval'"
        file.execute(f"UPDATE django_celery_beat_periodictask {change}")
    # It has never run, and so begins then.
    begins = made_of(read_database(f"sqlite:///{path}", "django.db")).document.schedules["interval"]
    assert begins.grid.next(AFTER) == int(datetime(2027, 2, 1, 0, 0, 30, tzinfo=UTC).timestamp())


def test_addresses_are_shown_without_their_secrets() -> None:
    for url, words in (
        ("postgresql://ada:se@cr/et@db/shop", "postgresql://…"),
        ("postgresql+psycopg2://ada:se#cret@db/shop", "postgresql://ada@db/shop"),
        ("postgresql://db/shop?user=ada&password=secret&sslpassword=secret", "postgresql://ada@db/shop"),
        ("sqlite:///a.db", "sqlite:///a.db"),
    ):
        assert shown(url) == words
    with pytest.raises(InvalidError, match="mysql://…' is not a supported database"):
        fetch("mysql://root:secret@h/x", "SELECT 1")


def test_rows_of_postgresql_are_only_read_too(postgres_url: str) -> None:
    url = postgres_url.replace("postgresql://", "postgresql+psycopg2://")
    assert fetch(url, "SELECT 1 AS one, 'a' AS two") == [{"one": 1, "two": "a"}]
    with pytest.raises(StoreError, match="read-only transaction"):
        fetch(url, "CREATE TABLE t (x int)")


@pytest.mark.parametrize(
    "url, error, words",
    [
        ("mysql://root@localhost/x", InvalidError, "is not a supported database URL. Write sqlite:///"),
        ("sqlite:///nowhere.db", InvalidError, "there is no file 'nowhere.db'"),
        ("sqlite:///{path}", StoreError, "cannot be read: no such table"),
    ],
)
def test_database_without_the_tables_is_refused(tmp_path: Path, url: str, error: type[Exception], words: str) -> None:
    path = tmp_path / "empty.db"
    path.touch()
    with pytest.raises(error, match=words):
        read_database(url.format(path=path), "x")
    # It is only ever read.
    with pytest.raises(StoreError, match="readonly"):
        fetch(f"sqlite:///{path}", "CREATE TABLE t (x)")
