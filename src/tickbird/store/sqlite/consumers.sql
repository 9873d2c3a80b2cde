-- Consumer groups and their offsets.

-- fragment: unread
-- The events after an offset.
e.namespace = o.namespace AND e.partition = o.partition AND e.position > o.position

-- name: read_group
SELECT app, topics, state, lost_after, scratch_of FROM consumer_groups
WHERE namespace = :namespace AND name = :name;

-- name: list_groups
SELECT name, app, topics, state, reason, scratch_of, created_at, declared_at FROM consumer_groups
WHERE namespace = :namespace AND (:name IS NULL OR name = :name)
ORDER BY name;

-- name: list_partitions
SELECT
    o.consumer_group, o.partition, o.position, o.worker, o.leased_until, o.paused_until, o.error,
    (SELECT count(*) FROM (SELECT 1 FROM events AS e WHERE {unread} LIMIT :maximum)) AS lag,
    (SELECT e.published_at FROM events AS e WHERE {unread} ORDER BY e.position LIMIT 1) AS oldest_at
FROM consumer_offsets AS o
WHERE o.namespace = :namespace AND (:name IS NULL OR o.consumer_group = :name)
ORDER BY o.consumer_group, o.partition;

-- name: count_letters
SELECT
    g.name, s.value,
    (
        SELECT count(*)
        FROM (
            SELECT 1 FROM dead_letters AS l
            WHERE l.namespace = g.namespace AND l.consumer_group = g.name AND l.state = s.value
            LIMIT :maximum
        )
    ) AS count
FROM consumer_groups AS g
CROSS JOIN json_each(:states) AS s
WHERE g.namespace = :namespace AND (:name IS NULL OR g.name = :name);

-- name: find_offsets
SELECT g.name, g.topics, g.state, g.reason, o.position, o.leased_until, o.paused_until, o.error
FROM consumer_groups AS g
JOIN consumer_offsets AS o
    ON o.namespace = g.namespace AND o.consumer_group = g.name AND o.partition = :partition
WHERE g.namespace = :namespace
ORDER BY g.name;

-- name: read_event_stream
SELECT coalesce(max(head), 0), coalesce(max(pruned_until), 0), coalesce(max(requires_approval), 0) FROM event_streams
WHERE namespace = :namespace;

-- name: find_event_from
-- The first event from a position on.
SELECT position, published_at FROM events
WHERE namespace = :namespace AND position >= :position
ORDER BY position LIMIT 1;

-- name: insert_group
INSERT INTO consumer_groups (namespace, name, app, topics, scratch_of, created_at, declared_at)
VALUES (:namespace, :name, :app, :topics, :scratch_of, :now, :now);

-- name: insert_offsets
WITH RECURSIVE partitions (partition) AS (
    SELECT 0
    UNION ALL
    SELECT partition + 1 FROM partitions
    WHERE partition + 1 < (SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'event_partitions')
)
INSERT INTO consumer_offsets (namespace, consumer_group, partition, position)
SELECT :namespace, :name, partition, :position FROM partitions;

-- name: declare_group
UPDATE consumer_groups SET topics = :topics, declared_at = :now WHERE namespace = :namespace AND name = :name;

-- name: activate_group
UPDATE consumer_groups SET state = 'active', reason = NULL, lost_after = NULL, declared_at = :now
WHERE namespace = :namespace AND name = :name;

-- name: stop_group
UPDATE consumer_groups SET state = 'stopped', reason = :reason WHERE namespace = :namespace AND name = :name;

-- name: move_offsets
-- The new token fences current deliveries.
UPDATE consumer_offsets
SET position = :position, token = token + 1, worker = NULL, leased_until = NULL, crashes = 0, single_until = NULL,
    paused_until = NULL, pauses = 0, error = NULL
WHERE namespace = :namespace AND consumer_group = :name;

-- name: skip_letters_after
UPDATE dead_letters
SET state = 'skipped', retry_at = NULL, resolved_at = :now, resolved_by = :actor, note = :note
WHERE namespace = :namespace AND consumer_group = :name AND position > :position
    AND state IN ('retrying', 'deferred', 'failed');

-- name: delete_group
DELETE FROM consumer_groups WHERE namespace = :namespace AND name = :name RETURNING 1;

-- name: delete_idle_groups
DELETE FROM consumer_groups
WHERE declared_at < :cutoff AND (scratch_of IS NOT NULL OR state = 'stopped');

-- name: delete_old_letters
DELETE FROM dead_letters
WHERE id IN (SELECT id FROM dead_letters WHERE resolved_at < :cutoff ORDER BY resolved_at LIMIT :limit);

-- name: prune_kept_events
-- Events that retention has kept for a dead letter which no longer exists.
DELETE FROM events
WHERE id IN (
    SELECT e.id
    FROM event_streams AS s
    CROSS JOIN events AS e ON e.namespace = s.namespace AND e.position <= s.pruned_until
    WHERE NOT EXISTS (SELECT 1 FROM dead_letters AS l WHERE l.event = e.id)
    LIMIT :limit
);
