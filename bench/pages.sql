-- What the database is asked for open pages, apart from what keeps it busy.

-- name: other_role
CREATE ROLE churn SUPERUSER LOGIN;

-- name: statistics
CREATE EXTENSION pg_stat_statements;

-- name: statements
-- Of the server that is measured: it is the only one who comes as this role.
SELECT coalesce(sum(calls), 0)
FROM pg_stat_statements
WHERE userid = 'postgres'::regrole AND dbid = (SELECT oid FROM pg_database WHERE datname = current_database());
