-- Pages of runs for the dashboard, newest first. Each walks an index that contains little else than the result: a page of
-- unsuccessful runs is read at once even among ten million successes. `before` is a bound of the index even if it is not
-- given; as a separate condition it would be checked row by row, from the newest on.
-- `{name}` is replaced by the text below `-- fragment: name`.

-- fragment: before
coalesce(%(before)s::bigint, 9223372036854775807)

-- fragment: of_schedule
schedule_id = (SELECT s.id FROM tickbird.schedules AS s WHERE s.namespace = %(namespace)s AND s.name = %(schedule)s)

-- fragment: is_unsuccessful
-- The second condition is that of the index.
status = %(status)s AND status IN ('failed', 'cancelled')

-- fragment: status_filter
(%(statuses)s::text[] IS NULL OR status = ANY(%(statuses)s::text[]))

-- fragment: run_filter
(%(origin)s::text IS NULL OR origin = %(origin)s)
    AND (%(target)s::text IS NULL OR target = %(target)s)
    AND (%(target_kind)s::text IS NULL OR target_kind = %(target_kind)s)
    AND (%(worker)s::text IS NULL OR worker = %(worker)s)
    AND (%(queue)s::text IS NULL OR queue = %(queue)s)
    AND (%(key)s::text IS NULL OR concurrency_key = %(key)s)
    AND (%(since)s::timestamptz IS NULL OR due_at >= %(since)s)
    AND (%(until)s::timestamptz IS NULL OR due_at < %(until)s)
    AND (NOT %(undecided)s::boolean OR (status = 'waiting' AND lane = 2 AND attempt > 0))
    AND (%(error)s = '' OR strpos(lower(coalesce(error, '')), lower(%(error)s)) > 0)

-- fragment: filtered_page
-- The last run that was read is returned even if it does not match, so that the next page can start after it.
SELECT id, place, wanted FROM seen
WHERE wanted OR place = %(maximum)s
LIMIT %(limit)s

-- name: find_runs
-- Written for the index by namespace, like list_runs.
WITH seen AS (
    SELECT id, row_number() OVER (ORDER BY namespace DESC, id DESC) AS place, {status_filter} AND {run_filter} AS wanted
    FROM tickbird.runs
    WHERE (namespace, id) >= (%(namespace)s, 0) AND (namespace, id) < (%(namespace)s, {before})
    ORDER BY namespace DESC, id DESC
    LIMIT %(maximum)s
)
{filtered_page};

-- name: find_runs_after
WITH seen AS (
    SELECT id, row_number() OVER (ORDER BY namespace, id) AS place, {status_filter} AND {run_filter} AS wanted
    FROM tickbird.runs
    WHERE (namespace, id) > (%(namespace)s, %(after)s::bigint)
        AND (namespace, id) <= (%(namespace)s, 9223372036854775807)
    ORDER BY namespace, id
    LIMIT %(maximum)s
)
{filtered_page};

-- name: find_runs_of
WITH seen AS (
    SELECT id, row_number() OVER (ORDER BY id DESC) AS place, {status_filter} AND {run_filter} AS wanted
    FROM tickbird.runs
    WHERE {of_schedule} AND id < {before}
    ORDER BY id DESC
    LIMIT %(maximum)s
)
{filtered_page};

-- name: find_runs_of_after
WITH seen AS (
    SELECT id, row_number() OVER (ORDER BY id) AS place, {status_filter} AND {run_filter} AS wanted
    FROM tickbird.runs
    WHERE {of_schedule} AND id > %(after)s::bigint
    ORDER BY id
    LIMIT %(maximum)s
)
{filtered_page};

-- name: find_unsuccessful
-- Of one rare status: its own index finds them, however old they are.
WITH seen AS (
    SELECT id, row_number() OVER (ORDER BY id DESC) AS place, {run_filter} AS wanted
    FROM tickbird.runs
    WHERE namespace = %(namespace)s AND {is_unsuccessful} AND id < {before}
    ORDER BY id DESC
    LIMIT %(maximum)s
)
{filtered_page};

-- name: find_unsuccessful_after
WITH seen AS (
    SELECT id, row_number() OVER (ORDER BY id) AS place, {run_filter} AS wanted
    FROM tickbird.runs
    WHERE namespace = %(namespace)s AND {is_unsuccessful} AND id > %(after)s::bigint
    ORDER BY id
    LIMIT %(maximum)s
)
{filtered_page};

-- fragment: picked_columns
id, namespace, status, origin, target_kind, target, worker, queue, concurrency_key, due_at, error, lane, attempt

-- fragment: picked_page
ARRAY(
    SELECT id FROM seen
    WHERE namespace = %(namespace)s
        AND status = ANY(%(statuses)s::text[])
        AND {run_filter}
        AND id < {before}
        AND id > coalesce(%(after)s::bigint, 0)
    ORDER BY CASE WHEN %(after)s::bigint IS NULL THEN -id ELSE id END
    LIMIT %(limit)s
)

-- name: pick_active
-- Runs that are not final, by their own indexes, however old they are. The indexes do not have the order of a page, so
-- the result is sorted. The first column is the number of runs read for the status with the most: if it is the maximum,
-- there are more.
WITH seen AS MATERIALIZED (
    (
        SELECT {picked_columns} FROM tickbird.runs
        WHERE status = 'running' AND 'running' = ANY(%(statuses)s::text[])
        LIMIT %(maximum)s
    )
    UNION ALL
    (
        SELECT {picked_columns} FROM tickbird.runs
        WHERE 'queued' = ANY(%(statuses)s::text[])
            AND status = 'queued' AND namespace = %(namespace)s AND (%(queue)s::text IS NULL OR queue = %(queue)s)
        LIMIT %(maximum)s
    )
    UNION ALL
    (
        SELECT {picked_columns} FROM tickbird.runs
        WHERE status = 'waiting' AND 'waiting' = ANY(%(statuses)s::text[])
        LIMIT %(maximum)s
    )
)
SELECT
    (SELECT coalesce(max(number), 0) FROM (SELECT count(*) AS number FROM seen GROUP BY status) AS counted),
    {picked_page};

-- name: pick_active_of_key
WITH seen AS MATERIALIZED (
    (
        SELECT {picked_columns} FROM tickbird.runs
        WHERE namespace = %(namespace)s AND concurrency_key = %(key)s AND status IN ('queued', 'running')
        LIMIT %(maximum)s
    )
    UNION ALL
    (
        SELECT {picked_columns} FROM tickbird.runs
        WHERE namespace = %(namespace)s AND concurrency_key = %(key)s AND status = 'waiting'
        LIMIT %(maximum)s
    )
)
SELECT
    (SELECT greatest(count(*) FILTER (WHERE status = 'waiting'), count(*) FILTER (WHERE status <> 'waiting')) FROM seen),
    {picked_page};

-- name: page_unsuccessful
SELECT * FROM tickbird.run_details
WHERE namespace = %(namespace)s AND {is_unsuccessful} AND id < {before}
ORDER BY id DESC
LIMIT %(limit)s;

-- name: page_unsuccessful_of
SELECT * FROM tickbird.run_details
WHERE {of_schedule} AND {is_unsuccessful} AND id < {before}
ORDER BY id DESC
LIMIT %(limit)s;

-- fragment: active_page
SELECT * FROM tickbird.run_details
WHERE id = ANY(ARRAY(SELECT id FROM active WHERE id < {before} ORDER BY id DESC LIMIT %(limit)s))
ORDER BY id DESC

-- name: page_active
-- There are as many as there is work to do; their indexes do not have the order of a page.
WITH active AS MATERIALIZED (
    SELECT id FROM tickbird.runs
    WHERE %(status)s = 'running' AND status = 'running' AND namespace = %(namespace)s
    UNION ALL
    SELECT id FROM tickbird.runs
    WHERE %(status)s = 'queued' AND status = 'queued' AND namespace = %(namespace)s
    UNION ALL
    SELECT id FROM tickbird.runs
    WHERE %(status)s = 'waiting' AND status = 'waiting' AND namespace = %(namespace)s
)
{active_page};

-- name: page_active_of
WITH active AS MATERIALIZED (
    SELECT id FROM tickbird.runs
    WHERE {of_schedule} AND finished_at IS NULL AND status = %(status)s
)
{active_page};
