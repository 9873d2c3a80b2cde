-- Pings of other systems.

-- name: ping
INSERT INTO pings (schedule_id, at) VALUES (:schedule_id, :at) ON CONFLICT DO NOTHING;

-- name: trim_pings
-- The newest so many of a schedule stay.
DELETE FROM pings
WHERE schedule_id = :schedule_id AND at <= (
    SELECT at FROM pings WHERE schedule_id = :schedule_id ORDER BY at DESC LIMIT 1 OFFSET :maximum
);

-- name: list_pings
SELECT at
FROM pings
WHERE schedule_id = :schedule_id AND at >= :first AND at <= :last AND (:after IS NULL OR at > :after)
ORDER BY at
LIMIT :limit;

-- name: prune_pings
DELETE FROM pings
WHERE (schedule_id, at) IN (SELECT schedule_id, at FROM pings WHERE at < :cutoff ORDER BY at LIMIT :limit);
