-- Sessions: opened, read, listed, closed, pruned. A session is live if it is neither closed nor expired, and its token is live.

-- name: insert_session
INSERT INTO sessions (id, digest, token_id, user_agent, opened_at, expires_at)
SELECT :id, :digest, id, :user_agent, :now, min(:now + :seconds * 1000000, coalesce(expires_at, :now + :seconds * 1000000))
FROM tokens
WHERE id = :token_id
ON CONFLICT (id) DO NOTHING
RETURNING id;

-- name: find_session
SELECT
    s.id, s.digest, s.token_id, t.name, t.role, t.namespaces, s.user_agent, s.opened_at, s.expires_at, s.closed_at,
    s.closed_by, s.last_used_at, t.revoked_at, t.expires_at
FROM sessions AS s
JOIN tokens AS t ON t.id = s.token_id
WHERE s.id = :id;

-- name: list_sessions
SELECT
    s.id, s.digest, s.token_id, t.name, t.role, t.namespaces, s.user_agent, s.opened_at, s.expires_at, s.closed_at,
    s.closed_by, s.last_used_at, t.revoked_at, t.expires_at
FROM sessions AS s
JOIN tokens AS t ON t.id = s.token_id
WHERE s.id > :after
    AND (:token_id IS NULL OR s.token_id = :token_id)
    AND (
        :within IS NULL
        OR (
            t.namespaces IS NOT NULL
            AND NOT EXISTS (
                SELECT 1 FROM json_each(t.namespaces) AS n WHERE n.value NOT IN (SELECT value FROM json_each(:within))
            )
        )
    )
    AND (
        NOT :live
        OR (
            s.closed_at IS NULL AND s.expires_at > :now
            AND t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > :now)
        )
    )
ORDER BY s.id
LIMIT :limit;

-- name: close_session
UPDATE sessions
SET closed_at = :now, closed_by = :actor
WHERE id = :id
    AND closed_at IS NULL
    AND expires_at > :now
    AND token_id IN (SELECT id FROM tokens WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > :now))
RETURNING id;

-- name: close_sessions
-- Sessions of a token: all but one, except a number of the newest.
UPDATE sessions
SET closed_at = :now, closed_by = :actor
WHERE id IN (
    SELECT id
    FROM sessions
    WHERE token_id = :token_id AND closed_at IS NULL AND expires_at > :now AND id <> :but
    ORDER BY opened_at DESC, id
    LIMIT -1 OFFSET :newest
)
RETURNING id;

-- name: touch_session
UPDATE sessions
SET last_used_at = :now
WHERE id = :id AND (last_used_at IS NULL OR last_used_at <= :now - :every * 1000000);

-- name: prune_sessions
DELETE FROM sessions
WHERE id IN (
    SELECT id
    FROM sessions
    WHERE coalesce(closed_at, expires_at) < :kept_since
    ORDER BY coalesce(closed_at, expires_at)
    LIMIT :limit
);
