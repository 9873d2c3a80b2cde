"""Missing and wrong arguments of SQL functions and columns: one sentence and a hint, never an error of PostgreSQL."""

from __future__ import annotations

import pytest

from tests.store.postgres.test_scheduled_jobs import Jobs, jobs

__all__ = ["jobs"]


@pytest.mark.parametrize(
    "call, message",
    [
        ("trigger_scheduled_job(NULL)", "trigger_scheduled_job: the name is null"),
        ("trigger_scheduled_job('daily_cleanup', '[]')", "payload: must be an object"),
        ("trigger_scheduled_job('daily_cleanup', 'null')", "payload: must be an object"),
        ("pause(NULL)", "pause: the name is null"),
        ("pause('daily_cleanup', NULL, '2000-01-01Z')", "pause: until is "),
        ("pause('daily_cleanup', '', 'infinity')", "pause: until is infinity"),
        ("resume(NULL)", "resume: the name is null"),
        ("resume('daily_cleanup')", "schedule 'daily_cleanup' is not paused"),
        ("reschedule(NULL, now())", "reschedule: the name is null"),
        ("reschedule('daily_cleanup', NULL)", "reschedule: due_at is null"),
        ("reschedule('daily_cleanup', 'infinity')", "reschedule: due_at is infinity"),
        ("enqueue(NULL)", "enqueue: task is null"),
        ("enqueue('digest', NULL)", "enqueue: payload is null"),
        ("enqueue('digest', '{}', NULL)", "enqueue: queue is null"),
        ("enqueue('digest', '{}', 'default', NULL, NULL)", "enqueue: priority is null"),
        ("enqueue('digest', '[]')", "enqueue: task and queue must be names"),
        ("enqueue('digest', '{}', 'default', 'infinity')", "enqueue: task and queue must be names"),
        ("enqueue('digest', idempotency_key => '')", "enqueue: task and queue must be names"),
        ("cancel(NULL)", "cancel: run_id is null"),
        ("wait(NULL)", "wait: run_id is null"),
        ("wait(1, NULL)", "wait: timeout is null"),
        ("wait(1, '-1 s')", "wait: timeout is negative"),
        ("next_ticks(NULL)", "next_ticks: schedule_name is null"),
        ("next_ticks('daily_cleanup', NULL)", "next_ticks: count is null"),
        ("next_ticks('daily_cleanup', 0)", "next_ticks: count must be from 1 to 100"),
        ("scheduled_job_averages(NULL)", "scheduled_job_averages: since is null"),
        ("scheduled_job_averages('-1 day')", "scheduled_job_averages: since must be positive"),
        ("result(NULL)", "result: success is null"),
        ("allow_job_role(NULL)", "role <NULL>: does not exist"),
        ("revoke_job_role(NULL)", "revoke_job_role: role_name is null"),
        ("revoke_job_role('nobody_here')", "role nobody_here: is not allowed to execute jobs"),
    ],
)
async def test_argument_is_refused(jobs: Jobs, call: str, message: str) -> None:
    error = await jobs.error(f"SELECT tickbird.{call}")
    assert error.sqlstate == "TB422"
    assert (error.diag.message_primary or "").startswith(message)
    assert error.diag.message_hint


async def test_null_means_the_default_where_it_is_documented(jobs: Jobs) -> None:
    await jobs.sql("SELECT tickbird.pause('daily_cleanup', NULL, NULL)")
    await jobs.sql("SELECT tickbird.resume('daily_cleanup', NULL)")
    run_id = (await jobs.one("SELECT tickbird.trigger_scheduled_job('daily_cleanup', NULL)"))["run_id"]
    assert await jobs.one("SELECT tickbird.wait(%s, '0')", run_id) is None
    assert await jobs.one("SELECT tickbird.cancel(%s, NULL)", run_id)
    assert await jobs.one("SELECT tickbird.result(true, NULL, NULL)") == {"success": True, "message": ""}


COLUMNS = {
    "name": ["NULL", "''", "'..'", "'a b'"],
    "function_name": ["NULL", "''", "' '", "'run_report(); drop table x'", "'\"\"'", "'a.b.c'"],
    "schedule": ["NULL", "''", "' '"],
    "timezone": ["NULL", "''", "'Mars/Olympus'", "'posix/Europe/Rome'", "'Factory'"],
    "description": ["repeat('x', 10001)"],
    "enabled": ["NULL"],
    "payload": ["NULL", "'null'", "'[]'", "'1'"],
    "timeout": ["'0'", "'-1 day'", "'1000000 years'"],
    "retries": ["NULL", "-1", "1001"],
    "catch_up": ["NULL", "''", "'some'"],
    "overlap": ["NULL", "''", "'some'"],
    "queue": ["NULL", "''", "'a b'"],
    "role": ["NULL", "''", "'nobody_here'", f"'{'x' * 60}'"],
    "log": ["NULL", "''", "'some'"],
    "keep_for": ["'1 second'"],
    "keep_runs": ["0"],
    "created_at": ["NULL"],
}


@pytest.mark.parametrize("column", COLUMNS)
async def test_column_is_refused(jobs: Jobs, column: str) -> None:
    for value in COLUMNS[column]:
        row = {"name": "'new'", "function_name": "'run_report'", "schedule": "'@daily'"} | {column: value}
        statements = [
            f"INSERT INTO tickbird.scheduled_jobs ({', '.join(row)}) VALUES ({', '.join(row.values())})",
            f"UPDATE tickbird.scheduled_jobs SET {column} = {value}",
        ]
        for statement in statements:
            error = await jobs.error(statement)
            assert error.sqlstate == "TB422", f"{statement}: {error}"
            assert error.diag.message_hint, statement
            assert "\n" not in (error.diag.message_primary or "")
    assert await jobs.sql("SELECT name FROM tickbird.scheduled_jobs") == [("daily_cleanup",)]
