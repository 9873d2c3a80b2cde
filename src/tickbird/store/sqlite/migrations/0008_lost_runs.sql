-- min_compatible: 1
-- Runs that are finished in a transaction of their task, and runs of lost workers whose effect is unknown.

-- Runs that a transaction of their task has finished. Until the row is deleted, runs that wait for them are not released.
CREATE TABLE committed_runs (
    run_id INTEGER PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE
) STRICT;

-- Runs with on_crash = 'ask' that have lost their worker: did the attempt have its effect? The row remains as a record.
CREATE TABLE lost_runs (
    run_id INTEGER PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
    namespace TEXT NOT NULL,
    target TEXT NOT NULL,
    -- The attempt that has lost its worker.
    attempt INTEGER NOT NULL,
    lost_at INTEGER NOT NULL,
    -- Calls of the reconcile function. The number of the current call is its fencing token.
    calls INTEGER NOT NULL DEFAULT 0,
    called_by TEXT,
    lease_until INTEGER,
    -- The answer of the reconcile function; a person may answer after 'unknown', or instead of it.
    effect TEXT CONSTRAINT lost_runs_effect_check CHECK (effect IN ('yes', 'no', 'unknown')),
    error TEXT,
    resolved_at INTEGER,
    -- The person who answered; null if it was the reconcile function.
    resolved_by TEXT,
    note TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX lost_runs_unresolved_idx ON lost_runs (namespace, target) WHERE effect IS NULL;
