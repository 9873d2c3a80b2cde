-- min_compatible: 1
-- Schedules in memory: workers compute their ticks, so planners must not read their cursors.

ALTER TABLE cursors ADD COLUMN in_memory INTEGER NOT NULL DEFAULT 0;
CREATE INDEX cursors_in_memory_idx ON cursors (schedule_id) WHERE in_memory;
-- In place of cursors_unplanned_idx, which older code uses and which has the cursors in memory too. A condition of its own
-- form, so that no statement of this code uses the old index.
CREATE INDEX cursors_never_planned_idx ON cursors (schedule_id)
    WHERE next_run_at IS NULL AND state || '' = 'active' AND NOT in_memory;

-- After the cursor was inserted or revised, as the definition is then written.
CREATE TRIGGER cursors_mark_in_memory_insert AFTER INSERT ON cursors
BEGIN
    UPDATE cursors
    SET in_memory = EXISTS (
        SELECT 1 FROM schedules AS s
        WHERE s.id = NEW.schedule_id AND json_valid(s.definition) AND json_type(s.definition, '$.durable') = 'false'
    )
    WHERE schedule_id = NEW.schedule_id;
END;
CREATE TRIGGER cursors_mark_in_memory_update AFTER UPDATE OF format ON cursors
BEGIN
    UPDATE cursors
    SET in_memory = EXISTS (
        SELECT 1 FROM schedules AS s
        WHERE s.id = NEW.schedule_id AND json_valid(s.definition) AND json_type(s.definition, '$.durable') = 'false'
    )
    WHERE schedule_id = NEW.schedule_id;
END;
