-- Log lines and progress of runs. Writing a batch again after a lost response changes nothing.

-- name: write_line
INSERT INTO run_logs (run_id, attempt, number, logged_at, level, text)
SELECT ?1, ?2, ?3, ?4, ?5, ?6
-- A pruned run has no log.
WHERE EXISTS (SELECT 1 FROM runs WHERE id = ?1)
ON CONFLICT DO NOTHING;

-- name: write_progress
INSERT INTO run_progress (run_id, attempt, reported_at, value)
SELECT ?1, ?2, ?3, ?4
WHERE EXISTS (SELECT 1 FROM runs WHERE id = ?1)
ON CONFLICT (run_id) DO UPDATE
SET attempt = excluded.attempt, reported_at = excluded.reported_at, value = excluded.value
WHERE run_progress.attempt <= excluded.attempt;

-- name: read_lines
SELECT run_id, attempt, number, logged_at, level, text
FROM run_logs
WHERE run_id = :id AND (attempt, number) > (:attempt, :number)
ORDER BY attempt, number
LIMIT :limit;

-- name: read_progress
SELECT run_id, attempt, reported_at, value FROM run_progress WHERE run_id = :id;
