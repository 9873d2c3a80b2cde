-- Cursors: everything that planning reads, locks and writes. Instants are in whole seconds.
-- `{name}` is replaced by the text below `-- fragment: name`.

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

-- fragment: never_planned
-- In the form of its index.
next_run_at IS NULL AND state || '' = 'active' AND NOT in_memory

-- fragment: plannable
-- By this process: it can read the schedule, has the time zone data, and the schedule is not in backoff after a refusal.
{readable} AND (zone_generation IS NULL OR zone_generation <= :zones)
AND (:refused = '[]' OR schedule_id NOT IN (SELECT value FROM json_each(:refused)))

-- fragment: planning_term
-- In leader mode, the term of the current planning transaction.
(SELECT value FROM counters WHERE name = 'planning_term')

-- fragment: due_cursor
schedule_id,
revision,
planned_until / 1000000 AS planned_until,
state = 'active' AND skip_until IS NULL AND tick_overrides IS NULL AND prior_revision IS NULL AND refused_at IS NULL
AND deferred_until_minute * 60000000 <= :now
AND (zone_generation IS NULL OR zone_generation = :zones) AS has_fast_path

-- name: oldest_due
SELECT {due_cursor} FROM cursors
WHERE next_run_at <= :now AND {plannable}
ORDER BY next_run_at
LIMIT :limit;

-- name: newest_due
SELECT {due_cursor} FROM cursors
WHERE next_run_at <= :now AND {plannable}
ORDER BY next_run_at DESC
LIMIT :limit;

-- name: never_planned
SELECT {due_cursor} FROM cursors
WHERE {never_planned} AND {plannable}
ORDER BY schedule_id
LIMIT :limit;

-- name: cursors_by_id
SELECT
    schedule_id,
    revision,
    state,
    planned_until / 1000000 AS planned_until,
    next_run_at / 1000000 AS next_run_at,
    runs_planned,
    skip_until / 1000000 AS skip_until,
    skip_by,
    skip_note,
    tick_overrides,
    last_skip_id,
    prior_revision,
    edited_at / 1000000 AS edited_at,
    zone_generation,
    refused_at IS NOT NULL AS is_refused
FROM cursors
WHERE schedule_id IN (SELECT value FROM json_each(:ids))
ORDER BY schedule_id;

-- name: still_due
-- The cursors that no other process has planned meanwhile.
SELECT {due_cursor} FROM cursors
WHERE schedule_id IN (SELECT value FROM json_each(:ids)) AND {readable} AND (zone_generation IS NULL OR zone_generation <= :zones)
    AND ({never_planned} OR next_run_at <= :now)
ORDER BY schedule_id;

-- name: ignored
SELECT
    s.namespace,
    s.name,
    json_object(
        'v', json_extract(s.definition, '$.v'),
        'target', json_extract(s.definition, '$.target'),
        'trigger', json_extract(s.definition, '$.trigger')
    )
FROM cursors AS c
JOIN schedules AS s ON s.id = c.schedule_id
WHERE c.state = 'active' AND format >= :custom AND NOT {readable}
ORDER BY s.namespace, s.name
LIMIT :limit;

-- name: lines_of
SELECT schedule_id, deferred_until_minute FROM cursors WHERE schedule_id IN (SELECT value FROM json_each(:ids));

-- name: extend_line
UPDATE cursors SET deferred_until_minute = ?2 WHERE schedule_id = ?1;

-- name: next_due
SELECT
    (SELECT min(next_run_at) FROM cursors WHERE next_run_at IS NOT NULL AND {plannable}),
    EXISTS (SELECT 1 FROM cursors WHERE {never_planned} AND {plannable});

-- name: decided_ticks
-- Ticks after these instants that already have a run, because workers created it themselves.
SELECT r.schedule_id, r.scheduled_for / 1000000
FROM json_each(:afters) AS u
JOIN runs AS r ON r.schedule_id = CAST(u.key AS INTEGER) AND r.scheduled_for > u.value * 1000000
    AND r.origin IN ('schedule', 'catch_up', 'backfill')
ORDER BY r.schedule_id, r.scheduled_for;

-- name: active_facts
SELECT schedule_id, id, status, origin, concurrency_key, lane < 0
FROM runs
WHERE status IN ('waiting', 'queued', 'running')
    AND lane <= 0
    AND schedule_id IN (SELECT value FROM json_each(:ids))
ORDER BY id;

-- name: schedules_by_id
SELECT id, namespace, name, definition, paused_by, pause_note, paused_until / 1000000 AS paused_until, error
FROM schedules
WHERE id IN (SELECT value FROM json_each(:ids));

-- name: definition_sizes
SELECT id, length(definition) FROM schedules WHERE id IN (SELECT value FROM json_each(:ids));

-- name: read_revision
SELECT s.namespace, s.name, v.definition
FROM schedules AS s
LEFT JOIN revisions AS v ON v.schedule_id = s.id AND v.revision = ?
WHERE s.id = ?;

-- name: last_skips
-- Only of the current term: a skip of another one is not extended.
SELECT id, revision, reason, last_at / 1000000 AS last_at, run_id, actor, note
FROM skips
WHERE id IN (SELECT value FROM json_each(:ids)) AND term IS {planning_term};

-- name: move_cursor
UPDATE cursors
SET state = ?2,
    next_run_at = ?3 * 1000000,
    planned_until = ?4 * 1000000,
    runs_planned = ?5,
    last_skip_id = ?6,
    refused_at = NULL
WHERE schedule_id = ?1;

-- name: write_overrides
-- The remaining overrides of a cursor after a decision (reschedule, override, skip, edits by plain SQL).
UPDATE cursors
SET skip_until = ?2 * 1000000,
    skip_by = ?3,
    skip_note = ?4,
    tick_overrides = ?5,
    prior_revision = NULL,
    edited_at = NULL
WHERE schedule_id = ?1;

-- name: move_on_time
UPDATE cursors
SET next_run_at = ?3 * 1000000, planned_until = ?2 * 1000000, runs_planned = runs_planned + 1
WHERE schedule_id = ?1;

-- name: revise_cursor
UPDATE cursors SET revision = :revision, format = coalesce(:format, format) WHERE schedule_id = :id;

-- name: stamp_revised
-- Computed with the time zone data of this process, which may differ from the store's.
UPDATE cursors SET zone_generation = :zones WHERE schedule_id = :id AND zone_generation IS NOT NULL;

-- name: write_applied_override
UPDATE runs SET applied_override = ?2 WHERE id = ?1;

-- name: insert_skip
INSERT INTO skips (id, schedule_id, revision, reason, first_at, last_at, count, run_id, actor, note, decided_at, term)
VALUES (
    ?1, ?2, ?3, ?4, ?5 * 1000000, ?6 * 1000000, ?7, ?8, ?9, ?10, ?11, {planning_term}
);

-- name: extend_skip
UPDATE skips SET last_at = ?2 * 1000000, count = count + ?3, decided_at = ?4 WHERE id = ?1;

-- name: store_refusal
UPDATE schedules SET error = :error WHERE id = :id RETURNING name;

-- name: mark_refused
UPDATE cursors SET refused_at = :now WHERE schedule_id = :id AND state = 'active';

-- name: set_pause
UPDATE schedules
SET paused_by = ?2, pause_note = ?3, paused_until = ?4 * 1000000, error = ?5
WHERE id = ?1;
