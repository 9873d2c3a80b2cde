-- min_compatible: 15
-- Sessions of browsers: each is opened with a token, and ends with it. They are no rows of `tokens`, so that older code,
-- which would not ask whether the token of a session has been revoked, never finds one.

CREATE TABLE sessions (
    id TEXT NOT NULL PRIMARY KEY,
    digest TEXT NOT NULL,
    token_id TEXT NOT NULL,
    agent TEXT NOT NULL,
    opened_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    closed_at INTEGER,
    closed_by TEXT,
    last_used_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX sessions_by_token ON sessions (token_id, id);
CREATE INDEX sessions_open ON sessions (token_id, expires_at) WHERE closed_at IS NULL;
CREATE INDEX sessions_by_end ON sessions (coalesce(closed_at, expires_at));
