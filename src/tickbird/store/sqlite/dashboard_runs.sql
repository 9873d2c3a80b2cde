-- Pages of runs by status, newest first. Each walks an index that holds only what it looks for, or nearly so: among a
-- million runs that ended well, a page of those that did not is found at once.

-- name: page_unwell
SELECT *
FROM run_records
WHERE namespace = :namespace
    AND status = :status
    AND status IN ('failed', 'cancelled')
    AND id < coalesce(:before, 9223372036854775807)
ORDER BY id DESC
LIMIT :limit;

-- name: page_unwell_of
SELECT *
FROM run_records
WHERE schedule_id = (SELECT id FROM schedules WHERE namespace = :namespace AND name = :schedule)
    AND status = :status
    AND status IN ('failed', 'cancelled')
    AND id < coalesce(:before, 9223372036854775807)
ORDER BY id DESC
LIMIT :limit;

-- name: page_active
-- There are as many as there is work to do, in no order that their indexes know. The plus keeps SQLite from walking all
-- runs by their ids instead.
SELECT *
FROM run_records
WHERE id IN (
    SELECT id
    FROM (
        SELECT id FROM runs WHERE :status = 'running' AND status = 'running' AND +namespace = :namespace
        UNION ALL
        SELECT id FROM runs INDEXED BY runs_queued
        WHERE :status = 'queued' AND status = 'queued' AND namespace = :namespace
        UNION ALL
        SELECT id FROM runs WHERE :status = 'waiting' AND status = 'waiting' AND +namespace = :namespace
    )
    WHERE +id < coalesce(:before, 9223372036854775807)
    ORDER BY +id DESC
    LIMIT :limit
)
ORDER BY id DESC;

-- name: page_active_of
SELECT *
FROM run_records
WHERE id IN (
    SELECT id
    FROM runs
    WHERE schedule_id = (SELECT id FROM schedules WHERE namespace = :namespace AND name = :schedule)
        AND status = :status
        AND status IN ('waiting', 'queued', 'running')
        AND +id < coalesce(:before, 9223372036854775807)
    ORDER BY +id DESC
    LIMIT :limit
)
ORDER BY id DESC;
