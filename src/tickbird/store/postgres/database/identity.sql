-- The location of the store, so that a copy is detected.

-- name: read_database
SELECT
    d.datname::text AS database,
    d.oid::text AS oid,
    (SELECT system_identifier::text FROM pg_control_system()) AS system
FROM pg_catalog.pg_database AS d
WHERE d.datname = current_database();

-- name: read_database_name
-- For roles that may not read the server's identity.
SELECT d.datname::text AS database, d.oid::text AS oid
FROM pg_catalog.pg_database AS d
WHERE d.datname = current_database();

-- name: read_identity
SELECT value FROM tickbird.meta WHERE key = 'identity';

-- name: read_incarnation
SELECT value::integer FROM tickbird.meta WHERE key = 'incarnation';

-- name: record_identity
INSERT INTO tickbird.meta (key, value) VALUES ('identity', %(identity)s) ON CONFLICT (key) DO NOTHING;

-- name: accept_identity
-- An accepted copy is a separate store: it does not know leases that the original issued since.
INSERT INTO tickbird.meta (key, value)
VALUES ('identity', %(identity)s), ('incarnation', (floor(random() * 2147483646) + 1)::integer::text)
ON CONFLICT (key) DO UPDATE SET value = excluded.value;
