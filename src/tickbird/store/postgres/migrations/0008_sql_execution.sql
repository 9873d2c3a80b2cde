-- min_compatible: 1
-- Faster execution of SQL functions. Every function has the same arguments, results and checks as before.

-- The same rules. Repetition counts make a regular expression slow, and every run of a job updates its row.
ALTER TABLE tickbird.scheduled_jobs
    DROP CONSTRAINT scheduled_jobs_queue_check,
    DROP CONSTRAINT scheduled_jobs_name_check,
    ADD CONSTRAINT scheduled_jobs_queue_check CHECK (queue ~ '^[A-Za-z0-9_.-]+$' AND length(queue) <= 200) NOT VALID,
    ADD CONSTRAINT scheduled_jobs_name_check
        CHECK (name ~ '^[A-Za-z0-9_.-]+$' AND length(name) <= 200 AND name NOT IN ('.', '..')) NOT VALID;

-- The same key. Without a cast the expression is STABLE, and PostgreSQL does not inline it into an IMMUTABLE function.
CREATE OR REPLACE FUNCTION tickbird.job_lock(run_id bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN hashtextextended('tickbird job ' || run_id::text, 7312);

-- Begins an attempt in the caller's transaction. Raises TB409 if an older attempt is still executed. The settings apply to the
-- next statement, run_job.
CREATE OR REPLACE FUNCTION tickbird.begin_job(
    run_id bigint, attempt integer, incarnation integer, worker text, timeout_ms integer
) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    -- An assignment costs less than PERFORM.
    ignored text;
BEGIN
    IF NOT pg_try_advisory_xact_lock(tickbird.job_lock(begin_job.run_id)) THEN
        RAISE EXCEPTION 'run %: an older attempt is still executed', begin_job.run_id USING ERRCODE = 'TB409';
    END IF;
    ignored := set_config('statement_timeout', timeout_ms::text, true);
    ignored := set_config(
        'application_name', 'tickbird run ' || begin_job.run_id::text || ' attempt ' || begin_job.attempt::text, true
    );
    ignored := set_config('client_min_messages', 'notice', true);
    -- The server ends the function of a worker that was killed or frozen.
    ignored := set_config('client_connection_check_interval', '2s', true);
    ignored := set_config('idle_in_transaction_session_timeout', '10s', true);
END $$;

-- Executes the function of a run as a role (null: the owner of the store). Raises TB410 if the attempt has lost its lease, and
-- TB422 if the function may not be executed. The run's row is not locked, because its lease is renewed while the function is
-- executed. A success is recorded here, with the columns that succeed_runs returns; is_ended is false if the attempt has lost its
-- lease, and null if the caller has to decide. Waiting runs are released by the caller.
CREATE OR REPLACE FUNCTION tickbird.run_job(
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
    executed_as name;
    resolved regprocedure;
    schedule bigint;
    run_namespace text;
    key text;
    defined_owner name;
    has_argument boolean;
    owner name;
    returned jsonb;
    ignored text;
BEGIN
    -- Each session plans the statements of this function once. The job's function has the settings of the server.
    ignored := set_config('plan_cache_mode', 'force_generic_plan', true);
    -- All checks of resolve_job_function in one statement. A function that fails one is checked again below, for the reason.
    -- The status is hidden from the query planner, which would otherwise choose the index of running runs.
    SELECT r.schedule_id, pg_get_userbyid(executor.id), chosen.id, chosen.has_argument
    INTO schedule, executed_as, resolved, has_argument
    FROM tickbird.runs AS r
    CROSS JOIN LATERAL (
        SELECT
            n.oid AS schema_id,
            CASE WHEN role_name IS NULL THEN n.nspowner ELSE to_regrole(quote_ident(role_name))::oid END AS id
        FROM pg_namespace AS n
        WHERE n.nspname = 'tickbird'
    ) AS executor
    LEFT JOIN LATERAL (
        SELECT p.oid AS id, p.pronargs = 1 AS has_argument
        FROM tickbird.job_functions AS f
        JOIN pg_proc AS p ON p.oid = to_regprocedure(f.signature)
        JOIN pg_namespace AS n ON n.oid = p.pronamespace
        JOIN tickbird.sql_settings AS x ON n.nspname = ANY (x.allowed_schemas)
        JOIN pg_proc AS w ON w.proname = tickbird.job_wrapper(pg_get_userbyid(executor.id)) AND w.pronamespace = executor.schema_id
        WHERE f.schedule_id = r.schedule_id AND f.function = function_name
            AND f.owner = pg_get_userbyid(p.proowner)
            AND p.prokind = 'f' AND NOT p.proretset AND p.prorettype = 'jsonb'::regtype
            AND n.nspname NOT IN ('pg_catalog', 'information_schema')
            AND w.proargtypes = '2202 3802' -- regprocedure, jsonb
            AND w.prosecdef AND w.proowner = executor.id
            AND has_function_privilege(executor.id, p.oid, 'EXECUTE')
            AND has_schema_privilege(executor.id, n.oid, 'USAGE')
    ) AS chosen ON true
    WHERE r.id = run_job.run_id AND r.attempt = run_job.attempt AND r.status || '' = 'running'
        AND (run_job.incarnation = 0 OR r.incarnation = run_job.incarnation)
        AND r.worker = coalesce(run_job.worker, r.worker);
    IF NOT FOUND THEN
        RAISE EXCEPTION 'run %: attempt % has lost its lease', run_job.run_id, run_job.attempt USING ERRCODE = 'TB410';
    END IF;
    IF resolved IS NULL THEN
        executed_as := coalesce(role_name, executed_as);
        resolved := tickbird.resolve_run_function(run_id, function_name, executed_as);
        SELECT f.owner, p.pronargs = 1, pg_get_userbyid(p.proowner) INTO defined_owner, has_argument, owner
        FROM pg_proc AS p
        LEFT JOIN tickbird.job_functions AS f ON f.schedule_id = schedule AND f.function = function_name
        WHERE p.oid = resolved;
        IF defined_owner <> owner THEN
            RAISE EXCEPTION 'function %: belongs to %, but belonged to % when the schedule was defined',
                function_name, owner, defined_owner
                USING ERRCODE = 'TB422', HINT = 'Check the function, then define the schedule again.';
        END IF;
    END IF;
    IF has_argument THEN
        -- With a visible status, the query planner may choose an index of all finished runs.
        argument := argument || jsonb_build_object('last_success', (
            SELECT jsonb_build_object(
                'run_id', r.id, 'scheduled_for', r.scheduled_for, 'finished_at', r.finished_at, 'result', r.result
            )
            FROM tickbird.runs AS r
            WHERE r.schedule_id = schedule AND r.status || '' = 'succeeded' AND r.id < run_job.run_id
            ORDER BY r.id DESC LIMIT 1
        ));
    END IF;
    -- tickbird.caller() is the job's role inside of the function, not the login of the worker. The function cannot change it:
    -- the wrapper is SECURITY DEFINER.
    ignored := set_config('role', executed_as, true);
    RESET plan_cache_mode;
    EXECUTE format('SELECT tickbird.%I($1, $2)', tickbird.job_wrapper(executed_as)) INTO returned USING resolved, argument;
    ignored := set_config('role', 'none', true);
    -- Undo everything that the function may have changed in the session, before anything else is executed as the owner, and
    -- inside of the transaction: after it, a pooler gives the next statement another session.
    RESET ALL;
    UNLISTEN *;
    DISCARD TEMP;
    ignored := pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
    ignored := set_config('plan_cache_mode', 'force_generic_plan', true);
    ignored := set_config('statement_timeout', '15s', true);
    ignored := set_config('lock_timeout', '3s', true);
    ignored := set_config('idle_in_transaction_session_timeout', '10s', true);
    PERFORM pg_advisory_unlock_all();
    result := returned::text;
    length := length(result);
    IF length > max_length THEN
        result := left(result, max_length);
    ELSIF jsonb_typeof(returned) = 'object'
        AND returned -> 'success' = 'true'
        AND jsonb_typeof(coalesce(returned -> 'message', '""')) = 'string'
        AND coalesce(returned -> 'again', 'false') = 'false'
    THEN
        -- The same as succeed_runs. statement_timestamp() would be the start of the call.
        UPDATE tickbird.runs AS r
        SET status = 'succeeded', lease_until = NULL, finished_at = clock_timestamp(), result = returned::json,
            error = NULL, failure_kind = NULL, reason = NULL
        WHERE r.id = run_job.run_id AND r.attempt = run_job.attempt AND r.status || '' = 'running'
            AND (run_job.incarnation = 0 OR r.incarnation = run_job.incarnation)
            AND r.worker = coalesce(run_job.worker, r.worker)
        RETURNING r.finished_at, r.namespace, r.concurrency_key INTO ended_at, run_namespace, key;
        is_ended := FOUND;
        -- In a later statement, which sees runs that began to wait in the meantime.
        SELECT
            ARRAY(SELECT l.schedule_id FROM tickbird.last_successes AS l WHERE l.schedule_id = schedule),
            ARRAY(
                SELECT r.schedule_id FROM tickbird.runs AS r
                WHERE r.schedule_id = schedule AND r.status = 'waiting' AND r.lane < 2
                ORDER BY r.schedule_id, r.lane, r.id LIMIT 1
            )
        INTO watched, freed;
        namespaces := CASE WHEN key IS NULL THEN '{}' ELSE ARRAY[run_namespace] END;
        keys := CASE WHEN key IS NULL THEN '{}' ELSE ARRAY[key] END;
    END IF;
    RETURN NEXT;
END $$;
