-- Queries of the dashboard; runs are in `dashboard_runs.sql`. Each statement reads no more rows than its bounds allow,
-- whatever the size of the store. Exception: searches for schedules may walk the narrow table `schedule_search`.
-- `{name}` is replaced by the text below `-- fragment: name`.

-- fragment: from_matching_schedules
FROM schedule_search AS l
WHERE l.namespace = :namespace
    AND iif(:folded, instr(casefold(l.search_text), :contains), instr(lower(l.search_text), :contains) OR :contains = '')
    AND (:app IS NULL OR l.app = :app)
    AND (:queue IS NULL OR l.queue = :queue)
    AND (:among IS NULL OR l.schedule_id IN (SELECT value FROM json_each(:among)))
    AND (:tag IS NULL OR instr(l.search_text, char(10) || :tag || char(10)))
    AND EXISTS (
        SELECT 1 FROM cursors AS c
        WHERE c.schedule_id = l.schedule_id AND c.state IN (SELECT value FROM json_each(:states))
    )
    -- The search text contains words and tags, so the tags are read too, but only if a tag is requested.
    AND (
        :tag IS NULL
        OR EXISTS (
            SELECT 1 FROM schedules AS s, json_each(s.definition, '$.tags') AS t
            WHERE s.id = l.schedule_id AND t.value = :tag
        )
    )

-- name: find_schedules
SELECT l.schedule_id
{from_matching_schedules} AND l.name > :after
ORDER BY l.name
LIMIT :limit;

-- name: find_schedules_before
SELECT l.schedule_id
{from_matching_schedules} AND l.name < :before
ORDER BY l.name DESC
LIMIT :limit;

-- name: count_schedules
SELECT count(*) FROM (SELECT 1 {from_matching_schedules} LIMIT :limit);

-- name: idle_schedules
SELECT schedule_id FROM cursors
WHERE state <> 'active' AND state IN (SELECT value FROM json_each(:states))
LIMIT :maximum;

-- name: failing_schedules
-- Schedules that failed recently and have not succeeded since. If there are more failures than are read, one schedule that
-- always fails must not hide others: the statement then steps from schedule to schedule.
WITH RECURSIVE failures AS MATERIALIZED (
    SELECT schedule_id FROM runs
    WHERE namespace = :namespace AND status = 'failed' AND status IN ('failed', 'cancelled')
    ORDER BY id DESC
    LIMIT :maximum
),
others (schedule_id) AS (
    SELECT 0 WHERE (SELECT count(*) FROM failures) = :maximum
    UNION ALL
    SELECT (
        SELECT r.schedule_id FROM runs AS r
        WHERE r.status = 'failed' AND r.status IN ('failed', 'cancelled') AND r.schedule_id > others.schedule_id
        ORDER BY r.schedule_id
        LIMIT 1
    )
    FROM others
    WHERE others.schedule_id IS NOT NULL
    LIMIT :maximum
)
SELECT lately.schedule_id
FROM (
    SELECT schedule_id FROM failures WHERE schedule_id IS NOT NULL
    UNION
    SELECT others.schedule_id FROM others
    JOIN schedules AS s ON s.id = others.schedule_id AND s.namespace = :namespace
) AS lately
WHERE (
    SELECT r.status FROM runs AS r
    WHERE r.schedule_id = lately.schedule_id AND r.status IN ('succeeded', 'failed')
    ORDER BY r.id DESC LIMIT 1
) = 'failed';

-- name: summarize_schedules
-- last_run_at: the start of the newest run or of one of the hundred before it; otherwise of the newest ended one.
SELECT
    s.*,
    (SELECT max(r.id) FROM runs AS r WHERE r.schedule_id = s.id) AS last_run_id,
    coalesce(
        (
            SELECT n.started_at
            FROM (SELECT r.id, r.started_at FROM runs AS r WHERE r.schedule_id = s.id ORDER BY r.id DESC LIMIT 100) AS n
            WHERE n.started_at IS NOT NULL
            ORDER BY n.id DESC LIMIT 1
        ),
        (
            SELECT r.started_at FROM runs AS r
            WHERE r.schedule_id = s.id AND r.status IN ('succeeded', 'failed')
            ORDER BY r.id DESC LIMIT 1
        )
    ) AS last_run_at,
    (
        SELECT count(*) FILTER (WHERE status = 'failed' AND id > last_success)
        FROM (
            SELECT id, status, coalesce(max(id) FILTER (WHERE status = 'succeeded') OVER (), 0) AS last_success
            FROM (SELECT id, status FROM runs WHERE schedule_id = s.id ORDER BY id DESC LIMIT 100)
        )
    ) AS failure_streak,
    (SELECT count(*) FROM runs AS r WHERE r.schedule_id = s.id AND r.status = 'waiting' AND r.lane = 2 AND r.attempt = 0) AS held
FROM schedule_details AS s
WHERE s.id IN (SELECT value FROM json_each(:ids));

-- name: read_schedules
SELECT * FROM schedule_details WHERE id IN (SELECT value FROM json_each(:ids));

-- fragment: first_start
-- The start of the first attempt of a run n.
CASE
    WHEN attempt > 1 THEN coalesce((SELECT min(a.started_at) FROM attempts AS a WHERE a.run_id = n.id), started_at)
    ELSE started_at
END

-- name: run_points
-- The newest of a schedule; of these, the ones that overlap the requested range.
SELECT schedule_id, id, status, origin, scheduled_for, due_at, {first_start}, finished_at
FROM (SELECT * FROM runs WHERE schedule_id = :id ORDER BY id DESC LIMIT :each) AS n
WHERE (finished_at IS NULL OR :first IS NULL OR finished_at >= :first) AND (:last IS NULL OR due_at <= :last);

-- name: skip_points
SELECT schedule_id, id, reason, first_at, last_at, count
FROM (SELECT * FROM skips WHERE schedule_id = :id ORDER BY last_at DESC LIMIT :each)
WHERE (:first IS NULL OR last_at >= :first) AND (:last IS NULL OR first_at <= :last);

-- name: active_schedules
-- Schedules with runs in a range: failed ones first, then running ones, then the others, most recently active first.
WITH seen AS MATERIALIZED (
    SELECT * FROM (
        SELECT schedule_id, namespace, finished_at AS at, status = 'failed' AS failed, 0 AS running
        FROM runs
        WHERE namespace = :namespace AND finished_at IS NOT NULL AND finished_at >= :first
        ORDER BY finished_at DESC
        LIMIT :maximum
    )
    UNION ALL
    SELECT * FROM (
        SELECT schedule_id, namespace, started_at, 0, 1 FROM runs WHERE status = 'running' LIMIT :maximum
    )
    UNION ALL
    SELECT * FROM (
        SELECT schedule_id, namespace, available_at, 0, 0
        FROM runs INDEXED BY runs_queued_idx
        WHERE status = 'queued' AND namespace = :namespace AND available_at <= :last
        LIMIT :maximum
    )
    UNION ALL
    SELECT k.schedule_id, s.namespace, k.decided_at, 0, 0
    FROM (
        SELECT schedule_id, decided_at FROM skips WHERE decided_at >= :first ORDER BY decided_at DESC LIMIT :maximum
    ) AS k
    JOIN schedules AS s ON s.id = k.schedule_id
)
SELECT schedule_id
FROM seen
WHERE namespace = :namespace AND schedule_id IS NOT NULL
GROUP BY schedule_id
ORDER BY max(failed) DESC, max(running) DESC, max(at) DESC, schedule_id
LIMIT :limit;

-- name: upcoming_schedules
SELECT due.schedule_id
FROM (
    SELECT schedule_id, next_run_at FROM cursors
    WHERE next_run_at IS NOT NULL AND next_run_at <= :last
    ORDER BY next_run_at
    LIMIT :maximum
) AS due
JOIN schedules AS s ON s.id = due.schedule_id
WHERE s.namespace = :namespace
ORDER BY due.next_run_at, due.schedule_id
LIMIT :limit;

-- name: timings
SELECT schedule_id, id, status, due_at, {first_start}, finished_at
FROM (
    SELECT * FROM runs
    WHERE namespace = :namespace AND finished_at IS NOT NULL AND finished_at >= :since
    ORDER BY finished_at DESC, id DESC
    LIMIT :maximum
) AS n
WHERE started_at IS NOT NULL AND due_at >= :since
ORDER BY finished_at DESC, id DESC
LIMIT :limit;

-- name: timings_of
SELECT schedule_id, id, status, due_at, {first_start}, finished_at
FROM (SELECT * FROM runs WHERE schedule_id = :schedule_id ORDER BY id DESC LIMIT :maximum) AS n
WHERE namespace = :namespace AND started_at IS NOT NULL AND due_at >= :since
ORDER BY id DESC
LIMIT :limit;

-- name: newest_ended
-- The newest hundred runs of a schedule that succeeded or failed.
SELECT r.id, r.status, r.finished_at
FROM runs AS r
WHERE r.schedule_id = :id AND r.status IN ('succeeded', 'failed')
ORDER BY r.id DESC
LIMIT 100;

-- name: failing_names
SELECT s.name, s.id, (SELECT max(r.id) FROM runs AS r WHERE r.schedule_id = s.id AND r.status = 'failed') AS newest
FROM schedules AS s
JOIN cursors AS c ON c.schedule_id = s.id
WHERE s.id IN (SELECT value FROM json_each(:ids)) AND c.state <> 'deleted'
ORDER BY newest DESC
LIMIT :limit;

-- name: error_of
SELECT substr(coalesce(error, ''), 1, 10000) FROM runs WHERE id = :id;

-- name: load_page
SELECT
    s.id,
    s.name,
    json_patch('{}', json_object(
        'v', 1,
        'target', json('{"task": "any"}'),
        'trigger', json_extract(s.definition, '$.trigger'),
        'spread', json_extract(s.definition, '$.spread'),
        'start_at', json_extract(s.definition, '$.start_at'),
        'end_at', json_extract(s.definition, '$.end_at'),
        'exclude', json_extract(s.definition, '$.exclude'),
        'calendars', json_extract(s.definition, '$.calendars'),
        'closed', json_extract(s.definition, '$.closed'),
        'roll', json_extract(s.definition, '$.roll')
    )),
    coalesce(json_extract(s.definition, '$.queue'), 'default'),
    c.next_run_at
FROM schedules AS s
JOIN cursors AS c ON c.schedule_id = s.id
WHERE s.id > :after
    AND s.namespace = :namespace
    AND c.state = 'active'
    AND coalesce(json_extract(s.definition, '$.shadow'), 0) <> 1
ORDER BY s.id
LIMIT :limit;

-- name: newest_durations
SELECT finished_at - {first_start}
FROM (SELECT id, status, attempt, started_at, finished_at FROM runs WHERE schedule_id = :id ORDER BY id DESC LIMIT 20) AS n
WHERE status = 'succeeded' AND started_at IS NOT NULL
ORDER BY 1;

-- name: key_of_run
SELECT idempotency_key FROM runs WHERE id = :id AND namespace = :namespace;

-- Pages of the audit log: each entry that is read, and whether it matches. The caller stops when a page is full.

-- fragment: audit_filter
(:actor = '' OR instr(lower(actor), lower(:actor)))
    AND (:action IS NULL OR action = :action)
    AND (:since IS NULL OR created_at >= :since)
    AND (:until IS NULL OR created_at < :until)

-- fragment: of_schedule
schedule_id = (SELECT i.id FROM schedule_ids AS i WHERE i.namespace = :namespace AND i.name = :schedule)

-- fragment: before
coalesce(:before, 9223372036854775807)

-- name: find_audit
SELECT id, created_at AS at, actor, action, schedule, run_id, detail, {audit_filter}
FROM audit_log
WHERE namespace = :namespace AND id < {before}
ORDER BY id DESC
LIMIT :maximum;

-- name: find_audit_after
SELECT id, created_at AS at, actor, action, schedule, run_id, detail, {audit_filter}
FROM audit_log
WHERE namespace = :namespace AND id > :after
ORDER BY id
LIMIT :maximum;

-- name: find_audit_of
SELECT id, created_at AS at, actor, action, schedule, run_id, detail, {audit_filter}
FROM audit_log
WHERE {of_schedule} AND id < {before}
ORDER BY id DESC
LIMIT :maximum;

-- name: find_audit_of_after
SELECT id, created_at AS at, actor, action, schedule, run_id, detail, {audit_filter}
FROM audit_log
WHERE {of_schedule} AND id > :after
ORDER BY id
LIMIT :maximum;

-- name: last_lines
SELECT run_id, attempt, number, logged_at, level, text
FROM run_logs
WHERE run_id = :id AND (attempt, number) < (:attempt, :number)
ORDER BY attempt DESC, number DESC
LIMIT :limit;
