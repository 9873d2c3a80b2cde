-- Lost runs: they wait for the answer whether their lost attempt had its effect.

-- fragment: lost_run
SELECT
    l.run_id, i.name AS schedule, l.target, l.attempt, l.lost_at, l.calls, l.effect, l.error, l.resolved_at, l.resolved_by,
    l.note
FROM tickbird.lost_runs AS l
JOIN tickbird.runs AS r ON r.id = l.run_id
LEFT JOIN tickbird.schedule_ids AS i ON i.id = r.schedule_id

-- name: list_lost_runs
{lost_run}
WHERE r.namespace = %(namespace)s
    AND r.status = 'waiting'
    AND r.lane = 2
    AND r.attempt > 0
    AND r.id < coalesce(%(before)s::bigint, 9223372036854775807)
ORDER BY r.id DESC
LIMIT %(limit)s;

-- name: get_lost_run
{lost_run}
WHERE l.run_id = %(id)s;

-- name: give_up_calls
-- Its calls have lost their workers too.
UPDATE tickbird.lost_runs
SET effect = 'unknown', error = %(error)s, resolved_at = %(now)s, lease_until = NULL
WHERE effect IS NULL AND calls >= %(maximum)s AND lease_until < %(now)s;

-- name: claim_lost_runs
WITH chosen AS MATERIALIZED (
    SELECT l.run_id
    FROM tickbird.lost_runs AS l
    JOIN tickbird.runs AS r ON r.id = l.run_id
    WHERE l.effect IS NULL
        AND l.namespace = %(namespace)s
        AND l.target = ANY(%(targets)s::text[])
        AND (l.lease_until IS NULL OR l.lease_until < %(now)s)
        AND r.target_kind = 'task'
        AND r.status || '' = 'waiting'
        AND r.lane = 2
        AND r.attempt > 0
    ORDER BY l.lost_at, l.run_id
    LIMIT %(limit)s
    FOR UPDATE OF l SKIP LOCKED
)
UPDATE tickbird.lost_runs AS l
SET calls = l.calls + 1, called_by = %(worker)s, lease_until = %(now)s + make_interval(secs => %(lease)s)
FROM chosen
WHERE l.run_id = chosen.run_id
RETURNING l.run_id, l.calls;

-- name: runs_of_calls
SELECT * FROM tickbird.run_details WHERE id = ANY(%(ids)s::bigint[]);

-- name: lock_lost_run
-- The run and the state of its question; no row if it was never asked about.
SELECT
    r.id, r.schedule_id, r.namespace, r.status, r.concurrency_key, r.lane, r.crashes, r.crash_limit, i.name, l.attempt,
    l.calls, l.effect
FROM tickbird.runs AS r
JOIN tickbird.lost_runs AS l ON l.run_id = r.id
LEFT JOIN tickbird.schedule_ids AS i ON i.id = r.schedule_id
WHERE r.id = %(id)s
FOR UPDATE OF r, l;

-- name: resolve_lost_run
UPDATE tickbird.lost_runs
SET effect = %(effect)s, error = %(error)s, resolved_at = %(now)s, resolved_by = %(actor)s, note = %(note)s,
    lease_until = NULL
WHERE run_id = %(id)s;

-- name: end_lost_run
-- The worker of the lost attempt is shown with the run.
UPDATE tickbird.runs
SET status = %(status)s, lane = 0, finished_at = %(now)s, reason = %(reason)s,
    error = CASE WHEN %(status)s::text = 'failed' THEN error END,
    failure_kind = CASE WHEN %(status)s::text = 'failed' THEN 'lost' END
WHERE id = %(id)s
RETURNING CASE WHEN status = 'succeeded' THEN ARRAY(
    SELECT l.schedule_id FROM tickbird.last_successes AS l WHERE l.schedule_id = runs.schedule_id
) ELSE '{}'::bigint[] END;

-- name: retry_lost_run
-- It waits for its turn like others; without a schedule and a key it waits for nothing.
UPDATE tickbird.runs
SET status = CASE WHEN schedule_id IS NULL AND concurrency_key IS NULL THEN 'queued' ELSE 'waiting' END,
    lane = 0,
    available_at = greatest(available_at, %(now)s)
WHERE id = %(id)s;
