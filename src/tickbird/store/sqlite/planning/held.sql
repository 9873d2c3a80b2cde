-- Held runs: runs of late ticks that wait until an operator releases or drops them.

-- name: any_held
SELECT EXISTS (SELECT 1 FROM runs WHERE schedule_id = :schedule_id AND status = 'waiting' AND lane = 2 AND attempt = 0);

-- name: held_schedules
SELECT s.name, count(*), min(r.scheduled_for), max(r.scheduled_for), min(r.created_at)
FROM runs AS r
JOIN schedules AS s ON s.id = r.schedule_id
WHERE r.status = 'waiting'
    AND r.lane = 2
    AND r.attempt = 0
    AND s.namespace = :namespace
    AND (:schedule IS NULL OR s.name = :schedule)
GROUP BY s.name
ORDER BY s.name;

-- name: list_held_runs
SELECT *
FROM run_details
WHERE id IN (
    SELECT id
    FROM runs
    WHERE schedule_id = (SELECT id FROM schedules WHERE namespace = :namespace AND name = :schedule)
        AND status = 'waiting'
        AND lane = 2
        AND attempt = 0
        AND id > :after
    ORDER BY id
    LIMIT :limit
)
ORDER BY id;

-- name: oldest_held
SELECT id FROM runs WHERE schedule_id = :schedule_id AND status = 'waiting' AND lane = 2 AND attempt = 0 ORDER BY id LIMIT :count;

-- name: release_held
-- From now on they wait like others, and are not available before their turn.
UPDATE runs SET lane = 0, released_at = ?2, released_by = ?3, available_at = max(available_at, ?4) WHERE id = ?1;
