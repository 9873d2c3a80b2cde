-- Backfills: ticks with a run, the new runs of the others, and their progress.

-- name: ticks_with_run
SELECT scheduled_for / 1000000
FROM runs
WHERE schedule_id = :schedule_id
    AND origin IN ('schedule', 'catch_up', 'backfill')
    AND scheduled_for BETWEEN :first * 1000000 AND :last * 1000000;

-- name: count_ticks_with_run
SELECT count(*)
FROM runs
WHERE schedule_id = :schedule_id
    AND origin IN ('schedule', 'catch_up', 'backfill')
    AND scheduled_for BETWEEN :first * 1000000 AND :last * 1000000;

-- name: insert_backfill
INSERT INTO backfills (
    namespace, schedule_id, revision, first_at, last_at, total, newest_first, concurrency, payload, actor, note,
    created_at
)
VALUES (
    :namespace, :schedule_id, :revision, :first * 1000000, :last * 1000000, :total, :newest_first, :concurrency, :payload,
    :actor, :note, :now
)
RETURNING id;

-- name: insert_backfilled
INSERT INTO runs (
    id, scheduled_for, due_at, available_at, backfill_id, namespace, schedule_id, revision, target_kind, target, queue,
    priority, crash_limit, actor, concurrency_key, created_at, status, lane, origin
)
VALUES (
    ?1, ?2 * 1000000, ?3 * 1000000, max(?3 * 1000000, ?13), ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?14, ?15, ?13, 'waiting',
    1, 'backfill'
);

-- name: waiters_of_backfills
-- As many of each backfill of a schedule as might start; its active runs are counted separately.
SELECT id, schedule_id, revision, priority, namespace, concurrency_key, backfill_id, concurrency
FROM (
    SELECT
        r.id, r.schedule_id, r.revision, r.priority, r.namespace, r.concurrency_key, r.backfill_id, b.concurrency,
        row_number() OVER (PARTITION BY b.id ORDER BY r.id) AS place
    FROM backfills AS b
    JOIN runs AS r ON r.backfill_id = b.id AND r.lane = 1
    WHERE b.schedule_id = :schedule_id
)
WHERE place <= concurrency
ORDER BY backfill_id, id;

-- name: count_busy
-- The number of queued or running runs of a schedule, and of its backfills.
SELECT backfill_id, count(*)
FROM runs
WHERE schedule_id = :schedule_id
    AND lane = 0
    AND status IN ('waiting', 'queued', 'running')
    AND status IN ('queued', 'running')
GROUP BY backfill_id;

-- name: backfill_by_id
SELECT
    b.id, b.namespace, s.name AS schedule, b.revision, b.first_at, b.last_at, b.total, b.newest_first, b.concurrency, b.payload,
    b.actor, b.note, b.created_at, b.cancelled_at, b.cancelled_by,
    (
        SELECT json_group_object(status, runs)
        FROM (SELECT status, count(*) AS runs FROM runs WHERE backfill_id = b.id GROUP BY status)
    ) AS counts,
    b.schedule_id
FROM backfills AS b
JOIN schedules AS s ON s.id = b.schedule_id
WHERE b.id = :id AND b.namespace = :namespace;

-- name: list_backfills
SELECT
    b.id, b.namespace, s.name AS schedule, b.revision, b.first_at, b.last_at, b.total, b.newest_first, b.concurrency, b.payload,
    b.actor, b.note, b.created_at, b.cancelled_at, b.cancelled_by,
    (
        SELECT json_group_object(status, runs)
        FROM (SELECT status, count(*) AS runs FROM runs WHERE backfill_id = b.id GROUP BY status)
    ) AS counts,
    b.schedule_id
FROM backfills AS b
JOIN schedules AS s ON s.id = b.schedule_id
WHERE b.namespace = :namespace
    AND (:schedule IS NULL OR s.name = :schedule)
    AND b.id < coalesce(:before, 9223372036854775807)
ORDER BY b.id DESC
LIMIT :limit;

-- name: unfinished_of_backfill
SELECT id, status, concurrency_key FROM runs WHERE backfill_id = :id AND finished_at IS NULL ORDER BY id;

-- name: end_backfill
UPDATE backfills
SET cancelled_at = coalesce(cancelled_at, :now), cancelled_by = coalesce(cancelled_by, :actor)
WHERE id = :id;

-- name: prune_backfills
-- After all their runs were deleted.
DELETE FROM backfills
WHERE created_at < :cutoff AND NOT EXISTS (SELECT 1 FROM runs AS r WHERE r.backfill_id = backfills.id);
