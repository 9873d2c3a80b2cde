-- Calendars: their definitions, their closed days, and the schedules that use them.

-- name: list_calendars
SELECT name, definition, closed, source, revision, created_at, changed_at, changed_by
FROM calendars
WHERE namespace = :namespace AND name > :after AND name = coalesce(:name, name)
ORDER BY name
LIMIT :limit;

-- name: calendar_contents
SELECT name, iif(name IN (SELECT value FROM json_each(:names)), closed, NULL)
FROM calendars
WHERE namespace = :namespace;

-- name: put_calendar
INSERT INTO calendars (namespace, name, definition, closed, source, revision, created_at, changed_at, changed_by)
VALUES (:namespace, :name, :definition, :closed, :source, 1, :now, :now, :actor)
ON CONFLICT (namespace, name) DO UPDATE
SET definition = excluded.definition,
    closed = excluded.closed,
    source = excluded.source,
    revision = calendars.revision + 1,
    changed_at = excluded.changed_at,
    changed_by = excluded.changed_by
RETURNING name, definition, closed, source, revision, created_at, changed_at, changed_by;

-- name: delete_calendar
DELETE FROM calendars WHERE namespace = :namespace AND name = :name RETURNING revision;

-- name: schedules_with_calendar
SELECT * FROM schedule_details AS s
WHERE s.namespace = :namespace
    AND s.name > :after
    AND json_type(s.definition, '$.calendars') = 'array'
    AND EXISTS (SELECT 1 FROM json_each(s.definition, '$.calendars') AS c WHERE c.value = :name)
    AND s.state <> 'deleted'
ORDER BY s.name
LIMIT :limit;
