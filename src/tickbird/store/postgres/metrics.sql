-- Counts of a namespace, all bounded.

-- name: measure
WITH clock AS MATERIALIZED (SELECT coalesce(%(now)s::timestamptz, statement_timestamp()) AS now),
known AS MATERIALIZED (
    SELECT c.state
    FROM (SELECT id FROM tickbird.schedules WHERE namespace = %(namespace)s ORDER BY name LIMIT %(maximum)s) AS s
    JOIN tickbird.cursors AS c ON c.schedule_id = s.id
),
queued AS MATERIALIZED (
    SELECT available_at FROM tickbird.runs WHERE status = 'queued' AND namespace = %(namespace)s LIMIT %(maximum)s
),
running AS MATERIALIZED (
    SELECT namespace FROM tickbird.runs WHERE status = 'running' AND lease_until IS NOT NULL LIMIT %(maximum)s
),
waiting AS MATERIALIZED (
    SELECT namespace, lane, attempt FROM tickbird.runs WHERE status = 'waiting' LIMIT %(maximum)s
),
ended AS MATERIALIZED (
    SELECT status FROM tickbird.runs
    WHERE status IN ('succeeded', 'failed', 'cancelled')
        AND (namespace, finished_at) > (%(namespace)s, (SELECT now FROM clock) - make_interval(secs => %(recently)s))
        AND (namespace, finished_at) <= (%(namespace)s, 'infinity'::timestamptz)
    ORDER BY namespace DESC, finished_at DESC LIMIT %(maximum)s
),
due AS MATERIALIZED (
    SELECT schedule_id, next_run_at FROM tickbird.cursors
    WHERE next_run_at <= (SELECT now FROM clock)
    ORDER BY next_run_at LIMIT %(maximum)s
),
alive AS MATERIALIZED (
    SELECT draining, slots FROM tickbird.workers
    WHERE namespace = %(namespace)s AND kind <> 'sync' AND live_until > (SELECT now FROM clock)
)
SELECT 'now', '', 0::bigint, now FROM clock
UNION ALL SELECT 'schedule', state, count(*), NULL FROM known WHERE state <> 'deleted' GROUP BY state
UNION ALL SELECT 'run', 'queued', count(*), NULL FROM queued
UNION ALL SELECT 'run', 'running', count(*), NULL FROM running WHERE namespace = %(namespace)s
UNION ALL SELECT 'run', 'waiting', count(*), NULL FROM waiting WHERE namespace = %(namespace)s
UNION ALL SELECT 'run', 'held', count(*), NULL FROM waiting WHERE namespace = %(namespace)s AND lane = 2 AND attempt = 0
UNION ALL SELECT 'run', 'undecided', count(*), NULL FROM waiting WHERE namespace = %(namespace)s AND lane = 2 AND attempt > 0
UNION ALL SELECT 'ended', status, count(*), NULL FROM ended GROUP BY status
UNION ALL SELECT 'since', 'queued', 0, min(available_at) FROM queued WHERE available_at <= (SELECT now FROM clock)
UNION ALL
SELECT 'since', 'due', 0, min(due.next_run_at)
FROM due JOIN tickbird.schedules AS s ON s.id = due.schedule_id
WHERE s.namespace = %(namespace)s
UNION ALL
-- Not while a stamper works, because rows that no vacuum can remove yet would make this slow.
SELECT 'since', 'unstamped', 0, (
    SELECT e.published_at
    FROM tickbird.events_unstamped AS u
    JOIN tickbird.events AS e ON e.id = u.event
    WHERE u.namespace = %(namespace)s
        AND NOT EXISTS (
            SELECT FROM tickbird.event_streams AS s WHERE s.namespace = u.namespace AND s.awake_until > (SELECT now FROM clock)
        )
    ORDER BY u.xid LIMIT 1
)
UNION ALL SELECT 'worker', 'alive', count(*), NULL FROM alive
UNION ALL SELECT 'worker', 'draining', count(*), NULL FROM alive WHERE draining
UNION ALL SELECT 'worker', 'slots', coalesce(sum(slots), 0)::bigint, NULL FROM alive
UNION ALL SELECT 'seen', 'schedules', count(*), NULL FROM known
UNION ALL SELECT 'seen', 'queued', count(*), NULL FROM queued
UNION ALL SELECT 'seen', 'running', count(*), NULL FROM running
UNION ALL SELECT 'seen', 'waiting', count(*), NULL FROM waiting
UNION ALL SELECT 'seen', 'ended', count(*), NULL FROM ended
UNION ALL SELECT 'seen', 'due', count(*), NULL FROM due;
