-- Consumer groups: declare, list, move, copy, stop, resume, delete and prune them.

-- fragment: now
coalesce(%(now)s::timestamptz, statement_timestamp())

-- name: read_group
SELECT app, topics, state, scratch_of, lost_after FROM tickbird.consumer_groups
WHERE namespace = %(namespace)s AND name = %(name)s
FOR UPDATE;

-- name: read_event_stream
-- The last position, the last one that retention removed, and whether repairs need an approval.
SELECT greatest(s.pruned_until, l.position), s.pruned_until, s.requires_approval
FROM tickbird.event_streams AS s
CROSS JOIN LATERAL (
    SELECT coalesce(max(l.position), 0) AS position FROM tickbird.event_log AS l WHERE l.namespace = s.namespace
) AS l
WHERE s.namespace = %(namespace)s;

-- name: insert_group
INSERT INTO tickbird.consumer_groups (namespace, name, app, topics, scratch_of, created_at, declared_at)
VALUES (%(namespace)s, %(name)s, %(app)s, %(topics)s::text[], %(scratch_of)s, {now}, {now})
ON CONFLICT DO NOTHING
RETURNING name;

-- name: insert_offsets
INSERT INTO tickbird.consumer_offsets (namespace, consumer_group, partition, position)
SELECT %(namespace)s, %(name)s, p.partition, %(position)s
FROM generate_series(0, (SELECT m.value::integer - 1 FROM tickbird.meta AS m WHERE m.key = 'event_partitions')) AS p(partition);

-- name: declare_group
UPDATE tickbird.consumer_groups SET topics = %(topics)s::text[], declared_at = {now}
WHERE namespace = %(namespace)s AND name = %(name)s;

-- name: list_groups
SELECT name, app, topics, state, reason, scratch_of, created_at, declared_at
FROM tickbird.consumer_groups
WHERE namespace = %(namespace)s AND name = coalesce(%(name)s::text, name)
ORDER BY name;

-- name: list_partitions
SELECT
    o.consumer_group, o.partition, o.position, o.worker, o.leased_until, o.paused_until, o.error,
    (
        SELECT count(*)
        FROM (
            SELECT l.position FROM tickbird.event_log AS l
            WHERE l.namespace = o.namespace AND l.partition = o.partition AND l.position > o.position
            ORDER BY l.position LIMIT %(maximum)s
        ) AS unread
    )::integer AS lag,
    (
        SELECT l.stamped_at FROM tickbird.event_log AS l
        WHERE l.namespace = o.namespace AND l.partition = o.partition AND l.position > o.position
        ORDER BY l.position LIMIT 1
    ) AS oldest_at
FROM tickbird.consumer_offsets AS o
WHERE o.namespace = %(namespace)s AND o.consumer_group = coalesce(%(name)s::text, o.consumer_group)
ORDER BY o.consumer_group, o.partition;

-- name: count_letters
SELECT g.name, s.state, n.count
FROM tickbird.consumer_groups AS g
CROSS JOIN unnest(%(states)s::text[]) AS s(state)
CROSS JOIN LATERAL (
    SELECT count(*)::integer AS count
    FROM (
        SELECT d.id FROM tickbird.dead_letters AS d
        WHERE d.namespace = g.namespace AND d.consumer_group = g.name AND d.state = s.state
        ORDER BY d.id LIMIT %(maximum)s
    ) AS x
) AS n
WHERE g.namespace = %(namespace)s AND g.name = coalesce(%(name)s::text, g.name) AND n.count > 0;

-- name: find_offsets
SELECT
    g.name, g.topics, g.state, g.reason, o.position,
    coalesce(o.leased_until > statement_timestamp(), false) AS is_leased, o.paused_until, o.error
FROM tickbird.consumer_groups AS g
JOIN tickbird.consumer_offsets AS o ON o.namespace = g.namespace AND o.consumer_group = g.name
WHERE g.namespace = %(namespace)s AND o.partition = %(partition)s
ORDER BY g.name;

-- name: lock_offsets
SELECT o.partition FROM tickbird.consumer_offsets AS o
WHERE o.namespace = %(namespace)s AND o.consumer_group = %(name)s
ORDER BY o.partition
FOR UPDATE;

-- name: move_offsets
-- Fences deliveries that were claimed before.
UPDATE tickbird.consumer_offsets
SET position = %(position)s, token = token + 1, worker = NULL, leased_until = NULL, crashes = 0, single_until = NULL,
    paused_until = NULL, pauses = 0, error = NULL, letters_at = '-infinity'
WHERE namespace = %(namespace)s AND consumer_group = %(name)s;

-- name: skip_letters_after
UPDATE tickbird.dead_letters
SET state = 'skipped', retry_at = NULL, resolved_at = {now}, resolved_by = %(actor)s, note = %(note)s
WHERE namespace = %(namespace)s AND consumer_group = %(name)s AND position > %(position)s
    AND state IN ('retrying', 'deferred', 'failed');

-- name: activate_group
UPDATE tickbird.consumer_groups SET state = 'active', reason = NULL, lost_after = NULL, declared_at = {now}
WHERE namespace = %(namespace)s AND name = %(name)s;

-- name: stop_group
UPDATE tickbird.consumer_groups SET state = 'stopped', reason = %(reason)s
WHERE namespace = %(namespace)s AND name = %(name)s;

-- name: delete_group
DELETE FROM tickbird.consumer_groups WHERE namespace = %(namespace)s AND name = %(name)s RETURNING name;

-- name: find_position
-- Positions are gapless and follow the time of their stamp, so each step halves their range.
WITH RECURSIVE search(low, high) AS (
    SELECT s.pruned_until, greatest(s.pruned_until, (SELECT coalesce(max(l.position), 0) FROM tickbird.event_log AS l WHERE l.namespace = s.namespace))
    FROM tickbird.event_streams AS s WHERE s.namespace = %(namespace)s
    UNION ALL
    SELECT CASE WHEN x.is_before THEN x.middle ELSE x.low END, CASE WHEN x.is_before THEN x.high ELSE x.middle - 1 END
    FROM (
        SELECT
            s.low, s.high, (s.low + s.high + 1) / 2 AS middle,
            (
                SELECT l.stamped_at < %(at)s FROM tickbird.event_log AS l
                WHERE l.namespace = %(namespace)s AND l.position = (s.low + s.high + 1) / 2
            ) AS is_before
        FROM search AS s WHERE s.low < s.high
    ) AS x
)
SELECT low FROM search WHERE low >= high;

-- name: delete_idle_groups
DELETE FROM tickbird.consumer_groups
WHERE (scratch_of IS NOT NULL OR state = 'stopped') AND declared_at < {now} - make_interval(secs => %(idle_for)s);

-- name: delete_old_letters
WITH old AS MATERIALIZED (
    SELECT d.id FROM tickbird.dead_letters AS d
    WHERE d.resolved_at < {now} - make_interval(secs => %(older_than)s)
    ORDER BY d.resolved_at LIMIT %(limit)s
    FOR UPDATE SKIP LOCKED
)
DELETE FROM tickbird.dead_letters AS d USING old WHERE d.id = old.id;

-- name: prune_kept_events
-- Events that retention has kept for a dead letter which no longer exists.
WITH kept AS MATERIALIZED (
    SELECT l.namespace, l.position, l.event
    FROM tickbird.event_streams AS s
    CROSS JOIN LATERAL (
        SELECT l.namespace, l.position, l.event FROM tickbird.event_log AS l
        WHERE l.namespace = s.namespace AND l.position <= s.pruned_until
            AND (SELECT d.id FROM tickbird.dead_letters AS d WHERE d.event = l.event LIMIT 1) IS NULL
        ORDER BY l.position LIMIT %(limit)s
    ) AS l
),
gone AS (
    DELETE FROM tickbird.event_log AS l USING kept AS k WHERE l.namespace = k.namespace AND l.position = k.position
)
DELETE FROM tickbird.events AS e USING kept AS k WHERE e.id = k.event;
