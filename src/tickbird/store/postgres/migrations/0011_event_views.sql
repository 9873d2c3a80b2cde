-- min_compatible: 1
-- Schedules and events with the columns of light-portal's tables. The views are read-only and show the namespace of plain SQL.

-- The interval of a trigger in one unit, and the instant from which it is counted. No row: the trigger is no interval, or
-- cannot be read.
CREATE FUNCTION tickbird.interval_of(trigger jsonb) RETURNS TABLE (unit text, amount bigint, start_ts timestamptz)
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    units CONSTANT jsonb := trigger -> 'every';
    zone CONSTANT text := coalesce(trigger ->> 'tz', 'UTC');
    anchor CONSTANT text := coalesce(trigger ->> 'anchor', CASE WHEN units ? 'weeks' THEN '1970-01-05' ELSE '1970-01-01' END);
    seconds_per_unit CONSTANT bigint := CASE WHEN units ? 'seconds' THEN 1 ELSE 60 END;
BEGIN
    IF jsonb_typeof(units) IS DISTINCT FROM 'object' OR units = '{}' THEN
        RETURN;
    END IF;
    IF (SELECT count(*) FROM jsonb_object_keys(units)) = 1 THEN
        SELECT upper(u.key), u.value::bigint INTO unit, amount FROM jsonb_each(units) AS u;
    ELSIF units ? 'months' THEN
        unit := 'MONTHS';
        amount := (units -> 'years')::bigint * 12 + (units -> 'months')::bigint;
    ELSE
        unit := CASE WHEN seconds_per_unit = 1 THEN 'SECONDS' ELSE 'MINUTES' END;
        amount := (
            coalesce((units -> 'hours')::bigint, 0) * 3600 + coalesce((units -> 'minutes')::bigint, 0) * 60
            + coalesce((units -> 'seconds')::bigint, 0)
        ) / seconds_per_unit;
    END IF;
    start_ts := CASE WHEN anchor LIKE '%Z' THEN anchor::timestamptz ELSE anchor::timestamp AT TIME ZONE zone END;
    RETURN NEXT;
EXCEPTION WHEN data_exception THEN
    -- Plain SQL can write such a definition; its schedule is parked.
    RETURN;
END $$;

CREATE VIEW tickbird.schedule_t AS
SELECT
    tickbird.derived_event_id(format('schedule %s/%s', s.namespace, s.name)) AS schedule_id,
    s.definition #>> '{target,event,tenant}' AS host_id,
    s.name AS schedule_name,
    i.unit AS frequency_unit,
    i.amount AS frequency_time,
    i.start_ts,
    -- Of a paused schedule: the end of the pause.
    c.next_run_at AS next_run_ts,
    s.definition #>> '{target,event,topic}' AS event_topic,
    s.definition #>> '{target,event,type}' AS event_type,
    (
        CASE
            WHEN p.payload = '{}' THEN p.data
            WHEN jsonb_typeof(p.data) = 'object' THEN p.data || p.payload
            ELSE p.payload
        END
    )::text AS event_data,
    s.revision::bigint AS aggregate_version,
    c.state = 'active' AS active
FROM tickbird.cursors AS c
JOIN tickbird.schedules AS s ON s.id = c.schedule_id
CROSS JOIN LATERAL (
    SELECT
        coalesce(s.definition -> 'payload', '{}') AS payload,
        coalesce(s.definition #> '{target,event,data}', '{}') AS data
) AS p
CROSS JOIN LATERAL tickbird.interval_of(s.definition -> 'trigger') AS i
WHERE s.namespace = (SELECT x.namespace FROM tickbird.sql_settings AS x)
    AND c.state <> 'deleted'
    AND s.definition #> '{target,event}' IS NOT NULL;

-- Events that have a position, in its order.
CREATE VIEW tickbird.outbox_message_t AS
SELECT
    e.event_id AS id,
    e.tenant AS host_id,
    e.actor AS user_id,
    l.position AS nonce,
    l.key AS aggregate_id,
    l.version AS aggregate_version,
    l.topic AS aggregate_type,
    e.type AS event_type,
    e.time AS event_ts,
    e.data AS payload,
    json_strip_nulls(json_build_object('source', e.source, 'run_id', e.run_id, 'headers', e.headers)) AS metadata,
    l.position AS c_offset,
    coalesce(e.transaction_id, e.event_id) AS transaction_id,
    e.ordinal - 1 AS transaction_ordinal,
    e.count AS transaction_count
FROM tickbird.event_log AS l
JOIN tickbird.events AS e ON e.id = l.event
WHERE l.namespace = (SELECT x.namespace FROM tickbird.sql_settings AS x)
    AND e.namespace = (SELECT x.namespace FROM tickbird.sql_settings AS x);

CREATE VIEW tickbird.event_store_t AS
SELECT
    id, host_id, user_id, nonce, aggregate_id, aggregate_version, aggregate_type, event_type, event_ts, payload, metadata
FROM tickbird.outbox_message_t;

-- For stores that have the roles already; `create_roles` grants the same. Without a condition on the role, the views are a part
-- of the caller's query, so that LIMIT stops their scans.
DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'tickbird_viewer') THEN
        GRANT SELECT ON tickbird.schedule_t, tickbird.outbox_message_t, tickbird.event_store_t TO tickbird_viewer;
    END IF;
END $$;
