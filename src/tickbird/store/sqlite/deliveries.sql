-- Deliveries: claim partitions of consumer groups, renew their leases, and record outcomes. A CROSS JOIN is executed in the
-- order in which it is written.

-- fragment: names
namespace = :namespace AND consumer_group = :consumer_group AND partition = :partition

-- fragment: incarnation
(SELECT CAST(m.value AS INTEGER) FROM meta AS m WHERE m.key = 'incarnation') AS incarnation

-- fragment: is_due
-- A letter whose own key does not block it.
l.state IN ('retrying', 'deferred') AND (l.state = 'deferred' OR l.retry_at <= :now)
AND NOT EXISTS (
    SELECT 1 FROM dead_letters AS b
    WHERE b.namespace = l.namespace AND b.consumer_group = l.consumer_group AND b.key = l.key AND b.position <= l.position
        AND b.state IN ('retrying', 'deferred', 'failed') AND (b.state = 'failed' OR b.retry_at > :now)
)

-- name: find_claimable_partitions
-- The partitions that are neither leased nor paused, each with its next event and its first letter that may be due.
SELECT
    o.consumer_group, coalesce(g.scratch_of, g.name) AS consumer, g.topics, o.partition, o.position, o.crashes, o.single_until,
    o.pauses, o.leased_until,
    (
        SELECT min(e.position) FROM events AS e
        WHERE e.namespace = o.namespace AND e.partition = o.partition AND e.position > o.position
    ) AS next_event,
    (
        SELECT l.position FROM dead_letters AS l
        WHERE l.namespace = o.namespace AND l.consumer_group = o.consumer_group AND l.partition = o.partition AND {is_due}
        ORDER BY l.position LIMIT 1
    ) AS next_letter
FROM consumer_groups AS g
CROSS JOIN consumer_offsets AS o ON o.namespace = g.namespace AND o.consumer_group = g.name
WHERE g.namespace = :namespace
    AND g.state = 'active'
    AND (g.name IN (SELECT value FROM json_each(:groups)) OR g.scratch_of IN (SELECT value FROM json_each(:groups)))
    AND (o.leased_until IS NULL OR o.leased_until <= :now)
    AND (o.paused_until IS NULL OR o.paused_until <= :now);

-- name: find_next_delivery
-- When a pause ends, or a letter is tried again.
SELECT min(at)
FROM (
    SELECT min(o.paused_until) AS at
    FROM consumer_groups AS g
    CROSS JOIN consumer_offsets AS o ON o.namespace = g.namespace AND o.consumer_group = g.name AND o.paused_until > :now
    WHERE g.namespace = :namespace AND g.state = 'active'
        AND (g.name IN (SELECT value FROM json_each(:groups)) OR g.scratch_of IN (SELECT value FROM json_each(:groups)))
    UNION ALL
    SELECT (
        SELECT min(l.retry_at) FROM dead_letters AS l
        WHERE l.namespace = g.namespace AND l.consumer_group = g.name AND l.retry_at > :now
    )
    FROM consumer_groups AS g
    WHERE g.namespace = :namespace AND g.state = 'active'
        AND (g.name IN (SELECT value FROM json_each(:groups)) OR g.scratch_of IN (SELECT value FROM json_each(:groups)))
);

-- name: read_due_letters
SELECT
    e.*, {incarnation}, l.failures, l.repair, l.approved_by,
    CASE WHEN l.transaction_id IS NULL THEN 1 ELSE (
        SELECT count(*) FROM dead_letters AS u
        WHERE u.transaction_id = l.transaction_id AND u.namespace = l.namespace AND u.consumer_group = l.consumer_group
            AND u.partition = l.partition AND u.state IN ('retrying', 'deferred', 'failed')
    ) END AS unit_size,
    l.transaction_id IS NOT NULL AND EXISTS (
        SELECT 1 FROM dead_letters AS t
        WHERE t.transaction_id = l.transaction_id AND t.namespace = l.namespace AND t.consumer_group = l.consumer_group
            AND (t.state = 'failed' OR t.retry_at > :now)
    ) AS is_blocked
FROM dead_letters AS l
JOIN events AS e ON e.id = l.event
WHERE l.namespace = :namespace AND l.consumer_group = :consumer_group AND l.partition = :partition AND {is_due}
ORDER BY l.position;

-- name: find_unread_events
SELECT position, topic, transaction_id FROM events
WHERE namespace = :namespace AND partition = :partition AND position > :after
ORDER BY position;

-- name: read_deliveries
SELECT
    e.*, {incarnation},
    EXISTS (
        SELECT 1 FROM dead_letters AS l
        WHERE l.namespace = e.namespace AND l.consumer_group = :consumer_group AND l.key = e.key
            AND l.state IN ('retrying', 'deferred', 'failed')
    ) OR e.transaction_id IS NOT NULL AND EXISTS (
        SELECT 1 FROM dead_letters AS t
        WHERE t.transaction_id = e.transaction_id AND t.namespace = e.namespace AND t.consumer_group = :consumer_group
            AND t.state IN ('retrying', 'failed')
    ) AS is_held
FROM json_each(:positions) AS p
CROSS JOIN events AS e ON e.namespace = :namespace AND e.position = p.value
ORDER BY e.position;

-- name: skip_other_topics
UPDATE consumer_offsets SET position = :through, crashes = coalesce(single_until > :through, 0) WHERE {names};

-- name: lease_partition
UPDATE consumer_offsets
SET token = token + 1, worker = :worker, leased_until = :until, crashes = :crashes, single_until = :single_until
WHERE {names}
RETURNING token;

-- name: renew_partition
UPDATE consumer_offsets SET leased_until = :until
WHERE {names} AND token = :token AND worker IS NOT NULL
RETURNING 1;

-- name: release_partition
-- The next unit was also in the batch that was lost.
UPDATE consumer_offsets SET worker = NULL, leased_until = NULL, crashes = coalesce(single_until > position, 0)
WHERE {names} AND token = :token
RETURNING position;

-- name: hold_partition
-- Begins to write, and shows that the partition is still leased.
UPDATE consumer_offsets SET crashes = coalesce(single_until > position, 0)
WHERE {names} AND token = :token AND worker IS NOT NULL
RETURNING position;

-- name: count_unresolved
SELECT count(*) FROM dead_letters
WHERE namespace = :namespace AND consumer_group = :consumer_group
    AND position IN (SELECT value FROM json_each(:positions))
    AND state IN ('retrying', 'deferred', 'failed');

-- name: advance_partition
UPDATE consumer_offsets
SET position = :position,
    crashes = coalesce(single_until > :position, 0),
    single_until = CASE WHEN single_until > :position THEN single_until END,
    paused_until = :paused_until,
    pauses = CASE WHEN :paused_until IS NOT NULL THEN pauses + 1 WHEN :has_delivered THEN 0 ELSE pauses END,
    error = CASE WHEN :paused_until IS NOT NULL THEN :error WHEN :has_delivered THEN NULL ELSE error END
WHERE {names};

-- name: add_letters
-- After a move to an earlier position, an event may have a letter that was resolved.
INSERT INTO dead_letters (
    namespace, consumer_group, partition, position, event, key, transaction_id, state, failures, error, created_at, retry_at
)
SELECT
    e.namespace, :consumer_group, e.partition, e.position, e.id, e.key, e.transaction_id, :state, :failures, :error, :now,
    :retry_at
FROM json_each(:positions) AS p
CROSS JOIN events AS e ON e.namespace = :namespace AND e.position = p.value
WHERE true
ON CONFLICT (namespace, consumer_group, position) DO UPDATE
SET state = excluded.state, failures = excluded.failures, error = excluded.error, created_at = excluded.created_at,
    retry_at = excluded.retry_at, repair = NULL, repaired_by = NULL, approved_by = NULL, resolved_at = NULL,
    resolved_by = NULL, note = NULL;

-- name: fail_letters
UPDATE dead_letters INDEXED BY dead_letters_position_key SET state = :state, failures = :failures, error = :error, retry_at = :retry_at
WHERE namespace = :namespace AND consumer_group = :consumer_group
    AND position IN (SELECT value FROM json_each(:positions))
    AND state IN ('retrying', 'deferred', 'failed');

-- name: deliver_letters
UPDATE dead_letters INDEXED BY dead_letters_position_key SET state = 'delivered', retry_at = NULL, resolved_at = :now
WHERE namespace = :namespace AND consumer_group = :consumer_group
    AND position IN (SELECT value FROM json_each(:positions))
    AND state IN ('retrying', 'deferred', 'failed');
