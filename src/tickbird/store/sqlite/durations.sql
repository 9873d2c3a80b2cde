-- Durations of runs.

-- name: durations
-- The successes among the newest runs of each schedule, newest first; a series of failures is not walked.
SELECT
    s.name,
    max(
        0,
        r.finished_at - CASE
            WHEN r.attempt > 1
                THEN coalesce((SELECT min(a.started_at) FROM attempts AS a WHERE a.run_id = r.id), r.started_at)
            ELSE r.started_at
        END
    )
FROM schedules AS s
JOIN runs AS r ON r.id IN (SELECT n.id FROM runs AS n WHERE n.schedule_id = s.id ORDER BY n.id DESC LIMIT :looked_at)
WHERE s.namespace = :namespace
    AND s.name IN (SELECT value FROM json_each(:names))
    AND r.status = 'succeeded'
    AND r.started_at IS NOT NULL
ORDER BY s.name, r.id DESC;
