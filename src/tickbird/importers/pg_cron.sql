-- The jobs of pg_cron, and the facts of its server that their import depends on.

-- name: jobs
SELECT to_jsonb(j) AS job FROM cron.job AS j ORDER BY j.jobid;

-- name: server
SELECT
    current_database()::text AS database,
    -- Before version 1.5, pg_cron has no such setting and uses GMT.
    nullif(current_setting('cron.timezone', true), '') AS timezone,
    -- Row-level security shows other logins only their own jobs.
    (SELECT r.rolsuper OR r.rolbypassrls FROM pg_roles AS r WHERE r.rolname = current_user) AS sees_all;

-- name: functions
-- Functions by schema and name, and whether a run can call one of this name.
SELECT
    n.nspname::text AS schema,
    p.proname::text AS name,
    bool_or(
        p.prokind = 'f' AND NOT p.proretset AND p.prorettype = 'jsonb'::regtype
        AND (p.pronargs = 0 OR (p.pronargs = 1 AND p.proargtypes[0] = 'jsonb'::regtype AND p.provariadic = 0))
    ) AS is_callable
FROM pg_proc AS p
JOIN pg_namespace AS n ON n.oid = p.pronamespace
WHERE n.nspname NOT IN ('pg_catalog', 'information_schema')
GROUP BY n.nspname, p.proname;
