-- Calendars: their definitions, their closed days, and the schedules that use them.

-- name: list_calendars
SELECT name, definition, closed, source, revision, created_at, changed_at, changed_by
FROM tickbird.calendars
WHERE namespace = %(namespace)s AND name > %(after)s AND name = coalesce(%(name)s::text, name)
ORDER BY name
LIMIT %(limit)s::bigint;

-- name: calendar_contents
-- Locked, so that a later change of one of them sees the schedule that relies on it.
SELECT name, CASE WHEN name = ANY(%(names)s::text[]) THEN closed END
FROM tickbird.calendars
WHERE namespace = %(namespace)s
ORDER BY name
FOR SHARE;

-- name: put_calendar
INSERT INTO tickbird.calendars AS c
    (namespace, name, definition, closed, source, revision, created_at, changed_at, changed_by)
SELECT %(namespace)s, %(name)s, %(definition)s, %(closed)s, %(source)s, 1, clock.now, clock.now, %(actor)s
FROM (SELECT coalesce(%(now)s::timestamptz, statement_timestamp()) AS now) AS clock
ON CONFLICT (namespace, name) DO UPDATE
SET definition = excluded.definition,
    closed = excluded.closed,
    source = excluded.source,
    revision = c.revision + 1,
    changed_at = excluded.changed_at,
    changed_by = excluded.changed_by
RETURNING name, definition, closed, source, revision, created_at, changed_at, changed_by;

-- name: delete_calendar
DELETE FROM tickbird.calendars
WHERE namespace = %(namespace)s AND name = %(name)s
RETURNING coalesce(%(now)s::timestamptz, statement_timestamp()), revision;

-- name: schedules_with_calendar
SELECT * FROM tickbird.schedule_details
WHERE namespace = %(namespace)s
    AND name > %(after)s
    AND definition ? 'calendars'
    AND definition -> 'calendars' ? %(name)s
    AND state <> 'deleted'
ORDER BY name
LIMIT %(limit)s;
