-- min_compatible: 28
-- Tables and columns get the words of the field. Code that knows the old ones ends.

DROP VIEW run_records;
DROP VIEW schedule_records;
DROP TRIGGER schedule_listed;
DROP TRIGGER schedule_relisted;
DROP VIEW listing;

ALTER TABLE answers RENAME TO http_responses;
DROP INDEX answers_by_age;
CREATE INDEX http_responses_by_age ON http_responses (begun_at);
ALTER TABLE awaits RENAME TO dependency_waits;
DROP INDEX awaits_of_schedule;
DROP INDEX awaits_until;
CREATE INDEX dependency_waits_of_schedule ON dependency_waits (schedule_id);
CREATE INDEX dependency_waits_until ON dependency_waits (until);
ALTER TABLE limits RENAME TO concurrency_limits;
ALTER TABLE concurrency_limits RENAME COLUMN most TO max_running;
ALTER TABLE rates RENAME TO queue_rates;
ALTER TABLE pruned RENAME TO prune_horizons;

ALTER TABLE runs RENAME COLUMN behind TO deferred_until;
DROP INDEX runs_behind;
CREATE INDEX runs_deferred ON runs (deferred_until) WHERE status = 'queued' AND deferred_until > 0;
ALTER TABLE runs RENAME COLUMN overridden TO applied_override;
ALTER TABLE cursors RENAME COLUMN line_until TO deferred_until;
ALTER TABLE cursors RENAME COLUMN zone_data TO zone_generation;
ALTER TABLE schedules RENAME COLUMN overrides TO field_overrides;
ALTER TABLE workers RENAME COLUMN held TO standby_reason;
ALTER TABLE workers RENAME COLUMN vitals TO health;
ALTER TABLE workers RENAME COLUMN seen_at TO last_heartbeat_at;
ALTER TABLE listed RENAME TO schedule_search;
ALTER TABLE schedule_search RENAME COLUMN words TO search_text;

CREATE VIEW run_records AS
SELECT
    r.id, r.namespace, r.schedule_id, r.revision, r.target_kind, r.target, r.queue, r.priority, r.origin, r.status,
    r.scheduled_for, r.due_at, r.available_at, r.start_by, r.covers_first, r.covers_last, r.covers_count, r.attempt,
    r.failures, r.crashes, r.created_at, r.started_at, r.finished_at, r.lease_until, r.worker, r.retry_of, r.actor,
    r.reason, r.cancel_requested_at, r.cancel_requested_by, r.result, r.error, r.failure_kind,
    s.name AS schedule,
    coalesce(p.payload, iif(json_valid(v.definition), json_extract(v.definition, '$.payload'), NULL), '{}') AS payload,
    r.backfill_id,
    r.lane,
    r.released_at,
    r.released_by,
    r.concurrency_key,
    r.applied_override,
    CASE
        WHEN r.attempt > 1
            THEN coalesce((SELECT min(a.started_at) FROM attempts AS a WHERE a.run_id = r.id), r.started_at)
        ELSE r.started_at
    END AS first_started_at
FROM runs AS r
LEFT JOIN schedules AS s ON s.id = r.schedule_id
LEFT JOIN revisions AS v ON v.schedule_id = r.schedule_id AND v.revision = r.revision
LEFT JOIN run_payloads AS p ON p.run_id = r.id;

CREATE VIEW schedule_records AS
SELECT
    s.id, s.namespace, s.name, s.app, s.definition, s.revision, s.fingerprint, s.field_overrides, s.paused_by,
    s.pause_note, s.paused_until, s.error, s.created_at, s.changed_at, c.state, c.format, c.next_run_at,
    c.planned_until, c.runs_planned, c.moved_tick, c.moved_due_at, c.skip_until, c.skip_by, c.skip_note,
    c.last_skip_id, c.prior_revision, c.changed_at AS edited_at, c.tick_overrides
FROM schedules AS s
JOIN cursors AS c ON c.schedule_id = s.id;

-- What a definition can be found by.
CREATE VIEW schedule_search_rows AS
SELECT
    s.namespace,
    s.name,
    s.id AS schedule_id,
    s.app,
    coalesce(CAST(json_extract(s.definition, '$.queue') AS TEXT), 'default') AS queue,
    char(10) || s.name || char(10)
        || coalesce(
            coalesce(
                CAST(json_extract(s.definition, '$.target.task') AS TEXT),
                CAST(json_extract(s.definition, '$.target.command.program') AS TEXT)
            ) || char(10),
            ''
        )
        || coalesce(
            (
                SELECT group_concat(t.value || char(10), '')
                FROM json_each(s.definition, '$.tags') AS t
                WHERE json_type(s.definition, '$.tags') = 'array'
            ),
            ''
        ) AS search_text
FROM schedules AS s;

CREATE TRIGGER schedule_searchable AFTER INSERT ON schedules
BEGIN
    INSERT OR REPLACE INTO schedule_search SELECT * FROM schedule_search_rows WHERE schedule_id = NEW.id;
END;

CREATE TRIGGER schedule_searchable_again AFTER UPDATE OF namespace, name, app, definition ON schedules
WHEN NEW.definition IS NOT OLD.definition OR NEW.app IS NOT OLD.app OR NEW.name <> OLD.name
    OR NEW.namespace <> OLD.namespace
BEGIN
    DELETE FROM schedule_search WHERE namespace = OLD.namespace AND name = OLD.name;
    INSERT OR REPLACE INTO schedule_search SELECT * FROM schedule_search_rows WHERE schedule_id = NEW.id;
END;

-- A backoff has a `max` now, and an override `created_at`. The definitions mean what they did, so no revision is made:
-- the trigger takes an update that changes the revision as well for the store's own.
UPDATE schedules
SET revision = -revision,
    definition = json_remove(
        json_set(definition, '$.backoff.max', json_extract(definition, '$.backoff.most')), '$.backoff.most'
    )
WHERE json_valid(definition) AND json_type(definition, '$.backoff.most') IS NOT NULL;
UPDATE schedules SET revision = -revision WHERE revision < 0;
UPDATE schedules
SET field_overrides = json_remove(
    json_set(field_overrides, '$.backoff.max', json_extract(field_overrides, '$.backoff.most')), '$.backoff.most'
)
WHERE json_valid(field_overrides) AND json_type(field_overrides, '$.backoff.most') IS NOT NULL;
UPDATE revisions
SET definition = json_remove(
    json_set(definition, '$.backoff.max', json_extract(definition, '$.backoff.most')), '$.backoff.most'
)
WHERE json_valid(definition) AND json_type(definition, '$.backoff.most') IS NOT NULL;
UPDATE cursors
SET tick_overrides = (
    SELECT json_group_array(
        json(iif(
            json_type(o.value, '$.made_at') IS NULL,
            o.value,
            json_remove(json_set(o.value, '$.created_at', json_extract(o.value, '$.made_at')), '$.made_at')
        ))
    )
    FROM json_each(cursors.tick_overrides) AS o
)
WHERE json_valid(tick_overrides) AND json_type(tick_overrides) = 'array' AND json_array_length(tick_overrides) > 0
    AND NOT EXISTS (SELECT 1 FROM json_each(cursors.tick_overrides) AS o WHERE o.type <> 'object');
UPDATE runs
SET applied_override = json_remove(
    json_set(applied_override, '$.created_at', json_extract(applied_override, '$.made_at')), '$.made_at'
)
WHERE json_valid(applied_override) AND json_type(applied_override, '$.made_at') IS NOT NULL;
