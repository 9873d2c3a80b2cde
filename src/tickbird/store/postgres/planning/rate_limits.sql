-- Rates of queues: what may begin, and what stands in each queue.

-- name: look_at_rates
-- Of these queues those that have a rate, with the clock and when the first run becomes available that could be claimed
-- then: found as by claim_runs.
WITH RECURSIVE paced AS MATERIALIZED (
    SELECT t.queue, t.count, t.seconds, t.starts
    FROM tickbird.queue_rates AS t
    WHERE t.namespace = %(namespace)s AND t.queue = ANY(%(queues)s::text[])
),
unread AS MATERIALIZED (
    SELECT * FROM unnest(%(unread_schedules)s::bigint[], %(unread_revisions)s::integer[]) AS u(schedule_id, revision)
),
lines AS (
    SELECT paced.queue, n.target, n.ad_hoc, n.priority, n.deferred_until
    FROM paced
    CROSS JOIN LATERAL (
        SELECT r.target, (r.schedule_id IS NULL)::integer AS ad_hoc, r.priority, r.deferred_until
        FROM tickbird.runs AS r
        WHERE r.status = 'queued' AND r.namespace = %(namespace)s AND r.queue = paced.queue
        ORDER BY r.target DESC, (r.schedule_id IS NULL)::integer DESC, r.priority DESC, r.deferred_until DESC
        LIMIT 1
    ) AS n
    UNION ALL
    SELECT l.queue, n.target, n.ad_hoc, n.priority, n.deferred_until
    FROM lines AS l
    CROSS JOIN LATERAL (
        SELECT r.target, (r.schedule_id IS NULL)::integer AS ad_hoc, r.priority, r.deferred_until
        FROM tickbird.runs AS r
        WHERE r.status = 'queued'
            AND r.namespace = %(namespace)s
            AND r.queue = l.queue
            AND (r.target, (r.schedule_id IS NULL)::integer, r.priority) < (l.target, l.ad_hoc, l.priority)
        ORDER BY r.target DESC, (r.schedule_id IS NULL)::integer DESC, r.priority DESC, r.deferred_until DESC
        LIMIT 1
    ) AS n
)
SELECT c.now, paced.queue, paced.count, paced.seconds, paced.starts, (
    SELECT min(first.available_at)
    FROM lines AS l
    JOIN (VALUES (0, 0), (1, 2147483647)) AS b(first, last) ON b.first <= l.deferred_until
    CROSS JOIN LATERAL (
        SELECT r.available_at FROM tickbird.runs AS r
        WHERE r.status = 'queued'
            AND r.namespace = %(namespace)s
            AND r.queue = l.queue
            AND r.target = l.target
            AND (r.schedule_id IS NULL)::integer = l.ad_hoc
            AND r.priority = l.priority
            AND r.deferred_until >= b.first
            AND r.deferred_until <= b.last
            AND (r.start_by IS NULL OR r.start_by >= c.now)
            AND r.id <> ALL(%(unread_runs)s::bigint[])
            AND NOT EXISTS (SELECT FROM unread AS u WHERE u.schedule_id = r.schedule_id AND u.revision = r.revision)
        ORDER BY r.deferred_until, r.available_at
        LIMIT 1
    ) AS first
    WHERE l.queue = paced.queue AND l.target = ANY(%(tasks)s::text[])
)
FROM (SELECT coalesce(%(now)s::timestamptz, statement_timestamp()) AS now) AS c
CROSS JOIN paced
ORDER BY paced.queue;

-- name: lock_rates
-- Those that another claimer holds are its own to use: nobody waits for them.
SELECT coalesce(%(now)s::timestamptz, statement_timestamp()), queue, count, seconds, starts
FROM tickbird.queue_rates
WHERE namespace = %(namespace)s AND queue = ANY(%(queues)s::text[])
ORDER BY queue
FOR UPDATE SKIP LOCKED;

-- name: queues_of_runs
SELECT queue, array_agg(id) FROM tickbird.runs WHERE id = ANY(%(ids)s::bigint[]) GROUP BY queue;

-- name: save_starts
UPDATE tickbird.queue_rates SET starts = %(starts)s WHERE namespace = %(namespace)s AND queue = %(queue)s;

-- name: set_rate
INSERT INTO tickbird.queue_rates (namespace, queue, count, seconds)
VALUES (%(namespace)s, %(queue)s, %(count)s, %(seconds)s)
ON CONFLICT (namespace, queue) DO UPDATE SET count = excluded.count, seconds = excluded.seconds;

-- name: remove_rate
DELETE FROM tickbird.queue_rates WHERE namespace = %(namespace)s AND queue = %(queue)s;

-- name: stored_rates
SELECT queue, count, seconds, starts FROM tickbird.queue_rates
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

-- name: deferred_until_of
SELECT deferred_until FROM tickbird.runs WHERE id = %(id)s;

-- name: runs_ahead
-- Those of its queue that are taken before this one, as far as they are counted.
SELECT count(*)
FROM (
    SELECT FROM tickbird.runs AS r
    WHERE r.status = 'queued'
        AND r.namespace = %(namespace)s
        AND r.queue = %(queue)s
        AND r.available_at <= %(now)s
        AND (-r.priority, r.deferred_until, r.available_at, r.id)
            < (SELECT -o.priority, o.deferred_until, o.available_at, o.id FROM tickbird.runs AS o WHERE o.id = %(id)s)
    LIMIT %(limit)s
) AS found;
