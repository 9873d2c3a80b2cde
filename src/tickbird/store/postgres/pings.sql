-- Pings of other systems.

-- name: ping
WITH given AS (SELECT coalesce(%(at)s::timestamptz, %(now)s::timestamptz, statement_timestamp()) AS pinged_at),
added AS (
    INSERT INTO tickbird.pings (schedule_id, pinged_at) SELECT %(schedule_id)s, pinged_at FROM given ON CONFLICT DO NOTHING
)
SELECT pinged_at FROM given;

-- name: trim_pings
-- Retains the newest pings of a schedule.
DELETE FROM tickbird.pings
WHERE schedule_id = %(schedule_id)s AND pinged_at <= (
    SELECT pinged_at FROM tickbird.pings WHERE schedule_id = %(schedule_id)s
    ORDER BY pinged_at DESC LIMIT 1 OFFSET %(maximum)s
);

-- name: list_pings
SELECT pinged_at
FROM tickbird.pings
WHERE schedule_id = %(schedule_id)s AND pinged_at >= %(first)s AND pinged_at <= %(last)s
    AND (%(after)s::timestamptz IS NULL OR pinged_at > %(after)s)
ORDER BY pinged_at
LIMIT %(limit)s;

-- name: prune_pings
DELETE FROM tickbird.pings
WHERE (schedule_id, pinged_at) IN (
    SELECT schedule_id, pinged_at
    FROM tickbird.pings
    WHERE pinged_at < coalesce(%(now)s::timestamptz, statement_timestamp()) - make_interval(secs => %(older_than)s)
    ORDER BY pinged_at
    LIMIT %(limit)s
);
