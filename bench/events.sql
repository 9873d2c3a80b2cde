-- Events: the bare table, and the transactions of a caller.

-- name: make_bare
CREATE TABLE bare_events (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    published_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    event_id uuid NOT NULL UNIQUE,
    topic text NOT NULL,
    type text NOT NULL,
    source text NOT NULL,
    key text,
    tenant text,
    actor text,
    headers json,
    data json NOT NULL
);
CREATE TABLE orders (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, key text NOT NULL);

-- name: empty
TRUNCATE bare_events, orders, tickbird.events, tickbird.event_log, tickbird.events_unstamped, tickbird.event_streams,
    tickbird.consumer_groups, tickbird.consumer_offsets, tickbird.dead_letters;

-- name: insert_bare
INSERT INTO bare_events (event_id, topic, type, source, key, tenant, actor, headers, data)
VALUES (%(event_id)s, %(topic)s, %(type)s, '/bench', %(key)s, NULL, 'bench', NULL, %(data)s);

-- name: insert_bare_batch
INSERT INTO bare_events (event_id, topic, type, source, key, actor, data)
SELECT r.event_id, r.topic, r.type, '/bench', r.key, 'bench', r.data
FROM json_to_recordset(CAST(%(rows)s AS json)) AS r(event_id uuid, topic text, type text, key text, data json);

-- name: read_bare
SELECT id, published_at, event_id, topic, type, source, key, tenant, headers, data FROM bare_events
WHERE id > %(after)s ORDER BY id LIMIT %(limit)s;

-- name: insert_order
INSERT INTO orders (key) VALUES (%(key)s);

-- name: publish
SELECT tickbird.publish('orders.paid', 'Paid', key => %(key)s, data => '{"amount": 42}');

-- name: empty_events
TRUNCATE tickbird.events, tickbird.event_log, tickbird.events_unstamped, tickbird.dead_letters;

-- name: fill_ids
INSERT INTO tickbird.schedule_ids (id, namespace, name) OVERRIDING SYSTEM VALUE
SELECT s.id, s.namespace, s.name FROM tickbird.schedules AS s
ON CONFLICT DO NOTHING;
