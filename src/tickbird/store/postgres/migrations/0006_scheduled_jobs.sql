-- min_compatible: 1
-- Jobs by plain SQL: the table scheduled_jobs mirrors the schedules of SQL functions, in both directions; views show their
-- runs; functions change schedules and enqueue runs in the caller's transaction.

-- Changes that plain SQL requested, oldest first: [{"action": …, "actor": …, "at": seconds since the epoch}, …]. The planner
-- applies them before it decides any later tick of the schedule. Null: none.
ALTER TABLE tickbird.cursors ADD COLUMN sql_commands json;

-- The caller as the audit log shows it, with the login if the role was set.
CREATE FUNCTION tickbird.actor() RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
RETURN tickbird.caller() || CASE WHEN tickbird.caller() <> session_user THEN format(' (login %s)', session_user) ELSE '' END;

CREATE FUNCTION tickbird.request_change(schedule_id bigint, command jsonb) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    UPDATE tickbird.cursors AS c
    SET sql_commands = (
        coalesce(c.sql_commands::jsonb, '[]') || jsonb_build_array(
            jsonb_build_object('actor', tickbird.actor(), 'at', date_part('epoch', clock_timestamp())) || command
        )
    )::json,
        next_run_at = clock_timestamp()
    WHERE c.schedule_id = request_change.schedule_id;
    PERFORM pg_notify('tickbird', '');
END $$;

-- Who may do what

-- Membership in tickbird_viewer, tickbird_operator or tickbird_admin; each includes the one before. The owner of the store is
-- an admin.
CREATE FUNCTION tickbird.caller_is(least_role text) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT pg_has_role(tickbird.caller(), tickbird.job_owner(), 'MEMBER') OR EXISTS (
        SELECT FROM pg_roles AS r
        JOIN unnest(ARRAY['viewer', 'operator', 'admin']) WITH ORDINALITY AS ranked(title, place)
            ON r.rolname = 'tickbird_' || ranked.title
        WHERE ranked.place >= array_position(ARRAY['viewer', 'operator', 'admin'], least_role)
            AND pg_has_role(tickbird.caller(), r.oid, 'MEMBER')
    )
$$;

-- A job belongs to its role and to that role's members.
CREATE FUNCTION tickbird.is_own_job(role_name name) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT EXISTS (
        SELECT FROM pg_roles AS r WHERE r.rolname = role_name AND pg_has_role(tickbird.caller(), r.oid, 'MEMBER')
    )
$$;

-- The table

CREATE TABLE tickbird.scheduled_jobs (
    -- The id of the schedule.
    id bigint NOT NULL UNIQUE,
    name text PRIMARY KEY,
    description text,
    -- As it was written; the definition has the schema too.
    function_name text NOT NULL,
    schedule text NOT NULL,
    timezone text NOT NULL DEFAULT 'UTC',
    enabled boolean NOT NULL DEFAULT true,
    last_run_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    payload jsonb NOT NULL DEFAULT '{}'
        CONSTRAINT scheduled_jobs_payload_check CHECK (jsonb_typeof(payload) = 'object'),
    timeout interval CONSTRAINT scheduled_jobs_timeout_check CHECK (timeout >= '1 second'),
    retries integer NOT NULL DEFAULT 0 CONSTRAINT scheduled_jobs_retries_check CHECK (retries BETWEEN 0 AND 1000),
    catch_up text NOT NULL DEFAULT 'one'
        CONSTRAINT scheduled_jobs_catch_up_check CHECK (catch_up IN ('one', 'latest', 'all', 'skip')),
    overlap text NOT NULL DEFAULT 'skip'
        CONSTRAINT scheduled_jobs_overlap_check CHECK (overlap IN ('skip', 'queue', 'replace', 'allow')),
    queue text NOT NULL DEFAULT 'default' CONSTRAINT scheduled_jobs_queue_check CHECK (queue ~ '^[A-Za-z0-9_.-]{1,200}$'),
    role name NOT NULL DEFAULT tickbird.caller(),
    -- Retention of this job's runs; null: as for all runs.
    keep_for interval CONSTRAINT scheduled_jobs_keep_for_check CHECK (keep_for >= '1 minute'),
    keep_runs integer CONSTRAINT scheduled_jobs_keep_runs_check CHECK (keep_runs >= 1),
    log text NOT NULL DEFAULT 'all' CONSTRAINT scheduled_jobs_log_check CHECK (log IN ('all', 'changes', 'failures')),
    CONSTRAINT scheduled_jobs_name_check CHECK (name ~ '^[A-Za-z0-9_.-]{1,200}$' AND name NOT IN ('.', '..'))
) WITH (fillfactor = 70);
ALTER TABLE tickbird.scheduled_jobs ENABLE ROW LEVEL SECURITY;
CREATE POLICY scheduled_jobs_own ON tickbird.scheduled_jobs
    USING (tickbird.is_own_job(role) OR tickbird.caller_is('admin'))
    WITH CHECK (tickbird.is_own_job(role) OR tickbird.caller_is('admin'));

-- The definition of a job, or `base` with the columns of the job that differ from those of `before`.
CREATE FUNCTION tickbird.job_definition(
    job tickbird.scheduled_jobs, before tickbird.scheduled_jobs DEFAULT NULL, base jsonb DEFAULT NULL
) RETURNS jsonb
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    definition jsonb := coalesce(base, '{}');
    is_new CONSTANT boolean := base IS NULL;
    function regprocedure;
BEGIN
    IF is_new OR job.schedule <> before.schedule OR job.timezone <> before.timezone THEN
        IF job.schedule = before.schedule AND NOT definition -> 'trigger' ? 'cron' THEN
            RAISE EXCEPTION 'job %: its trigger is not a cron expression, and keeps its time zone', quote_literal(job.name)
                USING ERRCODE = 'TB422', HINT = 'Set schedule too, or change the trigger with `tickbird set`.';
        END IF;
        definition := definition || jsonb_build_object(
            -- The format of definitions with target kind sql and a cron trigger.
            'v', CASE WHEN is_new THEN 12939267 ELSE (definition ->> 'v')::integer END,
            'trigger', jsonb_strip_nulls(jsonb_build_object('cron', job.schedule, 'tz', nullif(job.timezone, 'UTC')))
        );
    END IF;
    IF is_new OR job.function_name <> before.function_name OR job.role <> before.role THEN
        function := tickbird.resolve_job_function(job.function_name, job.role);
        definition := definition || jsonb_build_object('target', jsonb_build_object('sql', (
            SELECT jsonb_build_object('function', format('%I.%I', n.nspname, p.proname), 'role', job.role)
            FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace
            WHERE p.oid = function
        )));
    END IF;
    IF is_new OR job.description IS DISTINCT FROM before.description THEN
        definition := definition - 'description'
            || CASE WHEN job.description <> '' THEN jsonb_build_object('description', job.description) ELSE '{}' END;
    END IF;
    IF is_new OR job.timeout IS DISTINCT FROM before.timeout THEN
        definition := definition - 'timeout' || CASE
            WHEN job.timeout IS NULL THEN '{}'
            ELSE jsonb_build_object('timeout', ceil(date_part('epoch', job.timeout))::integer)
        END;
    END IF;
    -- A default is left out, as in definitions that were not written by SQL.
    SELECT
        definition - coalesce(array_agg(f.key), '{}')
        || coalesce(jsonb_object_agg(f.key, f.value) FILTER (WHERE f.value <> f.usual), '{}')
    INTO definition
    FROM (
        VALUES
            ('payload', job.payload, before.payload, jsonb '{}'),
            ('retries', to_jsonb(job.retries), to_jsonb(before.retries), jsonb '0'),
            ('catch_up', to_jsonb(job.catch_up), to_jsonb(before.catch_up), jsonb '"one"'),
            ('overlap', to_jsonb(job.overlap), to_jsonb(before.overlap), jsonb '"skip"'),
            ('queue', to_jsonb(job.queue), to_jsonb(before.queue), jsonb '"default"')
    ) AS f(key, value, old, usual)
    WHERE is_new OR f.value IS DISTINCT FROM f.old;
    RETURN definition;
END $$;

-- A job with the columns of a definition. Raises an error if the definition has values that no job can have.
CREATE FUNCTION tickbird.job_of(definition jsonb, job tickbird.scheduled_jobs) RETURNS tickbird.scheduled_jobs
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    job.description := definition ->> 'description';
    IF job.function_name IS NULL
        OR definition #>> '{target,sql,function}' NOT IN (job.function_name, 'public.' || job.function_name)
    THEN
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

-- Whether a job is enabled, counting changes that the planner has not applied yet; null if its schedule is deleted, or will
-- be.
CREATE FUNCTION tickbird.job_enabled(schedule_id bigint) RETURNS boolean
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE
        WHEN c.state = 'deleted' OR c.sql_commands::jsonb @> '[{"action": "delete"}]' THEN NULL
        ELSE coalesce(
            (
                SELECT command.value ->> 'action' = 'resume'
                FROM json_array_elements(c.sql_commands) WITH ORDINALITY AS command(value, place)
                WHERE command.value ->> 'action' IN ('pause', 'resume')
                ORDER BY command.place DESC LIMIT 1
            ),
            s.paused_by IS NULL
        )
    END
    FROM tickbird.schedules AS s
    JOIN tickbird.cursors AS c ON c.schedule_id = s.id
    WHERE s.id = job_enabled.schedule_id
$$;

-- From the table to the schedule

CREATE FUNCTION tickbird.check_job() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND (NEW.id <> OLD.id OR NEW.name <> OLD.name) THEN
        RAISE EXCEPTION 'job %: the name of a job cannot change', quote_literal(OLD.name)
            USING ERRCODE = 'TB422', HINT = 'Insert a job with the new name, then delete this one.';
    END IF;
    IF NEW.name !~ '^[A-Za-z0-9_.-]{1,200}$' THEN
        RAISE EXCEPTION 'job %: the name has 1 to 200 letters, digits, dots, dashes and underscores', quote_nullable(NEW.name)
            USING ERRCODE = 'TB422', HINT = 'Choose another name.';
    END IF;
    IF (TG_OP = 'INSERT' OR NEW.timezone <> OLD.timezone)
        AND NOT EXISTS (SELECT FROM pg_timezone_names AS z WHERE z.name = NEW.timezone)
    THEN
        RAISE EXCEPTION 'job %: there is no time zone %', quote_literal(NEW.name), quote_literal(NEW.timezone)
            USING ERRCODE = 'TB422', HINT = 'Use an IANA name such as America/New_York. pg_timezone_names lists them.';
    END IF;
    IF TG_OP = 'INSERT' THEN
        PERFORM tickbird.resolve_job_function(NEW.function_name, NEW.role);
        INSERT INTO tickbird.schedule_ids (namespace, name)
        SELECT x.namespace, NEW.name FROM tickbird.sql_settings AS x
        ON CONFLICT (namespace, name) DO NOTHING;
        -- Sessions that insert the same job follow one another. The lock lets foreign keys pass.
        SELECT i.id INTO NEW.id
        FROM tickbird.schedule_ids AS i
        JOIN tickbird.sql_settings AS x ON x.namespace = i.namespace
        WHERE i.name = NEW.name
        FOR NO KEY UPDATE OF i;
    ELSE
        NEW.updated_at := clock_timestamp();
    END IF;
    IF (TG_OP = 'INSERT' OR NEW.role <> OLD.role)
        AND NOT tickbird.is_own_job(NEW.role)
        AND NOT tickbird.caller_is('admin')
        -- The session of a client that defined the schedule mirrors it.
        AND NOT EXISTS (
            SELECT FROM tickbird.schedules AS s
            WHERE s.id = NEW.id AND coalesce(s.definition #>> '{target,sql,role}', tickbird.job_owner()) = NEW.role
        )
    THEN
        RAISE EXCEPTION 'job %: you are not a member of role %', quote_literal(NEW.name), NEW.role
            USING ERRCODE = 'TB422', HINT = 'Leave out the role: the default is your own.';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER scheduled_jobs_check BEFORE INSERT OR UPDATE OF
    id, name, description, function_name, schedule, timezone, enabled, payload, timeout, retries, catch_up, overlap, queue, role
    ON tickbird.scheduled_jobs
    FOR EACH ROW EXECUTE FUNCTION tickbird.check_job();

CREATE FUNCTION tickbird.write_job() RETURNS trigger
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
        -- Its earlier runs become visible again.
        IF NOT tickbird.caller_is('admin') AND NOT tickbird.is_own_job(stored.role) THEN
            RAISE EXCEPTION 'job %: the name belongs to a deleted job of role %', quote_literal(job.name), stored.role
                USING ERRCODE = 'TB422', HINT = 'Choose another name.';
        END IF;
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
CREATE TRIGGER scheduled_jobs_write AFTER INSERT OR DELETE OR UPDATE OF
    description, function_name, schedule, timezone, enabled, payload, timeout, retries, catch_up, overlap, queue, role
    ON tickbird.scheduled_jobs
    FOR EACH ROW EXECUTE FUNCTION tickbird.write_job();

CREATE FUNCTION tickbird.refuse_job_truncate() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'scheduled_jobs cannot be truncated, because their schedules would stay'
        USING ERRCODE = 'TB422', HINT = 'Use DELETE FROM tickbird.scheduled_jobs.';
END $$;
CREATE TRIGGER scheduled_jobs_refuse_truncate BEFORE TRUNCATE ON tickbird.scheduled_jobs
    FOR EACH STATEMENT EXECUTE FUNCTION tickbird.refuse_job_truncate();

-- From the schedule to the table

-- Makes the row of a job equal to its schedule. A row that another session is editing is left to that session, whose own
-- change of the schedule comes later.
CREATE FUNCTION tickbird.mirror_job(schedule_id bigint) RETURNS void
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
        UPDATE tickbird.scheduled_jobs AS j
        SET description = mirrored.description, function_name = mirrored.function_name, schedule = mirrored.schedule,
            timezone = mirrored.timezone, enabled = mirrored.enabled, payload = mirrored.payload,
            timeout = mirrored.timeout, retries = mirrored.retries, catch_up = mirrored.catch_up,
            overlap = mirrored.overlap, queue = mirrored.queue, role = mirrored.role
        WHERE j.id = stored.id;
    END IF;
EXCEPTION WHEN data_exception OR check_violation OR SQLSTATE 'TB422' THEN
    -- The definition has values that no job can have; the schedule is right, and its row stays as it is.
    RETURN;
END $$;

CREATE FUNCTION tickbird.mirror_schedule() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM tickbird.mirror_job(NEW.id);
    RETURN NULL;
END $$;
-- At commit, when the cursor is written too.
CREATE CONSTRAINT TRIGGER schedules_mirror_insert AFTER INSERT ON tickbird.schedules
    DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW WHEN (NEW.definition -> 'target' ? 'sql')
    EXECUTE FUNCTION tickbird.mirror_schedule();
CREATE CONSTRAINT TRIGGER schedules_mirror_update AFTER UPDATE ON tickbird.schedules
    DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW WHEN (NEW.definition -> 'target' ? 'sql' OR OLD.definition -> 'target' ? 'sql')
    EXECUTE FUNCTION tickbird.mirror_schedule();

-- A function is checked when it is defined, by SQL or in any other way.
CREATE FUNCTION tickbird.check_schedule_function() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    target jsonb := NEW.definition -> 'target' -> 'sql';
BEGIN
    INSERT INTO tickbird.job_functions (schedule_id, function, owner, defined_by)
    SELECT NEW.id, target ->> 'function', pg_get_userbyid(p.proowner), tickbird.caller()
    FROM pg_proc AS p
    WHERE p.oid = tickbird.resolve_job_function(
        target ->> 'function', coalesce(target ->> 'role', tickbird.job_owner())::name
    )
    ON CONFLICT (schedule_id) DO UPDATE
    SET function = excluded.function, owner = excluded.owner, defined_by = excluded.defined_by;
    RETURN NULL;
END $$;
CREATE TRIGGER schedules_check_function_insert AFTER INSERT ON tickbird.schedules
    FOR EACH ROW WHEN (NEW.definition -> 'target' -> 'sql' ? 'function')
    EXECUTE FUNCTION tickbird.check_schedule_function();
CREATE TRIGGER schedules_check_function_update AFTER UPDATE OF definition ON tickbird.schedules
    FOR EACH ROW
    WHEN (
        NEW.definition -> 'target' -> 'sql' ? 'function'
        AND NEW.definition IS DISTINCT FROM OLD.definition
    )
    EXECUTE FUNCTION tickbird.check_schedule_function();

-- When a run of a job has finished. A row that another session is editing keeps its value until the next run: waiting for it
-- could be a deadlock.
CREATE FUNCTION tickbird.note_job_run() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    UPDATE tickbird.scheduled_jobs AS j
    SET last_run_at = NEW.started_at
    WHERE j.id = (SELECT free.id FROM tickbird.scheduled_jobs AS free WHERE free.id = NEW.schedule_id FOR UPDATE SKIP LOCKED);
    RETURN NULL;
END $$;
CREATE TRIGGER runs_note_job AFTER UPDATE OF status ON tickbird.runs
    FOR EACH ROW WHEN (NEW.target_kind = 'sql' AND NEW.finished_at IS NOT NULL AND NEW.started_at IS NOT NULL)
    EXECUTE FUNCTION tickbird.note_job_run();

-- The actor of a plain-SQL change is the caller, also behind a pooler that sets the role.
CREATE OR REPLACE FUNCTION tickbird.create_cursor() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO tickbird.cursors (schedule_id, revision, format, zone_generation)
    VALUES (
        NEW.id, NEW.revision, tickbird.definition_format(NEW.definition), tickbird.newest_zone_generation(NEW.definition)
    );
    INSERT INTO tickbird.revisions (schedule_id, revision, definition, fingerprint, action, actor)
    VALUES (NEW.id, NEW.revision, NEW.definition, NEW.fingerprint, 'create', tickbird.actor());
    PERFORM pg_notify('tickbird', '');
    RETURN NULL;
END $$;
CREATE OR REPLACE FUNCTION tickbird.record_edit() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.revision := OLD.revision + 1;
    NEW.changed_at := clock_timestamp();
    INSERT INTO tickbird.revisions (schedule_id, revision, definition, fingerprint, action, actor, created_at)
    VALUES (NEW.id, NEW.revision, NEW.definition, NEW.fingerprint, 'update', tickbird.actor(), NEW.changed_at);
    UPDATE tickbird.cursors
    SET revision = NEW.revision,
        format = tickbird.definition_format(NEW.definition),
        zone_generation = tickbird.newest_zone_generation(NEW.definition),
        prior_revision = coalesce(prior_revision, OLD.revision),
        edited_at = NEW.changed_at,
        next_run_at = NEW.changed_at
    WHERE schedule_id = NEW.id;
    PERFORM pg_notify('tickbird', '');
    RETURN NEW;
END $$;

-- Views: the owner of a job, its role's members, and viewers see it. Payloads are in the table only.

CREATE FUNCTION tickbird.may_see_job(role_name name) RETURNS boolean
LANGUAGE sql STABLE
RETURN tickbird.is_own_job(role_name) OR tickbird.caller_is('viewer');

CREATE VIEW tickbird.scheduled_job_runs WITH (security_barrier) AS
SELECT
    r.id,
    r.schedule_id AS job_id,
    r.started_at,
    r.finished_at AS completed_at,
    round(date_part('epoch', r.finished_at - r.started_at) * 1000)::integer AS duration_ms,
    CASE WHEN r.finished_at IS NOT NULL THEN r.status = 'succeeded' END AS success,
    coalesce(
        CASE WHEN json_typeof(r.result) = 'object' THEN r.result ->> 'message' END,
        -- The message of an error is its last line, as in a traceback.
        split_part(r.error, E'\n', -1),
        r.reason
    ) AS message,
    CASE WHEN r.target_kind = 'sql' AND json_typeof(r.result) = 'object' THEN (r.result -> 'details')::jsonb END AS details,
    r.scheduled_for,
    CASE r.origin WHEN 'schedule' THEN 'scheduler' WHEN 'catch_up' THEN 'catchup' WHEN 'backfill' THEN 'backfill' ELSE 'manual' END
        AS triggered_by
FROM tickbird.runs AS r
JOIN tickbird.scheduled_jobs AS j ON j.id = r.schedule_id
WHERE tickbird.may_see_job(j.role) AND (r.started_at IS NOT NULL OR r.finished_at IS NOT NULL);

-- Runs that have not finished.
CREATE VIEW tickbird.scheduled_job_executions WITH (security_barrier) AS
SELECT
    r.id,
    r.schedule_id AS job_id,
    j.name AS job_name,
    r.status AS state,
    r.attempt,
    r.created_at,
    r.due_at,
    r.started_at,
    r.worker,
    p.value AS progress,
    r.reason
FROM tickbird.runs AS r
JOIN tickbird.scheduled_jobs AS j ON j.id = r.schedule_id
LEFT JOIN tickbird.run_progress AS p ON p.run_id = r.id AND p.attempt = r.attempt
WHERE r.finished_at IS NULL AND tickbird.may_see_job(j.role);

CREATE VIEW tickbird.scheduled_job_status WITH (security_barrier) AS
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
    CASE WHEN j.enabled AND c.sql_commands IS NULL AND c.state = 'active' THEN c.next_run_at END AS next_run_at,
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

-- Average and maximum duration of the runs that ended in the last days.
CREATE FUNCTION tickbird.scheduled_job_averages(since interval DEFAULT '7 days') RETURNS TABLE (
    name text, total_runs bigint, avg_duration_ms numeric, max_duration_ms integer, success_rate double precision
)
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT
        j.name, count(*), avg(r.duration_ms), max(r.duration_ms),
        sum(CASE WHEN r.success THEN 1 ELSE 0 END)::float / count(*) * 100
    FROM tickbird.scheduled_job_runs AS r
    JOIN tickbird.scheduled_job_status AS j ON j.id = r.job_id
    WHERE r.started_at > now() - since AND r.completed_at IS NOT NULL
    GROUP BY j.name
$$;

-- A client for every language. Each function takes effect with the caller's transaction.

-- The schedule of this name, locked. Only its own role and operators may change it.
CREATE FUNCTION tickbird.lock_schedule_for_change(schedule_name text) RETURNS tickbird.schedules
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    found_schedule tickbird.schedules;
    role_name name;
BEGIN
    SELECT s.* INTO found_schedule
    FROM tickbird.schedules AS s
    JOIN tickbird.sql_settings AS x ON x.namespace = s.namespace
    JOIN tickbird.cursors AS c ON c.schedule_id = s.id AND c.state <> 'deleted'
    WHERE s.name = schedule_name
    FOR NO KEY UPDATE OF s;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'there is no schedule %', quote_literal(schedule_name)
            USING ERRCODE = 'TB404', HINT = 'tickbird.scheduled_job_status lists the jobs.';
    END IF;
    SELECT j.role INTO role_name FROM tickbird.scheduled_jobs AS j WHERE j.id = found_schedule.id;
    IF NOT tickbird.caller_is('operator') AND NOT coalesce(tickbird.is_own_job(role_name), false) THEN
        RAISE EXCEPTION 'schedule %: role % may not change it', quote_literal(schedule_name), tickbird.caller()
            USING ERRCODE = 'insufficient_privilege', HINT = 'Become a member of the role of the job, or of tickbird' || '_operator.';
    END IF;
    RETURN found_schedule;
END $$;

CREATE FUNCTION tickbird.trigger_scheduled_job(job_name text, payload jsonb DEFAULT NULL) RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    schedule tickbird.schedules := tickbird.lock_schedule_for_change(job_name);
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
    IF payload IS NOT NULL AND jsonb_typeof(payload) <> 'object' THEN
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
        INSERT INTO tickbird.run_payloads (run_id, payload) VALUES (new_id, trigger_scheduled_job.payload);
    END IF;
    INSERT INTO tickbird.audit_log (created_at, actor, action, namespace, schedule_id, schedule, run_id, detail)
    VALUES (at, tickbird.actor(), 'trigger', schedule.namespace, schedule.id, schedule.name, new_id, jsonb_build_object('payload', payload));
    PERFORM tickbird.request_change(schedule.id, '{"action": "release"}');
    RETURN jsonb_build_object('success', true, 'run_id', new_id, 'job_name', job_name);
END $$;

CREATE FUNCTION tickbird.pause(schedule_name text, note text DEFAULT '', until timestamptz DEFAULT NULL) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    schedule tickbird.schedules := tickbird.lock_schedule_for_change(schedule_name);
BEGIN
    IF until <= clock_timestamp() THEN
        RAISE EXCEPTION 'until: % is in the past', until USING ERRCODE = 'TB422', HINT = 'Choose a later instant.';
    END IF;
    PERFORM tickbird.request_change(schedule.id, jsonb_build_object(
        'action', 'pause', 'note', coalesce(note, ''), 'until', tickbird.epoch_seconds(until)
    ));
    PERFORM tickbird.mirror_job(schedule.id);
END $$;

CREATE FUNCTION tickbird.resume(schedule_name text, note text DEFAULT '') RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    schedule tickbird.schedules := tickbird.lock_schedule_for_change(schedule_name);
BEGIN
    IF tickbird.job_enabled(schedule.id) THEN
        RAISE EXCEPTION 'schedule % is not paused', quote_literal(schedule_name) USING ERRCODE = 'TB422';
    END IF;
    PERFORM tickbird.request_change(schedule.id, jsonb_build_object('action', 'resume', 'note', coalesce(note, '')));
    PERFORM tickbird.mirror_job(schedule.id);
END $$;

-- Makes the next tick due at another instant.
CREATE FUNCTION tickbird.reschedule(schedule_name text, due_at timestamptz, note text DEFAULT '') RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    schedule tickbird.schedules := tickbird.lock_schedule_for_change(schedule_name);
BEGIN
    IF due_at IS NULL OR due_at <= clock_timestamp() THEN
        RAISE EXCEPTION 'due_at: % is in the past', due_at USING ERRCODE = 'TB422', HINT = 'Choose a later instant.';
    END IF;
    PERFORM tickbird.request_change(schedule.id, jsonb_build_object(
        'action', 'reschedule', 'to', tickbird.epoch_seconds(due_at), 'note', coalesce(note, '')
    ));
END $$;

-- Enqueues a run of a task. Returns its id, or the id of the run that has the same idempotency key.
CREATE FUNCTION tickbird.enqueue(
    task text, payload jsonb DEFAULT '{}', queue text DEFAULT 'default', due_at timestamptz DEFAULT NULL,
    priority integer DEFAULT 0, idempotency_key text DEFAULT NULL
) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    at CONSTANT timestamptz := clock_timestamp();
    run record;
BEGIN
    IF NOT tickbird.caller_is('operator') THEN
        RAISE EXCEPTION 'role % may not enqueue runs', tickbird.caller()
            USING ERRCODE = 'insufficient_privilege', HINT = 'Become a member of tickbird' || '_operator.';
    END IF;
    IF enqueue.task !~ '^[A-Za-z0-9_.-]{1,200}$' OR enqueue.queue !~ '^[A-Za-z0-9_.-]{1,200}$'
        OR jsonb_typeof(enqueue.payload) IS DISTINCT FROM 'object' OR enqueue.priority NOT BETWEEN -1000 AND 1000
    THEN
        RAISE EXCEPTION 'enqueue: task and queue must be names, payload an object, and priority from -1000 to 1000'
            USING ERRCODE = 'TB422', HINT = 'Example: SELECT tickbird.enqueue(''digest'', ''{"limit": 5}'').';
    END IF;
    INSERT INTO tickbird.runs (
        namespace, target_kind, target, queue, priority, status, origin, due_at, available_at, crash_limit, actor, created_at,
        created_xid, idempotency_key
    )
    SELECT
        x.namespace, 'task', enqueue.task, enqueue.queue, enqueue.priority, 'queued', 'manual', coalesce(enqueue.due_at, at),
        coalesce(enqueue.due_at, at), 3, tickbird.actor(), at, pg_current_xact_id()::text::bigint, enqueue.idempotency_key
    FROM tickbird.sql_settings AS x
    ON CONFLICT (namespace, idempotency_key) WHERE idempotency_key IS NOT NULL DO NOTHING
    RETURNING id, namespace INTO run;
    IF run.id IS NULL THEN
        RETURN (
            SELECT r.id FROM tickbird.runs AS r JOIN tickbird.sql_settings AS x ON x.namespace = r.namespace
            WHERE r.idempotency_key = enqueue.idempotency_key
        );
    END IF;
    INSERT INTO tickbird.run_payloads (run_id, payload) SELECT run.id, enqueue.payload WHERE enqueue.payload <> '{}';
    INSERT INTO tickbird.audit_log (created_at, actor, action, namespace, run_id, detail)
    VALUES (at, tickbird.actor(), 'enqueue', run.namespace, run.id, jsonb_build_object('task', enqueue.task));
    PERFORM pg_advisory_xact_lock_shared(7311, 'tickbird.runs'::regclass::oid::integer);
    PERFORM pg_notify('tickbird', '');
    RETURN run.id;
END $$;

-- Cancels a run that has not started, or asks a running one to stop. Returns false if it has finished already.
CREATE FUNCTION tickbird.cancel(run_id bigint, reason text DEFAULT NULL) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    run tickbird.runs;
    at CONSTANT timestamptz := clock_timestamp();
    schedule_name text;
BEGIN
    SELECT i.name INTO schedule_name
    FROM tickbird.runs AS r JOIN tickbird.schedule_ids AS i ON i.id = r.schedule_id
    WHERE r.id = cancel.run_id;
    IF schedule_name IS NOT NULL AND EXISTS (
        SELECT FROM tickbird.schedules AS s
        JOIN tickbird.sql_settings AS x ON x.namespace = s.namespace
        JOIN tickbird.cursors AS c ON c.schedule_id = s.id AND c.state <> 'deleted'
        WHERE s.name = schedule_name
    ) THEN
        PERFORM tickbird.lock_schedule_for_change(schedule_name);
    ELSIF NOT tickbird.caller_is('operator') THEN
        RAISE EXCEPTION 'run %: role % may not cancel it', cancel.run_id, tickbird.caller()
            USING ERRCODE = 'insufficient_privilege', HINT = 'Become a member of tickbird' || '_operator.';
    END IF;
    SELECT r.* INTO run
    FROM tickbird.runs AS r JOIN tickbird.sql_settings AS x ON x.namespace = r.namespace
    WHERE r.id = cancel.run_id
    FOR UPDATE OF r;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'there is no run %', cancel.run_id USING ERRCODE = 'TB404', HINT = 'tickbird.scheduled_job_runs lists runs.';
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
        reason = coalesce(cancel.reason, r.reason)
    WHERE r.id = run.id;
    INSERT INTO tickbird.audit_log (created_at, actor, action, namespace, schedule_id, schedule, run_id, detail)
    VALUES (at, tickbird.actor(), 'cancel', run.namespace, run.schedule_id, schedule_name, run.id, jsonb_build_object('reason', cancel.reason));
    -- Another run may have waited for this one.
    IF run.schedule_id IS NOT NULL AND run.status <> 'running' THEN
        PERFORM tickbird.request_change(run.schedule_id, '{"action": "release"}');
    END IF;
    PERFORM pg_notify('tickbird', '');
    RETURN true;
END $$;

-- The next ticks of schedules with SQL functions, at most 200; the planner writes them.
CREATE TABLE tickbird.upcoming_ticks (
    schedule_id bigint PRIMARY KEY,
    ticks timestamptz[] NOT NULL,
    -- When few ticks are left; null if the schedule has no others.
    refresh_at timestamptz
);

-- The next ticks of a job. A new job has none until a worker has planned it.
CREATE FUNCTION tickbird.next_ticks(schedule_name text, count integer DEFAULT 10) RETURNS SETOF timestamptz
LANGUAGE plpgsql STABLE SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM tickbird.scheduled_jobs AS j WHERE j.name = schedule_name AND tickbird.may_see_job(j.role)) THEN
        RAISE EXCEPTION 'there is no job %', quote_literal(schedule_name)
            USING ERRCODE = 'TB404', HINT = 'tickbird.scheduled_job_status lists the jobs.';
    END IF;
    IF next_ticks.count NOT BETWEEN 1 AND 100 THEN
        RAISE EXCEPTION 'count must be from 1 to 100' USING ERRCODE = 'TB422', HINT = '`tickbird preview` shows more.';
    END IF;
    RETURN QUERY
    SELECT u.tick
    FROM tickbird.scheduled_jobs AS j
    JOIN tickbird.upcoming_ticks AS n ON n.schedule_id = j.id
    CROSS JOIN LATERAL unnest(n.ticks) AS u(tick)
    WHERE j.name = schedule_name AND j.enabled AND u.tick > statement_timestamp()
    ORDER BY u.tick
    LIMIT next_ticks.count;
END $$;

-- Waits until a run has finished. Returns its status, message and result; null if it has not finished in time.
CREATE FUNCTION tickbird.wait(run_id bigint, timeout interval DEFAULT '1 minute') RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    deadline CONSTANT timestamptz := clock_timestamp() + coalesce(timeout, '1 minute');
    run record;
BEGIN
    LOOP
        SELECT r.status, r.result, r.error, r.finished_at, r.created_xid, j.role INTO run
        FROM tickbird.runs AS r
        JOIN tickbird.sql_settings AS x ON x.namespace = r.namespace
        LEFT JOIN tickbird.scheduled_jobs AS j ON j.id = r.schedule_id
        WHERE r.id = wait.run_id;
        IF NOT FOUND OR NOT (tickbird.caller_is('viewer') OR coalesce(tickbird.is_own_job(run.role), false)) THEN
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
        PERFORM pg_sleep(least(0.1, greatest(0.001, date_part('epoch', deadline - clock_timestamp()))));
    END LOOP;
    RETURN NULL;
END $$;

-- Finds jobs that cannot run, or whose function is not safe.
CREATE FUNCTION tickbird.check_jobs() RETURNS TABLE (job text, level text, problem text, next_step text)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    checked record;
    function record;
    reason text;
    hint text;
BEGIN
    FOR checked IN
        SELECT j.name, j.role, j.enabled, s.definition #>> '{target,sql,function}' AS function_name, c.state, s.error, f.owner
        FROM tickbird.scheduled_jobs AS j
        JOIN tickbird.schedules AS s ON s.id = j.id
        JOIN tickbird.cursors AS c ON c.schedule_id = j.id
        LEFT JOIN tickbird.job_functions AS f ON f.schedule_id = j.id
        WHERE tickbird.may_see_job(j.role)
        ORDER BY j.name
    LOOP
        job := checked.name;
        IF checked.state = 'parked' THEN
            level := 'problem';
            problem := 'the schedule is parked: ' || coalesce(checked.error, 'unknown');
            next_step := 'Repair it with an UPDATE of tickbird.scheduled_jobs.';
            RETURN NEXT;
        END IF;
        BEGIN
            SELECT p.oid, p.proname, p.prosecdef, p.provolatile, p.proconfig, pg_get_userbyid(p.proowner) AS owner INTO function
            FROM pg_proc AS p
            WHERE p.oid = tickbird.resolve_job_function(checked.function_name, checked.role);
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

REVOKE ALL ON FUNCTION
    tickbird.request_change(bigint, jsonb),
    tickbird.mirror_job(bigint),
    tickbird.lock_schedule_for_change(text),
    tickbird.job_definition(tickbird.scheduled_jobs, tickbird.scheduled_jobs, jsonb)
FROM PUBLIC;
