-- Queues: their rates, and what stands in them.

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
