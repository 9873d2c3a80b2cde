-- Statements of open pages, without those of the sessions that create load.

-- name: other_role
CREATE ROLE churn SUPERUSER LOGIN;

-- name: statistics
CREATE EXTENSION pg_stat_statements;

-- name: statements
-- Of the measured server: it is the only one that uses this role.
SELECT coalesce(sum(calls), 0)
FROM pg_stat_statements
WHERE userid = 'postgres'::regrole AND dbid = (SELECT oid FROM pg_database WHERE datname = current_database());
