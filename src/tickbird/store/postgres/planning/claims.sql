-- Claims: the queued runs that a worker leases.
-- `{name}` is replaced by the text below `-- fragment: name`.

-- fragment: queued_of_queue
SELECT r.target_kind, r.target, (r.schedule_id IS NULL)::integer AS ad_hoc, r.priority, r.deferred_until_minute
FROM tickbird.runs AS r
WHERE r.status = 'queued' AND r.namespace = %(namespace)s AND r.queue = l.queue

-- fragment: last_of_line
ORDER BY
    r.target_kind DESC, r.target DESC, (r.schedule_id IS NULL)::integer DESC, r.priority DESC, r.deferred_until_minute DESC
LIMIT 1

-- fragment: claimable
-- A run r of a part p, at the worker's trusted time. If the clock is ahead of that, a run that waited for the clock is
-- excluded: one that was enqueued for later, or waits for a retry. A run that was due when it was created, or waited only
-- for other runs, is included.
r.status = 'queued'
    AND r.namespace = %(namespace)s
    AND r.queue = p.queue
    AND r.target_kind = p.target_kind
    AND r.target = p.target
    AND (r.schedule_id IS NULL)::integer = p.ad_hoc
    AND r.priority = p.priority
    AND r.deferred_until_minute >= p.first
    AND (r.start_by IS NULL OR r.start_by >= clock.believed)
    AND (
        r.available_at <= clock.believed
        OR r.available_at > clock.now
        OR (r.attempt = 0 AND r.released_at IS NULL AND r.due_at <= greatest(r.created_at, clock.believed))
    )
    AND r.id <> ALL(%(unread_runs)s::bigint[])
    AND NOT EXISTS (SELECT FROM unread AS u WHERE u.schedule_id = r.schedule_id AND u.revision = r.revision)

-- name: claim_runs
-- The queued runs of one target, queue and priority form two lines: runs of schedules, and runs without a schedule.
-- Lines are read by jumping through the index, so neither runs of targets that this worker does not serve nor runs for
-- later are walked. The jumps start at the end of a line: its front has dead index entries of recently claimed runs.
-- Each line offers its first runs. The best priority is served first. Lines of one priority are served in turn, starting
-- with the one that this process has not served for the longest time. Deferred runs (`deferred_until_minute` > 0) come
-- after all others. If another claimer has locked offered runs, the next ones are claimed. If there is only one part, runs
-- are claimed from it without counting; its offers are counted only to compute the next wake-up.
-- At most `maximum` runs of a queue are claimed, its budget; the first queues have one. If one of the others, `free`, has
-- a rate limit, nothing is claimed, and each row has such a queue, its rate limit, and the instant at which its first run
-- is available. Otherwise, if nothing was claimed, the only row has the clock, and the instant at which a run becomes
-- available; if one is available already, another claimer holds it and may leave it: claim again soon.
-- Runs that this process cannot read are excluded. Leases and rate limits use the clock as it is, because other workers may
-- trust it.
WITH RECURSIVE rates AS MATERIALIZED (
    SELECT t.queue, t.count, t.seconds, t.starts
    FROM tickbird.queue_rates AS t
    WHERE t.namespace = %(namespace)s AND t.queue = ANY(%(free)s::text[])
),
budgets AS (
    SELECT q.queue, q.maximum
    FROM unnest(%(queues)s::text[], %(maximum)s::integer[]) AS q(queue, maximum)
    WHERE NOT EXISTS (SELECT FROM rates)
    UNION ALL
    SELECT rates.queue, 0 FROM rates
),
clock AS MATERIALIZED (
    SELECT c.now, CASE WHEN c.now > %(latest)s::timestamptz THEN %(believed)s::timestamptz ELSE c.now END AS believed
    FROM (SELECT coalesce(%(now)s::timestamptz, statement_timestamp()) AS now) AS c
),
unread AS MATERIALIZED (
    SELECT * FROM unnest(%(unread_schedules)s::bigint[], %(unread_revisions)s::integer[]) AS u(schedule_id, revision)
),
lines AS (
    SELECT l.queue, l.maximum, n.target_kind, n.target, n.ad_hoc, n.priority, n.deferred_until_minute
    FROM budgets AS l
    CROSS JOIN LATERAL ({queued_of_queue} {last_of_line}) AS n
    UNION ALL
    SELECT l.queue, l.maximum, n.target_kind, n.target, n.ad_hoc, n.priority, n.deferred_until_minute
    FROM lines AS l
    CROSS JOIN LATERAL (
        {queued_of_queue}
            AND (r.target_kind, r.target, (r.schedule_id IS NULL)::integer, r.priority)
                < (l.target_kind, l.target, l.ad_hoc, l.priority)
        {last_of_line}
    ) AS n
),
parts AS MATERIALIZED (
    SELECT
        l.queue, l.maximum, l.target_kind, l.target, l.ad_hoc, l.priority, b.first, b.last,
        coalesce(array_position(%(served)s::text[], l.ad_hoc || l.target_kind || ':' || l.target), 0) AS turn
    FROM lines AS l
    JOIN (VALUES (0, 0), (1, 2147483647)) AS b(first, last) ON b.first <= l.deferred_until_minute
    WHERE (l.target_kind, l.target) IN (SELECT * FROM unnest(%(kinds)s::text[], %(targets)s::text[]))
),
single_part AS MATERIALIZED (
    SELECT count(*) = 1 AS is_single FROM parts
),
offers AS MATERIALIZED (
    SELECT p.*, o.available, o.first_at
    FROM parts AS p
    CROSS JOIN clock
    CROSS JOIN LATERAL (
        SELECT count(*) FILTER (WHERE w.available_at <= clock.now) AS available, min(w.available_at) AS first_at
        FROM (
            SELECT r.available_at FROM tickbird.runs AS r
            WHERE {claimable} AND r.deferred_until_minute <= p.last
            ORDER BY r.deferred_until_minute, r.available_at, r.id
            LIMIT greatest(1, least(p.maximum, %(limit)s))
        ) AS w
    ) AS o
    WHERE o.first_at IS NOT NULL
),
shares AS MATERIALIZED (
    SELECT
        p.queue, p.target_kind, p.target, p.ad_hoc, p.priority, p.first, p.last, p.turn, NULL::timestamptz AS first_at,
        least(p.maximum, %(limit)s) AS runs
    FROM parts AS p
    WHERE (SELECT s.is_single FROM single_part AS s)
    UNION ALL
    SELECT s.queue, s.target_kind, s.target, s.ad_hoc, s.priority, s.first, s.last, s.turn, s.first_at, count(*)
    FROM (
        SELECT p.*
        FROM (
            SELECT o.*, g.place, row_number() OVER (
                PARTITION BY o.queue ORDER BY o.priority DESC, o.first, g.place, o.turn, o.first_at
            ) AS number
            FROM offers AS o
            CROSS JOIN LATERAL generate_series(1, o.available) AS g(place)
            WHERE NOT (SELECT s.is_single FROM single_part AS s)
        ) AS p
        WHERE p.number <= coalesce(p.maximum, %(limit)s)
        ORDER BY p.priority DESC, p.first, p.place, p.turn, p.first_at
        LIMIT %(limit)s
    ) AS s
    GROUP BY s.queue, s.target_kind, s.target, s.ad_hoc, s.priority, s.first, s.last, s.turn, s.first_at
),
picked AS MATERIALIZED (
    SELECT n.id, n.place, p.priority, p.first, p.turn, p.first_at
    FROM shares AS p
    CROSS JOIN clock
    CROSS JOIN LATERAL (
        SELECT locked.id, row_number() OVER () AS place
        FROM (
            SELECT r.id
            FROM tickbird.runs AS r
            WHERE {claimable}
                AND (r.deferred_until_minute, r.available_at) <= (p.last, clock.now)
                AND r.available_at <= clock.now
            ORDER BY r.deferred_until_minute, r.available_at, r.id
            LIMIT p.runs
            FOR UPDATE SKIP LOCKED
        ) AS locked
    ) AS n
),
taken AS (
    UPDATE tickbird.runs AS r
    SET status = 'running',
        attempt = r.attempt + 1,
        incarnation = (SELECT m.value::integer FROM tickbird.meta AS m WHERE m.key = 'incarnation'),
        worker = %(worker)s,
        started_at = (SELECT clock.believed FROM clock),
        lease_until = (SELECT clock.now FROM clock) + make_interval(secs => %(lease)s)
    WHERE r.id = ANY(ARRAY(SELECT picked.id FROM picked))
    RETURNING
        r.id, r.schedule_id, r.revision, r.attempt, r.failures, r.target, r.origin, r.due_at, r.scheduled_for,
        r.covers_first, r.covers_last, r.covers_count, r.concurrency_key, r.incarnation, r.target_kind
)
SELECT
    clock.now,
    CASE WHEN taken.id IS NULL THEN (
        SELECT min(
            CASE
                WHEN rates.queue IS NULL AND o.first_at <= clock.now THEN clock.now + interval '100 ms' ELSE o.first_at
            END
        )
        FROM offers AS o
        WHERE o.queue = coalesce(rates.queue, o.queue)
    ) END AS next_at,
    rates.queue, rates.count AS count_, rates.seconds, rates.starts,
    taken.id, taken.schedule_id, taken.revision, taken.attempt, taken.failures, taken.target, taken.origin,
    taken.due_at, taken.scheduled_for, taken.covers_first, taken.covers_last, taken.covers_count,
    p.payload::text, taken.concurrency_key, taken.incarnation, taken.target_kind
FROM clock
LEFT JOIN rates ON true
LEFT JOIN taken ON true
LEFT JOIN picked ON picked.id = taken.id
LEFT JOIN tickbird.run_payloads AS p ON p.run_id = taken.id
ORDER BY picked.priority DESC, picked.first, picked.place, picked.turn, picked.first_at, taken.id;

-- name: lock_rates
-- Skips rows that another claimer has locked; a claim does not wait for them.
SELECT coalesce(%(now)s::timestamptz, statement_timestamp()), queue, count, seconds, starts
FROM tickbird.queue_rates
WHERE namespace = %(namespace)s AND queue = ANY(%(queues)s::text[])
ORDER BY queue
FOR UPDATE SKIP LOCKED;

-- name: queues_of_runs
SELECT queue, array_agg(id) FROM tickbird.runs WHERE id = ANY(%(ids)s::bigint[]) GROUP BY queue;

-- name: save_starts
UPDATE tickbird.queue_rates SET starts = %(starts)s WHERE namespace = %(namespace)s AND queue = %(queue)s;

-- name: return_runs
-- Undo the claim of runs that this process cannot read; other workers may have searched for them in between.
WITH returned AS (
    UPDATE tickbird.runs AS r
    SET status = 'queued',
        attempt = r.attempt - 1,
        worker = NULL,
        started_at = CASE WHEN r.attempt > 1 THEN r.started_at END,
        lease_until = NULL
    FROM unnest(%(ids)s::bigint[], %(attempts)s::integer[]) AS u(id, attempt)
    WHERE r.id = u.id AND r.attempt = u.attempt AND r.worker = coalesce(%(worker)s, r.worker) AND r.status || '' = 'running'
    RETURNING r.id
)
SELECT pg_notify('tickbird', '') FROM (SELECT FROM returned LIMIT 1) AS any_returned;

-- name: queued_revisions
-- Which of these revisions have queued runs.
SELECT u.schedule_id, u.revision
FROM unnest(%(ids)s::bigint[], %(revisions)s::integer[]) AS u(schedule_id, revision)
WHERE EXISTS (
    SELECT FROM tickbird.runs AS r
    WHERE r.schedule_id = u.schedule_id AND r.finished_at IS NULL AND r.status || '' = 'queued' AND r.revision = u.revision
);

-- name: queued_payloads
SELECT r.id, p.payload::text
FROM unnest(%(ids)s::bigint[]) AS u(id)
JOIN tickbird.runs AS r ON r.id = u.id AND r.status || '' = 'queued'
JOIN tickbird.run_payloads AS p ON p.run_id = r.id;
