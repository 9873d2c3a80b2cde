-- min_compatible: 15
-- Sessions of browsers: each is opened with a token, and ends with it. They are no rows of `tokens`, so that older code,
-- which would not ask whether the token of a session has been revoked, never finds one.

CREATE TABLE tickbird.sessions (
    id text PRIMARY KEY,
    digest text NOT NULL,
    token_id text NOT NULL,
    agent text NOT NULL,
    opened_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    closed_at timestamptz,
    closed_by text,
    last_used_at timestamptz
);
CREATE INDEX sessions_by_token ON tickbird.sessions (token_id, id);
CREATE INDEX sessions_open ON tickbird.sessions (token_id, expires_at) WHERE closed_at IS NULL;
CREATE INDEX sessions_by_end ON tickbird.sessions (coalesce(closed_at, expires_at));
