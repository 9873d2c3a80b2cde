-- Time zone data: the store's version, and cursors that were computed with an older one.

-- fragment: readable
-- This process knows the format, and every custom trigger of the definition.
(
    (format <= %(format)s OR to_jsonb(format) <@ %(own_formats)s::jsonb) AND (
        format < %(custom)s OR (
            SELECT (
                jsonb_path_query_array(d.definition, '$.trigger.custom')
                || jsonb_path_query_array(d.definition, '$.trigger.any_of[*].custom')
            ) <@ %(triggers)s::jsonb
            FROM tickbird.schedules AS d WHERE d.id = schedule_id
        )
    )
)

-- name: list_zone_data
SELECT generation, version, digest, adopted_at, adopted_by, recomputed_at
FROM tickbird.zone_data
ORDER BY generation DESC
LIMIT %(limit)s;

-- name: adopt_zone_data
-- If two sessions adopt at once, one wins, and the other reads again.
INSERT INTO tickbird.zone_data (generation, version, digest, adopted_at, adopted_by)
VALUES (
    %(generation)s, %(version)s, %(digest)s, coalesce(%(now)s::timestamptz, statement_timestamp()), %(actor)s
)
ON CONFLICT (generation) DO NOTHING;

-- name: lock_other_zones
-- In the order of ids, and waiting for each: a planner that holds one never waits for another.
SELECT schedule_id, coalesce(%(now)s::timestamptz, statement_timestamp())
FROM tickbird.cursors
WHERE schedule_id > %(after)s AND zone_generation < %(zones)s AND {readable}
ORDER BY schedule_id
LIMIT %(limit)s
FOR UPDATE;

-- name: stamp_zones
UPDATE tickbird.cursors SET zone_generation = %(zones)s WHERE schedule_id = ANY(%(ids)s::bigint[]);

-- name: audit_zones
INSERT INTO tickbird.audit_log (created_at, actor, action, namespace, schedule_id, schedule, detail)
SELECT
    %(now)s, %(actor)s, 'zones', u.namespace, u.schedule_id, u.schedule, u.detail::jsonb
FROM unnest(%(namespaces)s::text[], %(ids)s::bigint[], %(schedules)s::text[], %(details)s::text[])
    AS u(namespace, schedule_id, schedule, detail);

-- name: end_recompute
UPDATE tickbird.zone_data
SET recomputed_at = coalesce(%(now)s::timestamptz, statement_timestamp())
WHERE generation = %(zones)s AND recomputed_at IS NULL;
