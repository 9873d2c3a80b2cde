-- Schedules, their history and their list columns.

-- name: get_schedule
SELECT * FROM tickbird.schedule_details WHERE namespace = %(namespace)s AND name = %(name)s;

-- name: read_schedules
SELECT * FROM tickbird.schedule_details WHERE id = ANY(%(ids)s::bigint[]);

-- name: read_runs
SELECT * FROM tickbird.run_details WHERE id = ANY(%(ids)s::bigint[]);

-- name: list_app_schedules
SELECT
    s.*,
    ARRAY(
        SELECT DISTINCT v.fingerprint FROM tickbird.revisions AS v
        WHERE v.schedule_id = s.id AND v.fingerprint IS NOT NULL
    ) AS seen
FROM tickbird.schedule_details AS s
WHERE s.id = ANY(
    -- Not one condition with OR, which cannot use an index.
    ARRAY(
        SELECT id FROM tickbird.schedules WHERE namespace = %(namespace)s AND app = %(app)s
        UNION
        SELECT id FROM tickbird.schedules WHERE namespace = %(namespace)s AND name = ANY(%(names)s::text[])
    )
);

-- name: list_revisions
SELECT revision, action, actor, created_at AS at, definition, fingerprint, detail
FROM tickbird.revisions
WHERE schedule_id = %(schedule_id)s
    AND (%(before)s::bigint IS NULL OR revision < %(before)s)
    AND (%(made_before)s::timestamptz IS NULL OR created_at < %(made_before)s)
ORDER BY revision DESC
LIMIT %(limit)s;

-- name: list_audit
SELECT id, created_at AS at, actor, action, schedule, run_id, detail
FROM tickbird.audit_log
WHERE namespace = %(namespace)s AND id < coalesce(%(before)s::bigint, 9223372036854775807)
ORDER BY id DESC
LIMIT %(limit)s;

-- name: list_audit_of
SELECT id, created_at AS at, actor, action, schedule, run_id, detail
FROM tickbird.audit_log
WHERE schedule_id = (
        SELECT i.id FROM tickbird.schedule_ids AS i WHERE i.namespace = %(namespace)s AND i.name = %(schedule)s
    )
    AND id < coalesce(%(before)s::bigint, 9223372036854775807)
ORDER BY id DESC
LIMIT %(limit)s;
