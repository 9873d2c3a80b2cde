-- Many changes in one transaction, as sets: the same as schedule_changes.sql does for one schedule.

-- name: lock_named
-- Like lock_schedule, in one order for all sessions.
SELECT s.id, s.name, c.zone_generation
FROM tickbird.schedules AS s
JOIN tickbird.cursors AS c ON c.schedule_id = s.id
WHERE s.namespace = %(namespace)s AND s.name = ANY(%(names)s::text[])
ORDER BY s.id
FOR UPDATE OF s, c;

-- name: depended_on
-- The schedules that others depend on, by name.
SELECT DISTINCT e.value ->> 'after'
FROM tickbird.schedules AS s
JOIN tickbird.cursors AS c ON c.schedule_id = s.id
CROSS JOIN LATERAL jsonb_array_elements(
    CASE jsonb_typeof(s.definition -> 'depends_on') WHEN 'array' THEN s.definition -> 'depends_on' ELSE '[]' END
) AS e(value)
WHERE s.namespace = %(namespace)s AND s.definition ? 'depends_on' AND c.state <> 'deleted';

-- name: insert_schedules
-- The table's own trigger adds cursors and revisions, which the changes then complete.
INSERT INTO tickbird.schedules (namespace, name, definition, revision, created_at, changed_at)
SELECT %(namespace)s, u.name, u.definition::jsonb, u.revision, %(now)s, %(now)s
FROM unnest(%(names)s::text[], %(definitions)s::text[], %(revisions)s::integer[]) AS u(name, definition, revision)
RETURNING name, id;

-- name: write_schedules
UPDATE tickbird.schedules AS s
SET app = u.app,
    definition = u.definition::jsonb,
    revision = u.revision,
    fingerprint = u.fingerprint,
    field_overrides = u.field_overrides::jsonb,
    paused_by = u.paused_by,
    pause_note = u.pause_note,
    paused_until = to_timestamp(u.paused_until),
    error = u.error,
    changed_at = %(now)s
FROM unnest(
    %(ids)s::bigint[], %(apps)s::text[], %(definitions)s::text[], %(revisions)s::integer[], %(fingerprints)s::text[],
    %(field_overrides)s::text[], %(paused_by)s::text[], %(pause_notes)s::text[], %(paused_until)s::bigint[],
    %(errors)s::text[]
) AS u(
    id, app, definition, revision, fingerprint, field_overrides, paused_by, pause_note, paused_until, error
)
WHERE s.id = u.id;

-- name: write_cursor_revisions
UPDATE tickbird.cursors AS c
SET revision = u.revision,
    format = tickbird.definition_format(u.definition::jsonb),
    zone_generation = CASE WHEN tickbird.newest_zone_generation(u.definition::jsonb) IS NOT NULL THEN %(zones)s::integer END
FROM unnest(%(ids)s::bigint[], %(revisions)s::integer[], %(definitions)s::text[]) AS u(id, revision, definition)
WHERE c.schedule_id = u.id;

-- name: write_revisions
INSERT INTO tickbird.revisions (schedule_id, revision, definition, fingerprint, action, actor, detail, created_at)
SELECT u.id, u.revision, u.definition::json, u.fingerprint, u.action, u.actor, u.detail::jsonb, %(now)s
FROM unnest(
    %(ids)s::bigint[], %(revisions)s::integer[], %(definitions)s::text[], %(fingerprints)s::text[],
    %(actions)s::text[], %(actors)s::text[], %(details)s::text[]
) AS u(id, revision, definition, fingerprint, action, actor, detail)
ON CONFLICT (schedule_id, revision) DO UPDATE
SET definition = excluded.definition,
    fingerprint = excluded.fingerprint,
    action = excluded.action,
    actor = excluded.actor,
    detail = excluded.detail,
    created_at = excluded.created_at;

-- name: write_audits
INSERT INTO tickbird.audit_log (created_at, actor, action, namespace, schedule_id, schedule, detail)
SELECT %(now)s, u.actor, u.action, %(namespace)s, u.id, u.name, u.detail::jsonb
FROM unnest(
    %(ids)s::bigint[], %(names)s::text[], %(actions)s::text[], %(actors)s::text[], %(details)s::text[]
) WITH ORDINALITY AS u(id, name, action, actor, detail, place)
ORDER BY u.place;
