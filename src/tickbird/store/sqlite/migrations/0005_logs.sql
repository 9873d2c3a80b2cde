-- min_compatible: 4
-- What runs say while they execute.

CREATE TABLE run_logs (
    run_id INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    attempt INTEGER NOT NULL,
    number INTEGER NOT NULL,
    at INTEGER NOT NULL,
    level INTEGER NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (run_id, attempt, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE run_progress (
    run_id INTEGER PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
    attempt INTEGER NOT NULL,
    at INTEGER NOT NULL,
    value TEXT
) STRICT;
