-- min_compatible: 1
-- Runs that are finished in a transaction of their task, and runs of lost workers whose effect is unknown.

-- Runs that a transaction of their task has finished. Until the row is deleted, runs that wait for them are not released.
CREATE TABLE tickbird.committed_runs (
    run_id bigint PRIMARY KEY
);

-- Runs with on_crash = 'ask' that have lost their worker: did the attempt have its effect? The row remains as a record.
CREATE TABLE tickbird.lost_runs (
    run_id bigint PRIMARY KEY,
    namespace text NOT NULL,
    target text NOT NULL,
    -- The attempt that has lost its worker.
    attempt integer NOT NULL,
    lost_at timestamptz NOT NULL,
    -- Calls of the reconcile function. The number of the current call is its fencing token.
    calls integer NOT NULL DEFAULT 0,
    called_by text,
    lease_until timestamptz,
    -- The answer of the reconcile function; a person may answer after 'unknown', or instead of it.
    effect text CONSTRAINT lost_runs_effect_check CHECK (effect IN ('yes', 'no', 'unknown')),
    error text,
    resolved_at timestamptz,
    -- The person who answered; null if it was the reconcile function.
    resolved_by text,
    note text NOT NULL DEFAULT ''
);
CREATE INDEX lost_runs_unresolved_idx ON tickbird.lost_runs (namespace, target) WHERE effect IS NULL;
