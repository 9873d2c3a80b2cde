-- Lost runs: they wait for the answer whether their lost attempt had its effect.

-- name: add_lost_run
INSERT INTO lost_runs (run_id, namespace, target, attempt, lost_at)
SELECT id, namespace, target, attempt, :now FROM runs WHERE id = :id
ON CONFLICT (run_id) DO UPDATE
SET attempt = excluded.attempt, lost_at = excluded.lost_at, calls = 0, called_by = NULL, lease_until = NULL,
    effect = NULL, error = NULL, resolved_at = NULL, resolved_by = NULL, note = '';

-- name: hold_lost_run
UPDATE runs
SET status = 'waiting', lane = 2, available_at = :now, error = :error, failure_kind = NULL, crashes = crashes + 1,
    lease_until = NULL, worker = NULL, start_by = NULL, deferred_until_minute = 0
WHERE id = :id;

-- fragment: lost_run
SELECT
    l.run_id, i.name AS schedule, l.target, l.attempt, l.lost_at, l.calls, l.effect, l.error, l.resolved_at, l.resolved_by,
    l.note
FROM lost_runs AS l
JOIN runs AS r ON r.id = l.run_id
LEFT JOIN schedule_ids AS i ON i.id = r.schedule_id

-- name: list_lost_runs
{lost_run}
WHERE r.namespace = :namespace
    AND r.status = 'waiting'
    AND r.lane = 2
    AND r.attempt > 0
    AND r.id < coalesce(:before, 9223372036854775807)
ORDER BY r.id DESC
LIMIT :limit;

-- name: get_lost_run
{lost_run}
WHERE l.run_id = :id;

-- name: give_up_calls
-- Its calls have lost their workers too.
UPDATE lost_runs
SET effect = 'unknown', error = :error, resolved_at = :now, lease_until = NULL
WHERE effect IS NULL AND calls >= :maximum AND lease_until < :now;

-- name: free_lost_runs
SELECT l.run_id
FROM lost_runs AS l
JOIN runs AS r ON r.id = l.run_id
WHERE l.effect IS NULL
    AND l.namespace = :namespace
    AND l.target IN (SELECT value FROM json_each(:targets))
    AND (l.lease_until IS NULL OR l.lease_until < :now)
    AND r.target_kind = 'task'
    AND r.status = 'waiting'
    AND r.lane = 2
    AND r.attempt > 0
ORDER BY l.lost_at, l.run_id
LIMIT :limit;

-- name: claim_lost_run
UPDATE lost_runs SET calls = calls + 1, called_by = :worker, lease_until = :until WHERE run_id = :id RETURNING calls;

-- name: lost_run_state
-- The run and the state of its question; no row if it was never asked about.
SELECT
    r.id, r.schedule_id, r.namespace, r.status, r.concurrency_key, r.lane, r.crashes, r.crash_limit, i.name, l.attempt,
    l.calls, l.effect
FROM runs AS r
JOIN lost_runs AS l ON l.run_id = r.id
LEFT JOIN schedule_ids AS i ON i.id = r.schedule_id
WHERE r.id = :id;

-- name: resolve_lost_run
UPDATE lost_runs
SET effect = :effect, error = :error, resolved_at = :now, resolved_by = :actor, note = :note, lease_until = NULL
WHERE run_id = :id;

-- name: end_lost_run
UPDATE runs
SET status = :status, lane = 0, finished_at = :now, reason = :reason, error = iif(:status = 'failed', error, NULL),
    failure_kind = iif(:status = 'failed', 'lost', NULL)
WHERE id = :id;

-- name: retry_lost_run
-- It waits for its turn like others; without a schedule and a key it waits for nothing.
UPDATE runs
SET status = iif(schedule_id IS NULL AND concurrency_key IS NULL, 'queued', 'waiting'), lane = 0,
    available_at = max(available_at, :now)
WHERE id = :id;
