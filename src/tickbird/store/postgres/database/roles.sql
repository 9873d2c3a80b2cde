-- Roles for teams that use plain SQL. They are objects of the whole server, so no migration creates them.

-- name: create_roles
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'tickbird_viewer') THEN
        CREATE ROLE tickbird_viewer NOLOGIN;
    END IF;
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'tickbird_operator') THEN
        CREATE ROLE tickbird_operator NOLOGIN;
    END IF;
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'tickbird_admin') THEN
        CREATE ROLE tickbird_admin NOLOGIN;
    END IF;
    -- Each includes the one before. Only an administrator of a role may grant it, even if it was granted before.
    IF NOT pg_has_role('tickbird_operator', 'tickbird_viewer', 'MEMBER') THEN
        GRANT tickbird_viewer TO tickbird_operator;
    END IF;
    IF NOT pg_has_role('tickbird_admin', 'tickbird_operator', 'MEMBER') THEN
        GRANT tickbird_operator TO tickbird_admin;
    END IF;
END $$;
-- A viewer sees all jobs and their runs, without payloads; and all events.
GRANT USAGE ON SCHEMA tickbird TO tickbird_viewer;
GRANT SELECT ON tickbird.scheduled_job_runs, tickbird.scheduled_job_executions, tickbird.scheduled_job_status TO tickbird_viewer;
GRANT SELECT ON tickbird.schedule_t, tickbird.outbox_message_t, tickbird.event_store_t TO tickbird_viewer;
GRANT SELECT ON tickbird.scheduler_lock_t TO tickbird_viewer;
-- An operator also triggers, pauses, resumes and cancels. An admin also defines jobs, of every role that may execute jobs.
GRANT SELECT, INSERT, UPDATE, DELETE ON tickbird.scheduled_jobs TO tickbird_admin;
GRANT SELECT, UPDATE ON tickbird.sql_settings TO tickbird_admin;

-- name: list_roles
SELECT r.rolname::text FROM pg_roles AS r
WHERE r.rolname IN ('tickbird_viewer', 'tickbird_operator', 'tickbird_admin')
ORDER BY r.oid;
