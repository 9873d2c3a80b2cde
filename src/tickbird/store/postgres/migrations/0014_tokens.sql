-- min_compatible: 13
-- Tokens for the HTTP API: of each secret only its hash. No namespaces means all of them.

CREATE TABLE tickbird.tokens (
    id text PRIMARY KEY,
    digest text NOT NULL,
    name text NOT NULL,
    role text NOT NULL CONSTRAINT token_role CHECK (role IN ('viewer', 'operator', 'editor', 'admin')),
    namespaces text[],
    created_at timestamptz NOT NULL,
    created_by text NOT NULL,
    expires_at timestamptz,
    revoked_at timestamptz,
    revoked_by text,
    last_used_at timestamptz
);
