-- Pages of runs for the dashboard, newest first. Each walks an index that contains little else than the result: a page of
-- unsuccessful runs is read at once even among a million successes.
-- `{name}` is replaced by the text below `-- fragment: name`.

-- fragment: before
coalesce(:before, 9223372036854775807)

-- fragment: of_schedule
schedule_id = (SELECT s.id FROM schedules AS s WHERE s.namespace = :namespace AND s.name = :schedule)

-- fragment: is_unsuccessful
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
    AND (NOT :undecided OR (status = 'waiting' AND lane = 2 AND attempt > 0))
    AND (:error = '' OR instr(lower(coalesce(error, '')), lower(:error)))

-- Each run that is read, and whether it matches: the caller stops when a page is full.

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

-- Of one rare status: its own index finds them, however old they are.

-- name: find_unsuccessful
SELECT id, {run_filter}
FROM runs
WHERE namespace = :namespace AND {is_unsuccessful} AND id < {before}
ORDER BY id DESC
LIMIT :maximum;

-- name: find_unsuccessful_after
SELECT id, {run_filter}
FROM runs
WHERE namespace = :namespace AND {is_unsuccessful} AND id > :after
ORDER BY id
LIMIT :maximum;

-- fragment: picked_columns
id, namespace, status, origin, target_kind, target, worker, queue, concurrency_key, due_at, error, lane, attempt

-- fragment: picked_page
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

-- name: pick_active
-- Runs that are not final, by their own indexes, however old they are. The indexes do not have the order of a page, so
-- the result is sorted. The first column is the number of runs read for the status with the most: if it is the maximum,
-- there are more.
WITH seen AS MATERIALIZED (
    SELECT * FROM (
        SELECT {picked_columns} FROM runs
        WHERE status = 'running' AND 'running' IN (SELECT value FROM json_each(:statuses))
        LIMIT :maximum
    )
    UNION ALL
    SELECT * FROM (
        SELECT {picked_columns} FROM runs INDEXED BY runs_queued_idx
        WHERE 'queued' IN (SELECT value FROM json_each(:statuses))
            AND status = 'queued' AND namespace = :namespace AND (:queue IS NULL OR queue = :queue)
        LIMIT :maximum
    )
    UNION ALL
    SELECT * FROM (
        SELECT {picked_columns} FROM runs
        WHERE status = 'waiting' AND 'waiting' IN (SELECT value FROM json_each(:statuses))
        LIMIT :maximum
    )
)
SELECT
    (SELECT coalesce(max(number), 0) FROM (SELECT count(*) AS number FROM seen GROUP BY status) AS counted),
    {picked_page};

-- name: pick_active_of_key
WITH seen AS MATERIALIZED (
    SELECT * FROM (
        SELECT {picked_columns} FROM runs
        WHERE namespace = :namespace AND concurrency_key = :key AND finished_at IS NULL AND status IN ('queued', 'running')
        LIMIT :maximum
    )
    UNION ALL
    SELECT * FROM (
        SELECT {picked_columns} FROM runs
        WHERE namespace = :namespace AND concurrency_key = :key AND finished_at IS NULL AND status = 'waiting'
        LIMIT :maximum
    )
)
SELECT
    (SELECT max(count(*) FILTER (WHERE status = 'waiting'), count(*) FILTER (WHERE status <> 'waiting')) FROM seen),
    {picked_page};

-- name: page_unsuccessful
SELECT *
FROM run_details
WHERE namespace = :namespace AND {is_unsuccessful} AND id < {before}
ORDER BY id DESC
LIMIT :limit;

-- name: page_unsuccessful_of
SELECT *
FROM run_details
WHERE {of_schedule} AND {is_unsuccessful} AND id < {before}
ORDER BY id DESC
LIMIT :limit;

-- name: page_active
-- There are as many as there is work to do; their indexes do not have the order of a page. The plus prevents SQLite from
-- walking all runs by their ids instead.
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
