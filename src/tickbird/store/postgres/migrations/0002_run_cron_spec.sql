-- min_compatible: 1

-- A run with its schedule's name, its payload and the cron expression of its revision.
CREATE OR REPLACE VIEW tickbird.run_details AS
SELECT
    r.id,
    r.namespace,
    r.schedule_id,
    i.name AS schedule,
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
    -- Lateness and duration count from the first attempt.
    CASE
        WHEN r.attempt > 1
            THEN coalesce((SELECT min(a.started_at) FROM tickbird.attempts AS a WHERE a.run_id = r.id), r.started_at)
        ELSE r.started_at
    END AS first_started_at,
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
    r.applied_override,
    v.definition -> 'trigger' ->> 'cron' AS cron_spec
FROM tickbird.runs AS r
LEFT JOIN tickbird.schedule_ids AS i ON i.id = r.schedule_id
LEFT JOIN tickbird.run_payloads AS p ON p.run_id = r.id
LEFT JOIN tickbird.revisions AS v ON v.schedule_id = r.schedule_id AND v.revision = r.revision;
