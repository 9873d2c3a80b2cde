-- Backfills: ticks with a run, the new runs of the others, and their progress.

-- name: ticks_with_run
SELECT tickbird.epoch_seconds(scheduled_for)
FROM tickbird.runs
WHERE schedule_id = %(schedule_id)s
    AND origin IN ('schedule', 'catch_up', 'backfill')
    AND scheduled_for BETWEEN to_timestamp(%(first)s::bigint) AND to_timestamp(%(last)s::bigint);

-- name: count_ticks_with_run
SELECT count(*)
FROM tickbird.runs
WHERE schedule_id = %(schedule_id)s
    AND origin IN ('schedule', 'catch_up', 'backfill')
    AND scheduled_for BETWEEN to_timestamp(%(first)s::bigint) AND to_timestamp(%(last)s::bigint);

-- name: insert_backfill
INSERT INTO tickbird.backfills (
    namespace, schedule_id, revision, first_at, last_at, total, newest_first, concurrency, payload, actor, note,
    created_at
)
VALUES (
    %(namespace)s, %(schedule_id)s, %(revision)s, to_timestamp(%(first)s::bigint), to_timestamp(%(last)s::bigint),
    %(total)s, %(newest_first)s, %(concurrency)s, %(payload)s::json, %(actor)s, %(note)s, %(now)s
)
RETURNING id;

-- name: insert_backfilled
-- Numbered in the order in which they run.
WITH made AS (
    INSERT INTO tickbird.runs (
        namespace, schedule_id, revision, target_kind, target, queue, priority, status, lane, origin, scheduled_for,
        due_at, available_at, crash_limit, actor, created_at, backfill_id, concurrency_key
    )
    SELECT
        %(namespace)s, %(schedule_id)s, %(revision)s, %(target_kind)s, %(target)s, %(queue)s, %(priority)s, 'waiting',
        1, 'backfill', to_timestamp(u.tick), to_timestamp(u.tick + %(offset)s::bigint),
        greatest(to_timestamp(u.tick + %(offset)s::bigint), %(now)s), %(crash_limit)s, %(actor)s, %(now)s,
        %(backfill_id)s, %(concurrency_key)s
    FROM unnest(%(ticks)s::bigint[]) WITH ORDINALITY AS u(tick, place)
    ORDER BY u.place
    RETURNING id
)
INSERT INTO tickbird.run_payloads (run_id, payload)
SELECT made.id, %(payload)s::json FROM made WHERE %(payload)s::text IS NOT NULL;

-- name: backfill_by_id
SELECT
    b.id, b.namespace, b.schedule_id, s.name AS schedule, b.revision, b.first_at, b.last_at, b.total, b.newest_first,
    b.concurrency, b.payload, b.actor, b.note, b.created_at, b.cancelled_at, b.cancelled_by,
    (
        SELECT json_object_agg(told.status, told.runs)
        FROM (
            SELECT r.status, count(*) AS runs FROM tickbird.runs AS r WHERE r.backfill_id = b.id GROUP BY r.status
        ) AS told
    ) AS counts
FROM tickbird.backfills AS b
JOIN tickbird.schedules AS s ON s.id = b.schedule_id
WHERE b.id = %(id)s AND b.namespace = %(namespace)s;

-- name: list_backfills
SELECT
    b.id, b.namespace, b.schedule_id, s.name AS schedule, b.revision, b.first_at, b.last_at, b.total, b.newest_first,
    b.concurrency, b.payload, b.actor, b.note, b.created_at, b.cancelled_at, b.cancelled_by,
    (
        SELECT json_object_agg(told.status, told.runs)
        FROM (
            SELECT r.status, count(*) AS runs FROM tickbird.runs AS r WHERE r.backfill_id = b.id GROUP BY r.status
        ) AS told
    ) AS counts
FROM tickbird.backfills AS b
JOIN tickbird.schedules AS s ON s.id = b.schedule_id
WHERE b.namespace = %(namespace)s
    AND (%(schedule)s::text IS NULL OR s.name = %(schedule)s)
    AND b.id < coalesce(%(before)s::bigint, 9223372036854775807)
ORDER BY b.id DESC
LIMIT %(limit)s;

-- name: lock_backfilled
-- Its runs that are not final, in the lock order of all sessions (by id). The status is hidden from the query planner, as
-- in succeed_runs.
SELECT id, status, concurrency_key FROM tickbird.runs
WHERE backfill_id = %(id)s AND finished_at IS NULL AND status || '' IN ('waiting', 'queued', 'running')
ORDER BY id
FOR UPDATE;

-- name: cancel_waiting
-- Only locked ones.
UPDATE tickbird.runs
SET status = 'cancelled',
    lane = 0,
    finished_at = %(now)s,
    reason = %(reason)s,
    cancel_requested_at = %(now)s,
    cancel_requested_by = %(actor)s
WHERE id = ANY(%(ids)s::bigint[]) AND status || '' IN ('waiting', 'queued');

-- name: end_backfill
UPDATE tickbird.backfills
SET cancelled_at = coalesce(cancelled_at, %(now)s), cancelled_by = coalesce(cancelled_by, %(actor)s)
WHERE id = %(id)s;

-- name: prune_backfills
-- After all their runs were deleted.
DELETE FROM tickbird.backfills AS b
WHERE b.created_at < coalesce(%(now)s::timestamptz, statement_timestamp()) - make_interval(secs => %(older_than)s)
    AND NOT EXISTS (SELECT FROM tickbird.runs AS r WHERE r.backfill_id = b.id);
