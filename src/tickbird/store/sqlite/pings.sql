-- Pings of other systems.

-- name: ping
INSERT INTO pings (schedule_id, pinged_at) VALUES (:schedule_id, :at) ON CONFLICT DO NOTHING;

-- name: trim_pings
-- Retains the newest pings of a schedule.
DELETE FROM pings
WHERE schedule_id = :schedule_id AND pinged_at <= (
    SELECT pinged_at FROM pings WHERE schedule_id = :schedule_id ORDER BY pinged_at DESC LIMIT 1 OFFSET :maximum
);

-- name: list_pings
SELECT pinged_at
FROM pings
WHERE schedule_id = :schedule_id AND pinged_at >= :first AND pinged_at <= :last AND (:after IS NULL OR pinged_at > :after)
ORDER BY pinged_at
LIMIT :limit;

-- name: prune_pings
DELETE FROM pings
WHERE (schedule_id, pinged_at) IN (
    SELECT schedule_id, pinged_at FROM pings WHERE pinged_at < :cutoff ORDER BY pinged_at LIMIT :limit
);
