-- min_compatible: 1
-- Leader mode: the lease of the leader, the history of terms, and the term that planned a run or a skip.

-- The last term that was issued. Its row is locked while a term begins or ends.
CREATE TABLE tickbird.leader_counter (
    lock_id integer PRIMARY KEY DEFAULT 1 CONSTRAINT leader_counter_single_check CHECK (lock_id = 1),
    last_term bigint NOT NULL
);
INSERT INTO tickbird.leader_counter (last_term) VALUES (0);

-- No row: there is no leader. The term is the key, so that planning can hold it with FOR KEY SHARE: a heartbeat changes no
-- key and passes, and whatever ends the term waits for the planning transaction.
CREATE TABLE tickbird.leader_lease (
    term bigint PRIMARY KEY,
    heartbeat_at timestamptz NOT NULL,
    -- Seconds after the heartbeat until another worker may take over.
    timeout double precision NOT NULL,
    lock_id integer NOT NULL DEFAULT 1
        CONSTRAINT leader_lease_lock_id_key UNIQUE CONSTRAINT leader_lease_single_check CHECK (lock_id = 1),
    -- The id of the worker, which is new for each process.
    worker text NOT NULL
) WITH (fillfactor = 20);

CREATE TABLE tickbird.leader_terms (
    term bigint PRIMARY KEY,
    began_at timestamptz NOT NULL,
    -- Null: it has not ended, or nobody has taken over yet.
    ended_at timestamptz,
    -- As reported by the last heartbeat, or by the resignation.
    runs bigint NOT NULL DEFAULT 0,
    skips bigint NOT NULL DEFAULT 0,
    pid integer NOT NULL,
    worker text NOT NULL,
    host text NOT NULL,
    namespace text NOT NULL,
    app text NOT NULL,
    end_reason text CONSTRAINT leader_terms_end_reason_check CHECK (end_reason IN ('resigned', 'expired', 'removed')),
    note text NOT NULL DEFAULT '',
    CONSTRAINT leader_terms_ended_check CHECK ((ended_at IS NULL) = (end_reason IS NULL))
) WITH (fillfactor = 50);

-- The lock of light-portal.
CREATE VIEW tickbird.scheduler_lock_t AS
SELECT lock_id, worker::varchar(255) AS instance_id, heartbeat_at AS last_heartbeat
FROM tickbird.leader_lease;

-- Null without leader mode, and for decisions of commands. A planning transaction sets the parameter for its own duration, and the
-- default applies it to every row that the transaction writes.
ALTER TABLE tickbird.runs ADD COLUMN term bigint;
ALTER TABLE tickbird.runs ALTER COLUMN term SET DEFAULT nullif(current_setting('tickbird.term', true), '')::bigint;
ALTER TABLE tickbird.skips ADD COLUMN term bigint;
ALTER TABLE tickbird.skips ALTER COLUMN term SET DEFAULT nullif(current_setting('tickbird.term', true), '')::bigint;

ALTER TABLE tickbird.workers ADD COLUMN coordination text NOT NULL DEFAULT 'shared';

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
    v.definition -> 'trigger' ->> 'cron' AS cron_spec,
    r.term
FROM tickbird.runs AS r
LEFT JOIN tickbird.schedule_ids AS i ON i.id = r.schedule_id
LEFT JOIN tickbird.run_payloads AS p ON p.run_id = r.id
LEFT JOIN tickbird.revisions AS v ON v.schedule_id = r.schedule_id AND v.revision = r.revision;

-- For stores that have the roles already; `create_roles` grants the same.
DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'tickbird_viewer') THEN
        GRANT SELECT ON tickbird.scheduler_lock_t TO tickbird_viewer;
    END IF;
END $$;
