-- Counts of a namespace, all bounded.

-- name: measure
WITH known AS MATERIALIZED (
    SELECT c.state
    FROM (SELECT id FROM schedules WHERE namespace = :namespace ORDER BY name LIMIT :maximum) AS s
    JOIN cursors AS c ON c.schedule_id = s.id
),
queued AS MATERIALIZED (
    SELECT available_at FROM runs INDEXED BY runs_queued_idx
    WHERE status = 'queued' AND namespace = :namespace LIMIT :maximum
),
running AS MATERIALIZED (SELECT namespace FROM runs WHERE status = 'running' LIMIT :maximum),
waiting AS MATERIALIZED (SELECT namespace, lane, attempt FROM runs WHERE status = 'waiting' LIMIT :maximum),
ended AS MATERIALIZED (
    SELECT status FROM runs
    WHERE namespace = :namespace AND finished_at IS NOT NULL AND finished_at > :now - :recently
    ORDER BY finished_at DESC LIMIT :maximum
),
due AS MATERIALIZED (
    SELECT schedule_id, next_run_at FROM cursors
    WHERE next_run_at IS NOT NULL AND next_run_at <= :now
    ORDER BY next_run_at LIMIT :maximum
),
alive AS MATERIALIZED (
    SELECT draining, slots FROM workers WHERE namespace = :namespace AND kind <> 'sync' AND live_until > :now
)
SELECT 'schedule', state, count(*), NULL FROM known WHERE state <> 'deleted' GROUP BY state
UNION ALL SELECT 'run', 'queued', count(*), NULL FROM queued
UNION ALL SELECT 'run', 'running', count(*), NULL FROM running WHERE namespace = :namespace
UNION ALL SELECT 'run', 'waiting', count(*), NULL FROM waiting WHERE namespace = :namespace
UNION ALL SELECT 'run', 'held', count(*), NULL FROM waiting WHERE namespace = :namespace AND lane = 2 AND attempt = 0
UNION ALL SELECT 'run', 'undecided', count(*), NULL FROM waiting WHERE namespace = :namespace AND lane = 2 AND attempt > 0
UNION ALL SELECT 'ended', status, count(*), NULL FROM ended GROUP BY status
UNION ALL SELECT 'since', 'queued', 0, min(available_at) FROM queued WHERE available_at <= :now
UNION ALL
SELECT 'since', 'due', 0, min(due.next_run_at)
FROM due JOIN schedules AS s ON s.id = due.schedule_id
WHERE s.namespace = :namespace
UNION ALL SELECT 'worker', 'alive', count(*), NULL FROM alive
UNION ALL SELECT 'worker', 'draining', count(*), NULL FROM alive WHERE draining
UNION ALL SELECT 'worker', 'slots', coalesce(sum(slots), 0), NULL FROM alive
UNION ALL SELECT 'seen', 'schedules', count(*), NULL FROM known
UNION ALL SELECT 'seen', 'queued', count(*), NULL FROM queued
UNION ALL SELECT 'seen', 'running', count(*), NULL FROM running
UNION ALL SELECT 'seen', 'waiting', count(*), NULL FROM waiting
UNION ALL SELECT 'seen', 'ended', count(*), NULL FROM ended
UNION ALL SELECT 'seen', 'due', count(*), NULL FROM due;
