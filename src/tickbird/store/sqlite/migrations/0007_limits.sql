-- min_compatible: 7
-- Concurrency keys: a run may have one, and each key has so many places for runs that are queued or running.

ALTER TABLE runs ADD COLUMN concurrency_key TEXT;

CREATE TABLE limits (
    namespace TEXT NOT NULL,
    key TEXT NOT NULL,
    most INTEGER NOT NULL CHECK (most > 0),
    PRIMARY KEY (namespace, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX runs_of_key ON runs (namespace, concurrency_key, status, schedule_id)
    WHERE concurrency_key IS NOT NULL AND finished_at IS NULL;

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
    r.concurrency_key
FROM runs AS r
LEFT JOIN schedules AS s ON s.id = r.schedule_id
LEFT JOIN revisions AS v ON v.schedule_id = r.schedule_id AND v.revision = r.revision
LEFT JOIN run_payloads AS p ON p.run_id = r.id;
