-- Schedules, their history and what a list shows of them.

-- name: get_schedule
SELECT * FROM tickbird.schedule_details WHERE namespace = %(namespace)s AND name = %(name)s;

-- name: read_schedules
SELECT * FROM tickbird.schedule_details WHERE id = ANY(%(ids)s::bigint[]);

-- name: list_schedules
SELECT
    s.*,
    (SELECT r.id FROM tickbird.runs AS r WHERE r.schedule_id = s.id ORDER BY r.id DESC LIMIT 1) AS last_run_id,
    (
        -- The newest hundred runs that tell: how many failed since the last that did well?
        SELECT count(*)
        FROM (
            SELECT count(*) FILTER (WHERE told.status = 'succeeded') OVER (ORDER BY told.id DESC) AS good
            FROM (
                SELECT r.id, r.status FROM tickbird.runs AS r
                WHERE r.schedule_id = s.id AND r.status IN ('succeeded', 'failed')
                ORDER BY r.id DESC LIMIT 100
            ) AS told
        ) AS counted
        WHERE counted.good = 0
    ) AS failure_streak,
    (
        SELECT count(*) FROM tickbird.runs AS r WHERE r.schedule_id = s.id AND r.status = 'waiting' AND r.lane = 2
    ) AS held
FROM tickbird.schedule_details AS s
WHERE s.namespace = %(namespace)s
    AND s.name > %(after)s
    AND (%(contains)s = '' OR strpos(lower(s.name), lower(%(contains)s)) > 0)
    AND CASE WHEN %(state)s::text IS NULL THEN s.state <> 'deleted' ELSE s.state = %(state)s END
    AND (%(tag)s::text IS NULL OR s.definition -> 'tags' ? %(tag)s)
ORDER BY s.name
LIMIT %(limit)s;

-- name: read_runs
SELECT * FROM tickbird.run_details WHERE id = ANY(%(ids)s::bigint[]);

-- name: app_schedules
SELECT
    s.*,
    ARRAY(
        SELECT DISTINCT v.fingerprint FROM tickbird.revisions AS v
        WHERE v.schedule_id = s.id AND v.fingerprint IS NOT NULL
    ) AS seen
FROM tickbird.schedule_details AS s
WHERE s.namespace = %(namespace)s AND (s.app = %(app)s OR s.name = ANY(%(names)s::text[]));

-- name: list_revisions
SELECT revision, action, actor, at, definition, fingerprint, detail
FROM tickbird.revisions
WHERE schedule_id = %(schedule_id)s AND (%(before)s::bigint IS NULL OR revision < %(before)s)
ORDER BY revision DESC
LIMIT %(limit)s;

-- name: list_audit
SELECT id, at, actor, action, schedule, run_id, detail
FROM tickbird.audit
WHERE namespace = %(namespace)s
    AND (%(schedule)s::text IS NULL OR schedule = %(schedule)s)
    AND id < coalesce(%(before)s::bigint, 9223372036854775807)
ORDER BY id DESC
LIMIT %(limit)s;
