-- Pages of runs by status, newest first. Each walks an index that holds only what it looks for, or nearly so: among ten
-- million runs that ended well, a page of those that did not is found at once. `before` is a bound of the index also where
-- it is not given; as a condition of its own it would be looked at row by row, from the newest on.

-- name: page_unwell
SELECT * FROM tickbird.run_details
WHERE namespace = %(namespace)s
    AND status = %(status)s
    AND status IN ('failed', 'cancelled')
    AND id < coalesce(%(before)s::bigint, 9223372036854775807)
ORDER BY id DESC
LIMIT %(limit)s;

-- name: page_unwell_of
SELECT * FROM tickbird.run_details
WHERE schedule_id = (SELECT s.id FROM tickbird.schedules AS s WHERE s.namespace = %(namespace)s AND s.name = %(schedule)s)
    AND status = %(status)s
    AND status IN ('failed', 'cancelled')
    AND id < coalesce(%(before)s::bigint, 9223372036854775807)
ORDER BY id DESC
LIMIT %(limit)s;

-- name: page_active
-- There are as many as there is work to do, in no order that their indexes know.
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
SELECT * FROM tickbird.run_details
WHERE id = ANY(ARRAY(
    SELECT id FROM active
    WHERE id < coalesce(%(before)s::bigint, 9223372036854775807)
    ORDER BY id DESC LIMIT %(limit)s
))
ORDER BY id DESC;

-- name: page_active_of
WITH active AS MATERIALIZED (
    SELECT id FROM tickbird.runs
    WHERE schedule_id = (
            SELECT s.id FROM tickbird.schedules AS s WHERE s.namespace = %(namespace)s AND s.name = %(schedule)s
        )
        AND finished_at IS NULL
        AND status = %(status)s
)
SELECT * FROM tickbird.run_details
WHERE id = ANY(ARRAY(
    SELECT id FROM active
    WHERE id < coalesce(%(before)s::bigint, 9223372036854775807)
    ORDER BY id DESC LIMIT %(limit)s
))
ORDER BY id DESC;
