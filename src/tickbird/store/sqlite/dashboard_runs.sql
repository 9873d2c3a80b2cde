-- Pages of runs of a dashboard, newest first. Each walks an index that has only what it looks for, or nearly so: among a
-- million runs that succeeded, a page of those that did not is found at once.
-- `{name}` stands for the text below `-- fragment: name`.

-- fragment: before
coalesce(:before, 9223372036854775807)

-- fragment: of_schedule
schedule_id = (SELECT s.id FROM schedules AS s WHERE s.namespace = :namespace AND s.name = :schedule)

-- fragment: is_unwell
-- The second condition is that of the index.
status = :status AND status IN ('failed', 'cancelled')

-- fragment: status_filter
(:statuses IS NULL OR status IN (SELECT value FROM json_each(:statuses)))

-- fragment: run_filter
(:origin IS NULL OR origin = :origin)
    AND (:target IS NULL OR target = :target)
    AND (:target_kind IS NULL OR target_kind = :target_kind)
    AND (:worker IS NULL OR worker = :worker)
    AND (:queue IS NULL OR queue = :queue)
    AND (:key IS NULL OR concurrency_key = :key)
    AND (:since IS NULL OR due_at >= :since)
    AND (:until IS NULL OR due_at < :until)
    AND (:error = '' OR instr(lower(coalesce(error, '')), lower(:error)))

-- Each run that is looked at, and whether it is wanted: the caller stops when a page is full.

-- name: find_runs
SELECT id, {status_filter} AND {run_filter}
FROM runs
WHERE namespace = :namespace AND id < {before}
ORDER BY id DESC
LIMIT :maximum;

-- name: find_runs_after
SELECT id, {status_filter} AND {run_filter}
FROM runs
WHERE namespace = :namespace AND id > :after
ORDER BY id
LIMIT :maximum;

-- name: find_runs_of
SELECT id, {status_filter} AND {run_filter}
FROM runs
WHERE {of_schedule} AND id < {before}
ORDER BY id DESC
LIMIT :maximum;

-- name: find_runs_of_after
SELECT id, {status_filter} AND {run_filter}
FROM runs
WHERE {of_schedule} AND id > :after
ORDER BY id
LIMIT :maximum;

-- Of one status that few have: its own index finds them, also far back.

-- name: find_unwell
SELECT id, {run_filter}
FROM runs
WHERE namespace = :namespace AND {is_unwell} AND id < {before}
ORDER BY id DESC
LIMIT :maximum;

-- name: find_unwell_after
SELECT id, {run_filter}
FROM runs
WHERE namespace = :namespace AND {is_unwell} AND id > :after
ORDER BY id
LIMIT :maximum;

-- fragment: going_columns
id, namespace, status, origin, target_kind, target, worker, queue, concurrency_key, due_at, error

-- fragment: going_page
(
    SELECT json_group_array(id) FROM (
        SELECT id FROM seen
        WHERE namespace = :namespace
            AND status IN (SELECT value FROM json_each(:statuses))
            AND {run_filter}
            AND id < {before}
            AND id > coalesce(:after, 0)
        ORDER BY CASE WHEN :after IS NULL THEN -id ELSE id END
        LIMIT :limit
    )
)

-- name: pick_going
-- Runs that are not over, by their own indexes, however far back they are; these know no order of a page, so those that
-- were looked at are sorted. The first column tells how many that were of the status that has most: if these are as many
-- as may be, there are others.
WITH seen AS MATERIALIZED (
    SELECT * FROM (
        SELECT {going_columns} FROM runs
        WHERE status = 'running' AND 'running' IN (SELECT value FROM json_each(:statuses))
        LIMIT :maximum
    )
    UNION ALL
    SELECT * FROM (
        SELECT {going_columns} FROM runs INDEXED BY runs_queued_idx
        WHERE 'queued' IN (SELECT value FROM json_each(:statuses))
            AND status = 'queued' AND namespace = :namespace AND (:queue IS NULL OR queue = :queue)
        LIMIT :maximum
    )
    UNION ALL
    SELECT * FROM (
        SELECT {going_columns} FROM runs
        WHERE status = 'waiting' AND 'waiting' IN (SELECT value FROM json_each(:statuses))
        LIMIT :maximum
    )
)
SELECT
    (SELECT coalesce(max(number), 0) FROM (SELECT count(*) AS number FROM seen GROUP BY status) AS counted),
    {going_page};

-- name: pick_going_of_key
WITH seen AS MATERIALIZED (
    SELECT * FROM (
        SELECT {going_columns} FROM runs
        WHERE namespace = :namespace AND concurrency_key = :key AND finished_at IS NULL AND status IN ('queued', 'running')
        LIMIT :maximum
    )
    UNION ALL
    SELECT * FROM (
        SELECT {going_columns} FROM runs
        WHERE namespace = :namespace AND concurrency_key = :key AND finished_at IS NULL AND status = 'waiting'
        LIMIT :maximum
    )
)
SELECT
    (SELECT max(count(*) FILTER (WHERE status = 'waiting'), count(*) FILTER (WHERE status <> 'waiting')) FROM seen),
    {going_page};

-- name: page_unwell
SELECT *
FROM run_details
WHERE namespace = :namespace AND {is_unwell} AND id < {before}
ORDER BY id DESC
LIMIT :limit;

-- name: page_unwell_of
SELECT *
FROM run_details
WHERE {of_schedule} AND {is_unwell} AND id < {before}
ORDER BY id DESC
LIMIT :limit;

-- name: page_active
-- There are as many as there is work to do, in no order that their indexes know. The plus keeps SQLite from walking all
-- runs by their ids instead.
SELECT *
FROM run_details
WHERE id IN (
    SELECT id
    FROM (
        SELECT id FROM runs WHERE :status = 'running' AND status = 'running' AND +namespace = :namespace
        UNION ALL
        SELECT id FROM runs INDEXED BY runs_queued_idx
        WHERE :status = 'queued' AND status = 'queued' AND namespace = :namespace
        UNION ALL
        SELECT id FROM runs WHERE :status = 'waiting' AND status = 'waiting' AND +namespace = :namespace
    )
    WHERE +id < {before}
    ORDER BY +id DESC
    LIMIT :limit
)
ORDER BY id DESC;

-- name: page_active_of
SELECT *
FROM run_details
WHERE id IN (
    SELECT id
    FROM runs
    WHERE {of_schedule}
        AND status = :status
        AND status IN ('waiting', 'queued', 'running')
        AND +id < {before}
    ORDER BY +id DESC
    LIMIT :limit
)
ORDER BY id DESC;
