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
END $$;
-- Sees all jobs and their runs, without payloads.
GRANT USAGE ON SCHEMA tickbird TO tickbird_viewer;
GRANT SELECT ON tickbird.scheduled_job_runs, tickbird.scheduled_job_executions, tickbird.scheduled_job_status TO tickbird_viewer;
-- Also triggers, pauses, resumes and cancels.
GRANT tickbird_viewer TO tickbird_operator;
-- Also defines jobs, of every role that may execute jobs.
GRANT tickbird_operator TO tickbird_admin;
GRANT SELECT, INSERT, UPDATE, DELETE ON tickbird.scheduled_jobs TO tickbird_admin;
GRANT SELECT, UPDATE ON tickbird.sql_settings TO tickbird_admin;
