-- min_compatible: 5
-- Backfills, and lanes in which runs wait: 0 among the others, 1 aside for their turn in a backfill, 2 held for a person.

CREATE TABLE tickbird.backfills (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    namespace text NOT NULL,
    schedule_id bigint NOT NULL,
    revision integer NOT NULL,
    first_at timestamptz NOT NULL,
    last_at timestamptz NOT NULL,
    total integer NOT NULL,
    newest_first boolean NOT NULL,
    concurrency integer NOT NULL,
    payload json,
    actor text NOT NULL,
    note text NOT NULL,
    created_at timestamptz NOT NULL,
    cancelled_at timestamptz,
    cancelled_by text
);
CREATE INDEX backfills_of_schedule ON tickbird.backfills (schedule_id, id);
CREATE INDEX backfills_of_namespace ON tickbird.backfills (namespace, id DESC);

ALTER TABLE tickbird.runs
    ADD COLUMN backfill_id bigint,
    ADD COLUMN lane smallint NOT NULL DEFAULT 0,
    -- Of a run that was held.
    ADD COLUMN released_at timestamptz,
    ADD COLUMN released_by text;
CREATE INDEX runs_of_backfill ON tickbird.runs (backfill_id, lane, id) WHERE backfill_id IS NOT NULL;

-- Thousands that wait aside must not stand in the way of those who look for the others.
DROP INDEX tickbird.runs_active;
CREATE INDEX runs_active ON tickbird.runs (schedule_id, lane) WHERE finished_at IS NULL AND schedule_id IS NOT NULL;
DROP INDEX tickbird.runs_waiting;
CREATE INDEX runs_waiting ON tickbird.runs (schedule_id, lane, id) WHERE status = 'waiting';

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
    r.released_by
FROM tickbird.runs AS r
LEFT JOIN tickbird.schedules AS s ON s.id = r.schedule_id
LEFT JOIN tickbird.run_payloads AS p ON p.run_id = r.id
LEFT JOIN tickbird.revisions AS v ON v.schedule_id = r.schedule_id AND v.revision = r.revision;
