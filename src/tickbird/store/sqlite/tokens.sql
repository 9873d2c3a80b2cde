-- Tokens: created, read, listed, revoked.

-- name: insert_token
INSERT INTO tokens (id, digest, name, role, namespaces, created_at, created_by, expires_at)
VALUES (:id, :digest, :name, :role, :namespaces, :now, :actor, :expires_at)
ON CONFLICT (id) DO NOTHING
RETURNING
    id, digest, name, role, namespaces, created_at, created_by, expires_at, revoked_at, revoked_by, last_used_at, 0;

-- name: find_token
SELECT
    id, digest, name, role, namespaces, created_at, created_by, expires_at, revoked_at, revoked_by, last_used_at,
    (SELECT count(*) FROM sessions AS s WHERE s.token_id = tokens.id AND s.closed_at IS NULL AND s.expires_at > :now)
FROM tokens
WHERE id = :id;

-- name: list_tokens
SELECT
    id, digest, name, role, namespaces, created_at, created_by, expires_at, revoked_at, revoked_by, last_used_at,
    (SELECT count(*) FROM sessions AS s WHERE s.token_id = tokens.id AND s.closed_at IS NULL AND s.expires_at > :now)
FROM tokens
WHERE id > :after
    AND (
        :within IS NULL
        OR (
            namespaces IS NOT NULL
            AND NOT EXISTS (
                SELECT 1 FROM json_each(namespaces) AS n WHERE n.value NOT IN (SELECT value FROM json_each(:within))
            )
        )
    )
    AND (NOT :live OR (revoked_at IS NULL AND (expires_at IS NULL OR expires_at > :now)))
ORDER BY id
LIMIT :limit;

-- name: revoke_token
UPDATE tokens
SET revoked_at = :now, revoked_by = :actor
WHERE id = :id AND revoked_at IS NULL
RETURNING
    id, digest, name, role, namespaces, created_at, created_by, expires_at, revoked_at, revoked_by, last_used_at, 0;

-- name: touch_token
UPDATE tokens
SET last_used_at = :now
WHERE id = :id AND (last_used_at IS NULL OR last_used_at <= :now - :every * 1000000);

-- name: filter_live_tokens
-- Includes sessions: no id is of both kinds.
SELECT id FROM tokens
WHERE id IN (SELECT value FROM json_each(:ids)) AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > :now)
UNION ALL
SELECT s.id FROM sessions AS s
JOIN tokens AS t ON t.id = s.token_id
WHERE s.id IN (SELECT value FROM json_each(:ids))
    AND s.closed_at IS NULL AND s.expires_at > :now
    AND t.revoked_at IS NULL AND (t.expires_at IS NULL OR t.expires_at > :now);
