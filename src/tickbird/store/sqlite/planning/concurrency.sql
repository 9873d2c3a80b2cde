-- Concurrency keys: their limits, and the runs that have a slot or wait for one.

-- name: busy_key
SELECT
    coalesce((SELECT max_running FROM concurrency_limits WHERE namespace = :namespace AND key = :key), :default)
    - (
        SELECT count(*)
        FROM runs
        WHERE namespace = :namespace
            AND concurrency_key = :key
            AND finished_at IS NULL
            AND status IN ('queued', 'running')
    );

-- name: schedules_of_key
-- The schedules with a run that waits for this key, read by jumping through the index.
WITH RECURSIVE found (id) AS (
    SELECT min(schedule_id)
    FROM runs
    WHERE namespace = :namespace
        AND concurrency_key = :key
        AND finished_at IS NULL
        AND status = 'waiting'
        AND lane < 2
    UNION ALL
    SELECT (
        SELECT min(r.schedule_id)
        FROM runs AS r
        WHERE r.namespace = :namespace
            AND r.concurrency_key = :key
            AND r.finished_at IS NULL
            AND r.status = 'waiting'
            AND r.lane < 2
            AND r.schedule_id > f.id
    )
    FROM found AS f
    WHERE f.id IS NOT NULL
)
SELECT id FROM found WHERE id IS NOT NULL;

-- name: waiters_without_schedule
-- Waiting runs without a schedule.
SELECT id, schedule_id, revision, priority, namespace, concurrency_key, NULL, NULL
FROM runs
WHERE namespace = :namespace
    AND concurrency_key = :key
    AND finished_at IS NULL
    AND status = 'waiting'
    AND schedule_id IS NULL
    AND lane = 0
ORDER BY priority DESC, id
LIMIT :limit;

-- name: waiting_keys
SELECT DISTINCT namespace, concurrency_key
FROM runs
WHERE concurrency_key IS NOT NULL AND finished_at IS NULL AND status = 'waiting' AND lane < 2;

-- name: set_limit
INSERT INTO concurrency_limits (namespace, key, max_running) VALUES (:namespace, :key, :max_running)
ON CONFLICT (namespace, key) DO UPDATE SET max_running = excluded.max_running;

-- name: remove_limit
DELETE FROM concurrency_limits WHERE namespace = :namespace AND key = :key;

-- name: stored_limit
SELECT max_running FROM concurrency_limits WHERE namespace = :namespace AND key = :key;

-- name: list_limits
SELECT
    k.key,
    coalesce(l.max_running, :default),
    l.max_running IS NOT NULL,
    (
        SELECT count(*)
        FROM runs AS r
        WHERE r.namespace = :namespace
            AND r.concurrency_key = k.key
            AND r.finished_at IS NULL
            AND r.status IN ('queued', 'running')
    ),
    (
        SELECT count(*)
        FROM runs AS r
        WHERE r.namespace = :namespace
            AND r.concurrency_key = k.key
            AND r.finished_at IS NULL
            AND r.status = 'waiting'
    )
FROM (
    SELECT key FROM concurrency_limits WHERE namespace = :namespace AND key > :after
    UNION
    SELECT concurrency_key
    FROM runs
    WHERE namespace = :namespace AND concurrency_key > :after AND concurrency_key IS NOT NULL AND finished_at IS NULL
) AS k
LEFT JOIN concurrency_limits AS l ON l.namespace = :namespace AND l.key = k.key
WHERE :key IS NULL OR k.key = :key
ORDER BY k.key
LIMIT :limit;

-- name: list_runs_of_key
SELECT *
FROM run_details
WHERE id IN (
    SELECT id
    FROM runs
    WHERE namespace = :namespace
        AND concurrency_key = :key
        AND finished_at IS NULL
        AND status IN ('queued', 'running')
)
ORDER BY id
LIMIT :limit;
