-- Dead letters: list, replay, skip and repair them.

-- fragment: now
coalesce(%(now)s::timestamptz, statement_timestamp())

-- fragment: letter
-- A letter with its event.
SELECT
    d.id AS letter_id, d.consumer_group, d.state, d.failures, d.error, d.created_at, d.retry_at, d.repair, d.repaired_by,
    d.approved_by, d.resolved_at, d.resolved_by, d.note, e.event_id, e.namespace, e.topic, e.type, e.source, e.time, e.data, e.key,
    e.headers, e.tenant, e.published_at, e.partition, e.run_id, e.transaction_id, e.ordinal, e.count, d.position,
    l.version, l.stamped_at, (SELECT m.value::integer FROM tickbird.meta AS m WHERE m.key = 'incarnation') AS incarnation
FROM tickbird.dead_letters AS d
JOIN tickbird.events AS e ON e.id = d.event
LEFT JOIN tickbird.event_log AS l ON l.event = d.event

-- fragment: of_unit
-- The letter and those that were published together with it.
namespace = %(namespace)s AND consumer_group = %(consumer_group)s AND (id = %(id)s OR transaction_id = %(transaction_id)s)

-- name: list_letters
-- For each group and state, the first letters; then the first of all.
{letter}
WHERE d.id IN (
    SELECT f.id
    FROM tickbird.consumer_groups AS g
    CROSS JOIN unnest(%(states)s::text[]) AS s(state)
    CROSS JOIN LATERAL (
        SELECT f.id FROM tickbird.dead_letters AS f
        WHERE f.namespace = g.namespace AND f.consumer_group = g.name AND f.state = s.state AND f.id > %(after)s
            AND (%(key)s::text IS NULL OR f.key = %(key)s)
        ORDER BY f.id LIMIT %(limit)s
    ) AS f
    WHERE g.namespace = %(namespace)s AND g.name = coalesce(%(consumer_group)s::text, g.name)
    ORDER BY f.id LIMIT %(limit)s
)
ORDER BY d.id;

-- name: read_letter
{letter}
WHERE d.namespace = %(namespace)s AND d.id = %(id)s;

-- name: find_letters_by_event
{letter}
WHERE d.event = (SELECT l.event FROM tickbird.event_log AS l WHERE l.namespace = %(namespace)s AND l.position = %(position)s)
ORDER BY d.consumer_group;

-- name: lock_unit
-- The next claims of the unit's partitions search for letters that are due. Offsets are locked before letters.
WITH locked AS MATERIALIZED (
    SELECT o.partition FROM tickbird.consumer_offsets AS o
    WHERE o.namespace = %(namespace)s AND o.consumer_group = %(consumer_group)s
        AND o.partition = ANY(ARRAY(SELECT d.partition FROM tickbird.dead_letters AS d WHERE {of_unit}))
    ORDER BY o.partition
    FOR UPDATE
)
UPDATE tickbird.consumer_offsets AS o SET letters_at = '-infinity'
FROM locked AS l
WHERE o.namespace = %(namespace)s AND o.consumer_group = %(consumer_group)s AND o.partition = l.partition;

-- name: recheck_letters
-- The next claims of all partitions search for letters that are due.
UPDATE tickbird.consumer_offsets SET letters_at = '-infinity'
WHERE namespace = %(namespace)s AND consumer_group = %(consumer_group)s;

-- name: replay_letters
UPDATE tickbird.dead_letters
SET state = 'retrying', retry_at = {now}, failures = 0, note = coalesce(%(note)s, note)
WHERE {of_unit} AND state IN ('failed', 'retrying')
RETURNING id;

-- name: replay_failed_letters
WITH failed AS MATERIALIZED (
    SELECT d.id, d.transaction_id FROM tickbird.dead_letters AS d
    WHERE d.namespace = %(namespace)s AND d.consumer_group = %(consumer_group)s AND d.state = 'failed'
    ORDER BY d.id LIMIT %(limit)s
),
chosen AS MATERIALIZED (
    SELECT f.id FROM failed AS f
    UNION
    SELECT d.id FROM failed AS f
    JOIN tickbird.dead_letters AS d ON d.transaction_id = f.transaction_id
    WHERE d.namespace = %(namespace)s AND d.consumer_group = %(consumer_group)s AND d.state IN ('failed', 'retrying')
)
UPDATE tickbird.dead_letters AS d
SET state = 'retrying', retry_at = {now}, failures = 0, note = coalesce(%(note)s, d.note)
FROM chosen AS c
WHERE d.id = c.id
RETURNING d.id;

-- name: skip_letters
UPDATE tickbird.dead_letters
SET state = 'skipped', retry_at = NULL, resolved_at = {now}, resolved_by = %(actor)s, note = coalesce(%(note)s, note)
WHERE {of_unit} AND state IN ('retrying', 'deferred', 'failed')
RETURNING id;

-- name: repair_letter
UPDATE tickbird.dead_letters
SET repair = %(data)s, repaired_by = %(actor)s, approved_by = %(approved_by)s, note = coalesce(%(note)s, note)
WHERE id = %(id)s;

-- name: approve_letter
UPDATE tickbird.dead_letters SET approved_by = %(actor)s WHERE id = %(id)s;

-- name: set_approval
INSERT INTO tickbird.event_streams (namespace, requires_approval) VALUES (%(namespace)s, %(is_required)s)
ON CONFLICT (namespace) DO UPDATE SET requires_approval = excluded.requires_approval;
