-- Runs that are finished in a transaction of their task.

-- name: commit_run
-- On the caller's connection: the success of the current attempt; no row if it is no longer current. Statements on any
-- connection use CAST, because some drivers read `::` otherwise. Only a run that others may wait for is noted.
WITH done AS (
    UPDATE tickbird.runs AS r
    SET status = 'succeeded',
        lease_until = NULL,
        finished_at = statement_timestamp(),
        result = CAST(CAST(%(result)s AS text) AS json),
        error = NULL,
        failure_kind = NULL,
        reason = NULL
    WHERE r.id = CAST(%(id)s AS bigint)
        AND r.attempt = CAST(%(attempt)s AS integer)
        AND (CAST(%(incarnation)s AS integer) = 0 OR r.incarnation = CAST(%(incarnation)s AS integer))
        AND r.worker = CAST(%(worker)s AS text)
        AND r.status || '' = 'running'
    RETURNING r.id, r.schedule_id, r.concurrency_key
),
noted AS (
    INSERT INTO tickbird.committed_runs (run_id)
    SELECT id FROM done WHERE schedule_id IS NOT NULL OR concurrency_key IS NOT NULL
)
SELECT id FROM done;

-- name: confirm_runs
-- Attempts and their runs' statuses. A run that the transaction of its task still locks is left out.
SELECT r.id, r.status = 'succeeded' AND r.attempt = u.attempt AND (u.incarnation = 0 OR r.incarnation = u.incarnation)
FROM unnest(%(ids)s::bigint[], %(attempts)s::integer[], %(incarnations)s::integer[]) AS u(id, attempt, incarnation)
JOIN tickbird.runs AS r ON r.id = u.id
ORDER BY r.id
FOR UPDATE OF r SKIP LOCKED;

-- name: locked_runs
-- The runs of these that exist, locked or not.
SELECT id FROM tickbird.runs WHERE id = ANY(%(ids)s::bigint[]);

-- name: settle_runs
-- Takes the notes of these runs, or the oldest if `ids` is null; with each, whether its success must be recorded.
WITH settled AS MATERIALIZED (
    DELETE FROM tickbird.committed_runs
    WHERE run_id = ANY(ARRAY(
        SELECT c.run_id FROM tickbird.committed_runs AS c
        WHERE %(ids)s::bigint[] IS NULL OR c.run_id = ANY(%(ids)s::bigint[])
        ORDER BY c.run_id
        LIMIT %(limit)s
        FOR UPDATE SKIP LOCKED
    ))
    RETURNING run_id
)
SELECT
    r.finished_at, r.schedule_id, r.namespace, r.concurrency_key,
    EXISTS (SELECT FROM tickbird.last_successes AS l WHERE l.schedule_id = r.schedule_id)
FROM settled
JOIN tickbird.runs AS r ON r.id = settled.run_id
ORDER BY r.finished_at, r.id;
