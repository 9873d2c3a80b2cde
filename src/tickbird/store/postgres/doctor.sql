-- Queries of `doctor`. They only read, one statement at a time: a missing permission fails only its own check.

-- name: relax_planner
-- The following statements read whole tables and statistics, so the server may choose any plan until the end of the
-- transaction, in which nothing is written.
SELECT
    set_config('transaction_read_only', 'on', true),
    set_config('enable_seqscan', 'on', true),
    set_config('enable_bitmapscan', 'on', true),
    set_config('plan_cache_mode', 'auto', true);

-- name: examine_server
SELECT
    current_setting('server_version_num')::integer AS version,
    split_part(current_setting('server_version'), ' ', 1) AS words,
    current_user::text AS role,
    current_database()::text AS database,
    pg_is_in_recovery() AS standby,
    pg_has_role(current_user, 'pg_read_all_stats', 'USAGE') AS sees_all,
    age((SELECT datfrozenxid FROM pg_catalog.pg_database WHERE datname = current_database())) AS xid_age,
    (
        SELECT count(*)::integer FROM pg_catalog.pg_stat_activity WHERE coalesce(backend_type, '') IN ('client backend', '')
    ) AS connections;

-- name: examine_settings
SELECT name, setting FROM pg_catalog.pg_settings WHERE name = ANY(%(names)s::text[]);

-- name: examine_rights
-- Tables on which a worker needs more rights than this login has; first the schema, if the login may not use it.
SELECT name
FROM (
    SELECT 0 AS place, 'the schema itself' AS name
    FROM pg_catalog.pg_namespace AS n
    WHERE n.nspname = 'tickbird' AND NOT has_schema_privilege(n.oid, 'USAGE')
    UNION ALL
    SELECT 1, c.relname::text
    FROM pg_catalog.pg_class AS c
    JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
    WHERE n.nspname = 'tickbird'
        AND CASE
            WHEN c.relkind = 'r' THEN NOT (
                has_table_privilege(c.oid, 'SELECT')
                AND has_table_privilege(c.oid, 'INSERT')
                AND has_table_privilege(c.oid, 'UPDATE')
                AND has_table_privilege(c.oid, 'DELETE')
            )
            WHEN c.relkind = 'S' AND c.relname = 'ids' THEN NOT has_sequence_privilege(c.oid, 'USAGE')
            ELSE false
        END
) AS lacking
ORDER BY place, name;

-- name: examine_replicas
SELECT coalesce(application_name, ''), coalesce(sync_state, '') FROM pg_catalog.pg_stat_replication ORDER BY 1;

-- name: examine_slots
SELECT
    slot_name::text,
    coalesce(
        pg_wal_lsn_diff(
            CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_lsn() END, restart_lsn
        ),
        0
    )::bigint
FROM pg_catalog.pg_replication_slots
WHERE NOT active
ORDER BY 1;

-- name: examine_sessions
-- The sessions with the oldest open transactions in this database.
SELECT
    a.pid,
    coalesce(a.usename::text, '') AS role,
    coalesce(a.application_name, '') AS program,
    coalesce(a.state, '') AS state,
    greatest(0, extract(epoch FROM clock_timestamp() - a.xact_start))::float8 AS open_for,
    greatest(0, extract(epoch FROM clock_timestamp() - coalesce(a.state_change, a.xact_start)))::float8 AS idle_for,
    EXISTS (
        SELECT FROM pg_catalog.pg_locks AS l
        JOIN pg_catalog.pg_class AS c ON c.oid = l.relation
        JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
        WHERE l.pid = a.pid AND l.granted AND n.nspname = 'tickbird'
    ) AS locks
FROM pg_catalog.pg_stat_activity AS a
WHERE a.datname = current_database()
    AND a.pid <> pg_backend_pid()
    AND a.backend_type = 'client backend'
    AND a.xact_start IS NOT NULL
ORDER BY a.xact_start
LIMIT 20;

-- name: examine_prepared
SELECT gid::text, greatest(0, extract(epoch FROM clock_timestamp() - prepared))::float8
FROM pg_catalog.pg_prepared_xacts
WHERE database = current_database()
ORDER BY prepared
LIMIT 20;

-- name: examine_tables
SELECT
    c.relname::text AS name,
    coalesce(s.n_live_tup, 0)::bigint AS live,
    coalesce(s.n_dead_tup, 0)::bigint AS dead,
    NOT EXISTS (
        SELECT FROM pg_options_to_table(c.reloptions) AS o
        WHERE o.option_name = 'autovacuum_enabled' AND NOT o.option_value::boolean
    ) AS autovacuum,
    greatest(s.last_vacuum, s.last_autovacuum) AS vacuumed_at,
    pg_table_size(c.oid) AS size,
    pg_indexes_size(c.oid) AS indexes
FROM pg_catalog.pg_class AS c
JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
LEFT JOIN pg_catalog.pg_stat_all_tables AS s ON s.relid = c.oid
WHERE n.nspname = 'tickbird' AND c.relkind = 'r'
ORDER BY 1;

-- name: examine_planners
SELECT count(*)::integer
FROM tickbird.workers
WHERE live_until > coalesce(%(now)s::timestamptz, statement_timestamp())
    AND kind IN ('worker', 'planner')
    AND NOT draining;

-- name: examine_parked
SELECT s.name, coalesce(s.error, '')
FROM tickbird.cursors AS c
JOIN tickbird.schedules AS s ON s.id = c.schedule_id
WHERE c.state = 'parked' AND s.namespace = %(namespace)s
ORDER BY s.name
LIMIT %(limit)s;

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

-- fragment: requirement
jsonb_build_object('v', s.definition -> 'v', 'target', s.definition -> 'target', 'trigger', s.definition -> 'trigger')

-- name: examine_refused
SELECT s.name, coalesce(s.error, 'no error was recorded'), {requirement}
FROM tickbird.cursors AS c
JOIN tickbird.schedules AS s ON s.id = c.schedule_id
WHERE c.state = 'active' AND (c.refused_at IS NOT NULL OR NOT {readable}) AND s.namespace = %(namespace)s
ORDER BY s.name
LIMIT %(limit)s;

-- name: examine_scheduled
SELECT
    coalesce(s.definition ->> 'queue', 'default') AS queue,
    s.definition -> 'target' AS target,
    count(*)::integer,
    min(c.next_run_at)
FROM tickbird.cursors AS c
JOIN tickbird.schedules AS s ON s.id = c.schedule_id
WHERE c.state = 'active' AND s.namespace = %(namespace)s
GROUP BY 1, 2
ORDER BY 4, 1, 2
LIMIT %(limit)s;

-- fragment: has_schedule
-- A cursor without a schedule cannot be planned.
EXISTS (SELECT FROM tickbird.schedules AS s WHERE s.id = schedule_id)

-- name: examine_orphans
SELECT schedule_id FROM tickbird.cursors WHERE NOT {has_schedule} ORDER BY schedule_id LIMIT %(limit)s;

-- name: examine_cursorless
SELECT s.name FROM tickbird.schedules AS s
WHERE s.namespace = %(namespace)s
    AND NOT EXISTS (SELECT FROM tickbird.cursors AS c WHERE c.schedule_id = s.id)
ORDER BY s.name
LIMIT %(limit)s;

-- name: examine_due
WITH due AS MATERIALIZED (
    SELECT next_run_at FROM tickbird.cursors
    WHERE next_run_at <= coalesce(%(now)s::timestamptz, statement_timestamp()) AND state IN ('active', 'paused')
        AND refused_at IS NULL AND {readable} AND {has_schedule}
    ORDER BY next_run_at
    LIMIT %(limit)s
)
SELECT
    (SELECT count(*)::integer FROM due),
    (SELECT min(next_run_at) FROM due),
    (
        SELECT count(*)::integer
        FROM (
            SELECT FROM tickbird.cursors
            WHERE next_run_at IS NULL AND state || '' = 'active' AND NOT in_memory AND refused_at IS NULL AND {readable}
                AND {has_schedule}
            LIMIT %(limit)s
        ) AS fresh
    );

-- name: examine_unplanned
-- Due schedules that may need a plug-in or a newer format; one without a next pass is due since it was written.
SELECT s.namespace, s.name, coalesce(c.next_run_at, s.changed_at) AS since, {requirement}
FROM tickbird.cursors AS c
JOIN tickbird.schedules AS s ON s.id = c.schedule_id
WHERE c.format >= %(custom)s AND c.refused_at IS NULL AND (
    c.next_run_at <= coalesce(%(now)s::timestamptz, statement_timestamp()) AND c.state IN ('active', 'paused')
    OR c.next_run_at IS NULL AND c.state || '' = 'active' AND NOT c.in_memory
)
ORDER BY since
LIMIT %(limit)s;

-- name: examine_expired
SELECT count(*)::integer, min(lease_until)
FROM (
    SELECT lease_until FROM tickbird.runs
    WHERE status = 'running' AND lease_until < coalesce(%(now)s::timestamptz, statement_timestamp())
    ORDER BY lease_until
    LIMIT %(limit)s
) AS r;

-- name: examine_calendars
-- Schedules whose stored days differ from the calendars that they use.
SELECT s.name, k.name
FROM tickbird.schedules AS s
JOIN tickbird.cursors AS c ON c.schedule_id = s.id
CROSS JOIN LATERAL jsonb_array_elements_text(
    CASE WHEN jsonb_typeof(s.definition -> 'calendars') = 'array' THEN s.definition -> 'calendars' ELSE '[]' END
) AS n(name)
JOIN tickbird.calendars AS k ON k.namespace = s.namespace AND k.name = n.name
WHERE s.namespace = %(namespace)s
    AND s.definition ? 'calendars'
    AND c.state NOT IN ('deleted', 'ended', 'parked')
    AND s.definition -> 'closed' -> k.name IS DISTINCT FROM k.closed
ORDER BY k.name, s.name
LIMIT %(limit)s;

-- name: examine_failing
-- For each schedule that failed recently: failures since its last success, in its newest 100 succeeded or failed runs.
SELECT s.name, count(*)::integer, (array_agg(coalesce(f.error, '') ORDER BY f.id DESC))[1]
FROM (
    SELECT DISTINCT r.schedule_id
    FROM (
        SELECT schedule_id, status FROM tickbird.runs
        WHERE status IN ('succeeded', 'failed', 'cancelled')
        ORDER BY finished_at DESC
        LIMIT %(limit)s
    ) AS r
    WHERE r.status = 'failed' AND r.schedule_id IS NOT NULL
) AS lately
JOIN tickbird.schedules AS s ON s.id = lately.schedule_id
JOIN tickbird.cursors AS c ON c.schedule_id = s.id AND c.state <> 'deleted'
CROSS JOIN LATERAL (
    SELECT told.*, count(*) FILTER (WHERE told.status = 'succeeded') OVER (ORDER BY told.id DESC) AS good
    FROM (
        SELECT r.id, r.status, r.error FROM tickbird.runs AS r
        WHERE r.schedule_id = s.id AND r.status IN ('succeeded', 'failed')
        ORDER BY r.id DESC
        LIMIT 100
    ) AS told
) AS f
WHERE s.namespace = %(namespace)s AND f.good = 0
GROUP BY s.name
HAVING count(*) >= %(streak)s
ORDER BY s.name;

-- name: examine_dependencies
-- Active schedules that depend on an inactive one, or on a shadow, which never succeeds.
SELECT d.name, e.value ->> 'after', o.state
FROM tickbird.schedules AS d
JOIN tickbird.cursors AS c ON c.schedule_id = d.id AND c.state = 'active'
CROSS JOIN LATERAL jsonb_array_elements(
    CASE jsonb_typeof(d.definition -> 'depends_on') WHEN 'array' THEN d.definition -> 'depends_on' ELSE '[]' END
) AS e(value)
LEFT JOIN LATERAL (
    SELECT CASE WHEN oc.state = 'active' AND os.definition @> '{"shadow": true}' THEN 'a shadow' ELSE oc.state END AS state
    FROM tickbird.schedules AS os
    JOIN tickbird.cursors AS oc ON oc.schedule_id = os.id
    WHERE os.namespace = d.namespace AND os.name = e.value ->> 'after' AND oc.state <> 'deleted'
) AS o ON true
WHERE d.namespace = %(namespace)s AND d.definition ? 'depends_on'
    AND NOT d.definition @> '{"shadow": true}' AND o.state IS DISTINCT FROM 'active'
ORDER BY 1, 2
LIMIT %(limit)s;

-- name: examine_held
SELECT count(*)::integer, count(DISTINCT r.schedule_id)::integer
FROM tickbird.runs AS r
WHERE r.status = 'waiting' AND r.lane = 2 AND r.attempt = 0 AND r.namespace = %(namespace)s;

-- name: examine_undecided
SELECT count(*)::integer FROM tickbird.runs
WHERE status = 'waiting' AND lane = 2 AND attempt > 0 AND namespace = %(namespace)s;

-- name: examine_events
-- The oldest event without a position, and the oldest one that retention has kept, if it has removed any.
SELECT
    (
        SELECT e.published_at
        FROM tickbird.events_unstamped AS u
        JOIN tickbird.events AS e ON e.id = u.event
        WHERE u.namespace = %(namespace)s
        ORDER BY u.xid LIMIT 1
    ),
    (
        SELECT l.stamped_at
        FROM tickbird.event_streams AS s
        JOIN tickbird.event_log AS l ON l.namespace = s.namespace AND l.position > s.pruned_until
        WHERE s.namespace = %(namespace)s AND s.pruned_until > 0
        ORDER BY l.position LIMIT 1
    );

-- name: examine_groups
SELECT
    g.name,
    g.app,
    (
        SELECT d.declared_at FROM tickbird.consumer_groups AS d
        WHERE d.namespace = g.namespace AND d.name = coalesce(g.scratch_of, g.name)
    ) AS declared_at,
    g.state,
    coalesce(g.reason, '') AS reason,
    (
        SELECT min(unread.stamped_at)
        FROM tickbird.consumer_offsets AS o
        CROSS JOIN LATERAL (
            SELECT l.stamped_at FROM tickbird.event_log AS l
            WHERE l.namespace = o.namespace AND l.partition = o.partition AND l.position > o.position
            ORDER BY l.position LIMIT 1
        ) AS unread
        WHERE o.namespace = g.namespace AND o.consumer_group = g.name
    ) AS oldest_at,
    (
        SELECT count(*)::integer FROM (
            SELECT FROM tickbird.dead_letters AS d
            WHERE d.namespace = g.namespace AND d.consumer_group = g.name AND d.state = 'failed'
            LIMIT %(limit)s
        ) AS failed
    ) AS failed,
    paused.partitions AS paused,
    coalesce(paused.error, '') AS error
FROM tickbird.consumer_groups AS g
CROSS JOIN LATERAL (
    SELECT count(*)::integer AS partitions, min(o.error) AS error
    FROM tickbird.consumer_offsets AS o
    WHERE o.namespace = g.namespace AND o.consumer_group = g.name
        AND o.paused_until > coalesce(%(now)s::timestamptz, statement_timestamp())
) AS paused
WHERE g.namespace = %(namespace)s
ORDER BY g.name
LIMIT %(limit)s;

-- name: listen_probe
LISTEN tickbird_doctor;

-- name: send_probe
SELECT pg_notify('tickbird_doctor', %(text)s);
