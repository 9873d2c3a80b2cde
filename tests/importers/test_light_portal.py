"""The table of light-portal moves over: from its database, and from dumps."""

from __future__ import annotations

import csv
import io
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.cli.conftest import Cli
from tests.importers.conftest import made_of, ticks
from tickbird.domain.errors import InvalidError, StoreError
from tickbird.importers.light_portal import read_database, read_dump

TABLE = """
CREATE TABLE schedule_t (
    schedule_id UUID NOT NULL DEFAULT gen_random_uuid(), host_id UUID NOT NULL, schedule_name VARCHAR(126) NOT NULL,
    frequency_unit VARCHAR(16) NOT NULL, frequency_time INTEGER NOT NULL, start_ts TIMESTAMP WITH TIME ZONE NOT NULL,
    next_run_ts TIMESTAMP WITH TIME ZONE NOT NULL, event_topic VARCHAR(126) NOT NULL, event_type VARCHAR(126) NOT NULL,
    event_data TEXT NOT NULL, aggregate_version BIGINT DEFAULT 1 NOT NULL, active BOOLEAN NOT NULL DEFAULT TRUE,
    update_user VARCHAR(255) DEFAULT SESSION_USER NOT NULL, PRIMARY KEY (schedule_id)
)
"""
HOST = "01964b05-552a-7c4b-9184-6857e7f3dc5f"
START = "2026-01-01 00:00:07.25+00"
INSERT = """
INSERT INTO schedule_t (host_id, schedule_name, frequency_unit, frequency_time, start_ts, next_run_ts, event_topic,
    event_type, event_data, active)
VALUES (%s, %s, %s, %s, %s, now(), 'portal-event', 'Due', %s, %s)
"""
ROWS: list[tuple[Any, ...]] = [
    (HOST, "Daily report", "DAYS", 1, START, '{"format": "pdf", "pages": [1, 2]}', True),
    (HOST, "sync", "MINUTES", 30, START, "{}", True),
    (HOST, "sync", "hours", 6, START, "{}", True),
    (HOST, "off", "HOURS", 1, START, "{}", False),
    (HOST, "broken", "FORTNIGHTS", 1, START, "{}", True),
    (HOST, "text", "HOURS", 1, START, "no JSON", True),
]


def dumps(url: str) -> tuple[str, str]:
    """The rows of the table as CSV and as JSON, as psql writes them."""
    with psycopg.connect(url) as connection:
        connection.execute(TABLE.encode())
        for row in ROWS:
            connection.execute(INSERT.encode(), row)
        with connection.cursor().copy("COPY schedule_t TO STDOUT CSV HEADER") as copy:
            rows = b"".join(bytes(part) for part in copy).decode()
        found = connection.execute("SELECT json_agg(s)::text FROM schedule_t AS s").fetchone()
    assert found is not None
    return rows, found[0]


def test_database_and_dumps_are_imported_alike(postgres_url: str) -> None:
    as_csv, as_json = dumps(postgres_url)
    for imported in (
        read_database(postgres_url, "portal"),
        read_dump(as_csv, "schedules.csv"),
        read_dump(as_json, "schedules.json"),
    ):
        made = made_of(imported)
        assert {*made.document.schedules} == {"Daily-report", "sync", "sync-2"}
        first = int(datetime(2026, 1, 1, 0, 0, 8, tzinfo=UTC).timestamp())
        steps = {"Daily-report": 86_400}
        for name in ("sync", "sync-2"):
            trigger = made.document.schedules[name].trigger.to_json()
            steps[name] = {"minutes": 1_800, "hours": 21_600}[next(iter(trigger["every"]))]  # type: ignore[call-overload]
        for name, step in steps.items():
            assert ticks(made, name)
            assert {(tick - first) % step for tick in ticks(made, name)} == {0}
        spec = made.document.schedules["Daily-report"].target.spec
        assert spec is not None
        assert spec.to_json() == {
            "topic": "portal-event",
            "type": "Due",
            "key": "Daily-report",
            "data": {"format": "pdf", "pages": [1, 2]},
            "tenant": HOST,
        }
        assert [(entry.name, entry.off) for entry in made.off] == [("off", "it is not active")]
        reasons = sorted(item.reason for item in made.not_imported)
        assert reasons[0].startswith("event_data: 'no JSON' is not JSON. Write an object")
        assert reasons[1].startswith("frequency_unit: 'FORTNIGHTS' is not a unit. Use SECONDS")


@pytest.mark.parametrize("text", ["a,b\n1,2\n", "[1]", "[{"])
def test_other_files_are_refused_with_the_next_step(text: str) -> None:
    with pytest.raises(InvalidError, match=r"\\copy schedule_t TO schedules.csv CSV HEADER"):
        read_dump(text, "x")


def test_a_database_without_the_table_is_an_error(postgres_url: str) -> None:
    with pytest.raises(StoreError, match="schedule_t"):
        read_database(postgres_url, "portal")


def test_cli_writes_a_file_that_can_be_applied(tmp_path: Path) -> None:
    cli = Cli(f"sqlite:///{tmp_path}/tickbird.db", tmp_path)
    row = {
        "schedule_name": "sync",
        "frequency_unit": "MINUTES",
        "frequency_time": 5,
        "start_ts": "2026-01-01T00:00:00+00:00",
        "event_topic": "portal-event",
        "event_type": "SyncDue",
        "event_data": "{}",
        "active": True,
    }
    source, written = tmp_path / "schedules.json", tmp_path / "schedules.toml"
    source.write_text(json.dumps([row]))
    assert cli("import", "light-portal", str(source), "-o", str(written)).code == 0
    assert "every" in written.read_text()
    assert cli("migrate").code == 0
    assert cli("apply", "-f", str(written)).code == 0
    assert "sync" in cli.ok("ls").out
    table = io.StringIO()
    writer = csv.DictWriter(table, row)
    writer.writeheader()
    writer.writerow(row | {"active": "t"})
    source = tmp_path / "schedules.csv"
    source.write_text(table.getvalue())
    assert cli("import", "light-portal", str(source), "--json").json["document"]["app"] == "light-portal"
