-- Queues: their rate limits and their runs.

-- name: set_rate
INSERT INTO queue_rates (namespace, queue, count, seconds) VALUES (:namespace, :queue, :count, :seconds)
ON CONFLICT (namespace, queue) DO UPDATE SET count = excluded.count, seconds = excluded.seconds;

-- name: remove_rate
DELETE FROM queue_rates WHERE namespace = :namespace AND queue = :queue;

-- name: stored_rates
SELECT queue, count, seconds, starts
FROM queue_rates
WHERE namespace = :namespace AND (:queue IS NULL OR queue = :queue)
ORDER BY queue;

-- name: save_starts
UPDATE queue_rates SET starts = :starts WHERE namespace = :namespace AND queue = :queue;

-- name: count_queues
-- The number of waiting, queued and running runs of each queue, or of one queue. Each status by its own index.
SELECT queue, sum(status = 'waiting'), sum(status = 'queued'), sum(status = 'running')
FROM (
    SELECT queue, status FROM runs WHERE status = 'waiting' AND +namespace = :namespace
    UNION ALL
    SELECT queue, status FROM runs INDEXED BY runs_queued_idx WHERE status = 'queued' AND namespace = :namespace
    UNION ALL
    SELECT queue, status FROM runs WHERE status = 'running' AND +namespace = :namespace
)
WHERE :queue IS NULL OR queue = :queue
GROUP BY queue;

-- name: deferred_until_minute_of
SELECT deferred_until_minute FROM runs WHERE id = :id;

-- name: runs_ahead
-- The runs of its queue that start before this one, counted up to a limit.
SELECT count(*)
FROM (
    SELECT 1
    FROM runs AS r
    WHERE r.status = 'queued'
        AND r.namespace = :namespace
        AND r.queue = :queue
        AND r.available_at <= :now
        AND (-r.priority, r.deferred_until_minute, r.available_at, r.id)
            < (SELECT -o.priority, o.deferred_until_minute, o.available_at, o.id FROM runs AS o WHERE o.id = :id)
    LIMIT :limit
);

-- name: examine_queues
WITH RECURSIVE queues (queue) AS (
    SELECT min(queue) FROM runs WHERE namespace = :namespace AND status = 'queued'
    UNION ALL
    SELECT (SELECT min(r.queue) FROM runs AS r WHERE r.namespace = :namespace AND r.status = 'queued' AND r.queue > q.queue)
    FROM queues AS q
    WHERE q.queue IS NOT NULL
)
SELECT queue FROM queues WHERE queue IS NOT NULL;

-- name: examine_waiting
-- Runs that could start now, by target. Runs that no worker serves stay at the front of their queue, so the first suffice.
SELECT :queue, target_kind, target, count(*), min(available_at)
FROM (
    SELECT target_kind, target, available_at FROM runs
    WHERE namespace = :namespace AND queue = :queue AND status = 'queued' AND available_at <= :now
    ORDER BY priority DESC, deferred_until_minute, available_at, id
    LIMIT :limit
)
GROUP BY target_kind, target
ORDER BY min(available_at), target_kind, target;

-- name: late_runs
-- Runs that no worker serves stay at the front of their queue, so the first of each suffice.
SELECT f.id, s.name, f.queue, f.target_kind, f.target, f.available_at
FROM (
    SELECT id, schedule_id, queue, target_kind, target, available_at
    FROM runs
    WHERE namespace = :namespace AND queue = :queue AND status = 'queued'
    LIMIT :maximum
) AS f
LEFT JOIN schedules AS s ON s.id = f.schedule_id
WHERE f.available_at < :before
ORDER BY f.available_at, f.id
LIMIT :limit;
