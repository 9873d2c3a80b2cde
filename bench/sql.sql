-- SQL functions: the function of the benchmark, and runs of it that are due at once.

-- name: make_function
CREATE TABLE pace AS SELECT 0::float8 AS seconds;
CREATE TABLE effects (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, payload jsonb);
CREATE FUNCTION job(job jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO effects (payload) VALUES (job);
    PERFORM pg_sleep((SELECT seconds FROM pace));
    RETURN '{"success": true, "message": "done"}';
END $$;

-- name: enqueue_jobs
-- One run of each schedule.
WITH gone AS (DELETE FROM tickbird.runs)
INSERT INTO tickbird.runs (
    schedule_id, revision, due_at, available_at, created_at, priority, crash_limit, status, origin, namespace, target_kind,
    target, queue
)
SELECT s.id, s.revision, now(), now(), now(), 0, 3, 'queued', 'manual', 'default', 'sql', 'store', 'default'
FROM tickbird.schedules AS s;

-- name: set_pace
-- The time that each call takes.
UPDATE pace SET seconds = %(seconds)s;

-- name: wake_worker
NOTIFY tickbird;

-- name: call_job
SELECT job(%(job)s);

-- name: start_runs
UPDATE tickbird.runs
SET status = 'running', attempt = 1, incarnation = 1, worker = 'bench', started_at = now(), lease_until = now() + interval '1 hour';

-- name: find_runs
SELECT id FROM tickbird.runs;

-- name: finish_run
UPDATE tickbird.runs
SET status = 'succeeded', lease_until = NULL, finished_at = clock_timestamp(), result = '{"success": true, "message": "done"}'
WHERE id = %(run)s AND attempt = 1 AND status = 'running';

-- name: left_jobs
SELECT count(*) FROM tickbird.runs WHERE finished_at IS NULL;

-- name: job_seconds
SELECT count(*), extract(epoch FROM max(finished_at) - min(started_at))::float8 FROM tickbird.runs WHERE status = 'succeeded';
