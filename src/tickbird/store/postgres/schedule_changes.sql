-- One change to one schedule, by a person or a deploy.

-- name: lock_schedule
-- First the schedule, then its cursor: the lock order of all sessions.
SELECT s.id, c.zone_generation, c.sql_commands
FROM tickbird.schedules AS s
JOIN tickbird.cursors AS c ON c.schedule_id = s.id
WHERE s.namespace = %(namespace)s AND s.name = %(name)s
FOR UPDATE OF s, c;

-- name: read_locked_schedule
-- The clock, the schedule and its active runs, which are locked too. Read after the locks are held, so that the result
-- includes all earlier decisions. A run that is ending is waited for, and is not active afterwards.
WITH held AS MATERIALIZED (
    SELECT id, status, origin, concurrency_key, lane
    FROM tickbird.runs
    WHERE id = ANY(ARRAY(
            SELECT id FROM tickbird.runs WHERE schedule_id = %(id)s::bigint AND lane <= 0 AND finished_at IS NULL
        ))
        AND finished_at IS NULL
    ORDER BY status = 'waiting', lane, id
    FOR UPDATE
)
SELECT
    coalesce(%(now)s::timestamptz, statement_timestamp()) AS now,
    ARRAY(SELECT held.id FROM held ORDER BY held.id) AS active,
    ARRAY(SELECT held.status FROM held ORDER BY held.id) AS active_statuses,
    ARRAY(SELECT held.origin FROM held ORDER BY held.id) AS active_origins,
    ARRAY(SELECT held.concurrency_key FROM held ORDER BY held.id) AS active_keys,
    ARRAY(SELECT held.lane < 0 FROM held ORDER BY held.id) AS active_awaits,
    EXISTS (
        SELECT FROM tickbird.runs WHERE schedule_id = %(id)s::bigint AND status = 'waiting' AND lane = 2 AND attempt = 0
    ) AS any_held,
    EXISTS (
        SELECT FROM tickbird.runs WHERE schedule_id = %(id)s::bigint AND status = 'waiting' AND lane = 1
    ) AS any_aside,
    d.*
FROM (SELECT %(id)s::bigint AS id) AS asked
LEFT JOIN tickbird.schedule_details AS d ON d.id = asked.id;

-- name: clock
SELECT coalesce(%(now)s::timestamptz, statement_timestamp());

-- name: insert_schedule
-- The table's own trigger adds a cursor and a revision, which the change then completes.
INSERT INTO tickbird.schedules (namespace, name, definition, revision, created_at, changed_at)
VALUES (%(namespace)s, %(name)s, %(definition)s, %(revision)s, %(now)s, %(now)s)
RETURNING id;

-- name: write_schedule
UPDATE tickbird.schedules
SET app = %(app)s,
    -- Null: the definition cannot be read, and does not change.
    definition = coalesce(%(definition)s::jsonb, definition),
    revision = %(revision)s,
    fingerprint = %(fingerprint)s,
    field_overrides = %(field_overrides)s,
    paused_by = %(paused_by)s,
    pause_note = %(pause_note)s,
    paused_until = to_timestamp(%(paused_until)s::bigint),
    error = %(error)s,
    changed_at = %(now)s
WHERE id = %(id)s;

-- name: write_cursor_revision
UPDATE tickbird.cursors
SET revision = %(revision)s,
    format = coalesce(tickbird.definition_format(%(definition)s::jsonb), format),
    -- Computed with the time zone data of this process, which may differ from the store's.
    zone_generation = CASE
        WHEN %(definition)s::jsonb IS NULL THEN zone_generation
        WHEN tickbird.newest_zone_generation(%(definition)s::jsonb) IS NOT NULL THEN %(zones)s::integer
    END
WHERE schedule_id = %(id)s;

-- name: write_revision
INSERT INTO tickbird.revisions (schedule_id, revision, definition, fingerprint, action, actor, detail, created_at)
VALUES (
    %(id)s, %(revision)s,
    coalesce(%(definition)s::json, (SELECT s.definition::json FROM tickbird.schedules AS s WHERE s.id = %(id)s)),
    %(fingerprint)s, %(action)s, %(actor)s, %(detail)s, %(now)s
)
ON CONFLICT (schedule_id, revision) DO UPDATE
SET definition = excluded.definition,
    fingerprint = excluded.fingerprint,
    action = excluded.action,
    actor = excluded.actor,
    detail = excluded.detail,
    created_at = excluded.created_at;

-- name: write_run
-- A requested run, with its payload, its audit row and its wake-up; returns the run as in run_details.
WITH made AS (
    INSERT INTO tickbird.runs (
        namespace, schedule_id, revision, target_kind, target, queue, priority, status, origin, due_at, available_at,
        start_by, crash_limit, retry_of, actor, concurrency_key, deferred_until_minute, created_at
    )
    VALUES (
        %(namespace)s, %(schedule_id)s, %(revision)s, %(target_kind)s, %(target)s, %(queue)s, %(priority)s, %(status)s,
        %(origin)s, %(now)s, %(now)s, to_timestamp(%(start_by)s::float8), %(crash_limit)s, %(retry_of)s, %(actor)s, %(key)s,
        %(deferred_until_minute)s,
        %(now)s
    )
    RETURNING *
),
sent AS (
    INSERT INTO tickbird.run_payloads (run_id, payload)
    SELECT made.id, %(payload)s::json FROM made WHERE %(payload)s::text IS NOT NULL
),
told AS (
    INSERT INTO tickbird.audit_log (created_at, actor, action, namespace, schedule_id, schedule, run_id, detail)
    SELECT
        made.created_at, made.actor, %(action)s, made.namespace, made.schedule_id, %(schedule)s, made.id, %(detail)s
    FROM made
)
SELECT
    pg_notify('tickbird', '') AS woken,
    r.id, r.namespace, r.schedule_id, %(schedule)s::text AS schedule, r.revision, r.target_kind, r.target, r.queue,
    r.priority, r.origin, r.status, r.scheduled_for, r.due_at, r.available_at, r.start_by, r.covers_first,
    r.covers_last, r.covers_count, r.attempt, r.failures, r.crashes, r.created_at, r.started_at, r.finished_at,
    r.lease_until, r.worker, r.retry_of, r.actor, r.reason, r.cancel_requested_at, r.cancel_requested_by,
    coalesce(%(payload)s::json, v.definition -> 'payload', '{}'::json) AS payload, r.result, r.error, r.failure_kind,
    r.concurrency_key, v.definition -> 'trigger' ->> 'cron' AS cron_spec
FROM made AS r
LEFT JOIN tickbird.revisions AS v ON v.schedule_id = r.schedule_id AND v.revision = r.revision;

-- name: write_audit
INSERT INTO tickbird.audit_log (created_at, actor, action, namespace, schedule_id, schedule, run_id, detail)
VALUES (
    %(now)s, %(actor)s, %(action)s, %(namespace)s, %(schedule_id)s, %(schedule)s, %(run_id)s, %(detail)s
);

-- name: record_refusal
-- A definition that the checks of SQL functions refused; its transaction was rolled back.
INSERT INTO tickbird.audit_log (created_at, actor, action, namespace, schedule, detail)
VALUES (
    clock_timestamp(), %(actor)s, 'refuse', %(namespace)s, %(schedule)s, jsonb_build_object('reason', CAST(%(reason)s AS text))
);

-- Changes that plain SQL requested

-- name: requested_schedules
SELECT schedule_id FROM tickbird.cursors WHERE schedule_id = ANY(%(ids)s::bigint[]) AND sql_commands IS NOT NULL;

-- name: requested_schedule
SELECT s.namespace, s.name, coalesce(c.sql_commands::jsonb @> '[{"action": "delete"}]', false)
FROM tickbird.schedules AS s
JOIN tickbird.cursors AS c ON c.schedule_id = s.id
WHERE s.id = %(id)s;

-- name: take_requests
-- The schedule first, then its cursor: the lock order of all sessions.
WITH locked AS MATERIALIZED (
    SELECT c.schedule_id, c.sql_commands
    FROM tickbird.schedules AS s
    JOIN tickbird.cursors AS c ON c.schedule_id = s.id
    WHERE s.id = %(id)s
    FOR UPDATE OF s, c
),
cleared AS (
    UPDATE tickbird.cursors AS c SET sql_commands = NULL FROM locked WHERE c.schedule_id = locked.schedule_id
)
SELECT command.value
FROM locked
CROSS JOIN LATERAL json_array_elements(locked.sql_commands) WITH ORDINALITY AS command(value, place)
ORDER BY command.place;

-- name: mirror_job
SELECT tickbird.mirror_job(%(id)s);
