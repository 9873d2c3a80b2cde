-- min_compatible: 8
-- Concurrency keys: a run may have one, and each key has so many places for runs that are queued or running.
-- Runs without a key are in none of these indexes.

ALTER TABLE tickbird.runs ADD COLUMN concurrency_key text;

CREATE TABLE tickbird.limits (
    namespace text NOT NULL,
    key text NOT NULL,
    most integer NOT NULL CONSTRAINT limit_most CHECK (most > 0),
    PRIMARY KEY (namespace, key)
);

CREATE INDEX runs_with_place ON tickbird.runs (namespace, concurrency_key)
    WHERE concurrency_key IS NOT NULL AND status IN ('queued', 'running');
CREATE INDEX runs_for_place ON tickbird.runs (namespace, concurrency_key, schedule_id, priority DESC, id)
    WHERE concurrency_key IS NOT NULL AND status = 'waiting';

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
    r.concurrency_key
FROM tickbird.runs AS r
LEFT JOIN tickbird.schedules AS s ON s.id = r.schedule_id
LEFT JOIN tickbird.run_payloads AS p ON p.run_id = r.id
LEFT JOIN tickbird.revisions AS v ON v.schedule_id = r.schedule_id AND v.revision = r.revision;
