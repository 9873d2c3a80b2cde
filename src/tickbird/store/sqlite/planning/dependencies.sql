-- Dependencies: the last successes of schedules that others depend on, and the runs that wait for them.

-- name: read_successes
-- The existing schedules among these, and whether their successes are recorded.
SELECT s.name, s.id, l.schedule_id IS NOT NULL, l.succeeded_at / 1000000
FROM schedules AS s
JOIN cursors AS c ON c.schedule_id = s.id
LEFT JOIN last_successes AS l ON l.schedule_id = s.id
WHERE s.namespace = :namespace AND s.name IN (SELECT value FROM json_each(:names)) AND c.state <> 'deleted';

-- name: watch_success
-- From now on its successes are recorded; the first value comes from its newest runs.
INSERT INTO last_successes (schedule_id, succeeded_at)
SELECT
    :id,
    (
        SELECT max(finished_at)
        FROM (SELECT finished_at, status FROM runs WHERE schedule_id = :id ORDER BY id DESC LIMIT 10000)
        WHERE status = 'succeeded'
    )
RETURNING succeeded_at / 1000000;

-- name: any_watched
SELECT EXISTS (SELECT 1 FROM last_successes);

-- name: record_success
UPDATE last_successes
SET succeeded_at = max(coalesce(succeeded_at, :now), :now)
WHERE schedule_id IN (SELECT value FROM json_each(:ids))
RETURNING schedule_id;

-- name: insert_await
INSERT INTO dependency_waits (run_id, schedule_id, earliest_at, deadline_at) VALUES (?1, ?2, ?3 * 1000000, ?4 * 1000000);

-- name: resolve_awaits
DELETE FROM dependency_waits
WHERE schedule_id IN (SELECT value FROM json_each(:ids)) AND earliest_at <= :now AND deadline_at >= :now
RETURNING run_id;

-- name: end_waits
-- Runs that no longer wait for another schedule; from now on they wait for a slot.
UPDATE runs
SET lane = 0
WHERE id IN (SELECT value FROM json_each(:ids))
    AND status = 'waiting'
    AND lane = -1
    AND NOT EXISTS (SELECT 1 FROM dependency_waits AS a WHERE a.run_id = runs.id)
RETURNING schedule_id;

-- name: cancel_unmet
UPDATE runs
SET status = 'cancelled',
    lane = 0,
    finished_at = :now,
    reason = 'dependency',
    error = (
        SELECT 'waited for ' || group_concat(name, ', ')
        FROM (
            SELECT s.name
            FROM dependency_waits AS a
            JOIN schedules AS s ON s.id = a.schedule_id
            WHERE a.run_id = runs.id AND a.deadline_at < :now
            ORDER BY s.name
        )
    )
WHERE id IN (SELECT run_id FROM dependency_waits WHERE deadline_at < :now ORDER BY deadline_at LIMIT :limit)
    AND status = 'waiting'
    AND lane = -1
RETURNING id;

-- name: delete_awaits
-- Of runs that were cancelled now, or earlier for another reason.
DELETE FROM dependency_waits
WHERE run_id IN (SELECT run_id FROM dependency_waits WHERE deadline_at < :now)
    AND NOT EXISTS (SELECT 1 FROM runs AS r WHERE r.id = dependency_waits.run_id AND r.status = 'waiting' AND r.lane = -1);

-- name: read_needs
SELECT s.name, s.definition
FROM schedules AS s
JOIN cursors AS c ON c.schedule_id = s.id
WHERE s.namespace = :namespace AND s.name IN (SELECT value FROM json_each(:names)) AND c.state <> 'deleted';

-- name: dependents
SELECT s.name
FROM schedules AS s
JOIN cursors AS c ON c.schedule_id = s.id
WHERE s.namespace = :namespace
    AND json_type(s.definition, '$.depends_on') = 'array'
    AND EXISTS (
        SELECT 1
        FROM json_each(s.definition, '$.depends_on') AS d
        WHERE CASE d.type WHEN 'object' THEN json_extract(d.value, '$.after') END = :name
    )
    AND c.state <> 'deleted'
ORDER BY s.name
LIMIT :limit;

-- name: unwatch
-- A success need not be recorded if no schedule depends on it and no run waits for it.
DELETE FROM last_successes
WHERE schedule_id NOT IN (SELECT schedule_id FROM dependency_waits) AND schedule_id NOT IN (
    SELECT s.id
    FROM schedules AS d
    JOIN json_each(d.definition, '$.depends_on') AS e
    JOIN schedules AS s
        ON s.namespace = d.namespace AND s.name = CASE e.type WHEN 'object' THEN json_extract(e.value, '$.after') END
    WHERE json_type(d.definition, '$.depends_on') = 'array'
);
