-- min_compatible: 13
-- Tokens for the HTTP API: of each secret only its hash. No namespaces means all of them.

CREATE TABLE tokens (
    id TEXT NOT NULL PRIMARY KEY,
    digest TEXT NOT NULL,
    name TEXT NOT NULL,
    role TEXT NOT NULL CONSTRAINT token_role CHECK (role IN ('viewer', 'operator', 'editor', 'admin')),
    -- A JSON array of names.
    namespaces TEXT,
    created_at INTEGER NOT NULL,
    created_by TEXT NOT NULL,
    expires_at INTEGER,
    revoked_at INTEGER,
    revoked_by TEXT,
    last_used_at INTEGER
) STRICT, WITHOUT ROWID;
