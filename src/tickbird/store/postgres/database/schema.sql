-- The version of the schema, and its migration.

-- name: read_meta
SELECT key, value FROM tickbird.meta;

-- name: schema_exists
SELECT EXISTS (SELECT FROM pg_catalog.pg_tables WHERE schemaname = 'tickbird' AND tablename = 'migrations');

-- name: read_applied
SELECT number, checksum FROM tickbird.migrations;

-- name: lock_schema
-- One migration at a time in this database; the number is arbitrary.
SELECT pg_advisory_xact_lock(7310577410325);

-- name: write_applied
INSERT INTO tickbird.migrations (number, name, checksum) VALUES (%(number)s, %(name)s, %(checksum)s);

-- name: write_meta
INSERT INTO tickbird.meta (key, value)
VALUES
    ('schema_generation', %(generation)s), ('version', %(version)s), ('min_compatible', %(min_compatible)s)
ON CONFLICT (key) DO UPDATE SET value = excluded.value;

-- name: lock_indexes
SELECT pg_try_advisory_xact_lock(7310, 'tickbird.runs'::regclass::oid::integer);

-- name: read_indexes
SELECT c.relname, i.indisvalid
FROM pg_catalog.pg_index AS i
JOIN pg_catalog.pg_class AS c ON c.oid = i.indexrelid
WHERE i.indrelid IN (
    'tickbird.runs'::regclass, 'tickbird.attempts'::regclass, 'tickbird.cursors'::regclass, 'tickbird.schedules'::regclass
);

-- name: notify_migrated
-- Workers that are too old for this schema must end soon, not only after their next heartbeat.
SELECT pg_notify('tickbird', 'schema');

-- name: listen
LISTEN tickbird;
