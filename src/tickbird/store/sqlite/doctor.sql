-- Queries of `doctor`. They only read.

-- name: examine_planners
SELECT count(*) FROM workers WHERE live_until > :now AND kind IN ('worker', 'planner') AND NOT draining;

-- name: examine_parked
SELECT s.name, coalesce(s.error, '')
FROM cursors AS c
JOIN schedules AS s ON s.id = c.schedule_id
WHERE c.state = 'parked' AND s.namespace = :namespace
ORDER BY s.name
LIMIT :limit;

-- fragment: readable
-- This process knows the format, and every custom trigger of the definition.
(
    (format <= :format OR format IN (SELECT value FROM json_each(:own_formats))) AND (
        format < :custom OR NOT EXISTS (
            SELECT 1 FROM schedules AS d
            WHERE d.id = schedule_id AND (
                -- NULL is not in an empty list, so triggers without a name are excluded first.
                json_extract(d.definition, '$.trigger.custom') IS NOT NULL
                AND json_extract(d.definition, '$.trigger.custom') NOT IN (SELECT value FROM json_each(:triggers))
                OR EXISTS (
                    SELECT 1 FROM json_each(d.definition, '$.trigger.any_of') AS m
                    WHERE m.type = 'object' AND json_extract(m.value, '$.custom') IS NOT NULL
                        AND json_extract(m.value, '$.custom') NOT IN (SELECT value FROM json_each(:triggers))
                )
            )
        )
    )
)

-- fragment: requirement
json_object(
    'v', json_extract(s.definition, '$.v'),
    'target', json_extract(s.definition, '$.target'),
    'trigger', json_extract(s.definition, '$.trigger')
)

-- name: examine_refused
SELECT s.name, coalesce(s.error, 'no error was recorded'), {requirement}
FROM cursors AS c
JOIN schedules AS s ON s.id = c.schedule_id
WHERE c.state = 'active' AND (c.refused_at IS NOT NULL OR NOT {readable}) AND s.namespace = :namespace
ORDER BY s.name
LIMIT :limit;

-- name: examine_scheduled
SELECT
    coalesce(json_extract(s.definition, '$.queue'), 'default') AS queue,
    json_extract(s.definition, '$.target') AS target,
    count(*),
    min(c.next_run_at)
FROM cursors AS c
JOIN schedules AS s ON s.id = c.schedule_id
WHERE c.state = 'active' AND s.namespace = :namespace
GROUP BY 1, 2
ORDER BY 4, 1, 2
LIMIT :limit;

-- fragment: has_schedule
-- A cursor without a schedule cannot be planned.
EXISTS (SELECT 1 FROM schedules AS s WHERE s.id = schedule_id)

-- name: examine_cursorless
SELECT s.name FROM schedules AS s
WHERE s.namespace = :namespace AND NOT EXISTS (SELECT 1 FROM cursors AS c WHERE c.schedule_id = s.id)
ORDER BY s.name
LIMIT :limit;

-- name: examine_due
SELECT count(*), min(next_run_at)
FROM (
    SELECT next_run_at FROM cursors
    WHERE next_run_at <= :now AND state IN ('active', 'paused') AND refused_at IS NULL AND {readable}
        AND {has_schedule}
    ORDER BY next_run_at
    LIMIT :limit
);

-- name: examine_unplanned
-- Due schedules that may need a plug-in or a newer format; one without a next pass is due since it was written.
SELECT s.namespace, s.name, coalesce(c.next_run_at, s.changed_at) AS since, {requirement}
FROM cursors AS c
JOIN schedules AS s ON s.id = c.schedule_id
WHERE c.format >= :custom AND c.refused_at IS NULL
    AND (c.next_run_at <= :now AND c.state IN ('active', 'paused') OR c.next_run_at IS NULL AND c.state || '' = 'active' AND NOT c.in_memory)
ORDER BY since
LIMIT :limit;

-- name: examine_new
SELECT count(*)
FROM (
    SELECT 1 FROM cursors
    WHERE next_run_at IS NULL AND state || '' = 'active' AND NOT in_memory AND refused_at IS NULL AND {readable} AND {has_schedule}
    LIMIT :limit
);

-- name: examine_orphans
SELECT schedule_id FROM cursors WHERE NOT {has_schedule} ORDER BY schedule_id LIMIT :limit;

-- name: examine_expired
SELECT count(*), min(lease_until)
FROM (
    SELECT lease_until FROM runs WHERE status = 'running' AND lease_until < :now ORDER BY lease_until LIMIT :limit
);

-- name: examine_calendars
-- Schedules whose stored days differ from the calendars that they use.
SELECT s.name, k.name
FROM schedules AS s
JOIN cursors AS c ON c.schedule_id = s.id
JOIN json_each(s.definition, '$.calendars') AS n
JOIN calendars AS k ON k.namespace = s.namespace AND k.name = n.value
WHERE s.namespace = :namespace
    AND json_type(s.definition, '$.calendars') = 'array'
    AND c.state NOT IN ('deleted', 'ended', 'parked')
    AND (SELECT e.value FROM json_each(s.definition, '$.closed') AS e WHERE e.key = k.name) IS NOT json(k.closed)
ORDER BY k.name, s.name
LIMIT :limit;

-- name: examine_failing
-- The schedules that failed recently.
SELECT DISTINCT s.id, s.name
FROM (SELECT schedule_id, status FROM runs WHERE finished_at IS NOT NULL ORDER BY finished_at DESC LIMIT :limit) AS r
JOIN schedules AS s ON s.id = r.schedule_id
JOIN cursors AS c ON c.schedule_id = s.id AND c.state <> 'deleted'
WHERE r.status = 'failed' AND s.namespace = :namespace
ORDER BY s.name;

-- name: examine_newest
-- The statuses of a schedule's newest succeeded or failed runs.
SELECT status, coalesce(error, '') FROM runs
WHERE schedule_id = :schedule_id AND status IN ('succeeded', 'failed')
ORDER BY id DESC
LIMIT 100;

-- name: examine_dependencies
-- Active schedules that depend on an inactive one, or on a shadow, which never succeeds.
SELECT d.name, json_extract(e.value, '$.after'),
    iif(o.state = 'active' AND json_type(o.definition, '$.shadow') = 'true', 'a shadow', o.state)
FROM schedules AS d
JOIN cursors AS c ON c.schedule_id = d.id AND c.state = 'active'
JOIN json_each(d.definition, '$.depends_on') AS e ON e.type = 'object'
LEFT JOIN schedule_details AS o
    ON o.namespace = d.namespace AND o.name = json_extract(e.value, '$.after') AND o.state <> 'deleted'
WHERE d.namespace = :namespace
    AND json_type(d.definition, '$.depends_on') = 'array'
    AND json_type(d.definition, '$.shadow') IS NOT 'true'
    AND (o.state IS NOT 'active' OR json_type(o.definition, '$.shadow') = 'true')
ORDER BY d.name, e.key
LIMIT :limit;

-- name: examine_held
SELECT count(*), count(DISTINCT schedule_id)
FROM runs
WHERE status = 'waiting' AND lane = 2 AND attempt = 0 AND +namespace = :namespace;

-- name: examine_undecided
SELECT count(*) FROM runs WHERE status = 'waiting' AND lane = 2 AND attempt > 0 AND +namespace = :namespace;

-- name: examine_events
-- The oldest event that retention has kept, if it has removed any.
SELECT e.published_at
FROM event_streams AS s
JOIN events AS e ON e.namespace = s.namespace AND e.position > s.pruned_until
WHERE s.namespace = :namespace AND s.pruned_until > 0
ORDER BY e.position LIMIT 1;

-- name: examine_groups
SELECT
    g.name,
    g.app,
    (
        SELECT d.declared_at FROM consumer_groups AS d
        WHERE d.namespace = g.namespace AND d.name = coalesce(g.scratch_of, g.name)
    ),
    g.state,
    coalesce(g.reason, ''),
    (
        SELECT min((
            SELECT e.published_at FROM events AS e
            WHERE e.namespace = o.namespace AND e.partition = o.partition AND e.position > o.position
            ORDER BY e.position LIMIT 1
        ))
        FROM consumer_offsets AS o
        WHERE o.namespace = g.namespace AND o.consumer_group = g.name
    ),
    (
        SELECT count(*) FROM (
            SELECT 1 FROM dead_letters AS d
            WHERE d.namespace = g.namespace AND d.consumer_group = g.name
                AND d.state IN ('retrying', 'deferred', 'failed') AND d.state = 'failed'
            LIMIT :limit
        )
    ),
    (
        SELECT count(*) FROM consumer_offsets AS o
        WHERE o.namespace = g.namespace AND o.consumer_group = g.name AND o.paused_until > :now
    ),
    coalesce((
        SELECT min(o.error) FROM consumer_offsets AS o
        WHERE o.namespace = g.namespace AND o.consumer_group = g.name AND o.paused_until > :now
    ), '')
FROM consumer_groups AS g
WHERE g.namespace = :namespace
ORDER BY g.name
LIMIT :limit;

-- name: examine_file
SELECT
    sqlite_version(),
    (SELECT journal_mode FROM pragma_journal_mode),
    (SELECT synchronous FROM pragma_synchronous),
    (SELECT freelist_count FROM pragma_freelist_count),
    (SELECT page_count FROM pragma_page_count),
    (SELECT page_size FROM pragma_page_size);

-- name: examine_pages
PRAGMA quick_check(1);
