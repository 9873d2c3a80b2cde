-- Concurrency keys: their limits, and the runs that have a slot or wait for one.

-- name: lock_keys
-- The holder of a key's stripe counts, occupies and releases its slots. Each session locks all stripes at once, in order,
-- after the rows of runs that it changes, and does not wait for a row afterwards. So there is no deadlock.
SELECT pg_advisory_xact_lock(1413694530, stripe) FROM unnest(CAST(%(stripes)s AS integer[])) AS stripe;

-- name: read_room
SELECT
    k.namespace,
    k.key,
    coalesce(l.max_running, CAST(%(default)s AS integer)) - (
        SELECT CAST(count(*) AS integer) FROM tickbird.runs AS r
        WHERE r.namespace = k.namespace AND r.concurrency_key = k.key AND r.status IN ('queued', 'running')
    )
FROM unnest(CAST(%(namespaces)s AS text[]), CAST(%(keys)s AS text[])) AS k(namespace, key)
LEFT JOIN tickbird.concurrency_limits AS l USING (namespace, key);

-- name: schedules_of_keys
-- The schedules with a run that waits for one of these keys, read by jumping through the index.
WITH RECURSIVE found AS (
    SELECT k.namespace, k.key, first.schedule_id
    FROM unnest(%(namespaces)s::text[], %(keys)s::text[]) AS k(namespace, key)
    CROSS JOIN LATERAL (
        SELECT r.schedule_id FROM tickbird.runs AS r
        WHERE r.status = 'waiting'
            AND r.namespace = k.namespace
            AND r.concurrency_key = k.key
            AND r.schedule_id IS NOT NULL
            AND r.lane < 2
        ORDER BY r.schedule_id LIMIT 1
    ) AS first
    UNION ALL
    SELECT found.namespace, found.key, next.schedule_id
    FROM found
    CROSS JOIN LATERAL (
        SELECT r.schedule_id FROM tickbird.runs AS r
        WHERE r.status = 'waiting'
            AND r.namespace = found.namespace
            AND r.concurrency_key = found.key
            AND r.schedule_id > found.schedule_id
            AND r.lane < 2
        ORDER BY r.schedule_id LIMIT 1
    ) AS next
)
SELECT DISTINCT schedule_id FROM found;

-- name: waiters_without_schedule
-- Waiting runs without a schedule, as many as there are free slots.
SELECT w.id, NULL::bigint, NULL::integer, w.priority, k.namespace, k.key, NULL::bigint, NULL::integer
FROM unnest(%(namespaces)s::text[], %(keys)s::text[], %(room)s::integer[]) AS k(namespace, key, room)
CROSS JOIN LATERAL (
    SELECT r.id, r.priority FROM tickbird.runs AS r
    WHERE r.status = 'waiting'
        AND r.namespace = k.namespace
        AND r.concurrency_key = k.key
        AND r.schedule_id IS NULL
        AND r.lane = 0
    ORDER BY r.priority DESC, r.id
    LIMIT k.room
) AS w;

-- name: waiting_keys
SELECT DISTINCT namespace, concurrency_key FROM tickbird.runs
WHERE status = 'waiting' AND concurrency_key IS NOT NULL AND lane < 2
LIMIT %(limit)s;

-- name: set_limit
INSERT INTO tickbird.concurrency_limits (namespace, key, max_running) VALUES (%(namespace)s, %(key)s, %(max_running)s)
ON CONFLICT (namespace, key) DO UPDATE SET max_running = excluded.max_running;

-- name: remove_limit
DELETE FROM tickbird.concurrency_limits WHERE namespace = %(namespace)s AND key = %(key)s;

-- name: stored_limit
SELECT max_running FROM tickbird.concurrency_limits WHERE namespace = %(namespace)s AND key = %(key)s;

-- name: list_limits
WITH active AS MATERIALIZED (
    SELECT concurrency_key AS key, count(*) AS active FROM tickbird.runs
    WHERE namespace = %(namespace)s AND concurrency_key IS NOT NULL AND status IN ('queued', 'running')
        AND concurrency_key > %(after)s AND (%(key)s::text IS NULL OR concurrency_key = %(key)s)
    GROUP BY concurrency_key
    ORDER BY concurrency_key
    LIMIT %(limit)s::bigint
),
waiting AS MATERIALIZED (
    SELECT concurrency_key AS key, count(*) AS waiting FROM tickbird.runs
    WHERE namespace = %(namespace)s AND concurrency_key IS NOT NULL AND status = 'waiting'
        AND concurrency_key > %(after)s AND (%(key)s::text IS NULL OR concurrency_key = %(key)s)
    GROUP BY concurrency_key
    ORDER BY concurrency_key
    LIMIT %(limit)s::bigint
),
stored AS (
    SELECT key, max_running FROM tickbird.concurrency_limits
    WHERE namespace = %(namespace)s AND key > %(after)s AND (%(key)s::text IS NULL OR key = %(key)s)
    ORDER BY key
    LIMIT %(limit)s::bigint
)
SELECT
    key, coalesce(max_running, %(default)s)::integer, max_running IS NOT NULL, coalesce(active, 0)::integer,
    coalesce(waiting, 0)::integer
FROM stored
FULL JOIN active USING (key)
FULL JOIN waiting USING (key)
ORDER BY key
LIMIT %(limit)s::bigint;

-- name: list_runs_of_key
SELECT d.* FROM tickbird.run_details AS d
WHERE d.id = ANY(ARRAY(
    SELECT r.id FROM tickbird.runs AS r
    WHERE r.namespace = %(namespace)s AND r.concurrency_key = %(key)s AND r.status IN ('queued', 'running')
    ORDER BY r.id
    LIMIT %(limit)s
))
ORDER BY d.id;
