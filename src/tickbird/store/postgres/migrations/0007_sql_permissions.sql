-- min_compatible: 1
-- Permissions of plain SQL follow the role in force; a job keeps the function that it was defined with; clear errors for
-- missing arguments.

-- Names of functions

-- The schema, if it is given, and the name. Folds to lower case unless quoted, as PostgreSQL does. Raises TB422.
CREATE FUNCTION tickbird.parse_function_name(function_name text) RETURNS text[]
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    identifier CONSTANT text := '([A-Za-z_][A-Za-z0-9_]{0,62}|"([^"[:cntrl:]]|""){1,63}")';
BEGIN
    IF function_name IS NULL OR function_name !~ ('^(' || identifier || '\.)?' || identifier || '$') THEN
        RAISE EXCEPTION 'function %: is not the name of a function', coalesce(quote_literal(left(function_name, 100)), 'NULL')
            USING ERRCODE = 'TB422', HINT = 'Write name or schema.name, without arguments. Quote a name with upper case: "MyFunc".';
    END IF;
    RETURN parse_ident(function_name);
END $$;

CREATE FUNCTION tickbird.job_signature(function oid) RETURNS text
LANGUAGE sql STABLE
RETURN (
    SELECT format('%I.%I(%s)', n.nspname, p.proname, CASE p.pronargs WHEN 0 THEN '' ELSE 'jsonb' END)
    FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace
    WHERE p.oid = function
);

-- The function that was chosen when the schedule was defined, such as public.f(). A run of an older revision may use another
-- function than the newest one.
ALTER TABLE tickbird.job_functions
    ADD COLUMN signature text,
    DROP CONSTRAINT job_functions_pkey,
    ADD PRIMARY KEY (schedule_id, function);

-- Everybody may know which schemas are allowed; functions are checked with the rights of the caller.
GRANT SELECT ON tickbird.sql_settings TO PUBLIC;

-- Jobs do not move to another namespace: the workers of the new one would not know the ids of their schedules.
CREATE FUNCTION tickbird.check_settings() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    -- Waits for transactions that have inserted a job under the old namespace; later ones wait for this one.
    LOCK TABLE tickbird.scheduled_jobs IN SHARE ROW EXCLUSIVE MODE;
    IF EXISTS (SELECT FROM tickbird.scheduled_jobs) THEN
        RAISE EXCEPTION 'sql_settings: the namespace cannot change from % to % while tickbird.scheduled_jobs has jobs',
            quote_literal(OLD.namespace), quote_literal(NEW.namespace)
            USING ERRCODE = 'TB422', HINT = 'Delete the jobs, commit, change the namespace, then insert them again. Their runs stay in the old namespace.';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER sql_settings_check BEFORE UPDATE OF namespace ON tickbird.sql_settings
    FOR EACH ROW WHEN (NEW.namespace <> OLD.namespace) EXECUTE FUNCTION tickbird.check_settings();

-- Decides which function is executed as a role; raises TB422 with the reason and the next step. If the signature is null, the
-- function is chosen: the role's own function first, then one that it may execute, then the one with an argument.
CREATE FUNCTION tickbird.resolve_job_function(function_name text, role_name name, signature text) RETURNS regprocedure
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    parts CONSTANT text[] := tickbird.parse_function_name(function_name);
    title CONSTANT text := parts[cardinality(parts)];
    shown CONSTANT text := coalesce(signature, function_name);
    role_id CONSTANT oid := (SELECT r.oid FROM pg_roles AS r WHERE r.rolname = role_name);
    schemas text[] := (
        SELECT array_remove(array_remove(s.allowed_schemas, 'pg_catalog'), 'information_schema') FROM tickbird.sql_settings AS s
    );
    chosen record;
    elsewhere text;
BEGIN
    IF cardinality(parts) = 2 THEN
        IF NOT parts[1] = ANY (coalesce(schemas, '{}')) THEN
            RAISE EXCEPTION 'function %: functions of schema % are not executed', shown, parts[1]
                USING ERRCODE = 'TB422', HINT = format(
                    'Move it to schema %s, or allow the schema: UPDATE tickbird.sql_settings SET allowed_schemas = …',
                    coalesce(schemas[1], 'public')
                );
        END IF;
        schemas := parts[1:1];
    END IF;
    SELECT p.oid, n.oid AS schema_id INTO chosen
    FROM pg_proc AS p
    JOIN pg_namespace AS n ON n.oid = p.pronamespace
    WHERE p.proname = title AND n.nspname = ANY (schemas)
        AND p.prokind = 'f' AND NOT p.proretset AND p.prorettype = 'jsonb'::regtype
        AND (p.pronargs = 0 OR p.pronargs = 1 AND p.proargtypes[0] = 'jsonb'::regtype)
        AND tickbird.job_signature(p.oid) = coalesce(signature, tickbird.job_signature(p.oid))
    ORDER BY
        array_position(schemas, n.nspname::text), p.proowner IS NOT DISTINCT FROM role_id DESC,
        coalesce(has_function_privilege(role_id, p.oid, 'EXECUTE'), false) DESC, p.pronargs DESC
    LIMIT 1;
    IF NOT FOUND THEN
        IF signature IS NULL AND EXISTS (
            SELECT FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace
            WHERE n.nspname = ANY (schemas) AND p.proname = title
        ) THEN
            RAISE EXCEPTION 'function %: must return jsonb, and have no argument or one of type jsonb', function_name
                USING ERRCODE = 'TB422', HINT = 'Return tickbird.result(success, message, details).';
        END IF;
        elsewhere := (
            SELECT format('%I.%I', n.nspname, p.proname)
            FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace
            WHERE signature IS NULL AND p.proname = title AND n.nspname NOT IN ('pg_catalog', 'information_schema')
            ORDER BY p.oid DESC LIMIT 1
        );
        IF elsewhere IS NOT NULL THEN
            RAISE EXCEPTION 'function %: is not in schema %, but there is %', shown, array_to_string(schemas, ' or '), elsewhere
                USING ERRCODE = 'TB422', HINT = format('Move it: ALTER FUNCTION %s SET SCHEMA %I.', elsewhere, coalesce(schemas[1], 'public'));
        END IF;
        RAISE EXCEPTION 'function %: does not exist', shown
            USING ERRCODE = 'TB422', HINT = CASE
                WHEN signature IS NULL THEN format('Create it: CREATE FUNCTION %s() RETURNS jsonb …', function_name)
                ELSE 'Create it, or choose again: UPDATE tickbird.scheduled_jobs SET function_name = …'
            END;
    END IF;
    IF NOT EXISTS (
        SELECT FROM pg_proc AS p
        WHERE p.oid = to_regprocedure('tickbird.' || quote_ident(tickbird.job_wrapper(role_name)) || '(regprocedure, jsonb)')
            AND p.prosecdef AND p.proowner = role_id
    ) THEN
        RAISE EXCEPTION 'role %: may not execute jobs', role_name
            USING ERRCODE = 'TB422',
                HINT = format('An administrator allows it: SELECT tickbird.allow_job_role(%L).', role_name);
    END IF;
    IF NOT has_function_privilege(role_id, chosen.oid, 'EXECUTE')
        OR NOT has_schema_privilege(role_id, chosen.schema_id, 'USAGE')
    THEN
        RAISE EXCEPTION 'function %: role % may not execute it', shown, role_name
            USING ERRCODE = 'TB422',
                HINT = format('GRANT EXECUTE ON FUNCTION %s TO %I, and USAGE on its schema.', chosen.oid::regprocedure, role_name);
    END IF;
    RETURN chosen.oid;
END $$;

CREATE OR REPLACE FUNCTION tickbird.resolve_job_function(function_name text, role_name name) RETURNS regprocedure
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT tickbird.resolve_job_function(function_name, role_name, NULL)
$$;

-- The function of a run: the one that its schedule was defined with.
CREATE FUNCTION tickbird.resolve_run_function(run_id bigint, function_name text, role_name name) RETURNS regprocedure
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT tickbird.resolve_job_function(function_name, role_name, (
        SELECT f.signature
        FROM tickbird.runs AS r
        JOIN tickbird.job_functions AS f ON f.schedule_id = r.schedule_id AND f.function = function_name
        WHERE r.id = resolve_run_function.run_id
    ))
$$;

-- Chooses and records the function of a schedule. Returns false if the record is the same as before.
CREATE FUNCTION tickbird.record_job_function(schedule_id bigint) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    target CONSTANT jsonb := (
        SELECT s.definition -> 'target' -> 'sql' FROM tickbird.schedules AS s WHERE s.id = record_job_function.schedule_id
    );
BEGIN
    INSERT INTO tickbird.job_functions AS f (schedule_id, function, signature, owner, defined_by)
    SELECT
        record_job_function.schedule_id, target ->> 'function', tickbird.job_signature(p.oid), pg_get_userbyid(p.proowner),
        tickbird.caller()
    FROM pg_proc AS p
    WHERE p.oid = tickbird.resolve_job_function(
        target ->> 'function', coalesce(target ->> 'role', tickbird.job_owner())::name
    )
    ON CONFLICT ON CONSTRAINT job_functions_pkey DO UPDATE
    SET signature = excluded.signature, owner = excluded.owner, defined_by = excluded.defined_by
    WHERE (f.signature, f.owner) IS DISTINCT FROM (excluded.signature, excluded.owner);
    RETURN FOUND;
END $$;

CREATE OR REPLACE FUNCTION tickbird.check_schedule_function() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM tickbird.record_job_function(NEW.id);
    RETURN NULL;
END $$;
-- An edit of another field keeps the function.
DROP TRIGGER schedules_check_function_update ON tickbird.schedules;
CREATE TRIGGER schedules_check_function_update AFTER UPDATE OF definition ON tickbird.schedules
    FOR EACH ROW
    WHEN (
        NEW.definition -> 'target' -> 'sql' ? 'function'
        AND NEW.definition -> 'target' IS DISTINCT FROM OLD.definition -> 'target'
    )
    EXECUTE FUNCTION tickbird.check_schedule_function();

-- A statement that sets function_name chooses the function again, even if the name is the same.
CREATE FUNCTION tickbird.choose_job_function() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF tickbird.record_job_function(NEW.id) THEN
        INSERT INTO tickbird.audit_log (created_at, actor, action, namespace, schedule_id, schedule, detail)
        SELECT
            clock_timestamp(), tickbird.actor(), 'update', x.namespace, NEW.id, NEW.name,
            jsonb_build_object('function', f.signature, 'owner', f.owner, 'by', 'sql')
        FROM tickbird.job_functions AS f
        JOIN tickbird.schedules AS s ON s.id = f.schedule_id AND s.definition #>> '{target,sql,function}' = f.function
        CROSS JOIN tickbird.sql_settings AS x
        WHERE f.schedule_id = NEW.id;
    END IF;
    RETURN NULL;
END $$;
-- After scheduled_jobs_write: triggers fire in the order of their names.
CREATE TRIGGER scheduled_jobs_write_function AFTER INSERT OR UPDATE OF function_name ON tickbird.scheduled_jobs
    FOR EACH ROW EXECUTE FUNCTION tickbird.choose_job_function();

DO $$
DECLARE
    job record;
BEGIN
    FOR job IN
        SELECT f.schedule_id, f.function, f.owner, coalesce(s.definition #>> '{target,sql,role}', tickbird.job_owner())::name AS role
        FROM tickbird.job_functions AS f JOIN tickbird.schedules AS s ON s.id = f.schedule_id
    LOOP
        BEGIN
            UPDATE tickbird.job_functions AS f
            SET signature = tickbird.job_signature(p.oid)
            FROM pg_proc AS p
            WHERE f.schedule_id = job.schedule_id AND f.function = job.function
                AND p.oid = tickbird.resolve_job_function(job.function, job.role)
                AND pg_get_userbyid(p.proowner) = job.owner;
        EXCEPTION WHEN SQLSTATE 'TB422' THEN
            -- The job is refused at its next run, with the same reason.
            NULL;
        END;
    END LOOP;
END $$;

-- A name as it was written is kept if it is the same function.
CREATE OR REPLACE FUNCTION tickbird.job_of(definition jsonb, job tickbird.scheduled_jobs) RETURNS tickbird.scheduled_jobs
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    parts CONSTANT text[] := tickbird.parse_function_name(definition #>> '{target,sql,function}');
    written CONSTANT text[] := CASE WHEN job.function_name IS NOT NULL THEN tickbird.parse_function_name(job.function_name) END;
BEGIN
    job.description := definition ->> 'description';
    IF written IS NULL OR (parts <> written AND parts <> ARRAY['public'] || written) THEN
        job.function_name := definition #>> '{target,sql,function}';
    END IF;
    -- A trigger of another kind is shown as JSON.
    job.schedule := coalesce(definition #>> '{trigger,cron}', definition ->> 'trigger');
    job.timezone := coalesce(definition #>> '{trigger,tz}', 'UTC');
    job.payload := coalesce(definition -> 'payload', '{}');
    job.timeout := make_interval(secs => (definition ->> 'timeout')::integer);
    job.retries := coalesce((definition ->> 'retries')::integer, 0);
    job.catch_up := coalesce(definition ->> 'catch_up', 'one');
    job.overlap := coalesce(definition ->> 'overlap', 'skip');
    job.queue := coalesce(definition ->> 'queue', 'default');
    job.role := coalesce(definition #>> '{target,sql,role}', tickbird.job_owner());
    RETURN job;
END $$;

-- Who may do what

-- The role in force decides, as everywhere in PostgreSQL: inside of a SECURITY DEFINER function it is the function's owner, not
-- the login and not a role that the login has set. Predicates about the role in force are SECURITY INVOKER, and are used only
-- in policies, views and SECURITY INVOKER functions; other functions get the role as an argument.

-- Membership in tickbird_viewer, tickbird_operator or tickbird_admin; each includes the one before. The owner of the store is
-- an admin.
CREATE FUNCTION tickbird.role_is(role_name name, least_role text) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
RETURN pg_has_role(role_name, tickbird.job_owner(), 'MEMBER') OR EXISTS (
    SELECT FROM pg_roles AS r
    JOIN unnest(ARRAY['viewer', 'operator', 'admin']) WITH ORDINALITY AS ranked(title, place)
        ON r.rolname = 'tickbird_' || ranked.title
    WHERE ranked.place >= array_position(ARRAY['viewer', 'operator', 'admin'], least_role)
        AND pg_has_role(role_name, r.oid, 'MEMBER')
);

-- A job belongs to its role and to that role's members.
CREATE FUNCTION tickbird.role_owns(role_name name, job_role name) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
RETURN EXISTS (SELECT FROM pg_roles AS r WHERE r.rolname = job_role AND pg_has_role(role_name, r.oid, 'MEMBER'));

CREATE OR REPLACE FUNCTION tickbird.caller_is(least_role text) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
RETURN tickbird.role_is(current_user, least_role);

CREATE OR REPLACE FUNCTION tickbird.is_own_job(role_name name) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
RETURN tickbird.role_owns(current_user, role_name);

ALTER TABLE tickbird.scheduled_jobs ALTER COLUMN role SET DEFAULT current_user;

-- A request to change something. No row is stored: the first trigger is SECURITY INVOKER and writes the role in force, which
-- the caller cannot choose; the second one has the rights of the store, and decides by this role.
CREATE VIEW tickbird.requests AS
SELECT
    NULL::text AS action,
    NULL::name AS role,
    NULL::text AS name,
    NULL::bigint AS run_id,
    NULL::jsonb AS payload,
    NULL::text AS queue,
    NULL::timestamptz AS at,
    NULL::integer AS priority,
    NULL::text AS key,
    NULL::text AS note,
    NULL::json AS event,
    NULL::jsonb AS result
WHERE false;
GRANT SELECT, INSERT ON tickbird.requests TO PUBLIC;

CREATE FUNCTION tickbird.sign_request() RETURNS trigger LANGUAGE plpgsql SECURITY INVOKER AS $$
BEGIN
    NEW.role := current_user;
    RETURN NEW;
END $$;

CREATE FUNCTION tickbird.apply_request() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    CASE NEW.action
        WHEN 'trigger' THEN NEW.result := tickbird.trigger_as(NEW.role, NEW.name, NEW.payload);
        WHEN 'pause' THEN PERFORM tickbird.pause_as(NEW.role, NEW.name, NEW.note, NEW.at);
        WHEN 'resume' THEN PERFORM tickbird.resume_as(NEW.role, NEW.name, NEW.note);
        WHEN 'reschedule' THEN PERFORM tickbird.reschedule_as(NEW.role, NEW.name, NEW.at, NEW.note);
        WHEN 'enqueue' THEN
            NEW.result := to_jsonb(
                tickbird.enqueue_as(NEW.role, NEW.name, NEW.payload, NEW.queue, NEW.at, NEW.priority, NEW.key)
            );
        WHEN 'cancel' THEN NEW.result := to_jsonb(tickbird.cancel_as(NEW.role, NEW.run_id, NEW.note));
        WHEN 'publish' THEN NEW.result := to_jsonb(tickbird.publish_as(NEW.role, NEW.event));
        ELSE
            RAISE EXCEPTION 'requests: there is no action %', coalesce(quote_literal(NEW.action), 'NULL')
                USING ERRCODE = 'TB422', HINT = 'Call a function, such as tickbird.pause(name).';
    END CASE;
    RETURN NEW;
END $$;
-- They fire in the order of their names.
CREATE TRIGGER requests_1_sign INSTEAD OF INSERT ON tickbird.requests FOR EACH ROW EXECUTE FUNCTION tickbird.sign_request();
CREATE TRIGGER requests_2_apply INSTEAD OF INSERT ON tickbird.requests FOR EACH ROW EXECUTE FUNCTION tickbird.apply_request();

-- Raises TB422 if an argument is null.
CREATE FUNCTION tickbird.require(function_name text, argument text, is_given boolean, hint text) RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF is_given IS NOT TRUE THEN
        RAISE EXCEPTION '%: % is null', function_name, argument USING ERRCODE = 'TB422', HINT = hint;
    END IF;
END $$;

-- The role of a run: of its job, or of the revision of a deleted job.
CREATE VIEW tickbird.run_roles AS
SELECT
    r.id AS run_id,
    coalesce(j.role, v.definition #>> '{target,sql,role}', s.definition #>> '{target,sql,role}', tickbird.job_owner())::name AS role
FROM tickbird.runs AS r
JOIN tickbird.schedules AS s ON s.id = r.schedule_id
LEFT JOIN tickbird.scheduled_jobs AS j ON j.id = r.schedule_id
LEFT JOIN tickbird.revisions AS v ON v.schedule_id = r.schedule_id AND v.revision = r.revision
WHERE r.target_kind = 'sql';

-- The table

-- The role of the schedule of this name, if it has a SQL function; also of a deleted one, whose runs become visible again.
CREATE FUNCTION tickbird.job_role(job_name text) RETURNS name
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT coalesce(s.definition #>> '{target,sql,role}', tickbird.job_owner())::name
    FROM tickbird.schedules AS s
    JOIN tickbird.sql_settings AS x ON x.namespace = s.namespace
    WHERE s.name = job_name AND s.definition -> 'target' -> 'sql' ? 'function'
$$;

-- SECURITY INVOKER: row-level security would refuse the same, with a worse message.
CREATE FUNCTION tickbird.check_job_role() RETURNS trigger
LANGUAGE plpgsql VOLATILE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    earlier_role name;
BEGIN
    IF tickbird.caller_is('admin') THEN
        RETURN NEW;
    END IF;
    IF (TG_OP = 'INSERT' OR NEW.role <> OLD.role) AND NOT tickbird.is_own_job(NEW.role) THEN
        RAISE EXCEPTION 'job %: you are not a member of role %', quote_literal(NEW.name), NEW.role
            USING ERRCODE = 'TB422', HINT = 'Leave out the role: the default is your own.';
    END IF;
    IF TG_OP = 'INSERT' THEN
        earlier_role := tickbird.job_role(NEW.name);
        IF earlier_role IS NOT NULL AND NOT tickbird.is_own_job(earlier_role) THEN
            RAISE EXCEPTION 'job %: the name belongs to a job of role %', quote_literal(NEW.name), earlier_role
                USING ERRCODE = 'TB422', HINT = 'Choose another name.';
        END IF;
    END IF;
    RETURN NEW;
END $$;

CREATE OR REPLACE FUNCTION tickbird.check_job() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    name_pattern CONSTANT text := '^[A-Za-z0-9_.-]{1,200}$';
    job CONSTANT jsonb := to_jsonb(NEW);
    required CONSTANT text[] := ARRAY['name', 'function_name', 'schedule'];
    field text;
    found_problem record;
BEGIN
    FOREACH field IN ARRAY required || ARRAY[
        'timezone', 'enabled', 'payload', 'retries', 'catch_up', 'overlap', 'queue', 'role', 'log', 'created_at', 'updated_at'
    ] LOOP
        IF job ->> field IS NULL THEN
            RAISE EXCEPTION 'job %: % is null', coalesce(quote_literal(NEW.name), 'NULL'), field
                USING ERRCODE = 'TB422',
                    HINT = CASE WHEN field = ANY (required) THEN 'Set it.' ELSE 'Set it, or leave it out: it has a default.' END;
        END IF;
    END LOOP;
    IF TG_OP = 'UPDATE' AND (NEW.id IS DISTINCT FROM OLD.id OR NEW.name <> OLD.name) THEN
        RAISE EXCEPTION 'job %: the name of a job cannot change', quote_literal(OLD.name)
            USING ERRCODE = 'TB422', HINT = 'Insert a job with the new name, then delete this one.';
    END IF;
    SELECT c.problem, c.hint INTO found_problem
    FROM (
        VALUES
            (
                NEW.name !~ name_pattern OR NEW.name IN ('.', '..'),
                'the name has 1 to 200 letters, digits, dots, dashes and underscores', 'Choose another name.'
            ),
            (NEW.schedule !~ '\S', 'schedule is empty', 'Write a cron expression, such as 0 3 * * *.'),
            (jsonb_typeof(NEW.payload) <> 'object', 'payload must be an object', 'Write {"name": value}.'),
            (NEW.timeout < '1 second', 'timeout must be at least one second', 'Leave it out for no timeout.'),
            (NEW.timeout > '50 years', 'timeout must be at most 50 years', 'Leave it out for no timeout.'),
            (length(NEW.description) > 10000, 'description has more than 10,000 characters', 'Write a summary.'),
            (NEW.retries NOT BETWEEN 0 AND 1000, 'retries must be from 0 to 1000', 'Choose another number.'),
            (NEW.catch_up NOT IN ('one', 'latest', 'all', 'skip'), 'catch_up must be one, latest, all or skip', 'Choose one of them.'),
            (NEW.overlap NOT IN ('skip', 'queue', 'replace', 'allow'), 'overlap must be skip, queue, replace or allow', 'Choose one of them.'),
            (NEW.queue !~ name_pattern, 'queue must have 1 to 200 letters, digits, dots, dashes and underscores', 'Choose another name.'),
            (NEW.log NOT IN ('all', 'changes', 'failures'), 'log must be all, changes or failures', 'Choose one of them.'),
            (NEW.keep_for < '1 minute', 'keep_for must be at least one minute', 'Leave it out to keep runs as for all jobs.'),
            (NEW.keep_runs < 1, 'keep_runs must be at least 1', 'Leave it out to keep runs as for all jobs.')
    ) AS c(is_wrong, problem, hint)
    WHERE c.is_wrong
    LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'job %: %', quote_literal(NEW.name), found_problem.problem
            USING ERRCODE = 'TB422', HINT = found_problem.hint;
    END IF;
    -- The view reads the files of all zones, which takes longer than everything else here.
    IF (TG_OP = 'INSERT' OR NEW.timezone <> OLD.timezone)
        AND NEW.timezone <> 'UTC'
        AND NOT EXISTS (SELECT FROM tickbird.scheduled_jobs AS j WHERE j.timezone = NEW.timezone)
        AND NOT EXISTS (
            SELECT FROM pg_timezone_names AS z
            WHERE z.name = NEW.timezone
                -- Files of the server's zone data that are no IANA names.
                AND split_part(z.name, '/', 1) NOT IN ('posix', 'right', 'posixrules', 'localtime', 'Factory')
        )
    THEN
        RAISE EXCEPTION 'job %: there is no time zone %', quote_literal(NEW.name), quote_literal(NEW.timezone)
            USING ERRCODE = 'TB422', HINT = 'Use an IANA name such as America/New_York. pg_timezone_names lists them.';
    END IF;
    IF TG_OP = 'INSERT' THEN
        PERFORM tickbird.resolve_job_function(NEW.function_name, NEW.role);
        INSERT INTO tickbird.schedule_ids (namespace, name)
        SELECT x.namespace, NEW.name FROM tickbird.sql_settings AS x
        ON CONFLICT (namespace, name) DO NOTHING;
        -- Sessions that insert the same job follow one another. The lock lets foreign keys pass. A DELETE locks its row before
        -- any trigger could lock the name, so DELETE and INSERT in one transaction can deadlock with an upsert. The row is not
        -- locked here: with ON CONFLICT DO NOTHING, changes by clients would not reach it until the transaction ends.
        SELECT i.id INTO NEW.id
        FROM tickbird.schedule_ids AS i
        JOIN tickbird.sql_settings AS x ON x.namespace = i.namespace
        WHERE i.name = NEW.name
        FOR NO KEY UPDATE OF i;
    ELSE
        NEW.updated_at := clock_timestamp();
    END IF;
    RETURN NEW;
END $$;
DROP TRIGGER scheduled_jobs_check ON tickbird.scheduled_jobs;
CREATE TRIGGER scheduled_jobs_check BEFORE INSERT OR UPDATE OF
    id, name, description, function_name, schedule, timezone, enabled, created_at, updated_at, payload, timeout, retries, catch_up,
    overlap, queue, role, keep_for, keep_runs, log
    ON tickbird.scheduled_jobs
    FOR EACH ROW EXECUTE FUNCTION tickbird.check_job();
-- After scheduled_jobs_check, which has locked the name.
CREATE TRIGGER scheduled_jobs_check_role BEFORE INSERT OR UPDATE OF role ON tickbird.scheduled_jobs
    FOR EACH ROW EXECUTE FUNCTION tickbird.check_job_role();

-- check_job_role has decided who may use the name of a deleted job.
CREATE OR REPLACE FUNCTION tickbird.write_job() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    job tickbird.scheduled_jobs := CASE WHEN TG_OP = 'DELETE' THEN OLD ELSE NEW END;
    stored record;
    new_definition jsonb;
BEGIN
    -- First the schedule, then its cursor: the lock order of all sessions.
    PERFORM FROM tickbird.schedules AS s WHERE s.id = job.id FOR NO KEY UPDATE;
    SELECT
        s.definition, s.revision, c.state, coalesce(s.definition #>> '{target,sql,role}', tickbird.job_owner())::name AS role,
        coalesce(s.definition -> 'target' -> 'sql' ? 'function', false) AS is_job
    INTO stored
    FROM tickbird.schedules AS s
    JOIN tickbird.cursors AS c ON c.schedule_id = s.id
    WHERE s.id = job.id
    FOR UPDATE OF c;
    IF TG_OP = 'DELETE' THEN
        IF stored.is_job AND tickbird.job_enabled(job.id) IS NOT NULL THEN
            PERFORM tickbird.request_change(job.id, '{"action": "delete"}');
        END IF;
        RETURN NULL;
    END IF;
    IF stored.state IS NULL THEN
        new_definition := tickbird.job_definition(job);
        INSERT INTO tickbird.schedules (namespace, name, definition)
        SELECT x.namespace, job.name, new_definition FROM tickbird.sql_settings AS x;
    ELSIF stored.state = 'deleted' THEN
        -- A new schedule of the same name continues after the last tick of the old one.
        new_definition := tickbird.job_definition(job);
        UPDATE tickbird.schedules AS s
        SET definition = new_definition, revision = s.revision + 1, app = NULL, fingerprint = NULL,
            paused_by = NULL, pause_note = NULL, paused_until = NULL, error = NULL, changed_at = clock_timestamp()
        WHERE s.id = job.id;
        INSERT INTO tickbird.revisions (schedule_id, revision, definition, action, actor)
        VALUES (job.id, stored.revision + 1, new_definition, 'create', tickbird.actor());
        UPDATE tickbird.cursors AS c
        SET revision = stored.revision + 1, state = 'active', next_run_at = NULL, sql_commands = NULL,
            planned_until = greatest(c.planned_until, date_trunc('second', clock_timestamp())),
            format = tickbird.definition_format(new_definition),
            zone_generation = tickbird.newest_zone_generation(new_definition),
            prior_revision = NULL, edited_at = NULL, refused_at = NULL
        WHERE c.schedule_id = job.id;
    ELSIF NOT stored.is_job THEN
        RAISE EXCEPTION 'job %: there is a schedule of this name with another target', quote_literal(job.name)
            USING ERRCODE = 'unique_violation', HINT = 'Choose another name.';
    ELSE
        IF TG_OP = 'INSERT' THEN
            -- A delete that the planner has not applied yet is withdrawn.
            UPDATE tickbird.cursors AS c
            SET sql_commands = nullif(
                (
                    SELECT coalesce(jsonb_agg(command.value ORDER BY command.place), '[]')
                    FROM jsonb_array_elements(c.sql_commands::jsonb) WITH ORDINALITY AS command(value, place)
                    WHERE command.value ->> 'action' <> 'delete'
                ),
                '[]'
            )::json
            WHERE c.schedule_id = job.id AND c.sql_commands::jsonb @> '[{"action": "delete"}]';
        END IF;
        new_definition := tickbird.job_definition(
            job, CASE WHEN TG_OP = 'INSERT' THEN tickbird.job_of(stored.definition, job) ELSE OLD END, stored.definition
        );
        IF new_definition IS NOT DISTINCT FROM stored.definition THEN
            new_definition := NULL;
        ELSE
            UPDATE tickbird.schedules AS s SET definition = new_definition WHERE s.id = job.id;
        END IF;
    END IF;
    IF new_definition IS NOT NULL THEN
        INSERT INTO tickbird.audit_log (created_at, actor, action, namespace, schedule_id, schedule, detail)
        SELECT
            clock_timestamp(), tickbird.actor(), CASE WHEN stored.is_job AND stored.state <> 'deleted' THEN 'update' ELSE 'create' END,
            s.namespace, s.id, s.name, jsonb_build_object('definition', s.definition, 'by', 'sql')
        FROM tickbird.schedules AS s WHERE s.id = job.id;
        PERFORM pg_notify('tickbird', '');
    END IF;
    IF job.enabled <> tickbird.job_enabled(job.id) THEN
        PERFORM tickbird.request_change(
            job.id, jsonb_build_object('action', CASE WHEN job.enabled THEN 'resume' ELSE 'pause' END)
        );
    END IF;
    RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION tickbird.mirror_job(schedule_id bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    stored record;
    job tickbird.scheduled_jobs;
    mirrored tickbird.scheduled_jobs;
BEGIN
    SELECT
        s.id, s.name, s.definition AS d, s.created_at,
        CASE WHEN s.definition -> 'target' -> 'sql' ? 'function' THEN tickbird.job_enabled(s.id) END AS enabled
    INTO stored
    FROM tickbird.schedules AS s
    JOIN tickbird.sql_settings AS x ON x.namespace = s.namespace
    WHERE s.id = mirror_job.schedule_id;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    SELECT * INTO job FROM tickbird.scheduled_jobs AS j WHERE j.id = stored.id FOR UPDATE SKIP LOCKED;
    IF NOT FOUND AND EXISTS (SELECT FROM tickbird.scheduled_jobs AS j WHERE j.id = stored.id) THEN
        RETURN;
    END IF;
    IF stored.enabled IS NULL THEN
        DELETE FROM tickbird.scheduled_jobs AS j WHERE j.id = stored.id;
        RETURN;
    END IF;
    mirrored := tickbird.job_of(stored.d, job);
    mirrored.id := stored.id;
    mirrored.name := stored.name;
    mirrored.enabled := stored.enabled;
    IF job.id IS NULL THEN
        mirrored.created_at := stored.created_at;
        mirrored.updated_at := stored.created_at;
        mirrored.log := 'all';
        -- A session that is inserting the job holds this lock, and mirrors the schedule itself.
        PERFORM FROM tickbird.schedule_ids AS i WHERE i.id = stored.id FOR NO KEY UPDATE SKIP LOCKED;
        IF NOT FOUND THEN
            RETURN;
        END IF;
        INSERT INTO tickbird.scheduled_jobs SELECT (mirrored).* ON CONFLICT DO NOTHING;
    ELSIF mirrored IS DISTINCT FROM job THEN
        -- A statement that sets function_name would choose the function again.
        IF mirrored.function_name IS DISTINCT FROM job.function_name THEN
            UPDATE tickbird.scheduled_jobs AS j
            SET description = mirrored.description, function_name = mirrored.function_name, schedule = mirrored.schedule,
                timezone = mirrored.timezone, enabled = mirrored.enabled, payload = mirrored.payload,
                timeout = mirrored.timeout, retries = mirrored.retries, catch_up = mirrored.catch_up,
                overlap = mirrored.overlap, queue = mirrored.queue, role = mirrored.role
            WHERE j.id = stored.id;
        ELSE
            UPDATE tickbird.scheduled_jobs AS j
            SET description = mirrored.description, schedule = mirrored.schedule,
                timezone = mirrored.timezone, enabled = mirrored.enabled, payload = mirrored.payload,
                timeout = mirrored.timeout, retries = mirrored.retries, catch_up = mirrored.catch_up,
                overlap = mirrored.overlap, queue = mirrored.queue, role = mirrored.role
            WHERE j.id = stored.id;
        END IF;
    END IF;
EXCEPTION WHEN data_exception OR check_violation OR SQLSTATE 'TB422' THEN
    -- The definition has values that no job can have; the schedule is right, and its row stays as it is.
    RETURN;
END $$;

-- Views and functions that read

-- After an edit, next_run_at of the cursor is the instant of the edit until the planner has seen it.
CREATE OR REPLACE VIEW tickbird.scheduled_job_status WITH (security_barrier) AS
SELECT
    j.id,
    j.name,
    j.description,
    j.enabled,
    last.started_at AS last_run_at,
    last.success AS last_run_success,
    last.message AS last_run_message,
    counted.total_runs,
    counted.successful_runs,
    counted.failed_runs,
    round(100.0 * counted.successful_runs / nullif(counted.total_runs, 0), 2) AS success_rate_percent,
    CASE
        WHEN j.enabled AND c.sql_commands IS NULL AND c.edited_at IS NULL AND c.state = 'active' THEN c.next_run_at
    END AS next_run_at,
    j.timezone,
    j.schedule,
    c.state,
    s.error
FROM tickbird.scheduled_jobs AS j
JOIN tickbird.schedules AS s ON s.id = j.id
JOIN tickbird.cursors AS c ON c.schedule_id = j.id
LEFT JOIN LATERAL (
    SELECT
        count(*) AS total_runs,
        count(*) FILTER (WHERE r.status = 'succeeded') AS successful_runs,
        count(*) FILTER (WHERE r.status <> 'succeeded') AS failed_runs
    FROM tickbird.runs AS r
    WHERE r.schedule_id = j.id AND r.finished_at IS NOT NULL
) AS counted ON true
LEFT JOIN LATERAL (
    SELECT r.started_at, r.success, r.message
    FROM tickbird.scheduled_job_runs AS r
    WHERE r.job_id = j.id AND r.started_at IS NOT NULL
    ORDER BY r.id DESC LIMIT 1
) AS last ON true
WHERE tickbird.may_see_job(j.role);

CREATE VIEW tickbird.run_results WITH (security_barrier) AS
SELECT r.id, r.status, r.result, r.error, r.finished_at, r.created_xid
FROM tickbird.runs AS r
JOIN tickbird.sql_settings AS x ON x.namespace = r.namespace
LEFT JOIN tickbird.run_roles AS o ON o.run_id = r.id
WHERE tickbird.caller_is('viewer') OR tickbird.is_own_job(o.role);

CREATE VIEW tickbird.job_ticks WITH (security_barrier) AS
SELECT j.name, j.enabled, n.ticks
FROM tickbird.scheduled_jobs AS j
LEFT JOIN tickbird.upcoming_ticks AS n ON n.schedule_id = j.id
WHERE tickbird.may_see_job(j.role);

CREATE VIEW tickbird.job_checks WITH (security_barrier) AS
SELECT
    j.name, j.role, s.definition #>> '{target,sql,function}' AS function_name, f.signature, f.owner, c.state, s.error,
    j.queue,
    EXISTS (
        SELECT FROM tickbird.workers AS w
        WHERE w.namespace = s.namespace AND w.kind IN ('worker', 'executor') AND w.slots > 0
            AND w.live_until > clock_timestamp() AND j.queue = ANY (w.queues) AND w.tasks ? 'sql:store'
    ) AS is_served,
    -- A worker plans for all namespaces.
    EXISTS (
        SELECT FROM tickbird.workers AS w WHERE w.kind IN ('worker', 'planner') AND w.live_until > clock_timestamp()
    ) AS is_planned
FROM tickbird.scheduled_jobs AS j
JOIN tickbird.schedules AS s ON s.id = j.id
JOIN tickbird.cursors AS c ON c.schedule_id = j.id
LEFT JOIN tickbird.job_functions AS f ON f.schedule_id = j.id AND f.function = s.definition #>> '{target,sql,function}'
WHERE tickbird.may_see_job(j.role);

GRANT SELECT ON tickbird.run_results, tickbird.job_ticks, tickbird.job_checks TO PUBLIC;

CREATE OR REPLACE FUNCTION tickbird.wait(run_id bigint, timeout interval DEFAULT '1 minute') RETURNS jsonb
LANGUAGE plpgsql SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    deadline CONSTANT timestamptz := clock_timestamp() + wait.timeout;
    run record;
BEGIN
    PERFORM
        tickbird.require('wait', 'run_id', wait.run_id IS NOT NULL, 'tickbird.scheduled_job_runs lists runs.'),
        tickbird.require('wait', 'timeout', wait.timeout IS NOT NULL, 'Leave it out to wait for a minute.');
    IF wait.timeout < interval '0' THEN
        RAISE EXCEPTION 'wait: timeout is negative' USING ERRCODE = 'TB422', HINT = 'Use 0 to read the state without waiting.';
    END IF;
    LOOP
        SELECT r.* INTO run FROM tickbird.run_results AS r WHERE r.id = wait.run_id;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'there is no run %', wait.run_id USING ERRCODE = 'TB404', HINT = 'tickbird.scheduled_job_runs lists runs.';
        END IF;
        IF run.finished_at IS NOT NULL THEN
            RETURN jsonb_build_object(
                'status', run.status, 'success', run.status = 'succeeded', 'result', run.result::jsonb, 'error', run.error
            );
        END IF;
        IF run.created_xid = pg_current_xact_id_if_assigned()::text::bigint THEN
            RAISE EXCEPTION 'run %: cannot start before this transaction commits', wait.run_id
                USING ERRCODE = 'TB422', HINT = 'COMMIT first, then wait.';
        END IF;
        EXIT WHEN clock_timestamp() >= deadline;
        -- All statements of such a transaction see the rows as they were at its first one.
        IF current_setting('transaction_isolation') NOT IN ('read committed', 'read uncommitted') THEN
            RAISE EXCEPTION 'wait: a transaction with the isolation level % never sees the end of run %',
                upper(current_setting('transaction_isolation')), wait.run_id
                USING ERRCODE = 'TB422', HINT = 'Begin the transaction with READ COMMITTED, or use a timeout of 0 to read the state without waiting.';
        END IF;
        PERFORM pg_sleep(least(0.1, greatest(0.001, date_part('epoch', deadline - clock_timestamp()))));
    END LOOP;
    RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION tickbird.next_ticks(schedule_name text, count integer DEFAULT 10) RETURNS SETOF timestamptz
LANGUAGE plpgsql STABLE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM
        tickbird.require('next_ticks', 'schedule_name', schedule_name IS NOT NULL, 'tickbird.scheduled_job_status lists the jobs.'),
        tickbird.require('next_ticks', 'count', next_ticks.count IS NOT NULL, 'Leave it out for 10 ticks.');
    IF NOT EXISTS (SELECT FROM tickbird.job_ticks AS j WHERE j.name = schedule_name) THEN
        RAISE EXCEPTION 'there is no job %', quote_literal(schedule_name)
            USING ERRCODE = 'TB404', HINT = 'tickbird.scheduled_job_status lists the jobs.';
    END IF;
    IF next_ticks.count NOT BETWEEN 1 AND 100 THEN
        RAISE EXCEPTION 'next_ticks: count must be from 1 to 100' USING ERRCODE = 'TB422', HINT = '`tickbird preview` shows more.';
    END IF;
    RETURN QUERY
    SELECT u.tick
    FROM tickbird.job_ticks AS j
    CROSS JOIN LATERAL unnest(j.ticks) AS u(tick)
    WHERE j.name = schedule_name AND j.enabled AND u.tick > statement_timestamp()
    ORDER BY u.tick
    LIMIT next_ticks.count;
END $$;

CREATE OR REPLACE FUNCTION tickbird.scheduled_job_averages(since interval DEFAULT '7 days') RETURNS TABLE (
    name text, total_runs bigint, avg_duration_ms numeric, max_duration_ms integer, success_rate double precision
)
LANGUAGE plpgsql STABLE SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM tickbird.require('scheduled_job_averages', 'since', since IS NOT NULL, 'Leave it out for 7 days.');
    IF since <= interval '0' THEN
        RAISE EXCEPTION 'scheduled_job_averages: since must be positive' USING ERRCODE = 'TB422', HINT = 'Write an interval such as 7 days.';
    END IF;
    RETURN QUERY
    SELECT
        j.name, count(*), avg(r.duration_ms), max(r.duration_ms),
        sum(CASE WHEN r.success THEN 1 ELSE 0 END)::float / count(*) * 100
    FROM tickbird.scheduled_job_runs AS r
    JOIN tickbird.scheduled_job_status AS j ON j.id = r.job_id
    WHERE r.started_at > now() - since AND r.completed_at IS NOT NULL
    GROUP BY j.name;
END $$;

CREATE OR REPLACE FUNCTION tickbird.check_jobs() RETURNS TABLE (job text, level text, problem text, next_step text)
LANGUAGE plpgsql SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    checked record;
    function record;
    reason text;
    hint text;
BEGIN
    FOR checked IN SELECT c.* FROM tickbird.job_checks AS c ORDER BY c.name LOOP
        job := checked.name;
        IF checked.state = 'parked' THEN
            level := 'problem';
            problem := 'the schedule is parked: ' || coalesce(checked.error, 'unknown');
            next_step := 'Repair it with an UPDATE of tickbird.scheduled_jobs.';
            RETURN NEXT;
        END IF;
        IF NOT checked.is_served THEN
            level := 'problem';
            problem := format('no live worker serves queue %s', checked.queue);
            next_step := CASE
                WHEN checked.queue = 'default' THEN 'tickbird worker'
                ELSE format('tickbird worker --queues %s', checked.queue)
            END;
            RETURN NEXT;
        ELSIF NOT checked.is_planned THEN
            level := 'problem';
            problem := 'no live worker plans: all of them only execute';
            next_step := 'tickbird worker';
            RETURN NEXT;
        END IF;
        BEGIN
            SELECT p.oid, p.proname, p.prosecdef, p.provolatile, p.proconfig, pg_get_userbyid(p.proowner) AS owner INTO function
            FROM pg_proc AS p
            WHERE p.oid = tickbird.resolve_job_function(checked.function_name, checked.role, checked.signature);
        EXCEPTION WHEN SQLSTATE 'TB422' THEN
            GET STACKED DIAGNOSTICS reason = MESSAGE_TEXT, hint = PG_EXCEPTION_HINT;
            level := 'problem';
            problem := reason;
            next_step := hint;
            RETURN NEXT;
            CONTINUE;
        END;
        IF function.owner <> checked.owner THEN
            level := 'problem';
            problem := format('function %s belongs to %s, but belonged to %s when the job was defined', checked.function_name, function.owner, checked.owner);
            next_step := 'Check the function, then UPDATE its function_name.';
            RETURN NEXT;
        END IF;
        IF function.prosecdef AND NOT EXISTS (SELECT FROM unnest(function.proconfig) AS c(setting) WHERE c.setting LIKE 'search_path=%') THEN
            level := 'warning';
            problem := format('function %s is SECURITY DEFINER and has no search_path: its callers choose which objects it uses', checked.function_name);
            next_step := format('ALTER FUNCTION %s SET search_path = …', function.oid::regprocedure);
            RETURN NEXT;
        END IF;
        IF function.provolatile <> 'v' THEN
            level := 'warning';
            problem := format('function %s is not VOLATILE, so it cannot write', checked.function_name);
            next_step := format('ALTER FUNCTION %s VOLATILE', function.oid::regprocedure);
            RETURN NEXT;
        END IF;
        IF function.owner <> checked.role THEN
            level := 'notice';
            problem := format('role %s runs function %s, which %s can replace', checked.role, checked.function_name, function.owner);
            next_step := 'Make sure that you trust its owner.';
            RETURN NEXT;
        END IF;
    END LOOP;
END $$;

-- Functions that change: each sends a request, which is decided by the role in force

DROP FUNCTION tickbird.lock_schedule_for_change(text);
-- The schedule of this name, locked. Only its own role and operators may change it.
CREATE FUNCTION tickbird.lock_schedule_for_change(acting_role name, function_name text, schedule_name text)
RETURNS tickbird.schedules
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    found_schedule tickbird.schedules;
    role_name name;
BEGIN
    PERFORM tickbird.require(function_name, 'the name', schedule_name IS NOT NULL, 'tickbird.scheduled_job_status lists the jobs.');
    SELECT s.* INTO found_schedule
    FROM tickbird.schedules AS s
    JOIN tickbird.sql_settings AS x ON x.namespace = s.namespace
    WHERE s.name = schedule_name
    FOR NO KEY UPDATE OF s;
    -- Null: it is deleted, or will be.
    IF NOT FOUND OR tickbird.job_enabled(found_schedule.id) IS NULL THEN
        RAISE EXCEPTION 'there is no schedule %', quote_literal(schedule_name)
            USING ERRCODE = 'TB404', HINT = 'tickbird.scheduled_job_status lists the jobs.';
    END IF;
    SELECT j.role INTO role_name FROM tickbird.scheduled_jobs AS j WHERE j.id = found_schedule.id;
    IF NOT tickbird.role_is(acting_role, 'operator') AND NOT tickbird.role_owns(acting_role, role_name) THEN
        RAISE EXCEPTION 'schedule %: role % may not change it', quote_literal(schedule_name), acting_role
            USING ERRCODE = 'insufficient_privilege', HINT = 'Become a member of the role of the job, or of tickbird_operator.';
    END IF;
    RETURN found_schedule;
END $$;

CREATE FUNCTION tickbird.trigger_as(acting_role name, job_name text, payload jsonb) RETURNS jsonb
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    schedule CONSTANT tickbird.schedules := tickbird.lock_schedule_for_change(acting_role, 'trigger_scheduled_job', job_name);
    d CONSTANT jsonb := schedule.definition;
    new_id CONSTANT bigint := nextval('tickbird.ledger_id_seq');
    at CONSTANT timestamptz := clock_timestamp();
BEGIN
    IF NOT coalesce(d -> 'target' -> 'sql' ? 'function', false) OR d ? 'concurrency_key' OR d ? 'shadow' THEN
        RAISE EXCEPTION 'schedule %: only a job with a SQL function and without a concurrency key is triggered by SQL', quote_literal(job_name)
            USING ERRCODE = 'TB422', HINT = 'Use `tickbird trigger` or the API.';
    END IF;
    IF EXISTS (SELECT FROM tickbird.cursors AS c WHERE c.schedule_id = schedule.id AND c.state = 'parked') THEN
        RAISE EXCEPTION 'schedule % is parked: %', quote_literal(job_name), schedule.error
            USING ERRCODE = 'TB422', HINT = 'Repair it with an UPDATE first.';
    END IF;
    IF jsonb_typeof(payload) <> 'object' THEN
        RAISE EXCEPTION 'payload: must be an object' USING ERRCODE = 'TB422', HINT = 'Write {"name": value}.';
    END IF;
    -- It waits until the planner has seen that no other run of the schedule is in its way.
    INSERT INTO tickbird.runs (
        id, namespace, schedule_id, revision, target_kind, target, queue, priority, status, origin, due_at, available_at,
        crash_limit, actor, created_at, created_xid
    )
    VALUES (
        new_id, schedule.namespace, schedule.id, schedule.revision, 'sql', 'store', coalesce(d ->> 'queue', 'default'),
        coalesce((d ->> 'priority')::integer, 0), 'waiting', 'manual', at, at,
        CASE WHEN d ->> 'on_crash' = 'fail' THEN 0 ELSE 3 END, tickbird.actor(), at, pg_current_xact_id()::text::bigint
    );
    PERFORM pg_advisory_xact_lock_shared(7311, 'tickbird.runs'::regclass::oid::integer);
    IF payload IS NOT NULL THEN
        INSERT INTO tickbird.run_payloads (run_id, payload) VALUES (new_id, trigger_as.payload);
    END IF;
    INSERT INTO tickbird.audit_log (created_at, actor, action, namespace, schedule_id, schedule, run_id, detail)
    VALUES (at, tickbird.actor(), 'trigger', schedule.namespace, schedule.id, schedule.name, new_id, jsonb_build_object('payload', payload));
    PERFORM tickbird.request_change(schedule.id, '{"action": "release"}');
    RETURN jsonb_build_object('success', true, 'run_id', new_id, 'job_name', job_name);
END $$;

CREATE FUNCTION tickbird.pause_as(acting_role name, schedule_name text, note text, until timestamptz) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    schedule CONSTANT tickbird.schedules := tickbird.lock_schedule_for_change(acting_role, 'pause', schedule_name);
BEGIN
    IF until <= clock_timestamp() OR NOT isfinite(until) THEN
        RAISE EXCEPTION 'pause: until is %, which is not in the future', until
            USING ERRCODE = 'TB422', HINT = 'Choose a later instant, or leave it out to pause until you resume.';
    END IF;
    PERFORM tickbird.request_change(schedule.id, jsonb_build_object(
        'action', 'pause', 'note', coalesce(note, ''), 'until', tickbird.epoch_seconds(until)
    ));
    PERFORM tickbird.mirror_job(schedule.id);
END $$;

CREATE FUNCTION tickbird.resume_as(acting_role name, schedule_name text, note text) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    schedule CONSTANT tickbird.schedules := tickbird.lock_schedule_for_change(acting_role, 'resume', schedule_name);
BEGIN
    IF tickbird.job_enabled(schedule.id) THEN
        RAISE EXCEPTION 'schedule % is not paused', quote_literal(schedule_name)
            USING ERRCODE = 'TB422', HINT = 'tickbird.scheduled_job_status has the state of each job.';
    END IF;
    PERFORM tickbird.request_change(schedule.id, jsonb_build_object('action', 'resume', 'note', coalesce(note, '')));
    PERFORM tickbird.mirror_job(schedule.id);
END $$;

CREATE FUNCTION tickbird.reschedule_as(acting_role name, schedule_name text, due_at timestamptz, note text) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    schedule CONSTANT tickbird.schedules := tickbird.lock_schedule_for_change(acting_role, 'reschedule', schedule_name);
BEGIN
    PERFORM tickbird.require('reschedule', 'due_at', due_at IS NOT NULL, 'Choose an instant for the next tick.');
    IF due_at <= clock_timestamp() OR NOT isfinite(due_at) THEN
        RAISE EXCEPTION 'reschedule: due_at is %, which is not in the future', due_at
            USING ERRCODE = 'TB422', HINT = 'Choose a later instant.';
    END IF;
    PERFORM tickbird.request_change(schedule.id, jsonb_build_object(
        'action', 'reschedule', 'to', tickbird.epoch_seconds(due_at), 'note', coalesce(note, '')
    ));
END $$;

CREATE FUNCTION tickbird.enqueue_as(
    acting_role name, task text, payload jsonb, queue text, due_at timestamptz, priority integer, idempotency_key text
) RETURNS bigint
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    at CONSTANT timestamptz := clock_timestamp();
    run record;
BEGIN
    IF NOT tickbird.role_is(acting_role, 'operator') THEN
        RAISE EXCEPTION 'role % may not enqueue runs', acting_role
            USING ERRCODE = 'insufficient_privilege', HINT = 'Become a member of tickbird_operator.';
    END IF;
    PERFORM
        tickbird.require('enqueue', 'task', enqueue_as.task IS NOT NULL, 'Write the name of a task.'),
        tickbird.require('enqueue', 'payload', enqueue_as.payload IS NOT NULL, 'Leave it out for {}.'),
        tickbird.require('enqueue', 'queue', enqueue_as.queue IS NOT NULL, 'Leave it out for the queue default.'),
        tickbird.require('enqueue', 'priority', enqueue_as.priority IS NOT NULL, 'Leave it out for 0.');
    IF enqueue_as.task !~ '^[A-Za-z0-9_.-]{1,200}$' OR enqueue_as.queue !~ '^[A-Za-z0-9_.-]{1,200}$'
        OR jsonb_typeof(enqueue_as.payload) <> 'object' OR enqueue_as.priority NOT BETWEEN -1000 AND 1000
        OR enqueue_as.idempotency_key = '' OR NOT isfinite(enqueue_as.due_at)
    THEN
        RAISE EXCEPTION
            'enqueue: task and queue must be names, payload an object, due_at finite, priority from -1000 to 1000, and the key not empty'
            USING ERRCODE = 'TB422', HINT = 'Example: SELECT tickbird.enqueue(''digest'', ''{"limit": 5}'').';
    END IF;
    INSERT INTO tickbird.runs (
        namespace, target_kind, target, queue, priority, status, origin, due_at, available_at, crash_limit, actor, created_at,
        created_xid, idempotency_key
    )
    SELECT
        x.namespace, 'task', enqueue_as.task, enqueue_as.queue, enqueue_as.priority, 'queued', 'manual',
        coalesce(enqueue_as.due_at, at), coalesce(enqueue_as.due_at, at), 3, tickbird.actor(), at,
        pg_current_xact_id()::text::bigint, enqueue_as.idempotency_key
    FROM tickbird.sql_settings AS x
    ON CONFLICT (namespace, idempotency_key) WHERE idempotency_key IS NOT NULL DO NOTHING
    RETURNING id, namespace INTO run;
    IF run.id IS NULL THEN
        RETURN (
            SELECT r.id FROM tickbird.runs AS r JOIN tickbird.sql_settings AS x ON x.namespace = r.namespace
            WHERE r.idempotency_key = enqueue_as.idempotency_key
        );
    END IF;
    INSERT INTO tickbird.run_payloads (run_id, payload) SELECT run.id, enqueue_as.payload WHERE enqueue_as.payload <> '{}';
    INSERT INTO tickbird.audit_log (created_at, actor, action, namespace, run_id, detail)
    VALUES (at, tickbird.actor(), 'enqueue', run.namespace, run.id, jsonb_build_object('task', enqueue_as.task));
    PERFORM pg_advisory_xact_lock_shared(7311, 'tickbird.runs'::regclass::oid::integer);
    PERFORM pg_notify('tickbird', '');
    RETURN run.id;
END $$;

CREATE FUNCTION tickbird.cancel_as(acting_role name, run_id bigint, reason text) RETURNS boolean
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    is_operator CONSTANT boolean := tickbird.role_is(acting_role, 'operator');
    at CONSTANT timestamptz := clock_timestamp();
    owner record;
    run tickbird.runs;
BEGIN
    PERFORM tickbird.require('cancel', 'run_id', cancel_as.run_id IS NOT NULL, 'tickbird.scheduled_job_executions lists runs.');
    SELECT r.schedule_id, i.name AS schedule, o.role INTO owner
    FROM tickbird.runs AS r
    JOIN tickbird.sql_settings AS x ON x.namespace = r.namespace
    LEFT JOIN tickbird.schedule_ids AS i ON i.id = r.schedule_id
    LEFT JOIN tickbird.run_roles AS o ON o.run_id = r.id
    WHERE r.id = cancel_as.run_id;
    IF NOT is_operator AND NOT coalesce(tickbird.role_owns(acting_role, owner.role), false) THEN
        RAISE EXCEPTION 'run %: role % may not cancel it', cancel_as.run_id, acting_role
            USING ERRCODE = 'insufficient_privilege', HINT = 'Become a member of the role of the job, or of tickbird_operator.';
    END IF;
    -- First the schedule, then the run: the lock order of all sessions.
    PERFORM FROM tickbird.schedules AS s WHERE s.id = owner.schedule_id FOR NO KEY UPDATE;
    SELECT r.* INTO run
    FROM tickbird.runs AS r JOIN tickbird.sql_settings AS x ON x.namespace = r.namespace
    WHERE r.id = cancel_as.run_id
    FOR UPDATE OF r;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'there is no run %', cancel_as.run_id USING ERRCODE = 'TB404', HINT = 'tickbird.scheduled_job_runs lists runs.';
    END IF;
    IF run.finished_at IS NOT NULL THEN
        RETURN false;
    END IF;
    UPDATE tickbird.runs AS r
    SET status = CASE WHEN r.status = 'running' THEN r.status ELSE 'cancelled' END,
        lane = 0,
        finished_at = CASE WHEN r.status = 'running' THEN r.finished_at ELSE at END,
        cancel_requested_at = coalesce(r.cancel_requested_at, at),
        cancel_requested_by = coalesce(r.cancel_requested_by, tickbird.actor()),
        reason = coalesce(cancel_as.reason, r.reason)
    WHERE r.id = run.id;
    INSERT INTO tickbird.audit_log (created_at, actor, action, namespace, schedule_id, schedule, run_id, detail)
    VALUES (
        at, tickbird.actor(), 'cancel', run.namespace, run.schedule_id, owner.schedule, run.id,
        jsonb_build_object('reason', cancel_as.reason)
    );
    -- Another run may have waited for this one.
    IF run.status <> 'running' AND EXISTS (
        SELECT FROM tickbird.cursors AS c WHERE c.schedule_id = run.schedule_id AND c.state <> 'deleted'
    ) THEN
        PERFORM tickbird.request_change(run.schedule_id, '{"action": "release"}');
    END IF;
    PERFORM pg_notify('tickbird', '');
    RETURN true;
END $$;

CREATE OR REPLACE FUNCTION tickbird.trigger_scheduled_job(job_name text, payload jsonb DEFAULT NULL) RETURNS jsonb
LANGUAGE plpgsql SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    answer jsonb;
BEGIN
    INSERT INTO tickbird.requests (action, name, payload)
    VALUES ('trigger', trigger_scheduled_job.job_name, trigger_scheduled_job.payload)
    RETURNING result INTO answer;
    RETURN answer;
END $$;

CREATE OR REPLACE FUNCTION tickbird.pause(schedule_name text, note text DEFAULT '', until timestamptz DEFAULT NULL) RETURNS void
LANGUAGE plpgsql SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    INSERT INTO tickbird.requests (action, name, note, at) VALUES ('pause', pause.schedule_name, pause.note, pause.until);
END $$;

CREATE OR REPLACE FUNCTION tickbird.resume(schedule_name text, note text DEFAULT '') RETURNS void
LANGUAGE plpgsql SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    INSERT INTO tickbird.requests (action, name, note) VALUES ('resume', resume.schedule_name, resume.note);
END $$;

-- Makes the next tick due at another instant.
CREATE OR REPLACE FUNCTION tickbird.reschedule(schedule_name text, due_at timestamptz, note text DEFAULT '') RETURNS void
LANGUAGE plpgsql SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    INSERT INTO tickbird.requests (action, name, at, note)
    VALUES ('reschedule', reschedule.schedule_name, reschedule.due_at, reschedule.note);
END $$;

-- Enqueues a run of a task. Returns its id, or the id of the run that has the same idempotency key.
CREATE OR REPLACE FUNCTION tickbird.enqueue(
    task text, payload jsonb DEFAULT '{}', queue text DEFAULT 'default', due_at timestamptz DEFAULT NULL,
    priority integer DEFAULT 0, idempotency_key text DEFAULT NULL
) RETURNS bigint
LANGUAGE plpgsql SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    answer bigint;
BEGIN
    INSERT INTO tickbird.requests (action, name, payload, queue, at, priority, key)
    VALUES ('enqueue', enqueue.task, enqueue.payload, enqueue.queue, enqueue.due_at, enqueue.priority, enqueue.idempotency_key)
    RETURNING result INTO answer;
    RETURN answer;
END $$;

-- Cancels a run that has not started, or asks a running one to stop. Returns false if it has finished already.
CREATE OR REPLACE FUNCTION tickbird.cancel(run_id bigint, reason text DEFAULT NULL) RETURNS boolean
LANGUAGE plpgsql SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    answer boolean;
BEGIN
    INSERT INTO tickbird.requests (action, run_id, note) VALUES ('cancel', cancel.run_id, cancel.reason)
    RETURNING result INTO answer;
    RETURN answer;
END $$;

-- Roles of jobs

-- Takes allow_job_role back. Jobs of the role stay, and are refused.
CREATE FUNCTION tickbird.revoke_job_role(role_name name) RETURNS void
LANGUAGE plpgsql SECURITY INVOKER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    wrapper CONSTANT regprocedure := to_regprocedure(
        'tickbird.' || quote_ident(tickbird.job_wrapper(role_name)) || '(regprocedure, jsonb)'
    );
BEGIN
    PERFORM tickbird.require('revoke_job_role', 'role_name', role_name IS NOT NULL, 'Write the name of a role.');
    IF wrapper IS NULL THEN
        RAISE EXCEPTION 'role %: is not allowed to execute jobs', role_name
            USING ERRCODE = 'TB422', HINT = 'Check the name; tickbird.check_jobs() lists jobs that cannot run.';
    END IF;
    EXECUTE format('DROP FUNCTION %s', wrapper);
    IF role_name <> tickbird.job_owner() AND EXISTS (SELECT FROM pg_roles AS r WHERE r.rolname = role_name) THEN
        EXECUTE format(
            'REVOKE ALL ON tickbird.scheduled_jobs, tickbird.scheduled_job_runs, tickbird.scheduled_job_executions, '
            'tickbird.scheduled_job_status FROM %I', role_name
        );
        EXECUTE format('REVOKE ALL ON SCHEMA tickbird FROM %I', role_name);
    END IF;
END $$;

-- Used by functions of jobs. log and heartbeat never end a job, so they report wrong arguments in the log of the run.

CREATE OR REPLACE FUNCTION tickbird.log(text text, level text DEFAULT 'info') RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET client_min_messages = notice
AS $$
BEGIN
    IF lower(log.level) IN ('info', 'warning', 'error') THEN
        RAISE NOTICE USING MESSAGE = coalesce(log.text, 'NULL'), DETAIL = lower(log.level), ERRCODE = 'TB001';
    ELSE
        RAISE NOTICE USING MESSAGE = coalesce(log.text, 'NULL'), DETAIL = 'info', ERRCODE = 'TB001';
        RAISE NOTICE USING
            MESSAGE = format('tickbird.log: there is no level %s. Use info, warning or error.', coalesce(quote_literal(left(log.level, 100)), 'NULL')),
            DETAIL = 'warning', ERRCODE = 'TB001';
    END IF;
END $$;

CREATE OR REPLACE FUNCTION tickbird.heartbeat(progress double precision) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET client_min_messages = notice
AS $$
BEGIN
    IF progress BETWEEN 0 AND 1 THEN
        RAISE NOTICE USING MESSAGE = progress::text, ERRCODE = 'TB002';
    ELSE
        RAISE NOTICE USING
            MESSAGE = format('tickbird.heartbeat: progress is %s. Use a number from 0 to 1.', coalesce(progress::text, 'NULL')),
            DETAIL = 'warning', ERRCODE = 'TB001';
    END IF;
END $$;

CREATE OR REPLACE FUNCTION tickbird.result(success boolean, message text DEFAULT '', details jsonb DEFAULT NULL) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM tickbird.require('result', 'success', success IS NOT NULL, 'Pass true or false.');
    RETURN jsonb_build_object('success', success, 'message', coalesce(message, ''))
        || CASE WHEN details IS NULL THEN '{}' ELSE jsonb_build_object('details', details) END;
END $$;

REVOKE ALL ON FUNCTION
    tickbird.record_job_function(bigint),
    tickbird.lock_schedule_for_change(name, text, text),
    tickbird.trigger_as(name, text, jsonb),
    tickbird.pause_as(name, text, text, timestamptz),
    tickbird.resume_as(name, text, text),
    tickbird.reschedule_as(name, text, timestamptz, text),
    tickbird.enqueue_as(name, text, jsonb, text, timestamptz, integer, text),
    tickbird.cancel_as(name, bigint, text),
    tickbird.revoke_job_role(name)
FROM PUBLIC;
