-- min_compatible: 15
-- Looking for schedules by a part of a name, tag or target, without reading every definition: one narrow row each, kept
-- by triggers, so that plain SQL and older code keep it too.

-- Words are name, target and tags, each between two line ends; what is no proper definition has its name alone.
CREATE TABLE listed (
    namespace TEXT NOT NULL,
    name TEXT NOT NULL,
    schedule_id INTEGER NOT NULL,
    app TEXT,
    queue TEXT NOT NULL,
    words TEXT NOT NULL,
    PRIMARY KEY (namespace, name)
) STRICT, WITHOUT ROWID;

-- What a definition says of it.
CREATE VIEW listing AS
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
        ) AS words
FROM schedules AS s;

CREATE TRIGGER schedule_listed AFTER INSERT ON schedules
BEGIN
    INSERT OR REPLACE INTO listed SELECT * FROM listing WHERE schedule_id = NEW.id;
END;

CREATE TRIGGER schedule_relisted AFTER UPDATE OF namespace, name, app, definition ON schedules
WHEN NEW.definition IS NOT OLD.definition OR NEW.app IS NOT OLD.app OR NEW.name <> OLD.name
    OR NEW.namespace <> OLD.namespace
BEGIN
    DELETE FROM listed WHERE namespace = OLD.namespace AND name = OLD.name;
    INSERT OR REPLACE INTO listed SELECT * FROM listing WHERE schedule_id = NEW.id;
END;

INSERT INTO listed SELECT * FROM listing;
