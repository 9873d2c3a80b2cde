-- Responses to requests with an idempotency key.

-- name: begin_request
-- Returns a row if the caller must respond: there was none, it is a day old, or the first request was abandoned.
INSERT INTO tickbird.http_responses AS a (namespace, idempotency_key, request_digest, started_at)
VALUES (%(namespace)s, %(key)s, %(request)s, coalesce(%(now)s::timestamptz, statement_timestamp()))
ON CONFLICT (namespace, idempotency_key) DO UPDATE
SET request_digest = excluded.request_digest, started_at = excluded.started_at, status = NULL, headers = NULL, body = NULL
WHERE a.started_at <= excluded.started_at - make_interval(secs => %(kept)s)
    OR (a.status IS NULL AND a.started_at <= excluded.started_at - make_interval(secs => %(given_up)s))
RETURNING 1;

-- name: find_response
SELECT request_digest, status, headers, body FROM tickbird.http_responses
WHERE namespace = %(namespace)s AND idempotency_key = %(key)s;

-- name: store_response
UPDATE tickbird.http_responses
SET status = %(status)s, headers = %(headers)s, body = %(body)s
WHERE namespace = %(namespace)s AND idempotency_key = %(key)s AND request_digest = %(request)s AND status IS NULL;

-- name: release_key
DELETE FROM tickbird.http_responses
WHERE namespace = %(namespace)s AND idempotency_key = %(key)s AND request_digest = %(request)s AND status IS NULL;

-- name: prune_responses
DELETE FROM tickbird.http_responses
WHERE (namespace, idempotency_key) IN (
    SELECT namespace, idempotency_key
    FROM tickbird.http_responses
    WHERE started_at < coalesce(%(now)s::timestamptz, statement_timestamp()) - make_interval(secs => %(kept)s)
    ORDER BY started_at
    LIMIT %(limit)s
);
