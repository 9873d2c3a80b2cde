-- Held runs: runs of late ticks that wait until an operator releases or drops them.

-- name: held_schedules
SELECT
    s.name AS schedule, count(*) AS count, min(r.scheduled_for) AS first, max(r.scheduled_for) AS last,
    min(r.created_at) AS since
FROM tickbird.runs AS r
JOIN tickbird.schedules AS s ON s.id = r.schedule_id
WHERE r.status = 'waiting'
    AND r.lane = 2
    AND r.attempt = 0
    AND s.namespace = %(namespace)s
    AND (%(schedule)s::text IS NULL OR s.name = %(schedule)s)
GROUP BY s.name
ORDER BY s.name;

-- name: list_held_runs
SELECT d.*
FROM tickbird.schedules AS s
JOIN tickbird.run_details AS d ON d.schedule_id = s.id
WHERE s.namespace = %(namespace)s
    AND s.name = %(schedule)s
    AND d.status = 'waiting'
    AND d.lane = 2
    AND d.attempt = 0
    AND d.id > %(after)s
ORDER BY d.id
LIMIT %(limit)s;

-- name: lock_held
-- The oldest held ones.
SELECT id FROM tickbird.runs
WHERE schedule_id = %(schedule_id)s AND status = 'waiting' AND lane = 2 AND attempt = 0
ORDER BY id
LIMIT %(count)s
FOR UPDATE;

-- name: release_held
-- From now on they wait like others, and are not available before their turn.
UPDATE tickbird.runs AS r
SET lane = 0,
    released_at = %(now)s,
    released_by = %(actor)s,
    available_at = greatest(r.available_at, %(now)s + make_interval(secs => %(apart)s * (u.place - 1)))
FROM unnest(%(ids)s::bigint[]) WITH ORDINALITY AS u(id, place)
WHERE r.id = u.id;
