-- The location of the store, so that a copy is detected.

-- name: read_identity
SELECT value FROM meta WHERE key = 'identity';

-- name: accept_identity
INSERT INTO meta (key, value) VALUES ('identity', :identity) ON CONFLICT (key) DO UPDATE SET value = excluded.value;

-- name: read_incarnation
SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'incarnation';

-- name: renew_incarnation
-- An accepted copy is a separate store: it does not know leases that the original issued since.
INSERT INTO meta (key, value) VALUES ('incarnation', abs(random() % 2147483646) + 1)
ON CONFLICT (key) DO UPDATE SET value = excluded.value;
