-- Final runs: one schedule ticked every ten seconds, all others every ten minutes, for hours or for a year.
-- A slot is ten minutes; within it runs are in the order of their ticks, as a planner would have created them.

-- name: redefine
-- The first schedule ticks every ten seconds, and all exist since long before the first run.
WITH s AS (
    UPDATE tickbird.schedules
    SET definition = CASE WHEN id = 1 THEN %(second)s::jsonb ELSE definition END, created_at = '2020-01-01Z'
)
UPDATE tickbird.revisions
SET definition = CASE WHEN schedule_id = 1 THEN %(second)s::json ELSE definition END, created_at = '2020-01-01Z';

-- name: fill_slots
INSERT INTO tickbird.runs (
    schedule_id, scheduled_for, due_at, available_at, created_at, started_at, finished_at, revision, attempt, status,
    origin, namespace, target_kind, target, queue, priority, crash_limit, worker, result, error, failure_kind
)
SELECT
    t.schedule_id, t.tick, t.tick, t.tick, t.tick, t.tick, t.tick + interval '300 ms', 1, 1, t.status, 'schedule',
    'default', 'task', 'noop', 'default', 0, 3, 'w1', '1',
    CASE WHEN t.status = 'failed' THEN 'Boom: no data' END, CASE WHEN t.status = 'failed' THEN 'raised' END
FROM (
    SELECT
        k.schedule_id,
        to_timestamp(%(due)s::bigint - 600 * slot + k.second) AS tick,
        CASE (slot * 7919 + k.schedule_id * 613 + k.second / 10) %% 50
            WHEN 7 THEN 'failed' WHEN 17 THEN 'cancelled' ELSE 'succeeded'
        END AS status
    FROM generate_series(%(first)s::bigint, %(last)s::bigint, -1) AS slot
    CROSS JOIN (
        SELECT 1 AS schedule_id, s AS second FROM generate_series(0, 599, 10) AS s
        UNION ALL
        SELECT s, 0 FROM generate_series(2, %(schedules)s::bigint) AS s
    ) AS k
    ORDER BY slot DESC, k.second, k.schedule_id
) AS t;

-- name: indexes
SELECT indexname, indexdef FROM pg_indexes
WHERE schemaname = 'tickbird' AND tablename = 'runs' AND indexname <> 'runs_pkey';

-- name: newest
SELECT max(id) FROM tickbird.runs;

-- name: sizes_of_runs
SELECT pg_table_size('tickbird.runs') / 1e6, pg_indexes_size('tickbird.runs') / 1e6;

-- name: lite_fill
-- The same for SQLite, whose instants are microseconds.
WITH RECURSIVE slots (slot) AS (
    SELECT :first UNION ALL SELECT slot - 1 FROM slots WHERE slot > :last
),
seconds (second) AS (
    SELECT 0 UNION ALL SELECT second + 10 FROM seconds WHERE second < 590
),
others (schedule_id) AS (
    SELECT 2 UNION ALL SELECT schedule_id + 1 FROM others WHERE schedule_id < :schedules
),
ticks (schedule_id, second) AS (
    SELECT 1, second FROM seconds UNION ALL SELECT schedule_id, 0 FROM others
),
made (schedule_id, tick, status) AS (
    SELECT
        t.schedule_id,
        (:due - 600 * s.slot + t.second) * 1000000,
        CASE (s.slot * 7919 + t.schedule_id * 613 + t.second / 10) % 50
            WHEN 7 THEN 'failed' WHEN 17 THEN 'cancelled' ELSE 'succeeded'
        END
    FROM slots AS s CROSS JOIN ticks AS t
    ORDER BY s.slot DESC, t.second, t.schedule_id
)
INSERT INTO runs (
    schedule_id, scheduled_for, due_at, available_at, created_at, started_at, finished_at, revision, attempt, status,
    origin, namespace, target_kind, target, queue, priority, crash_limit, worker, result
)
SELECT
    schedule_id, tick, tick, tick, tick, tick, tick + 300000, 1, 1, status, 'schedule', 'default', 'task', 'noop',
    'default', 0, 3, 'w1', '1'
FROM made;

-- name: lite_counters
UPDATE counters SET value = (SELECT max(id) FROM runs) WHERE name = 'run_id';

-- name: lite_redefine
UPDATE revisions SET created_at = 1577836800000000;
