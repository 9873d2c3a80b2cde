-- Pages of events: at most `maximum` rows of the log are read. The last of these is returned even if it does not match, so
-- that the next page can start after it.

-- fragment: log_columns
l.position, l.event, l.topic, l.key, l.version, l.partition

-- fragment: event_filter
(%(topics)s::text[] IS NULL OR '.' || l.topic ~ ANY(%(topics)s::text[]))
    AND (%(partition)s::smallint IS NULL OR l.partition = %(partition)s::smallint)

-- fragment: before
coalesce(%(before)s::bigint, 9223372036854775807)

-- fragment: version
-- Versions follow positions, so that a page starts in the index of versions.
(
    SELECT b.version FROM tickbird.event_log AS b
    WHERE b.namespace = %(namespace)s AND b.key = %(key)s AND b.position = %(bound)s::bigint
)

-- fragment: event_page
SELECT
    s.position, e.event_id, s.topic, e.type, s.key, s.version, s.partition, e.published_at, e.run_id, e.transaction_id, e.ordinal,
    e.count, s.place, s.wanted
FROM (SELECT * FROM seen WHERE wanted OR place = %(maximum)s ORDER BY place LIMIT %(limit)s) AS s
JOIN tickbird.events AS e ON e.id = s.event
ORDER BY s.place

-- name: find_events
WITH seen AS (
    SELECT {log_columns}, row_number() OVER (ORDER BY l.position DESC) AS place, {event_filter} AS wanted
    FROM tickbird.event_log AS l
    WHERE l.namespace = %(namespace)s AND l.position < {before}
    ORDER BY l.position DESC
    LIMIT %(maximum)s
)
{event_page};

-- name: find_events_after
WITH seen AS (
    SELECT {log_columns}, row_number() OVER (ORDER BY l.position) AS place, {event_filter} AS wanted
    FROM tickbird.event_log AS l
    WHERE l.namespace = %(namespace)s AND l.position > %(after)s::bigint
    ORDER BY l.position
    LIMIT %(maximum)s
)
{event_page};

-- name: find_events_of
WITH seen AS (
    SELECT {log_columns}, row_number() OVER (ORDER BY l.version DESC) AS place, {event_filter} AS wanted
    FROM tickbird.event_log AS l
    WHERE l.namespace = %(namespace)s AND l.key = %(key)s AND l.position < {before}
        AND l.version < coalesce({version}, 9223372036854775807)
    ORDER BY l.version DESC
    LIMIT %(maximum)s
)
{event_page};

-- name: find_events_of_after
WITH seen AS (
    SELECT {log_columns}, row_number() OVER (ORDER BY l.version) AS place, {event_filter} AS wanted
    FROM tickbird.event_log AS l
    WHERE l.namespace = %(namespace)s AND l.key = %(key)s AND l.position > %(after)s::bigint
        AND l.version > coalesce({version}, 0)
    ORDER BY l.version
    LIMIT %(maximum)s
)
{event_page};
