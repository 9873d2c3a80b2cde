-- Ticks that workers compute themselves: schedules in memory, and durable ones in fallback.

-- fragment: readable
-- This process knows the format, and every custom trigger of the definition.
(
    (format <= :format OR format IN (SELECT value FROM json_each(:own_formats))) AND (
        format < :custom OR NOT EXISTS (
            SELECT 1 FROM schedules AS d
            WHERE d.id = schedule_id AND (
                -- NULL is not in an empty list, so triggers without a name are excluded first.
                json_extract(d.definition, '$.trigger.custom') IS NOT NULL
                AND json_extract(d.definition, '$.trigger.custom') NOT IN (SELECT value FROM json_each(:triggers))
                OR EXISTS (
                    SELECT 1 FROM json_each(d.definition, '$.trigger.any_of') AS m
                    WHERE m.type = 'object' AND json_extract(m.value, '$.custom') IS NOT NULL
                        AND json_extract(m.value, '$.custom') NOT IN (SELECT value FROM json_each(:triggers))
                )
            )
        )
    )
)

-- name: worker_revisions
-- The active schedules in memory, and the durable ones of an app. While an edit by plain SQL is not planned, a schedule is
-- left out. `due`: a durable one has ticks that are not decided yet.
SELECT schedule_id, revision, false AS due FROM cursors
WHERE in_memory AND state = 'active' AND prior_revision IS NULL AND {readable}
    AND (zone_generation IS NULL OR zone_generation <= :zones)
UNION ALL
SELECT schedule_id, revision, coalesce(next_run_at <= :now, true) FROM cursors
WHERE schedule_id IN (SELECT s.id FROM schedules AS s WHERE s.namespace = :namespace AND s.app = :app AND s.app IS NOT NULL)
    AND NOT in_memory AND state IN ('active', 'paused') AND prior_revision IS NULL AND {readable}
    AND (zone_generation IS NULL OR zone_generation <= :zones);

-- name: worker_schedules
SELECT * FROM schedule_details WHERE id IN (SELECT value FROM json_each(:ids));

-- name: in_force
SELECT schedule_id, revision FROM cursors
WHERE schedule_id IN (SELECT value FROM json_each(:ids)) AND in_memory AND state = 'active' AND prior_revision IS NULL;

-- name: insert_worker_tick
-- A run waits for runs that are not of ticks.
INSERT INTO runs (
    id, namespace, schedule_id, revision, target_kind, target, queue, priority, status, origin, scheduled_for, due_at,
    available_at, start_by, covers_first, covers_last, covers_count, crash_limit, actor, applied_override, created_at
)
SELECT
    :id, :namespace, :schedule_id, :revision, :target_kind, :target, :queue, :priority,
    iif(active.runs + :place >= :max_running, 'waiting', 'queued'), :origin, :scheduled_for * 1000000, :due_at * 1000000,
    :due_at * 1000000, :start_by * 1000000, :covers_first * 1000000, :covers_last * 1000000, :covers_count, :crash_limit,
    :actor, :applied_override, :now
FROM (
    SELECT count(*) AS runs, count(*) FILTER (WHERE origin IN ('schedule', 'catch_up')) AS tick_runs
    FROM runs
    WHERE schedule_id = :schedule_id AND lane <= 0 AND status IN ('waiting', 'queued', 'running')
) AS active
WHERE :max_running IS NULL OR active.tick_runs + :place < :max_running
ON CONFLICT (schedule_id, scheduled_for) WHERE origin IN ('schedule', 'catch_up', 'backfill') DO NOTHING;

-- name: missing_schedules
-- Which of these schedules have no row, and which have one but no cursor.
SELECT u.value, s.id IS NULL
FROM json_each(:ids) AS u
LEFT JOIN schedules AS s ON s.id = u.value
WHERE s.id IS NULL OR NOT EXISTS (SELECT 1 FROM cursors AS c WHERE c.schedule_id = u.value);

-- name: restore_id
-- The id is that of the runs, so that the unique key of their ticks still holds.
INSERT OR IGNORE INTO schedule_ids (id, namespace, name) VALUES (:id, :namespace, :name);

-- name: take_orphan_cursor
-- The cursor of a schedule whose row is missing; the trigger of the new row inserts another one.
DELETE FROM cursors WHERE schedule_id = :id RETURNING planned_until / 1000000, runs_planned;

-- name: restore_schedule
INSERT INTO schedules (
    namespace, name, app, definition, revision, fingerprint, field_overrides, paused_by, pause_note, paused_until,
    created_at, changed_at
)
VALUES (
    :namespace, :name, :app, :definition,
    coalesce((SELECT max(v.revision) FROM revisions AS v WHERE v.schedule_id = :id), :revision) + 1,
    :fingerprint, :field_overrides, :paused_by, :pause_note, :paused_until * 1000000, coalesce(:created_at, :now), :now
);

-- name: restore_cursor
INSERT INTO cursors (schedule_id, revision, format)
SELECT s.id, s.revision, iif(json_type(s.definition, '$.v') = 'integer', json_extract(s.definition, '$.v'), 0)
FROM schedules AS s
WHERE s.id = :id
ON CONFLICT (schedule_id) DO NOTHING;

-- name: restore_progress
-- Due now, unless it is paused or in memory.
UPDATE cursors
SET state = :state,
    next_run_at = CASE WHEN :state = 'paused' THEN :paused_until * 1000000 WHEN NOT in_memory THEN :now END,
    planned_until = :planned_until * 1000000,
    runs_planned = :runs_planned,
    skip_until = :skip_until * 1000000,
    skip_by = :skip_by,
    skip_note = :skip_note,
    tick_overrides = :tick_overrides
WHERE schedule_id = :id;

-- name: restore_revision
INSERT INTO revisions (schedule_id, revision, definition, fingerprint, action, actor, created_at)
SELECT s.id, s.revision, s.definition, s.fingerprint, 'restore', :actor, :now
FROM schedules AS s
WHERE s.id = :id
ON CONFLICT (schedule_id, revision) DO UPDATE SET action = excluded.action, actor = excluded.actor;
