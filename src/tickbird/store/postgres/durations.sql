-- Durations of runs.

-- name: durations
-- The successes among the newest runs of each schedule, newest first; a series of failures is not walked.
SELECT s.name, t.seconds
FROM tickbird.schedules AS s
CROSS JOIN LATERAL (
    SELECT array_agg(greatest(0, date_part('epoch', r.finished_at - r.started_at)) ORDER BY r.id DESC) AS seconds
    FROM (
        SELECT
            id,
            status,
            CASE
                WHEN attempt > 1
                    THEN coalesce(
                        (SELECT min(a.started_at) FROM tickbird.attempts AS a WHERE a.run_id = runs.id), started_at
                    )
                ELSE started_at
            END AS started_at,
            finished_at
        FROM tickbird.runs
        WHERE schedule_id = s.id
        ORDER BY id DESC
        LIMIT %(looked_at)s
    ) AS r
    WHERE r.status = 'succeeded' AND r.started_at IS NOT NULL
) AS t
WHERE s.namespace = %(namespace)s AND s.name = ANY(%(names)s::text[]) AND t.seconds IS NOT NULL;
