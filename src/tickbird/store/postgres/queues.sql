-- Queues: their rate limits and their runs.
-- `{name}` is replaced by the text below `-- fragment: name`.

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
-- The number of waiting, queued and running runs of each queue; each status by its own index.
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

-- name: deferred_until_minute_of
SELECT deferred_until_minute FROM tickbird.runs WHERE id = %(id)s;

-- name: runs_ahead
-- The runs of its queue that start before this one, counted up to a limit.
SELECT count(*)
FROM (
    SELECT FROM tickbird.runs AS r
    WHERE r.status = 'queued'
        AND r.namespace = %(namespace)s
        AND r.queue = %(queue)s
        AND r.available_at <= %(now)s
        AND (-r.priority, r.deferred_until_minute, r.available_at, r.id)
            < (SELECT -o.priority, o.deferred_until_minute, o.available_at, o.id FROM tickbird.runs AS o WHERE o.id = %(id)s)
    LIMIT %(limit)s
) AS found;

-- fragment: queued_lines
-- The queued runs of one target, queue and priority form lines, read by jumping through the index as in claim_runs.
lines AS (
    (
        SELECT r.queue, r.target_kind, r.target, (r.schedule_id IS NULL)::integer AS ad_hoc, r.priority
        FROM tickbird.runs AS r
        WHERE r.status = 'queued' AND r.namespace = %(namespace)s
        ORDER BY r.queue, r.target_kind, r.target, (r.schedule_id IS NULL)::integer, r.priority LIMIT 1
    )
    UNION ALL
    SELECT r.queue, r.target_kind, r.target, r.ad_hoc, r.priority
    FROM lines AS l
    CROSS JOIN LATERAL (
        SELECT r.queue, r.target_kind, r.target, (r.schedule_id IS NULL)::integer AS ad_hoc, r.priority
        FROM tickbird.runs AS r
        WHERE r.status = 'queued'
            AND r.namespace = %(namespace)s
            AND (r.queue, r.target_kind, r.target, (r.schedule_id IS NULL)::integer, r.priority)
                > (l.queue, l.target_kind, l.target, l.ad_hoc, l.priority)
        ORDER BY r.queue, r.target_kind, r.target, (r.schedule_id IS NULL)::integer, r.priority LIMIT 1
    ) AS r
)

-- fragment: in_line
r.status = 'queued'
    AND r.namespace = %(namespace)s
    AND r.queue = l.queue
    AND r.target_kind = l.target_kind
    AND r.target = l.target
    AND (r.schedule_id IS NULL)::integer = l.ad_hoc
    AND r.priority = l.priority

-- name: late_runs
-- The oldest runs of each line. If a run is deferred, its line has an older one.
WITH RECURSIVE {queued_lines}
SELECT f.id, s.name AS schedule, l.queue, l.target_kind, l.target, f.available_at
FROM (SELECT * FROM lines LIMIT %(maximum)s) AS l
CROSS JOIN LATERAL (
    SELECT r.id, r.schedule_id, r.available_at FROM tickbird.runs AS r
    WHERE {in_line} AND r.deferred_until_minute = 0 AND r.available_at < %(before)s
    ORDER BY r.available_at, r.id
    LIMIT %(limit)s
) AS f
LEFT JOIN tickbird.schedules AS s ON s.id = f.schedule_id
ORDER BY f.available_at, f.id
LIMIT %(limit)s;

-- name: examine_waiting
-- Runs that could start now, by queue and target: the oldest of each, up to a limit.
WITH RECURSIVE {queued_lines}
SELECT l.queue, l.target_kind, l.target, count(*)::integer, min(f.available_at)
FROM lines AS l
CROSS JOIN LATERAL (
    SELECT r.available_at FROM tickbird.runs AS r
    WHERE {in_line} AND r.available_at <= coalesce(%(now)s::timestamptz, statement_timestamp())
    ORDER BY r.deferred_until_minute, r.available_at
    LIMIT %(limit)s
) AS f
GROUP BY l.queue, l.target_kind, l.target
ORDER BY min(f.available_at), l.queue, l.target_kind, l.target
LIMIT %(limit)s;
