-- Calls of SQL functions. Each text is sent as one message; nothing after the call is a prepared statement, because the
-- function could replace it.

-- name: call_function
BEGIN ISOLATION LEVEL READ COMMITTED;
SELECT tickbird.begin_job(%(run_id)s, %(attempt)s, %(incarnation)s, %(worker)s, %(timeout)s);
SELECT result, length, is_ended, ended_at, freed, watched, namespaces, keys
FROM tickbird.run_job(
    %(run_id)s, %(attempt)s, %(incarnation)s, %(worker)s, %(function)s, %(role)s, CAST(%(argument)s AS jsonb), %(limit)s
);

-- name: use_store_settings
-- The settings of the store's other connections, whose statements are written for indexes.
SET LOCAL jit = off;
SET LOCAL enable_seqscan = off;
SET LOCAL enable_bitmapscan = off;

-- name: roll_back_call
-- Advisory locks of the session survive the end of a transaction.
ROLLBACK;
SELECT pg_catalog.pg_advisory_unlock_all();

-- name: signal_job
-- The holder of the run's lock executes it, also behind a pooler. Its application_name may have been changed by the function.
SELECT CASE WHEN CAST(%(terminate)s AS boolean) THEN pg_terminate_backend(l.pid) ELSE pg_cancel_backend(l.pid) END
FROM pg_locks AS l
WHERE l.locktype = 'advisory'
    AND l.granted
    AND l.objsubid = 1
    AND l.database = (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database())
    AND (CAST(l.classid AS bigint) << 32 | CAST(l.objid AS bigint)) = tickbird.job_lock(%(run_id)s);

-- name: refuse_function
INSERT INTO tickbird.audit_log (created_at, actor, action, namespace, schedule_id, schedule, run_id, detail)
SELECT
    statement_timestamp(), 'tickbird', 'refuse', r.namespace, r.schedule_id, i.name, r.id,
    jsonb_build_object('function', CAST(%(function)s AS text), 'role', CAST(%(role)s AS text), 'reason', CAST(%(reason)s AS text))
FROM tickbird.runs AS r
LEFT JOIN tickbird.schedule_ids AS i ON i.id = r.schedule_id
WHERE r.id = %(run_id)s;
