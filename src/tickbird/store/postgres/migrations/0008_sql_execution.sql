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

-- Begins an attempt in the caller's transaction. Raises TB409 if an older attempt is still executed, and TB410 if the attempt
-- has lost its lease. The run's row is not locked, because its lease is renewed while the function is executed.
CREATE OR REPLACE FUNCTION tickbird.begin_job(
    run_id bigint, attempt integer, incarnation integer, worker text, timeout_ms integer
) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NOT pg_try_advisory_xact_lock(tickbird.job_lock(begin_job.run_id)) THEN
        RAISE EXCEPTION 'run %: an older attempt is still executed', begin_job.run_id USING ERRCODE = 'TB409';
    END IF;
    -- The status is hidden from the query planner, which would otherwise choose the index of running runs.
    IF NOT EXISTS (
        SELECT FROM tickbird.runs AS r
        WHERE r.id = begin_job.run_id AND r.attempt = begin_job.attempt AND r.status || '' = 'running'
            AND (begin_job.incarnation = 0 OR r.incarnation = begin_job.incarnation)
            AND r.worker = coalesce(begin_job.worker, r.worker)
    ) THEN
        RAISE EXCEPTION 'run %: attempt % has lost its lease', begin_job.run_id, begin_job.attempt USING ERRCODE = 'TB410';
    END IF;
    PERFORM
        set_config('statement_timeout', timeout_ms::text, true),
        set_config(
            'application_name', 'tickbird run ' || begin_job.run_id::text || ' attempt ' || begin_job.attempt::text, true
        ),
        set_config('client_min_messages', 'notice', true),
        -- The server ends the function of a worker that was killed or frozen.
        set_config('client_connection_check_interval', '2s', true),
        set_config('idle_in_transaction_session_timeout', '10s', true);
END $$;

-- Executes the function of a run as a role (null: the owner of the store). Raises TB422 if it may not be executed.
-- A success is recorded here, with the columns that succeed_runs returns; is_ended is false if the attempt has lost its lease,
-- and null if the caller has to decide. Waiting runs are released by the caller.
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
    executed_as name := coalesce(role_name, tickbird.job_owner());
    resolved regprocedure := tickbird.resolve_run_function(run_id, function_name, executed_as);
    schedule bigint;
    run_namespace text;
    key text;
    defined_owner name;
    has_argument boolean;
    owner name;
    returned jsonb;
BEGIN
    SELECT r.schedule_id, f.owner, p.pronargs = 1, pg_get_userbyid(p.proowner)
    INTO schedule, defined_owner, has_argument, owner
    FROM pg_proc AS p
    LEFT JOIN tickbird.runs AS r ON r.id = run_job.run_id
    LEFT JOIN tickbird.job_functions AS f ON f.schedule_id = r.schedule_id AND f.function = function_name
    WHERE p.oid = resolved;
    IF defined_owner <> owner THEN
        RAISE EXCEPTION 'function %: belongs to %, but belonged to % when the schedule was defined',
            function_name, owner, defined_owner
            USING ERRCODE = 'TB422', HINT = 'Check the function, then define the schedule again.';
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
    PERFORM set_config('role', executed_as, true);
    EXECUTE format('SELECT tickbird.%I($1, $2)', tickbird.job_wrapper(executed_as)) INTO returned USING resolved, argument;
    PERFORM set_config('role', 'none', true);
    -- Undo everything that the function may have changed in the session, before anything else is executed as the owner, and
    -- inside of the transaction: after it, a pooler gives the next statement another session.
    RESET ALL;
    UNLISTEN *;
    DISCARD TEMP;
    PERFORM
        pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true),
        pg_catalog.set_config('statement_timeout', '15s', true),
        pg_catalog.set_config('lock_timeout', '3s', true),
        pg_catalog.set_config('idle_in_transaction_session_timeout', '10s', true),
        pg_catalog.pg_advisory_unlock_all();
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
