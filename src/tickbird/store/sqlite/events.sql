-- Events: publish and read.

-- fragment: event_columns
e.*, (SELECT CAST(m.value AS INTEGER) FROM meta AS m WHERE m.key = 'incarnation') AS incarnation

-- name: event_partitions
SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'event_partitions';

-- name: add_event_stream
INSERT INTO event_streams (namespace) VALUES (:namespace) ON CONFLICT DO NOTHING;

-- name: advance_event_stream
UPDATE event_streams SET head = head + :count WHERE namespace = :namespace RETURNING head;

-- name: event_version
-- The newest event of the key may be pruned while a dead letter keeps an older one.
SELECT max(
    coalesce((SELECT max(version) FROM events WHERE namespace = :namespace AND key = :key), 0),
    coalesce((SELECT version FROM event_keys WHERE namespace = :namespace AND key = :key), 0)
);

-- name: has_event
SELECT EXISTS (SELECT 1 FROM events WHERE namespace = :namespace AND event_id = :event_id);

-- name: insert_event
INSERT INTO events (
    namespace, position, version, partition, event_id, topic, type, source, key, tenant, time, published_at, transaction_id,
    ordinal, count, run_id, actor, headers, data
)
VALUES (
    :namespace, :position, :version, :partition, :event_id, :topic, :type, :source, :key, :tenant, :time, :published_at,
    :transaction_id, :ordinal, :count, :run_id, :actor, :headers, :data
);

-- name: queued_event_runs
SELECT r.id, r.namespace, i.name, r.schedule_id, r.origin, r.scheduled_for, r.concurrency_key, v.definition, p.payload
FROM runs AS r
JOIN schedule_ids AS i ON i.id = r.schedule_id
JOIN revisions AS v ON v.schedule_id = r.schedule_id AND v.revision = r.revision
LEFT JOIN run_payloads AS p ON p.run_id = r.id
WHERE r.target_kind = 'event' AND r.status = 'queued' AND r.available_at <= :now
ORDER BY r.id LIMIT :limit;

-- name: find_published
-- The number of positions of all namespaces, and whether runs wait for the publication of their events.
SELECT
    (SELECT coalesce(sum(head), 0) FROM event_streams),
    EXISTS (SELECT 1 FROM runs WHERE target_kind = 'event' AND status = 'queued' AND available_at <= :now);

-- name: end_event_run
UPDATE runs
SET status = 'succeeded', started_at = :now, finished_at = :now, reason = NULL, result = json_object('event_id', :event_id)
WHERE id = :id;

-- name: read_events
SELECT {event_columns} FROM events AS e
WHERE namespace = :namespace AND position > :after AND (:key IS NULL OR key = :key)
ORDER BY position LIMIT :limit;

-- name: read_event
SELECT {event_columns} FROM events AS e WHERE namespace = :namespace AND event_id = :event_id;

-- name: read_event_head
SELECT coalesce((SELECT head FROM event_streams WHERE namespace = :namespace), 0);

-- name: prunable_events
-- By namespace, the position up to which events are old or too many, in positions of at most `limit` events.
SELECT namespace, until
FROM (
    SELECT
        s.namespace,
        s.pruned_until,
        max(
            coalesce((
                SELECT max(e.position) FROM events AS e
                WHERE e.namespace = s.namespace AND e.position > s.pruned_until AND e.position <= s.pruned_until + :limit
                    AND e.published_at < :cutoff
                    AND NOT EXISTS (
                        SELECT 1 FROM events AS n
                        WHERE n.namespace = e.namespace AND n.position > s.pruned_until AND n.position < e.position
                            AND n.published_at >= :cutoff
                    )
            ), 0),
            coalesce(min(s.head - max(:max_events, 0), s.pruned_until + :limit), 0)
        ) AS until
    FROM event_streams AS s
)
WHERE until > pruned_until;

-- name: groups_behind_retention
-- Groups with unread events up to a position, and their lowest offset.
SELECT g.name, min(o.position)
FROM consumer_groups AS g
JOIN consumer_offsets AS o ON o.namespace = g.namespace AND o.consumer_group = g.name AND o.position < :until
WHERE g.namespace = :namespace AND g.lost_after IS NULL
    AND EXISTS (
        SELECT 1 FROM events AS e
        WHERE e.namespace = o.namespace AND e.partition = o.partition AND e.position > o.position AND e.position <= :until
    )
GROUP BY g.name;

-- name: note_lost_events
UPDATE consumer_groups
SET lost_after = :position,
    reason = CASE state WHEN 'active' THEN :reason ELSE reason END,
    state = 'stopped'
WHERE namespace = :namespace AND name = :name;

-- name: keep_event_versions
INSERT INTO event_keys (namespace, key, version)
SELECT namespace, key, max(version) FROM events
WHERE namespace = :namespace AND position <= :until AND key IS NOT NULL
GROUP BY namespace, key
ON CONFLICT (namespace, key) DO UPDATE SET version = max(version, excluded.version);

-- name: prune_events
-- A dead letter keeps its event.
DELETE FROM events
WHERE namespace = :namespace AND position <= :until AND NOT EXISTS (SELECT 1 FROM dead_letters AS l WHERE l.event = events.id);

-- name: note_pruned_events
UPDATE event_streams SET pruned_until = :until, pruned_at = :now WHERE namespace = :namespace;
