-- min_compatible: 5
-- Which zone rules the store goes by, and by which of them each cursor was computed.

CREATE TABLE tickbird.zone_data (
    generation integer PRIMARY KEY,
    version text NOT NULL,
    digest text NOT NULL,
    adopted_at timestamptz NOT NULL,
    adopted_by text NOT NULL,
    -- When every cursor had been computed anew.
    followed_at timestamptz
);

-- Null where all is in UTC. A planner looks at cursors of its own generation, and of older ones to compute them anew.
ALTER TABLE tickbird.cursors ADD COLUMN zone_data integer;

-- What a worker does not do at present, and why.
ALTER TABLE tickbird.workers ADD COLUMN held text NOT NULL DEFAULT '';

CREATE FUNCTION tickbird.zone_generation(definition jsonb) RETURNS integer
LANGUAGE sql STABLE
RETURN CASE
    WHEN jsonb_path_exists(definition, 'strict $.trigger.**.tz ? (@ <> "UTC")', '{}', true)
        THEN coalesce((SELECT max(generation) FROM tickbird.zone_data), 0)
END;

UPDATE tickbird.cursors AS c
SET zone_data = 0
FROM tickbird.schedules AS s
WHERE s.id = c.schedule_id AND tickbird.zone_generation(s.definition) IS NOT NULL;

CREATE OR REPLACE FUNCTION tickbird.schedule_inserted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO tickbird.cursors (schedule_id, revision, format, zone_data)
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
        zone_data = tickbird.zone_generation(NEW.definition),
        prior_revision = coalesce(prior_revision, OLD.revision),
        changed_at = NEW.changed_at,
        next_run_at = NEW.changed_at
    WHERE schedule_id = NEW.id;
    PERFORM pg_notify('tickbird', '');
    RETURN NEW;
END $$;
