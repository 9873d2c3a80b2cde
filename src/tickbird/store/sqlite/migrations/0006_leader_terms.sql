-- min_compatible: 1
-- Leader mode: the lease of the leader, the history of terms, and the term that planned a run or a skip.

-- The last term that was issued; `planning_term` exists only inside of a planning transaction in leader mode.
INSERT INTO counters (name, value) VALUES ('leader_term', 0);

-- No row: there is no leader.
CREATE TABLE leader_lease (
    term INTEGER PRIMARY KEY,
    lock_id INTEGER NOT NULL DEFAULT 1
        CONSTRAINT leader_lease_lock_id_key UNIQUE CONSTRAINT leader_lease_single_check CHECK (lock_id = 1),
    -- The id of the worker, which is new for each process.
    worker TEXT NOT NULL,
    heartbeat_at INTEGER NOT NULL,
    -- Microseconds after the heartbeat until another worker may take over.
    timeout INTEGER NOT NULL
) STRICT;

CREATE TABLE leader_terms (
    term INTEGER PRIMARY KEY,
    worker TEXT NOT NULL,
    host TEXT NOT NULL,
    pid INTEGER NOT NULL,
    namespace TEXT NOT NULL,
    app TEXT NOT NULL,
    began_at INTEGER NOT NULL,
    -- Null: it has not ended, or nobody has taken over yet.
    ended_at INTEGER,
    end_reason TEXT CONSTRAINT leader_terms_end_reason_check CHECK (end_reason IN ('resigned', 'expired', 'removed')),
    note TEXT NOT NULL DEFAULT '',
    -- As reported by the last heartbeat, or by the resignation.
    runs INTEGER NOT NULL DEFAULT 0,
    skips INTEGER NOT NULL DEFAULT 0,
    CONSTRAINT leader_terms_ended_check CHECK ((ended_at IS NULL) = (end_reason IS NULL))
) STRICT;

-- The lock of light-portal.
CREATE VIEW scheduler_lock_t AS
SELECT
    lock_id,
    worker AS instance_id,
    strftime('%Y-%m-%dT%H:%M:%S', heartbeat_at / 1000000, 'unixepoch')
        || printf('.%06dZ', heartbeat_at % 1000000) AS last_heartbeat
FROM leader_lease;

-- Null without leader mode, and for decisions of commands.
ALTER TABLE runs ADD COLUMN term INTEGER;
ALTER TABLE skips ADD COLUMN term INTEGER;

ALTER TABLE workers ADD COLUMN coordination TEXT NOT NULL DEFAULT 'shared';

-- With the term.
DROP VIEW run_details;
CREATE VIEW run_details AS
SELECT
    r.id,
    r.namespace,
    r.schedule_id,
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
    r.result,
    r.error,
    r.failure_kind,
    i.name AS schedule,
    coalesce(p.payload, iif(json_valid(v.definition), json_extract(v.definition, '$.payload'), NULL), '{}') AS payload,
    r.backfill_id,
    r.lane,
    r.released_at,
    r.released_by,
    r.concurrency_key,
    r.applied_override,
    -- Lateness and duration count from the first attempt.
    CASE
        WHEN r.attempt > 1
            THEN coalesce((SELECT min(a.started_at) FROM attempts AS a WHERE a.run_id = r.id), r.started_at)
        ELSE r.started_at
    END AS first_started_at,
    iif(json_valid(v.definition), CAST(json_extract(v.definition, '$.trigger.cron') AS TEXT), NULL) AS cron_spec,
    r.term
FROM runs AS r
LEFT JOIN schedule_ids AS i ON i.id = r.schedule_id
LEFT JOIN revisions AS v ON v.schedule_id = r.schedule_id AND v.revision = r.revision
LEFT JOIN run_payloads AS p ON p.run_id = r.id;
