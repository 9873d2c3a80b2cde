-- The store of a large team after some time: many schedules, with runs spread over the last days. Most runs succeeded;
-- some fail, some run, some are late, some schedules are paused or parked.

-- name: crowd_runs
-- Runs first … last of `total`, in the order of their ticks; the last one is due at `now`.
INSERT INTO tickbird.runs (
    schedule_id, scheduled_for, due_at, available_at, created_at, started_at, finished_at, lease_until, revision, attempt,
    status, origin, namespace, target_kind, target, queue, priority, crash_limit, worker, result, error, failure_kind
)
SELECT
    t.schedule_id, t.tick, t.tick, t.tick, t.tick,
    CASE WHEN t.status <> 'queued' THEN t.tick + make_interval(secs => (t.n %% 700) / 1000.0) END,
    CASE WHEN t.status IN ('succeeded', 'failed', 'cancelled') THEN t.tick + make_interval(secs => 1 + t.n %% 40) END,
    CASE WHEN t.status = 'running' THEN t.tick + interval '1 hour' END,
    1, 1, t.status, 'schedule', 'default', 'task', 'noop', 'default', 0, 3,
    CASE WHEN t.status <> 'queued' THEN 'w' || t.n %% 4 END,
    CASE WHEN t.status = 'succeeded' THEN '1'::json END,
    CASE WHEN t.status = 'failed' THEN E'Traceback (most recent call last):\n  File "shop.py"\nBoom: no data' END,
    CASE WHEN t.status = 'failed' THEN 'raised' END
FROM (
    SELECT
        n,
        1 + n %% %(schedules)s::bigint AS schedule_id,
        -- Whole seconds, and no two runs of a schedule in the same one: schedules * seconds_apart ≥ 1.
        to_timestamp(%(now)s::bigint - floor((%(total)s::bigint - n) * %(apart)s::float8)) AS tick,
        CASE
            WHEN n > %(total)s::bigint - 20 THEN 'running'
            WHEN n > %(total)s::bigint - 120 THEN 'queued'
            WHEN 1 + n %% %(schedules)s::bigint <= 40 AND n > %(total)s::bigint * 0.9 THEN 'failed'
            WHEN n * 7919 %% 100 = 7 THEN 'failed'
            WHEN n * 7919 %% 100 = 17 THEN 'cancelled'
            ELSE 'succeeded'
        END AS status
    FROM generate_series(%(first)s::bigint, %(last)s::bigint) AS n
) AS t;

-- name: crowd_states
-- The next tick of each is within a day; a few are paused, or parked.
UPDATE tickbird.cursors
SET planned_until = to_timestamp(%(now)s::bigint - 1),
    next_run_at = CASE
        WHEN schedule_id %% 500 IN (3, 5) THEN NULL ELSE to_timestamp(%(now)s::bigint + 30 + schedule_id * 7919 %% 86400)
    END,
    state = CASE schedule_id %% 500 WHEN 3 THEN 'paused' WHEN 5 THEN 'parked' ELSE 'active' END;

-- name: crowd_pauses
UPDATE tickbird.schedules
SET paused_by = CASE WHEN id %% 500 = 3 THEN 'ana' END,
    pause_note = CASE WHEN id %% 500 = 3 THEN 'db upgrade' END,
    error = CASE WHEN id %% 500 = 5 THEN 'cron: 61 is no minute.' END
WHERE id %% 500 IN (3, 5);

-- name: crowd_skips
INSERT INTO tickbird.skips (schedule_id, first_at, last_at, decided_at, revision, count, reason)
SELECT
    id, to_timestamp(%(now)s::bigint - 7200), to_timestamp(%(now)s::bigint - 3600), to_timestamp(%(now)s::bigint - 3600),
    1, 60, 'overlap'
FROM tickbird.schedules WHERE id %% 10 = 1;

-- name: crowd_audit
INSERT INTO tickbird.audit_log (created_at, actor, action, namespace, schedule_id, schedule)
SELECT to_timestamp(%(now)s::bigint - n), 'user' || n %% 50 || '@example.com',
    (ARRAY['pause', 'resume', 'update', 'trigger'])[1 + n %% 4], 'default', s.id, s.name
FROM generate_series(0, %(entries)s::bigint - 1) AS n
JOIN tickbird.schedules AS s ON s.id = 1 + n %% %(schedules)s::bigint
ORDER BY n DESC;

-- name: lite_crowd_schedules
-- The same for SQLite, whose triggers write cursors, revisions and search words.
WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :schedules)
INSERT INTO schedules (id, namespace, name, definition, paused_by, pause_note, error)
SELECT
    i, 'default', 's' || i, json_extract(:definitions, '$[' || (i % json_array_length(:definitions)) || ']'),
    iif(i % 500 = 3, 'ana', NULL), iif(i % 500 = 3, 'db upgrade', NULL), iif(i % 500 = 5, 'cron: 61 is no minute.', NULL)
FROM n;

-- name: lite_crowd_states
UPDATE cursors
SET planned_until = (:now - 1) * 1000000,
    next_run_at = iif(schedule_id % 500 IN (3, 5), NULL, (:now + 30 + schedule_id * 7919 % 86400) * 1000000),
    state = CASE schedule_id % 500 WHEN 3 THEN 'paused' WHEN 5 THEN 'parked' ELSE 'active' END;

-- name: lite_crowd_runs
WITH RECURSIVE series (n) AS (SELECT :first UNION ALL SELECT n + 1 FROM series WHERE n < :last),
t AS (
    SELECT
        n,
        1 + n % :schedules AS schedule_id,
        CAST(:now - CAST((:total - n) * :apart AS INTEGER) AS INTEGER) * 1000000 AS tick,
        CASE
            WHEN n > :total - 20 THEN 'running'
            WHEN n > :total - 120 THEN 'queued'
            WHEN 1 + n % :schedules <= 40 AND n > :total * 0.9 THEN 'failed'
            WHEN n * 7919 % 100 = 7 THEN 'failed'
            WHEN n * 7919 % 100 = 17 THEN 'cancelled'
            ELSE 'succeeded'
        END AS status
    FROM series
)
INSERT INTO runs (
    schedule_id, scheduled_for, due_at, available_at, created_at, started_at, finished_at, lease_until, revision, attempt,
    status, origin, namespace, target_kind, target, queue, priority, crash_limit, worker, result, error, failure_kind
)
SELECT
    schedule_id, tick, tick, tick, tick,
    iif(status <> 'queued', tick + n % 700 * 1000, NULL),
    iif(status IN ('succeeded', 'failed', 'cancelled'), tick + (1 + n % 40) * 1000000, NULL),
    iif(status = 'running', tick + 3600000000, NULL),
    1, 1, status, 'schedule', 'default', 'task', 'noop', 'default', 0, 3,
    iif(status <> 'queued', 'w' || n % 4, NULL),
    iif(status = 'succeeded', '1', NULL),
    iif(status = 'failed', 'Traceback (most recent call last):' || char(10) || '  File "shop.py"' || char(10) || 'Boom: no data', NULL),
    iif(status = 'failed', 'raised', NULL)
FROM t;

-- name: lite_crowd_skips
INSERT INTO skips (schedule_id, first_at, last_at, decided_at, revision, count, reason)
SELECT id, (:now - 7200) * 1000000, (:now - 3600) * 1000000, (:now - 3600) * 1000000, 1, 60, 'overlap'
FROM schedules WHERE id % 10 = 1;

-- name: lite_crowd_audit
WITH RECURSIVE series (n) AS (SELECT :entries - 1 UNION ALL SELECT n - 1 FROM series WHERE n > 0)
INSERT INTO audit_log (created_at, actor, action, namespace, schedule_id, schedule, detail)
SELECT
    (:now - n) * 1000000, 'user' || n % 50 || '@example.com',
    CASE n % 4 WHEN 0 THEN 'pause' WHEN 1 THEN 'resume' WHEN 2 THEN 'update' ELSE 'trigger' END, 'default',
    1 + n % :schedules, 's' || (1 + n % :schedules), '{}'
FROM series;
