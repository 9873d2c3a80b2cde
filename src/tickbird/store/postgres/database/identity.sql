-- Where the store is, so that a copy of it is told from itself.

-- name: read_database
SELECT
    d.datname::text AS database,
    d.oid::text AS oid,
    (SELECT system_identifier::text FROM pg_control_system()) AS system
FROM pg_catalog.pg_database AS d
WHERE d.datname = current_database();

-- name: read_database_name
-- For who may not read the server's identity.
SELECT d.datname::text AS database, d.oid::text AS oid
FROM pg_catalog.pg_database AS d
WHERE d.datname = current_database();

-- name: read_identity
SELECT value FROM tickbird.meta WHERE key = 'identity';

-- name: record_identity
INSERT INTO tickbird.meta (key, value) VALUES ('identity', %(identity)s) ON CONFLICT (key) DO NOTHING;

-- name: accept_identity
-- It is another store than the one that it was copied from, and knows nothing of leases that this one gave since.
INSERT INTO tickbird.meta (key, value)
VALUES ('identity', %(identity)s), ('incarnation', (floor(random() * 2147483646) + 1)::integer::text)
ON CONFLICT (key) DO UPDATE SET value = excluded.value;
