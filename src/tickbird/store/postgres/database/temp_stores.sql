-- Temporary stores: separate schemas in the same database.

-- name: may_create_schema
SELECT
    current_user::text,
    current_database()::text,
    has_database_privilege(current_database(), 'CREATE'),
    pg_is_in_recovery();

-- name: list_temp_schemas
SELECT nspname::text FROM pg_catalog.pg_namespace WHERE nspname ~ '^tickbird_proof_[0-9a-f]{8}$' ORDER BY 1;

-- name: end_sessions
SELECT pg_terminate_backend(pid)
FROM pg_catalog.pg_stat_activity
WHERE application_name = %(program)s
    AND datname = current_database()
    AND usename = current_user
    AND pid <> pg_backend_pid();
