-- min_compatible: 1
-- SQL functions as targets of runs: their permissions, and the functions that execute and support them.

-- A superset of the old constraint, so stored rows need no check.
ALTER TABLE tickbird.runs
    DROP CONSTRAINT runs_failure_kind_check,
    ADD CONSTRAINT runs_failure_kind_check
        CHECK (failure_kind IN ('raised', 'timeout', 'lost', 'reported', 'contract')) NOT VALID;

-- The login, or the role that it has taken with SET ROLE; the same inside of SECURITY DEFINER functions.
CREATE FUNCTION tickbird.caller() RETURNS name
LANGUAGE sql STABLE PARALLEL SAFE
RETURN coalesce(nullif(current_setting('role'), 'none'), session_user)::name;

-- Settings of SQL functions as jobs.
CREATE TABLE tickbird.sql_settings (
    is_only boolean PRIMARY KEY DEFAULT true CONSTRAINT sql_settings_is_only_check CHECK (is_only),
    namespace text NOT NULL DEFAULT 'default',
    -- Only functions in these schemas are executed. A name without a schema is searched in this order.
    allowed_schemas text[] NOT NULL DEFAULT '{public}'
);
INSERT INTO tickbird.sql_settings DEFAULT VALUES;

-- The function of a schedule when it was defined. A function that another role owns by now is not executed.
CREATE TABLE tickbird.job_functions (
    schedule_id bigint PRIMARY KEY,
    function text NOT NULL,
    owner name NOT NULL,
    defined_by name NOT NULL
);

-- The name of the function that calls jobs as a role; null if the role's name is too long.
CREATE FUNCTION tickbird.job_wrapper(role_name name) RETURNS name
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN octet_length(role_name) <= 55 THEN ('call_as_' || role_name)::name END;

-- The owner of the store: jobs without a role are executed as this role.
CREATE FUNCTION tickbird.job_owner() RETURNS name
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN (SELECT pg_get_userbyid(n.nspowner) FROM pg_namespace AS n WHERE n.nspname = 'tickbird');
END $$;

-- Decides whether a function may be executed as a role; raises TB422 with the reason and the next step.
CREATE FUNCTION tickbird.resolve_job_function(function_name text, role_name name) RETURNS regprocedure
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    identifier CONSTANT text := '[A-Za-z_][A-Za-z0-9_]{0,62}';
    parts text[];
    place text;
    schemas text[];
    candidate regprocedure;
    chosen regprocedure;
    wrapper regprocedure := to_regprocedure(format('tickbird.%I(regprocedure, jsonb)', tickbird.job_wrapper(role_name)));
BEGIN
    IF function_name IS NULL OR function_name !~ ('^(' || identifier || '\.)?' || identifier || '$') THEN
        RAISE EXCEPTION 'function %: is not the name of a function', quote_literal(left(function_name, 100))
            USING ERRCODE = 'TB422', HINT = 'Write schema.name, without arguments.';
    END IF;
    parts := string_to_array(lower(function_name), '.');
    schemas := (
        SELECT array_remove(array_remove(s.allowed_schemas, 'pg_catalog'), 'information_schema') FROM tickbird.sql_settings AS s
    );
    IF cardinality(parts) = 2 THEN
        IF NOT parts[1] = ANY (coalesce(schemas, '{}')) THEN
            RAISE EXCEPTION 'function %: functions of schema % are not executed', function_name, parts[1]
                USING ERRCODE = 'TB422', HINT = format(
                    'Move it to schema %s, or allow the schema: UPDATE tickbird.sql_settings SET allowed_schemas = …',
                    coalesce(schemas[1], 'public')
                );
        END IF;
        schemas := parts[1:1];
    END IF;
    FOREACH place IN ARRAY coalesce(schemas, '{}') LOOP
        -- With an argument, if there are both.
        FOREACH candidate IN ARRAY ARRAY[
            to_regprocedure(format('%I.%I(jsonb)', place, parts[cardinality(parts)])),
            to_regprocedure(format('%I.%I()', place, parts[cardinality(parts)]))
        ] LOOP
            chosen := (
                SELECT p.oid FROM pg_proc AS p
                WHERE p.oid = candidate AND p.prokind = 'f' AND NOT p.proretset AND p.prorettype = 'jsonb'::regtype
            );
            EXIT WHEN chosen IS NOT NULL;
        END LOOP;
        EXIT WHEN chosen IS NOT NULL;
    END LOOP;
    IF chosen IS NULL THEN
        IF EXISTS (
            SELECT FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace
            WHERE n.nspname = ANY (schemas) AND p.proname = parts[cardinality(parts)]
        ) THEN
            RAISE EXCEPTION 'function %: must return jsonb, and have no argument or one of type jsonb', function_name
                USING ERRCODE = 'TB422', HINT = 'Return tickbird.result(success, message, details).';
        END IF;
        RAISE EXCEPTION 'function %: does not exist', function_name
            USING ERRCODE = 'TB422', HINT = format('Create it: CREATE FUNCTION %s() RETURNS jsonb …', function_name);
    END IF;
    IF NOT coalesce(
        (
            SELECT p.prosecdef AND pg_get_userbyid(p.proowner) = role_name FROM pg_proc AS p WHERE p.oid = wrapper
        ),
        false
    ) THEN
        RAISE EXCEPTION 'role %: may not execute jobs', role_name
            USING ERRCODE = 'TB422',
                HINT = format('An administrator allows it: SELECT tickbird.allow_job_role(%L).', role_name);
    END IF;
    IF NOT has_function_privilege(role_name, chosen, 'EXECUTE') OR NOT has_schema_privilege(role_name, place, 'USAGE') THEN
        RAISE EXCEPTION 'function %: role % may not execute it', function_name, role_name
            USING ERRCODE = 'TB422',
                HINT = format('GRANT EXECUTE ON FUNCTION %s TO %I, and USAGE on its schema.', chosen, role_name);
    END IF;
    RETURN chosen;
END $$;

-- Lets jobs run as a role. The function that calls them belongs to the role and is SECURITY DEFINER: PostgreSQL refuses every
-- change of the role inside of it, which SET LOCAL ROLE would not prevent.
CREATE FUNCTION tickbird.allow_job_role(role_name name) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    wrapper name := tickbird.job_wrapper(role_name);
    owner name := tickbird.job_owner();
BEGIN
    IF wrapper IS NULL OR NOT EXISTS (SELECT FROM pg_roles AS r WHERE r.rolname = role_name) THEN
        RAISE EXCEPTION 'role %: does not exist, or its name is longer than 55 bytes', quote_literal(role_name)
            USING ERRCODE = 'TB422', HINT = 'Create it with CREATE ROLE.';
    END IF;
    IF role_name <> owner THEN
        -- run_job sets the role. Membership gives the owner nothing new, because it may call every function as this role.
        IF NOT (SELECT r.rolsuper FROM pg_roles AS r WHERE r.rolname = owner) THEN
            EXECUTE format('GRANT %I TO %I', role_name, owner);
        END IF;
        EXECUTE format('GRANT USAGE ON SCHEMA tickbird TO %I', role_name);
        -- Row-level security shows it only its own jobs.
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON tickbird.scheduled_jobs TO %I', role_name);
        EXECUTE format(
            'GRANT SELECT ON tickbird.scheduled_job_runs, tickbird.scheduled_job_executions, tickbird.scheduled_job_status TO %I',
            role_name
        );
    END IF;
    EXECUTE format($create$
        CREATE OR REPLACE FUNCTION tickbird.%I(function regprocedure, argument jsonb) RETURNS jsonb
        LANGUAGE plpgsql SECURITY DEFINER
        SET search_path = pg_catalog, pg_temp
        AS $body$
        DECLARE
            place name;
            title name;
            has_argument boolean;
            result jsonb;
        BEGIN
            SELECT n.nspname, p.proname, p.pronargs = 1 INTO STRICT place, title, has_argument
            FROM pg_catalog.pg_proc AS p
            JOIN pg_catalog.pg_namespace AS n ON n.oid = p.pronamespace
            WHERE p.oid = function;
            PERFORM pg_catalog.set_config(
                'search_path',
                CASE WHEN place = 'public' THEN '' ELSE pg_catalog.quote_ident(place) || ', ' END || 'public, pg_temp',
                true
            );
            IF has_argument THEN
                EXECUTE pg_catalog.format('SELECT %%I.%%I($1)', place, title) INTO result USING argument;
            ELSE
                EXECUTE pg_catalog.format('SELECT %%I.%%I()', place, title) INTO result;
            END IF;
            -- At COMMIT, deferred triggers and open cursors would be executed as the owner of the store.
            EXECUTE 'CLOSE ALL';
            SET CONSTRAINTS ALL IMMEDIATE;
            RETURN result;
        END $body$
    $create$, wrapper);
    EXECUTE format('REVOKE ALL ON FUNCTION tickbird.%I(regprocedure, jsonb) FROM PUBLIC', wrapper);
    EXECUTE format('GRANT EXECUTE ON FUNCTION tickbird.%I(regprocedure, jsonb) TO %I', wrapper, owner);
    IF role_name <> current_user THEN
        -- The new owner of a function needs CREATE on its schema at that moment.
        EXECUTE format('GRANT CREATE ON SCHEMA tickbird TO %I', role_name);
        EXECUTE format('ALTER FUNCTION tickbird.%I(regprocedure, jsonb) OWNER TO %I', wrapper, role_name);
        IF role_name <> owner THEN
            EXECUTE format('REVOKE CREATE ON SCHEMA tickbird FROM %I', role_name);
        END IF;
    END IF;
END $$;

-- The key of the advisory lock of a run: its attempts are never executed at the same time.
CREATE FUNCTION tickbird.job_lock(run_id bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN hashtextextended('tickbird job ' || run_id, 7312);

-- Begins an attempt in the caller's transaction. Raises TB409 if an older attempt is still executed, and TB410 if the attempt
-- has lost its lease. The run's row is not locked, because its lease is renewed while the function is executed.
CREATE FUNCTION tickbird.begin_job(
    run_id bigint, attempt integer, incarnation integer, worker text, timeout_ms integer
) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NOT pg_try_advisory_xact_lock(tickbird.job_lock(begin_job.run_id)) THEN
        RAISE EXCEPTION 'run %: an older attempt is still executed', begin_job.run_id USING ERRCODE = 'TB409';
    END IF;
    IF NOT EXISTS (
        SELECT FROM tickbird.runs AS r
        WHERE r.id = begin_job.run_id AND r.attempt = begin_job.attempt AND r.status = 'running'
            AND (begin_job.incarnation = 0 OR r.incarnation = begin_job.incarnation)
            AND r.worker = coalesce(begin_job.worker, r.worker)
    ) THEN
        RAISE EXCEPTION 'run %: attempt % has lost its lease', begin_job.run_id, begin_job.attempt USING ERRCODE = 'TB410';
    END IF;
    PERFORM
        set_config('statement_timeout', timeout_ms::text, true),
        set_config('application_name', format('tickbird run %s attempt %s', begin_job.run_id, begin_job.attempt), true),
        set_config('client_min_messages', 'notice', true),
        -- The server ends the function of a worker that was killed or frozen.
        set_config('client_connection_check_interval', '2s', true),
        set_config('idle_in_transaction_session_timeout', '10s', true);
END $$;

-- Executes the function of a run as a role (null: the owner of the store). Raises TB422 if it may not be executed.
-- A success is recorded here, with the columns that succeed_runs returns; is_ended is false if the attempt has lost its lease,
-- and null if the caller has to decide. Waiting runs are released by the caller.
CREATE FUNCTION tickbird.run_job(
    run_id bigint, attempt integer, incarnation integer, worker text, function_name text, role_name name, argument jsonb,
    max_length integer
) RETURNS TABLE (
    result text, length integer, is_ended boolean, ended_at timestamptz, freed bigint[], watched bigint[], namespaces text[],
    keys text[]
)
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    executed_as name := coalesce(role_name, tickbird.job_owner());
    function regprocedure := tickbird.resolve_job_function(function_name, executed_as);
    schedule bigint;
    run_namespace text;
    key text;
    defined_owner name;
    has_argument boolean;
    owner name;
    returned jsonb;
BEGIN
    SELECT p.pronargs = 1, pg_get_userbyid(p.proowner) INTO has_argument, owner FROM pg_proc AS p WHERE p.oid = function;
    SELECT r.schedule_id INTO schedule FROM tickbird.runs AS r WHERE r.id = run_job.run_id;
    SELECT f.owner INTO defined_owner
    FROM tickbird.job_functions AS f WHERE f.schedule_id = schedule AND f.function = function_name;
    IF defined_owner <> owner THEN
        RAISE EXCEPTION 'function %: belongs to %, but belonged to % when the schedule was defined',
            function_name, owner, defined_owner
            USING ERRCODE = 'TB422', HINT = 'Check the function, then define the schedule again.';
    END IF;
    IF has_argument THEN
        argument := argument || jsonb_build_object('last_success', (
            SELECT jsonb_build_object(
                'run_id', r.id, 'scheduled_for', r.scheduled_for, 'finished_at', r.finished_at, 'result', r.result
            )
            FROM tickbird.runs AS r
            WHERE r.schedule_id = schedule AND r.status = 'succeeded' AND r.id < run_job.run_id
            ORDER BY r.id DESC LIMIT 1
        ));
    END IF;
    -- tickbird.caller() is the job's role inside of the function, not the login of the worker. The function cannot change it:
    -- the wrapper is SECURITY DEFINER.
    PERFORM set_config('role', executed_as, true);
    EXECUTE format('SELECT tickbird.%I($1, $2)', tickbird.job_wrapper(executed_as)) INTO returned USING function, argument;
    PERFORM set_config('role', 'none', true);
    -- Undo everything that the function may have changed in the session, before anything else is executed as the owner, and
    -- inside of the transaction: after it, a pooler gives the next statement another session.
    RESET ALL;
    SET LOCAL search_path = pg_catalog, pg_temp;
    SET LOCAL statement_timeout = '15s';
    SET LOCAL lock_timeout = '3s';
    SET LOCAL idle_in_transaction_session_timeout = '10s';
    UNLISTEN *;
    DISCARD TEMP;
    PERFORM pg_advisory_unlock_all();
    result := left(returned::text, max_length);
    length := length(returned::text);
    IF length <= max_length
        AND jsonb_typeof(returned) = 'object'
        AND returned -> 'success' = 'true'
        AND jsonb_typeof(coalesce(returned -> 'message', '""')) = 'string'
        AND coalesce(returned -> 'again', 'false') = 'false'
    THEN
        -- The same as succeed_runs. statement_timestamp() would be the start of the call.
        UPDATE tickbird.runs AS r
        SET status = 'succeeded', lease_until = NULL, finished_at = clock_timestamp(), result = returned::json,
            error = NULL, failure_kind = NULL, reason = NULL
        WHERE r.id = run_job.run_id AND r.attempt = run_job.attempt AND r.status = 'running'
            AND (run_job.incarnation = 0 OR r.incarnation = run_job.incarnation)
            AND r.worker = coalesce(run_job.worker, r.worker)
        RETURNING r.finished_at, r.namespace, r.concurrency_key INTO ended_at, run_namespace, key;
        is_ended := FOUND;
        -- In later statements, which see runs that began to wait in the meantime.
        watched := tickbird.tracked_schedules(ARRAY[schedule]);
        freed := ARRAY(
            SELECT r.schedule_id FROM tickbird.runs AS r
            WHERE r.schedule_id = schedule AND r.status = 'waiting' AND r.lane < 2
            ORDER BY r.schedule_id, r.lane, r.id LIMIT 1
        );
        namespaces := CASE WHEN key IS NULL THEN '{}' ELSE ARRAY[run_namespace] END;
        keys := CASE WHEN key IS NULL THEN '{}' ELSE ARRAY[key] END;
    END IF;
    RETURN NEXT;
END $$;

-- Used by functions of jobs.

-- A line of the run's log, visible while the function is executed. Levels: info, warning, error.
CREATE FUNCTION tickbird.log(text text, level text DEFAULT 'info') RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET client_min_messages = notice
AS $$
BEGIN
    RAISE NOTICE USING MESSAGE = coalesce(text, 'NULL'), DETAIL = coalesce(level, 'info'), ERRCODE = 'TB001';
END $$;

-- Reports the progress of the run, a fraction from 0 to 1, visible while the function is executed.
CREATE FUNCTION tickbird.heartbeat(progress double precision) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET client_min_messages = notice
AS $$
BEGIN
    RAISE NOTICE USING MESSAGE = coalesce(progress::text, '0'), ERRCODE = 'TB002';
END $$;

-- The return value of a job's function.
CREATE FUNCTION tickbird.result(success boolean, message text DEFAULT '', details jsonb DEFAULT NULL) RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN jsonb_build_object('success', success, 'message', coalesce(message, ''))
    || CASE WHEN details IS NULL THEN '{}' ELSE jsonb_build_object('details', details) END;

REVOKE ALL ON FUNCTION
    tickbird.allow_job_role(name),
    tickbird.begin_job(bigint, integer, integer, text, integer),
    tickbird.run_job(bigint, integer, integer, text, text, name, jsonb, integer)
FROM PUBLIC;

SELECT tickbird.allow_job_role(tickbird.job_owner());
