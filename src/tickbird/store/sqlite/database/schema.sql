-- The version of the schema, read before any other table.

-- name: owner
-- The number of tables, and whether they include the combination that only our schema has. Some may be missing, until
-- a repair creates them again.
SELECT
    count(*),
    count(*) FILTER (WHERE name IN ('meta', 'migrations')) = 2
        AND count(*) FILTER (WHERE name IN ('schedules', 'cursors', 'revisions', 'runs', 'attempts', 'skips')) >= 3
FROM sqlite_schema
WHERE type IN ('table', 'view') AND substr(name, 1, 7) <> 'sqlite_';

-- name: main_file
SELECT file FROM pragma_database_list WHERE name = 'main';

-- name: has_schema
SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN ('meta', 'migrations');

-- name: read_meta
SELECT key, value FROM meta;

-- name: applied_migrations
SELECT number, checksum FROM migrations;

-- name: record_migration
INSERT INTO migrations (number, name, checksum, applied_at) VALUES (:number, :name, :checksum, :now);

-- name: record_version
INSERT INTO meta (key, value)
VALUES
    ('schema_generation', :generation), ('version', :version), ('min_compatible', :min_compatible)
ON CONFLICT (key) DO UPDATE SET value = excluded.value;

-- name: wake_others
UPDATE counters SET value = value + 1 WHERE name = 'wakeups';

-- name: wake_counts
SELECT value FROM counters WHERE name IN ('wakeups', 'heartbeat_requests') ORDER BY name DESC;

-- name: data_version
PRAGMA data_version;

-- name: schema_version
-- Changes with every change of any table.
PRAGMA schema_version;

-- name: reserve_ids
UPDATE counters SET value = value + :count WHERE name = :name RETURNING value;

-- name: schema_parts
SELECT type, name, sql FROM sqlite_master
WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%'
ORDER BY CASE type WHEN 'table' THEN 1 WHEN 'index' THEN 2 WHEN 'view' THEN 3 ELSE 4 END, rowid;
