-- What happened lately, newest first.

-- name: ended_since
SELECT * FROM tickbird.run_details
WHERE namespace = %(namespace)s
    AND status IN ('succeeded', 'failed', 'cancelled')
    AND finished_at >= %(since)s
ORDER BY finished_at DESC, id DESC
LIMIT %(limit)s;

-- name: skipped_since
SELECT
    n.name, s.id, s.schedule_id, s.revision, s.reason, s.first_at, s.last_at, s.count, s.run_id, s.actor, s.note,
    s.decided_at
FROM tickbird.skips AS s
JOIN tickbird.schedules AS n ON n.id = s.schedule_id
WHERE n.namespace = %(namespace)s AND s.decided_at >= %(since)s
ORDER BY s.decided_at DESC, s.id DESC
LIMIT %(limit)s;
