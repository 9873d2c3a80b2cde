-- Schedules: their definitions, revisions and audit log.

-- name: schedule_by_name
SELECT * FROM schedule_details WHERE namespace = :namespace AND name = :name;

-- name: list_app_schedules
SELECT
    s.*,
    (
        SELECT json_group_array(DISTINCT v.fingerprint)
        FROM revisions AS v
        WHERE v.schedule_id = s.id AND v.fingerprint IS NOT NULL
    ) AS seen
FROM schedule_details AS s
WHERE s.namespace = :namespace
    AND s.id IN (
        SELECT id FROM schedules WHERE namespace = :namespace AND app = :app
        UNION
        SELECT id FROM schedules WHERE namespace = :namespace AND name IN (SELECT value FROM json_each(:names))
    );

-- name: insert_schedule
INSERT INTO schedules (namespace, name, app, definition, revision, fingerprint, created_at, changed_at)
VALUES (:namespace, :name, :app, :definition, :revision, :fingerprint, :now, :now);

-- name: id_of_schedule
SELECT id FROM schedule_ids WHERE namespace = :namespace AND name = :name;

-- name: update_schedule
UPDATE schedules
SET app = :app,
    definition = coalesce(:definition, definition),
    revision = :revision,
    fingerprint = :fingerprint,
    field_overrides = :field_overrides,
    paused_by = :paused_by,
    pause_note = :pause_note,
    paused_until = :paused_until * 1000000,
    error = :error,
    changed_at = :now
WHERE id = :id;

-- name: write_revision
-- The trigger on schedules has already written the first revision of a new one.
INSERT INTO revisions (schedule_id, revision, definition, fingerprint, action, actor, detail, created_at)
VALUES (
    :id, :revision, coalesce(:definition, (SELECT s.definition FROM schedules AS s WHERE s.id = :id)), :fingerprint, :action,
    :actor, :detail, :now
)
ON CONFLICT (schedule_id, revision) DO UPDATE
SET action = excluded.action, actor = excluded.actor, detail = excluded.detail, created_at = excluded.created_at;

-- name: list_revisions
SELECT revision, action, actor, created_at AS at, definition, fingerprint, detail
FROM revisions
WHERE schedule_id = :schedule_id
    AND (:before IS NULL OR revision < :before)
    AND (:made_before IS NULL OR created_at < :made_before)
ORDER BY revision DESC
LIMIT :limit;

-- name: write_audit
INSERT INTO audit_log (created_at, actor, action, namespace, schedule_id, schedule, run_id, detail)
VALUES (:now, :actor, :action, :namespace, :schedule_id, :schedule, :run_id, :detail);

-- name: list_audit
SELECT id, created_at AS at, actor, action, schedule, run_id, detail
FROM audit_log
WHERE namespace = :namespace AND id < coalesce(:before, 9223372036854775807)
ORDER BY id DESC
LIMIT :limit;

-- name: list_audit_of
SELECT id, created_at AS at, actor, action, schedule, run_id, detail
FROM audit_log
WHERE schedule_id = (SELECT i.id FROM schedule_ids AS i WHERE i.namespace = :namespace AND i.name = :schedule)
    AND id < coalesce(:before, 9223372036854775807)
ORDER BY id DESC
LIMIT :limit;

-- name: list_skips
SELECT id, schedule_id, revision, reason, first_at, last_at, count, run_id, actor, note, decided_at, term
FROM skips
WHERE schedule_id = :schedule_id AND last_at >= :first AND first_at <= :last
ORDER BY last_at
LIMIT :limit;
