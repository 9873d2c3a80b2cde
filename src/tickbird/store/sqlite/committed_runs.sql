-- Runs that are finished in a transaction of their task.

-- name: commit_run
-- On the caller's connection: the success of the current attempt; no row if it is no longer current.
UPDATE runs
SET status = 'succeeded', lease_until = NULL, finished_at = :now, result = :result, error = NULL, failure_kind = NULL,
    reason = NULL
WHERE id = :id
    AND attempt = :attempt
    AND (:incarnation = 0 OR incarnation = :incarnation)
    AND worker = :worker
    AND status = 'running'
RETURNING id;

-- name: note_committed
-- Only a run that others may wait for.
INSERT INTO committed_runs (run_id)
SELECT id FROM runs WHERE id = :id AND (schedule_id IS NOT NULL OR concurrency_key IS NOT NULL)
ON CONFLICT DO NOTHING;

-- name: confirm_runs
SELECT id, attempt, incarnation FROM runs WHERE id IN (SELECT value FROM json_each(:ids)) AND status = 'succeeded';

-- name: settle_runs
-- Takes the notes of these runs, or the oldest if `ids` is null.
DELETE FROM committed_runs
WHERE run_id IN (
    SELECT run_id FROM committed_runs
    WHERE :ids IS NULL OR run_id IN (SELECT value FROM json_each(:ids))
    ORDER BY run_id
    LIMIT :limit
)
RETURNING run_id;

-- name: settled_runs
SELECT finished_at, schedule_id, namespace, concurrency_key
FROM runs
WHERE id IN (SELECT value FROM json_each(:ids))
ORDER BY finished_at, id;
