-- min_compatible: 1
-- Schedules in memory: workers compute their ticks, so planners must not read their cursors.

ALTER TABLE tickbird.cursors ADD COLUMN in_memory boolean NOT NULL DEFAULT false;
CREATE INDEX cursors_in_memory_idx ON tickbird.cursors (schedule_id) INCLUDE (revision) WHERE in_memory;
-- In place of cursors_unplanned_idx, which older code uses and which has the cursors in memory too. A condition of its own
-- form, so that no statement of this code uses the old index.
CREATE INDEX cursors_never_planned_idx ON tickbird.cursors (schedule_id)
    WHERE next_run_at IS NULL AND state || '' = 'active' AND NOT in_memory;

CREATE FUNCTION tickbird.mark_in_memory() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE tickbird.cursors
    SET in_memory = coalesce(NEW.definition -> 'durable' = 'false', false)
    WHERE schedule_id = NEW.id;
    RETURN NULL;
END $$;
CREATE TRIGGER schedules_mark_in_memory_insert AFTER INSERT ON tickbird.schedules
    FOR EACH ROW WHEN (NEW.definition -> 'durable' = 'false') EXECUTE FUNCTION tickbird.mark_in_memory();
CREATE TRIGGER schedules_mark_in_memory_update AFTER UPDATE OF definition ON tickbird.schedules
    FOR EACH ROW WHEN (NEW.definition -> 'durable' IS DISTINCT FROM OLD.definition -> 'durable')
    EXECUTE FUNCTION tickbird.mark_in_memory();
