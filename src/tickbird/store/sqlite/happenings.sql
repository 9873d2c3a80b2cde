-- What happened lately, newest first.

-- name: ended_since
SELECT *
FROM run_records
WHERE namespace = :namespace AND finished_at IS NOT NULL AND finished_at >= :since
ORDER BY finished_at DESC, id DESC
LIMIT :limit;

-- name: skipped_since
SELECT
    n.name, s.id, s.schedule_id, s.revision, s.reason, s.first_at, s.last_at, s.count, s.run_id, s.actor, s.note,
    s.decided_at
FROM skips AS s
JOIN schedules AS n ON n.id = s.schedule_id
WHERE n.namespace = :namespace AND s.decided_at >= :since
ORDER BY s.decided_at DESC, s.id DESC
LIMIT :limit;
