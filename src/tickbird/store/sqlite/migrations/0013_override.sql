-- min_compatible: 13
-- What was decided for single ticks to come: skipped, moved or with another payload, by whom and why; as JSON, in the
-- order of the ticks, and null where there is nothing. It takes the place of moved_tick and moved_due_at.

ALTER TABLE cursors ADD COLUMN tick_overrides TEXT;
-- What of it a run was made by.
ALTER TABLE runs ADD COLUMN overridden TEXT;

UPDATE cursors
SET tick_overrides = json_array(json_object(
        'tick', moved_tick / 1000000,
        'due_at', moved_due_at / 1000000,
        'actor', coalesce((
            SELECT v.actor FROM revisions AS v
            WHERE v.schedule_id = cursors.schedule_id AND v.action = 'reschedule'
            ORDER BY v.revision DESC LIMIT 1
        ), 'reschedule'),
        'note', coalesce((
            SELECT json_extract(v.detail, '$.note') FROM revisions AS v
            WHERE v.schedule_id = cursors.schedule_id AND v.action = 'reschedule'
            ORDER BY v.revision DESC LIMIT 1
        ), ''),
        'made_at', coalesce((
            SELECT v.at / 1000000 FROM revisions AS v
            WHERE v.schedule_id = cursors.schedule_id AND v.action = 'reschedule'
            ORDER BY v.revision DESC LIMIT 1
        ), 0)
    )),
    moved_tick = NULL,
    moved_due_at = NULL
WHERE moved_tick IS NOT NULL AND moved_due_at IS NOT NULL;

DROP VIEW schedule_records;
CREATE VIEW schedule_records AS
SELECT
    s.id, s.namespace, s.name, s.app, s.definition, s.revision, s.fingerprint, s.overrides, s.paused_by, s.pause_note,
    s.paused_until, s.error, s.created_at, s.changed_at, c.state, c.format, c.next_run_at, c.planned_until,
    c.runs_planned, c.moved_tick, c.moved_due_at, c.skip_until, c.skip_by, c.skip_note, c.last_skip_id,
    c.prior_revision, c.changed_at AS edited_at, c.tick_overrides
FROM schedules AS s
JOIN cursors AS c ON c.schedule_id = s.id;

DROP VIEW run_records;
CREATE VIEW run_records AS
SELECT
    r.id, r.namespace, r.schedule_id, r.revision, r.target_kind, r.target, r.queue, r.priority, r.origin, r.status,
    r.scheduled_for, r.due_at, r.available_at, r.start_by, r.covers_first, r.covers_last, r.covers_count, r.attempt,
    r.failures, r.crashes, r.created_at, r.started_at, r.finished_at, r.lease_until, r.worker, r.retry_of, r.actor,
    r.reason, r.cancel_requested_at, r.cancel_requested_by, r.result, r.error, r.failure_kind,
    s.name AS schedule,
    coalesce(p.payload, json_extract(v.definition, '$.payload'), '{}') AS payload,
    r.backfill_id,
    r.lane,
    r.released_at,
    r.released_by,
    r.concurrency_key,
    r.overridden
FROM runs AS r
LEFT JOIN schedules AS s ON s.id = r.schedule_id
LEFT JOIN revisions AS v ON v.schedule_id = r.schedule_id AND v.revision = r.revision
LEFT JOIN run_payloads AS p ON p.run_id = r.id;
