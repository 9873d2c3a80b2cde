-- min_compatible: 13
-- What was decided for single ticks to come: skipped, moved or with another payload, by whom and why; as JSON, in the
-- order of the ticks, and null where there is nothing. It takes the place of moved_tick and moved_due_at.

-- json, not jsonb: a payload is given back as it was written.
ALTER TABLE tickbird.cursors ADD COLUMN tick_overrides json;
-- What of it a run was made by.
ALTER TABLE tickbird.runs ADD COLUMN overridden json;

UPDATE tickbird.cursors AS c
SET tick_overrides = json_build_array(json_build_object(
        'tick', date_part('epoch', c.moved_tick)::bigint,
        'due_at', date_part('epoch', c.moved_due_at)::bigint,
        'actor', coalesce(m.actor, 'reschedule'),
        'note', coalesce(m.detail ->> 'note', ''),
        'made_at', coalesce(floor(date_part('epoch', m.at))::bigint, 0)
    )),
    moved_tick = NULL,
    moved_due_at = NULL
FROM tickbird.cursors AS b
LEFT JOIN LATERAL (
    SELECT v.actor, v.detail, v.at FROM tickbird.revisions AS v
    WHERE v.schedule_id = b.schedule_id AND v.action = 'reschedule'
    ORDER BY v.revision DESC LIMIT 1
) AS m ON true
WHERE b.schedule_id = c.schedule_id AND c.moved_tick IS NOT NULL AND c.moved_due_at IS NOT NULL;

CREATE OR REPLACE VIEW tickbird.run_details AS
SELECT
    r.id,
    r.namespace,
    r.schedule_id,
    s.name AS schedule,
    r.revision,
    r.target_kind,
    r.target,
    r.queue,
    r.priority,
    r.origin,
    r.status,
    r.scheduled_for,
    r.due_at,
    r.available_at,
    r.start_by,
    r.covers_first,
    r.covers_last,
    r.covers_count,
    r.attempt,
    r.failures,
    r.crashes,
    r.created_at,
    r.started_at,
    r.finished_at,
    r.lease_until,
    r.worker,
    r.retry_of,
    r.actor,
    r.reason,
    r.cancel_requested_at,
    r.cancel_requested_by,
    coalesce(p.payload, v.definition -> 'payload', '{}'::json) AS payload,
    r.result,
    r.error,
    r.failure_kind,
    r.backfill_id,
    r.lane,
    r.released_at,
    r.released_by,
    r.concurrency_key,
    r.overridden
FROM tickbird.runs AS r
LEFT JOIN tickbird.schedules AS s ON s.id = r.schedule_id
LEFT JOIN tickbird.run_payloads AS p ON p.run_id = r.id
LEFT JOIN tickbird.revisions AS v ON v.schedule_id = r.schedule_id AND v.revision = r.revision;

CREATE OR REPLACE VIEW tickbird.schedule_details AS
SELECT
    s.id,
    s.namespace,
    s.name,
    s.app,
    s.definition,
    s.revision,
    s.fingerprint,
    s.overrides,
    s.paused_by,
    s.pause_note,
    date_part('epoch', s.paused_until)::bigint AS paused_until,
    s.error,
    s.created_at,
    s.changed_at,
    c.state,
    c.format,
    date_part('epoch', c.next_run_at)::bigint AS next_run_at,
    date_part('epoch', c.planned_until)::bigint AS planned_until,
    c.runs_planned,
    date_part('epoch', c.moved_tick)::bigint AS moved_tick,
    date_part('epoch', c.moved_due_at)::bigint AS moved_due_at,
    date_part('epoch', c.skip_until)::bigint AS skip_until,
    c.skip_by,
    c.skip_note,
    c.last_skip_id,
    c.prior_revision,
    floor(date_part('epoch', c.changed_at))::bigint AS edited_at,
    c.tick_overrides
FROM tickbird.schedules AS s
JOIN tickbird.cursors AS c ON c.schedule_id = s.id;
