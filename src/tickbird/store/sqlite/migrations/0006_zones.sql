-- min_compatible: 4
-- Which zone rules the store goes by, and by which of them each cursor was computed.

CREATE TABLE zone_data (
    generation INTEGER PRIMARY KEY,
    version TEXT NOT NULL,
    digest TEXT NOT NULL,
    adopted_at INTEGER NOT NULL,
    adopted_by TEXT NOT NULL,
    -- When every cursor had been computed anew.
    followed_at INTEGER
) STRICT;

-- Null where all is in UTC. A planner looks at cursors of its own generation, and of older ones to compute them anew.
ALTER TABLE cursors ADD COLUMN zone_data INTEGER;

-- What a worker does not do at present, and why.
ALTER TABLE workers ADD COLUMN held TEXT NOT NULL DEFAULT '';

UPDATE cursors SET zone_data = 0
WHERE schedule_id IN (
    SELECT s.id FROM schedules AS s
    WHERE EXISTS (SELECT 1 FROM json_tree(s.definition, '$.trigger') AS t WHERE t.key = 'tz' AND t.atom <> 'UTC')
);

-- Whatever wrote the definition wrote its format into the cursor as well.
CREATE TRIGGER cursor_inserted AFTER INSERT ON cursors
BEGIN
    UPDATE cursors
    SET zone_data = (
        SELECT coalesce((SELECT max(generation) FROM zone_data), 0)
        FROM schedules AS s
        WHERE s.id = NEW.schedule_id
            AND EXISTS (SELECT 1 FROM json_tree(s.definition, '$.trigger') AS t WHERE t.key = 'tz' AND t.atom <> 'UTC')
    )
    WHERE schedule_id = NEW.schedule_id;
END;

CREATE TRIGGER cursor_redefined AFTER UPDATE OF format ON cursors
BEGIN
    UPDATE cursors
    SET zone_data = (
        SELECT coalesce((SELECT max(generation) FROM zone_data), 0)
        FROM schedules AS s
        WHERE s.id = NEW.schedule_id
            AND EXISTS (SELECT 1 FROM json_tree(s.definition, '$.trigger') AS t WHERE t.key = 'tz' AND t.atom <> 'UTC')
    )
    WHERE schedule_id = NEW.schedule_id;
END;
