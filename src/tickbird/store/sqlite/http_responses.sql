-- Answers to requests with a key.

-- name: begin_request
-- A row where it is ours to answer: there was none, it is a day old, or whoever began has given up.
INSERT INTO http_responses (namespace, key, request, begun_at)
VALUES (:namespace, :key, :request, :now)
ON CONFLICT (namespace, key) DO UPDATE
SET request = excluded.request, begun_at = excluded.begun_at, status = NULL, headers = NULL, body = NULL
WHERE http_responses.begun_at <= :kept_since OR (http_responses.status IS NULL AND http_responses.begun_at <= :given_up_since)
RETURNING 1;

-- name: find_answer
SELECT request, status, headers, body FROM http_responses WHERE namespace = :namespace AND key = :key;

-- name: keep_answer
UPDATE http_responses
SET status = :status, headers = :headers, body = :body
WHERE namespace = :namespace AND key = :key AND request = :request AND status IS NULL;

-- name: forget_answer
DELETE FROM http_responses WHERE namespace = :namespace AND key = :key AND request = :request AND status IS NULL;

-- name: prune_answers
DELETE FROM http_responses
WHERE (namespace, key) IN (
    SELECT namespace, key FROM http_responses WHERE begun_at < :kept_since ORDER BY begun_at LIMIT :limit
);
