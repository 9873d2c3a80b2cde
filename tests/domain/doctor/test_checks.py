"""Findings of `doctor`: each one, and that it disappears with its cause."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tickbird.domain.doctor.checks.registry import CHECKS, run_checks
from tickbird.domain.doctor.finding import Finding, in_bytes, to_json, unusable
from tickbird.domain.doctor.snapshot import (
    DatabaseSession,
    EventHealth,
    ExpiredLeases,
    FailingSchedule,
    GroupHealth,
    OverdueSchedules,
    Parked,
    PostgresSnapshot,
    ScheduledByTarget,
    SchemaState,
    SqliteSnapshot,
    StoreSnapshot,
    TableStats,
    UnplannedSchedule,
    WaitingRuns,
    Workload,
    ZoneDataStatus,
)
from tickbird.domain.leadership import LeaderLease
from tickbird.domain.limits.rate_limits import RateLimit
from tickbird.domain.runs.unreadable_runs import Unreadable, publish
from tickbird.domain.store_identity import ACCEPT_COPY
from tickbird.domain.targets.target import Target
from tickbird.domain.time.zone_data import ZoneData
from tickbird.domain.workers import Worker

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
NEWER = Unreadable("v: format 99 is not known.", "bill", 3)
DAY = 86_400
HERE = ZoneData("2026f", "abcdef0123")


WORKER = Worker(
    id="w1",
    namespace="default",
    app="shop",
    host="here",
    pid=1,
    version="1.0",
    queues=("default",),
    slots=10,
    tasks={"work": {}},
    health={"clock": 0.1, "zones": "2026f (abcdef01)", "stuck": 0},
)


def ago(seconds: float) -> datetime:
    """The instant `seconds` before now."""
    return NOW - timedelta(seconds=seconds)


WORKING = StoreSnapshot(
    kind="postgresql",
    namespace="default",
    now=NOW,
    version="1.0",
    schema=SchemaState(version=9, min_compatible=5, newest=9),
    zones=ZoneDataStatus(HERE, "2026f", "abcdef0123"),
    workers=[WORKER],
    planners=1,
    work=Workload(
        scheduled=[ScheduledByTarget("default", Target("work"), 3, NOW)],
        waiting=[WaitingRuns("default", Target("work"), 1, ago(2))],
    ),
    server=PostgresSnapshot(
        version=160_003,
        words="16.3",
        role="birds",
        database="app",
        schema="tickbird",
        standby=False,
        settings={
            "autovacuum": "on",
            "fsync": "on",
            "full_page_writes": "on",
            "idle_in_transaction_session_timeout": "10000",
            "lock_timeout": "3000",
            "max_connections": "100",
            "statement_timeout": "15000",
            "synchronous_commit": "on",
            "synchronous_standby_names": "",
            "track_counts": "on",
        },
        tcp_user_timeout=10_000,
        heard=True,
        tables=[
            TableStats(
                name="runs", live=10, dead=49_999, autovacuum=True, vacuumed_at=ago(60), size=9_000, indexes=10**7
            )
        ],
        connections=12,
    ),
    asked_at=NOW,
    answered_at=NOW,
)
EMBEDDED = replace(
    WORKING,
    kind="sqlite",
    server=None,
    file=SqliteSnapshot(
        path="birds.db",
        library="3.45",
        journal_mode="wal",
        synchronous=2,
        file_system="ext4",
        size=10**6,
        log_size=0,
        free=10**10,
        free_pages=0,
        pages=100,
        page_size=4_096,
    ),
)


def schema(**fields: Any) -> StoreSnapshot:
    return replace(WORKING, schema=replace(WORKING.schema, **fields))


def server(**fields: Any) -> StoreSnapshot:
    assert WORKING.server is not None
    return replace(WORKING, server=replace(WORKING.server, **fields))


def setting(name: str, value: str) -> StoreSnapshot:
    assert WORKING.server is not None
    return server(settings={**WORKING.server.settings, name: value})


def table(**fields: Any) -> StoreSnapshot:
    assert WORKING.server is not None
    return server(tables=[replace(WORKING.server.tables[0], **fields)])


def file(**fields: Any) -> StoreSnapshot:
    assert EMBEDDED.file is not None
    return replace(EMBEDDED, file=replace(EMBEDDED.file, **fields))


def work(**fields: Any) -> StoreSnapshot:
    assert WORKING.work is not None
    return replace(WORKING, work=replace(WORKING.work, **fields))


def events(**fields: Any) -> StoreSnapshot:
    return work(events=EventHealth(**fields))


def group(**fields: Any) -> StoreSnapshot:
    return events(groups=[GroupHealth(**{"name": "billing", "app": "shop", "declared_at": ago(700), **fields})])


def worker(**fields: Any) -> StoreSnapshot:
    return replace(WORKING, workers=[replace(WORKER, **fields)])


def session(state: str = "idle in transaction", seconds: float = 100, locks: bool = False) -> StoreSnapshot:
    one = DatabaseSession(
        pid=42, role="etl", program="psql", state=state, open_for=seconds, idle_for=seconds, locks=locks
    )
    return server(sessions=[one])


def bad(condition: StoreSnapshot) -> list[Finding]:
    return [finding for finding in run_checks(condition) if finding.severity != "ok"]


@pytest.mark.parametrize("condition", [WORKING, EMBEDDED], ids=["postgresql", "sqlite"])
def test_healthy_store_passes_all_checks(condition: StoreSnapshot) -> None:
    findings = run_checks(condition)
    assert bad(condition) == []
    assert [finding.check for finding in findings] == [name for name in CHECKS if name in {f.check for f in findings}]
    assert all(finding.text.endswith(".") and not finding.fix for finding in findings)


CASES: dict[str, tuple[StoreSnapshot, str, str, str, str]] = {
    "no schema": (schema(version=None), "schema", "problem", "no Tickbird schema", "tickbird migrate"),
    "old schema": (
        schema(version=8),
        "schema",
        "problem",
        "version 8, and this tickbird needs 9",
        "tickbird migrate",
    ),
    "new schema": (schema(version=10), "schema", "warning", "newer than this tickbird", "Upgrade tickbird"),
    "far newer": (schema(version=12, min_compatible=11), "schema", "problem", "supports only 9", "Upgrade tickbird"),
    "odd schema": (schema(error="the table meta is odd;"), "schema", "problem", "meta is odd", "tickbird migrate"),
    "rights": (server(lacking=["runs"]), "rights", "warning", "no write privilege on runs", "GRANT SELECT, INSERT"),
    "old server": (server(version=140_019), "server", "problem", "too old", "Upgrade"),
    "standby": (server(standby=True), "server", "problem", "a standby", "target_session_attrs=read-write"),
    "mixed": (
        replace(WORKING, workers=[WORKER, replace(WORKER, id="w2", version="0.9")]),
        "versions",
        "warning",
        "0.9 (1), 1.0 (1)",
        "Finish the deploy",
    ),
    "other version": (worker(version="2.0"), "versions", "warning", "workers have 2.0", "tickbird==2.0"),
    "clock ahead": (replace(WORKING, now=NOW + timedelta(seconds=9)), "clock", "problem", "9 s ahead of", "set-ntp"),
    "clock behind": (replace(WORKING, now=ago(9)), "clock", "problem", "9 s behind this machine", "set-ntp"),
    "worker's clock": (worker(health={"clock": -3600.5}), "clock", "warning", "w1 is 1 h behind the store", "set-ntp"),
    "no idle time-out": (
        setting("idle_in_transaction_session_timeout", "0"),
        "time-outs",
        "problem",
        "hides its rows",
        "ALTER ROLE birds SET idle_in_transaction_session_timeout = '10s';",
    ),
    "no lock time-out": (setting("lock_timeout", "0"), "time-outs", "warning", "lock held by another session", "'3s'"),
    "no statement time-out": (
        setting("statement_timeout", "0"),
        "time-outs",
        "warning",
        "hanging statement blocks",
        "'15s'",
    ),
    "no tcp time-out": (server(tcp_user_timeout=0), "time-outs", "warning", "drops packets", "tcp_user_timeout=0"),
    "fsync": (setting("fsync", "off"), "durability", "problem", "fsync is off", "SET fsync = on"),
    "commit": (setting("synchronous_commit", "off"), "durability", "problem", "second time", "synchronous_commit = on"),
    "pages": (setting("full_page_writes", "off"), "durability", "warning", "power failure", "full_page_writes = on"),
    "pooler": (server(pooled=True, heard=False), "pooler", "warning", "per transaction", "TICKBIRD_LISTEN_URL="),
    "deaf": (server(heard=False), "pooler", "warning", "drops them", "TICKBIRD_LISTEN_URL="),
    "replica": (
        server(replicas=[("standby", "async")]),
        "replication",
        "warning",
        "1 replica (standby) follows asynchronously",
        "synchronous_standby_names",
    ),
    "slot": (server(idle_slots=[("old", 2 * 10**9)]), "replication", "warning", "2.0 GB of WAL", "drop_replication"),
    "connections": (server(connections=91), "connections", "warning", "91 of 100", "max_connections"),
    "idle": (session(), "snapshots", "warning", "idle in a transaction for 1 min 40 s", "pg_terminate_backend(42)"),
    "idle with locks": (session(locks=True), "snapshots", "problem", "holds locks on", "pg_terminate_backend(42)"),
    "idle for long": (session(seconds=601), "snapshots", "problem", "of etl (psql)", "pg_terminate_backend(42)"),
    "busy for long": (session("active", 901, locks=True), "snapshots", "warning", "15 min 1 s", "terminate"),
    "prepared": (server(prepared=[("it's", 61.0)]), "snapshots", "warning", "open for 1 min", "PREPARED 'it''s'"),
    "no autovacuum": (setting("autovacuum", "off"), "vacuum", "problem", "autovacuum is off", "SET autovacuum = on"),
    "no counts": (setting("track_counts", "off"), "vacuum", "problem", "track_counts is off", "SET track_counts = on"),
    "table": (table(autovacuum=False), "vacuum", "problem", "off for tickbird.runs", "RESET (autovacuum_enabled)"),
    "dead": (table(dead=50_001), "vacuum", "warning", "50,001 dead rows and 10", "VACUUM (ANALYZE) tickbird.runs;"),
    "never": (table(dead=50_001, vacuumed_at=None), "vacuum", "warning", "never vacuumed", "VACUUM"),
    "index": (
        server(unbuilt=["runs_unsuccessful_idx"]),
        "indexes",
        "warning",
        "Not built yet: runs_unsuccessful_idx",
        "tickbird migrate",
    ),
    "wraparound": (server(xid_age=1_500_000_000), "vacuum", "problem", "1,500,000,000", "VACUUM FREEZE"),
    "network": (file(file_system="nfs4"), "durability", "problem", "network file system (nfs4)", "PostgreSQL"),
    "hosts": (
        replace(EMBEDDED, workers=[WORKER, replace(WORKER, id="w2", host="there")]),
        "durability",
        "problem",
        "several machines (here, there)",
        "PostgreSQL",
    ),
    "journal": (file(journal_mode="delete"), "durability", "warning", "'delete' instead of 'wal'", "journal_mode=WAL"),
    "synchronous": (file(synchronous=1), "durability", "problem", "power failure", "synchronous=FULL"),
    "damage": (file(damage="page 3 is lost"), "durability", "problem", "page 3 is lost", "backup"),
    "full": (file(free=49 * 10**6), "disk", "problem", "only 49.0 MB left", "Free some space"),
    "nearly full": (file(free=499 * 10**6), "disk", "warning", "499.0 MB left", "Free some space"),
    "full for its size": (file(size=2 * 10**11), "disk", "warning", "10.0 GB left", "Free some space"),
    "log": (file(log_size=3 * 10**8), "disk", "warning", "300.0 MB", "fuser"),
    "unused": (file(size=4 * 10**8, free_pages=10**5), "disk", "warning", "409.6 MB of its 400.0 MB", "VACUUM"),
    "copy": (
        replace(WORKING, copy_reason=f"this store is a copy{ACCEPT_COPY}"),
        "copy",
        "problem",
        "This store is a copy.",
        "--accept-copy",
    ),
    "zones": (
        replace(WORKING, zones=ZoneDataStatus(HERE, "2027a", "99"), workers=[]),
        "time zone data",
        "problem",
        "2026f (abcdef01) here, 2027a (99) in the store",
        "tzdata==2027.1",
    ),
    "zones elsewhere": (
        worker(health={"zones": "2026a (11)"}),
        "time zone data",
        "warning",
        "2026a (11) on 1 worker",
        "tzdata==2026.6",
    ),
    "nobody": (replace(WORKING, workers=[]), "workers", "problem", "3 active schedules", "tickbird worker"),
    "held back": (
        worker(standby_reason="plans nothing: off"),
        "workers",
        "problem",
        "it plans nothing: off",
        "continues by itself",
    ),
    "stuck": (worker(health={"stuck": 2}), "workers", "warning", "occupy 2 of its 10 slots", 'isolation="process"'),
    "unreadable": (
        replace(WORKING, workers=[worker(health=publish([NEWER])).workers[0], replace(WORKER, id="w2")]),
        "workers",
        "warning",
        "w1 cannot read revision 3 of bill (v: format 99 is not known), and leaves these runs to other workers.",
        "--upgrade tickbird tzdata",
    ),
    "unreadable everywhere": (
        worker(health=publish([NEWER])),
        "workers",
        "problem",
        "; no live worker can read them.",
        "--upgrade tickbird tzdata",
    ),
    "late": (
        work(due=OverdueSchedules(2, ago(16))),
        "planning",
        "warning",
        "2 schedules due and not planned",
        "workers",
    ),
    "very late": (
        work(due=OverdueSchedules(1_000, ago(61))),
        "planning",
        "problem",
        "At least 1,000 schedules",
        "workers",
    ),
    "nobody plans": (
        replace(work(due=OverdueSchedules(1, ago(16))), planners=0),
        "planning",
        "problem",
        "there is 1 schedule due for planning, the oldest for 16 s",
        "TICKBIRD_PLANNING",
    ),
    "nobody plans, although workers are alive": (
        replace(work(due=OverdueSchedules(1, ago(16))), planners=0, workers=[replace(WORKER, kind="executor")]),
        "planning",
        "problem",
        "No live worker plans (1 worker only executes), but there is 1 schedule due for planning",
        "TICKBIRD_ROLE",
    ),
    "nobody will plan": (
        replace(
            work(scheduled=[ScheduledByTarget("default", Target("work"), 2, NOW + timedelta(seconds=90))]),
            planners=0,
            workers=[replace(WORKER, kind="executor"), replace(WORKER, id="w2", kind="executor")],
        ),
        "planning",
        "warning",
        "(2 workers only execute), but 2 active schedules need one, and the next is due in 1 min 30 s.",
        "without --execute-only",
    ),
    "nobody looks": (
        replace(work(due=OverdueSchedules(0, None, 2)), planners=0),
        "planning",
        "problem",
        "2 schedules",
        "worker",
    ),
    "late without the plug-in": (
        work(unplanned=[UnplannedSchedule("default", "hello", ago(16), "target kind 'echo'")]),
        "planning",
        "warning",
        "No live worker has planned 1 schedule that needs target kind 'echo', due for 16 s: hello.",
        "# on a machine with the package of target kind 'echo'",
    ),
    "very late without the plug-in": (
        work(
            unplanned=[
                UnplannedSchedule("default", "hello", ago(61), "custom trigger 'moon'"),
                UnplannedSchedule("other", "hello", ago(20), "custom trigger 'moon'"),
                UnplannedSchedule("default", "due just now", ago(2), "custom trigger 'moon'"),
            ]
        ),
        "planning",
        "problem",
        "2 schedules that need custom trigger 'moon', due for 1 min 1 s: hello, other/hello.",
        "tickbird worker",
    ),
    "no worker, and only schedules that are ignored": (
        replace(work(scheduled=[], waiting=[], refused=[Parked("a", "", "its kind is not known")]), workers=[]),
        "workers",
        "problem",
        "No worker is alive, but 1 active schedule",
        "tickbird worker",
    ),
    "lost": (work(expired=ExpiredLeases(1, ago(61))), "leases", "problem", "1 run of lost workers", "tickbird worker"),
    "queue": (
        work(waiting=[WaitingRuns("gpu", Target("work"), 2, ago(61))]),
        "queues",
        "problem",
        "2 runs of task 'work' in queue 'gpu' cannot start: no live worker serves queue 'gpu'",
        "--queues gpu",
    ),
    "task": (
        work(waiting=[WaitingRuns("default", Target("other"), 1, ago(5))]),
        "queues",
        "warning",
        "knows task 'other'",
        "other",
    ),
    "tonight": (
        work(scheduled=[ScheduledByTarget("gpu", Target("work"), 1, ago(-3600))]),
        "queues",
        "warning",
        "1 schedule of task 'work' in queue 'gpu' could not start",
        "--queues gpu",
    ),
    "busy": (
        work(waiting=[WaitingRuns("default", Target("work"), 1, ago(61))]),
        "queues",
        "warning",
        "are busy",
        "--slots",
    ),
    "rate": (
        work(waiting=[WaitingRuns("default", Target("work"), 1, ago(601))], rates={"default": RateLimit(100, 60)}),
        "queues",
        "warning",
        "has waited for 10 min 1 s: its rate limit is 100/min",
        "tickbird queue default --rate",
    ),
    "a schedule of a missing kind": (
        work(refused=[Parked("v", "", "target kind 'shout' is not available here", "target kind 'shout'")]),
        "ignored",
        "warning",
        "v is ignored: target kind 'shout' is not available here.",
        "pip install …   # the package with target kind 'shout', which is missing or broken here",
    ),
    "a schedule of a newer version": (
        work(refused=[Parked("v", "", "its definition has format 99")]),
        "ignored",
        "warning",
        "v is ignored: its definition has format 99.",
        "pip install --upgrade tickbird",
    ),
    "parked": (work(parked=[Parked("etl", "bad\ncron")]), "parked", "problem", "does not run: bad cron.", "set etl"),
    "calendar": (
        work(old_calendars=[("etl", "fest")]),
        "calendars",
        "problem",
        "earlier version of calendar 'fest' (etl)",
        "put fest",
    ),
    "failing": (
        work(failing=[FailingSchedule("etl", 5, "x\nOSError: no")]),
        "failing",
        "problem",
        "failed 5 times in a row: OSError: no.",
        "runs",
    ),
    "depends": (
        work(stuck=[("a", "load", "paused"), ("b", "load", "paused")]),
        "dependencies",
        "warning",
        "a, b depend on load, which is paused.",
        "tickbird resume load",
    ),
    "ended": (
        work(stuck=[("a", "x", "ended")]),
        "dependencies",
        "warning",
        "a depends on x, which has ended.",
        "set a",
    ),
    "gone": (work(stuck=[("a", "x", None)]), "dependencies", "warning", "on x, which does not exist.", "set a"),
    "held": (work(held_runs=3, held_schedules=1), "held", "warning", "3 late runs of 1 schedule are held", "release"),
    "unstamped": (
        events(unstamped_since=ago(300)),
        "event log",
        "problem",
        "An event has had no position for 5 min",
        "tickbird worker",
    ),
    "stopped group": (
        group(state="stopped", reason="events up to 45 were removed."),
        "consumers",
        "problem",
        "Group billing is stopped: events up to 45 were removed.",
        "tickbird consumers resume billing",
    ),
    "group near retention": (
        events(kept_since=ago(30 * DAY), groups=[GroupHealth(name="billing", app="shop", oldest_at=ago(16 * DAY))]),
        "consumers",
        "warning",
        "has not read an event that is 16 d old. Retention removes events after about 30 d",
        "tickbird consumers show billing",
    ),
    "group of an app without a worker": (
        group(app="carts", oldest_at=ago(300)),
        "consumers",
        "problem",
        "Group billing has not read an event that is 5 min old: no live worker of app carts delivers events.",
        "tickbird worker MODULE:APP",
    ),
    "group that no code declares": (
        group(declared_at=ago(3_600), oldest_at=ago(300)),
        "consumers",
        "problem",
        "Group billing has not read an event that is 5 min old: no worker has declared it for 1 h.",
        "tickbird consumers rm billing",
    ),
    "paused partitions": (
        group(paused=2, error="Traceback\nOperationalError: refused"),
        "consumers",
        "warning",
        "2 partitions of group billing are paused after an error: OperationalError: refused.",
        "continues by itself",
    ),
    "failed letters": (
        group(failed=3),
        "dead letters",
        "problem",
        "3 dead letters of group billing failed: they wait for a person",
        "tickbird dead-letters ls --group billing",
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_problem_is_reported_with_its_fix(case: tuple[StoreSnapshot, str, str, str, str]) -> None:
    condition, check, severity, text, fix = case
    [finding] = [finding for finding in bad(condition) if finding.check == check]
    assert (finding.check, finding.severity) == (check, severity)
    assert text in finding.text
    assert fix in finding.fix
    assert finding.text.endswith((".", ";"))
    document = to_json(finding)
    assert (document["check"], document["ok"]) == (check, False)


def test_harmless_condition_is_not_reported() -> None:
    standbys = {"synchronous_standby_names": "ANY 1 (*)"}
    assert WORKING.server is not None
    assert (
        bad(server(replicas=[("a", "quorum"), ("b", "async")], settings={**WORKING.server.settings, **standbys})) == []
    )
    assert bad(worker(kind="executor")) == []
    assert bad(replace(WORKING, workers=[], planners=0, work=Workload())) == []
    assert bad(replace(EMBEDDED, schema=replace(EMBEDDED.schema, version=8), work=None)) == []
    assert bad(file(damage=None)) == []
    assert (
        bad(work(waiting=[WaitingRuns("default", Target("work"), 1, ago(599))], rates={"default": RateLimit(1, 60)}))
        == []
    )
    # Nothing was removed yet, or the group reads newer events than those that will be removed next.
    assert bad(group(oldest_at=ago(16 * DAY))) == []
    near = events(kept_since=ago(30 * DAY), groups=[GroupHealth(name="billing", app="shop", oldest_at=ago(14 * DAY))])
    assert bad(near) == []
    assert bad(events(unstamped_since=ago(59))) == []
    assert bad(group(app="carts", oldest_at=ago(59))) == []
    assert bad(group(app="carts")) == []
    # Every worker is draining, which is temporary.
    assert bad(work(scheduled=[ScheduledByTarget("default", Target("work"), 1, NOW)], waiting=())) == []


def test_commits_that_do_not_wait_for_a_standby() -> None:
    assert WORKING.server is not None
    settings = {"synchronous_standby_names": "*", "synchronous_commit": "local"}
    [finding] = bad(server(settings={**WORKING.server.settings, **settings}))
    assert (finding.check, finding.severity) == ("replication", "warning")
    assert finding.fix == "ALTER ROLE birds SET synchronous_commit = on;"


def test_a_role_with_an_odd_name_is_quoted() -> None:
    assert WORKING.server is not None
    condition = server(role='Mrs "B"', settings={**WORKING.server.settings, "lock_timeout": "0"})
    assert 'ALTER ROLE "Mrs ""B""" SET' in bad(condition)[0].fix


def test_a_schedule_with_an_odd_name_is_quoted() -> None:
    """A pasted command must be safe, even for a name that plain SQL wrote."""
    [found] = bad(work(parked=[Parked("it's; reboot", "no")]))
    assert found.fix.startswith("""tickbird set 'it'"'"'s; reboot' """)


def test_planning_off_is_a_warning_if_other_workers_plan() -> None:
    off = worker(standby_reason="plans nothing: TICKBIRD_PLANNING is off", kind="executor")
    assert [finding.severity for finding in bad(off)] == ["warning"]
    assert [finding.severity for finding in bad(replace(off, planners=0))] == ["problem", "warning"]


@pytest.mark.parametrize("check", ["snapshots", "replication"])
def test_missing_privilege_is_reported_as_unseen(check: str) -> None:
    [finding] = [finding for finding in bad(server(sees_all=False)) if finding.check == check]
    assert (finding.severity, finding.ok, finding.fix) == ("unseen", True, "GRANT pg_monitor TO birds;")


def test_check_that_cannot_run_is_reported_and_others_run() -> None:
    condition = replace(WORKING, unseen={"vacuum": "It could not be looked at: no."})
    [finding] = bad(condition)
    assert (finding.check, finding.severity, finding.text) == ("vacuum", "unseen", "It could not be looked at: no.")
    assert len(run_checks(condition)) == len(run_checks(WORKING))


def test_without_a_schema_only_the_server_is_checked() -> None:
    condition = replace(schema(version=None), work=None, zones=None, workers=[])
    checks = {finding.check for finding in run_checks(condition)}
    assert {"schema", "server", "durability", "time-outs"} <= checks
    assert not checks & {"copy", "time zone data", "workers", "planning", "queues", "parked"}


def test_long_lists_are_truncated_and_counted() -> None:
    found = bad(work(parked=[Parked(f"s{number}", "no") for number in range(12)]))
    assert len(found) == 11
    assert found[-1].text == "2 others are parked too."
    found = bad(work(failing=[FailingSchedule(f"s{number}", 5, "no") for number in range(12)]))
    assert found[-1].text == "2 others fail too."
    [one] = bad(work(old_calendars=[(f"s{number}", "fest") for number in range(12)]))
    assert "s9 and 2 more" in one.text


def test_queue_is_reported_once() -> None:
    condition = work(
        waiting=[WaitingRuns("gpu", Target("work"), 1, ago(2))],
        scheduled=[ScheduledByTarget("gpu", Target("work"), 1, NOW)],
    )
    assert len(bad(condition)) == 1


def test_without_workers_long_waits_are_reported_too() -> None:
    alone = replace(WORKING, workers=[])
    assert {finding.check for finding in bad(alone)} == {"workers"}
    waits = replace(work(waiting=[WaitingRuns("default", Target("work"), 1, ago(61))]), workers=[])
    assert {finding.check for finding in bad(waits)} == {"workers", "queues"}


def test_a_store_that_cannot_be_used() -> None:
    assert unusable("it is gone.", "Start it.") == Finding("store", "problem", "it is gone.", "Start it.")


@pytest.mark.parametrize(
    "size,words", [(999, "999 B"), (1_000, "1 kB"), (10**6, "1.0 MB"), (2_500_000_000, "2.5 GB"), (10**12, "1.0 TB")]
)
def test_sizes(size: int, words: str) -> None:
    assert in_bytes(size) == words


def test_only_the_first_problems_of_groups_are_listed() -> None:
    groups = [GroupHealth(name=f"g{number:02}", state="stopped", failed=1) for number in range(15)]
    findings = bad(events(groups=groups))
    assert len([finding for finding in findings if finding.check == "consumers"]) == 11
    assert "5 more problems" in [finding for finding in findings if finding.check == "consumers"][-1].text
    assert "5 other groups have failed" in [finding for finding in findings if finding.check == "dead letters"][-1].text


def _in_leader_mode(*modes: str, lease: LeaderLease | None = None) -> StoreSnapshot:
    workers = [replace(WORKER, id=f"w{number}", coordination=mode) for number, mode in enumerate(modes, 1)]  # type: ignore[arg-type]
    return replace(WORKING, workers=workers, lease=lease)


def _findings_about_leaders(snapshot: StoreSnapshot) -> list[Finding]:
    return [finding for finding in run_checks(snapshot) if finding.check == "leader"]


def test_leader_mode_is_reported_only_where_it_is_used() -> None:
    assert _findings_about_leaders(_in_leader_mode("shared", "shared")) == []
    lease = LeaderLease(term=7, worker="w1", heartbeat_at=ago(20), timeout=60)
    [finding] = _findings_about_leaders(_in_leader_mode("leader", "leader", lease=lease))
    assert (finding.severity, finding.text) == ("ok", "w1 leads in term 7; 1 other worker can take over.")


def test_a_missing_leader_is_a_problem() -> None:
    [finding] = _findings_about_leaders(_in_leader_mode("leader", "leader"))
    assert finding.severity == "problem"
    assert "although 2 workers in leader mode should elect one" in finding.text
    lease = LeaderLease(term=7, worker="w9", heartbeat_at=ago(90), timeout=60)
    [finding] = _findings_about_leaders(_in_leader_mode("leader", lease=lease))
    assert (finding.severity, "term 7 (w9) was 1 min 30 s ago" in finding.text) == ("problem", True)


def test_a_mixed_fleet_is_a_warning() -> None:
    lease = LeaderLease(term=7, worker="w1", heartbeat_at=ago(20), timeout=60)
    [finding] = _findings_about_leaders(_in_leader_mode("leader", "shared", lease=lease))
    assert finding.severity == "warning"
    assert "1 worker without leader mode also plans: w2." in finding.text
