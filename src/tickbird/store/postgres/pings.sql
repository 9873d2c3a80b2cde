-- Pings of other systems.

-- name: ping
WITH given AS (SELECT coalesce(%(at)s::timestamptz, %(now)s::timestamptz, statement_timestamp()) AS at),
added AS (
    INSERT INTO tickbird.pings (schedule_id, at) SELECT %(schedule_id)s, at FROM given ON CONFLICT DO NOTHING
)
SELECT at FROM given;

-- name: trim_pings
-- The newest so many of a schedule stay.
DELETE FROM tickbird.pings
WHERE schedule_id = %(schedule_id)s AND at <= (
    SELECT at FROM tickbird.pings WHERE schedule_id = %(schedule_id)s ORDER BY at DESC LIMIT 1 OFFSET %(maximum)s
);

-- name: list_pings
SELECT at
FROM tickbird.pings
WHERE schedule_id = %(schedule_id)s AND at >= %(first)s AND at <= %(last)s
    AND (%(after)s::timestamptz IS NULL OR at > %(after)s)
ORDER BY at
LIMIT %(limit)s;

-- name: prune_pings
DELETE FROM tickbird.pings
WHERE (schedule_id, at) IN (
    SELECT schedule_id, at
    FROM tickbird.pings
    WHERE at < coalesce(%(now)s::timestamptz, statement_timestamp()) - make_interval(secs => %(older_than)s)
    ORDER BY at
    LIMIT %(limit)s
);
