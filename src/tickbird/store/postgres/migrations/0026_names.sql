-- min_compatible: 26
-- Tables and columns get the words of the field. Code that knows the old ones ends.

ALTER TABLE tickbird.answers RENAME TO http_responses;
ALTER INDEX tickbird.answers_by_age RENAME TO http_responses_by_age;
ALTER TABLE tickbird.awaits RENAME TO dependency_waits;
ALTER INDEX tickbird.awaits_of_schedule RENAME TO dependency_waits_of_schedule;
ALTER INDEX tickbird.awaits_until RENAME TO dependency_waits_until;
ALTER TABLE tickbird.limits RENAME TO concurrency_limits;
ALTER TABLE tickbird.concurrency_limits RENAME COLUMN most TO max_running;
ALTER TABLE tickbird.concurrency_limits RENAME CONSTRAINT limit_most TO limit_max_running;
ALTER TABLE tickbird.rates RENAME TO queue_rates;
ALTER TABLE tickbird.pruned RENAME TO prune_horizons;

ALTER TABLE tickbird.runs RENAME COLUMN behind TO deferred_until;
ALTER INDEX tickbird.runs_behind RENAME TO runs_deferred;
ALTER TABLE tickbird.runs RENAME COLUMN made_in TO created_xid;
ALTER TABLE tickbird.runs RENAME COLUMN overridden TO applied_override;
ALTER VIEW tickbird.run_details RENAME COLUMN overridden TO applied_override;

ALTER TABLE tickbird.cursors RENAME COLUMN line_until TO deferred_until;
ALTER TABLE tickbird.cursors RENAME COLUMN zone_data TO zone_generation;
ALTER TABLE tickbird.schedules RENAME COLUMN overrides TO field_overrides;
ALTER VIEW tickbird.schedule_details RENAME COLUMN overrides TO field_overrides;

ALTER TABLE tickbird.workers RENAME COLUMN held TO standby_reason;
ALTER TABLE tickbird.workers RENAME COLUMN vitals TO health;
ALTER TABLE tickbird.workers RENAME COLUMN seen_at TO last_heartbeat_at;

CREATE OR REPLACE FUNCTION tickbird.schedule_inserted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO tickbird.cursors (schedule_id, revision, format, zone_generation)
    VALUES (
        NEW.id, NEW.revision, tickbird.definition_format(NEW.definition), tickbird.zone_generation(NEW.definition)
    );
    INSERT INTO tickbird.revisions (schedule_id, revision, definition, fingerprint, action, actor)
    VALUES (NEW.id, NEW.revision, NEW.definition, NEW.fingerprint, 'create', session_user);
    PERFORM pg_notify('tickbird', '');
    RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION tickbird.schedule_edited() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.revision := OLD.revision + 1;
    NEW.changed_at := clock_timestamp();
    INSERT INTO tickbird.revisions (schedule_id, revision, definition, fingerprint, action, actor, at)
    VALUES (NEW.id, NEW.revision, NEW.definition, NEW.fingerprint, 'update', session_user, NEW.changed_at);
    UPDATE tickbird.cursors
    SET revision = NEW.revision,
        format = tickbird.definition_format(NEW.definition),
        zone_generation = tickbird.zone_generation(NEW.definition),
        prior_revision = coalesce(prior_revision, OLD.revision),
        changed_at = NEW.changed_at,
        next_run_at = NEW.changed_at
    WHERE schedule_id = NEW.id;
    PERFORM pg_notify('tickbird', '');
    RETURN NEW;
END $$;

ALTER TABLE tickbird.listed RENAME TO schedule_search;
ALTER TABLE tickbird.schedule_search RENAME COLUMN words TO search_text;
ALTER FUNCTION tickbird.schedule_words(text, jsonb) RENAME TO schedule_search_text;
CREATE OR REPLACE FUNCTION tickbird.schedule_listed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND (NEW.namespace, NEW.name) IS DISTINCT FROM (OLD.namespace, OLD.name) THEN
        DELETE FROM tickbird.schedule_search AS s WHERE s.namespace = OLD.namespace AND s.name = OLD.name;
    END IF;
    INSERT INTO tickbird.schedule_search (namespace, name, schedule_id, app, queue, search_text)
    VALUES (
        NEW.namespace, NEW.name, NEW.id, NEW.app, coalesce(NEW.definition ->> 'queue', 'default'),
        tickbird.schedule_search_text(NEW.name, NEW.definition)
    )
    ON CONFLICT (namespace, name) DO UPDATE
    SET schedule_id = excluded.schedule_id, app = excluded.app, queue = excluded.queue,
        search_text = excluded.search_text;
    RETURN NULL;
END $$;
ALTER FUNCTION tickbird.schedule_listed() RENAME TO schedule_searchable;
ALTER TRIGGER schedule_listed ON tickbird.schedules RENAME TO schedule_searchable;
ALTER TRIGGER schedule_relisted ON tickbird.schedules RENAME TO schedule_searchable_again;

-- A backoff has a `max` now, and an override `created_at`. The definitions mean what they did, so no revision is made.
ALTER TABLE tickbird.schedules DISABLE TRIGGER schedule_edited;
UPDATE tickbird.schedules
SET definition = jsonb_set(definition #- '{backoff,most}', '{backoff,max}', definition #> '{backoff,most}')
WHERE definition #> '{backoff,most}' IS NOT NULL;
ALTER TABLE tickbird.schedules ENABLE TRIGGER schedule_edited;
UPDATE tickbird.schedules
SET field_overrides
    = jsonb_set(field_overrides #- '{backoff,most}', '{backoff,max}', field_overrides #> '{backoff,most}')
WHERE field_overrides #> '{backoff,most}' IS NOT NULL;
UPDATE tickbird.revisions
SET definition = jsonb_set(
    definition::jsonb #- '{backoff,most}', '{backoff,max}', definition::jsonb #> '{backoff,most}'
)::json
WHERE definition -> 'backoff' -> 'most' IS NOT NULL;
UPDATE tickbird.cursors
SET tick_overrides = (
    SELECT json_agg(
        CASE WHEN o.value ? 'made_at' THEN (o.value - 'made_at') || jsonb_build_object('created_at', o.value -> 'made_at')
        ELSE o.value END ORDER BY o.number
    )
    FROM jsonb_array_elements(tick_overrides::jsonb) WITH ORDINALITY AS o(value, number)
)
WHERE json_typeof(tick_overrides) = 'array' AND json_array_length(tick_overrides) > 0;
UPDATE tickbird.runs
SET applied_override = (
    (applied_override::jsonb - 'made_at') || jsonb_build_object('created_at', applied_override::jsonb -> 'made_at')
)::json
WHERE json_typeof(applied_override) = 'object' AND applied_override -> 'made_at' IS NOT NULL;
