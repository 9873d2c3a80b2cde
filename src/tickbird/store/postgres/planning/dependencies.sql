-- Dependencies: the last successes of schedules that others depend on, and the runs that wait for them.
-- A session that records a success locks the ended runs, then the records in order, then the first waiting runs. A session
-- that makes a run wait for a success locks the record without waiting. So there is no deadlock, and no success is missed
-- in between.

-- name: read_successes
-- The existing schedules among these, and whether their successes are recorded.
SELECT n.namespace, n.name, s.id, l.schedule_id IS NOT NULL, tickbird.epoch_seconds(l.succeeded_at)
FROM unnest(%(namespaces)s::text[], %(names)s::text[]) AS n(namespace, name)
JOIN tickbird.schedules AS s USING (namespace, name)
JOIN tickbird.cursors AS c ON c.schedule_id = s.id AND c.state <> 'deleted'
LEFT JOIN tickbird.last_successes AS l ON l.schedule_id = s.id;

-- name: watch
INSERT INTO tickbird.last_successes (schedule_id)
SELECT u.id FROM unnest(%(ids)s::bigint[]) AS u(id) ORDER BY u.id
ON CONFLICT (schedule_id) DO NOTHING;

-- name: fill_successes
-- From the newest runs; runs that were ending have ended, because their locks were waited for.
UPDATE tickbird.last_successes AS l
SET succeeded_at = (
    SELECT max(r.finished_at)
    FROM (
        SELECT finished_at, status FROM tickbird.runs WHERE schedule_id = l.schedule_id ORDER BY id DESC LIMIT 10000
    ) AS r
    WHERE r.status = 'succeeded'
)
WHERE l.schedule_id = ANY(%(ids)s::bigint[]) AND l.succeeded_at IS NULL;

-- name: lock_successes
SELECT schedule_id FROM tickbird.last_successes
WHERE schedule_id = ANY(%(ids)s::bigint[])
ORDER BY schedule_id
FOR SHARE SKIP LOCKED;

-- name: lock_successes_or_fail
-- Like lock_successes; fails if one is being recorded, so that the whole transaction is retried.
SELECT schedule_id FROM tickbird.last_successes
WHERE schedule_id = ANY(%(ids)s::bigint[])
ORDER BY schedule_id
FOR SHARE NOWAIT;

-- name: record_successes
UPDATE tickbird.last_successes
SET succeeded_at = greatest(succeeded_at, %(at)s)
WHERE schedule_id = ANY(ARRAY(
    SELECT schedule_id FROM tickbird.last_successes
    WHERE schedule_id = ANY(%(ids)s::bigint[])
    ORDER BY schedule_id
    FOR UPDATE
));

-- name: awaiting_schedules
-- The schedules of runs that wait for one of these successes.
SELECT DISTINCT r.schedule_id
FROM tickbird.dependency_waits AS a
JOIN tickbird.runs AS r ON r.id = a.run_id
WHERE a.schedule_id = ANY(%(ids)s::bigint[])
    AND a.earliest_at <= %(at)s
    AND a.deadline_at >= %(at)s
    AND r.status || '' = 'waiting'
    AND r.lane = -1;

-- name: resolve_awaits
DELETE FROM tickbird.dependency_waits
WHERE schedule_id = ANY(%(ids)s::bigint[]) AND earliest_at <= %(at)s AND deadline_at >= %(at)s
RETURNING run_id;

-- name: resolve_missed_awaits
-- Like resolve_awaits, for every recorded success that was missed.
DELETE FROM tickbird.dependency_waits AS a
USING tickbird.last_successes AS l
WHERE l.schedule_id = a.schedule_id AND l.succeeded_at BETWEEN a.earliest_at AND a.deadline_at;

-- name: end_waits
-- Runs that no longer wait for another schedule; from now on they wait for a slot. A run that another session has locked
-- is being cancelled.
UPDATE tickbird.runs
SET lane = 0
WHERE id = ANY(ARRAY(
    SELECT r.id FROM tickbird.runs AS r
    WHERE r.id = ANY(%(ids)s::bigint[])
        AND r.status || '' = 'waiting'
        AND r.lane = -1
        AND NOT EXISTS (SELECT FROM tickbird.dependency_waits AS a WHERE a.run_id = r.id)
    ORDER BY r.id
    FOR UPDATE SKIP LOCKED
));

-- name: end_missed
-- Like end_waits, for all runs.
UPDATE tickbird.runs
SET lane = 0
WHERE id = ANY(ARRAY(
    SELECT r.id FROM tickbird.runs AS r
    WHERE r.status = 'waiting'
        AND r.lane = -1
        AND NOT EXISTS (SELECT FROM tickbird.dependency_waits AS a WHERE a.run_id = r.id)
    ORDER BY r.id
    FOR UPDATE SKIP LOCKED
));

-- name: cancel_unmet
WITH over AS MATERIALIZED (
    SELECT a.run_id, string_agg(s.name, ', ' ORDER BY s.name) AS names
    FROM tickbird.dependency_waits AS a
    JOIN tickbird.schedules AS s ON s.id = a.schedule_id
    WHERE a.deadline_at < %(now)s
    GROUP BY a.run_id
    ORDER BY min(a.deadline_at)
    LIMIT %(limit)s
),
late AS MATERIALIZED (
    SELECT r.id FROM tickbird.runs AS r
    WHERE r.id = ANY(ARRAY(SELECT over.run_id FROM over)) AND r.status || '' = 'waiting' AND r.lane = -1
    ORDER BY r.id
    FOR UPDATE SKIP LOCKED
)
UPDATE tickbird.runs AS r
SET status = 'cancelled', lane = 0, reason = 'dependency', error = 'waited for ' || over.names, finished_at = %(now)s
FROM over
WHERE r.id = over.run_id AND r.id = ANY(ARRAY(SELECT late.id FROM late))
RETURNING r.id;

-- name: delete_awaits
-- Of runs that were cancelled now, or earlier for another reason.
DELETE FROM tickbird.dependency_waits AS a
WHERE a.run_id = ANY(ARRAY(SELECT run_id FROM tickbird.dependency_waits WHERE deadline_at < %(now)s))
    AND NOT EXISTS (
        SELECT FROM tickbird.runs AS r WHERE r.id = a.run_id AND r.status || '' = 'waiting' AND r.lane = -1
    );

-- name: write_awaits
INSERT INTO tickbird.dependency_waits (run_id, schedule_id, earliest_at, deadline_at)
SELECT u.run_id, u.schedule_id, to_timestamp(u.earliest_at), to_timestamp(u.deadline_at)
FROM unnest(%(run_id)s::bigint[], %(schedule_id)s::bigint[], %(earliest_at)s::bigint[], %(deadline_at)s::bigint[])
    AS u(run_id, schedule_id, earliest_at, deadline_at);

-- name: lock_dependencies
-- Serializes changes of dependencies between schedules of a namespace.
SELECT pg_advisory_xact_lock(1413694531, hashtext(%(namespace)s));

-- name: read_needs
SELECT s.name, s.definition
FROM tickbird.schedules AS s
JOIN tickbird.cursors AS c ON c.schedule_id = s.id
WHERE s.namespace = %(namespace)s AND s.name = ANY(%(names)s::text[]) AND c.state <> 'deleted';

-- name: dependents
SELECT s.name
FROM tickbird.schedules AS s
JOIN tickbird.cursors AS c ON c.schedule_id = s.id
WHERE s.namespace = %(namespace)s
    AND s.definition ? 'depends_on'
    AND s.definition -> 'depends_on' @> jsonb_build_array(jsonb_build_object('after', %(name)s::text))
    AND c.state <> 'deleted'
ORDER BY s.name
LIMIT %(limit)s;

-- name: unwatch
-- A success need not be recorded if no schedule depends on it and no run waits for it.
DELETE FROM tickbird.last_successes
WHERE schedule_id NOT IN (SELECT schedule_id FROM tickbird.dependency_waits)
    AND schedule_id NOT IN (
        SELECT s.id
        FROM tickbird.schedules AS d
        CROSS JOIN LATERAL jsonb_array_elements(
            CASE jsonb_typeof(d.definition -> 'depends_on') WHEN 'array' THEN d.definition -> 'depends_on' ELSE '[]' END
        ) AS e(value)
        JOIN tickbird.schedules AS s ON s.namespace = d.namespace AND s.name = e.value ->> 'after'
        WHERE d.definition ? 'depends_on'
    );
