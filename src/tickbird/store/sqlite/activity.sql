-- Recent activity, newest first.

-- name: ended_since
SELECT *
FROM run_details
WHERE namespace = :namespace AND finished_at IS NOT NULL AND finished_at >= :since
ORDER BY finished_at DESC, id DESC
LIMIT :limit;

-- name: skipped_since
SELECT
    n.name AS schedule, s.id, s.schedule_id, s.revision, s.reason, s.first_at, s.last_at, s.count, s.run_id, s.actor, s.note,
    s.decided_at, s.term
FROM skips AS s
JOIN schedules AS n ON n.id = s.schedule_id
WHERE n.namespace = :namespace AND s.decided_at >= :since
ORDER BY s.decided_at DESC, s.id DESC
LIMIT :limit;

-- name: last_run_id
SELECT value FROM counters WHERE name = 'run_id';

-- name: read_activity
-- Narrow rows in order: rank, instant, id, namespace. A row of rank -1 means that there are too many. Starts have no
-- index: they are read from running runs, and from attempts that have ended since.
WITH made AS MATERIALIZED (
    SELECT id, namespace, created_at FROM runs WHERE id > :floor ORDER BY id LIMIT :limit
),
ended AS MATERIALIZED (
    SELECT id, namespace, started_at, finished_at FROM runs
    WHERE finished_at IS NOT NULL AND finished_at >= :at
    ORDER BY finished_at LIMIT :limit
),
ended_attempts AS MATERIALIZED (
    SELECT run_id, attempt, started_at, ended_at FROM attempts WHERE ended_at >= :at ORDER BY ended_at LIMIT :limit
),
tried AS MATERIALIZED (
    SELECT a.run_id, a.started_at, a.ended_at, r.namespace
    FROM ended_attempts AS a
    JOIN runs AS r ON r.id = a.run_id
    -- The last attempt of a run is reported with the run.
    WHERE r.finished_at IS NULL OR r.attempt > a.attempt
),
skipped AS MATERIALIZED (
    SELECT s.id, s.decided_at, n.namespace
    FROM skips AS s
    JOIN schedules AS n ON n.id = s.schedule_id
    WHERE s.decided_at >= :at
    ORDER BY s.decided_at LIMIT :limit
),
done AS MATERIALIZED (
    SELECT id, created_at AS at, namespace FROM audit_log WHERE created_at >= :at ORDER BY created_at LIMIT :limit
),
found AS (
    SELECT 0 AS rank, at, id, namespace FROM done
    UNION ALL
    SELECT 1, created_at, id, namespace FROM made
    UNION ALL
    SELECT 2, decided_at, id, namespace FROM skipped
    UNION ALL
    SELECT 3, started_at, id, namespace FROM runs WHERE status = 'running'
    UNION ALL
    SELECT 3, started_at, id, namespace FROM ended
    UNION ALL
    SELECT 3, started_at, run_id, namespace FROM tried
    UNION ALL
    SELECT 4, ended_at, run_id, namespace FROM tried
    UNION ALL
    SELECT 5, finished_at, id, namespace FROM ended
)
SELECT -1 AS rank, 0 AS at, 0 AS id, '' AS namespace
WHERE :limit IN (
    (SELECT count(*) FROM made), (SELECT count(*) FROM ended), (SELECT count(*) FROM ended_attempts),
    (SELECT count(*) FROM skipped), (SELECT count(*) FROM done)
)
UNION ALL
SELECT rank, at, id, namespace FROM found
WHERE (at, rank, id) > (:at, :rank, :id)
    AND at <= :until
    AND +namespace IN (SELECT value FROM json_each(:namespaces))
ORDER BY at, rank, id;

-- name: activity_skips
SELECT
    n.name AS schedule, s.id, s.schedule_id, s.revision, s.reason, s.first_at, s.last_at, s.count, s.run_id, s.actor, s.note,
    s.decided_at, s.term
FROM skips AS s
JOIN schedules AS n ON n.id = s.schedule_id
WHERE s.id IN (SELECT value FROM json_each(:ids));

-- name: activity_audit
SELECT id, created_at AS at, actor, action, schedule, run_id, detail
FROM audit_log
WHERE id IN (SELECT value FROM json_each(:ids));
