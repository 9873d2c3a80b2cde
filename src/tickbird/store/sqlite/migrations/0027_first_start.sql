-- min_compatible: 15
-- When the first attempt of a run began: lateness and duration count from there.

DROP VIEW run_records;
CREATE VIEW run_records AS
SELECT
    r.id, r.namespace, r.schedule_id, r.revision, r.target_kind, r.target, r.queue, r.priority, r.origin, r.status,
    r.scheduled_for, r.due_at, r.available_at, r.start_by, r.covers_first, r.covers_last, r.covers_count, r.attempt,
    r.failures, r.crashes, r.created_at, r.started_at, r.finished_at, r.lease_until, r.worker, r.retry_of, r.actor,
    r.reason, r.cancel_requested_at, r.cancel_requested_by, r.result, r.error, r.failure_kind,
    s.name AS schedule,
    coalesce(p.payload, iif(json_valid(v.definition), json_extract(v.definition, '$.payload'), NULL), '{}') AS payload,
    r.backfill_id,
    r.lane,
    r.released_at,
    r.released_by,
    r.concurrency_key,
    r.overridden,
    CASE
        WHEN r.attempt > 1
            THEN coalesce((SELECT min(a.started_at) FROM attempts AS a WHERE a.run_id = r.id), r.started_at)
        ELSE r.started_at
    END AS first_started_at
FROM runs AS r
LEFT JOIN schedules AS s ON s.id = r.schedule_id
LEFT JOIN revisions AS v ON v.schedule_id = r.schedule_id AND v.revision = r.revision
LEFT JOIN run_payloads AS p ON p.run_id = r.id;
