-- min_compatible: 15
-- Answers of the HTTP API to requests with a key, kept for a day.

CREATE TABLE answers (
    namespace TEXT NOT NULL,
    -- The caller's, behind the id of its token.
    key TEXT NOT NULL,
    -- A digest of what was asked.
    request TEXT NOT NULL,
    begun_at INTEGER NOT NULL,
    -- None of these while somebody is at it.
    status INTEGER,
    headers TEXT,
    body TEXT,
    PRIMARY KEY (namespace, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX answers_by_age ON answers (begun_at);
