-- Where the store is, so that a copy of it is told from itself.

-- name: read_place
SELECT value FROM meta WHERE key = 'place';

-- name: accept_place
INSERT INTO meta (key, value) VALUES ('place', :place) ON CONFLICT (key) DO UPDATE SET value = excluded.value;
