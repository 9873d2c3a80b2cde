-- One change to one schedule, by a person or a deploy.

-- name: lock_schedule
SELECT id FROM tickbird.schedules WHERE namespace = %(namespace)s AND name = %(name)s FOR UPDATE;

-- name: lock_cursor
SELECT FROM tickbird.cursors WHERE schedule_id = %(id)s FOR UPDATE;

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
    definition = %(definition)s,
    revision = %(revision)s,
    fingerprint = %(fingerprint)s,
    overrides = %(overrides)s,
    paused_by = %(paused_by)s,
    pause_note = %(pause_note)s,
    paused_until = to_timestamp(%(paused_until)s::bigint),
    error = %(error)s,
    changed_at = %(now)s
WHERE id = %(id)s;

-- name: write_cursor_revision
UPDATE tickbird.cursors
SET revision = %(revision)s, format = tickbird.definition_format(%(definition)s)
WHERE schedule_id = %(id)s;

-- name: write_revision
INSERT INTO tickbird.revisions (schedule_id, revision, definition, fingerprint, action, actor, detail, at)
VALUES (
    %(id)s, %(revision)s, %(definition)s, %(fingerprint)s, %(action)s, %(actor)s, %(detail)s, %(now)s
)
ON CONFLICT (schedule_id, revision) DO UPDATE
SET definition = excluded.definition,
    fingerprint = excluded.fingerprint,
    action = excluded.action,
    actor = excluded.actor,
    detail = excluded.detail,
    at = excluded.at;

-- name: write_audit
INSERT INTO tickbird.audit (at, actor, action, namespace, schedule_id, schedule, run_id, detail)
VALUES (
    %(now)s, %(actor)s, %(action)s, %(namespace)s, %(schedule_id)s, %(schedule)s, %(run_id)s, %(detail)s
);
