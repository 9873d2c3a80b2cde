-- Time zone data: the store's version, and cursors that were computed with an older one.

-- fragment: readable
-- This process knows the format, and every custom trigger of the definition.
(
    (format <= :format OR format IN (SELECT value FROM json_each(:own_formats))) AND (
        format < :custom OR NOT EXISTS (
            SELECT 1 FROM schedules AS d
            WHERE d.id = schedule_id AND (
                -- NULL is not in an empty list, so triggers without a name are excluded first.
                json_extract(d.definition, '$.trigger.custom') IS NOT NULL
                AND json_extract(d.definition, '$.trigger.custom') NOT IN (SELECT value FROM json_each(:triggers))
                OR EXISTS (
                    SELECT 1 FROM json_each(d.definition, '$.trigger.any_of') AS m
                    WHERE m.type = 'object' AND json_extract(m.value, '$.custom') IS NOT NULL
                        AND json_extract(m.value, '$.custom') NOT IN (SELECT value FROM json_each(:triggers))
                )
            )
        )
    )
)

-- name: list_zone_data
SELECT generation, version, digest, adopted_at, adopted_by, recomputed_at
FROM zone_data
ORDER BY generation DESC
LIMIT :limit;

-- name: current_zones
SELECT coalesce(max(generation), 0) FROM zone_data;

-- name: adopt_zone_data
INSERT INTO zone_data (generation, version, digest, adopted_at, adopted_by)
VALUES (:generation, :version, :digest, :now, :actor);

-- name: other_zones
SELECT schedule_id
FROM cursors
WHERE schedule_id > :after AND zone_generation < :zones AND {readable}
ORDER BY schedule_id
LIMIT :limit;

-- name: stamp_zones
UPDATE cursors SET zone_generation = :zones WHERE schedule_id IN (SELECT value FROM json_each(:ids));

-- name: zones_of
SELECT zone_generation FROM cursors WHERE schedule_id = :id;

-- name: end_recompute
UPDATE zone_data SET recomputed_at = :now WHERE generation = :zones AND recomputed_at IS NULL;
