-- Sessions: opened, read, listed, closed, pruned. A session is live if it is neither closed nor expired, and its token is live.

-- name: lock_token
-- Serializes opening sessions with a token and closing all of them, so that their number is right.
SELECT *, coalesce(%(now)s::timestamptz, statement_timestamp()) AS now
FROM tickbird.tokens
WHERE id = %(id)s
FOR NO KEY UPDATE;

-- name: insert_session
INSERT INTO tickbird.sessions (id, digest, token_id, user_agent, opened_at, expires_at)
SELECT
    %(id)s, %(digest)s, t.id, %(user_agent)s, clock.now, least(clock.now + make_interval(secs => %(seconds)s), t.expires_at)
FROM tickbird.tokens AS t, (SELECT coalesce(%(now)s::timestamptz, statement_timestamp()) AS now) AS clock
WHERE t.id = %(token_id)s
ON CONFLICT (id) DO NOTHING
RETURNING id;

-- name: find_session
SELECT
    s.*, t.name, t.role, t.namespaces, t.revoked_at AS token_revoked_at, t.expires_at AS token_expires_at,
    coalesce(%(now)s::timestamptz, statement_timestamp()) AS now
FROM tickbird.sessions AS s
JOIN tickbird.tokens AS t ON t.id = s.token_id
WHERE s.id = %(id)s;

-- name: list_sessions
SELECT
    s.*, t.name, t.role, t.namespaces, t.revoked_at AS token_revoked_at, t.expires_at AS token_expires_at, clock.now
FROM tickbird.sessions AS s
JOIN tickbird.tokens AS t ON t.id = s.token_id
CROSS JOIN (SELECT coalesce(%(now)s::timestamptz, statement_timestamp()) AS now) AS clock
WHERE s.id > %(after)s
    AND (%(token_id)s::text IS NULL OR s.token_id = %(token_id)s)
    AND (%(within)s::text[] IS NULL OR t.namespaces <@ %(within)s::text[])
    AND (
        NOT %(live)s
        OR (
            s.closed_at IS NULL AND s.expires_at > clock.now
            AND t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > clock.now)
        )
    )
ORDER BY s.id
LIMIT %(limit)s;

-- name: close_session
UPDATE tickbird.sessions AS s
SET closed_at = coalesce(%(now)s::timestamptz, statement_timestamp()), closed_by = %(actor)s
FROM tickbird.tokens AS t
WHERE s.id = %(id)s
    AND t.id = s.token_id
    AND s.closed_at IS NULL
    AND s.expires_at > coalesce(%(now)s::timestamptz, statement_timestamp())
    AND t.revoked_at IS NULL
    AND (t.expires_at IS NULL OR t.expires_at > coalesce(%(now)s::timestamptz, statement_timestamp()))
RETURNING s.id;

-- name: close_sessions
-- Sessions of a token: all but one, except a number of the newest.
UPDATE tickbird.sessions
SET closed_at = coalesce(%(now)s::timestamptz, statement_timestamp()), closed_by = %(actor)s
WHERE closed_at IS NULL
    AND id IN (
        SELECT id
        FROM tickbird.sessions
        WHERE token_id = %(token_id)s
            AND closed_at IS NULL
            AND expires_at > coalesce(%(now)s::timestamptz, statement_timestamp())
            AND id <> %(but)s
        ORDER BY opened_at DESC, id
        OFFSET %(newest)s
    )
RETURNING id;

-- name: touch_session
UPDATE tickbird.sessions
SET last_used_at = coalesce(%(now)s::timestamptz, statement_timestamp())
WHERE id = %(id)s
    AND (
        last_used_at IS NULL
        OR last_used_at
            <= coalesce(%(now)s::timestamptz, statement_timestamp()) - make_interval(secs => %(every)s)
    );

-- name: prune_sessions
DELETE FROM tickbird.sessions
WHERE id IN (
    SELECT id
    FROM tickbird.sessions
    WHERE coalesce(closed_at, expires_at)
        < coalesce(%(now)s::timestamptz, statement_timestamp()) - make_interval(secs => %(kept)s)
    ORDER BY coalesce(closed_at, expires_at)
    LIMIT %(limit)s
);
