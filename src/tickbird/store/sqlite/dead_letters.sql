-- Dead letters: list, replay, skip and repair them.

-- fragment: letter
e.*, (SELECT CAST(m.value AS INTEGER) FROM meta AS m WHERE m.key = 'incarnation') AS incarnation,
l.id AS letter_id, l.consumer_group, l.state, l.failures, l.error, l.created_at, l.retry_at, l.repair, l.repaired_by,
l.approved_by, l.resolved_at, l.resolved_by, l.note

-- fragment: unit
-- The letter and those that were published together with it.
id IN (
    SELECT :id
    UNION ALL
    SELECT t.id FROM dead_letters AS t
    WHERE t.transaction_id = :transaction_id AND t.namespace = :namespace AND t.consumer_group = :consumer_group
)

-- fragment: filter
l.namespace = :namespace AND l.id > :after
AND (:consumer_group IS NULL OR l.consumer_group = :consumer_group)
AND (:states IS NULL OR l.state IN (SELECT value FROM json_each(:states)))
AND (:key IS NULL OR l.key = :key)

-- name: list_letters
SELECT {letter}
FROM dead_letters AS l NOT INDEXED
CROSS JOIN events AS e ON e.id = l.event
WHERE {filter}
ORDER BY l.id LIMIT :limit;

-- name: list_unresolved_letters
SELECT {letter}
FROM dead_letters AS l INDEXED BY dead_letters_unresolved_idx
CROSS JOIN events AS e ON e.id = l.event
WHERE {filter} AND l.state IN ('retrying', 'deferred', 'failed')
ORDER BY l.id LIMIT :limit;

-- name: read_letter
SELECT {letter}
FROM dead_letters AS l
JOIN events AS e ON e.id = l.event
WHERE l.namespace = :namespace AND l.id = :id;

-- name: find_letters_by_event
SELECT {letter}
FROM dead_letters AS l
JOIN events AS e ON e.id = l.event
WHERE l.event = (SELECT o.id FROM events AS o WHERE o.namespace = :namespace AND o.position = :position)
ORDER BY l.consumer_group;

-- name: replay_letters
UPDATE dead_letters
SET state = 'retrying', retry_at = :now, failures = 0, note = coalesce(:note, note)
WHERE {unit} AND +state IN ('failed', 'retrying')
RETURNING id;

-- name: find_failed_letters
SELECT id, transaction_id FROM dead_letters
WHERE namespace = :namespace AND consumer_group = :consumer_group AND state = 'failed'
ORDER BY id LIMIT :limit;

-- name: skip_letters
UPDATE dead_letters
SET state = 'skipped', retry_at = NULL, resolved_at = :now, resolved_by = :actor, note = coalesce(:note, note)
WHERE {unit} AND +state IN ('retrying', 'deferred', 'failed')
RETURNING id;

-- name: repair_letter
UPDATE dead_letters
SET repair = :data, repaired_by = :actor, approved_by = :approved_by, note = coalesce(:note, note)
WHERE id = :id;

-- name: approve_letter
UPDATE dead_letters SET approved_by = :actor WHERE id = :id;

-- name: set_approval
UPDATE event_streams SET requires_approval = :is_required WHERE namespace = :namespace;
