-- The limit: the same work in bare SQL, with only one trigger (every minute) and no policies.

-- name: make_narrow
CREATE SCHEMA bare;
CREATE TABLE bare.cursors (id bigint PRIMARY KEY, next_run_at timestamptz NOT NULL, seconds integer NOT NULL)
    WITH (fillfactor = 80);
CREATE INDEX ON bare.cursors (next_run_at);
CREATE TABLE bare.runs (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    schedule_id bigint NOT NULL,
    scheduled_for timestamptz NOT NULL,
    state text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    started_at timestamptz,
    worker text,
    lease_until timestamptz,
    finished_at timestamptz,
    UNIQUE (schedule_id, scheduled_for)
) WITH (fillfactor = 80);
CREATE INDEX bare_waiting ON bare.runs (id) WHERE state = 'waiting';

-- name: fill_narrow
INSERT INTO bare.cursors SELECT i, to_timestamp(%(due)s::bigint), %(seconds)s FROM generate_series(1, %(count)s) AS i;

-- name: claim_narrow
-- The one-statement claim: pick, insert under the unique key, move.
WITH due AS MATERIALIZED (
    SELECT id, next_run_at FROM bare.cursors
    WHERE next_run_at <= %(now)s ORDER BY next_run_at LIMIT %(limit)s FOR UPDATE SKIP LOCKED
),
moved AS (
    UPDATE bare.cursors SET next_run_at = next_run_at + make_interval(secs => seconds)
    WHERE id = ANY(ARRAY(SELECT id FROM due))
)
INSERT INTO bare.runs (schedule_id, scheduled_for, state)
SELECT id, next_run_at, 'waiting' FROM due
ON CONFLICT DO NOTHING;

-- name: claim_same
-- The same in Tickbird's own tables, one statement.
WITH due AS MATERIALIZED (
    SELECT schedule_id, next_run_at FROM tickbird.cursors
    WHERE next_run_at <= %(now)s ORDER BY next_run_at LIMIT %(limit)s FOR UPDATE SKIP LOCKED
),
moved AS (
    UPDATE tickbird.cursors
    SET planned_until = next_run_at, next_run_at = next_run_at + interval '1 minute', runs_planned = runs_planned + 1
    WHERE schedule_id = ANY(ARRAY(SELECT schedule_id FROM due))
)
INSERT INTO tickbird.runs (
    namespace, schedule_id, revision, target_kind, target, queue, priority, crash_limit, status, origin, scheduled_for, due_at,
    available_at, created_at
)
SELECT
    'default', schedule_id, 1, 'task', 'noop', 'default', 0, 3, 'queued', 'schedule', next_run_at, next_run_at,
    next_run_at, %(now)s
FROM due
ON CONFLICT (schedule_id, scheduled_for) WHERE origin IN ('schedule', 'catch_up', 'backfill') DO NOTHING;

-- name: split_lock
SELECT schedule_id, date_part('epoch', next_run_at)::bigint, runs_planned FROM tickbird.cursors
WHERE next_run_at <= %(now)s ORDER BY next_run_at, schedule_id LIMIT %(limit)s FOR UPDATE SKIP LOCKED;

-- name: split_write
WITH u AS MATERIALIZED (
    SELECT * FROM unnest(
        %(ids)s::bigint[], %(ticks)s::bigint[], %(next)s::bigint[], %(planned)s::integer[]
    ) AS u(schedule_id, tick, next_run_at, planned)
),
moved AS (
    UPDATE tickbird.cursors AS c
    SET next_run_at = to_timestamp(u.next_run_at), planned_until = to_timestamp(u.tick), runs_planned = u.planned
    FROM u WHERE c.schedule_id = u.schedule_id
)
INSERT INTO tickbird.runs (
    namespace, schedule_id, revision, target_kind, target, queue, priority, crash_limit, status, origin, scheduled_for, due_at,
    available_at, created_at
)
SELECT
    'default', u.schedule_id, 1, 'task', 'noop', 'default', 0, 3, 'queued', 'schedule', to_timestamp(u.tick),
    to_timestamp(u.tick), to_timestamp(u.tick), %(now)s
FROM u
ON CONFLICT (schedule_id, scheduled_for) WHERE origin IN ('schedule', 'catch_up', 'backfill') DO NOTHING;

-- name: enqueue_narrow
INSERT INTO bare.runs (schedule_id, scheduled_for, state)
SELECT i, now(), 'waiting' FROM generate_series(%(first)s::bigint, %(last)s::bigint) AS i;

-- name: dequeue_narrow
UPDATE bare.runs
SET state = 'running', worker = 'bare', started_at = statement_timestamp(),
    lease_until = statement_timestamp() + interval '30 s'
WHERE id = ANY(ARRAY(
    SELECT id FROM bare.runs WHERE state = 'waiting' ORDER BY id LIMIT %(limit)s FOR UPDATE SKIP LOCKED
))
RETURNING id;

-- name: finish_narrow
UPDATE bare.runs SET state = 'done', finished_at = statement_timestamp(), lease_until = NULL
WHERE id = ANY(%(ids)s::bigint[]);

-- name: left_narrow
SELECT EXISTS (SELECT FROM bare.runs WHERE finished_at IS NULL);

-- name: tick_narrow
-- Like claim_narrow, but returns the claimed rows, for a claimer that executes them at once.
WITH due AS MATERIALIZED (
    SELECT id, next_run_at FROM bare.cursors
    WHERE next_run_at <= statement_timestamp() ORDER BY next_run_at LIMIT %(limit)s FOR UPDATE SKIP LOCKED
),
moved AS (
    UPDATE bare.cursors SET next_run_at = next_run_at + make_interval(secs => seconds)
    WHERE id = ANY(ARRAY(SELECT id FROM due))
)
INSERT INTO bare.runs (schedule_id, scheduled_for, state)
SELECT id, next_run_at, 'running' FROM due
ON CONFLICT DO NOTHING
RETURNING id, schedule_id, date_part('epoch', scheduled_for)::bigint;

-- name: next_narrow
SELECT date_part('epoch', min(next_run_at) - clock_timestamp())::float8 FROM bare.cursors;
