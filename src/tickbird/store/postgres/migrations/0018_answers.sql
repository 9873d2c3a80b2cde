-- min_compatible: 15
-- Answers of the HTTP API to requests with a key, kept for a day.

CREATE TABLE tickbird.answers (
    namespace text NOT NULL,
    -- The caller's, behind the id of its token.
    key text NOT NULL,
    -- A digest of what was asked.
    request text NOT NULL,
    begun_at timestamptz NOT NULL,
    -- None of these while somebody is at it.
    status integer,
    headers jsonb,
    body text,
    PRIMARY KEY (namespace, key)
);
CREATE INDEX answers_by_age ON tickbird.answers (begun_at);
