-- Thousands of schedules, in the state after a planner pass.

-- name: fill
-- Triggers are off: this writes the same rows.
WITH s AS (
    INSERT INTO tickbird.schedules (id, namespace, name, definition)
    SELECT i, 'default', 's' || i, (%(definitions)s::jsonb[])[1 + i %% cardinality(%(definitions)s::jsonb[])]
    FROM generate_series(%(first)s::bigint, %(last)s::bigint) AS i
    RETURNING id, namespace, name, definition
),
l AS (
    INSERT INTO tickbird.schedule_search (namespace, name, schedule_id, queue, search_text)
    SELECT namespace, name, id, coalesce(definition ->> 'queue', 'default'), tickbird.schedule_search_text(name, definition)
    FROM s
),
c AS (
    INSERT INTO tickbird.cursors (schedule_id, revision, format, planned_until, next_run_at)
    SELECT id, 1, 1, to_timestamp(%(due)s::bigint - 60), to_timestamp(%(due)s::bigint) FROM s
)
INSERT INTO tickbird.revisions (schedule_id, revision, definition, action, actor)
SELECT id, 1, definition, 'create', 'bench' FROM s;

-- name: restore
-- All schedules are due again, with no runs.
INSERT INTO tickbird.cursors (schedule_id, revision, format, planned_until, next_run_at)
SELECT id, 1, 1, to_timestamp(%(due)s::bigint - 60), to_timestamp(%(due)s::bigint)
FROM tickbird.schedules WHERE id <= %(count)s ORDER BY id;

-- name: scatter
-- Only every n-th schedule is due; the others are due within a day.
UPDATE tickbird.cursors
SET next_run_at = to_timestamp(
    CASE WHEN schedule_id %% %(apart)s = 0 THEN %(due)s::bigint ELSE %(due)s::bigint + 60 * (1 + schedule_id %% 1440) END
);

-- name: restore_scattered
UPDATE tickbird.cursors
SET next_run_at = to_timestamp(%(due)s::bigint), planned_until = to_timestamp(%(due)s::bigint - 60), runs_planned = 0
WHERE schedule_id = ANY(ARRAY(SELECT DISTINCT schedule_id FROM tickbird.runs));

-- name: count_due
SELECT count(*) FROM tickbird.cursors WHERE next_run_at <= %(now)s;

-- name: count_ticks
-- The number of runs, and of their distinct ticks.
SELECT count(*), count(DISTINCT (schedule_id, scheduled_for)) FROM tickbird.runs;

-- name: sizes
SELECT
    c.relname,
    pg_table_size(c.oid),
    pg_indexes_size(c.oid),
    s.n_dead_tup,
    s.autovacuum_count
FROM pg_class AS c
JOIN pg_stat_user_tables AS s ON s.relid = c.oid
WHERE s.schemaname = 'tickbird';
