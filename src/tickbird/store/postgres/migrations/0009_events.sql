-- min_compatible: 1
-- Events: the log of a namespace.
--
-- A publisher inserts an event and a row in events_unstamped, and waits for no other session. After the commit, a stamper
-- gives the event its position in the namespace, and the version of its key. Readers follow positions: a transaction that
-- commits late gets a later position, so no reader skips it, and none waits for it.

INSERT INTO tickbird.meta (key, value) VALUES ('event_partitions', '16');

CREATE SEQUENCE tickbird.event_id_seq AS bigint CACHE 1;

CREATE TABLE tickbird.events (
    -- The order of publication.
    id bigint PRIMARY KEY DEFAULT nextval('tickbird.event_id_seq'),
    published_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- The instant of the tick; for other events, when they were published.
    time timestamptz NOT NULL,
    event_id uuid NOT NULL,
    transaction_id uuid,
    run_id bigint,
    ordinal integer NOT NULL DEFAULT 1,
    count integer NOT NULL DEFAULT 1,
    partition smallint NOT NULL,
    namespace text NOT NULL,
    -- Publishers check its words; a regular expression would take a third of the time of an insert.
    topic text NOT NULL CONSTRAINT events_topic_check CHECK (length(topic) BETWEEN 1 AND 200),
    type text NOT NULL CONSTRAINT events_type_check CHECK (length(type) BETWEEN 1 AND 200),
    source text NOT NULL,
    key text CONSTRAINT events_key_check CHECK (length(key) BETWEEN 1 AND 500),
    tenant text CONSTRAINT events_tenant_check CHECK (length(tenant) BETWEEN 1 AND 200),
    actor text,
    headers json,
    -- json, not jsonb: it is never searched, and keeps the text of the publisher.
    data json NOT NULL,
    CONSTRAINT events_ordinal_check CHECK (ordinal BETWEEN 1 AND count)
) WITH (autovacuum_vacuum_insert_scale_factor = 0.05);
CREATE UNIQUE INDEX events_event_id_key ON tickbird.events (namespace, event_id);
CREATE INDEX events_transaction ON tickbird.events (transaction_id) WHERE transaction_id IS NOT NULL;

-- Events whose position is not assigned yet. `xid` is the transaction of the publisher: a stamper reads only rows of
-- transactions that were open at its last pass, or began later, so rows that no vacuum can remove yet cost it nothing.
CREATE TABLE tickbird.events_unstamped (
    event bigint NOT NULL,
    xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
    namespace text NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000);
CREATE INDEX events_unstamped_xid ON tickbird.events_unstamped (namespace, xid);

-- The positions. Rows are only added, and removed by retention.
CREATE TABLE tickbird.event_log (
    position bigint NOT NULL,
    event bigint NOT NULL,
    -- Counts the events of a key, from 1; null without a key.
    version bigint,
    stamped_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    partition smallint NOT NULL,
    namespace text NOT NULL,
    topic text NOT NULL,
    key text,
    PRIMARY KEY (namespace, position),
    CONSTRAINT event_log_version_check CHECK ((key IS NULL) = (version IS NULL))
) WITH (autovacuum_vacuum_insert_scale_factor = 0.05);
CREATE UNIQUE INDEX event_log_event_key ON tickbird.event_log (event);
CREATE UNIQUE INDEX event_log_version_key ON tickbird.event_log (namespace, key, version) WHERE key IS NOT NULL;
CREATE INDEX event_log_partition ON tickbird.event_log (namespace, partition, position);

-- One row per namespace. The stamper holds its lock.
CREATE TABLE tickbird.event_streams (
    namespace text PRIMARY KEY,
    -- Until then, a stamper polls, and publishers send no notification: NOTIFY takes a lock of the whole server.
    awake_until timestamptz NOT NULL DEFAULT '-infinity',
    -- The last position that retention removed, 0 if none.
    pruned_until bigint NOT NULL DEFAULT 0,
    pruned_at timestamptz
);

-- The versions of keys whose newest events retention has removed.
CREATE TABLE tickbird.event_keys (
    namespace text NOT NULL,
    key text NOT NULL,
    version bigint NOT NULL,
    PRIMARY KEY (namespace, key)
);

-- The partition of a key. It must not depend on the version of the server, because offsets refer to partitions.
CREATE FUNCTION tickbird.event_partition(key text, event bigint, partitions integer) RETURNS smallint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
    WHEN key IS NULL THEN event % partitions
    -- The first 3 bytes, as a number.
    ELSE ('x' || left(encode(sha256(convert_to(key, 'UTF8')), 'hex'), 6))::bit(24)::integer % partitions
END;

-- An id that is derived from a text.
CREATE FUNCTION tickbird.derived_event_id(source text) RETURNS uuid
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN encode(substr(sha256(convert_to(source, 'UTF8')), 1, 16), 'hex')::uuid;

-- Wakes the stamper of a namespace unless it polls, or the namespace is new.
CREATE FUNCTION tickbird.wake_stamper(namespace text) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NOT EXISTS (
        SELECT FROM tickbird.event_streams AS s
        WHERE s.namespace = wake_stamper.namespace AND s.awake_until > clock_timestamp()
    ) THEN
        PERFORM pg_notify('tickbird', '');
    END IF;
END $$;

-- The version of a key, counting events that are not stamped yet.
CREATE FUNCTION tickbird.event_version(namespace text, key text) RETURNS bigint
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
    -- The log may still have old events of a key, kept by dead letters.
    SELECT greatest(
        (
            SELECT l.version FROM tickbird.event_log AS l
            WHERE l.namespace = event_version.namespace AND l.key = event_version.key
            ORDER BY l.version DESC LIMIT 1
        ),
        (SELECT k.version FROM tickbird.event_keys AS k WHERE k.namespace = event_version.namespace AND k.key = event_version.key),
        0
    ) + (
        SELECT count(*) FROM tickbird.events_unstamped AS u
        JOIN tickbird.events AS e ON e.id = u.event
        WHERE u.namespace = event_version.namespace AND e.key = event_version.key
    )
$$;

-- Inserts events that are published together, in the caller's transaction. Returns their ids in order; an id that exists
-- already is not published again. Only publishers that name an expected version wait for one another, key by key.
CREATE FUNCTION tickbird.insert_events(namespace text, source text, actor text, events json) RETURNS SETOF uuid
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    -- Each use of the JSON reads the whole text.
    total integer;
    expects boolean;
    together uuid;
    partitions CONSTANT integer := (SELECT m.value::integer FROM tickbird.meta AS m WHERE m.key = 'event_partitions');
    conflict record;
BEGIN
    SELECT count(*), bool_or(i.expected_version IS NOT NULL) INTO total, expects
    FROM json_to_recordset(events) AS i(expected_version bigint);
    together := CASE WHEN total > 1 THEN gen_random_uuid() END;
    IF expects THEN
        -- An older snapshot does not have the events of the sessions that are waited for.
        IF current_setting('transaction_isolation') NOT IN ('read committed', 'read uncommitted') THEN
            RAISE EXCEPTION 'expected_version: needs the isolation level READ COMMITTED, not %',
                upper(current_setting('transaction_isolation'))
                USING ERRCODE = 'TB422', HINT = 'Begin the transaction with READ COMMITTED, or publish without expected_version.';
        END IF;
        -- In sorted order, so that two publishers of the same keys cannot deadlock.
        PERFORM pg_advisory_xact_lock(hashtextextended('tickbird event key ' || insert_events.namespace || ' ' || k.key, 7313))
        FROM (
            SELECT DISTINCT item ->> 'key' AS key
            FROM json_array_elements(events) AS item
            WHERE item ->> 'expected_version' IS NOT NULL
            ORDER BY 1
        ) AS k;
        -- A later statement, which sees the events of the sessions that were waited for.
        SELECT x.key, x.expected, tickbird.event_version(insert_events.namespace, x.key) + x.earlier AS version INTO conflict
        FROM (
            SELECT
                item ->> 'key' AS key,
                (item ->> 'expected_version')::bigint AS expected,
                count(*) OVER (PARTITION BY item ->> 'key' ORDER BY place) - 1 AS earlier
            FROM json_array_elements(events) WITH ORDINALITY AS i(item, place)
        ) AS x
        WHERE x.expected IS NOT NULL
            AND x.expected <> tickbird.event_version(insert_events.namespace, x.key) + x.earlier
        LIMIT 1;
        IF FOUND THEN
            RAISE EXCEPTION 'key %: has version %, not %', quote_literal(conflict.key), conflict.version, conflict.expected
                USING ERRCODE = 'TB409', HINT = 'Read the newest event of the key, then decide again.';
        END IF;
    END IF;
    RETURN QUERY
    WITH given AS MATERIALIZED (
        SELECT
            nextval('tickbird.event_id_seq') AS id, i.place, i.topic, i.type, i.key, i.tenant, i.headers,
            -- The null of JSON is read as one of SQL.
            coalesce(i.data, 'null') AS data,
            coalesce(i.event_id, gen_random_uuid()) AS event_id
        FROM ROWS FROM (
            json_to_recordset(events)
                AS (topic text, type text, key text, data json, headers json, tenant text, event_id uuid)
        ) WITH ORDINALITY AS i(topic, type, key, data, headers, tenant, event_id, place)
        ORDER BY i.place
    ),
    published AS (
        INSERT INTO tickbird.events (
            id, time, event_id, transaction_id, ordinal, count, partition, namespace, topic, type, source, key, tenant, actor,
            headers, data
        )
        SELECT
            g.id, clock_timestamp(), g.event_id, together, g.place, total,
            tickbird.event_partition(g.key, g.id, partitions), insert_events.namespace, g.topic, g.type, insert_events.source,
            g.key, g.tenant, insert_events.actor, CASE WHEN g.headers::text <> '{}' THEN g.headers END, g.data
        FROM given AS g
        ON CONFLICT (namespace, event_id) DO NOTHING
        RETURNING id
    ),
    unstamped AS (
        INSERT INTO tickbird.events_unstamped (event, namespace) SELECT p.id, insert_events.namespace FROM published AS p
    )
    SELECT g.event_id FROM given AS g ORDER BY g.place;
    PERFORM tickbird.wake_stamper(insert_events.namespace);
END $$;

-- Assigns positions and versions to committed events, in the order of publication; those of a transaction follow one another.
-- `since` is a snapshot of a complete pass before; null reads all unstamped rows. Returns no row if another session is stamping.
CREATE FUNCTION tickbird.stamp_events(namespace text, since pg_snapshot, max_events integer)
RETURNS TABLE (stamped bigint, head bigint, is_complete boolean)
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    pruned bigint;
BEGIN
    SELECT s.pruned_until INTO pruned
    FROM tickbird.event_streams AS s WHERE s.namespace = stamp_events.namespace
    FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    -- A new statement has a new snapshot, which sees the positions of the session that held the lock before.
    RETURN QUERY
    WITH visible AS MATERIALIZED (
        SELECT u.ctid AS place, u.event
        FROM tickbird.events_unstamped AS u
        WHERE u.namespace = stamp_events.namespace AND u.xid >= coalesce(pg_snapshot_xmax(since), '0'::xid8)
        UNION ALL
        SELECT x.place, x.event
        FROM pg_snapshot_xip(since) AS open(xid)
        -- OFFSET makes it one search per transaction: as a join, it may read all rows of the namespace.
        CROSS JOIN LATERAL (
            SELECT u.ctid AS place, u.event
            FROM tickbird.events_unstamped AS u
            WHERE u.namespace = stamp_events.namespace AND u.xid = open.xid
            OFFSET 0
        ) AS x
    ),
    oldest AS MATERIALIZED (
        SELECT v.place, v.event, e.partition, e.topic, e.key, e.transaction_id
        FROM (SELECT v.place, v.event FROM visible AS v ORDER BY v.event LIMIT max_events) AS v
        JOIN tickbird.events AS e ON e.id = v.event
    ),
    -- All events of a transaction are visible together, and are stamped in one pass.
    pending AS MATERIALIZED (
        SELECT o.* FROM oldest AS o
        UNION ALL
        SELECT v.place, v.event, e.partition, e.topic, e.key, e.transaction_id
        FROM (SELECT DISTINCT o.transaction_id FROM oldest AS o WHERE o.transaction_id IS NOT NULL) AS t
        JOIN tickbird.events AS e ON e.transaction_id = t.transaction_id
        JOIN visible AS v ON v.event = e.id
        WHERE (SELECT count(*) FROM visible) > max_events AND e.id > (SELECT max(o.event) FROM oldest AS o)
    ),
    -- Their positions follow one another, from that of the first.
    firsts AS MATERIALIZED (
        SELECT p.transaction_id, min(p.event) AS event FROM pending AS p WHERE p.transaction_id IS NOT NULL GROUP BY p.transaction_id
    ),
    last AS MATERIALIZED (
        SELECT greatest(
            pruned,
            coalesce((SELECT max(l.position) FROM tickbird.event_log AS l WHERE l.namespace = stamp_events.namespace), 0)
        ) AS position
    ),
    numbered AS MATERIALIZED (
        SELECT
            p.event AS id, p.partition, p.topic, p.key,
            last.position + row_number() OVER (ORDER BY coalesce(f.event, p.event), p.event) AS position,
            row_number() OVER (PARTITION BY p.key ORDER BY coalesce(f.event, p.event), p.event) AS place_in_key
        FROM pending AS p
        LEFT JOIN firsts AS f ON f.transaction_id = p.transaction_id
        CROSS JOIN last
    ),
    versions AS MATERIALIZED (
        SELECT
            k.key,
            greatest(
                (
                    SELECT l.version FROM tickbird.event_log AS l
                    WHERE l.namespace = stamp_events.namespace AND l.key = k.key
                    ORDER BY l.version DESC LIMIT 1
                ),
                (SELECT p.version FROM tickbird.event_keys AS p WHERE p.namespace = stamp_events.namespace AND p.key = k.key),
                0
            ) AS version
        FROM (SELECT DISTINCT n.key FROM numbered AS n WHERE n.key IS NOT NULL) AS k
    ),
    logged AS (
        INSERT INTO tickbird.event_log (position, event, version, partition, namespace, topic, key)
        SELECT
            n.position, n.id, v.version + n.place_in_key, n.partition, stamp_events.namespace, n.topic, n.key
        FROM numbered AS n
        LEFT JOIN versions AS v ON v.key = n.key
        ORDER BY n.position
    ),
    gone AS (
        DELETE FROM tickbird.events_unstamped AS u USING pending AS p WHERE u.ctid = p.place
    )
    SELECT
        (SELECT count(*) FROM numbered),
        greatest((SELECT max(n.position) FROM numbered AS n), (SELECT l.position FROM last AS l)),
        (SELECT count(*) FROM visible) = (SELECT count(*) FROM numbered);
    -- Rarely, because rows that no vacuum can remove yet make the next read slower.
    UPDATE tickbird.event_streams AS s SET awake_until = clock_timestamp() + interval '5 s'
    WHERE s.namespace = stamp_events.namespace AND s.awake_until < clock_timestamp() + interval '2 s';
END $$;

-- Runs of event targets that are published by a worker, not by their planner.
CREATE INDEX runs_queued_events ON tickbird.runs (id) WHERE target_kind = 'event' AND status = 'queued';

-- Publishes an event that has the keys of the arguments of publish. Only operators may.
CREATE FUNCTION tickbird.publish_as(acting_role name, event json) RETURNS uuid
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    stream CONSTANT text := (SELECT x.namespace FROM tickbird.sql_settings AS x);
    topic CONSTANT text := event ->> 'topic';
    headers CONSTANT jsonb := coalesce((event -> 'headers')::jsonb, '{}');
    -- Attributes of every event in the CloudEvents format.
    reserved CONSTANT text[] := ARRAY[
        'specversion', 'id', 'source', 'type', 'subject', 'time', 'datacontenttype', 'dataschema', 'partitionkey', 'topic',
        'tenant', 'position', 'aggregateversion', 'transactionid', 'transactionordinal', 'transactioncount', 'data',
        'data_base64'
    ];
    header text;
BEGIN
    IF NOT tickbird.role_is(acting_role, 'operator') THEN
        RAISE EXCEPTION 'role % may not publish events', acting_role
            USING ERRCODE = 'insufficient_privilege', HINT = 'Become a member of tickbird' || '_operator.';
    END IF;
    IF topic IS NULL OR topic !~ '^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$' OR length(topic) > 200 THEN
        RAISE EXCEPTION 'topic: % is not a topic', quote_nullable(left(topic, 60))
            USING ERRCODE = 'TB422', HINT = 'Join words of letters, digits, _ and - with dots, such as orders.paid.';
    END IF;
    IF event ->> 'type' IS NULL OR length(event ->> 'type') NOT BETWEEN 1 AND 200
        OR length(event ->> 'key') NOT BETWEEN 1 AND 500 OR length(event ->> 'tenant') NOT BETWEEN 1 AND 200
    THEN
        RAISE EXCEPTION 'publish: type must have 1 to 200 characters, key 1 to 500, tenant 1 to 200'
            USING ERRCODE = 'TB422', HINT = 'Shorten the value, or leave out key and tenant.';
    END IF;
    IF event ->> 'expected_version' IS NOT NULL AND event ->> 'key' IS NULL THEN
        RAISE EXCEPTION 'expected_version: needs a key' USING ERRCODE = 'TB422', HINT = 'Pass key => ….';
    END IF;
    IF length(event ->> 'source') NOT BETWEEN 1 AND 500 THEN
        RAISE EXCEPTION 'source must have 1 to 500 characters'
            USING ERRCODE = 'TB422', HINT = 'Leave it out: the default is the namespace.';
    END IF;
    IF jsonb_typeof(headers) <> 'object' OR (SELECT count(*) FROM jsonb_object_keys(headers)) > 50 OR EXISTS (
        SELECT FROM jsonb_each(headers) AS h(name, value)
        WHERE jsonb_typeof(h.value) <> 'string' OR length(h.value #>> '{}') > 2000
    ) THEN
        RAISE EXCEPTION 'headers must be an object with at most 50 texts of at most 2,000 characters'
            USING ERRCODE = 'TB422', HINT = 'Write {"traceparent": "…"}.';
    END IF;
    FOR header IN SELECT jsonb_object_keys(headers) LOOP
        IF header !~ '^[a-z0-9]{1,40}$' OR header = ANY (reserved) THEN
            RAISE EXCEPTION 'headers: % cannot be the name of a header', quote_literal(left(header, 60))
                USING ERRCODE = 'TB422',
                    HINT = 'Use lower-case letters and digits, such as traceparent, and not the name of an attribute.';
        END IF;
    END LOOP;
    IF octet_length((event -> 'data')::text) > 1000000 THEN
        RAISE EXCEPTION 'data must have at most 1,000,000 bytes as JSON'
            USING ERRCODE = 'TB422', HINT = 'Store it elsewhere, and publish its address.';
    END IF;
    RETURN tickbird.insert_events(
        stream, coalesce(event ->> 'source', '/tickbird/' || stream), tickbird.actor(),
        json_build_array(json_build_object(
            'topic', topic, 'type', event -> 'type', 'key', event -> 'key', 'data', coalesce(event -> 'data', '{}'),
            'headers', headers, 'tenant', event -> 'tenant', 'event_id', event -> 'event_id',
            'expected_version', event -> 'expected_version'
        ))
    );
END $$;

-- A publisher for every language: the event exists if the caller's transaction commits. Returns its id.
CREATE FUNCTION tickbird.publish(
    topic text, type text, data jsonb DEFAULT '{}', key text DEFAULT NULL, headers jsonb DEFAULT '{}', tenant text DEFAULT NULL,
    event_id uuid DEFAULT NULL, expected_version bigint DEFAULT NULL, source text DEFAULT NULL
) RETURNS uuid
LANGUAGE plpgsql SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    answer jsonb;
BEGIN
    INSERT INTO tickbird.requests (action, event)
    VALUES ('publish', json_build_object(
        'topic', publish.topic, 'type', publish.type, 'data', coalesce(publish.data, '{}'), 'key', publish.key,
        'headers', coalesce(publish.headers, '{}'), 'tenant', publish.tenant, 'event_id', publish.event_id,
        'expected_version', publish.expected_version, 'source', publish.source
    ))
    RETURNING result INTO answer;
    RETURN answer #>> '{}';
END $$;
REVOKE ALL ON FUNCTION
    tickbird.publish_as(name, json),
    tickbird.insert_events(text, text, text, json),
    tickbird.stamp_events(text, pg_snapshot, integer)
FROM PUBLIC;
