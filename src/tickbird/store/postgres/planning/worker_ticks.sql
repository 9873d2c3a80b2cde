-- Ticks that workers compute themselves: schedules in memory, and durable ones in fallback.

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

-- name: worker_revisions
-- The clock, then the active schedules in memory, and the durable ones of an app. While an edit by plain SQL is not planned,
-- a schedule is left out. `due`: a durable one has ticks that are not decided yet.
SELECT clock.now, m.schedule_id, m.revision, m.due
FROM (SELECT {now} AS now) AS clock
LEFT JOIN (
    SELECT schedule_id, revision, false AS due FROM tickbird.cursors
    WHERE in_memory AND state = 'active' AND prior_revision IS NULL AND {readable}
        AND (zone_generation IS NULL OR zone_generation <= %(zones)s)
    UNION ALL
    SELECT c.schedule_id, c.revision, c.due
    FROM (
        SELECT s.id FROM tickbird.schedules AS s
        WHERE s.namespace = %(namespace)s AND s.app = %(app)s AND s.app IS NOT NULL
    ) AS own
    CROSS JOIN LATERAL (
        SELECT schedule_id, revision, coalesce(next_run_at <= {now}, true) AS due FROM tickbird.cursors
        WHERE schedule_id = own.id AND NOT in_memory AND state IN ('active', 'paused') AND prior_revision IS NULL
            AND {readable} AND (zone_generation IS NULL OR zone_generation <= %(zones)s)
    ) AS c
) AS m ON true;

-- name: worker_schedules
SELECT * FROM tickbird.schedule_details WHERE id = ANY(%(ids)s::bigint[]);

-- name: lock_worker_ticks
-- The cursors of ticks without a run, in the order of ids. An edit waits for this transaction, or this one for the edit.
SELECT schedule_id, revision, state = 'active' AND in_memory AND prior_revision IS NULL
FROM tickbird.cursors
WHERE schedule_id = ANY(ARRAY(
    SELECT u.schedule_id
    FROM unnest(%(ids)s::bigint[], %(ticks)s::bigint[]) AS u(schedule_id, tick)
    WHERE NOT EXISTS (
        SELECT FROM tickbird.runs AS r
        WHERE r.schedule_id = u.schedule_id AND r.scheduled_for = to_timestamp(u.tick)
            AND r.origin IN ('schedule', 'catch_up', 'backfill')
    )
))
ORDER BY schedule_id
FOR NO KEY UPDATE;

-- name: write_worker_ticks
-- The active runs of these schedules are locked. A run waits for runs that are not of ticks.
WITH u AS MATERIALIZED (
    SELECT * FROM unnest(
        %(namespace)s::text[], %(schedule_id)s::bigint[], %(revision)s::integer[], %(target_kind)s::text[],
        %(target)s::text[], %(queue)s::text[], %(priority)s::integer[], %(origin)s::text[], %(scheduled_for)s::bigint[],
        %(due_at)s::bigint[], %(start_by)s::bigint[], %(covers_first)s::bigint[], %(covers_last)s::bigint[],
        %(covers_count)s::integer[], %(crash_limit)s::integer[], %(actor)s::text[], %(max_running)s::integer[],
        %(place)s::integer[], %(payload)s::text[], %(applied_override)s::text[]
    ) AS u(
        namespace, schedule_id, revision, target_kind, target, queue, priority, origin, scheduled_for, due_at, start_by,
        covers_first, covers_last, covers_count, crash_limit, actor, max_running, place, payload, applied_override
    )
),
made AS (
    INSERT INTO tickbird.runs (
        namespace, schedule_id, revision, target_kind, target, queue, priority, status, origin, scheduled_for, due_at,
        available_at, start_by, covers_first, covers_last, covers_count, crash_limit, actor, applied_override, created_at
    )
    SELECT
        u.namespace, u.schedule_id, u.revision, u.target_kind, u.target, u.queue, u.priority,
        CASE WHEN u.max_running <= active.runs + u.place THEN 'waiting' ELSE 'queued' END,
        u.origin, to_timestamp(u.scheduled_for), to_timestamp(u.due_at), to_timestamp(u.due_at),
        to_timestamp(u.start_by), to_timestamp(u.covers_first), to_timestamp(u.covers_last), u.covers_count,
        u.crash_limit, u.actor, u.applied_override::json, {now}
    FROM u
    CROSS JOIN LATERAL (
        SELECT count(*) AS runs, count(*) FILTER (WHERE r.origin IN ('schedule', 'catch_up')) AS tick_runs
        FROM tickbird.runs AS r
        WHERE r.schedule_id = u.schedule_id AND r.lane <= 0 AND r.finished_at IS NULL
    ) AS active
    WHERE u.max_running IS NULL OR active.tick_runs + u.place < u.max_running
    ON CONFLICT (schedule_id, scheduled_for) WHERE origin IN ('schedule', 'catch_up', 'backfill') DO NOTHING
    RETURNING id, schedule_id, scheduled_for
),
sent AS (
    INSERT INTO tickbird.run_payloads (run_id, payload)
    SELECT made.id, u.payload::json
    FROM made
    JOIN u ON u.schedule_id = made.schedule_id AND to_timestamp(u.scheduled_for) = made.scheduled_for
    WHERE u.payload IS NOT NULL
)
SELECT {now}, (SELECT count(*)::integer FROM made);

-- name: lock_restore
-- Workers restore one after the other.
SELECT pg_advisory_xact_lock(hashtextextended('tickbird restore', 0));

-- name: missing_schedules
-- Which of these schedules have no row, and which have one but no cursor.
SELECT u.id, s.id IS NULL
FROM unnest(%(ids)s::bigint[]) AS u(id)
LEFT JOIN tickbird.schedules AS s ON s.id = u.id
WHERE s.id IS NULL OR NOT EXISTS (SELECT FROM tickbird.cursors AS c WHERE c.schedule_id = u.id);

-- name: restore_id
-- The id is that of the runs, so that the unique key of their ticks still holds.
INSERT INTO tickbird.schedule_ids (id, namespace, name) OVERRIDING SYSTEM VALUE
VALUES (%(id)s, %(namespace)s, %(name)s)
ON CONFLICT DO NOTHING;

-- name: restore_next_id
SELECT setval(
    pg_get_serial_sequence('tickbird.schedule_ids', 'id'),
    greatest(
        (SELECT max(i.id) FROM tickbird.schedule_ids AS i),
        (SELECT r.schedule_id FROM tickbird.runs AS r WHERE r.schedule_id IS NOT NULL ORDER BY r.schedule_id DESC LIMIT 1)
    )
);

-- name: take_orphan_cursor
-- The cursor of a schedule whose row is missing; the trigger of the new row inserts another one.
DELETE FROM tickbird.cursors
WHERE schedule_id = %(id)s
RETURNING tickbird.epoch_seconds(planned_until), runs_planned;

-- name: restore_schedule
INSERT INTO tickbird.schedules (
    namespace, name, app, definition, revision, fingerprint, field_overrides, paused_by, pause_note, paused_until,
    created_at, changed_at
)
VALUES (
    %(namespace)s, %(name)s, %(app)s, %(definition)s::jsonb,
    coalesce((SELECT max(v.revision) FROM tickbird.revisions AS v WHERE v.schedule_id = %(id)s), %(revision)s::integer) + 1,
    %(fingerprint)s, %(field_overrides)s::jsonb, %(paused_by)s, %(pause_note)s, to_timestamp(%(paused_until)s::bigint),
    coalesce(%(created_at)s, {now}), {now}
);

-- name: restore_cursor
-- Due now, unless it is paused or in memory.
INSERT INTO tickbird.cursors AS c (
    schedule_id, revision, format, zone_generation, in_memory, state, next_run_at, planned_until, runs_planned, skip_until,
    skip_by, skip_note, tick_overrides
)
SELECT
    s.id, s.revision, tickbird.definition_format(s.definition), tickbird.newest_zone_generation(s.definition),
    coalesce(s.definition -> 'durable' = 'false', false), %(state)s,
    CASE
        WHEN %(state)s = 'paused' THEN s.paused_until
        WHEN s.definition -> 'durable' = 'false' THEN NULL
        ELSE {now}
    END,
    to_timestamp(%(planned_until)s::bigint), %(runs_planned)s, to_timestamp(%(skip_until)s::bigint), %(skip_by)s,
    %(skip_note)s, %(tick_overrides)s::json
FROM tickbird.schedules AS s
WHERE s.id = %(id)s
ON CONFLICT (schedule_id) DO UPDATE
SET state = excluded.state,
    next_run_at = excluded.next_run_at,
    planned_until = excluded.planned_until,
    runs_planned = excluded.runs_planned,
    skip_until = excluded.skip_until,
    skip_by = excluded.skip_by,
    skip_note = excluded.skip_note,
    tick_overrides = excluded.tick_overrides;

-- name: restore_revision
INSERT INTO tickbird.revisions (schedule_id, revision, definition, fingerprint, action, actor, created_at)
SELECT s.id, s.revision, s.definition::json, s.fingerprint, 'restore', %(actor)s, {now}
FROM tickbird.schedules AS s
WHERE s.id = %(id)s
ON CONFLICT (schedule_id, revision) DO UPDATE SET action = excluded.action, actor = excluded.actor;
