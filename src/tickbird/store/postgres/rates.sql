-- Rates of queues: what may begin, and what stands in each queue.

-- name: look_at_rates
-- Of these queues those that have a rate, with the clock and when the first run becomes available that could be claimed
-- then: found as by claim_runs.
WITH RECURSIVE paced AS MATERIALIZED (
    SELECT t.queue, t.count, t.seconds, t.starts
    FROM tickbird.rates AS t
    WHERE t.namespace = %(namespace)s AND t.queue = ANY(%(queues)s::text[])
),
levels AS (
    SELECT paced.queue, top.priority
    FROM paced
    CROSS JOIN LATERAL (
        SELECT r.priority FROM tickbird.runs AS r
        WHERE r.status = 'queued' AND r.namespace = %(namespace)s AND r.queue = paced.queue
        ORDER BY r.priority DESC LIMIT 1
    ) AS top
    UNION ALL
    SELECT levels.queue, lower.priority
    FROM levels
    CROSS JOIN LATERAL (
        SELECT r.priority FROM tickbird.runs AS r
        WHERE r.status = 'queued' AND r.namespace = %(namespace)s AND r.queue = levels.queue AND r.priority < levels.priority
        ORDER BY r.priority DESC LIMIT 1
    ) AS lower
)
SELECT c.now, paced.queue, paced.count, paced.seconds, paced.starts, (
    SELECT min(first.available_at)
    FROM levels
    CROSS JOIN LATERAL (
        (
            SELECT r.available_at FROM tickbird.runs AS r
            WHERE r.status = 'queued'
                AND r.namespace = %(namespace)s
                AND r.queue = levels.queue
                AND r.priority = levels.priority
                AND r.behind = 0
                AND r.target = ANY(%(tasks)s::text[])
                AND r.id <> ALL(%(unread_runs)s::bigint[])
                AND (
                    r.schedule_id = ANY(%(unread_schedules)s::bigint[])
                    AND (r.schedule_id, r.revision) IN (
                        SELECT * FROM unnest(%(unread_schedules)s::bigint[], %(unread_revisions)s::integer[])
                    )
                ) IS NOT TRUE
                AND (r.start_by IS NULL OR r.start_by >= c.now)
            ORDER BY r.available_at LIMIT 1
        )
        UNION ALL
        (
            SELECT r.available_at FROM tickbird.runs AS r
            WHERE r.status = 'queued'
                AND r.namespace = %(namespace)s
                AND r.queue = levels.queue
                AND r.priority = levels.priority
                AND r.behind > 0
                AND r.target = ANY(%(tasks)s::text[])
                AND r.id <> ALL(%(unread_runs)s::bigint[])
                AND (
                    r.schedule_id = ANY(%(unread_schedules)s::bigint[])
                    AND (r.schedule_id, r.revision) IN (
                        SELECT * FROM unnest(%(unread_schedules)s::bigint[], %(unread_revisions)s::integer[])
                    )
                ) IS NOT TRUE
                AND (r.start_by IS NULL OR r.start_by >= c.now)
            ORDER BY r.behind, r.available_at LIMIT 1
        )
    ) AS first
    WHERE levels.queue = paced.queue
)
FROM (SELECT coalesce(%(now)s::timestamptz, statement_timestamp()) AS now) AS c
CROSS JOIN paced
ORDER BY paced.queue;

-- name: lock_rates
-- Those that another claimer holds are its own to use: nobody waits for them.
SELECT coalesce(%(now)s::timestamptz, statement_timestamp()), queue, count, seconds, starts
FROM tickbird.rates
WHERE namespace = %(namespace)s AND queue = ANY(%(queues)s::text[])
ORDER BY queue
FOR UPDATE SKIP LOCKED;

-- name: queues_of_runs
SELECT queue, array_agg(id) FROM tickbird.runs WHERE id = ANY(%(ids)s::bigint[]) GROUP BY queue;

-- name: save_starts
UPDATE tickbird.rates SET starts = %(starts)s WHERE namespace = %(namespace)s AND queue = %(queue)s;

-- name: set_rate
INSERT INTO tickbird.rates (namespace, queue, count, seconds)
VALUES (%(namespace)s, %(queue)s, %(count)s, %(seconds)s)
ON CONFLICT (namespace, queue) DO UPDATE SET count = excluded.count, seconds = excluded.seconds;

-- name: remove_rate
DELETE FROM tickbird.rates WHERE namespace = %(namespace)s AND queue = %(queue)s;

-- name: stored_rates
SELECT queue, count, seconds, starts FROM tickbird.rates
WHERE namespace = %(namespace)s AND (%(queue)s::text IS NULL OR queue = %(queue)s)
ORDER BY queue;

-- name: count_queues
-- How many runs of each queue wait, are queued and run; each status by its own index.
WITH found AS (
    SELECT queue, status FROM tickbird.runs
    WHERE status = 'waiting' AND namespace = %(namespace)s AND (%(queue)s::text IS NULL OR queue = %(queue)s)
    UNION ALL
    SELECT queue, status FROM tickbird.runs
    WHERE status = 'queued' AND namespace = %(namespace)s AND (%(queue)s::text IS NULL OR queue = %(queue)s)
    UNION ALL
    SELECT queue, status FROM tickbird.runs
    WHERE status = 'running' AND namespace = %(namespace)s AND (%(queue)s::text IS NULL OR queue = %(queue)s)
)
SELECT
    queue,
    count(*) FILTER (WHERE status = 'waiting'),
    count(*) FILTER (WHERE status = 'queued'),
    count(*) FILTER (WHERE status = 'running')
FROM found
GROUP BY queue;

-- name: behind_of
SELECT behind FROM tickbird.runs WHERE id = %(id)s;

-- name: runs_ahead
-- Those of its queue that are taken before this one, as far as they are counted.
SELECT count(*)
FROM (
    SELECT FROM tickbird.runs AS r
    WHERE r.status = 'queued'
        AND r.namespace = %(namespace)s
        AND r.queue = %(queue)s
        AND r.available_at <= %(now)s
        AND (-r.priority, r.behind, r.available_at, r.id)
            < (SELECT -o.priority, o.behind, o.available_at, o.id FROM tickbird.runs AS o WHERE o.id = %(id)s)
    LIMIT %(limit)s
) AS found;
