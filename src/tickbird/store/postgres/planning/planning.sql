-- Planning: lock due cursors, read the facts for their decisions, write the decisions.
-- Whole-second instants are passed as bigint epoch seconds, which saves datetime conversions on both sides.
-- `{name}` is replaced by the text below `-- fragment: name`.

-- fragment: now
coalesce(%(now)s::timestamptz, statement_timestamp())

-- fragment: readable
-- This process knows the format, and every custom trigger of the definition.
(
    (format <= %(format)s OR to_jsonb(format) <@ %(own_formats)s::jsonb) AND (
        format < %(custom)s OR (
            SELECT (
                jsonb_path_query_array(d.definition, '$.trigger.custom')
                || jsonb_path_query_array(d.definition, '$.trigger.any_of[*].custom')
            ) <@ %(triggers)s::jsonb
            FROM tickbird.schedules AS d WHERE d.id = schedule_id
        )
    )
)

-- fragment: never_planned
-- In the form of its index.
next_run_at IS NULL AND state || '' = 'active' AND NOT in_memory

-- fragment: plannable
-- By this process: it can read the schedule, has the time zone data, and the schedule is not in backoff after a refusal.
{readable} AND (zone_generation IS NULL OR zone_generation <= %(zones)s)
AND schedule_id <> ALL(%(refused)s::bigint[])

-- fragment: due_cursor
schedule_id,
revision,
tickbird.epoch_seconds(planned_until) AS planned_until,
state = 'active' AND skip_until IS NULL AND tick_overrides IS NULL AND prior_revision IS NULL AND refused_at IS NULL
AND sql_commands IS NULL
AND to_timestamp(60.0 * deferred_until_minute) <= {now}
AND (zone_generation IS NULL OR zone_generation = %(zones)s) AS has_fast_path

-- fragment: locked_cursors
-- The row of the clock comes first; the planner reads it separately.
SELECT clock.*, locked.* FROM clock FULL JOIN locked ON false ORDER BY clock.now

-- name: peek_due
-- The clock; the instant at which the next schedule becomes due; and whether one is due now.
SELECT
    {now} AS now,
    (
        SELECT next_run_at FROM tickbird.cursors
        WHERE next_run_at > {now} AND {plannable}
        ORDER BY next_run_at LIMIT 1
    ) AS next_at,
    EXISTS (
        SELECT FROM tickbird.cursors
        WHERE next_run_at <= {now} AND {plannable}
    ) OR EXISTS (
        SELECT FROM tickbird.cursors WHERE {never_planned} AND {plannable}
    ) AS due;

-- name: lock_due
-- Half from the oldest and half from the newest end, so that a backlog of late ticks does not starve ticks that are due
-- now; the newest half stops at the end of the oldest one. The first row is the result of a peek: the clock, the instant at
-- which the next schedule becomes due, and, if fewer than the limit were locked, whether another planner holds a due one.
WITH oldest AS MATERIALIZED (
    SELECT * FROM tickbird.cursors
    WHERE next_run_at <= {now} AND {plannable}
    ORDER BY next_run_at, schedule_id LIMIT (%(limit)s::integer + 1) / 2
    FOR UPDATE SKIP LOCKED
),
reached AS MATERIALIZED (
    SELECT next_run_at, schedule_id FROM oldest ORDER BY next_run_at DESC, schedule_id DESC LIMIT 1
),
newest AS MATERIALIZED (
    SELECT * FROM tickbird.cursors
    WHERE next_run_at <= {now} AND {plannable}
        AND (next_run_at, schedule_id) > ((SELECT next_run_at FROM reached), (SELECT schedule_id FROM reached))
    ORDER BY next_run_at DESC, schedule_id DESC LIMIT %(limit)s::integer / 2
    FOR UPDATE SKIP LOCKED
),
fresh AS MATERIALIZED (
    SELECT * FROM tickbird.cursors
    WHERE {never_planned} AND {plannable}
    LIMIT %(limit)s
    FOR UPDATE SKIP LOCKED
),
locked AS MATERIALIZED (
    SELECT
        {due_cursor}
    FROM (SELECT * FROM oldest UNION ALL SELECT * FROM newest UNION ALL SELECT * FROM fresh) AS taken
),
clock AS MATERIALIZED (
    SELECT
        {now} AS now,
        (
            SELECT next_run_at FROM tickbird.cursors
            WHERE next_run_at > {now} AND {plannable}
            ORDER BY next_run_at LIMIT 1
        ) AS next_at,
        CASE WHEN l.number < %(limit)s THEN l.number < (
            SELECT count(*) FROM (
                (
                    SELECT FROM tickbird.cursors
                    WHERE next_run_at <= {now} AND {plannable}
                    LIMIT %(limit)s
                )
                UNION ALL
                (
                    SELECT FROM tickbird.cursors
                    WHERE {never_planned} AND {plannable}
                    LIMIT %(limit)s
                )
            ) AS due
        ) ELSE false END AS others_due
    FROM (SELECT count(*) AS number FROM locked) AS l
)
{locked_cursors};

-- name: lock_due_by_id
-- Like lock_due, for cursors by schedule id.
WITH taken AS MATERIALIZED (
    SELECT * FROM tickbird.cursors
    WHERE schedule_id = ANY(%(ids)s::bigint[])
        AND {readable} AND (zone_generation IS NULL OR zone_generation <= %(zones)s)
        AND (
            next_run_at <= {now}
            OR {never_planned}
        )
    FOR UPDATE SKIP LOCKED
),
locked AS MATERIALIZED (
    SELECT
        {due_cursor}
    FROM taken
),
clock AS MATERIALIZED (
    SELECT {now} AS now, NULL::timestamptz AS next_at, count(*) < cardinality(%(ids)s::bigint[]) AS others_due FROM locked
)
{locked_cursors};

-- name: ignored
SELECT
    s.namespace,
    s.name,
    jsonb_build_object('v', s.definition -> 'v', 'target', s.definition -> 'target', 'trigger', s.definition -> 'trigger')
FROM tickbird.cursors AS c
JOIN tickbird.schedules AS s ON s.id = c.schedule_id
WHERE c.state = 'active' AND format >= %(custom)s AND NOT {readable}
ORDER BY s.namespace, s.name
LIMIT %(limit)s;

-- name: write_upcoming
INSERT INTO tickbird.upcoming_ticks (schedule_id, ticks, refresh_at)
SELECT
    %(id)s,
    ARRAY(SELECT to_timestamp(u.tick) FROM unnest(%(ticks)s::bigint[]) WITH ORDINALITY AS u(tick, place) ORDER BY u.place),
    to_timestamp(%(refresh)s::bigint)
ON CONFLICT (schedule_id) DO UPDATE SET ticks = excluded.ticks, refresh_at = excluded.refresh_at;

-- name: outdated_upcoming
SELECT {now} AS now, d.*
FROM tickbird.upcoming_ticks AS u
JOIN tickbird.schedule_details AS d ON d.id = u.schedule_id
WHERE u.refresh_at < {now} AND d.state = 'active'
LIMIT %(limit)s
FOR UPDATE OF u SKIP LOCKED;

-- name: limit_search
-- During the search for a refused schedule, a slow one must not delay all others.
SELECT set_config('statement_timeout', '2000', true), set_config('lock_timeout', '500', true);

-- name: store_refusal
-- The schedule first, then its cursor: the lock order of all other verbs.
UPDATE tickbird.schedules SET error = %(error)s WHERE id = %(id)s RETURNING name;

-- name: mark_refused
UPDATE tickbird.cursors SET refused_at = %(now)s WHERE schedule_id = %(id)s AND state = 'active';

-- name: read_cursors
-- Complete rows of locked cursors.
SELECT
    schedule_id,
    revision,
    state,
    tickbird.epoch_seconds(planned_until) AS planned_until,
    tickbird.epoch_seconds(next_run_at) AS next_run_at,
    runs_planned,
    tickbird.epoch_seconds(skip_until) AS skip_until,
    skip_by,
    skip_note,
    tick_overrides,
    last_skip_id,
    prior_revision,
    tickbird.epoch_seconds(edited_at) AS edited_at,
    zone_generation,
    refused_at IS NOT NULL AS is_refused
FROM tickbird.cursors
WHERE schedule_id = ANY(%(ids)s::bigint[]);

-- name: definition_sizes
SELECT id, octet_length(definition::text) FROM tickbird.schedules WHERE id = ANY(%(ids)s::bigint[]);

-- name: read_revisions
-- The definition as text, so that one that Python cannot decode affects only its own row; null if there is no revision.
SELECT u.schedule_id, u.revision, s.namespace, s.name, v.definition::text
FROM unnest(%(ids)s::bigint[], %(revisions)s::integer[]) AS u(schedule_id, revision)
JOIN tickbird.schedules AS s ON s.id = u.schedule_id
LEFT JOIN tickbird.revisions AS v ON v.schedule_id = u.schedule_id AND v.revision = u.revision;

-- name: read_active
-- Unordered: with ORDER BY, a plan made while the table is small would walk the primary key.
SELECT schedule_id, id, status, origin, concurrency_key, lane < 0 AS awaits
FROM tickbird.runs
WHERE schedule_id = ANY(%(ids)s::bigint[]) AND lane <= 0 AND finished_at IS NULL;

-- name: decided_ticks
-- Ticks after these instants that already have a run, because workers created it themselves.
SELECT u.id, tickbird.epoch_seconds(r.scheduled_for)
FROM unnest(%(ids)s::bigint[], %(afters)s::bigint[]) AS u(id, after)
JOIN tickbird.runs AS r
    ON r.schedule_id = u.id AND r.scheduled_for > to_timestamp(u.after) AND r.origin IN ('schedule', 'catch_up', 'backfill')
ORDER BY u.id, r.scheduled_for;

-- name: schedules_with_held_runs
-- Which of these schedules have a held run.
SELECT u.id
FROM unnest(%(ids)s::bigint[]) AS u(id)
WHERE EXISTS (SELECT FROM tickbird.runs AS r WHERE r.schedule_id = u.id AND r.status = 'waiting' AND r.lane = 2 AND r.attempt = 0);

-- name: lock_active
-- First active runs by id, then waiting ones by schedule: the lock order of sessions that end runs and release others. Also
-- the next deferred one: while it is locked, none of them starts. A session that was waited for here may have released some
-- that this statement does not see; the second column marks rows for which that is possible.
WITH aside AS MATERIALIZED (
    SELECT first.id
    FROM unnest(%(ids)s::bigint[]) AS u(schedule_id)
    CROSS JOIN LATERAL (
        SELECT r.id FROM tickbird.runs AS r
        WHERE r.schedule_id = u.schedule_id AND r.status = 'waiting' AND r.lane = 1
        ORDER BY r.id LIMIT 1
    ) AS first
)
SELECT id, id = ANY(ARRAY(SELECT aside.id FROM aside))
FROM tickbird.runs
WHERE id = ANY(ARRAY(
    SELECT id FROM tickbird.runs WHERE schedule_id = ANY(%(ids)s::bigint[]) AND lane <= 0 AND finished_at IS NULL
    UNION ALL
    SELECT aside.id FROM aside
))
ORDER BY status = 'waiting', CASE WHEN status = 'waiting' THEN schedule_id END, lane, id
FOR UPDATE;

-- name: lock_schedules
-- Other sessions lock a schedule before its cursor; the planner holds the cursor, so it must not wait.
SELECT id FROM tickbird.schedules WHERE id = ANY(%(ids)s::bigint[]) FOR UPDATE SKIP LOCKED;

-- name: take_ids
SELECT nextval('tickbird.ledger_id_seq') FROM generate_series(1, %(count)s);

-- name: read_skips
-- Only of the current term: a skip of another one is not extended.
SELECT id, revision, reason, tickbird.epoch_seconds(last_at) AS last_at, run_id, actor, note
FROM tickbird.skips
WHERE id = ANY(%(ids)s::bigint[])
    AND term IS NOT DISTINCT FROM nullif(current_setting('tickbird.term', true), '')::bigint;

-- name: write_on_time
-- The hot path: ticks that become runs, queued or leased to the planning worker, and the cursors that they move.
-- No run of a queue with a rate limit is leased, because only a claim counts starts.
WITH u AS MATERIALIZED (
    SELECT * FROM unnest(
        %(schedule_id)s::bigint[], %(revision)s::integer[], %(tick)s::bigint[], %(due_at)s::bigint[],
        %(start_by)s::bigint[], %(next_run_at)s::bigint[], %(template)s::integer[], %(leased)s::boolean[]
    ) AS u(schedule_id, revision, tick, due_at, start_by, next_run_at, template, leased)
),
t AS MATERIALIZED (
    SELECT
        t.*,
        %(worker)s::text IS NOT NULL
            AND EXISTS (SELECT FROM tickbird.queue_rates AS l WHERE l.namespace = t.namespace AND l.queue = t.queue) AS limited
    FROM unnest(
        %(template_namespace)s::text[], %(template_target_kind)s::text[], %(template_target)s::text[],
        %(template_queue)s::text[], %(template_priority)s::integer[], %(template_crash_limit)s::integer[]
    ) WITH ORDINALITY AS t(namespace, target_kind, target, queue, priority, crash_limit, number)
),
moved AS (
    UPDATE tickbird.cursors AS c
    SET next_run_at = to_timestamp(u.next_run_at),
        planned_until = to_timestamp(u.tick),
        runs_planned = c.runs_planned + 1
    FROM u
    WHERE c.schedule_id = u.schedule_id
),
made AS (
    INSERT INTO tickbird.runs (
        namespace, schedule_id, revision, target_kind, target, queue, priority, status, origin,
        scheduled_for, due_at, available_at, start_by, crash_limit, created_at,
        attempt, incarnation, worker, started_at, lease_until
    )
    SELECT
        t.namespace, u.schedule_id, u.revision, t.target_kind, t.target, t.queue, t.priority,
        CASE WHEN u.leased AND NOT t.limited THEN 'running' ELSE 'queued' END, 'schedule',
        to_timestamp(u.tick), to_timestamp(u.due_at), to_timestamp(u.due_at), to_timestamp(u.start_by), t.crash_limit,
        %(now)s,
        CASE WHEN u.leased AND NOT t.limited THEN 1 ELSE 0 END,
        CASE WHEN u.leased AND NOT t.limited THEN (SELECT m.value::integer FROM tickbird.meta AS m WHERE m.key = 'incarnation') END,
        CASE WHEN u.leased AND NOT t.limited THEN %(worker)s END,
        CASE WHEN u.leased AND NOT t.limited THEN %(now)s END,
        CASE WHEN u.leased AND NOT t.limited THEN %(now)s + make_interval(secs => %(lease)s) END
    FROM u
    JOIN t ON t.number = u.template
    ON CONFLICT (schedule_id, scheduled_for) WHERE origin IN ('schedule', 'catch_up', 'backfill') DO NOTHING
    RETURNING id, schedule_id, status, incarnation
)
SELECT schedule_id, id, incarnation FROM made WHERE status = 'running';

-- name: write_plans
-- All other decisions: moved cursors, and their runs.
WITH c AS MATERIALIZED (
    SELECT * FROM unnest(
        %(cursor_schedule_id)s::bigint[], %(cursor_state)s::text[], %(cursor_next_run_at)s::bigint[],
        %(cursor_planned_until)s::bigint[], %(cursor_runs_planned)s::integer[], %(cursor_last_skip_id)s::bigint[]
    ) AS c(schedule_id, state, next_run_at, planned_until, runs_planned, last_skip_id)
),
moved AS (
    UPDATE tickbird.cursors AS t
    SET state = c.state,
        next_run_at = to_timestamp(c.next_run_at),
        planned_until = to_timestamp(c.planned_until),
        runs_planned = c.runs_planned,
        last_skip_id = c.last_skip_id,
        refused_at = NULL
    FROM c
    WHERE t.schedule_id = c.schedule_id
),
r AS MATERIALIZED (
    SELECT * FROM unnest(
        %(run_id)s::bigint[], %(run_namespace)s::text[], %(run_schedule_id)s::bigint[], %(run_revision)s::integer[],
        %(run_target_kind)s::text[], %(run_target)s::text[], %(run_queue)s::text[], %(run_priority)s::integer[],
        %(run_status)s::text[], %(run_origin)s::text[], %(run_scheduled_for)s::bigint[], %(run_due_at)s::bigint[],
        %(run_start_by)s::bigint[], %(run_covers_first)s::bigint[], %(run_covers_last)s::bigint[],
        %(run_covers_count)s::integer[], %(run_crash_limit)s::integer[], %(run_retry_of)s::bigint[],
        %(run_actor)s::text[], %(run_lane)s::smallint[], %(run_concurrency_key)s::text[],
        %(run_deferred_until_minute)s::integer[]
    ) AS r(
        id, namespace, schedule_id, revision, target_kind, target, queue, priority, status, origin, scheduled_for,
        due_at, start_by, covers_first, covers_last, covers_count, crash_limit, retry_of, actor, lane, concurrency_key,
        deferred_until_minute
    )
)
INSERT INTO tickbird.runs (
    id, namespace, schedule_id, revision, target_kind, target, queue, priority, status, origin,
    scheduled_for, due_at, available_at, start_by, covers_first, covers_last, covers_count,
    crash_limit, retry_of, actor, lane, concurrency_key, deferred_until_minute, created_at
)
SELECT
    r.id, r.namespace, r.schedule_id, r.revision, r.target_kind, r.target, r.queue, r.priority, r.status, r.origin,
    to_timestamp(r.scheduled_for), coalesce(to_timestamp(r.due_at), %(now)s), coalesce(to_timestamp(r.due_at), %(now)s),
    to_timestamp(r.start_by), to_timestamp(r.covers_first), to_timestamp(r.covers_last), r.covers_count,
    r.crash_limit, r.retry_of, r.actor, r.lane, r.concurrency_key, r.deferred_until_minute, %(now)s
FROM r
ON CONFLICT (schedule_id, scheduled_for) WHERE origin IN ('schedule', 'catch_up', 'backfill') DO NOTHING;

-- name: move_cursors
-- Like the first half of write_plans, if there is no run.
UPDATE tickbird.cursors AS t
SET state = c.state,
    next_run_at = to_timestamp(c.next_run_at),
    planned_until = to_timestamp(c.planned_until),
    runs_planned = c.runs_planned,
    last_skip_id = c.last_skip_id,
    refused_at = NULL
FROM unnest(
    %(cursor_schedule_id)s::bigint[], %(cursor_state)s::text[], %(cursor_next_run_at)s::bigint[],
    %(cursor_planned_until)s::bigint[], %(cursor_runs_planned)s::integer[], %(cursor_last_skip_id)s::bigint[]
) AS c(schedule_id, state, next_run_at, planned_until, runs_planned, last_skip_id)
WHERE t.schedule_id = c.schedule_id;

-- name: lines_of
SELECT schedule_id, deferred_until_minute FROM tickbird.cursors WHERE schedule_id = ANY(%(ids)s::bigint[]);

-- name: extend_lines
UPDATE tickbird.cursors AS t
SET deferred_until_minute = u.deferred_until_minute
FROM unnest(%(ids)s::bigint[], %(lines)s::integer[]) AS u(schedule_id, deferred_until_minute)
WHERE t.schedule_id = u.schedule_id;

-- name: write_overrides
-- The remaining overrides of a cursor after a decision (reschedule, override, skip, edits by plain SQL).
UPDATE tickbird.cursors AS t
SET skip_until = to_timestamp(c.skip_until),
    skip_by = c.skip_by,
    skip_note = c.skip_note,
    tick_overrides = c.tick_overrides::json,
    prior_revision = NULL,
    edited_at = NULL
FROM unnest(
    %(schedule_id)s::bigint[], %(skip_until)s::bigint[], %(skip_by)s::text[], %(skip_note)s::text[],
    %(tick_overrides)s::text[]
) AS c(schedule_id, skip_until, skip_by, skip_note, tick_overrides)
WHERE t.schedule_id = c.schedule_id;

-- name: write_payloads
INSERT INTO tickbird.run_payloads (run_id, payload)
SELECT u.run_id, u.text::json FROM unnest(%(run_id)s::bigint[], %(text)s::text[]) AS u(run_id, text);

-- name: write_applied_override
-- The override of a run's tick, as applied.
UPDATE tickbird.runs AS r
SET applied_override = u.text::json
FROM unnest(%(run_id)s::bigint[], %(text)s::text[]) AS u(run_id, text)
WHERE r.id = u.run_id;

-- name: write_void
-- Overrides that were not applied.
INSERT INTO tickbird.audit_log (created_at, actor, action, namespace, schedule_id, schedule, detail)
SELECT %(now)s, coalesce(u.actor, %(planner)s), %(action)s, u.namespace, u.schedule_id, u.schedule, u.detail::jsonb
FROM unnest(
    %(namespace)s::text[], %(schedule_id)s::bigint[], %(schedule)s::text[], %(actor)s::text[], %(detail)s::text[]
) AS u(namespace, schedule_id, schedule, actor, detail);

-- name: write_skips
INSERT INTO tickbird.skips
    (id, schedule_id, revision, reason, first_at, last_at, count, run_id, actor, note, decided_at)
SELECT
    u.id, u.schedule_id, u.revision, u.reason, to_timestamp(u.first_at), to_timestamp(u.last_at), u.count,
    u.run_id, u.actor, u.note, %(now)s
FROM unnest(
    %(id)s::bigint[], %(schedule_id)s::bigint[], %(revision)s::integer[], %(reason)s::text[], %(first_at)s::bigint[],
    %(last_at)s::bigint[], %(ticks)s::bigint[], %(run_id)s::bigint[], %(actor)s::text[], %(note)s::text[]
) AS u(id, schedule_id, revision, reason, first_at, last_at, count, run_id, actor, note);

-- name: extend_skips
UPDATE tickbird.skips AS s
SET last_at = to_timestamp(u.last_at), count = s.count + u.ticks, decided_at = %(now)s
FROM unnest(%(id)s::bigint[], %(last_at)s::bigint[], %(ticks)s::bigint[]) AS u(id, last_at, ticks)
WHERE s.id = u.id;

-- name: write_pauses
UPDATE tickbird.schedules AS s
SET paused_by = u.paused_by, pause_note = u.pause_note, paused_until = to_timestamp(u.paused_until), error = u.error
FROM unnest(
    %(schedule_id)s::bigint[], %(paused_by)s::text[], %(pause_note)s::text[], %(paused_until)s::bigint[], %(error)s::text[]
) AS u(schedule_id, paused_by, pause_note, paused_until, error)
WHERE s.id = u.schedule_id;

-- name: drop_runs
-- Runs that must not start after all; their rows are locked.
UPDATE tickbird.runs
SET status = 'cancelled', lane = 0, reason = %(reason)s, finished_at = %(now)s
WHERE id = ANY(%(ids)s::bigint[]) AND status IN ('waiting', 'queued');

-- name: clear_lanes
-- Waiting runs of backfills, and held ones.
UPDATE tickbird.runs
SET status = 'cancelled', lane = 0, reason = %(reason)s, finished_at = %(now)s
WHERE schedule_id = ANY(%(ids)s::bigint[]) AND status = 'waiting' AND lane > 0;

-- name: stop_runs
UPDATE tickbird.runs
SET cancel_requested_at = coalesce(cancel_requested_at, %(now)s),
    cancel_requested_by = coalesce(cancel_requested_by, %(by)s),
    reason = coalesce(reason, %(reason)s)
WHERE id = ANY(%(ids)s::bigint[]) AND status = 'running';

-- name: wake
SELECT pg_notify('tickbird', '');
