-- Pages of events: each event that is read, and whether it matches. The caller stops when a page is full.

-- fragment: event_columns
position, event_id, topic, type, key, version, partition, published_at, run_id, transaction_id, ordinal, count,
:partition IS NULL OR partition = :partition

-- fragment: before
coalesce(:before, 9223372036854775807)

-- fragment: version
-- Versions follow positions, so that a page starts in the index of versions.
(SELECT e.version FROM events AS e WHERE e.namespace = :namespace AND e.key = :key AND e.position = coalesce(:before, :after))

-- name: find_events
SELECT {event_columns} FROM events
WHERE namespace = :namespace AND position < {before}
ORDER BY position DESC
LIMIT :maximum;

-- name: find_events_after
SELECT {event_columns} FROM events
WHERE namespace = :namespace AND position > :after
ORDER BY position
LIMIT :maximum;

-- name: find_events_of
SELECT {event_columns} FROM events
WHERE namespace = :namespace AND key = :key AND position < {before} AND version < coalesce({version}, 9223372036854775807)
ORDER BY version DESC
LIMIT :maximum;

-- name: find_events_of_after
SELECT {event_columns} FROM events
WHERE namespace = :namespace AND key = :key AND position > :after AND version > coalesce({version}, 0)
ORDER BY version
LIMIT :maximum;
