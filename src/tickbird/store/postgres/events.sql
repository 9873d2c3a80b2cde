-- Events: publish, stamp, read.

-- fragment: now
coalesce(%(now)s::timestamptz, statement_timestamp())

-- fragment: event_columns
e.id AS number, e.event_id, e.namespace, e.topic, e.type, e.source, e.time, e.data, e.key, e.headers, e.tenant, e.published_at,
e.partition, e.run_id, e.transaction_id, e.ordinal, e.count, l.position, l.version, l.stamped_at,
(SELECT m.value::integer FROM tickbird.meta AS m WHERE m.key = 'incarnation') AS incarnation

-- fragment: tick_event
-- The columns of an event that a run `r` of a revision `v` publishes; its name is in `i`.
nextval('tickbird.event_id_seq') AS id,
coalesce(r.scheduled_for, {now}) AS time,
CASE WHEN r.origin IN ('schedule', 'catch_up', 'backfill')
    THEN tickbird.derived_event_id(format('tick %%s/%%s %%s', r.namespace, i.name, tickbird.epoch_seconds(r.scheduled_for)))
    ELSE tickbird.derived_event_id(format('run %%s %%s', (SELECT m.value FROM tickbird.meta AS m WHERE m.key = 'incarnation'), r.id))
END AS event_id,
r.id AS run_id,
r.namespace,
v.definition #>> '{target,event,topic}' AS topic,
v.definition #>> '{target,event,type}' AS type,
format('/tickbird/%%s/%%s', r.namespace, i.name) AS source,
v.definition #>> '{target,event,key}' AS key,
v.definition #>> '{target,event,tenant}' AS tenant,
v.definition #> '{target,event,headers}' AS headers

-- fragment: insert_tick_events
-- The payload of a run is merged into the data of its event.
INSERT INTO tickbird.events (id, time, event_id, run_id, namespace, topic, type, source, key, tenant, headers, data, partition)
SELECT
    g.id, g.time, g.event_id, g.run_id, g.namespace, g.topic, g.type, g.source, g.key, g.tenant, g.headers::json,
    CASE WHEN g.payload = '{}' THEN g.data WHEN jsonb_typeof(g.data) = 'object' THEN g.data || g.payload ELSE g.payload END::json,
    tickbird.event_partition(g.key, g.id, (SELECT m.value::integer FROM tickbird.meta AS m WHERE m.key = 'event_partitions'))
FROM given AS g
ON CONFLICT (namespace, event_id) DO NOTHING
RETURNING id, namespace

-- name: publish_events
SELECT tickbird.insert_events(%(namespace)s, %(source)s, %(actor)s, CAST(%(events)s AS json));

-- name: find_unstamped
-- The snapshot of this statement, the namespaces with events to stamp, the seconds for which a stamper polls, and whether runs
-- wait for the publication of their events. With LIMIT, each search is by namespace and transaction.
SELECT
    pg_current_snapshot()::text,
    ARRAY(
        SELECT s.namespace FROM tickbird.event_streams AS s
        WHERE (
            SELECT u.event FROM tickbird.events_unstamped AS u
            WHERE u.namespace = s.namespace AND u.xid >= coalesce(pg_snapshot_xmax(%(since)s::pg_snapshot), '0'::xid8)
            LIMIT 1
        ) IS NOT NULL OR (
            SELECT x.event
            FROM pg_snapshot_xip(%(since)s::pg_snapshot) AS open(xid)
            CROSS JOIN LATERAL (
                SELECT u.event FROM tickbird.events_unstamped AS u
                WHERE u.namespace = s.namespace AND u.xid = open.xid
                LIMIT 1
            ) AS x
            LIMIT 1
        ) IS NOT NULL
    ),
    (SELECT date_part('epoch', max(s.awake_until) - clock_timestamp()) FROM tickbird.event_streams AS s WHERE isfinite(s.awake_until)),
    EXISTS (SELECT FROM tickbird.runs WHERE target_kind = 'event' AND status = 'queued');

-- name: stamp_events
SELECT stamped, head, is_complete FROM tickbird.stamp_events(%(namespace)s, %(since)s::pg_snapshot, %(limit)s);

-- name: add_event_streams
-- Namespaces with events and without a stream. Steps from one namespace to the next; not in events_unstamped, which may have many
-- rows that no vacuum can remove yet.
WITH RECURSIVE walk(namespace) AS (
    (SELECT e.namespace FROM tickbird.events AS e ORDER BY e.namespace LIMIT 1)
    UNION ALL
    SELECT (SELECT e.namespace FROM tickbird.events AS e WHERE e.namespace > w.namespace ORDER BY e.namespace LIMIT 1)
    FROM walk AS w WHERE w.namespace IS NOT NULL
)
INSERT INTO tickbird.event_streams (namespace)
SELECT w.namespace FROM walk AS w
WHERE w.namespace IS NOT NULL
    AND (SELECT s.namespace FROM tickbird.event_streams AS s WHERE s.namespace = w.namespace LIMIT 1) IS NULL
UNION SELECT unnest(%(namespaces)s::text[])
ON CONFLICT DO NOTHING;

-- name: stop_polling
UPDATE tickbird.event_streams SET awake_until = clock_timestamp()
WHERE awake_until > clock_timestamp() AND namespace = ANY(%(namespaces)s::text[]);

-- name: read_events
SELECT {event_columns}
FROM tickbird.event_log AS l
JOIN tickbird.events AS e ON e.id = l.event
WHERE l.namespace = %(namespace)s AND l.position > %(after)s
    AND (%(topics)s::text[] IS NULL OR '.' || l.topic ~ ANY(%(topics)s::text[]))
    AND (%(key)s::text IS NULL OR l.key = %(key)s)
ORDER BY l.position
LIMIT %(limit)s;

-- name: read_event
SELECT {event_columns}
FROM tickbird.events AS e
LEFT JOIN tickbird.event_log AS l ON l.event = e.id
WHERE e.namespace = %(namespace)s AND e.event_id = %(event_id)s;

-- name: publish_on_time
-- Like write_on_time, for runs of event targets: nothing is executed, so the event and the success are written at once. Except of
-- schedules that others depend on, which are returned. Rows that exist are searched first: ON CONFLICT inserts speculatively, which
-- takes longer. If another session inserts such a row meanwhile, the batch fails and is planned again in halves.
WITH tracked AS MATERIALIZED (
    SELECT tickbird.tracked_schedules(%(schedule_id)s::bigint[]) AS ids
),
u AS MATERIALIZED (
    SELECT * FROM unnest(
        %(schedule_id)s::bigint[], %(revision)s::integer[], %(tick)s::bigint[], %(due_at)s::bigint[],
        %(next_run_at)s::bigint[], %(template)s::integer[], %(schedule)s::text[], %(event_id)s::uuid[]
    ) AS u(schedule_id, revision, tick, due_at, next_run_at, template, schedule, event_id)
    WHERE u.schedule_id <> ALL((SELECT k.ids FROM tracked AS k)::bigint[])
),
p AS MATERIALIZED (
    SELECT m.value::integer AS count FROM tickbird.meta AS m WHERE m.key = 'event_partitions'
),
t AS MATERIALIZED (
    SELECT
        t.*, t.headers_text::json AS headers, t.data_text::json AS data,
        CASE WHEN t.key IS NOT NULL THEN tickbird.event_partition(t.key, 0, (SELECT p.count FROM p)) END AS partition
    FROM unnest(
        %(template_namespace)s::text[], %(template_target_kind)s::text[], %(template_target)s::text[],
        %(template_queue)s::text[], %(template_priority)s::integer[], %(template_crash_limit)s::integer[],
        %(event_topic)s::text[], %(event_type)s::text[], %(event_key)s::text[], %(event_tenant)s::text[],
        %(event_headers)s::text[], %(event_data)s::text[]
    ) WITH ORDINALITY AS t(
        namespace, target_kind, target, queue, priority, crash_limit, topic, type, key, tenant, headers_text, data_text, number
    )
),
moved AS (
    UPDATE tickbird.cursors AS c
    SET next_run_at = to_timestamp(u.next_run_at),
        planned_until = to_timestamp(u.tick),
        runs_planned = c.runs_planned + 1
    FROM u
    WHERE c.schedule_id = u.schedule_id
),
made AS (
    INSERT INTO tickbird.runs (
        namespace, schedule_id, revision, target_kind, target, queue, priority, status, origin,
        scheduled_for, due_at, available_at, crash_limit, created_at, started_at, finished_at, result
    )
    SELECT
        t.namespace, u.schedule_id, u.revision, t.target_kind, t.target, t.queue, t.priority, 'succeeded', 'schedule',
        to_timestamp(u.tick), to_timestamp(u.due_at), to_timestamp(u.due_at), t.crash_limit, {now}, {now}, {now},
        json_build_object('event_id', u.event_id)
    FROM u
    JOIN t ON t.number = u.template
    WHERE (
        SELECT o.id FROM tickbird.runs AS o
        WHERE o.schedule_id = u.schedule_id AND o.scheduled_for = to_timestamp(u.tick)
            AND o.origin IN ('schedule', 'catch_up', 'backfill')
        LIMIT 1
    ) IS NULL
    RETURNING id, schedule_id
),
published AS (
    INSERT INTO tickbird.events (id, time, event_id, run_id, namespace, topic, type, source, key, tenant, headers, data, partition)
    SELECT
        g.id, to_timestamp(g.tick), g.event_id, g.run_id, t.namespace, t.topic, t.type,
        '/tickbird/' || t.namespace || '/' || g.schedule, t.key, t.tenant, t.headers, t.data,
        coalesce(t.partition, g.id %% (SELECT p.count FROM p))
    FROM (
        SELECT nextval('tickbird.event_id_seq') AS id, r.id AS run_id, u.tick, u.event_id, u.schedule, u.template
        FROM made AS r
        JOIN u ON u.schedule_id = r.schedule_id
        OFFSET 0
    ) AS g
    JOIN t ON t.number = g.template
    WHERE (
        SELECT e.id FROM tickbird.events AS e WHERE e.namespace = t.namespace AND e.event_id = g.event_id LIMIT 1
    ) IS NULL
    RETURNING id, namespace
),
unstamped AS (
    INSERT INTO tickbird.events_unstamped (event, namespace) SELECT p.id, p.namespace FROM published AS p
)
SELECT unnest(k.ids) FROM tracked AS k;

-- name: queued_event_runs
-- Runs that are not published by their planner: manual ones, backfills, and runs that have waited.
SELECT id FROM tickbird.runs
WHERE target_kind = 'event' AND status = 'queued' AND available_at <= {now}
ORDER BY id LIMIT %(limit)s
FOR UPDATE SKIP LOCKED;

-- name: publish_runs
WITH given AS MATERIALIZED (
    SELECT
        {tick_event},
        coalesce(p.payload::jsonb, (v.definition -> 'payload')::jsonb, '{}') AS payload,
        coalesce((v.definition #> '{target,event,data}')::jsonb, '{}') AS data
    FROM tickbird.runs AS r
    JOIN tickbird.schedule_ids AS i ON i.id = r.schedule_id
    JOIN tickbird.revisions AS v ON v.schedule_id = r.schedule_id AND v.revision = r.revision
    LEFT JOIN tickbird.run_payloads AS p ON p.run_id = r.id
    WHERE r.id = ANY(%(ids)s::bigint[])
    ORDER BY r.id
),
published AS (
    {insert_tick_events}
),
unstamped AS (
    INSERT INTO tickbird.events_unstamped (event, namespace) SELECT p.id, p.namespace FROM published AS p
),
done AS (
    UPDATE tickbird.runs AS t
    SET status = 'succeeded', started_at = {now}, finished_at = {now}, reason = NULL,
        result = json_build_object('event_id', g.event_id)
    FROM given AS g
    WHERE t.id = g.run_id AND t.status || '' = 'queued'
    RETURNING t.id, t.schedule_id, t.namespace, t.concurrency_key
)
SELECT
    {now},
    ARRAY(SELECT id FROM done),
    ARRAY(SELECT schedule_id FROM done),
    tickbird.tracked_schedules(ARRAY(SELECT schedule_id FROM done)),
    ARRAY(SELECT namespace FROM done WHERE concurrency_key IS NOT NULL),
    ARRAY(SELECT concurrency_key FROM done WHERE concurrency_key IS NOT NULL);

-- name: tracked_schedules
SELECT unnest(tickbird.tracked_schedules(%(ids)s::bigint[]));

-- name: read_event_head
SELECT greatest(
    coalesce((SELECT max(l.position) FROM tickbird.event_log AS l WHERE l.namespace = %(namespace)s), 0),
    coalesce((SELECT s.pruned_until FROM tickbird.event_streams AS s WHERE s.namespace = %(namespace)s), 0)
);

-- name: prunable_events
-- By namespace, the position up to which events are old or too many, in positions of at most `limit` events. Positions follow the
-- time of their stamp, and have no gaps.
SELECT s.namespace, s.pruned_until, old.position
FROM tickbird.event_streams AS s
CROSS JOIN LATERAL (
    SELECT greatest(
        (
            SELECT max(l.position)
            FROM tickbird.event_log AS l
            WHERE l.namespace = s.namespace AND l.position > s.pruned_until AND l.position <= s.pruned_until + %(limit)s
                AND l.stamped_at < {now} - make_interval(secs => %(older_than)s)
        ),
        CASE WHEN %(max_events)s::bigint IS NOT NULL THEN least(
            s.pruned_until + %(limit)s,
            (SELECT max(l.position) FROM tickbird.event_log AS l WHERE l.namespace = s.namespace) - greatest(%(max_events)s::bigint, 0)
        ) END
    ) AS position
) AS old
-- Without later events, the last position is null, which `least` ignores.
WHERE old.position > s.pruned_until
    AND EXISTS (SELECT FROM tickbird.event_log AS l WHERE l.namespace = s.namespace AND l.position > s.pruned_until);

-- name: find_unread_groups
-- Groups that have not read all events up to a position.
WITH unread AS MATERIALIZED (
    SELECT o.consumer_group, min(o.position) AS position
    FROM tickbird.consumer_offsets AS o
    WHERE o.namespace = %(namespace)s AND o.position < %(until)s AND (
        SELECT l.position FROM tickbird.event_log AS l
        WHERE l.namespace = %(namespace)s AND l.partition = o.partition AND l.position > o.position AND l.position <= %(until)s
        ORDER BY l.position LIMIT 1
    ) IS NOT NULL
    GROUP BY o.consumer_group
)
SELECT g.name, u.position
FROM tickbird.consumer_groups AS g
JOIN unread AS u ON u.consumer_group = g.name
WHERE g.namespace = %(namespace)s AND g.lost_after IS NULL
ORDER BY g.name
FOR UPDATE OF g;

-- name: lose_events
UPDATE tickbird.consumer_groups
SET state = 'stopped', lost_after = %(position)s, reason = CASE WHEN state = 'active' THEN %(reason)s ELSE reason END
WHERE namespace = %(namespace)s AND name = %(name)s;

-- name: note_pruned_events
UPDATE tickbird.event_streams SET pruned_until = greatest(pruned_until, %(until)s), pruned_at = statement_timestamp()
WHERE namespace = %(namespace)s;

-- name: keep_event_versions
INSERT INTO tickbird.event_keys (namespace, key, version)
SELECT l.namespace, l.key, max(l.version)
FROM tickbird.event_log AS l
WHERE l.namespace = %(namespace)s AND l.position > %(after)s AND l.position <= %(until)s AND l.key IS NOT NULL
GROUP BY l.namespace, l.key
ON CONFLICT (namespace, key) DO UPDATE SET version = greatest(event_keys.version, excluded.version);

-- name: prune_events
-- Events with a dead letter are kept with it.
WITH gone AS (
    DELETE FROM tickbird.event_log AS l
    WHERE l.namespace = %(namespace)s AND l.position > %(after)s AND l.position <= %(until)s
        AND (SELECT d.id FROM tickbird.dead_letters AS d WHERE d.event = l.event LIMIT 1) IS NULL
    RETURNING l.event
)
DELETE FROM tickbird.events AS e USING gone WHERE e.id = gone.event;
