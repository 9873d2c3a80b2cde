-- Answers to requests with a key.

-- name: begin_request
-- A row where it is ours to answer: there was none, it is a day old, or whoever began has given up.
INSERT INTO tickbird.http_responses AS a (namespace, key, request, begun_at)
VALUES (%(namespace)s, %(key)s, %(request)s, coalesce(%(now)s::timestamptz, statement_timestamp()))
ON CONFLICT (namespace, key) DO UPDATE
SET request = excluded.request, begun_at = excluded.begun_at, status = NULL, headers = NULL, body = NULL
WHERE a.begun_at <= excluded.begun_at - make_interval(secs => %(kept)s)
    OR (a.status IS NULL AND a.begun_at <= excluded.begun_at - make_interval(secs => %(given_up)s))
RETURNING 1;

-- name: find_answer
SELECT request, status, headers, body FROM tickbird.http_responses WHERE namespace = %(namespace)s AND key = %(key)s;

-- name: keep_answer
UPDATE tickbird.http_responses
SET status = %(status)s, headers = %(headers)s, body = %(body)s
WHERE namespace = %(namespace)s AND key = %(key)s AND request = %(request)s AND status IS NULL;

-- name: forget_answer
DELETE FROM tickbird.http_responses
WHERE namespace = %(namespace)s AND key = %(key)s AND request = %(request)s AND status IS NULL;

-- name: prune_answers
DELETE FROM tickbird.http_responses
WHERE (namespace, key) IN (
    SELECT namespace, key
    FROM tickbird.http_responses
    WHERE begun_at < coalesce(%(now)s::timestamptz, statement_timestamp()) - make_interval(secs => %(kept)s)
    ORDER BY begun_at
    LIMIT %(limit)s
);
