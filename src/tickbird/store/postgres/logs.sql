-- Log lines and progress of runs. Writing a batch again after a lost response changes nothing.

-- name: write_lines
INSERT INTO tickbird.run_logs (run_id, attempt, number, logged_at, level, text)
SELECT u.run_id, u.attempt, u.number, to_timestamp(u.logged_at), u.level, u.text
FROM unnest(
    %(ids)s::bigint[], %(attempts)s::integer[], %(numbers)s::integer[], %(at)s::float8[], %(levels)s::smallint[],
    %(texts)s::text[]
) AS u(run_id, attempt, number, logged_at, level, text)
-- A pruned run has no log.
WHERE EXISTS (SELECT FROM tickbird.runs AS r WHERE r.id = u.run_id)
ON CONFLICT DO NOTHING;

-- name: write_progress
INSERT INTO tickbird.run_progress (run_id, attempt, reported_at, value)
SELECT u.run_id, u.attempt, to_timestamp(u.reported_at), u.value::json
FROM unnest(%(ids)s::bigint[], %(attempts)s::integer[], %(at)s::float8[], %(values)s::text[])
    AS u(run_id, attempt, reported_at, value)
WHERE EXISTS (SELECT FROM tickbird.runs AS r WHERE r.id = u.run_id)
ON CONFLICT (run_id) DO UPDATE
SET attempt = excluded.attempt, reported_at = excluded.reported_at, value = excluded.value
WHERE run_progress.attempt <= excluded.attempt;

-- name: read_lines
SELECT run_id, attempt, number, logged_at, level, text
FROM tickbird.run_logs
WHERE run_id = %(id)s AND (attempt, number) > (%(attempt)s::integer, %(number)s::integer)
ORDER BY attempt, number
LIMIT %(limit)s;

-- name: read_progress
SELECT run_id, attempt, reported_at, value FROM tickbird.run_progress WHERE run_id = %(id)s;
