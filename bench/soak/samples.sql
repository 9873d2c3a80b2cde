-- Table statistics of PostgreSQL. Tables that always stay small are excluded.

-- name: tables
SELECT s.relname, pg_table_size(s.relid), pg_indexes_size(s.relid), s.n_dead_tup
FROM pg_stat_user_tables AS s
WHERE s.schemaname = 'tickbird'
    AND s.relname IN ('runs', 'run_logs', 'skips', 'attempts', 'cursors', 'audit_log', 'workers')
ORDER BY array_position(ARRAY['runs', 'run_logs', 'skips', 'attempts', 'cursors', 'audit_log', 'workers'], s.relname::text);

-- name: connections
SELECT count(*) FROM pg_stat_activity WHERE application_name = 'tickbird';

-- name: rows
SELECT count(*) FROM tickbird.runs;
