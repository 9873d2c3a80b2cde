-- min_compatible: 15
-- When the first attempt of a run began: lateness and duration count from there.

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
    r.overridden,
    CASE
        WHEN r.attempt > 1
            THEN coalesce((SELECT min(a.started_at) FROM tickbird.attempts AS a WHERE a.run_id = r.id), r.started_at)
        ELSE r.started_at
    END AS first_started_at
FROM tickbird.runs AS r
LEFT JOIN tickbird.schedules AS s ON s.id = r.schedule_id
LEFT JOIN tickbird.run_payloads AS p ON p.run_id = r.id
LEFT JOIN tickbird.revisions AS v ON v.schedule_id = r.schedule_id AND v.revision = r.revision;
