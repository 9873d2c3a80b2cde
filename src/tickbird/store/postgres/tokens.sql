-- Tokens: created, read, listed, revoked.

-- name: insert_token
INSERT INTO tickbird.tokens (id, digest, name, role, namespaces, created_at, created_by, expires_at)
VALUES (
    %(id)s, %(digest)s, %(name)s, %(role)s, %(namespaces)s, coalesce(%(now)s::timestamptz, statement_timestamp()),
    %(actor)s, %(expires_at)s
)
ON CONFLICT (id) DO NOTHING
RETURNING *, created_at AS now;

-- name: find_token
SELECT
    t.*, clock.now,
    (
        SELECT count(*) FROM tickbird.sessions AS s
        WHERE s.token_id = t.id AND s.closed_at IS NULL AND s.expires_at > clock.now
    ) AS sessions
FROM tickbird.tokens AS t, (SELECT coalesce(%(now)s::timestamptz, statement_timestamp()) AS now) AS clock
WHERE t.id = %(id)s;

-- name: list_tokens
SELECT
    t.*, clock.now,
    (
        SELECT count(*) FROM tickbird.sessions AS s
        WHERE s.token_id = t.id AND s.closed_at IS NULL AND s.expires_at > clock.now
    ) AS sessions
FROM tickbird.tokens AS t, (SELECT coalesce(%(now)s::timestamptz, statement_timestamp()) AS now) AS clock
WHERE t.id > %(after)s
    AND (%(within)s::text[] IS NULL OR t.namespaces <@ %(within)s::text[])
    AND (NOT %(live)s OR (t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > clock.now)))
ORDER BY t.id
LIMIT %(limit)s;

-- name: revoke_token
UPDATE tickbird.tokens
SET revoked_at = coalesce(%(now)s::timestamptz, statement_timestamp()), revoked_by = %(actor)s
WHERE id = %(id)s AND revoked_at IS NULL
RETURNING *, revoked_at AS now;

-- name: touch_token
UPDATE tickbird.tokens
SET last_used_at = coalesce(%(now)s::timestamptz, statement_timestamp())
WHERE id = %(id)s
    AND (
        last_used_at IS NULL
        OR last_used_at
            <= coalesce(%(now)s::timestamptz, statement_timestamp()) - make_interval(secs => %(every)s)
    );

-- name: filter_live_tokens
-- Includes sessions: no id is of both kinds.
WITH live AS (
    SELECT id FROM tickbird.tokens
    WHERE revoked_at IS NULL
        AND (expires_at IS NULL OR expires_at > coalesce(%(now)s::timestamptz, statement_timestamp()))
)
SELECT id FROM live WHERE id = ANY(%(ids)s::text[])
UNION ALL
SELECT s.id FROM tickbird.sessions AS s
JOIN live AS t ON t.id = s.token_id
WHERE s.id = ANY(%(ids)s::text[])
    AND s.closed_at IS NULL
    AND s.expires_at > coalesce(%(now)s::timestamptz, statement_timestamp());
