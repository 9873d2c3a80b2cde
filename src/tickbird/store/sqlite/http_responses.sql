-- Responses to requests with an idempotency key.

-- name: begin_request
-- Returns a row if the caller must respond: there was none, it is a day old, or the first request was abandoned.
INSERT INTO http_responses (namespace, idempotency_key, request_digest, started_at)
VALUES (:namespace, :key, :request, :now)
ON CONFLICT (namespace, idempotency_key) DO UPDATE
SET request_digest = excluded.request_digest, started_at = excluded.started_at, status = NULL, headers = NULL, body = NULL
WHERE http_responses.started_at <= :kept_since
    OR (http_responses.status IS NULL AND http_responses.started_at <= :given_up_since)
RETURNING 1;

-- name: find_response
SELECT request_digest, status, headers, body FROM http_responses WHERE namespace = :namespace AND idempotency_key = :key;

-- name: store_response
UPDATE http_responses
SET status = :status, headers = :headers, body = :body
WHERE namespace = :namespace AND idempotency_key = :key AND request_digest = :request AND status IS NULL;

-- name: release_key
DELETE FROM http_responses
WHERE namespace = :namespace AND idempotency_key = :key AND request_digest = :request AND status IS NULL;

-- name: prune_responses
DELETE FROM http_responses
WHERE (namespace, idempotency_key) IN (
    SELECT namespace, idempotency_key FROM http_responses WHERE started_at < :kept_since ORDER BY started_at LIMIT :limit
);
