-- min_compatible: 4
-- Backfills, and lanes in which runs wait: 0 among the others, 1 aside for their turn in a backfill, 2 held for a person.

CREATE TABLE backfills (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    namespace TEXT NOT NULL,
    schedule_id INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    first_at INTEGER NOT NULL,
    last_at INTEGER NOT NULL,
    total INTEGER NOT NULL,
    newest_first INTEGER NOT NULL,
    concurrency INTEGER NOT NULL,
    payload TEXT,
    actor TEXT NOT NULL,
    note TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    cancelled_at INTEGER,
    cancelled_by TEXT
) STRICT;

CREATE INDEX backfills_by_schedule ON backfills (schedule_id, id);

ALTER TABLE runs ADD COLUMN backfill_id INTEGER;
ALTER TABLE runs ADD COLUMN lane INTEGER NOT NULL DEFAULT 0;
-- Of a run that was held.
ALTER TABLE runs ADD COLUMN released_at INTEGER;
ALTER TABLE runs ADD COLUMN released_by TEXT;
CREATE INDEX runs_of_backfill ON runs (backfill_id, lane, id) WHERE backfill_id IS NOT NULL;

-- Thousands that wait aside must not stand in the way of those who look for the others.
DROP INDEX runs_waiting;
CREATE INDEX runs_waiting ON runs (schedule_id, lane, id) WHERE status = 'waiting';
DROP INDEX runs_active;
CREATE INDEX runs_active ON runs (schedule_id, lane, status, id, origin)
    WHERE status IN ('waiting', 'queued', 'running');

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
    r.released_by
FROM runs AS r
LEFT JOIN schedules AS s ON s.id = r.schedule_id
LEFT JOIN revisions AS v ON v.schedule_id = r.schedule_id AND v.revision = r.revision
LEFT JOIN run_payloads AS p ON p.run_id = r.id;
