-- Consumers: groups, leases of their partitions, deliveries and outcomes.
--
-- Locks are taken in this order: offsets by partition, then dead letters by position.

-- fragment: now
coalesce(CAST(%(now)s AS timestamptz), statement_timestamp())

-- fragment: event_columns
e.event_id, e.namespace, e.topic, e.type, e.source, e.time, e.key, e.headers, e.tenant, e.published_at, e.partition, e.run_id,
e.transaction_id, e.ordinal, e.count, (SELECT m.value::integer FROM tickbird.meta AS m WHERE m.key = 'incarnation') AS incarnation

-- name: lease_partitions
-- The commit is not flushed, because it delays the events. If the server loses a lease in a crash, the events are delivered
-- again. The clock makes its token different from that of the lost lease.
-- Reads of the log are scalar subqueries with a LIMIT: as a join, a generic plan may scan the log.
WITH wanted AS MATERIALIZED (
    SELECT g.name, g.topics, u.name AS consumer, u.batch
    FROM unnest(%(groups)s::text[], %(batches)s::integer[]) AS u(name, batch)
    JOIN tickbird.consumer_groups AS g ON g.namespace = %(namespace)s AND coalesce(g.scratch_of, g.name) = u.name
    WHERE g.state = 'active'
),
offsets AS MATERIALIZED (
    SELECT w.consumer, w.batch, w.topics, o.consumer_group, o.partition, o.position, o.leased_until, o.paused_until, o.letters_at, o.claimed_at
    FROM wanted AS w
    JOIN tickbird.consumer_offsets AS o ON o.namespace = %(namespace)s AND o.consumer_group = w.name
),
ready AS MATERIALIZED (
    SELECT o.*, l.next_position
    FROM offsets AS o
    CROSS JOIN LATERAL (
        SELECT (
            SELECT l.position FROM tickbird.event_log AS l
            WHERE l.namespace = %(namespace)s AND l.partition = o.partition AND l.position > o.position
            ORDER BY l.position LIMIT 1
        ) AS next_position
        OFFSET 0
    ) AS l
    WHERE (o.leased_until IS NULL OR o.leased_until <= {now})
        AND (o.paused_until IS NULL OR o.paused_until <= {now})
        AND (o.letters_at <= {now} OR l.next_position IS NOT NULL)
),
locked AS MATERIALIZED (
    SELECT o.consumer_group, o.partition, r.consumer, r.batch, r.topics
    FROM ready AS r
    JOIN tickbird.consumer_offsets AS o
        ON o.namespace = %(namespace)s AND o.consumer_group = r.consumer_group AND o.partition = r.partition
    -- The row may have been leased since the snapshot.
    WHERE (o.leased_until IS NULL OR o.leased_until <= {now}) AND (o.paused_until IS NULL OR o.paused_until <= {now})
    ORDER BY r.claimed_at NULLS FIRST, r.next_position NULLS FIRST, r.consumer_group, r.partition
    LIMIT %(limit)s
    FOR UPDATE OF o SKIP LOCKED
),
leased AS (
    UPDATE tickbird.consumer_offsets AS o
    SET token = greatest(o.token + 1, CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS bigint)),
        worker = %(worker)s,
        leased_until = {now} + make_interval(secs => %(lease)s),
        claimed_at = {now},
        crashes = CASE WHEN o.leased_until IS NULL THEN o.crashes ELSE least(o.crashes + 1, 1000) END
    FROM locked AS l
    WHERE o.namespace = %(namespace)s AND o.consumer_group = l.consumer_group AND o.partition = l.partition
    RETURNING
        o.consumer_group, o.partition, o.token, o.position, o.crashes, o.pauses, coalesce(o.letters_at <= {now}, false) AS has_letters,
        o.crashes > 0 AND coalesce(o.single_until <= o.position, true) AS is_lost, l.consumer, l.batch, l.topics
)
SELECT
    {now} AS now,
    (
        SELECT min(x.at) FROM offsets AS o CROSS JOIN LATERAL (VALUES (o.paused_until), (o.letters_at)) AS x(at)
        WHERE x.at > {now}
    ) AS next_at,
    (SELECT count(*) FROM ready) > (SELECT count(*) FROM leased) AND (SELECT count(*) FROM leased) = %(limit)s AS more,
    l.*
FROM set_config('synchronous_commit', 'off', true)
LEFT JOIN leased AS l ON true
ORDER BY l.consumer_group, l.partition;

-- name: deliver_one_by_one
-- A worker was lost with a delivery of these partitions: up to the end of that batch, any unit may be the cause. Without new
-- events, the batch was of dead letters: then units are delivered one by one until the offset moves.
UPDATE tickbird.consumer_offsets AS o
SET single_until = coalesce(
    (
        SELECT max(m.position)
        FROM (
            SELECT x.position
            FROM (
                SELECT l.position, l.topic FROM tickbird.event_log AS l
                WHERE l.namespace = %(namespace)s AND l.partition = o.partition AND l.position > o.position
                ORDER BY l.position LIMIT greatest(u.batch, 1000)
            ) AS x
            WHERE u.topics IS NULL OR '.' || x.topic ~ u.topics
            ORDER BY x.position LIMIT u.batch
        ) AS m
    ),
    o.position + 1
)
FROM unnest(%(groups)s::text[], %(partitions)s::smallint[], %(batches)s::integer[], %(topics)s::text[])
    AS u(consumer_group, partition, batch, topics)
WHERE o.namespace = %(namespace)s AND o.consumer_group = u.consumer_group AND o.partition = u.partition;

-- name: read_due_letters
-- Letters that their own keys do not block, of partitions by place.
SELECT
    c.place, d.position, d.failures, d.repair, d.approved_by, d.unit_size, d.is_blocked, d.version, d.stamped_at, {event_columns}, e.data
FROM unnest(%(groups)s::text[], %(partitions)s::smallint[], %(limits)s::integer[])
    WITH ORDINALITY AS c(consumer_group, partition, max_letters, place)
CROSS JOIN LATERAL (
    SELECT
        d.position, d.failures, d.repair, d.approved_by, d.event,
        CASE WHEN d.transaction_id IS NULL THEN 1 ELSE (
            SELECT count(*) FROM tickbird.dead_letters AS u
            WHERE u.transaction_id = d.transaction_id AND u.namespace = %(namespace)s AND u.consumer_group = c.consumer_group
                AND u.partition = c.partition AND u.state IN ('retrying', 'deferred', 'failed')
        ) END AS unit_size,
        d.transaction_id IS NOT NULL AND (
            SELECT t.id FROM tickbird.dead_letters AS t
            WHERE t.transaction_id = d.transaction_id AND t.namespace = %(namespace)s AND t.consumer_group = c.consumer_group
                AND (t.state = 'failed' OR t.retry_at > {now})
            LIMIT 1
        ) IS NOT NULL AS is_blocked,
        (SELECT l.version FROM tickbird.event_log AS l WHERE l.event = d.event LIMIT 1) AS version,
        (SELECT l.stamped_at FROM tickbird.event_log AS l WHERE l.event = d.event LIMIT 1) AS stamped_at
    FROM tickbird.dead_letters AS d
    WHERE d.namespace = %(namespace)s AND d.consumer_group = c.consumer_group AND d.partition = c.partition
        AND d.state IN ('retrying', 'deferred') AND (d.state = 'deferred' OR d.retry_at <= {now})
        AND (
            SELECT b.id FROM tickbird.dead_letters AS b
            WHERE b.namespace = %(namespace)s AND b.consumer_group = c.consumer_group AND b.key = d.key
                AND b.position < d.position AND b.state IN ('retrying', 'deferred', 'failed')
                AND (b.state = 'failed' OR b.retry_at > {now})
            ORDER BY b.position LIMIT 1
        ) IS NULL
    ORDER BY d.position
    LIMIT c.max_letters
) AS d
JOIN tickbird.events AS e ON e.id = d.event
ORDER BY c.place, d.position;

-- name: read_deliveries
-- The next events of partitions by place, each with the offset after them. If the first of the events that were
-- published together was read, all of them are; their positions follow one another.
WITH claimed AS MATERIALIZED (
    SELECT
        c.*, greatest(c.batch, 1000) AS looks,
        (
            SELECT d.id FROM tickbird.dead_letters AS d
            WHERE d.namespace = %(namespace)s AND d.consumer_group = c.consumer_group
                AND d.state IN ('retrying', 'deferred', 'failed')
            LIMIT 1
        ) IS NOT NULL AS has_letters
    FROM unnest(
        %(groups)s::text[], %(partitions)s::smallint[], %(offsets)s::bigint[], %(batches)s::integer[], %(topics)s::text[]
    ) WITH ORDINALITY AS c(consumer_group, partition, position, batch, topics, place)
),
matching AS MATERIALIZED (
    SELECT c.place, m.position, m.event, m.version, m.key, m.stamped_at
    FROM claimed AS c
    CROSS JOIN LATERAL (
        SELECT x.position, x.event, x.version, x.key, x.stamped_at
        FROM (
            SELECT l.position, l.event, l.version, l.key, l.topic, l.stamped_at FROM tickbird.event_log AS l
            WHERE l.namespace = %(namespace)s AND l.partition = c.partition AND l.position > c.position
            ORDER BY l.position LIMIT c.looks
        ) AS x
        WHERE c.topics IS NULL OR '.' || x.topic ~ c.topics
        ORDER BY x.position LIMIT c.batch
    ) AS m
),
ends AS MATERIALIZED (
    SELECT
        c.place, c.consumer_group, c.partition, c.topics, c.has_letters,
        coalesce(f.count, 0) = c.batch AS is_full,
        CASE WHEN f.count = c.batch THEN f.last ELSE (
            SELECT max(x.position)
            FROM (
                SELECT l.position FROM tickbird.event_log AS l
                WHERE l.namespace = %(namespace)s AND l.partition = c.partition AND l.position > c.position
                ORDER BY l.position LIMIT c.looks
            ) AS x
        ) END AS position
    FROM claimed AS c
    LEFT JOIN (SELECT m.place, count(*) AS count, max(m.position) AS last FROM matching AS m GROUP BY m.place) AS f
        ON f.place = c.place
),
tails AS MATERIALIZED (
    SELECT n.place, t.position, t.event, t.version, t.key, t.stamped_at, n.topics IS NULL OR '.' || t.topic ~ n.topics AS is_matching
    FROM ends AS n
    CROSS JOIN LATERAL (
        SELECT e.transaction_id, e.count - e.ordinal AS rest
        FROM tickbird.event_log AS l
        JOIN tickbird.events AS e ON e.id = l.event
        WHERE l.namespace = %(namespace)s AND l.position = n.position AND e.transaction_id IS NOT NULL
        LIMIT 1
    ) AS o
    CROSS JOIN LATERAL (
        SELECT l.position, l.event, l.version, l.key, l.topic, l.stamped_at
        FROM tickbird.event_log AS l
        JOIN tickbird.events AS e ON e.id = l.event
        WHERE l.namespace = %(namespace)s AND l.partition = n.partition
            AND l.position > n.position AND l.position <= n.position + o.rest AND e.transaction_id = o.transaction_id
        ORDER BY l.position LIMIT 1000
    ) AS t
),
items AS MATERIALIZED (
    SELECT m.place, m.position, m.event, m.version, m.key, m.stamped_at FROM matching AS m
    UNION ALL
    SELECT t.place, t.position, t.event, t.version, t.key, t.stamped_at FROM tails AS t WHERE t.is_matching
)
SELECT
    n.place, n.is_full,
    greatest(n.position, (SELECT max(t.position) FROM tails AS t WHERE t.place = n.place)) AS through,
    i.position, i.version, i.stamped_at, {event_columns}, e.data,
    CASE WHEN n.has_letters THEN (
        SELECT d.id FROM tickbird.dead_letters AS d
        WHERE d.namespace = %(namespace)s AND d.consumer_group = n.consumer_group AND d.key = i.key
            AND d.position < i.position AND d.state IN ('retrying', 'deferred', 'failed')
        LIMIT 1
    ) IS NOT NULL OR (
        SELECT d.id FROM tickbird.dead_letters AS d
        WHERE d.transaction_id = e.transaction_id AND d.namespace = %(namespace)s AND d.consumer_group = n.consumer_group
            AND d.state IN ('retrying', 'failed')
        LIMIT 1
    ) IS NOT NULL ELSE false END AS is_held
FROM ends AS n
LEFT JOIN items AS i ON i.place = n.place
LEFT JOIN LATERAL (SELECT * FROM tickbird.events AS e WHERE e.id = i.event LIMIT 1) AS e ON true
ORDER BY n.place, i.position;

-- name: release_partitions
-- Partitions without a delivery: the offset moves past events of other topics.
UPDATE tickbird.consumer_offsets AS o
SET leased_until = NULL,
    worker = NULL,
    position = greatest(o.position, u.position),
    crashes = CASE WHEN o.position >= u.position THEN o.crashes WHEN o.single_until > u.position THEN 1 ELSE 0 END
FROM unnest(%(groups)s::text[], %(partitions)s::smallint[], %(offsets)s::bigint[]) AS u(consumer_group, partition, position)
WHERE o.namespace = %(namespace)s AND o.consumer_group = u.consumer_group AND o.partition = u.partition;

-- name: postpone_letters
-- No letter of these partitions can be delivered now. `has_candidates`: some wait for another partition, whose finish sets
-- letters_at unless this row is locked then; so the next claim checks them again soon.
UPDATE tickbird.consumer_offsets AS o
SET letters_at = least(
    (
        SELECT d.retry_at FROM tickbird.dead_letters AS d
        WHERE d.namespace = %(namespace)s AND d.consumer_group = o.consumer_group AND d.partition = o.partition
            AND d.retry_at > {now}
        ORDER BY d.retry_at LIMIT 1
    ),
    CASE WHEN u.has_candidates THEN {now} + interval '5 s' END
)
FROM unnest(%(groups)s::text[], %(partitions)s::smallint[], %(candidates)s::boolean[])
    AS u(consumer_group, partition, has_candidates)
WHERE o.namespace = %(namespace)s AND o.consumer_group = u.consumer_group AND o.partition = u.partition;

-- name: renew_partitions
-- A row that is locked by the open transaction of its consumer counts as held: no worker can claim it.
WITH u AS MATERIALIZED (
    SELECT * FROM unnest(%(namespaces)s::text[], %(groups)s::text[], %(partitions)s::smallint[], %(tokens)s::bigint[])
        AS u(namespace, consumer_group, partition, token)
),
held AS MATERIALIZED (
    SELECT u.* FROM u
    JOIN tickbird.consumer_offsets AS o
        ON o.namespace = u.namespace AND o.consumer_group = u.consumer_group AND o.partition = u.partition
    WHERE o.token = u.token AND o.leased_until IS NOT NULL
),
locked AS MATERIALIZED (
    SELECT h.* FROM held AS h
    JOIN tickbird.consumer_offsets AS o
        ON o.namespace = h.namespace AND o.consumer_group = h.consumer_group AND o.partition = h.partition
    WHERE o.token = h.token AND o.leased_until IS NOT NULL
    ORDER BY h.namespace, h.consumer_group, h.partition
    FOR UPDATE OF o SKIP LOCKED
),
renewed AS (
    UPDATE tickbird.consumer_offsets AS o
    SET leased_until = {now} + make_interval(secs => %(lease)s)
    FROM locked AS l
    WHERE o.namespace = l.namespace AND o.consumer_group = l.consumer_group AND o.partition = l.partition
)
SELECT h.namespace, h.consumer_group, h.partition, h.token FROM held AS h;

-- name: lock_deliveries
-- The offsets of outcomes whose tokens are current.
SELECT o.namespace, o.consumer_group, o.partition, o.token, o.position
FROM unnest(
    CAST(%(namespaces)s AS text[]), CAST(%(groups)s AS text[]), CAST(%(partitions)s AS smallint[]), CAST(%(tokens)s AS bigint[])
) AS u(namespace, consumer_group, partition, token)
JOIN tickbird.consumer_offsets AS o
    ON o.namespace = u.namespace AND o.consumer_group = u.consumer_group AND o.partition = u.partition AND o.token = u.token
ORDER BY o.namespace, o.consumer_group, o.partition
FOR UPDATE OF o;

-- name: finish_deliveries
-- Outcomes of deliveries, fenced by their tokens. An offset that the consumer has moved in its own transaction stays. Without
-- `releases`, this is the consumer's transaction: it keeps the lease, and must be the one that moves the offset.
WITH locked AS MATERIALIZED (
    SELECT
        o.namespace, o.consumer_group, o.partition, u.after, u.delivers, u.pause, u.error, u.letters_in,
        CASE WHEN o.position = u.after THEN u.through ELSE o.position END AS position
    FROM unnest(
        CAST(%(namespaces)s AS text[]), CAST(%(groups)s AS text[]), CAST(%(partitions)s AS smallint[]),
        CAST(%(tokens)s AS bigint[]), CAST(%(after)s AS bigint[]), CAST(%(through)s AS bigint[]),
        CAST(%(delivers)s AS boolean[]), CAST(%(pauses)s AS float8[]), CAST(%(errors)s AS text[]), CAST(%(letters_in)s AS float8[])
    ) AS u(namespace, consumer_group, partition, token, after, through, delivers, pause, error, letters_in)
    JOIN tickbird.consumer_offsets AS o
        ON o.namespace = u.namespace AND o.consumer_group = u.consumer_group AND o.partition = u.partition AND o.token = u.token
    WHERE CAST(%(releases)s AS boolean) OR o.position = u.after
    ORDER BY o.namespace, o.consumer_group, o.partition
    FOR UPDATE OF o
)
UPDATE tickbird.consumer_offsets AS o
SET position = l.position,
    leased_until = CASE WHEN CAST(%(releases)s AS boolean) THEN NULL ELSE o.leased_until END,
    worker = CASE WHEN CAST(%(releases)s AS boolean) THEN NULL ELSE o.worker END,
    -- The next unit was also in the batch that was lost.
    crashes = CASE WHEN o.single_until > l.position THEN 1 ELSE 0 END,
    single_until = CASE WHEN o.single_until > l.position THEN o.single_until END,
    letters_at = CASE
        WHEN l.letters_in = 0 THEN '-infinity'
        ELSE least(o.letters_at, {now} + make_interval(secs => l.letters_in))
    END,
    paused_until = CASE
        WHEN o.position <> l.after THEN o.paused_until
        ELSE {now} + make_interval(secs => l.pause)
    END,
    pauses = CASE
        WHEN o.position <> l.after THEN o.pauses
        WHEN l.pause IS NOT NULL THEN o.pauses + 1
        WHEN l.delivers THEN 0
        ELSE o.pauses
    END,
    error = CASE
        WHEN o.position <> l.after THEN o.error
        WHEN l.pause IS NOT NULL THEN l.error
        WHEN l.delivers THEN NULL
        ELSE o.error
    END
FROM locked AS l
WHERE o.namespace = l.namespace AND o.consumer_group = l.consumer_group AND o.partition = l.partition
RETURNING o.namespace, o.consumer_group, o.partition, o.token;

-- name: add_letters
-- New events become letters. After a move to an earlier position, an event may have one that was resolved.
INSERT INTO tickbird.dead_letters (
    event, position, transaction_id, created_at, retry_at, partition, failures, state, namespace, consumer_group, key, error
)
SELECT
    l.event, l.position, e.transaction_id, {now}, {now} + make_interval(secs => u.retry_in), l.partition, u.failures, u.state,
    l.namespace, CAST(%(consumer_group)s AS text), l.key, u.error
FROM unnest(
    CAST(%(positions)s AS bigint[]), CAST(%(states)s AS text[]), CAST(%(failures)s AS integer[]),
    CAST(%(retries)s AS float8[]), CAST(%(errors)s AS text[])
) AS u(position, state, failures, retry_in, error)
JOIN tickbird.event_log AS l ON l.namespace = CAST(%(namespace)s AS text) AND l.position = u.position
CROSS JOIN LATERAL (SELECT e.transaction_id FROM tickbird.events AS e WHERE e.id = l.event LIMIT 1) AS e
ORDER BY u.position
ON CONFLICT (namespace, consumer_group, position) DO UPDATE
SET state = excluded.state, failures = excluded.failures, error = excluded.error, created_at = excluded.created_at,
    retry_at = excluded.retry_at, repair = NULL, repaired_by = NULL, approved_by = NULL, resolved_at = NULL,
    resolved_by = NULL, note = NULL
RETURNING state, transaction_id;

-- name: change_letters
-- The result of a redelivery. Letters that an operator has resolved meanwhile stay.
WITH locked AS MATERIALIZED (
    SELECT d.id, u.state, u.failures, u.retry_in, u.error
    FROM unnest(
        CAST(%(positions)s AS bigint[]), CAST(%(states)s AS text[]), CAST(%(failures)s AS integer[]),
        CAST(%(retries)s AS float8[]), CAST(%(errors)s AS text[])
    ) AS u(position, state, failures, retry_in, error)
    JOIN tickbird.dead_letters AS d
        ON d.namespace = CAST(%(namespace)s AS text) AND d.consumer_group = CAST(%(consumer_group)s AS text)
        AND d.position = u.position
    WHERE d.state IN ('retrying', 'deferred', 'failed')
    ORDER BY d.position
    FOR UPDATE OF d
)
UPDATE tickbird.dead_letters AS d
SET state = l.state,
    failures = coalesce(l.failures, d.failures),
    error = coalesce(l.error, d.error),
    retry_at = CASE WHEN l.state = 'retrying' THEN {now} + make_interval(secs => l.retry_in) END,
    resolved_at = CASE WHEN l.state = 'delivered' THEN {now} END
FROM locked AS l
WHERE d.id = l.id
RETURNING d.state, d.transaction_id;

-- name: wake_transactions
-- Letters of these transactions in other partitions may be due now. A locked row is skipped: its own claim checks again, see
-- postpone_letters.
WITH locked AS MATERIALIZED (
    SELECT o.partition
    FROM tickbird.consumer_offsets AS o
    WHERE o.namespace = CAST(%(namespace)s AS text) AND o.consumer_group = CAST(%(consumer_group)s AS text)
        AND o.partition <> CAST(%(partition)s AS smallint)
        AND o.partition = ANY(ARRAY(
            SELECT d.partition
            FROM unnest(CAST(%(transactions)s AS uuid[])) AS x(transaction_id)
            JOIN tickbird.dead_letters AS d ON d.transaction_id = x.transaction_id
            WHERE d.namespace = CAST(%(namespace)s AS text) AND d.consumer_group = CAST(%(consumer_group)s AS text)
                AND d.state IN ('retrying', 'deferred')
        ))
    ORDER BY o.partition
    FOR UPDATE OF o SKIP LOCKED
)
UPDATE tickbird.consumer_offsets AS o
SET letters_at = '-infinity'
FROM locked AS l
WHERE o.namespace = CAST(%(namespace)s AS text) AND o.consumer_group = CAST(%(consumer_group)s AS text) AND o.partition = l.partition
RETURNING o.partition;
