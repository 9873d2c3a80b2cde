SELECT pg_catalog.set_config('search_path', '', false);
CREATE SCHEMA tickbird;
CREATE FUNCTION tickbird.assign_schedule_id() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        -- DO UPDATE, not DO NOTHING: it returns the id also if another transaction has just inserted the row.
        INSERT INTO tickbird.schedule_ids AS i (namespace, name) VALUES (NEW.namespace, NEW.name)
        ON CONFLICT (namespace, name) DO UPDATE SET name = i.name
        RETURNING i.id INTO NEW.id;
    ELSE
        UPDATE tickbird.schedule_ids SET namespace = NEW.namespace, name = NEW.name WHERE id = NEW.id;
    END IF;
    RETURN NEW;
END $$;
CREATE FUNCTION tickbird.create_cursor() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    INSERT INTO tickbird.cursors (schedule_id, revision, format, zone_generation)
    VALUES (
        NEW.id, NEW.revision, tickbird.definition_format(NEW.definition), tickbird.newest_zone_generation(NEW.definition)
    );
    INSERT INTO tickbird.revisions (schedule_id, revision, definition, fingerprint, action, actor)
    VALUES (NEW.id, NEW.revision, NEW.definition, NEW.fingerprint, 'create', session_user);
    PERFORM pg_notify('tickbird', '');
    RETURN NULL;
END $$;
CREATE FUNCTION tickbird.definition_format(definition jsonb) RETURNS integer
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN ((definition ->> 'v'::text) ~ '^[0-9]{1,9}$'::text) THEN ((definition ->> 'v'::text))::integer ELSE 0 END;
CREATE FUNCTION tickbird.epoch_seconds(instant timestamp with time zone) RETURNS bigint
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN CASE WHEN (instant IS NOT NULL) THEN (floor(LEAST(GREATEST(date_part('epoch'::text, instant), ('-62135596800'::bigint)::double precision), ('253402300799'::bigint)::double precision)))::bigint ELSE NULL::bigint END;
CREATE FUNCTION tickbird.index_schedule() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND (NEW.namespace, NEW.name) IS DISTINCT FROM (OLD.namespace, OLD.name) THEN
        DELETE FROM tickbird.schedule_search AS s WHERE s.namespace = OLD.namespace AND s.name = OLD.name;
    END IF;
    INSERT INTO tickbird.schedule_search (namespace, name, schedule_id, app, queue, search_text)
    VALUES (
        NEW.namespace, NEW.name, NEW.id, NEW.app, coalesce(NEW.definition ->> 'queue', 'default'),
        tickbird.schedule_search_text(NEW.name, NEW.definition)
    )
    ON CONFLICT (namespace, name) DO UPDATE
    SET schedule_id = excluded.schedule_id, app = excluded.app, queue = excluded.queue,
        search_text = excluded.search_text;
    RETURN NULL;
END $$;
CREATE TABLE tickbird.zone_data (
    generation integer NOT NULL,
    version text NOT NULL,
    digest text NOT NULL,
    adopted_at timestamp with time zone NOT NULL,
    adopted_by text NOT NULL,
    recomputed_at timestamp with time zone
);
CREATE FUNCTION tickbird.newest_zone_generation(definition jsonb) RETURNS integer
    LANGUAGE sql STABLE
    RETURN CASE WHEN jsonb_path_exists(definition, 'strict $."trigger".**."tz"?(@ != "UTC")'::jsonpath, silent => true) THEN COALESCE((SELECT max(zone_data.generation) AS max FROM tickbird.zone_data), 0) ELSE NULL::integer END;
CREATE FUNCTION tickbird.record_edit() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
BEGIN
    NEW.revision := OLD.revision + 1;
    NEW.changed_at := clock_timestamp();
    INSERT INTO tickbird.revisions (schedule_id, revision, definition, fingerprint, action, actor, created_at)
    VALUES (NEW.id, NEW.revision, NEW.definition, NEW.fingerprint, 'update', session_user, NEW.changed_at);
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
CREATE FUNCTION tickbird.schedule_search_text(name text, definition jsonb) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN lower((((('
'::text || name) || '
'::text) || COALESCE((COALESCE(((definition -> 'target'::text) ->> 'task'::text), (((definition -> 'target'::text) -> 'command'::text) ->> 'program'::text)) || '
'::text), ''::text)) || COALESCE((SELECT string_agg((t.tag || '
'::text), ''::text ORDER BY t.place) AS string_agg FROM jsonb_array_elements_text(CASE WHEN (jsonb_typeof((schedule_search_text.definition -> 'tags'::text)) = 'array'::text) THEN (schedule_search_text.definition -> 'tags'::text) ELSE '[]'::jsonb END) WITH ORDINALITY t(tag, place)), ''::text)));
CREATE FUNCTION tickbird.tracked_schedules(ids bigint[]) RETURNS bigint[]
    LANGUAGE plpgsql
    AS $$
BEGIN
    RETURN ARRAY(SELECT l.schedule_id FROM tickbird.last_successes AS l WHERE l.schedule_id = ANY(ids));
END $$;
CREATE TABLE tickbird.attempts (
    run_id bigint NOT NULL,
    attempt integer NOT NULL,
    worker text,
    started_at timestamp with time zone,
    ended_at timestamp with time zone NOT NULL,
    outcome text NOT NULL,
    error text,
    CONSTRAINT attempts_outcome_check CHECK ((outcome = ANY (ARRAY['retried'::text, 'drained'::text, 'failed'::text, 'cancelled'::text, 'lost'::text])))
);
CREATE TABLE tickbird.audit_log (
    id bigint NOT NULL,
    created_at timestamp with time zone NOT NULL,
    actor text NOT NULL,
    action text NOT NULL,
    namespace text NOT NULL,
    schedule_id bigint,
    schedule text,
    run_id bigint,
    detail jsonb DEFAULT '{}'::jsonb NOT NULL
);
ALTER TABLE tickbird.audit_log ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME tickbird.audit_log_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE tickbird.backfills (
    id bigint NOT NULL,
    namespace text NOT NULL,
    schedule_id bigint NOT NULL,
    revision integer NOT NULL,
    first_at timestamp with time zone NOT NULL,
    last_at timestamp with time zone NOT NULL,
    total integer NOT NULL,
    newest_first boolean NOT NULL,
    concurrency integer NOT NULL,
    payload json,
    actor text NOT NULL,
    note text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    cancelled_at timestamp with time zone,
    cancelled_by text,
    CONSTRAINT backfills_range_check CHECK (((first_at <= last_at) AND (total > 0) AND (concurrency > 0)))
);
ALTER TABLE tickbird.backfills ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME tickbird.backfills_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE tickbird.calendars (
    namespace text NOT NULL,
    name text NOT NULL,
    definition jsonb NOT NULL,
    closed jsonb NOT NULL,
    source jsonb NOT NULL,
    revision integer NOT NULL,
    created_at timestamp with time zone NOT NULL,
    changed_at timestamp with time zone NOT NULL,
    changed_by text NOT NULL
);
CREATE TABLE tickbird.concurrency_limits (
    namespace text NOT NULL,
    key text NOT NULL,
    max_running integer NOT NULL,
    CONSTRAINT concurrency_limits_max_running_check CHECK ((max_running > 0))
);
CREATE TABLE tickbird.cursors (
    schedule_id bigint NOT NULL,
    revision integer NOT NULL,
    format integer NOT NULL,
    zone_generation integer,
    state text DEFAULT 'active'::text NOT NULL,
    next_run_at timestamp with time zone,
    planned_until timestamp with time zone,
    runs_planned integer DEFAULT 0 NOT NULL,
    deferred_until_minute integer DEFAULT 0 NOT NULL,
    last_skip_id bigint,
    skip_until timestamp with time zone,
    skip_by text,
    skip_note text DEFAULT ''::text NOT NULL,
    tick_overrides json,
    prior_revision integer,
    edited_at timestamp with time zone,
    refused_at timestamp with time zone,
    CONSTRAINT cursors_state_check CHECK ((state = ANY (ARRAY['active'::text, 'paused'::text, 'parked'::text, 'ended'::text, 'deleted'::text])))
)
WITH (fillfactor='80', autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_threshold='500', autovacuum_analyze_scale_factor='0.1', autovacuum_vacuum_cost_delay='0');
CREATE TABLE tickbird.dependency_waits (
    run_id bigint NOT NULL,
    schedule_id bigint NOT NULL,
    earliest_at timestamp with time zone NOT NULL,
    deadline_at timestamp with time zone NOT NULL
);
CREATE TABLE tickbird.http_responses (
    namespace text NOT NULL,
    idempotency_key text NOT NULL,
    request_digest text NOT NULL,
    started_at timestamp with time zone NOT NULL,
    status integer,
    headers jsonb,
    body text
);
CREATE TABLE tickbird.last_successes (
    schedule_id bigint NOT NULL,
    succeeded_at timestamp with time zone
)
WITH (fillfactor='50');
CREATE SEQUENCE tickbird.ledger_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
CREATE TABLE tickbird.meta (
    key text NOT NULL,
    value text NOT NULL
);
CREATE TABLE tickbird.migrations (
    number integer NOT NULL,
    name text NOT NULL,
    checksum text NOT NULL,
    applied_at timestamp with time zone DEFAULT now() NOT NULL
);
CREATE TABLE tickbird.pings (
    schedule_id bigint NOT NULL,
    pinged_at timestamp with time zone NOT NULL
);
CREATE TABLE tickbird.prune_horizons (
    schedule_id bigint NOT NULL,
    pruned_until timestamp with time zone NOT NULL
);
CREATE TABLE tickbird.queue_rates (
    namespace text NOT NULL,
    queue text NOT NULL,
    count integer NOT NULL,
    seconds integer NOT NULL,
    starts json DEFAULT '[]'::json NOT NULL,
    CONSTRAINT queue_rates_count_check CHECK ((count > 0)),
    CONSTRAINT queue_rates_seconds_check CHECK ((seconds > 0))
)
WITH (fillfactor='50');
CREATE TABLE tickbird.revisions (
    schedule_id bigint NOT NULL,
    revision integer NOT NULL,
    definition json NOT NULL,
    fingerprint text,
    action text NOT NULL,
    actor text NOT NULL,
    detail jsonb DEFAULT '{}'::jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);
CREATE TABLE tickbird.run_payloads (
    run_id bigint NOT NULL,
    payload json NOT NULL
);
CREATE TABLE tickbird.runs (
    id bigint DEFAULT nextval('tickbird.ledger_id_seq'::regclass) NOT NULL,
    schedule_id bigint,
    scheduled_for timestamp with time zone,
    due_at timestamp with time zone NOT NULL,
    available_at timestamp with time zone NOT NULL,
    lease_until timestamp with time zone,
    created_at timestamp with time zone NOT NULL,
    started_at timestamp with time zone,
    finished_at timestamp with time zone,
    start_by timestamp with time zone,
    covers_first timestamp with time zone,
    covers_last timestamp with time zone,
    cancel_requested_at timestamp with time zone,
    released_at timestamp with time zone,
    retry_of bigint,
    backfill_id bigint,
    created_xid bigint,
    revision integer,
    priority integer NOT NULL,
    attempt integer DEFAULT 0 NOT NULL,
    incarnation integer,
    failures integer DEFAULT 0 NOT NULL,
    crashes integer DEFAULT 0 NOT NULL,
    crash_limit integer NOT NULL,
    covers_count integer,
    deferred_until_minute integer DEFAULT 0 NOT NULL,
    lane smallint DEFAULT 0 NOT NULL,
    status text NOT NULL,
    origin text NOT NULL,
    namespace text NOT NULL,
    target_kind text NOT NULL,
    target text NOT NULL,
    queue text NOT NULL,
    concurrency_key text,
    idempotency_key text,
    worker text,
    actor text,
    reason text,
    cancel_requested_by text,
    released_by text,
    failure_kind text,
    error text,
    result json,
    applied_override json,
    CONSTRAINT runs_covers_check CHECK ((num_nulls(covers_first, covers_last, covers_count) = ANY (ARRAY[0, 3]))),
    CONSTRAINT runs_failure_kind_check CHECK ((failure_kind = ANY (ARRAY['raised'::text, 'timeout'::text, 'lost'::text, 'reported'::text]))),
    CONSTRAINT runs_finished_at_check CHECK (((finished_at IS NULL) = (status = ANY (ARRAY['waiting'::text, 'queued'::text, 'running'::text])))),
    CONSTRAINT runs_lane_check CHECK ((((lane >= '-1'::integer) AND (lane <= 2)) AND ((lane = 0) OR (status = 'waiting'::text)))),
    CONSTRAINT runs_lease_until_check CHECK (((status = 'running'::text) = (lease_until IS NOT NULL))),
    CONSTRAINT runs_status_check CHECK ((status = ANY (ARRAY['waiting'::text, 'queued'::text, 'running'::text, 'succeeded'::text, 'failed'::text, 'cancelled'::text]))),
    CONSTRAINT runs_tick_check CHECK (((origin <> ALL (ARRAY['schedule'::text, 'catch_up'::text, 'backfill'::text])) OR ((schedule_id IS NOT NULL) AND (scheduled_for IS NOT NULL) AND (revision IS NOT NULL))))
)
WITH (fillfactor='80', autovacuum_vacuum_scale_factor='0.02', autovacuum_vacuum_threshold='1000', autovacuum_vacuum_insert_scale_factor='0.1', autovacuum_analyze_scale_factor='0.05', autovacuum_vacuum_cost_delay='0');
CREATE TABLE tickbird.schedule_ids (
    id bigint NOT NULL,
    namespace text NOT NULL,
    name text NOT NULL
);
CREATE VIEW tickbird.run_details AS
 SELECT r.id,
    r.namespace,
    r.schedule_id,
    i.name AS schedule,
    r.revision,
    r.target_kind,
    r.target,
    r.queue,
    r.priority,
    r.origin,
    r.status,
    r.scheduled_for,
    r.due_at,
    r.available_at,
    r.start_by,
    r.covers_first,
    r.covers_last,
    r.covers_count,
    r.attempt,
    r.failures,
    r.crashes,
    r.created_at,
        CASE
            WHEN (r.attempt > 1) THEN COALESCE(( SELECT min(a.started_at) AS min
               FROM tickbird.attempts a
              WHERE (a.run_id = r.id)), r.started_at)
            ELSE r.started_at
        END AS first_started_at,
    r.started_at,
    r.finished_at,
    r.lease_until,
    r.worker,
    r.retry_of,
    r.actor,
    r.reason,
    r.cancel_requested_at,
    r.cancel_requested_by,
    COALESCE(p.payload, (v.definition -> 'payload'::text), '{}'::json) AS payload,
    r.result,
    r.error,
    r.failure_kind,
    r.backfill_id,
    r.lane,
    r.released_at,
    r.released_by,
    r.concurrency_key,
    r.applied_override
   FROM (((tickbird.runs r
     LEFT JOIN tickbird.schedule_ids i ON ((i.id = r.schedule_id)))
     LEFT JOIN tickbird.run_payloads p ON ((p.run_id = r.id)))
     LEFT JOIN tickbird.revisions v ON (((v.schedule_id = r.schedule_id) AND (v.revision = r.revision))));
CREATE TABLE tickbird.run_logs (
    run_id bigint NOT NULL,
    attempt integer NOT NULL,
    number integer NOT NULL,
    logged_at timestamp with time zone NOT NULL,
    level smallint NOT NULL,
    text text NOT NULL
);
CREATE TABLE tickbird.run_progress (
    run_id bigint NOT NULL,
    attempt integer NOT NULL,
    reported_at timestamp with time zone NOT NULL,
    value json
)
WITH (fillfactor='70');
CREATE TABLE tickbird.schedules (
    id bigint NOT NULL,
    namespace text DEFAULT 'default'::text NOT NULL,
    name text NOT NULL,
    app text,
    definition jsonb NOT NULL,
    revision integer DEFAULT 1 NOT NULL,
    fingerprint text,
    field_overrides jsonb DEFAULT '{}'::jsonb NOT NULL,
    paused_by text,
    pause_note text,
    paused_until timestamp with time zone,
    error text,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    changed_at timestamp with time zone DEFAULT now() NOT NULL
);
CREATE VIEW tickbird.schedule_details AS
 SELECT s.id,
    s.namespace,
    s.name,
    s.app,
    s.definition,
    s.revision,
    s.fingerprint,
    s.field_overrides,
    s.paused_by,
    s.pause_note,
        CASE
            WHEN (s.paused_until <> 'infinity'::timestamp with time zone) THEN tickbird.epoch_seconds(s.paused_until)
            ELSE NULL::bigint
        END AS paused_until,
    s.error,
    s.created_at,
    s.changed_at,
    c.state,
    c.format,
    tickbird.epoch_seconds(c.next_run_at) AS next_run_at,
    tickbird.epoch_seconds(c.planned_until) AS planned_until,
    c.runs_planned,
    tickbird.epoch_seconds(c.skip_until) AS skip_until,
    c.skip_by,
    c.skip_note,
    c.tick_overrides,
    c.last_skip_id,
    c.prior_revision,
    tickbird.epoch_seconds(c.edited_at) AS edited_at
   FROM (tickbird.schedules s
     JOIN tickbird.cursors c ON ((c.schedule_id = s.id)));
ALTER TABLE tickbird.schedule_ids ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME tickbird.schedule_ids_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE tickbird.schedule_search (
    namespace text NOT NULL,
    name text NOT NULL,
    schedule_id bigint NOT NULL,
    app text,
    queue text NOT NULL,
    search_text text NOT NULL
);
CREATE TABLE tickbird.sessions (
    id text NOT NULL,
    digest text NOT NULL,
    token_id text NOT NULL,
    user_agent text NOT NULL,
    opened_at timestamp with time zone NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    closed_at timestamp with time zone,
    closed_by text,
    last_used_at timestamp with time zone
);
CREATE TABLE tickbird.skips (
    id bigint DEFAULT nextval('tickbird.ledger_id_seq'::regclass) NOT NULL,
    schedule_id bigint NOT NULL,
    first_at timestamp with time zone NOT NULL,
    last_at timestamp with time zone NOT NULL,
    decided_at timestamp with time zone NOT NULL,
    run_id bigint,
    revision integer NOT NULL,
    count bigint NOT NULL,
    reason text NOT NULL,
    actor text,
    note text DEFAULT ''::text NOT NULL,
    CONSTRAINT skips_range_check CHECK (((first_at <= last_at) AND (count > 0)))
)
WITH (fillfactor='90');
CREATE TABLE tickbird.tokens (
    id text NOT NULL,
    digest text NOT NULL,
    name text NOT NULL,
    role text NOT NULL,
    namespaces text[],
    created_at timestamp with time zone NOT NULL,
    created_by text NOT NULL,
    expires_at timestamp with time zone,
    revoked_at timestamp with time zone,
    revoked_by text,
    last_used_at timestamp with time zone,
    CONSTRAINT tokens_role_check CHECK ((role = ANY (ARRAY['viewer'::text, 'operator'::text, 'editor'::text, 'admin'::text])))
);
CREATE TABLE tickbird.workers (
    id text NOT NULL,
    namespace text NOT NULL,
    app text NOT NULL,
    kind text NOT NULL,
    host text NOT NULL,
    pid integer NOT NULL,
    version text NOT NULL,
    queues text[] NOT NULL,
    slots integer NOT NULL,
    tasks jsonb NOT NULL,
    declared jsonb NOT NULL,
    draining boolean NOT NULL,
    started_at timestamp with time zone NOT NULL,
    last_heartbeat_at timestamp with time zone NOT NULL,
    live_until timestamp with time zone NOT NULL,
    standby_reason text DEFAULT ''::text NOT NULL,
    health jsonb DEFAULT '{}'::jsonb NOT NULL,
    drain_requested_at timestamp with time zone,
    drain_requested_by text,
    CONSTRAINT workers_kind_check CHECK ((kind = ANY (ARRAY['worker'::text, 'planner'::text, 'executor'::text, 'sync'::text])))
)
WITH (fillfactor='50');
INSERT INTO tickbird.attempts VALUES (396, 1, 'w1', '2026-01-11 00:00:01+00', '2026-01-11 00:00:02+00', 'retried', 'Boom: no data');
INSERT INTO tickbird.attempts VALUES (396, 2, 'w1', '2026-01-11 00:01:10+00', '2026-01-11 00:01:11+00', 'failed', 'Boom: still none');
INSERT INTO tickbird.attempts VALUES (124, 1, 'w1', '2026-01-06 00:10:02+00', '2026-01-11 00:00:30+00', 'lost', 'worker w1 was lost: its lease ended at 2026-01-07 00:10:02.');
INSERT INTO tickbird.attempts VALUES (125, 1, 'w1', '2026-01-06 00:10:02+00', '2026-01-11 00:00:30+00', 'lost', 'worker w1 was lost: its lease ended at 2026-01-07 00:10:02.');
INSERT INTO tickbird.attempts VALUES (126, 1, 'w1', '2026-01-06 00:10:02+00', '2026-01-11 00:00:30+00', 'lost', 'worker w1 was lost: its lease ended at 2026-01-07 00:10:02.');
INSERT INTO tickbird.attempts VALUES (127, 1, 'w1', '2026-01-06 00:10:02+00', '2026-01-11 00:00:30+00', 'lost', 'worker w1 was lost: its lease ended at 2026-01-07 00:10:02.');
INSERT INTO tickbird.attempts VALUES (371, 1, 'w1', '2026-01-09 01:00:02+00', '2026-01-11 00:00:30+00', 'lost', 'worker w1 was lost: its lease ended at 2026-01-10 01:00:02.');
INSERT INTO tickbird.attempts VALUES (397, 1, 'w1', '2026-01-11 00:00:01+00', '2026-01-11 00:00:30+00', 'lost', 'worker w1 was lost: its lease ended at 2026-01-11 00:00:06.');
INSERT INTO tickbird.audit_log OVERRIDING SYSTEM VALUE VALUES (4, '2026-01-01 00:00:00+00', 'ada', 'create', 'default', 3, 'berlin', NULL, '{"definition": {"v": 1, "spread": 600, "target": {"task": "work"}, "retries": 3, "timeout": 60, "trigger": {"tz": "Europe/Berlin", "cron": "30 2 * * 1-5"}}}');
INSERT INTO tickbird.audit_log OVERRIDING SYSTEM VALUE VALUES (5, '2026-01-01 00:00:00+00', 'ada', 'create', 'default', 4, 'either', NULL, '{"definition": {"v": 1, "queue": "gpu", "target": {"task": "work"}, "trigger": {"any_of": [{"cron": "0 12 * * *"}, {"every": {"days": 2}}]}}}');
INSERT INTO tickbird.audit_log OVERRIDING SYSTEM VALUE VALUES (6, '2026-01-01 00:00:00+00', 'ada', 'create', 'default', 5, 'once', NULL, '{"definition": {"v": 1, "target": {"task": "work"}, "trigger": {"at": "2026-01-01T05:00:00Z"}}}');
INSERT INTO tickbird.audit_log OVERRIDING SYSTEM VALUE VALUES (7, '2026-01-01 00:00:00+00', 'ada', 'create', 'default', 6, 'window', NULL, '{"definition": {"v": 1, "end_at": "2026-01-04T00:00:00Z", "target": {"task": "work"}, "trigger": {"every": {"hours": 6}}, "max_runs": 4, "start_at": "2026-01-02T00:00:00Z"}}');
INSERT INTO tickbird.audit_log OVERRIDING SYSTEM VALUE VALUES (8, '2026-01-01 00:00:00+00', 'ada', 'create', 'default', 7, 'closed', NULL, '{"definition": {"v": 1, "closed": {"quiet": ["12-25", "2026-01-02"]}, "target": {"task": "work"}, "trigger": {"every": {"days": 1}}, "calendars": ["quiet"]}}');
INSERT INTO tickbird.audit_log OVERRIDING SYSTEM VALUE VALUES (9, '2026-01-01 00:00:00+00', 'ada', 'create', 'default', 8, 'weekends', NULL, '{"definition": {"v": 1, "target": {"task": "work"}, "exclude": ["sat", "sun"], "trigger": {"every": {"days": 1}}}}');
INSERT INTO tickbird.audit_log OVERRIDING SYSTEM VALUE VALUES (10, '2026-01-05 00:00:00+00', 'ada', 'create', 'default', 9, 'declared', NULL, '{"definition": {"v": 1, "target": {"task": "coded"}, "retries": 2, "trigger": {"every": {"hours": 3}}}}');
INSERT INTO tickbird.audit_log OVERRIDING SYSTEM VALUE VALUES (11, '2026-01-05 00:01:00+00', 'sync', 'sync', 'default', 9, 'declared', NULL, '{"after": {"v": 1, "target": {"task": "coded"}, "retries": 2, "trigger": {"every": {"hours": 2}}}, "before": {"v": 1, "target": {"task": "coded"}, "retries": 2, "trigger": {"every": {"hours": 3}}}}');
INSERT INTO tickbird.audit_log OVERRIDING SYSTEM VALUE VALUES (12, '2026-01-05 00:01:30+00', 'ada', 'update', 'default', 9, 'declared', NULL, '{"after": {"retries": 5}, "before": {"retries": 2}}');
INSERT INTO tickbird.audit_log OVERRIDING SYSTEM VALUE VALUES (13, '2026-01-06 00:00:00+00', 'ada', 'create', 'default', 10, 'overlap-skip', NULL, '{"definition": {"v": 1, "target": {"task": "skip"}, "trigger": {"every": {"minutes": 10}}}}');
INSERT INTO tickbird.audit_log OVERRIDING SYSTEM VALUE VALUES (14, '2026-01-06 00:00:00+00', 'ada', 'create', 'default', 11, 'overlap-queue', NULL, '{"definition": {"v": 1, "target": {"task": "queue"}, "overlap": "queue", "trigger": {"every": {"minutes": 10}}}}');
INSERT INTO tickbird.audit_log OVERRIDING SYSTEM VALUE VALUES (15, '2026-01-06 00:00:00+00', 'ada', 'create', 'default', 12, 'overlap-replace', NULL, '{"definition": {"v": 1, "target": {"task": "replace"}, "overlap": "replace", "trigger": {"every": {"minutes": 10}}}}');
INSERT INTO tickbird.audit_log OVERRIDING SYSTEM VALUE VALUES (16, '2026-01-06 00:00:00+00', 'ada', 'create', 'default', 13, 'overlap-allow', NULL, '{"definition": {"v": 1, "target": {"task": "allow"}, "overlap": "allow", "trigger": {"every": {"minutes": 10}}}}');
INSERT INTO tickbird.audit_log OVERRIDING SYSTEM VALUE VALUES (17, '2026-01-07 00:00:00+00', 'ada', 'create', 'default', 14, 'late-one', NULL, '{"definition": {"v": 1, "target": {"task": "late"}, "trigger": {"every": {"hours": 1}}, "catch_up_limit": 3}}');
INSERT INTO tickbird.audit_log OVERRIDING SYSTEM VALUE VALUES (18, '2026-01-07 00:00:00+00', 'ada', 'create', 'default', 15, 'late-latest', NULL, '{"definition": {"v": 1, "target": {"task": "late"}, "trigger": {"every": {"hours": 1}}, "catch_up": "latest", "catch_up_limit": 3}}');
INSERT INTO tickbird.audit_log OVERRIDING SYSTEM VALUE VALUES (19, '2026-01-07 00:00:00+00', 'ada', 'create', 'default', 16, 'late-all', NULL, '{"definition": {"v": 1, "target": {"task": "late"}, "trigger": {"every": {"hours": 1}}, "catch_up": "all", "catch_up_limit": 3}}');
INSERT INTO tickbird.audit_log OVERRIDING SYSTEM VALUE VALUES (20, '2026-01-07 00:00:00+00', 'ada', 'create', 'default', 17, 'late-skip', NULL, '{"definition": {"v": 1, "target": {"task": "late"}, "trigger": {"every": {"hours": 1}}, "catch_up": "skip", "catch_up_limit": 3}}');
INSERT INTO tickbird.audit_log OVERRIDING SYSTEM VALUE VALUES (21, '2026-01-07 00:00:00+00', 'ada', 'create', 'default', 18, 'held', NULL, '{"definition": {"v": 1, "target": {"task": "late"}, "trigger": {"every": {"hours": 1}}, "catch_up": "all", "hold_above": 2}}');
INSERT INTO tickbird.audit_log OVERRIDING SYSTEM VALUE VALUES (22, '2026-01-07 09:00:00+00', 'ada', 'release_held', 'default', 18, 'held', NULL, '{"note": "", "count": 2, "per_minute": null}');
INSERT INTO tickbird.audit_log OVERRIDING SYSTEM VALUE VALUES (23, '2026-01-07 09:00:00+00', 'ada', 'drop_held', 'default', 18, 'held', NULL, '{"note": "no", "count": 1}');
INSERT INTO tickbird.audit_log OVERRIDING SYSTEM VALUE VALUES (24, '2026-01-08 00:00:00+00', 'ada', 'create', 'default', 19, 'paused', NULL, '{"definition": {"v": 1, "target": {"task": "changed"}, "trigger": {"every": {"hours": 1}}}}');
INSERT INTO tickbird.audit_log OVERRIDING SYSTEM VALUE VALUES (25, '2026-01-08 00:00:00+00', 'ada', 'create', 'default', 20, 'resumed', NULL, '{"definition": {"v": 1, "target": {"task": "changed"}, "trigger": {"every": {"hours": 1}}}}');
INSERT INTO tickbird.audit_log OVERRIDING SYSTEM VALUE VALUES (26, '2026-01-08 00:00:00+00', 'ada', 'create', 'default', 21, 'moved', NULL, '{"definition": {"v": 1, "target": {"task": "changed"}, "trigger": {"every": {"hours": 1}}}}');
INSERT INTO tickbird.audit_log OVERRIDING SYSTEM VALUE VALUES (27, '2026-01-08 00:00:00+00', 'ada', 'create', 'default', 22, 'skipped', NULL, '{"definition": {"v": 1, "target": {"task": "changed"}, "trigger": {"every": {"hours": 1}}}}');
INSERT INTO tickbird.audit_log OVERRIDING SYSTEM VALUE VALUES (28, '2026-01-08 00:00:00+00', 'ada', 'create', 'default', 23, 'deleted', NULL, '{"definition": {"v": 1, "target": {"task": "changed"}, "trigger": {"every": {"hours": 1}}}}');
INSERT INTO tickbird.audit_log OVERRIDING SYSTEM VALUE VALUES (29, '2026-01-08 00:00:00+00', 'ada', 'create', 'default', 24, 'edited', NULL, '{"definition": {"v": 1, "target": {"task": "changed"}, "trigger": {"every": {"hours": 1}}}}');
INSERT INTO tickbird.audit_log OVERRIDING SYSTEM VALUE VALUES (30, '2026-01-08 00:00:00+00', 'ada', 'create', 'default', 25, 'triggered', NULL, '{"definition": {"v": 1, "target": {"task": "changed"}, "trigger": {"every": {"hours": 1}}}}');
INSERT INTO tickbird.audit_log OVERRIDING SYSTEM VALUE VALUES (31, '2026-01-08 01:00:05+00', 'ada', 'pause', 'default', 19, 'paused', NULL, '{"note": "quiet", "until": 1801785600}');
INSERT INTO tickbird.audit_log OVERRIDING SYSTEM VALUE VALUES (33, '2026-01-08 05:00:00+00', 'bob', 'resume', 'default', 20, 'resumed', NULL, '{"note": "again", "paused_by": "ada"}');
INSERT INTO tickbird.audit_log OVERRIDING SYSTEM VALUE VALUES (35, '2026-01-08 00:00:05+00', 'ada', 'skip', 'default', 22, 'skipped', NULL, '{"last": 1767841200, "note": "not now", "first": 1767834000}');
INSERT INTO tickbird.audit_log OVERRIDING SYSTEM VALUE VALUES (37, '2026-01-08 02:00:05+00', 'ada', 'update', 'default', 24, 'edited', NULL, '{"after": {"payload": {"v": 2}}, "before": {"payload": null}}');
INSERT INTO tickbird.audit_log OVERRIDING SYSTEM VALUE VALUES (40, '2026-01-09 00:00:00+00', 'ada', 'limit', 'default', NULL, NULL, NULL, '{"key": "warehouse", "after": 2, "before": null}');
INSERT INTO tickbird.audit_log OVERRIDING SYSTEM VALUE VALUES (42, '2026-01-09 00:00:00+00', 'ada', 'create', 'default', 27, 'keyed-2', NULL, '{"definition": {"v": 1, "target": {"task": "keyed"}, "overlap": "allow", "trigger": {"every": {"hours": 1}}, "concurrency_key": "warehouse"}}');
INSERT INTO tickbird.audit_log OVERRIDING SYSTEM VALUE VALUES (44, '2026-01-09 00:00:00+00', 'ada', 'enqueue', 'default', NULL, NULL, 384, '{"count": 1, "tasks": ["later"]}');
INSERT INTO tickbird.audit_log OVERRIDING SYSTEM VALUE VALUES (45, '2026-01-10 00:00:00+00', 'ada', 'create', 'default', 29, 'filled', NULL, '{"definition": {"v": 1, "target": {"task": "filled"}, "trigger": {"every": {"hours": 1}}}}');
INSERT INTO tickbird.audit_log OVERRIDING SYSTEM VALUE VALUES (47, '2026-01-10 09:00:01+00', 'ada', 'resume', 'default', 29, 'filled', NULL, '{"note": "", "paused_by": "ada"}');
INSERT INTO tickbird.audit_log OVERRIDING SYSTEM VALUE VALUES (49, '2026-01-10 10:00:00+00', 'ben', 'backfill', 'default', 29, 'filled', NULL, '{"last": 1768035600, "note": "new column", "count": 4, "first": 1768024800, "order": "oldest", "payload": null, "backfill": 2, "concurrency": 2}');
INSERT INTO tickbird.audit_log OVERRIDING SYSTEM VALUE VALUES (51, '2026-01-11 00:00:00+00', 'ada', 'enqueue', 'default', NULL, NULL, 396, '{"count": 1, "tasks": ["fails"]}');
INSERT INTO tickbird.audit_log OVERRIDING SYSTEM VALUE VALUES (53, '2026-01-11 00:00:00+00', 'ada', 'enqueue', 'default', NULL, NULL, 398, '{"count": 1, "tasks": ["stops"]}');
INSERT INTO tickbird.audit_log OVERRIDING SYSTEM VALUE VALUES (55, '2026-01-11 00:00:00+00', 'ada', 'enqueue', 'default', NULL, NULL, 400, '{"count": 1, "tasks": ["runs"]}');
INSERT INTO tickbird.audit_log OVERRIDING SYSTEM VALUE VALUES (57, '2026-01-11 00:01:20+00', 'ada', 'enqueue', 'default', NULL, NULL, 402, '{"count": 1, "tasks": ["fails"], "retry_of": 396}');
INSERT INTO tickbird.audit_log OVERRIDING SYSTEM VALUE VALUES (32, '2026-01-08 00:00:05+00', 'ada', 'pause', 'default', 20, 'resumed', NULL, '{"note": "", "until": null}');
INSERT INTO tickbird.audit_log OVERRIDING SYSTEM VALUE VALUES (34, '2026-01-08 00:00:05+00', 'ada', 'reschedule', 'default', 21, 'moved', NULL, '{"to": 1767848407, "note": "", "tick": 1767834000}');
INSERT INTO tickbird.audit_log OVERRIDING SYSTEM VALUE VALUES (36, '2026-01-08 02:00:05+00', 'ada', 'delete', 'default', 23, 'deleted', NULL, '{"definition": {"v": 1, "target": {"task": "changed"}, "trigger": {"every": {"hours": 1}}}}');
INSERT INTO tickbird.audit_log OVERRIDING SYSTEM VALUE VALUES (38, '2026-01-08 00:00:09+00', 'ada', 'trigger', 'default', 25, 'triggered', 179, '{"payload": {"by": "hand"}, "retry_of": null}');
INSERT INTO tickbird.audit_log OVERRIDING SYSTEM VALUE VALUES (39, '2026-01-08 08:00:00+00', 'ada', 'retry', 'default', 25, 'triggered', 327, '{"payload": null, "retry_of": 179}');
INSERT INTO tickbird.audit_log OVERRIDING SYSTEM VALUE VALUES (41, '2026-01-09 00:00:00+00', 'ada', 'create', 'default', 26, 'keyed-1', NULL, '{"definition": {"v": 1, "target": {"task": "keyed"}, "overlap": "allow", "trigger": {"every": {"hours": 1}}, "concurrency_key": "warehouse"}}');
INSERT INTO tickbird.audit_log OVERRIDING SYSTEM VALUE VALUES (43, '2026-01-09 00:00:00+00', 'ada', 'create', 'default', 28, 'keyed-3', NULL, '{"definition": {"v": 1, "target": {"task": "keyed"}, "overlap": "allow", "trigger": {"every": {"hours": 1}}, "concurrency_key": "warehouse"}}');
INSERT INTO tickbird.audit_log OVERRIDING SYSTEM VALUE VALUES (46, '2026-01-10 00:00:01+00', 'ada', 'pause', 'default', 29, 'filled', NULL, '{"note": "", "until": null}');
INSERT INTO tickbird.audit_log OVERRIDING SYSTEM VALUE VALUES (48, '2026-01-10 10:00:00+00', 'ben', 'backfill', 'default', 29, 'filled', NULL, '{"last": 1768017600, "note": "new column", "count": 4, "first": 1768006800, "order": "oldest", "payload": null, "backfill": 1, "concurrency": 2}');
INSERT INTO tickbird.audit_log OVERRIDING SYSTEM VALUE VALUES (50, '2026-01-10 11:00:00+00', 'ben', 'cancel_backfill', 'default', 29, 'filled', NULL, '{"note": "enough", "backfill": 2, "cancelled": 4, "asked_to_stop": 0}');
INSERT INTO tickbird.audit_log OVERRIDING SYSTEM VALUE VALUES (52, '2026-01-11 00:00:00+00', 'ada', 'enqueue', 'default', NULL, NULL, 397, '{"count": 1, "tasks": ["lost"]}');
INSERT INTO tickbird.audit_log OVERRIDING SYSTEM VALUE VALUES (54, '2026-01-11 00:00:00+00', 'ada', 'enqueue', 'default', NULL, NULL, 399, '{"count": 1, "tasks": ["talks"]}');
INSERT INTO tickbird.audit_log OVERRIDING SYSTEM VALUE VALUES (56, '2026-01-11 00:00:00+00', 'ada', 'enqueue', 'default', NULL, NULL, 401, '{"count": 1, "tasks": ["waits"]}');
INSERT INTO tickbird.audit_log OVERRIDING SYSTEM VALUE VALUES (58, '2026-01-11 00:00:40+00', 'ada', 'cancel', 'default', NULL, NULL, 398, '{"reason": "wrong day"}');
INSERT INTO tickbird.backfills OVERRIDING SYSTEM VALUE VALUES (1, 'default', 29, 3, '2026-01-10 01:00:00+00', '2026-01-10 04:00:00+00', 4, false, 2, NULL, 'ben', 'new column', '2026-01-10 10:00:00+00', NULL, NULL);
INSERT INTO tickbird.backfills OVERRIDING SYSTEM VALUE VALUES (2, 'default', 29, 3, '2026-01-10 06:00:00+00', '2026-01-10 09:00:00+00', 4, false, 2, NULL, 'ben', 'new column', '2026-01-10 10:00:00+00', '2026-01-10 11:00:00+00', 'ben');
INSERT INTO tickbird.calendars VALUES ('default', 'quiet', '{"dates": ["2026-01-02"]}', '["12-25", "2026-01-02"]', '{"years": [2025, 2036], "library": "days 1.0"}', 1, '2026-01-01 00:00:00+00', '2026-01-01 00:00:00+00', 'cy');
INSERT INTO tickbird.concurrency_limits VALUES ('default', 'warehouse', 2);
INSERT INTO tickbird.cursors VALUES (6, 1, 1, NULL, 'ended', NULL, '2026-01-02 18:00:00+00', 4, 0, NULL, NULL, NULL, '', NULL, NULL, NULL, NULL);
INSERT INTO tickbird.cursors VALUES (5, 1, 1, NULL, 'ended', NULL, '2026-01-01 05:00:00+00', 1, 0, NULL, NULL, NULL, '', NULL, NULL, NULL, NULL);
INSERT INTO tickbird.cursors VALUES (1, 1, 1, NULL, 'active', '2026-01-13 01:00:00+00', '2026-01-13 00:00:00+00', 96, 0, 119, NULL, NULL, '', NULL, NULL, NULL, NULL);
INSERT INTO tickbird.cursors VALUES (2, 1, 1, 1, 'active', '2026-01-13 14:00:00+00', '2026-01-12 14:00:00+00', 3, 0, 143, NULL, NULL, '', NULL, NULL, NULL, NULL);
INSERT INTO tickbird.cursors VALUES (3, 1, 1, 1, 'active', '2026-01-13 01:32:59+00', '2026-01-12 01:30:00+00', 3, 0, 144, NULL, NULL, '', NULL, NULL, NULL, NULL);
INSERT INTO tickbird.cursors VALUES (4, 1, 1, NULL, 'active', '2026-01-13 12:00:00+00', '2026-01-13 00:00:00+00', 6, 0, 129, NULL, NULL, '', NULL, NULL, NULL, NULL);
INSERT INTO tickbird.cursors VALUES (7, 1, 1, NULL, 'active', '2026-01-14 00:00:00+00', '2026-01-13 00:00:00+00', 3, 0, 130, NULL, NULL, '', NULL, NULL, NULL, NULL);
INSERT INTO tickbird.cursors VALUES (8, 1, 1, NULL, 'active', '2026-01-14 00:00:00+00', '2026-01-13 00:00:00+00', 2, 0, 404, NULL, NULL, '', NULL, NULL, NULL, NULL);
INSERT INTO tickbird.cursors VALUES (9, 3, 1, NULL, 'active', '2026-01-13 02:00:00+00', '2026-01-13 00:00:00+00', 2, 0, 145, NULL, NULL, '', NULL, NULL, NULL, NULL);
INSERT INTO tickbird.cursors VALUES (10, 1, 1, NULL, 'active', '2026-01-13 00:10:00+00', '2026-01-13 00:00:00+00', 1, 0, 136, NULL, NULL, '', NULL, NULL, NULL, NULL);
INSERT INTO tickbird.cursors VALUES (11, 1, 1, NULL, 'active', '2026-01-13 00:10:00+00', '2026-01-13 00:00:00+00', 2, 0, 140, NULL, NULL, '', NULL, NULL, NULL, NULL);
INSERT INTO tickbird.cursors VALUES (12, 1, 1, NULL, 'active', '2026-01-13 00:10:00+00', '2026-01-13 00:00:00+00', 13, 0, 406, NULL, NULL, '', NULL, NULL, NULL, NULL);
INSERT INTO tickbird.cursors VALUES (13, 1, 1, NULL, 'active', '2026-01-13 00:10:00+00', '2026-01-13 00:00:00+00', 22, 29471040, 409, NULL, NULL, '', NULL, NULL, NULL, NULL);
INSERT INTO tickbird.cursors VALUES (19, 2, 1, NULL, 'paused', '2027-02-05 00:00:00+00', '2026-01-08 01:00:00+00', 1, 0, NULL, NULL, NULL, '', NULL, NULL, NULL, NULL);
INSERT INTO tickbird.cursors VALUES (23, 2, 1, NULL, 'deleted', NULL, '2026-01-08 02:00:05+00', 0, 0, 176, NULL, NULL, '', NULL, NULL, NULL, NULL);
INSERT INTO tickbird.cursors VALUES (14, 1, 1, NULL, 'active', '2026-01-13 01:00:00+00', '2026-01-13 00:00:00+00', 1, 0, 185, NULL, NULL, '', NULL, NULL, NULL, NULL);
INSERT INTO tickbird.cursors VALUES (16, 1, 1, NULL, 'active', '2026-01-13 01:00:00+00', '2026-01-13 00:00:00+00', 12, 0, 414, NULL, NULL, '', NULL, NULL, NULL, NULL);
INSERT INTO tickbird.cursors VALUES (18, 1, 1, NULL, 'active', '2026-01-13 01:00:00+00', '2026-01-13 00:00:00+00', 135, 0, 511, NULL, NULL, '', NULL, NULL, NULL, NULL);
INSERT INTO tickbird.cursors VALUES (21, 2, 1, NULL, 'active', '2026-01-13 01:00:00+00', '2026-01-13 00:00:00+00', 3, 0, 363, NULL, NULL, '', NULL, NULL, NULL, NULL);
INSERT INTO tickbird.cursors VALUES (25, 1, 1, NULL, 'active', '2026-01-13 01:00:00+00', '2026-01-13 00:00:00+00', 8, 0, 370, NULL, NULL, '', NULL, NULL, NULL, NULL);
INSERT INTO tickbird.cursors VALUES (26, 1, 1, NULL, 'active', '2026-01-13 01:00:00+00', '2026-01-13 00:00:00+00', 3, 0, 514, NULL, NULL, '', NULL, NULL, NULL, NULL);
INSERT INTO tickbird.cursors VALUES (28, 1, 1, NULL, 'active', '2026-01-13 01:00:00+00', '2026-01-13 00:00:00+00', 3, 0, 520, NULL, NULL, '', NULL, NULL, NULL, NULL);
INSERT INTO tickbird.cursors VALUES (15, 1, 1, NULL, 'active', '2026-01-13 01:00:00+00', '2026-01-13 00:00:00+00', 1, 0, 186, NULL, NULL, '', NULL, NULL, NULL, NULL);
INSERT INTO tickbird.cursors VALUES (17, 1, 1, NULL, 'active', '2026-01-13 01:00:00+00', '2026-01-13 00:00:00+00', 2, 0, 416, NULL, NULL, '', NULL, NULL, NULL, NULL);
INSERT INTO tickbird.cursors VALUES (20, 3, 1, NULL, 'active', '2026-01-13 01:00:00+00', '2026-01-13 00:00:00+00', 3, 0, 360, NULL, NULL, '', NULL, NULL, NULL, NULL);
INSERT INTO tickbird.cursors VALUES (22, 2, 1, NULL, 'active', '2026-01-13 01:00:00+00', '2026-01-13 00:00:00+00', 5, 0, 366, NULL, NULL, '', NULL, NULL, NULL, NULL);
INSERT INTO tickbird.cursors VALUES (24, 2, 1, NULL, 'active', '2026-01-13 01:00:00+00', '2026-01-13 00:00:00+00', 7, 0, 369, NULL, NULL, '', NULL, NULL, NULL, NULL);
INSERT INTO tickbird.cursors VALUES (27, 1, 1, NULL, 'active', '2026-01-13 01:00:00+00', '2026-01-13 00:00:00+00', 3, 0, 517, NULL, NULL, '', NULL, NULL, NULL, NULL);
INSERT INTO tickbird.cursors VALUES (29, 3, 1, NULL, 'active', '2026-01-13 01:00:00+00', '2026-01-13 00:00:00+00', 2, 0, 523, NULL, NULL, '', NULL, NULL, NULL, NULL);
INSERT INTO tickbird.cursors VALUES (30, 1, 1, NULL, 'parked', NULL, NULL, 0, 0, NULL, NULL, NULL, '', NULL, NULL, NULL, NULL);
INSERT INTO tickbird.meta VALUES ('incarnation', '1525808585');
INSERT INTO tickbird.meta VALUES ('schema_generation', '1');
INSERT INTO tickbird.meta VALUES ('version', '1');
INSERT INTO tickbird.meta VALUES ('min_compatible', '1');
INSERT INTO tickbird.migrations VALUES (1, 'schema', 'acc5d0d4f72d2f6707effbc7c16d85e73776991e9e8346821e2d2490e49da51f', '2026-11-18 00:32:30.89392+00');
INSERT INTO tickbird.prune_horizons VALUES (1, '2026-01-01 02:00:00+00');
INSERT INTO tickbird.prune_horizons VALUES (3, '2026-01-01 01:30:00+00');
INSERT INTO tickbird.revisions VALUES (1, 1, '{"v": 1, "trigger": {"every": {"hours": 1}}, "target": {"task": "work"}, "description": "\u201c\u00fc\u201d every hour", "tags": ["mail", "eu"], "priority": 3}', NULL, 'create', 'ada', '{"definition": {"v": 1, "tags": ["mail", "eu"], "target": {"task": "work"}, "trigger": {"every": {"hours": 1}}, "priority": 3, "description": "“ü” every hour"}}', '2026-01-01 00:00:00+00');
INSERT INTO tickbird.revisions VALUES (2, 1, '{"v": 1, "trigger": {"cron": "0 9 * * 1-5", "tz": "America/New_York"}, "target": {"task": "work"}, "payload": {"limit": 5, "who": "\u00fc"}}', NULL, 'create', 'ada', '{"definition": {"v": 1, "target": {"task": "work"}, "payload": {"who": "ü", "limit": 5}, "trigger": {"tz": "America/New_York", "cron": "0 9 * * 1-5"}}}', '2026-01-01 00:00:00+00');
INSERT INTO tickbird.revisions VALUES (3, 1, '{"v": 1, "trigger": {"cron": "30 2 * * 1-5", "tz": "Europe/Berlin"}, "target": {"task": "work"}, "spread": 600, "retries": 3, "timeout": 60}', NULL, 'create', 'ada', '{"definition": {"v": 1, "spread": 600, "target": {"task": "work"}, "retries": 3, "timeout": 60, "trigger": {"tz": "Europe/Berlin", "cron": "30 2 * * 1-5"}}}', '2026-01-01 00:00:00+00');
INSERT INTO tickbird.revisions VALUES (4, 1, '{"v": 1, "trigger": {"any_of": [{"cron": "0 12 * * *"}, {"every": {"days": 2}}]}, "target": {"task": "work"}, "queue": "gpu"}', NULL, 'create', 'ada', '{"definition": {"v": 1, "queue": "gpu", "target": {"task": "work"}, "trigger": {"any_of": [{"cron": "0 12 * * *"}, {"every": {"days": 2}}]}}}', '2026-01-01 00:00:00+00');
INSERT INTO tickbird.revisions VALUES (5, 1, '{"v": 1, "trigger": {"at": "2026-01-01T05:00:00Z"}, "target": {"task": "work"}}', NULL, 'create', 'ada', '{"definition": {"v": 1, "target": {"task": "work"}, "trigger": {"at": "2026-01-01T05:00:00Z"}}}', '2026-01-01 00:00:00+00');
INSERT INTO tickbird.revisions VALUES (6, 1, '{"v": 1, "trigger": {"every": {"hours": 6}}, "target": {"task": "work"}, "start_at": "2026-01-02T00:00:00Z", "end_at": "2026-01-04T00:00:00Z", "max_runs": 4}', NULL, 'create', 'ada', '{"definition": {"v": 1, "end_at": "2026-01-04T00:00:00Z", "target": {"task": "work"}, "trigger": {"every": {"hours": 6}}, "max_runs": 4, "start_at": "2026-01-02T00:00:00Z"}}', '2026-01-01 00:00:00+00');
INSERT INTO tickbird.revisions VALUES (7, 1, '{"v": 1, "trigger": {"every": {"days": 1}}, "target": {"task": "work"}, "calendars": ["quiet"], "closed": {"quiet": ["12-25", "2026-01-02"]}}', NULL, 'create', 'ada', '{"definition": {"v": 1, "closed": {"quiet": ["12-25", "2026-01-02"]}, "target": {"task": "work"}, "trigger": {"every": {"days": 1}}, "calendars": ["quiet"]}}', '2026-01-01 00:00:00+00');
INSERT INTO tickbird.revisions VALUES (8, 1, '{"v": 1, "trigger": {"every": {"days": 1}}, "target": {"task": "work"}, "exclude": ["sat", "sun"]}', NULL, 'create', 'ada', '{"definition": {"v": 1, "target": {"task": "work"}, "exclude": ["sat", "sun"], "trigger": {"every": {"days": 1}}}}', '2026-01-01 00:00:00+00');
INSERT INTO tickbird.revisions VALUES (9, 1, '{"v": 1, "trigger": {"every": {"hours": 3}}, "target": {"task": "coded"}, "retries": 2}', '72241b7147c9aa7b9b2e88fb', 'create', 'ada', '{"definition": {"v": 1, "target": {"task": "coded"}, "retries": 2, "trigger": {"every": {"hours": 3}}}}', '2026-01-05 00:00:00+00');
INSERT INTO tickbird.revisions VALUES (9, 2, '{"v": 1, "trigger": {"every": {"hours": 2}}, "target": {"task": "coded"}, "retries": 2}', '04e057ae994efb0866f5dd64', 'sync', 'sync', '{"after": {"v": 1, "target": {"task": "coded"}, "retries": 2, "trigger": {"every": {"hours": 2}}}, "before": {"v": 1, "target": {"task": "coded"}, "retries": 2, "trigger": {"every": {"hours": 3}}}}', '2026-01-05 00:01:00+00');
INSERT INTO tickbird.revisions VALUES (9, 3, '{"v": 1, "target": {"task": "coded"}, "retries": 5, "trigger": {"every": {"hours": 2}}}', '04e057ae994efb0866f5dd64', 'update', 'ada', '{"after": {"retries": 5}, "before": {"retries": 2}}', '2026-01-05 00:01:30+00');
INSERT INTO tickbird.revisions VALUES (10, 1, '{"v": 1, "trigger": {"every": {"minutes": 10}}, "target": {"task": "skip"}}', NULL, 'create', 'ada', '{"definition": {"v": 1, "target": {"task": "skip"}, "trigger": {"every": {"minutes": 10}}}}', '2026-01-06 00:00:00+00');
INSERT INTO tickbird.revisions VALUES (11, 1, '{"v": 1, "trigger": {"every": {"minutes": 10}}, "target": {"task": "queue"}, "overlap": "queue"}', NULL, 'create', 'ada', '{"definition": {"v": 1, "target": {"task": "queue"}, "overlap": "queue", "trigger": {"every": {"minutes": 10}}}}', '2026-01-06 00:00:00+00');
INSERT INTO tickbird.revisions VALUES (12, 1, '{"v": 1, "trigger": {"every": {"minutes": 10}}, "target": {"task": "replace"}, "overlap": "replace"}', NULL, 'create', 'ada', '{"definition": {"v": 1, "target": {"task": "replace"}, "overlap": "replace", "trigger": {"every": {"minutes": 10}}}}', '2026-01-06 00:00:00+00');
INSERT INTO tickbird.revisions VALUES (13, 1, '{"v": 1, "trigger": {"every": {"minutes": 10}}, "target": {"task": "allow"}, "overlap": "allow"}', NULL, 'create', 'ada', '{"definition": {"v": 1, "target": {"task": "allow"}, "overlap": "allow", "trigger": {"every": {"minutes": 10}}}}', '2026-01-06 00:00:00+00');
INSERT INTO tickbird.revisions VALUES (14, 1, '{"v": 1, "trigger": {"every": {"hours": 1}}, "target": {"task": "late"}, "catch_up_limit": 3}', NULL, 'create', 'ada', '{"definition": {"v": 1, "target": {"task": "late"}, "trigger": {"every": {"hours": 1}}, "catch_up_limit": 3}}', '2026-01-07 00:00:00+00');
INSERT INTO tickbird.revisions VALUES (15, 1, '{"v": 1, "trigger": {"every": {"hours": 1}}, "target": {"task": "late"}, "catch_up": "latest", "catch_up_limit": 3}', NULL, 'create', 'ada', '{"definition": {"v": 1, "target": {"task": "late"}, "trigger": {"every": {"hours": 1}}, "catch_up": "latest", "catch_up_limit": 3}}', '2026-01-07 00:00:00+00');
INSERT INTO tickbird.revisions VALUES (16, 1, '{"v": 1, "trigger": {"every": {"hours": 1}}, "target": {"task": "late"}, "catch_up": "all", "catch_up_limit": 3}', NULL, 'create', 'ada', '{"definition": {"v": 1, "target": {"task": "late"}, "trigger": {"every": {"hours": 1}}, "catch_up": "all", "catch_up_limit": 3}}', '2026-01-07 00:00:00+00');
INSERT INTO tickbird.revisions VALUES (17, 1, '{"v": 1, "trigger": {"every": {"hours": 1}}, "target": {"task": "late"}, "catch_up": "skip", "catch_up_limit": 3}', NULL, 'create', 'ada', '{"definition": {"v": 1, "target": {"task": "late"}, "trigger": {"every": {"hours": 1}}, "catch_up": "skip", "catch_up_limit": 3}}', '2026-01-07 00:00:00+00');
INSERT INTO tickbird.revisions VALUES (18, 1, '{"v": 1, "trigger": {"every": {"hours": 1}}, "target": {"task": "late"}, "catch_up": "all", "hold_above": 2}', NULL, 'create', 'ada', '{"definition": {"v": 1, "target": {"task": "late"}, "trigger": {"every": {"hours": 1}}, "catch_up": "all", "hold_above": 2}}', '2026-01-07 00:00:00+00');
INSERT INTO tickbird.revisions VALUES (19, 1, '{"v": 1, "trigger": {"every": {"hours": 1}}, "target": {"task": "changed"}}', NULL, 'create', 'ada', '{"definition": {"v": 1, "target": {"task": "changed"}, "trigger": {"every": {"hours": 1}}}}', '2026-01-08 00:00:00+00');
INSERT INTO tickbird.revisions VALUES (20, 1, '{"v": 1, "trigger": {"every": {"hours": 1}}, "target": {"task": "changed"}}', NULL, 'create', 'ada', '{"definition": {"v": 1, "target": {"task": "changed"}, "trigger": {"every": {"hours": 1}}}}', '2026-01-08 00:00:00+00');
INSERT INTO tickbird.revisions VALUES (22, 1, '{"v": 1, "trigger": {"every": {"hours": 1}}, "target": {"task": "changed"}}', NULL, 'create', 'ada', '{"definition": {"v": 1, "target": {"task": "changed"}, "trigger": {"every": {"hours": 1}}}}', '2026-01-08 00:00:00+00');
INSERT INTO tickbird.revisions VALUES (24, 1, '{"v": 1, "trigger": {"every": {"hours": 1}}, "target": {"task": "changed"}}', NULL, 'create', 'ada', '{"definition": {"v": 1, "target": {"task": "changed"}, "trigger": {"every": {"hours": 1}}}}', '2026-01-08 00:00:00+00');
INSERT INTO tickbird.revisions VALUES (19, 2, '{"v": 1, "target": {"task": "changed"}, "trigger": {"every": {"hours": 1}}}', NULL, 'pause', 'ada', '{"note": "quiet", "until": 1801785600}', '2026-01-08 01:00:05+00');
INSERT INTO tickbird.revisions VALUES (20, 3, '{"v": 1, "target": {"task": "changed"}, "trigger": {"every": {"hours": 1}}}', NULL, 'resume', 'bob', '{"note": "again", "paused_by": "ada"}', '2026-01-08 05:00:00+00');
INSERT INTO tickbird.revisions VALUES (22, 2, '{"v": 1, "target": {"task": "changed"}, "trigger": {"every": {"hours": 1}}}', NULL, 'skip', 'ada', '{"last": 1767841200, "note": "not now", "first": 1767834000}', '2026-01-08 00:00:05+00');
INSERT INTO tickbird.revisions VALUES (24, 2, '{"v": 1, "target": {"task": "changed"}, "trigger": {"every": {"hours": 1}}, "payload": {"v": 2}}', NULL, 'update', 'ada', '{"after": {"payload": {"v": 2}}, "before": {"payload": null}}', '2026-01-08 02:00:05+00');
INSERT INTO tickbird.revisions VALUES (27, 1, '{"v": 1, "trigger": {"every": {"hours": 1}}, "target": {"task": "keyed"}, "overlap": "allow", "concurrency_key": "warehouse"}', NULL, 'create', 'ada', '{"definition": {"v": 1, "target": {"task": "keyed"}, "overlap": "allow", "trigger": {"every": {"hours": 1}}, "concurrency_key": "warehouse"}}', '2026-01-09 00:00:00+00');
INSERT INTO tickbird.revisions VALUES (29, 1, '{"v": 1, "trigger": {"every": {"hours": 1}}, "target": {"task": "filled"}}', NULL, 'create', 'ada', '{"definition": {"v": 1, "target": {"task": "filled"}, "trigger": {"every": {"hours": 1}}}}', '2026-01-10 00:00:00+00');
INSERT INTO tickbird.revisions VALUES (29, 3, '{"v": 1, "target": {"task": "filled"}, "trigger": {"every": {"hours": 1}}}', NULL, 'resume', 'ada', '{"note": "", "paused_by": "ada"}', '2026-01-10 09:00:01+00');
INSERT INTO tickbird.revisions VALUES (21, 1, '{"v": 1, "trigger": {"every": {"hours": 1}}, "target": {"task": "changed"}}', NULL, 'create', 'ada', '{"definition": {"v": 1, "target": {"task": "changed"}, "trigger": {"every": {"hours": 1}}}}', '2026-01-08 00:00:00+00');
INSERT INTO tickbird.revisions VALUES (23, 1, '{"v": 1, "trigger": {"every": {"hours": 1}}, "target": {"task": "changed"}}', NULL, 'create', 'ada', '{"definition": {"v": 1, "target": {"task": "changed"}, "trigger": {"every": {"hours": 1}}}}', '2026-01-08 00:00:00+00');
INSERT INTO tickbird.revisions VALUES (25, 1, '{"v": 1, "trigger": {"every": {"hours": 1}}, "target": {"task": "changed"}}', NULL, 'create', 'ada', '{"definition": {"v": 1, "target": {"task": "changed"}, "trigger": {"every": {"hours": 1}}}}', '2026-01-08 00:00:00+00');
INSERT INTO tickbird.revisions VALUES (20, 2, '{"v": 1, "target": {"task": "changed"}, "trigger": {"every": {"hours": 1}}}', NULL, 'pause', 'ada', '{"note": "", "until": null}', '2026-01-08 00:00:05+00');
INSERT INTO tickbird.revisions VALUES (21, 2, '{"v": 1, "target": {"task": "changed"}, "trigger": {"every": {"hours": 1}}}', NULL, 'reschedule', 'ada', '{"to": 1767848407, "note": "", "tick": 1767834000}', '2026-01-08 00:00:05+00');
INSERT INTO tickbird.revisions VALUES (23, 2, '{"v": 1, "target": {"task": "changed"}, "trigger": {"every": {"hours": 1}}}', NULL, 'delete', 'ada', '{"definition": {"v": 1, "target": {"task": "changed"}, "trigger": {"every": {"hours": 1}}}}', '2026-01-08 02:00:05+00');
INSERT INTO tickbird.revisions VALUES (26, 1, '{"v": 1, "trigger": {"every": {"hours": 1}}, "target": {"task": "keyed"}, "overlap": "allow", "concurrency_key": "warehouse"}', NULL, 'create', 'ada', '{"definition": {"v": 1, "target": {"task": "keyed"}, "overlap": "allow", "trigger": {"every": {"hours": 1}}, "concurrency_key": "warehouse"}}', '2026-01-09 00:00:00+00');
INSERT INTO tickbird.revisions VALUES (28, 1, '{"v": 1, "trigger": {"every": {"hours": 1}}, "target": {"task": "keyed"}, "overlap": "allow", "concurrency_key": "warehouse"}', NULL, 'create', 'ada', '{"definition": {"v": 1, "target": {"task": "keyed"}, "overlap": "allow", "trigger": {"every": {"hours": 1}}, "concurrency_key": "warehouse"}}', '2026-01-09 00:00:00+00');
INSERT INTO tickbird.revisions VALUES (29, 2, '{"v": 1, "target": {"task": "filled"}, "trigger": {"every": {"hours": 1}}}', NULL, 'pause', 'ada', '{"note": "", "until": null}', '2026-01-10 00:00:01+00');
INSERT INTO tickbird.revisions VALUES (30, 1, '{"v": 1, "target": {"task": "work"}, "trigger": {"cron": "61 * * * *"}}', NULL, 'create', 'postgres', '{}', '2026-11-18 00:32:31.806254+00');
INSERT INTO tickbird.run_logs VALUES (399, 1, 1, '2026-01-11 00:00:51+00', 20, 'line 1 “ü”');
INSERT INTO tickbird.run_logs VALUES (399, 1, 2, '2026-01-11 00:00:52+00', 20, 'line 2 “ü”');
INSERT INTO tickbird.run_logs VALUES (399, 1, 3, '2026-01-11 00:00:53+00', 20, 'line 3 “ü”');
INSERT INTO tickbird.run_payloads VALUES (179, '{"by":"hand"}');
INSERT INTO tickbird.run_payloads VALUES (327, '{"by":"hand"}');
INSERT INTO tickbird.run_payloads VALUES (384, '{"order":7}');
INSERT INTO tickbird.run_progress VALUES (399, 1, '2026-01-11 00:00:54+00', '{"done":3,"of":4}');
INSERT INTO tickbird.runs VALUES (4, 1, '2026-01-01 03:00:00+00', '2026-01-01 03:00:00+00', '2026-01-01 03:00:00+00', NULL, '2026-01-01 03:00:01+00', '2026-01-01 03:00:02+00', '2026-01-01 03:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (5, 1, '2026-01-01 04:00:00+00', '2026-01-01 04:00:00+00', '2026-01-01 04:00:00+00', NULL, '2026-01-01 04:00:01+00', '2026-01-01 04:00:02+00', '2026-01-01 04:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (6, 1, '2026-01-01 05:00:00+00', '2026-01-01 05:00:00+00', '2026-01-01 05:00:00+00', NULL, '2026-01-01 05:00:01+00', '2026-01-01 05:00:02+00', '2026-01-01 05:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (7, 5, '2026-01-01 05:00:00+00', '2026-01-01 05:00:00+00', '2026-01-01 05:00:00+00', NULL, '2026-01-01 05:00:01+00', '2026-01-01 05:00:02+00', '2026-01-01 05:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (8, 1, '2026-01-01 06:00:00+00', '2026-01-01 06:00:00+00', '2026-01-01 06:00:00+00', NULL, '2026-01-01 06:00:01+00', '2026-01-01 06:00:02+00', '2026-01-01 06:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (9, 1, '2026-01-01 07:00:00+00', '2026-01-01 07:00:00+00', '2026-01-01 07:00:00+00', NULL, '2026-01-01 07:00:01+00', '2026-01-01 07:00:02+00', '2026-01-01 07:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (10, 1, '2026-01-01 08:00:00+00', '2026-01-01 08:00:00+00', '2026-01-01 08:00:00+00', NULL, '2026-01-01 08:00:01+00', '2026-01-01 08:00:02+00', '2026-01-01 08:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (11, 1, '2026-01-01 09:00:00+00', '2026-01-01 09:00:00+00', '2026-01-01 09:00:00+00', NULL, '2026-01-01 09:00:01+00', '2026-01-01 09:00:02+00', '2026-01-01 09:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (12, 1, '2026-01-01 10:00:00+00', '2026-01-01 10:00:00+00', '2026-01-01 10:00:00+00', NULL, '2026-01-01 10:00:01+00', '2026-01-01 10:00:02+00', '2026-01-01 10:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (13, 1, '2026-01-01 11:00:00+00', '2026-01-01 11:00:00+00', '2026-01-01 11:00:00+00', NULL, '2026-01-01 11:00:01+00', '2026-01-01 11:00:02+00', '2026-01-01 11:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (16, 1, '2026-01-01 13:00:00+00', '2026-01-01 13:00:00+00', '2026-01-01 13:00:00+00', NULL, '2026-01-01 13:00:01+00', '2026-01-01 13:00:02+00', '2026-01-01 13:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (19, 1, '2026-01-01 15:00:00+00', '2026-01-01 15:00:00+00', '2026-01-01 15:00:00+00', NULL, '2026-01-01 15:00:01+00', '2026-01-01 15:00:02+00', '2026-01-01 15:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (21, 1, '2026-01-01 17:00:00+00', '2026-01-01 17:00:00+00', '2026-01-01 17:00:00+00', NULL, '2026-01-01 17:00:01+00', '2026-01-01 17:00:02+00', '2026-01-01 17:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (23, 1, '2026-01-01 19:00:00+00', '2026-01-01 19:00:00+00', '2026-01-01 19:00:00+00', NULL, '2026-01-01 19:00:01+00', '2026-01-01 19:00:02+00', '2026-01-01 19:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (25, 1, '2026-01-01 21:00:00+00', '2026-01-01 21:00:00+00', '2026-01-01 21:00:00+00', NULL, '2026-01-01 21:00:01+00', '2026-01-01 21:00:02+00', '2026-01-01 21:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (28, 1, '2026-01-02 00:00:00+00', '2026-01-02 00:00:00+00', '2026-01-02 00:00:00+00', NULL, '2026-01-02 00:00:01+00', '2026-01-02 00:00:02+00', '2026-01-02 00:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (29, 6, '2026-01-02 00:00:00+00', '2026-01-02 00:00:00+00', '2026-01-02 00:00:00+00', NULL, '2026-01-02 00:00:01+00', '2026-01-02 00:00:02+00', '2026-01-02 00:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (31, 8, '2026-01-02 00:00:00+00', '2026-01-02 00:00:00+00', '2026-01-02 00:00:00+00', NULL, '2026-01-02 00:00:01+00', '2026-01-02 00:00:02+00', '2026-01-02 00:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (33, 1, '2026-01-02 02:00:00+00', '2026-01-02 02:00:00+00', '2026-01-02 02:00:00+00', NULL, '2026-01-02 02:00:01+00', '2026-01-02 02:00:02+00', '2026-01-02 02:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (34, 3, '2026-01-02 01:30:00+00', '2026-01-02 01:32:59+00', '2026-01-02 01:32:59+00', NULL, '2026-01-02 02:00:01+00', '2026-01-02 02:00:02+00', '2026-01-02 02:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'catch_up', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (36, 1, '2026-01-02 04:00:00+00', '2026-01-02 04:00:00+00', '2026-01-02 04:00:00+00', NULL, '2026-01-02 04:00:01+00', '2026-01-02 04:00:02+00', '2026-01-02 04:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (14, 1, '2026-01-01 12:00:00+00', '2026-01-01 12:00:00+00', '2026-01-01 12:00:00+00', NULL, '2026-01-01 12:00:01+00', '2026-01-01 12:00:02+00', '2026-01-01 12:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (15, 4, '2026-01-01 12:00:00+00', '2026-01-01 12:00:00+00', '2026-01-01 12:00:00+00', NULL, '2026-01-01 12:00:01+00', '2026-01-01 12:00:02+00', '2026-01-01 12:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'gpu', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (17, 1, '2026-01-01 14:00:00+00', '2026-01-01 14:00:00+00', '2026-01-01 14:00:00+00', NULL, '2026-01-01 14:00:01+00', '2026-01-01 14:00:02+00', '2026-01-01 14:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (18, 2, '2026-01-01 14:00:00+00', '2026-01-01 14:00:00+00', '2026-01-01 14:00:00+00', NULL, '2026-01-01 14:00:01+00', '2026-01-01 14:00:02+00', '2026-01-01 14:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (20, 1, '2026-01-01 16:00:00+00', '2026-01-01 16:00:00+00', '2026-01-01 16:00:00+00', NULL, '2026-01-01 16:00:01+00', '2026-01-01 16:00:02+00', '2026-01-01 16:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (22, 1, '2026-01-01 18:00:00+00', '2026-01-01 18:00:00+00', '2026-01-01 18:00:00+00', NULL, '2026-01-01 18:00:01+00', '2026-01-01 18:00:02+00', '2026-01-01 18:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (24, 1, '2026-01-01 20:00:00+00', '2026-01-01 20:00:00+00', '2026-01-01 20:00:00+00', NULL, '2026-01-01 20:00:01+00', '2026-01-01 20:00:02+00', '2026-01-01 20:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (26, 1, '2026-01-01 22:00:00+00', '2026-01-01 22:00:00+00', '2026-01-01 22:00:00+00', NULL, '2026-01-01 22:00:01+00', '2026-01-01 22:00:02+00', '2026-01-01 22:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (27, 1, '2026-01-01 23:00:00+00', '2026-01-01 23:00:00+00', '2026-01-01 23:00:00+00', NULL, '2026-01-01 23:00:01+00', '2026-01-01 23:00:02+00', '2026-01-01 23:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (32, 1, '2026-01-02 01:00:00+00', '2026-01-02 01:00:00+00', '2026-01-02 01:00:00+00', NULL, '2026-01-02 01:00:01+00', '2026-01-02 01:00:02+00', '2026-01-02 01:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (35, 1, '2026-01-02 03:00:00+00', '2026-01-02 03:00:00+00', '2026-01-02 03:00:00+00', NULL, '2026-01-02 03:00:01+00', '2026-01-02 03:00:02+00', '2026-01-02 03:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (37, 1, '2026-01-02 05:00:00+00', '2026-01-02 05:00:00+00', '2026-01-02 05:00:00+00', NULL, '2026-01-02 05:00:01+00', '2026-01-02 05:00:02+00', '2026-01-02 05:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (38, 1, '2026-01-02 06:00:00+00', '2026-01-02 06:00:00+00', '2026-01-02 06:00:00+00', NULL, '2026-01-02 06:00:01+00', '2026-01-02 06:00:02+00', '2026-01-02 06:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (39, 6, '2026-01-02 06:00:00+00', '2026-01-02 06:00:00+00', '2026-01-02 06:00:00+00', NULL, '2026-01-02 06:00:01+00', '2026-01-02 06:00:02+00', '2026-01-02 06:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (41, 1, '2026-01-02 08:00:00+00', '2026-01-02 08:00:00+00', '2026-01-02 08:00:00+00', NULL, '2026-01-02 08:00:01+00', '2026-01-02 08:00:02+00', '2026-01-02 08:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (43, 1, '2026-01-02 10:00:00+00', '2026-01-02 10:00:00+00', '2026-01-02 10:00:00+00', NULL, '2026-01-02 10:00:01+00', '2026-01-02 10:00:02+00', '2026-01-02 10:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (45, 1, '2026-01-02 12:00:00+00', '2026-01-02 12:00:00+00', '2026-01-02 12:00:00+00', NULL, '2026-01-02 12:00:01+00', '2026-01-02 12:00:02+00', '2026-01-02 12:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (47, 6, '2026-01-02 12:00:00+00', '2026-01-02 12:00:00+00', '2026-01-02 12:00:00+00', NULL, '2026-01-02 12:00:01+00', '2026-01-02 12:00:02+00', '2026-01-02 12:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (46, 4, '2026-01-02 12:00:00+00', '2026-01-02 12:00:00+00', '2026-01-02 12:00:00+00', NULL, '2026-01-02 12:00:01+00', '2026-01-02 12:00:02+00', '2026-01-02 12:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'gpu', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (49, 1, '2026-01-02 14:00:00+00', '2026-01-02 14:00:00+00', '2026-01-02 14:00:00+00', NULL, '2026-01-02 14:00:01+00', '2026-01-02 14:00:02+00', '2026-01-02 14:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (50, 2, '2026-01-02 14:00:00+00', '2026-01-02 14:00:00+00', '2026-01-02 14:00:00+00', NULL, '2026-01-02 14:00:01+00', '2026-01-02 14:00:02+00', '2026-01-02 14:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (52, 1, '2026-01-02 16:00:00+00', '2026-01-02 16:00:00+00', '2026-01-02 16:00:00+00', NULL, '2026-01-02 16:00:01+00', '2026-01-02 16:00:02+00', '2026-01-02 16:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (54, 1, '2026-01-02 18:00:00+00', '2026-01-02 18:00:00+00', '2026-01-02 18:00:00+00', NULL, '2026-01-02 18:00:01+00', '2026-01-02 18:00:02+00', '2026-01-02 18:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (55, 6, '2026-01-02 18:00:00+00', '2026-01-02 18:00:00+00', '2026-01-02 18:00:00+00', NULL, '2026-01-02 18:00:01+00', '2026-01-02 18:00:02+00', '2026-01-02 18:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (40, 1, '2026-01-02 07:00:00+00', '2026-01-02 07:00:00+00', '2026-01-02 07:00:00+00', NULL, '2026-01-02 07:00:01+00', '2026-01-02 07:00:02+00', '2026-01-02 07:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (42, 1, '2026-01-02 09:00:00+00', '2026-01-02 09:00:00+00', '2026-01-02 09:00:00+00', NULL, '2026-01-02 09:00:01+00', '2026-01-02 09:00:02+00', '2026-01-02 09:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (44, 1, '2026-01-02 11:00:00+00', '2026-01-02 11:00:00+00', '2026-01-02 11:00:00+00', NULL, '2026-01-02 11:00:01+00', '2026-01-02 11:00:02+00', '2026-01-02 11:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (48, 1, '2026-01-02 13:00:00+00', '2026-01-02 13:00:00+00', '2026-01-02 13:00:00+00', NULL, '2026-01-02 13:00:01+00', '2026-01-02 13:00:02+00', '2026-01-02 13:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (51, 1, '2026-01-02 15:00:00+00', '2026-01-02 15:00:00+00', '2026-01-02 15:00:00+00', NULL, '2026-01-02 15:00:01+00', '2026-01-02 15:00:02+00', '2026-01-02 15:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (53, 1, '2026-01-02 17:00:00+00', '2026-01-02 17:00:00+00', '2026-01-02 17:00:00+00', NULL, '2026-01-02 17:00:01+00', '2026-01-02 17:00:02+00', '2026-01-02 17:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (56, 1, '2026-01-02 19:00:00+00', '2026-01-02 19:00:00+00', '2026-01-02 19:00:00+00', NULL, '2026-01-02 19:00:01+00', '2026-01-02 19:00:02+00', '2026-01-02 19:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (58, 1, '2026-01-02 21:00:00+00', '2026-01-02 21:00:00+00', '2026-01-02 21:00:00+00', NULL, '2026-01-02 21:00:01+00', '2026-01-02 21:00:02+00', '2026-01-02 21:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (60, 1, '2026-01-02 23:00:00+00', '2026-01-02 23:00:00+00', '2026-01-02 23:00:00+00', NULL, '2026-01-02 23:00:01+00', '2026-01-02 23:00:02+00', '2026-01-02 23:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (65, 1, '2026-01-03 01:00:00+00', '2026-01-03 01:00:00+00', '2026-01-03 01:00:00+00', NULL, '2026-01-03 01:00:01+00', '2026-01-03 01:00:02+00', '2026-01-03 01:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (67, 1, '2026-01-03 03:00:00+00', '2026-01-03 03:00:00+00', '2026-01-03 03:00:00+00', NULL, '2026-01-03 03:00:01+00', '2026-01-03 03:00:02+00', '2026-01-03 03:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (69, 1, '2026-01-03 05:00:00+00', '2026-01-03 05:00:00+00', '2026-01-03 05:00:00+00', NULL, '2026-01-03 05:00:01+00', '2026-01-03 05:00:02+00', '2026-01-03 05:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (57, 1, '2026-01-02 20:00:00+00', '2026-01-02 20:00:00+00', '2026-01-02 20:00:00+00', NULL, '2026-01-02 20:00:01+00', '2026-01-02 20:00:02+00', '2026-01-02 20:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (59, 1, '2026-01-02 22:00:00+00', '2026-01-02 22:00:00+00', '2026-01-02 22:00:00+00', NULL, '2026-01-02 22:00:01+00', '2026-01-02 22:00:02+00', '2026-01-02 22:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (61, 1, '2026-01-03 00:00:00+00', '2026-01-03 00:00:00+00', '2026-01-03 00:00:00+00', NULL, '2026-01-03 00:00:01+00', '2026-01-03 00:00:02+00', '2026-01-03 00:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (63, 7, '2026-01-03 00:00:00+00', '2026-01-03 00:00:00+00', '2026-01-03 00:00:00+00', NULL, '2026-01-03 00:00:01+00', '2026-01-03 00:00:02+00', '2026-01-03 00:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (62, 4, '2026-01-03 00:00:00+00', '2026-01-03 00:00:00+00', '2026-01-03 00:00:00+00', NULL, '2026-01-03 00:00:01+00', '2026-01-03 00:00:02+00', '2026-01-03 00:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'gpu', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (66, 1, '2026-01-03 02:00:00+00', '2026-01-03 02:00:00+00', '2026-01-03 02:00:00+00', NULL, '2026-01-03 02:00:01+00', '2026-01-03 02:00:02+00', '2026-01-03 02:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (68, 1, '2026-01-03 04:00:00+00', '2026-01-03 04:00:00+00', '2026-01-03 04:00:00+00', NULL, '2026-01-03 04:00:01+00', '2026-01-03 04:00:02+00', '2026-01-03 04:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (70, 1, '2026-01-03 06:00:00+00', '2026-01-03 06:00:00+00', '2026-01-03 06:00:00+00', NULL, '2026-01-03 06:00:01+00', '2026-01-03 06:00:02+00', '2026-01-03 06:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (72, 1, '2026-01-03 08:00:00+00', '2026-01-03 08:00:00+00', '2026-01-03 08:00:00+00', NULL, '2026-01-03 08:00:01+00', '2026-01-03 08:00:02+00', '2026-01-03 08:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (74, 1, '2026-01-03 10:00:00+00', '2026-01-03 10:00:00+00', '2026-01-03 10:00:00+00', NULL, '2026-01-03 10:00:01+00', '2026-01-03 10:00:02+00', '2026-01-03 10:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (76, 1, '2026-01-03 12:00:00+00', '2026-01-03 12:00:00+00', '2026-01-03 12:00:00+00', NULL, '2026-01-03 12:00:01+00', '2026-01-03 12:00:02+00', '2026-01-03 12:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (77, 4, '2026-01-03 12:00:00+00', '2026-01-03 12:00:00+00', '2026-01-03 12:00:00+00', NULL, '2026-01-03 12:00:01+00', '2026-01-03 12:00:02+00', '2026-01-03 12:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'gpu', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (79, 1, '2026-01-03 14:00:00+00', '2026-01-03 14:00:00+00', '2026-01-03 14:00:00+00', NULL, '2026-01-03 14:00:01+00', '2026-01-03 14:00:02+00', '2026-01-03 14:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (81, 1, '2026-01-03 16:00:00+00', '2026-01-03 16:00:00+00', '2026-01-03 16:00:00+00', NULL, '2026-01-03 16:00:01+00', '2026-01-03 16:00:02+00', '2026-01-03 16:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (83, 1, '2026-01-03 18:00:00+00', '2026-01-03 18:00:00+00', '2026-01-03 18:00:00+00', NULL, '2026-01-03 18:00:01+00', '2026-01-03 18:00:02+00', '2026-01-03 18:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (85, 1, '2026-01-03 20:00:00+00', '2026-01-03 20:00:00+00', '2026-01-03 20:00:00+00', NULL, '2026-01-03 20:00:01+00', '2026-01-03 20:00:02+00', '2026-01-03 20:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (87, 1, '2026-01-03 22:00:00+00', '2026-01-03 22:00:00+00', '2026-01-03 22:00:00+00', NULL, '2026-01-03 22:00:01+00', '2026-01-03 22:00:02+00', '2026-01-03 22:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (89, 1, '2026-01-04 00:00:00+00', '2026-01-04 00:00:00+00', '2026-01-04 00:00:00+00', NULL, '2026-01-04 00:00:01+00', '2026-01-04 00:00:02+00', '2026-01-04 00:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (90, 7, '2026-01-04 00:00:00+00', '2026-01-04 00:00:00+00', '2026-01-04 00:00:00+00', NULL, '2026-01-04 00:00:01+00', '2026-01-04 00:00:02+00', '2026-01-04 00:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (93, 1, '2026-01-04 02:00:00+00', '2026-01-04 02:00:00+00', '2026-01-04 02:00:00+00', NULL, '2026-01-04 02:00:01+00', '2026-01-04 02:00:02+00', '2026-01-04 02:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (95, 1, '2026-01-04 04:00:00+00', '2026-01-04 04:00:00+00', '2026-01-04 04:00:00+00', NULL, '2026-01-04 04:00:01+00', '2026-01-04 04:00:02+00', '2026-01-04 04:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (97, 1, '2026-01-04 06:00:00+00', '2026-01-04 06:00:00+00', '2026-01-04 06:00:00+00', NULL, '2026-01-04 06:00:01+00', '2026-01-04 06:00:02+00', '2026-01-04 06:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (99, 1, '2026-01-04 08:00:00+00', '2026-01-04 08:00:00+00', '2026-01-04 08:00:00+00', NULL, '2026-01-04 08:00:01+00', '2026-01-04 08:00:02+00', '2026-01-04 08:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (101, 1, '2026-01-04 10:00:00+00', '2026-01-04 10:00:00+00', '2026-01-04 10:00:00+00', NULL, '2026-01-04 10:00:01+00', '2026-01-04 10:00:02+00', '2026-01-04 10:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (103, 1, '2026-01-04 12:00:00+00', '2026-01-04 12:00:00+00', '2026-01-04 12:00:00+00', NULL, '2026-01-04 12:00:01+00', '2026-01-04 12:00:02+00', '2026-01-04 12:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (104, 4, '2026-01-04 12:00:00+00', '2026-01-04 12:00:00+00', '2026-01-04 12:00:00+00', NULL, '2026-01-04 12:00:01+00', '2026-01-04 12:00:02+00', '2026-01-04 12:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'gpu', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (105, 1, '2026-01-04 13:00:00+00', '2026-01-04 13:00:00+00', '2026-01-04 13:00:00+00', NULL, '2026-01-04 13:00:01+00', '2026-01-04 13:00:02+00', '2026-01-04 13:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (107, 1, '2026-01-04 15:00:00+00', '2026-01-04 15:00:00+00', '2026-01-04 15:00:00+00', NULL, '2026-01-04 15:00:01+00', '2026-01-04 15:00:02+00', '2026-01-04 15:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (109, 1, '2026-01-04 17:00:00+00', '2026-01-04 17:00:00+00', '2026-01-04 17:00:00+00', NULL, '2026-01-04 17:00:01+00', '2026-01-04 17:00:02+00', '2026-01-04 17:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (71, 1, '2026-01-03 07:00:00+00', '2026-01-03 07:00:00+00', '2026-01-03 07:00:00+00', NULL, '2026-01-03 07:00:01+00', '2026-01-03 07:00:02+00', '2026-01-03 07:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (73, 1, '2026-01-03 09:00:00+00', '2026-01-03 09:00:00+00', '2026-01-03 09:00:00+00', NULL, '2026-01-03 09:00:01+00', '2026-01-03 09:00:02+00', '2026-01-03 09:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (75, 1, '2026-01-03 11:00:00+00', '2026-01-03 11:00:00+00', '2026-01-03 11:00:00+00', NULL, '2026-01-03 11:00:01+00', '2026-01-03 11:00:02+00', '2026-01-03 11:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (78, 1, '2026-01-03 13:00:00+00', '2026-01-03 13:00:00+00', '2026-01-03 13:00:00+00', NULL, '2026-01-03 13:00:01+00', '2026-01-03 13:00:02+00', '2026-01-03 13:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (80, 1, '2026-01-03 15:00:00+00', '2026-01-03 15:00:00+00', '2026-01-03 15:00:00+00', NULL, '2026-01-03 15:00:01+00', '2026-01-03 15:00:02+00', '2026-01-03 15:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (82, 1, '2026-01-03 17:00:00+00', '2026-01-03 17:00:00+00', '2026-01-03 17:00:00+00', NULL, '2026-01-03 17:00:01+00', '2026-01-03 17:00:02+00', '2026-01-03 17:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (84, 1, '2026-01-03 19:00:00+00', '2026-01-03 19:00:00+00', '2026-01-03 19:00:00+00', NULL, '2026-01-03 19:00:01+00', '2026-01-03 19:00:02+00', '2026-01-03 19:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (86, 1, '2026-01-03 21:00:00+00', '2026-01-03 21:00:00+00', '2026-01-03 21:00:00+00', NULL, '2026-01-03 21:00:01+00', '2026-01-03 21:00:02+00', '2026-01-03 21:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (88, 1, '2026-01-03 23:00:00+00', '2026-01-03 23:00:00+00', '2026-01-03 23:00:00+00', NULL, '2026-01-03 23:00:01+00', '2026-01-03 23:00:02+00', '2026-01-03 23:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (92, 1, '2026-01-04 01:00:00+00', '2026-01-04 01:00:00+00', '2026-01-04 01:00:00+00', NULL, '2026-01-04 01:00:01+00', '2026-01-04 01:00:02+00', '2026-01-04 01:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (94, 1, '2026-01-04 03:00:00+00', '2026-01-04 03:00:00+00', '2026-01-04 03:00:00+00', NULL, '2026-01-04 03:00:01+00', '2026-01-04 03:00:02+00', '2026-01-04 03:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (96, 1, '2026-01-04 05:00:00+00', '2026-01-04 05:00:00+00', '2026-01-04 05:00:00+00', NULL, '2026-01-04 05:00:01+00', '2026-01-04 05:00:02+00', '2026-01-04 05:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (98, 1, '2026-01-04 07:00:00+00', '2026-01-04 07:00:00+00', '2026-01-04 07:00:00+00', NULL, '2026-01-04 07:00:01+00', '2026-01-04 07:00:02+00', '2026-01-04 07:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (100, 1, '2026-01-04 09:00:00+00', '2026-01-04 09:00:00+00', '2026-01-04 09:00:00+00', NULL, '2026-01-04 09:00:01+00', '2026-01-04 09:00:02+00', '2026-01-04 09:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (102, 1, '2026-01-04 11:00:00+00', '2026-01-04 11:00:00+00', '2026-01-04 11:00:00+00', NULL, '2026-01-04 11:00:01+00', '2026-01-04 11:00:02+00', '2026-01-04 11:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (106, 1, '2026-01-04 14:00:00+00', '2026-01-04 14:00:00+00', '2026-01-04 14:00:00+00', NULL, '2026-01-04 14:00:01+00', '2026-01-04 14:00:02+00', '2026-01-04 14:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (108, 1, '2026-01-04 16:00:00+00', '2026-01-04 16:00:00+00', '2026-01-04 16:00:00+00', NULL, '2026-01-04 16:00:01+00', '2026-01-04 16:00:02+00', '2026-01-04 16:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (110, 1, '2026-01-04 18:00:00+00', '2026-01-04 18:00:00+00', '2026-01-04 18:00:00+00', NULL, '2026-01-04 18:00:01+00', '2026-01-04 18:00:02+00', '2026-01-04 18:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (112, 1, '2026-01-04 20:00:00+00', '2026-01-04 20:00:00+00', '2026-01-04 20:00:00+00', NULL, '2026-01-04 20:00:01+00', '2026-01-04 20:00:02+00', '2026-01-04 20:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (114, 1, '2026-01-04 22:00:00+00', '2026-01-04 22:00:00+00', '2026-01-04 22:00:00+00', NULL, '2026-01-04 22:00:01+00', '2026-01-04 22:00:02+00', '2026-01-04 22:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (139, 13, '2026-01-06 00:30:00+00', '2026-01-06 00:30:00+00', '2026-01-06 00:30:00+00', NULL, '2026-01-06 00:30:01+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 0, 'queued', 'schedule', 'default', 'task', 'allow', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (148, 13, '2026-01-06 00:40:00+00', '2026-01-06 00:40:00+00', '2026-01-06 00:40:00+00', NULL, '2026-01-07 08:00:30+00', NULL, NULL, NULL, '2026-01-06 00:40:00+00', '2026-01-07 08:00:00+00', NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, 189, 0, 0, 'queued', 'catch_up', 'default', 'task', 'allow', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (150, 14, '2026-01-07 01:00:00+00', '2026-01-07 01:00:00+00', '2026-01-07 01:00:00+00', NULL, '2026-01-07 08:00:30+00', NULL, NULL, NULL, '2026-01-07 01:00:00+00', '2026-01-07 08:00:00+00', NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, 8, 0, 0, 'queued', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (152, 15, '2026-01-07 08:00:00+00', '2026-01-07 08:00:00+00', '2026-01-07 08:00:00+00', NULL, '2026-01-07 08:00:30+00', NULL, NULL, NULL, '2026-01-07 01:00:00+00', '2026-01-07 08:00:00+00', NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, 8, 0, 0, 'queued', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (154, 16, '2026-01-07 06:00:00+00', '2026-01-07 06:00:00+00', '2026-01-07 06:00:00+00', NULL, '2026-01-07 08:00:30+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 0, 'queued', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (155, 16, '2026-01-07 07:00:00+00', '2026-01-07 07:00:00+00', '2026-01-07 07:00:00+00', NULL, '2026-01-07 08:00:30+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 0, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (156, 16, '2026-01-07 08:00:00+00', '2026-01-07 08:00:00+00', '2026-01-07 08:00:00+00', NULL, '2026-01-07 08:00:30+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 0, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (162, 18, '2026-01-07 04:00:00+00', '2026-01-07 04:00:00+00', '2026-01-07 04:00:00+00', NULL, '2026-01-07 08:00:30+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (141, 12, '2026-01-06 00:30:00+00', '2026-01-06 00:30:00+00', '2026-01-06 00:30:00+00', NULL, '2026-01-06 00:30:01+00', NULL, '2026-01-07 08:00:30+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 0, 'cancelled', 'schedule', 'default', 'task', 'replace', 'default', NULL, NULL, NULL, NULL, 'replaced', NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (160, 18, '2026-01-07 02:00:00+00', '2026-01-07 02:00:00+00', '2026-01-07 09:00:00+00', NULL, '2026-01-07 08:00:30+00', NULL, NULL, NULL, NULL, NULL, NULL, '2026-01-07 09:00:00+00', NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 0, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, 'ada', NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (159, 18, '2026-01-07 01:00:00+00', '2026-01-07 01:00:00+00', '2026-01-07 09:00:00+00', NULL, '2026-01-07 08:00:30+00', NULL, NULL, NULL, NULL, NULL, NULL, '2026-01-07 09:00:00+00', NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 0, 'queued', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, 'ada', NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (161, 18, '2026-01-07 03:00:00+00', '2026-01-07 03:00:00+00', '2026-01-07 03:00:00+00', NULL, '2026-01-07 08:00:30+00', NULL, '2026-01-07 09:00:00+00', NULL, NULL, NULL, '2026-01-07 09:00:00+00', NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 0, 'cancelled', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, 'dropped', 'ada', NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (146, 12, '2026-01-06 00:40:00+00', '2026-01-06 00:40:00+00', '2026-01-06 00:40:00+00', NULL, '2026-01-07 08:00:30+00', NULL, '2026-01-08 01:00:01+00', NULL, '2026-01-06 00:40:00+00', '2026-01-07 08:00:00+00', NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, 189, 0, 0, 'cancelled', 'catch_up', 'default', 'task', 'replace', 'default', NULL, NULL, NULL, NULL, 'replaced', NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (111, 1, '2026-01-04 19:00:00+00', '2026-01-04 19:00:00+00', '2026-01-04 19:00:00+00', NULL, '2026-01-04 19:00:01+00', '2026-01-04 19:00:02+00', '2026-01-04 19:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (113, 1, '2026-01-04 21:00:00+00', '2026-01-04 21:00:00+00', '2026-01-04 21:00:00+00', NULL, '2026-01-04 21:00:01+00', '2026-01-04 21:00:02+00', '2026-01-04 21:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (115, 1, '2026-01-04 23:00:00+00', '2026-01-04 23:00:00+00', '2026-01-04 23:00:00+00', NULL, '2026-01-04 23:00:01+00', '2026-01-04 23:00:02+00', '2026-01-04 23:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 3, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'work', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (117, 1, '2026-01-05 00:00:00+00', '2026-01-05 00:00:00+00', '2026-01-05 00:00:00+00', NULL, '2026-01-05 02:00:01+00', NULL, NULL, NULL, '2026-01-05 00:00:00+00', '2026-01-05 01:00:00+00', NULL, NULL, NULL, NULL, NULL, 1, 3, 0, NULL, 0, 0, 3, 2, 0, 0, 'queued', 'catch_up', 'default', 'task', 'work', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (120, 3, '2026-01-05 01:30:00+00', '2026-01-05 01:32:59+00', '2026-01-05 01:32:59+00', NULL, '2026-01-05 02:00:01+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 0, 'queued', 'catch_up', 'default', 'task', 'work', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (121, 4, '2026-01-05 00:00:00+00', '2026-01-05 00:00:00+00', '2026-01-05 00:00:00+00', NULL, '2026-01-05 02:00:01+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 0, 'queued', 'catch_up', 'default', 'task', 'work', 'gpu', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (122, 7, '2026-01-05 00:00:00+00', '2026-01-05 00:00:00+00', '2026-01-05 00:00:00+00', NULL, '2026-01-05 02:00:01+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 0, 'queued', 'catch_up', 'default', 'task', 'work', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (123, 8, '2026-01-05 00:00:00+00', '2026-01-05 00:00:00+00', '2026-01-05 00:00:00+00', NULL, '2026-01-05 02:00:01+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 0, 'queued', 'catch_up', 'default', 'task', 'work', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (116, 9, '2026-01-05 02:00:00+00', '2026-01-05 02:00:00+00', '2026-01-05 02:00:00+00', NULL, '2026-01-05 02:00:01+00', '2026-01-05 02:00:02+00', '2026-01-05 02:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 3, 0, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'coded', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (128, 2, '2026-01-05 14:00:00+00', '2026-01-05 14:00:00+00', '2026-01-05 14:00:00+00', NULL, '2026-01-06 00:10:01+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 0, 'queued', 'catch_up', 'default', 'task', 'work', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (132, 9, '2026-01-05 04:00:00+00', '2026-01-05 04:00:00+00', '2026-01-05 04:00:00+00', NULL, '2026-01-06 00:10:01+00', NULL, NULL, NULL, '2026-01-05 04:00:00+00', '2026-01-06 00:00:00+00', NULL, NULL, NULL, NULL, NULL, 3, 0, 0, NULL, 0, 0, 3, 11, 0, 0, 'queued', 'catch_up', 'default', 'task', 'coded', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (135, 13, '2026-01-06 00:20:00+00', '2026-01-06 00:20:00+00', '2026-01-06 00:20:00+00', NULL, '2026-01-06 00:20:01+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 0, 'queued', 'schedule', 'default', 'task', 'allow', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (137, 11, '2026-01-06 00:20:00+00', '2026-01-06 00:20:00+00', '2026-01-06 00:20:00+00', NULL, '2026-01-06 00:20:01+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 0, 'waiting', 'schedule', 'default', 'task', 'queue', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (175, 23, '2026-01-08 01:00:00+00', '2026-01-08 01:00:00+00', '2026-01-08 01:00:00+00', NULL, '2026-01-08 02:00:05+00', '2026-01-08 01:00:02+00', '2026-01-08 01:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'catch_up', 'default', 'task', 'changed', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (179, 25, NULL, '2026-01-08 00:00:09+00', '2026-01-08 00:00:09+00', NULL, '2026-01-08 00:00:09+00', '2026-01-08 01:00:02+00', '2026-01-08 01:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'manual', 'default', 'task', 'changed', 'default', NULL, NULL, 'w1', 'ada', NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (138, 12, '2026-01-06 00:20:00+00', '2026-01-06 00:20:00+00', '2026-01-06 00:20:00+00', NULL, '2026-01-06 00:20:01+00', NULL, '2026-01-06 00:30:01+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 0, 'cancelled', 'schedule', 'default', 'task', 'replace', 'default', NULL, NULL, NULL, NULL, 'replaced', NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (238, 24, '2026-01-08 03:00:00+00', '2026-01-08 03:00:00+00', '2026-01-08 03:00:00+00', NULL, '2026-01-08 03:00:01+00', '2026-01-08 03:00:02+00', '2026-01-08 03:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 2, 0, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'changed', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (224, 13, '2026-01-08 01:10:00+00', '2026-01-08 01:10:00+00', '2026-01-08 01:10:00+00', NULL, '2026-01-08 02:00:01+00', NULL, NULL, NULL, '2026-01-08 01:10:00+00', '2026-01-08 01:50:00+00', NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, 5, 0, 0, 'queued', 'catch_up', 'default', 'task', 'allow', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (225, 13, '2026-01-08 02:00:00+00', '2026-01-08 02:00:00+00', '2026-01-08 02:00:00+00', NULL, '2026-01-08 02:00:01+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 0, 'queued', 'schedule', 'default', 'task', 'allow', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (239, 25, '2026-01-08 03:00:00+00', '2026-01-08 03:00:00+00', '2026-01-08 03:00:00+00', NULL, '2026-01-08 03:00:01+00', '2026-01-08 03:00:02+00', '2026-01-08 03:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'changed', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (221, 25, '2026-01-08 02:00:00+00', '2026-01-08 02:00:00+00', '2026-01-08 02:00:00+00', NULL, '2026-01-08 02:00:01+00', '2026-01-08 02:00:02+00', '2026-01-08 02:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'changed', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (242, 13, '2026-01-08 02:10:00+00', '2026-01-08 02:10:00+00', '2026-01-08 02:10:00+00', NULL, '2026-01-08 03:00:01+00', NULL, NULL, NULL, '2026-01-08 02:10:00+00', '2026-01-08 02:50:00+00', NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, 5, 0, 0, 'queued', 'catch_up', 'default', 'task', 'allow', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (243, 13, '2026-01-08 03:00:00+00', '2026-01-08 03:00:00+00', '2026-01-08 03:00:00+00', NULL, '2026-01-08 03:00:01+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 0, 'queued', 'schedule', 'default', 'task', 'allow', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (222, 12, '2026-01-08 02:00:00+00', '2026-01-08 02:00:00+00', '2026-01-08 02:00:00+00', NULL, '2026-01-08 02:00:01+00', NULL, '2026-01-08 03:00:01+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 0, 'cancelled', 'schedule', 'default', 'task', 'replace', 'default', NULL, NULL, NULL, NULL, 'replaced', NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (259, 13, '2026-01-08 03:10:00+00', '2026-01-08 03:10:00+00', '2026-01-08 03:10:00+00', NULL, '2026-01-08 04:00:01+00', NULL, NULL, NULL, '2026-01-08 03:10:00+00', '2026-01-08 03:50:00+00', NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, 5, 0, 0, 'queued', 'catch_up', 'default', 'task', 'allow', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (124, 10, '2026-01-06 00:10:00+00', '2026-01-06 00:10:00+00', '2026-01-11 00:00:30+00', NULL, '2026-01-06 00:10:01+00', '2026-01-06 00:10:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 1, 1525808585, 0, 1, 3, NULL, 0, 0, 'queued', 'schedule', 'default', 'task', 'skip', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'worker w1 was lost: its lease ended at 2026-01-07 00:10:02.', NULL, NULL);
INSERT INTO tickbird.runs VALUES (240, 12, '2026-01-08 03:00:00+00', '2026-01-08 03:00:00+00', '2026-01-08 03:00:00+00', NULL, '2026-01-08 03:00:01+00', NULL, '2026-01-08 04:00:01+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 0, 'cancelled', 'schedule', 'default', 'task', 'replace', 'default', NULL, NULL, NULL, NULL, 'replaced', NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (254, 22, '2026-01-08 04:00:00+00', '2026-01-08 04:00:00+00', '2026-01-08 04:00:00+00', NULL, '2026-01-08 04:00:01+00', '2026-01-08 04:00:02+00', '2026-01-08 04:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 2, 0, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'changed', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (255, 24, '2026-01-08 04:00:00+00', '2026-01-08 04:00:00+00', '2026-01-08 04:00:00+00', NULL, '2026-01-08 04:00:01+00', '2026-01-08 04:00:02+00', '2026-01-08 04:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 2, 0, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'changed', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (256, 25, '2026-01-08 04:00:00+00', '2026-01-08 04:00:00+00', '2026-01-08 04:00:00+00', NULL, '2026-01-08 04:00:01+00', '2026-01-08 04:00:02+00', '2026-01-08 04:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'changed', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (257, 12, '2026-01-08 04:00:00+00', '2026-01-08 04:00:00+00', '2026-01-08 04:00:00+00', NULL, '2026-01-08 04:00:01+00', NULL, '2026-01-08 05:00:01+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 0, 'cancelled', 'schedule', 'default', 'task', 'replace', 'default', NULL, NULL, NULL, NULL, 'replaced', NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (125, 11, '2026-01-06 00:10:00+00', '2026-01-06 00:10:00+00', '2026-01-11 00:00:30+00', NULL, '2026-01-06 00:10:01+00', '2026-01-06 00:10:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 1, 1525808585, 0, 1, 3, NULL, 0, 0, 'queued', 'schedule', 'default', 'task', 'queue', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'worker w1 was lost: its lease ended at 2026-01-07 00:10:02.', NULL, NULL);
INSERT INTO tickbird.runs VALUES (126, 12, '2026-01-06 00:10:00+00', '2026-01-06 00:10:00+00', '2026-01-06 00:10:00+00', NULL, '2026-01-06 00:10:01+00', '2026-01-06 00:10:02+00', '2026-01-11 00:00:30+00', NULL, NULL, NULL, '2026-01-06 00:20:01+00', NULL, NULL, NULL, NULL, 1, 0, 1, 1525808585, 0, 1, 3, NULL, 0, 0, 'cancelled', 'schedule', 'default', 'task', 'replace', 'default', NULL, NULL, 'w1', NULL, 'replaced', 'planner', NULL, NULL, 'worker w1 was lost: its lease ended at 2026-01-07 00:10:02.', NULL, NULL);
INSERT INTO tickbird.runs VALUES (127, 13, '2026-01-06 00:10:00+00', '2026-01-06 00:10:00+00', '2026-01-11 00:00:30+00', NULL, '2026-01-06 00:10:01+00', '2026-01-06 00:10:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 1, 1525808585, 0, 1, 3, NULL, 0, 0, 'queued', 'schedule', 'default', 'task', 'allow', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'worker w1 was lost: its lease ended at 2026-01-07 00:10:02.', NULL, NULL);
INSERT INTO tickbird.runs VALUES (163, 18, '2026-01-07 05:00:00+00', '2026-01-07 05:00:00+00', '2026-01-07 05:00:00+00', NULL, '2026-01-07 08:00:30+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (164, 18, '2026-01-07 06:00:00+00', '2026-01-07 06:00:00+00', '2026-01-07 06:00:00+00', NULL, '2026-01-07 08:00:30+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (165, 18, '2026-01-07 07:00:00+00', '2026-01-07 07:00:00+00', '2026-01-07 07:00:00+00', NULL, '2026-01-07 08:00:30+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (166, 18, '2026-01-07 08:00:00+00', '2026-01-07 08:00:00+00', '2026-01-07 08:00:00+00', NULL, '2026-01-07 08:00:30+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (182, 13, '2026-01-07 08:10:00+00', '2026-01-07 08:10:00+00', '2026-01-07 08:10:00+00', NULL, '2026-01-08 01:00:01+00', NULL, NULL, NULL, '2026-01-07 08:10:00+00', '2026-01-08 00:50:00+00', NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, 101, 0, 0, 'queued', 'catch_up', 'default', 'task', 'allow', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (183, 13, '2026-01-08 01:00:00+00', '2026-01-08 01:00:00+00', '2026-01-08 01:00:00+00', NULL, '2026-01-08 01:00:01+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 0, 'queued', 'schedule', 'default', 'task', 'allow', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (187, 16, '2026-01-07 22:00:00+00', '2026-01-07 22:00:00+00', '2026-01-07 22:00:00+00', NULL, '2026-01-08 01:00:01+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 0, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (188, 16, '2026-01-07 23:00:00+00', '2026-01-07 23:00:00+00', '2026-01-07 23:00:00+00', NULL, '2026-01-08 01:00:01+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 0, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (189, 16, '2026-01-08 00:00:00+00', '2026-01-08 00:00:00+00', '2026-01-08 00:00:00+00', NULL, '2026-01-08 01:00:01+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 0, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (193, 18, '2026-01-07 09:00:00+00', '2026-01-07 09:00:00+00', '2026-01-07 09:00:00+00', NULL, '2026-01-08 01:00:01+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (194, 18, '2026-01-07 10:00:00+00', '2026-01-07 10:00:00+00', '2026-01-07 10:00:00+00', NULL, '2026-01-08 01:00:01+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (195, 18, '2026-01-07 11:00:00+00', '2026-01-07 11:00:00+00', '2026-01-07 11:00:00+00', NULL, '2026-01-08 01:00:01+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (196, 18, '2026-01-07 12:00:00+00', '2026-01-07 12:00:00+00', '2026-01-07 12:00:00+00', NULL, '2026-01-08 01:00:01+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (197, 18, '2026-01-07 13:00:00+00', '2026-01-07 13:00:00+00', '2026-01-07 13:00:00+00', NULL, '2026-01-08 01:00:01+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (198, 18, '2026-01-07 14:00:00+00', '2026-01-07 14:00:00+00', '2026-01-07 14:00:00+00', NULL, '2026-01-08 01:00:01+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (199, 18, '2026-01-07 15:00:00+00', '2026-01-07 15:00:00+00', '2026-01-07 15:00:00+00', NULL, '2026-01-08 01:00:01+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (200, 18, '2026-01-07 16:00:00+00', '2026-01-07 16:00:00+00', '2026-01-07 16:00:00+00', NULL, '2026-01-08 01:00:01+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (201, 18, '2026-01-07 17:00:00+00', '2026-01-07 17:00:00+00', '2026-01-07 17:00:00+00', NULL, '2026-01-08 01:00:01+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (202, 18, '2026-01-07 18:00:00+00', '2026-01-07 18:00:00+00', '2026-01-07 18:00:00+00', NULL, '2026-01-08 01:00:01+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (203, 18, '2026-01-07 19:00:00+00', '2026-01-07 19:00:00+00', '2026-01-07 19:00:00+00', NULL, '2026-01-08 01:00:01+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (204, 18, '2026-01-07 20:00:00+00', '2026-01-07 20:00:00+00', '2026-01-07 20:00:00+00', NULL, '2026-01-08 01:00:01+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (205, 18, '2026-01-07 21:00:00+00', '2026-01-07 21:00:00+00', '2026-01-07 21:00:00+00', NULL, '2026-01-08 01:00:01+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (206, 18, '2026-01-07 22:00:00+00', '2026-01-07 22:00:00+00', '2026-01-07 22:00:00+00', NULL, '2026-01-08 01:00:01+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (207, 18, '2026-01-07 23:00:00+00', '2026-01-07 23:00:00+00', '2026-01-07 23:00:00+00', NULL, '2026-01-08 01:00:01+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (208, 18, '2026-01-08 00:00:00+00', '2026-01-08 00:00:00+00', '2026-01-08 00:00:00+00', NULL, '2026-01-08 01:00:01+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (173, 19, '2026-01-08 01:00:00+00', '2026-01-08 01:00:00+00', '2026-01-08 01:00:00+00', NULL, '2026-01-08 01:00:05+00', '2026-01-08 01:00:02+00', '2026-01-08 01:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'changed', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (177, 24, '2026-01-08 01:00:00+00', '2026-01-08 01:00:00+00', '2026-01-08 01:00:00+00', NULL, '2026-01-08 02:00:05+00', '2026-01-08 01:00:02+00', '2026-01-08 01:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'catch_up', 'default', 'task', 'changed', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (211, 25, '2026-01-08 01:00:00+00', '2026-01-08 01:00:00+00', '2026-01-08 01:00:02+00', NULL, '2026-01-08 01:00:01+00', '2026-01-08 01:00:02+00', '2026-01-08 01:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'changed', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (180, 12, '2026-01-08 01:00:00+00', '2026-01-08 01:00:00+00', '2026-01-08 01:00:00+00', NULL, '2026-01-08 01:00:01+00', NULL, '2026-01-08 02:00:01+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 0, 'cancelled', 'schedule', 'default', 'task', 'replace', 'default', NULL, NULL, NULL, NULL, 'replaced', NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (192, 17, '2026-01-08 01:00:00+00', '2026-01-08 01:00:00+00', '2026-01-08 01:00:00+00', NULL, '2026-01-08 01:00:01+00', NULL, '2026-01-11 00:00:30+00', '2026-01-08 01:00:10+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 0, 'cancelled', 'schedule', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, 'misfire', NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (260, 13, '2026-01-08 04:00:00+00', '2026-01-08 04:00:00+00', '2026-01-08 04:00:00+00', NULL, '2026-01-08 04:00:01+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 0, 'queued', 'schedule', 'default', 'task', 'allow', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (276, 13, '2026-01-08 04:10:00+00', '2026-01-08 04:10:00+00', '2026-01-08 04:10:00+00', NULL, '2026-01-08 05:00:01+00', NULL, NULL, NULL, '2026-01-08 04:10:00+00', '2026-01-08 04:50:00+00', NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, 5, 0, 0, 'queued', 'catch_up', 'default', 'task', 'allow', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (277, 13, '2026-01-08 05:00:00+00', '2026-01-08 05:00:00+00', '2026-01-08 05:00:00+00', NULL, '2026-01-08 05:00:01+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 0, 'queued', 'schedule', 'default', 'task', 'allow', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (271, 22, '2026-01-08 05:00:00+00', '2026-01-08 05:00:00+00', '2026-01-08 05:00:00+00', NULL, '2026-01-08 05:00:01+00', '2026-01-08 05:00:02+00', '2026-01-08 05:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 2, 0, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'changed', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (272, 24, '2026-01-08 05:00:00+00', '2026-01-08 05:00:00+00', '2026-01-08 05:00:00+00', NULL, '2026-01-08 05:00:01+00', '2026-01-08 05:00:02+00', '2026-01-08 05:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 2, 0, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'changed', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (273, 25, '2026-01-08 05:00:00+00', '2026-01-08 05:00:00+00', '2026-01-08 05:00:00+00', NULL, '2026-01-08 05:00:01+00', '2026-01-08 05:00:02+00', '2026-01-08 05:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'changed', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (293, 13, '2026-01-08 05:10:00+00', '2026-01-08 05:10:00+00', '2026-01-08 05:10:00+00', NULL, '2026-01-08 06:00:01+00', NULL, NULL, NULL, '2026-01-08 05:10:00+00', '2026-01-08 05:50:00+00', NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, 5, 0, 0, 'queued', 'catch_up', 'default', 'task', 'allow', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (294, 13, '2026-01-08 06:00:00+00', '2026-01-08 06:00:00+00', '2026-01-08 06:00:00+00', NULL, '2026-01-08 06:00:01+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 0, 'queued', 'schedule', 'default', 'task', 'allow', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (274, 12, '2026-01-08 05:00:00+00', '2026-01-08 05:00:00+00', '2026-01-08 05:00:00+00', NULL, '2026-01-08 05:00:01+00', NULL, '2026-01-08 06:00:01+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 0, 'cancelled', 'schedule', 'default', 'task', 'replace', 'default', NULL, NULL, NULL, NULL, 'replaced', NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (287, 20, '2026-01-08 06:00:00+00', '2026-01-08 06:00:00+00', '2026-01-08 06:00:00+00', NULL, '2026-01-08 06:00:01+00', '2026-01-08 06:00:02+00', '2026-01-08 06:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 3, 0, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'changed', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (288, 22, '2026-01-08 06:00:00+00', '2026-01-08 06:00:00+00', '2026-01-08 06:00:00+00', NULL, '2026-01-08 06:00:01+00', '2026-01-08 06:00:02+00', '2026-01-08 06:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 2, 0, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'changed', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (289, 24, '2026-01-08 06:00:00+00', '2026-01-08 06:00:00+00', '2026-01-08 06:00:00+00', NULL, '2026-01-08 06:00:01+00', '2026-01-08 06:00:02+00', '2026-01-08 06:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 2, 0, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'changed', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (290, 25, '2026-01-08 06:00:00+00', '2026-01-08 06:00:00+00', '2026-01-08 06:00:00+00', NULL, '2026-01-08 06:00:01+00', '2026-01-08 06:00:02+00', '2026-01-08 06:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'changed', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (296, 21, '2026-01-08 01:00:00+00', '2026-01-08 05:00:07+00', '2026-01-08 05:00:07+00', NULL, '2026-01-08 06:00:01+00', '2026-01-08 06:00:02+00', '2026-01-08 06:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 2, 0, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'catch_up', 'default', 'task', 'changed', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', '{"actor":"ada","created_at":1767830405,"moved":true,"payload":false,"note":""}');
INSERT INTO tickbird.runs VALUES (291, 12, '2026-01-08 06:00:00+00', '2026-01-08 06:00:00+00', '2026-01-08 06:00:00+00', NULL, '2026-01-08 06:00:01+00', NULL, '2026-01-08 07:00:01+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 0, 'cancelled', 'schedule', 'default', 'task', 'replace', 'default', NULL, NULL, NULL, NULL, 'replaced', NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (308, 20, '2026-01-08 07:00:00+00', '2026-01-08 07:00:00+00', '2026-01-08 07:00:00+00', NULL, '2026-01-08 07:00:01+00', '2026-01-08 07:00:02+00', '2026-01-08 07:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 3, 0, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'changed', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (309, 21, '2026-01-08 07:00:00+00', '2026-01-08 07:00:00+00', '2026-01-08 07:00:00+00', NULL, '2026-01-08 07:00:01+00', '2026-01-08 07:00:02+00', '2026-01-08 07:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 2, 0, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'changed', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (315, 13, '2026-01-08 06:10:00+00', '2026-01-08 06:10:00+00', '2026-01-08 06:10:00+00', NULL, '2026-01-08 07:00:01+00', NULL, NULL, NULL, '2026-01-08 06:10:00+00', '2026-01-08 06:50:00+00', NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, 5, 0, 0, 'queued', 'catch_up', 'default', 'task', 'allow', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (316, 13, '2026-01-08 07:00:00+00', '2026-01-08 07:00:00+00', '2026-01-08 07:00:00+00', NULL, '2026-01-08 07:00:01+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 0, 'queued', 'schedule', 'default', 'task', 'allow', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (310, 22, '2026-01-08 07:00:00+00', '2026-01-08 07:00:00+00', '2026-01-08 07:00:00+00', NULL, '2026-01-08 07:00:01+00', '2026-01-08 07:00:02+00', '2026-01-08 07:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 2, 0, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'changed', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (311, 24, '2026-01-08 07:00:00+00', '2026-01-08 07:00:00+00', '2026-01-08 07:00:00+00', NULL, '2026-01-08 07:00:01+00', '2026-01-08 07:00:02+00', '2026-01-08 07:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 2, 0, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'changed', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (312, 25, '2026-01-08 07:00:00+00', '2026-01-08 07:00:00+00', '2026-01-08 07:00:00+00', NULL, '2026-01-08 07:00:01+00', '2026-01-08 07:00:02+00', '2026-01-08 07:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'changed', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, '{"n":1}', NULL);
INSERT INTO tickbird.runs VALUES (326, 25, '2026-01-08 08:00:00+00', '2026-01-08 08:00:00+00', '2026-01-08 08:00:00+00', NULL, '2026-01-08 08:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 0, 'queued', 'schedule', 'default', 'task', 'changed', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (327, 25, NULL, '2026-01-08 08:00:00+00', '2026-01-08 08:00:00+00', NULL, '2026-01-08 08:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, 179, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 0, 'waiting', 'retry', 'default', 'task', 'changed', 'default', NULL, NULL, NULL, 'ada', NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (313, 12, '2026-01-08 07:00:00+00', '2026-01-08 07:00:00+00', '2026-01-08 07:00:00+00', NULL, '2026-01-08 07:00:01+00', NULL, '2026-01-09 01:00:01+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 0, 'cancelled', 'schedule', 'default', 'task', 'replace', 'default', NULL, NULL, NULL, NULL, 'replaced', NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (389, 29, '2026-01-10 02:00:00+00', '2026-01-10 02:00:00+00', '2026-01-10 10:00:00+00', NULL, '2026-01-10 10:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, NULL, 3, 0, 0, NULL, 0, 0, 3, NULL, 0, 1, 'waiting', 'backfill', 'default', 'task', 'filled', 'default', NULL, NULL, NULL, 'ben', NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (390, 29, '2026-01-10 03:00:00+00', '2026-01-10 03:00:00+00', '2026-01-10 10:00:00+00', NULL, '2026-01-10 10:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, NULL, 3, 0, 0, NULL, 0, 0, 3, NULL, 0, 1, 'waiting', 'backfill', 'default', 'task', 'filled', 'default', NULL, NULL, NULL, 'ben', NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (391, 29, '2026-01-10 04:00:00+00', '2026-01-10 04:00:00+00', '2026-01-10 10:00:00+00', NULL, '2026-01-10 10:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, NULL, 3, 0, 0, NULL, 0, 0, 3, NULL, 0, 1, 'waiting', 'backfill', 'default', 'task', 'filled', 'default', NULL, NULL, NULL, 'ben', NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (387, 29, '2026-01-10 10:00:00+00', '2026-01-10 10:00:00+00', '2026-01-10 10:00:00+00', NULL, '2026-01-10 10:00:00+00', '2026-01-10 10:00:00+00', '2026-01-10 10:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 3, 0, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'schedule', 'default', 'task', 'filled', 'default', NULL, NULL, 'w1', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (388, 29, '2026-01-10 01:00:00+00', '2026-01-10 01:00:00+00', '2026-01-10 10:00:00+00', NULL, '2026-01-10 10:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, NULL, 3, 0, 0, NULL, 0, 0, 3, NULL, 0, 0, 'queued', 'backfill', 'default', 'task', 'filled', 'default', NULL, NULL, NULL, 'ben', NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (401, NULL, NULL, '2026-01-11 00:00:00+00', '2026-01-11 00:00:00+00', NULL, '2026-01-11 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, 0, 0, 3, NULL, 0, 0, 'queued', 'manual', 'default', 'task', 'waits', 'default', NULL, NULL, NULL, 'ada', NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (397, NULL, NULL, '2026-01-11 00:00:00+00', '2026-01-11 00:00:30+00', NULL, '2026-01-11 00:00:00+00', '2026-01-11 00:00:01+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, 1, 1525808585, 0, 1, 3, NULL, 0, 0, 'queued', 'manual', 'default', 'task', 'lost', 'default', NULL, NULL, NULL, 'ada', NULL, NULL, NULL, NULL, 'worker w1 was lost: its lease ended at 2026-01-11 00:00:06.', NULL, NULL);
INSERT INTO tickbird.runs VALUES (399, NULL, NULL, '2026-01-11 00:00:00+00', '2026-01-11 00:00:00+00', NULL, '2026-01-11 00:00:00+00', '2026-01-11 00:00:50+00', '2026-01-11 00:00:55+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'succeeded', 'manual', 'default', 'task', 'talks', 'default', NULL, NULL, 'w1', 'ada', NULL, NULL, NULL, NULL, NULL, '{"rows":3}', NULL);
INSERT INTO tickbird.runs VALUES (330, 13, '2026-01-08 07:10:00+00', '2026-01-08 07:10:00+00', '2026-01-08 07:10:00+00', NULL, '2026-01-09 01:00:01+00', NULL, NULL, NULL, '2026-01-08 07:10:00+00', '2026-01-09 00:50:00+00', NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, 107, 0, 0, 'queued', 'catch_up', 'default', 'task', 'allow', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (331, 13, '2026-01-09 01:00:00+00', '2026-01-09 01:00:00+00', '2026-01-09 01:00:00+00', NULL, '2026-01-09 01:00:01+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 0, 'queued', 'schedule', 'default', 'task', 'allow', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (333, 16, '2026-01-08 22:00:00+00', '2026-01-08 22:00:00+00', '2026-01-08 22:00:00+00', NULL, '2026-01-09 01:00:01+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 0, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (334, 16, '2026-01-08 23:00:00+00', '2026-01-08 23:00:00+00', '2026-01-08 23:00:00+00', NULL, '2026-01-09 01:00:01+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 0, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (335, 16, '2026-01-09 00:00:00+00', '2026-01-09 00:00:00+00', '2026-01-09 00:00:00+00', NULL, '2026-01-09 01:00:01+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 0, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (340, 18, '2026-01-08 08:00:00+00', '2026-01-08 08:00:00+00', '2026-01-08 08:00:00+00', NULL, '2026-01-09 01:00:01+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (341, 18, '2026-01-08 09:00:00+00', '2026-01-08 09:00:00+00', '2026-01-08 09:00:00+00', NULL, '2026-01-09 01:00:01+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (342, 18, '2026-01-08 10:00:00+00', '2026-01-08 10:00:00+00', '2026-01-08 10:00:00+00', NULL, '2026-01-09 01:00:01+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (343, 18, '2026-01-08 11:00:00+00', '2026-01-08 11:00:00+00', '2026-01-08 11:00:00+00', NULL, '2026-01-09 01:00:01+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (344, 18, '2026-01-08 12:00:00+00', '2026-01-08 12:00:00+00', '2026-01-08 12:00:00+00', NULL, '2026-01-09 01:00:01+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (345, 18, '2026-01-08 13:00:00+00', '2026-01-08 13:00:00+00', '2026-01-08 13:00:00+00', NULL, '2026-01-09 01:00:01+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (346, 18, '2026-01-08 14:00:00+00', '2026-01-08 14:00:00+00', '2026-01-08 14:00:00+00', NULL, '2026-01-09 01:00:01+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (347, 18, '2026-01-08 15:00:00+00', '2026-01-08 15:00:00+00', '2026-01-08 15:00:00+00', NULL, '2026-01-09 01:00:01+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (348, 18, '2026-01-08 16:00:00+00', '2026-01-08 16:00:00+00', '2026-01-08 16:00:00+00', NULL, '2026-01-09 01:00:01+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (349, 18, '2026-01-08 17:00:00+00', '2026-01-08 17:00:00+00', '2026-01-08 17:00:00+00', NULL, '2026-01-09 01:00:01+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (350, 18, '2026-01-08 18:00:00+00', '2026-01-08 18:00:00+00', '2026-01-08 18:00:00+00', NULL, '2026-01-09 01:00:01+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (351, 18, '2026-01-08 19:00:00+00', '2026-01-08 19:00:00+00', '2026-01-08 19:00:00+00', NULL, '2026-01-09 01:00:01+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (352, 18, '2026-01-08 20:00:00+00', '2026-01-08 20:00:00+00', '2026-01-08 20:00:00+00', NULL, '2026-01-09 01:00:01+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (353, 18, '2026-01-08 21:00:00+00', '2026-01-08 21:00:00+00', '2026-01-08 21:00:00+00', NULL, '2026-01-09 01:00:01+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (354, 18, '2026-01-08 22:00:00+00', '2026-01-08 22:00:00+00', '2026-01-08 22:00:00+00', NULL, '2026-01-09 01:00:01+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (355, 18, '2026-01-08 23:00:00+00', '2026-01-08 23:00:00+00', '2026-01-08 23:00:00+00', NULL, '2026-01-09 01:00:01+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (356, 18, '2026-01-09 00:00:00+00', '2026-01-09 00:00:00+00', '2026-01-09 00:00:00+00', NULL, '2026-01-09 01:00:01+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (358, 20, '2026-01-08 08:00:00+00', '2026-01-08 08:00:00+00', '2026-01-08 08:00:00+00', NULL, '2026-01-09 01:00:01+00', NULL, NULL, NULL, '2026-01-08 08:00:00+00', '2026-01-09 00:00:00+00', NULL, NULL, NULL, NULL, NULL, 3, 0, 0, NULL, 0, 0, 3, 17, 0, 0, 'queued', 'catch_up', 'default', 'task', 'changed', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (361, 21, '2026-01-08 08:00:00+00', '2026-01-08 08:00:00+00', '2026-01-08 08:00:00+00', NULL, '2026-01-09 01:00:01+00', NULL, NULL, NULL, '2026-01-08 08:00:00+00', '2026-01-09 00:00:00+00', NULL, NULL, NULL, NULL, NULL, 2, 0, 0, NULL, 0, 0, 3, 17, 0, 0, 'queued', 'catch_up', 'default', 'task', 'changed', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (364, 22, '2026-01-08 08:00:00+00', '2026-01-08 08:00:00+00', '2026-01-08 08:00:00+00', NULL, '2026-01-09 01:00:01+00', NULL, NULL, NULL, '2026-01-08 08:00:00+00', '2026-01-09 00:00:00+00', NULL, NULL, NULL, NULL, NULL, 2, 0, 0, NULL, 0, 0, 3, 17, 0, 0, 'queued', 'catch_up', 'default', 'task', 'changed', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (367, 24, '2026-01-08 08:00:00+00', '2026-01-08 08:00:00+00', '2026-01-08 08:00:00+00', NULL, '2026-01-09 01:00:01+00', NULL, NULL, NULL, '2026-01-08 08:00:00+00', '2026-01-09 00:00:00+00', NULL, NULL, NULL, NULL, NULL, 2, 0, 0, NULL, 0, 0, 3, 17, 0, 0, 'queued', 'catch_up', 'default', 'task', 'changed', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (372, 27, '2026-01-09 01:00:00+00', '2026-01-09 01:00:00+00', '2026-01-09 01:00:00+00', NULL, '2026-01-09 01:00:01+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 0, 'queued', 'schedule', 'default', 'task', 'keyed', 'default', 'warehouse', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (373, 28, '2026-01-09 01:00:00+00', '2026-01-09 01:00:00+00', '2026-01-09 01:00:00+00', NULL, '2026-01-09 01:00:01+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 0, 'waiting', 'schedule', 'default', 'task', 'keyed', 'default', 'warehouse', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (384, NULL, NULL, '2026-01-09 00:00:00+00', '2026-01-09 00:00:00+00', NULL, '2026-01-09 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1168, NULL, 0, 0, NULL, 0, 0, 3, NULL, 0, 0, 'queued', 'manual', 'default', 'task', 'later', 'default', NULL, 'order-7', NULL, 'ada', NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (392, 29, '2026-01-10 06:00:00+00', '2026-01-10 06:00:00+00', '2026-01-10 10:00:00+00', NULL, '2026-01-10 10:00:00+00', NULL, '2026-01-10 11:00:00+00', NULL, NULL, NULL, '2026-01-10 11:00:00+00', NULL, NULL, 2, NULL, 3, 0, 0, NULL, 0, 0, 3, NULL, 0, 0, 'cancelled', 'backfill', 'default', 'task', 'filled', 'default', NULL, NULL, NULL, 'ben', 'backfill 2 cancelled by ben: enough', 'ben', NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (393, 29, '2026-01-10 07:00:00+00', '2026-01-10 07:00:00+00', '2026-01-10 10:00:00+00', NULL, '2026-01-10 10:00:00+00', NULL, '2026-01-10 11:00:00+00', NULL, NULL, NULL, '2026-01-10 11:00:00+00', NULL, NULL, 2, NULL, 3, 0, 0, NULL, 0, 0, 3, NULL, 0, 0, 'cancelled', 'backfill', 'default', 'task', 'filled', 'default', NULL, NULL, NULL, 'ben', 'backfill 2 cancelled by ben: enough', 'ben', NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (394, 29, '2026-01-10 08:00:00+00', '2026-01-10 08:00:00+00', '2026-01-10 10:00:00+00', NULL, '2026-01-10 10:00:00+00', NULL, '2026-01-10 11:00:00+00', NULL, NULL, NULL, '2026-01-10 11:00:00+00', NULL, NULL, 2, NULL, 3, 0, 0, NULL, 0, 0, 3, NULL, 0, 0, 'cancelled', 'backfill', 'default', 'task', 'filled', 'default', NULL, NULL, NULL, 'ben', 'backfill 2 cancelled by ben: enough', 'ben', NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (395, 29, '2026-01-10 09:00:00+00', '2026-01-10 09:00:00+00', '2026-01-10 10:00:00+00', NULL, '2026-01-10 10:00:00+00', NULL, '2026-01-10 11:00:00+00', NULL, NULL, NULL, '2026-01-10 11:00:00+00', NULL, NULL, 2, NULL, 3, 0, 0, NULL, 0, 0, 3, NULL, 0, 0, 'cancelled', 'backfill', 'default', 'task', 'filled', 'default', NULL, NULL, NULL, 'ben', 'backfill 2 cancelled by ben: enough', 'ben', NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (371, 26, '2026-01-09 01:00:00+00', '2026-01-09 01:00:00+00', '2026-01-11 00:00:30+00', NULL, '2026-01-09 01:00:01+00', '2026-01-09 01:00:02+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 1, 1525808585, 0, 1, 3, NULL, 0, 0, 'queued', 'schedule', 'default', 'task', 'keyed', 'default', 'warehouse', NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'worker w1 was lost: its lease ended at 2026-01-10 01:00:02.', NULL, NULL);
INSERT INTO tickbird.runs VALUES (328, 12, '2026-01-09 01:00:00+00', '2026-01-09 01:00:00+00', '2026-01-11 00:00:30+00', NULL, '2026-01-09 01:00:01+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 0, 'cancelled', 'schedule', 'default', 'task', 'replace', 'default', NULL, NULL, NULL, NULL, 'replaced', NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (396, NULL, NULL, '2026-01-11 00:00:00+00', '2026-01-11 00:01:02+00', NULL, '2026-01-11 00:00:00+00', '2026-01-11 00:01:10+00', '2026-01-11 00:01:11+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, 2, 1525808585, 2, 0, 3, NULL, 0, 0, 'failed', 'manual', 'default', 'task', 'fails', 'default', NULL, NULL, 'w1', 'ada', NULL, NULL, NULL, 'raised', 'Boom: still none', NULL, NULL);
INSERT INTO tickbird.runs VALUES (402, NULL, NULL, '2026-01-11 00:01:20+00', '2026-01-11 00:01:20+00', NULL, '2026-01-11 00:01:20+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, 396, NULL, NULL, NULL, 0, 0, NULL, 0, 0, 3, NULL, 0, 0, 'queued', 'retry', 'default', 'task', 'fails', 'default', NULL, NULL, NULL, 'ada', NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (398, NULL, NULL, '2026-01-11 00:00:00+00', '2026-01-11 00:00:00+00', NULL, '2026-01-11 00:00:00+00', NULL, '2026-01-11 00:00:40+00', NULL, NULL, NULL, '2026-01-11 00:00:40+00', NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, 0, 0, 3, NULL, 0, 0, 'cancelled', 'manual', 'default', 'task', 'stops', 'default', NULL, NULL, NULL, 'ada', 'wrong day', 'ada', NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (400, NULL, NULL, '2026-01-11 00:00:00+00', '2026-01-11 00:00:00+00', '2026-01-12 00:01:00+00', '2026-01-11 00:00:00+00', '2026-01-11 00:01:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, 1, 1525808585, 0, 0, 3, NULL, 0, 0, 'running', 'manual', 'default', 'task', 'runs', 'default', NULL, NULL, 'w1', 'ada', NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (405, 12, '2026-01-13 00:00:00+00', '2026-01-13 00:00:00+00', '2026-01-13 00:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 0, 'queued', 'schedule', 'default', 'task', 'replace', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (407, 13, '2026-01-09 01:10:00+00', '2026-01-09 01:10:00+00', '2026-01-09 01:10:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, '2026-01-09 01:10:00+00', '2026-01-12 23:50:00+00', NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, 569, 0, 0, 'queued', 'catch_up', 'default', 'task', 'allow', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (408, 13, '2026-01-13 00:00:00+00', '2026-01-13 00:00:00+00', '2026-01-13 00:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 0, 'queued', 'schedule', 'default', 'task', 'allow', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (410, 16, '2026-01-12 21:00:00+00', '2026-01-12 21:00:00+00', '2026-01-12 21:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 0, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (411, 16, '2026-01-12 22:00:00+00', '2026-01-12 22:00:00+00', '2026-01-12 22:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 0, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (412, 16, '2026-01-12 23:00:00+00', '2026-01-12 23:00:00+00', '2026-01-12 23:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 0, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (415, 17, '2026-01-13 00:00:00+00', '2026-01-13 00:00:00+00', '2026-01-13 00:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, '2026-01-13 00:00:10+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 0, 'queued', 'schedule', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (417, 18, '2026-01-09 02:00:00+00', '2026-01-09 02:00:00+00', '2026-01-09 02:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (418, 18, '2026-01-09 03:00:00+00', '2026-01-09 03:00:00+00', '2026-01-09 03:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (419, 18, '2026-01-09 04:00:00+00', '2026-01-09 04:00:00+00', '2026-01-09 04:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (420, 18, '2026-01-09 05:00:00+00', '2026-01-09 05:00:00+00', '2026-01-09 05:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (421, 18, '2026-01-09 06:00:00+00', '2026-01-09 06:00:00+00', '2026-01-09 06:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (422, 18, '2026-01-09 07:00:00+00', '2026-01-09 07:00:00+00', '2026-01-09 07:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (423, 18, '2026-01-09 08:00:00+00', '2026-01-09 08:00:00+00', '2026-01-09 08:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (424, 18, '2026-01-09 09:00:00+00', '2026-01-09 09:00:00+00', '2026-01-09 09:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (425, 18, '2026-01-09 10:00:00+00', '2026-01-09 10:00:00+00', '2026-01-09 10:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (426, 18, '2026-01-09 11:00:00+00', '2026-01-09 11:00:00+00', '2026-01-09 11:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (427, 18, '2026-01-09 12:00:00+00', '2026-01-09 12:00:00+00', '2026-01-09 12:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (428, 18, '2026-01-09 13:00:00+00', '2026-01-09 13:00:00+00', '2026-01-09 13:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (429, 18, '2026-01-09 14:00:00+00', '2026-01-09 14:00:00+00', '2026-01-09 14:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (430, 18, '2026-01-09 15:00:00+00', '2026-01-09 15:00:00+00', '2026-01-09 15:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (431, 18, '2026-01-09 16:00:00+00', '2026-01-09 16:00:00+00', '2026-01-09 16:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (432, 18, '2026-01-09 17:00:00+00', '2026-01-09 17:00:00+00', '2026-01-09 17:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (433, 18, '2026-01-09 18:00:00+00', '2026-01-09 18:00:00+00', '2026-01-09 18:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (434, 18, '2026-01-09 19:00:00+00', '2026-01-09 19:00:00+00', '2026-01-09 19:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (435, 18, '2026-01-09 20:00:00+00', '2026-01-09 20:00:00+00', '2026-01-09 20:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (436, 18, '2026-01-09 21:00:00+00', '2026-01-09 21:00:00+00', '2026-01-09 21:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (437, 18, '2026-01-09 22:00:00+00', '2026-01-09 22:00:00+00', '2026-01-09 22:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (438, 18, '2026-01-09 23:00:00+00', '2026-01-09 23:00:00+00', '2026-01-09 23:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (439, 18, '2026-01-10 00:00:00+00', '2026-01-10 00:00:00+00', '2026-01-10 00:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (440, 18, '2026-01-10 01:00:00+00', '2026-01-10 01:00:00+00', '2026-01-10 01:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (441, 18, '2026-01-10 02:00:00+00', '2026-01-10 02:00:00+00', '2026-01-10 02:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (442, 18, '2026-01-10 03:00:00+00', '2026-01-10 03:00:00+00', '2026-01-10 03:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (443, 18, '2026-01-10 04:00:00+00', '2026-01-10 04:00:00+00', '2026-01-10 04:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (444, 18, '2026-01-10 05:00:00+00', '2026-01-10 05:00:00+00', '2026-01-10 05:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (445, 18, '2026-01-10 06:00:00+00', '2026-01-10 06:00:00+00', '2026-01-10 06:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (446, 18, '2026-01-10 07:00:00+00', '2026-01-10 07:00:00+00', '2026-01-10 07:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (447, 18, '2026-01-10 08:00:00+00', '2026-01-10 08:00:00+00', '2026-01-10 08:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (448, 18, '2026-01-10 09:00:00+00', '2026-01-10 09:00:00+00', '2026-01-10 09:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (449, 18, '2026-01-10 10:00:00+00', '2026-01-10 10:00:00+00', '2026-01-10 10:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (450, 18, '2026-01-10 11:00:00+00', '2026-01-10 11:00:00+00', '2026-01-10 11:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (451, 18, '2026-01-10 12:00:00+00', '2026-01-10 12:00:00+00', '2026-01-10 12:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (452, 18, '2026-01-10 13:00:00+00', '2026-01-10 13:00:00+00', '2026-01-10 13:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (453, 18, '2026-01-10 14:00:00+00', '2026-01-10 14:00:00+00', '2026-01-10 14:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (454, 18, '2026-01-10 15:00:00+00', '2026-01-10 15:00:00+00', '2026-01-10 15:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (455, 18, '2026-01-10 16:00:00+00', '2026-01-10 16:00:00+00', '2026-01-10 16:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (456, 18, '2026-01-10 17:00:00+00', '2026-01-10 17:00:00+00', '2026-01-10 17:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (457, 18, '2026-01-10 18:00:00+00', '2026-01-10 18:00:00+00', '2026-01-10 18:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (458, 18, '2026-01-10 19:00:00+00', '2026-01-10 19:00:00+00', '2026-01-10 19:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (459, 18, '2026-01-10 20:00:00+00', '2026-01-10 20:00:00+00', '2026-01-10 20:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (460, 18, '2026-01-10 21:00:00+00', '2026-01-10 21:00:00+00', '2026-01-10 21:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (461, 18, '2026-01-10 22:00:00+00', '2026-01-10 22:00:00+00', '2026-01-10 22:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (462, 18, '2026-01-10 23:00:00+00', '2026-01-10 23:00:00+00', '2026-01-10 23:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (463, 18, '2026-01-11 00:00:00+00', '2026-01-11 00:00:00+00', '2026-01-11 00:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (464, 18, '2026-01-11 01:00:00+00', '2026-01-11 01:00:00+00', '2026-01-11 01:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (465, 18, '2026-01-11 02:00:00+00', '2026-01-11 02:00:00+00', '2026-01-11 02:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (466, 18, '2026-01-11 03:00:00+00', '2026-01-11 03:00:00+00', '2026-01-11 03:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (467, 18, '2026-01-11 04:00:00+00', '2026-01-11 04:00:00+00', '2026-01-11 04:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (468, 18, '2026-01-11 05:00:00+00', '2026-01-11 05:00:00+00', '2026-01-11 05:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (469, 18, '2026-01-11 06:00:00+00', '2026-01-11 06:00:00+00', '2026-01-11 06:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (470, 18, '2026-01-11 07:00:00+00', '2026-01-11 07:00:00+00', '2026-01-11 07:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (471, 18, '2026-01-11 08:00:00+00', '2026-01-11 08:00:00+00', '2026-01-11 08:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (472, 18, '2026-01-11 09:00:00+00', '2026-01-11 09:00:00+00', '2026-01-11 09:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (473, 18, '2026-01-11 10:00:00+00', '2026-01-11 10:00:00+00', '2026-01-11 10:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (474, 18, '2026-01-11 11:00:00+00', '2026-01-11 11:00:00+00', '2026-01-11 11:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (475, 18, '2026-01-11 12:00:00+00', '2026-01-11 12:00:00+00', '2026-01-11 12:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (476, 18, '2026-01-11 13:00:00+00', '2026-01-11 13:00:00+00', '2026-01-11 13:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (477, 18, '2026-01-11 14:00:00+00', '2026-01-11 14:00:00+00', '2026-01-11 14:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (478, 18, '2026-01-11 15:00:00+00', '2026-01-11 15:00:00+00', '2026-01-11 15:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (479, 18, '2026-01-11 16:00:00+00', '2026-01-11 16:00:00+00', '2026-01-11 16:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (480, 18, '2026-01-11 17:00:00+00', '2026-01-11 17:00:00+00', '2026-01-11 17:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (481, 18, '2026-01-11 18:00:00+00', '2026-01-11 18:00:00+00', '2026-01-11 18:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (482, 18, '2026-01-11 19:00:00+00', '2026-01-11 19:00:00+00', '2026-01-11 19:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (483, 18, '2026-01-11 20:00:00+00', '2026-01-11 20:00:00+00', '2026-01-11 20:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (484, 18, '2026-01-11 21:00:00+00', '2026-01-11 21:00:00+00', '2026-01-11 21:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (485, 18, '2026-01-11 22:00:00+00', '2026-01-11 22:00:00+00', '2026-01-11 22:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (486, 18, '2026-01-11 23:00:00+00', '2026-01-11 23:00:00+00', '2026-01-11 23:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (487, 18, '2026-01-12 00:00:00+00', '2026-01-12 00:00:00+00', '2026-01-12 00:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (488, 18, '2026-01-12 01:00:00+00', '2026-01-12 01:00:00+00', '2026-01-12 01:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (489, 18, '2026-01-12 02:00:00+00', '2026-01-12 02:00:00+00', '2026-01-12 02:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (490, 18, '2026-01-12 03:00:00+00', '2026-01-12 03:00:00+00', '2026-01-12 03:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (491, 18, '2026-01-12 04:00:00+00', '2026-01-12 04:00:00+00', '2026-01-12 04:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (492, 18, '2026-01-12 05:00:00+00', '2026-01-12 05:00:00+00', '2026-01-12 05:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (493, 18, '2026-01-12 06:00:00+00', '2026-01-12 06:00:00+00', '2026-01-12 06:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (494, 18, '2026-01-12 07:00:00+00', '2026-01-12 07:00:00+00', '2026-01-12 07:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (495, 18, '2026-01-12 08:00:00+00', '2026-01-12 08:00:00+00', '2026-01-12 08:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (496, 18, '2026-01-12 09:00:00+00', '2026-01-12 09:00:00+00', '2026-01-12 09:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (497, 18, '2026-01-12 10:00:00+00', '2026-01-12 10:00:00+00', '2026-01-12 10:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (498, 18, '2026-01-12 11:00:00+00', '2026-01-12 11:00:00+00', '2026-01-12 11:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (499, 18, '2026-01-12 12:00:00+00', '2026-01-12 12:00:00+00', '2026-01-12 12:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (500, 18, '2026-01-12 13:00:00+00', '2026-01-12 13:00:00+00', '2026-01-12 13:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (501, 18, '2026-01-12 14:00:00+00', '2026-01-12 14:00:00+00', '2026-01-12 14:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (502, 18, '2026-01-12 15:00:00+00', '2026-01-12 15:00:00+00', '2026-01-12 15:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (503, 18, '2026-01-12 16:00:00+00', '2026-01-12 16:00:00+00', '2026-01-12 16:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (504, 18, '2026-01-12 17:00:00+00', '2026-01-12 17:00:00+00', '2026-01-12 17:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (505, 18, '2026-01-12 18:00:00+00', '2026-01-12 18:00:00+00', '2026-01-12 18:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (506, 18, '2026-01-12 19:00:00+00', '2026-01-12 19:00:00+00', '2026-01-12 19:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (507, 18, '2026-01-12 20:00:00+00', '2026-01-12 20:00:00+00', '2026-01-12 20:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (508, 18, '2026-01-12 21:00:00+00', '2026-01-12 21:00:00+00', '2026-01-12 21:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (509, 18, '2026-01-12 22:00:00+00', '2026-01-12 22:00:00+00', '2026-01-12 22:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (510, 18, '2026-01-12 23:00:00+00', '2026-01-12 23:00:00+00', '2026-01-12 23:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 2, 'waiting', 'catch_up', 'default', 'task', 'late', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (512, 26, '2026-01-09 02:00:00+00', '2026-01-09 02:00:00+00', '2026-01-09 02:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, '2026-01-09 02:00:00+00', '2026-01-12 23:00:00+00', NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, 94, 0, 0, 'waiting', 'catch_up', 'default', 'task', 'keyed', 'default', 'warehouse', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (513, 26, '2026-01-13 00:00:00+00', '2026-01-13 00:00:00+00', '2026-01-13 00:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 0, 'waiting', 'schedule', 'default', 'task', 'keyed', 'default', 'warehouse', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (515, 27, '2026-01-09 02:00:00+00', '2026-01-09 02:00:00+00', '2026-01-09 02:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, '2026-01-09 02:00:00+00', '2026-01-12 23:00:00+00', NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, 94, 0, 0, 'waiting', 'catch_up', 'default', 'task', 'keyed', 'default', 'warehouse', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (516, 27, '2026-01-13 00:00:00+00', '2026-01-13 00:00:00+00', '2026-01-13 00:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 0, 'waiting', 'schedule', 'default', 'task', 'keyed', 'default', 'warehouse', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (518, 28, '2026-01-09 02:00:00+00', '2026-01-09 02:00:00+00', '2026-01-09 02:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, '2026-01-09 02:00:00+00', '2026-01-12 23:00:00+00', NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, 94, 0, 0, 'waiting', 'catch_up', 'default', 'task', 'keyed', 'default', 'warehouse', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (519, 28, '2026-01-13 00:00:00+00', '2026-01-13 00:00:00+00', '2026-01-13 00:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0, NULL, 0, 0, 3, NULL, 0, 0, 'waiting', 'schedule', 'default', 'task', 'keyed', 'default', 'warehouse', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.runs VALUES (521, 29, '2026-01-10 11:00:00+00', '2026-01-10 11:00:00+00', '2026-01-10 11:00:00+00', NULL, '2026-01-13 00:00:00+00', NULL, NULL, NULL, '2026-01-10 11:00:00+00', '2026-01-12 23:00:00+00', NULL, NULL, NULL, NULL, NULL, 3, 0, 0, NULL, 0, 0, 3, 61, 0, 0, 'waiting', 'catch_up', 'default', 'task', 'filled', 'default', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tickbird.schedule_ids OVERRIDING SYSTEM VALUE VALUES (1, 'default', 'hourly');
INSERT INTO tickbird.schedule_ids OVERRIDING SYSTEM VALUE VALUES (2, 'default', 'new-york');
INSERT INTO tickbird.schedule_ids OVERRIDING SYSTEM VALUE VALUES (3, 'default', 'berlin');
INSERT INTO tickbird.schedule_ids OVERRIDING SYSTEM VALUE VALUES (4, 'default', 'either');
INSERT INTO tickbird.schedule_ids OVERRIDING SYSTEM VALUE VALUES (5, 'default', 'once');
INSERT INTO tickbird.schedule_ids OVERRIDING SYSTEM VALUE VALUES (6, 'default', 'window');
INSERT INTO tickbird.schedule_ids OVERRIDING SYSTEM VALUE VALUES (7, 'default', 'closed');
INSERT INTO tickbird.schedule_ids OVERRIDING SYSTEM VALUE VALUES (8, 'default', 'weekends');
INSERT INTO tickbird.schedule_ids OVERRIDING SYSTEM VALUE VALUES (9, 'default', 'declared');
INSERT INTO tickbird.schedule_ids OVERRIDING SYSTEM VALUE VALUES (10, 'default', 'overlap-skip');
INSERT INTO tickbird.schedule_ids OVERRIDING SYSTEM VALUE VALUES (11, 'default', 'overlap-queue');
INSERT INTO tickbird.schedule_ids OVERRIDING SYSTEM VALUE VALUES (12, 'default', 'overlap-replace');
INSERT INTO tickbird.schedule_ids OVERRIDING SYSTEM VALUE VALUES (13, 'default', 'overlap-allow');
INSERT INTO tickbird.schedule_ids OVERRIDING SYSTEM VALUE VALUES (14, 'default', 'late-one');
INSERT INTO tickbird.schedule_ids OVERRIDING SYSTEM VALUE VALUES (15, 'default', 'late-latest');
INSERT INTO tickbird.schedule_ids OVERRIDING SYSTEM VALUE VALUES (16, 'default', 'late-all');
INSERT INTO tickbird.schedule_ids OVERRIDING SYSTEM VALUE VALUES (17, 'default', 'late-skip');
INSERT INTO tickbird.schedule_ids OVERRIDING SYSTEM VALUE VALUES (18, 'default', 'held');
INSERT INTO tickbird.schedule_ids OVERRIDING SYSTEM VALUE VALUES (19, 'default', 'paused');
INSERT INTO tickbird.schedule_ids OVERRIDING SYSTEM VALUE VALUES (20, 'default', 'resumed');
INSERT INTO tickbird.schedule_ids OVERRIDING SYSTEM VALUE VALUES (21, 'default', 'moved');
INSERT INTO tickbird.schedule_ids OVERRIDING SYSTEM VALUE VALUES (22, 'default', 'skipped');
INSERT INTO tickbird.schedule_ids OVERRIDING SYSTEM VALUE VALUES (23, 'default', 'deleted');
INSERT INTO tickbird.schedule_ids OVERRIDING SYSTEM VALUE VALUES (24, 'default', 'edited');
INSERT INTO tickbird.schedule_ids OVERRIDING SYSTEM VALUE VALUES (25, 'default', 'triggered');
INSERT INTO tickbird.schedule_ids OVERRIDING SYSTEM VALUE VALUES (26, 'default', 'keyed-1');
INSERT INTO tickbird.schedule_ids OVERRIDING SYSTEM VALUE VALUES (27, 'default', 'keyed-2');
INSERT INTO tickbird.schedule_ids OVERRIDING SYSTEM VALUE VALUES (28, 'default', 'keyed-3');
INSERT INTO tickbird.schedule_ids OVERRIDING SYSTEM VALUE VALUES (29, 'default', 'filled');
INSERT INTO tickbird.schedule_ids OVERRIDING SYSTEM VALUE VALUES (30, 'default', 'broken');
INSERT INTO tickbird.schedule_search VALUES ('default', 'hourly', 1, NULL, 'default', '
hourly
work
mail
eu
');
INSERT INTO tickbird.schedule_search VALUES ('default', 'new-york', 2, NULL, 'default', '
new-york
work
');
INSERT INTO tickbird.schedule_search VALUES ('default', 'berlin', 3, NULL, 'default', '
berlin
work
');
INSERT INTO tickbird.schedule_search VALUES ('default', 'either', 4, NULL, 'gpu', '
either
work
');
INSERT INTO tickbird.schedule_search VALUES ('default', 'once', 5, NULL, 'default', '
once
work
');
INSERT INTO tickbird.schedule_search VALUES ('default', 'window', 6, NULL, 'default', '
window
work
');
INSERT INTO tickbird.schedule_search VALUES ('default', 'closed', 7, NULL, 'default', '
closed
work
');
INSERT INTO tickbird.schedule_search VALUES ('default', 'weekends', 8, NULL, 'default', '
weekends
work
');
INSERT INTO tickbird.schedule_search VALUES ('default', 'declared', 9, 'shop', 'default', '
declared
coded
');
INSERT INTO tickbird.schedule_search VALUES ('default', 'overlap-skip', 10, NULL, 'default', '
overlap-skip
skip
');
INSERT INTO tickbird.schedule_search VALUES ('default', 'overlap-queue', 11, NULL, 'default', '
overlap-queue
queue
');
INSERT INTO tickbird.schedule_search VALUES ('default', 'overlap-replace', 12, NULL, 'default', '
overlap-replace
replace
');
INSERT INTO tickbird.schedule_search VALUES ('default', 'overlap-allow', 13, NULL, 'default', '
overlap-allow
allow
');
INSERT INTO tickbird.schedule_search VALUES ('default', 'late-one', 14, NULL, 'default', '
late-one
late
');
INSERT INTO tickbird.schedule_search VALUES ('default', 'late-latest', 15, NULL, 'default', '
late-latest
late
');
INSERT INTO tickbird.schedule_search VALUES ('default', 'late-all', 16, NULL, 'default', '
late-all
late
');
INSERT INTO tickbird.schedule_search VALUES ('default', 'late-skip', 17, NULL, 'default', '
late-skip
late
');
INSERT INTO tickbird.schedule_search VALUES ('default', 'held', 18, NULL, 'default', '
held
late
');
INSERT INTO tickbird.schedule_search VALUES ('default', 'paused', 19, NULL, 'default', '
paused
changed
');
INSERT INTO tickbird.schedule_search VALUES ('default', 'resumed', 20, NULL, 'default', '
resumed
changed
');
INSERT INTO tickbird.schedule_search VALUES ('default', 'moved', 21, NULL, 'default', '
moved
changed
');
INSERT INTO tickbird.schedule_search VALUES ('default', 'skipped', 22, NULL, 'default', '
skipped
changed
');
INSERT INTO tickbird.schedule_search VALUES ('default', 'deleted', 23, NULL, 'default', '
deleted
changed
');
INSERT INTO tickbird.schedule_search VALUES ('default', 'triggered', 25, NULL, 'default', '
triggered
changed
');
INSERT INTO tickbird.schedule_search VALUES ('default', 'edited', 24, NULL, 'default', '
edited
changed
');
INSERT INTO tickbird.schedule_search VALUES ('default', 'keyed-1', 26, NULL, 'default', '
keyed-1
keyed
');
INSERT INTO tickbird.schedule_search VALUES ('default', 'keyed-2', 27, NULL, 'default', '
keyed-2
keyed
');
INSERT INTO tickbird.schedule_search VALUES ('default', 'keyed-3', 28, NULL, 'default', '
keyed-3
keyed
');
INSERT INTO tickbird.schedule_search VALUES ('default', 'filled', 29, NULL, 'default', '
filled
filled
');
INSERT INTO tickbird.schedule_search VALUES ('default', 'broken', 30, NULL, 'default', '
broken
work
');
INSERT INTO tickbird.schedules VALUES (1, 'default', 'hourly', NULL, '{"v": 1, "tags": ["mail", "eu"], "target": {"task": "work"}, "trigger": {"every": {"hours": 1}}, "priority": 3, "description": "“ü” every hour"}', 1, NULL, '{}', NULL, NULL, NULL, NULL, '2026-01-01 00:00:00+00', '2026-01-01 00:00:00+00');
INSERT INTO tickbird.schedules VALUES (2, 'default', 'new-york', NULL, '{"v": 1, "target": {"task": "work"}, "payload": {"who": "ü", "limit": 5}, "trigger": {"tz": "America/New_York", "cron": "0 9 * * 1-5"}}', 1, NULL, '{}', NULL, NULL, NULL, NULL, '2026-01-01 00:00:00+00', '2026-01-01 00:00:00+00');
INSERT INTO tickbird.schedules VALUES (3, 'default', 'berlin', NULL, '{"v": 1, "spread": 600, "target": {"task": "work"}, "retries": 3, "timeout": 60, "trigger": {"tz": "Europe/Berlin", "cron": "30 2 * * 1-5"}}', 1, NULL, '{}', NULL, NULL, NULL, NULL, '2026-01-01 00:00:00+00', '2026-01-01 00:00:00+00');
INSERT INTO tickbird.schedules VALUES (4, 'default', 'either', NULL, '{"v": 1, "queue": "gpu", "target": {"task": "work"}, "trigger": {"any_of": [{"cron": "0 12 * * *"}, {"every": {"days": 2}}]}}', 1, NULL, '{}', NULL, NULL, NULL, NULL, '2026-01-01 00:00:00+00', '2026-01-01 00:00:00+00');
INSERT INTO tickbird.schedules VALUES (5, 'default', 'once', NULL, '{"v": 1, "target": {"task": "work"}, "trigger": {"at": "2026-01-01T05:00:00Z"}}', 1, NULL, '{}', NULL, NULL, NULL, NULL, '2026-01-01 00:00:00+00', '2026-01-01 00:00:00+00');
INSERT INTO tickbird.schedules VALUES (6, 'default', 'window', NULL, '{"v": 1, "end_at": "2026-01-04T00:00:00Z", "target": {"task": "work"}, "trigger": {"every": {"hours": 6}}, "max_runs": 4, "start_at": "2026-01-02T00:00:00Z"}', 1, NULL, '{}', NULL, NULL, NULL, NULL, '2026-01-01 00:00:00+00', '2026-01-01 00:00:00+00');
INSERT INTO tickbird.schedules VALUES (7, 'default', 'closed', NULL, '{"v": 1, "closed": {"quiet": ["12-25", "2026-01-02"]}, "target": {"task": "work"}, "trigger": {"every": {"days": 1}}, "calendars": ["quiet"]}', 1, NULL, '{}', NULL, NULL, NULL, NULL, '2026-01-01 00:00:00+00', '2026-01-01 00:00:00+00');
INSERT INTO tickbird.schedules VALUES (8, 'default', 'weekends', NULL, '{"v": 1, "target": {"task": "work"}, "exclude": ["sat", "sun"], "trigger": {"every": {"days": 1}}}', 1, NULL, '{}', NULL, NULL, NULL, NULL, '2026-01-01 00:00:00+00', '2026-01-01 00:00:00+00');
INSERT INTO tickbird.schedules VALUES (9, 'default', 'declared', 'shop', '{"v": 1, "target": {"task": "coded"}, "retries": 5, "trigger": {"every": {"hours": 2}}}', 3, '04e057ae994efb0866f5dd64', '{"retries": 5}', NULL, NULL, NULL, NULL, '2026-01-05 00:00:00+00', '2026-01-05 00:01:30+00');
INSERT INTO tickbird.schedules VALUES (10, 'default', 'overlap-skip', NULL, '{"v": 1, "target": {"task": "skip"}, "trigger": {"every": {"minutes": 10}}}', 1, NULL, '{}', NULL, NULL, NULL, NULL, '2026-01-06 00:00:00+00', '2026-01-06 00:00:00+00');
INSERT INTO tickbird.schedules VALUES (11, 'default', 'overlap-queue', NULL, '{"v": 1, "target": {"task": "queue"}, "overlap": "queue", "trigger": {"every": {"minutes": 10}}}', 1, NULL, '{}', NULL, NULL, NULL, NULL, '2026-01-06 00:00:00+00', '2026-01-06 00:00:00+00');
INSERT INTO tickbird.schedules VALUES (12, 'default', 'overlap-replace', NULL, '{"v": 1, "target": {"task": "replace"}, "overlap": "replace", "trigger": {"every": {"minutes": 10}}}', 1, NULL, '{}', NULL, NULL, NULL, NULL, '2026-01-06 00:00:00+00', '2026-01-06 00:00:00+00');
INSERT INTO tickbird.schedules VALUES (13, 'default', 'overlap-allow', NULL, '{"v": 1, "target": {"task": "allow"}, "overlap": "allow", "trigger": {"every": {"minutes": 10}}}', 1, NULL, '{}', NULL, NULL, NULL, NULL, '2026-01-06 00:00:00+00', '2026-01-06 00:00:00+00');
INSERT INTO tickbird.schedules VALUES (14, 'default', 'late-one', NULL, '{"v": 1, "target": {"task": "late"}, "trigger": {"every": {"hours": 1}}, "catch_up_limit": 3}', 1, NULL, '{}', NULL, NULL, NULL, NULL, '2026-01-07 00:00:00+00', '2026-01-07 00:00:00+00');
INSERT INTO tickbird.schedules VALUES (15, 'default', 'late-latest', NULL, '{"v": 1, "target": {"task": "late"}, "trigger": {"every": {"hours": 1}}, "catch_up": "latest", "catch_up_limit": 3}', 1, NULL, '{}', NULL, NULL, NULL, NULL, '2026-01-07 00:00:00+00', '2026-01-07 00:00:00+00');
INSERT INTO tickbird.schedules VALUES (16, 'default', 'late-all', NULL, '{"v": 1, "target": {"task": "late"}, "trigger": {"every": {"hours": 1}}, "catch_up": "all", "catch_up_limit": 3}', 1, NULL, '{}', NULL, NULL, NULL, NULL, '2026-01-07 00:00:00+00', '2026-01-07 00:00:00+00');
INSERT INTO tickbird.schedules VALUES (17, 'default', 'late-skip', NULL, '{"v": 1, "target": {"task": "late"}, "trigger": {"every": {"hours": 1}}, "catch_up": "skip", "catch_up_limit": 3}', 1, NULL, '{}', NULL, NULL, NULL, NULL, '2026-01-07 00:00:00+00', '2026-01-07 00:00:00+00');
INSERT INTO tickbird.schedules VALUES (18, 'default', 'held', NULL, '{"v": 1, "target": {"task": "late"}, "trigger": {"every": {"hours": 1}}, "catch_up": "all", "hold_above": 2}', 1, NULL, '{}', NULL, NULL, NULL, NULL, '2026-01-07 00:00:00+00', '2026-01-07 00:00:00+00');
INSERT INTO tickbird.schedules VALUES (22, 'default', 'skipped', NULL, '{"v": 1, "target": {"task": "changed"}, "trigger": {"every": {"hours": 1}}}', 2, NULL, '{}', NULL, NULL, NULL, NULL, '2026-01-08 00:00:00+00', '2026-01-08 00:00:05+00');
INSERT INTO tickbird.schedules VALUES (23, 'default', 'deleted', NULL, '{"v": 1, "target": {"task": "changed"}, "trigger": {"every": {"hours": 1}}}', 2, NULL, '{}', NULL, NULL, NULL, NULL, '2026-01-08 00:00:00+00', '2026-01-08 02:00:05+00');
INSERT INTO tickbird.schedules VALUES (26, 'default', 'keyed-1', NULL, '{"v": 1, "target": {"task": "keyed"}, "overlap": "allow", "trigger": {"every": {"hours": 1}}, "concurrency_key": "warehouse"}', 1, NULL, '{}', NULL, NULL, NULL, NULL, '2026-01-09 00:00:00+00', '2026-01-09 00:00:00+00');
INSERT INTO tickbird.schedules VALUES (27, 'default', 'keyed-2', NULL, '{"v": 1, "target": {"task": "keyed"}, "overlap": "allow", "trigger": {"every": {"hours": 1}}, "concurrency_key": "warehouse"}', 1, NULL, '{}', NULL, NULL, NULL, NULL, '2026-01-09 00:00:00+00', '2026-01-09 00:00:00+00');
INSERT INTO tickbird.schedules VALUES (25, 'default', 'triggered', NULL, '{"v": 1, "target": {"task": "changed"}, "trigger": {"every": {"hours": 1}}}', 1, NULL, '{}', NULL, NULL, NULL, NULL, '2026-01-08 00:00:00+00', '2026-01-08 00:00:00+00');
INSERT INTO tickbird.schedules VALUES (19, 'default', 'paused', NULL, '{"v": 1, "target": {"task": "changed"}, "trigger": {"every": {"hours": 1}}}', 2, NULL, '{}', 'ada', 'quiet', '2027-02-05 00:00:00+00', NULL, '2026-01-08 00:00:00+00', '2026-01-08 01:00:05+00');
INSERT INTO tickbird.schedules VALUES (20, 'default', 'resumed', NULL, '{"v": 1, "target": {"task": "changed"}, "trigger": {"every": {"hours": 1}}}', 3, NULL, '{}', NULL, NULL, NULL, NULL, '2026-01-08 00:00:00+00', '2026-01-08 05:00:00+00');
INSERT INTO tickbird.schedules VALUES (21, 'default', 'moved', NULL, '{"v": 1, "target": {"task": "changed"}, "trigger": {"every": {"hours": 1}}}', 2, NULL, '{}', NULL, NULL, NULL, NULL, '2026-01-08 00:00:00+00', '2026-01-08 00:00:05+00');
INSERT INTO tickbird.schedules VALUES (24, 'default', 'edited', NULL, '{"v": 1, "target": {"task": "changed"}, "payload": {"v": 2}, "trigger": {"every": {"hours": 1}}}', 2, NULL, '{}', NULL, NULL, NULL, NULL, '2026-01-08 00:00:00+00', '2026-01-08 02:00:05+00');
INSERT INTO tickbird.schedules VALUES (28, 'default', 'keyed-3', NULL, '{"v": 1, "target": {"task": "keyed"}, "overlap": "allow", "trigger": {"every": {"hours": 1}}, "concurrency_key": "warehouse"}', 1, NULL, '{}', NULL, NULL, NULL, NULL, '2026-01-09 00:00:00+00', '2026-01-09 00:00:00+00');
INSERT INTO tickbird.schedules VALUES (29, 'default', 'filled', NULL, '{"v": 1, "target": {"task": "filled"}, "trigger": {"every": {"hours": 1}}}', 3, NULL, '{}', NULL, NULL, NULL, NULL, '2026-01-10 00:00:00+00', '2026-01-10 09:00:01+00');
INSERT INTO tickbird.schedules VALUES (30, 'default', 'broken', NULL, '{"v": 1, "target": {"task": "work"}, "trigger": {"cron": "61 * * * *"}}', 1, NULL, '{}', NULL, NULL, NULL, 'cron ''61 * * * *'': minute: 61 is not within 0-59.', '2026-11-18 00:32:31.806254+00', '2026-11-18 00:32:31.806254+00');
INSERT INTO tickbird.skips VALUES (30, 7, '2026-01-02 00:00:00+00', '2026-01-02 00:00:00+00', '2026-01-02 00:00:01+00', NULL, 1, 1, 'calendar', NULL, '');
INSERT INTO tickbird.skips VALUES (64, 8, '2026-01-03 00:00:00+00', '2026-01-04 00:00:00+00', '2026-01-04 00:00:01+00', NULL, 1, 2, 'calendar', NULL, '');
INSERT INTO tickbird.skips VALUES (118, 1, '2026-01-05 01:00:00+00', '2026-01-05 01:00:00+00', '2026-01-05 02:00:01+00', 117, 1, 1, 'coalesced', NULL, '');
INSERT INTO tickbird.skips VALUES (133, 9, '2026-01-05 06:00:00+00', '2026-01-06 00:00:00+00', '2026-01-06 00:10:01+00', 132, 3, 10, 'coalesced', NULL, '');
INSERT INTO tickbird.skips VALUES (147, 12, '2026-01-06 00:50:00+00', '2026-01-07 08:00:00+00', '2026-01-07 08:00:30+00', 146, 1, 188, 'coalesced', NULL, '');
INSERT INTO tickbird.skips VALUES (149, 13, '2026-01-06 00:50:00+00', '2026-01-07 08:00:00+00', '2026-01-07 08:00:30+00', 148, 1, 188, 'coalesced', NULL, '');
INSERT INTO tickbird.skips VALUES (151, 14, '2026-01-07 02:00:00+00', '2026-01-07 08:00:00+00', '2026-01-07 08:00:30+00', 150, 1, 7, 'coalesced', NULL, '');
INSERT INTO tickbird.skips VALUES (153, 15, '2026-01-07 01:00:00+00', '2026-01-07 07:00:00+00', '2026-01-07 08:00:30+00', 152, 1, 7, 'coalesced', NULL, '');
INSERT INTO tickbird.skips VALUES (157, 16, '2026-01-07 01:00:00+00', '2026-01-07 05:00:00+00', '2026-01-07 08:00:30+00', NULL, 1, 5, 'limit', NULL, '');
INSERT INTO tickbird.skips VALUES (174, 20, '2026-01-08 01:00:00+00', '2026-01-08 05:00:00+00', '2026-01-08 05:00:00+00', NULL, 2, 5, 'paused', 'ada', 'paused by ada');
INSERT INTO tickbird.skips VALUES (176, 23, '2026-01-08 02:00:00+00', '2026-01-08 02:00:00+00', '2026-01-08 02:00:05+00', 175, 1, 1, 'overlap', NULL, '');
INSERT INTO tickbird.skips VALUES (178, 24, '2026-01-08 02:00:00+00', '2026-01-08 02:00:00+00', '2026-01-08 02:00:05+00', 177, 1, 1, 'overlap', NULL, '');
INSERT INTO tickbird.skips VALUES (158, 17, '2026-01-07 01:00:00+00', '2026-01-08 00:00:00+00', '2026-01-08 01:00:01+00', NULL, 1, 24, 'misfire', NULL, '');
INSERT INTO tickbird.skips VALUES (181, 12, '2026-01-07 08:10:00+00', '2026-01-08 00:50:00+00', '2026-01-08 01:00:01+00', 180, 1, 101, 'overlap', NULL, '');
INSERT INTO tickbird.skips VALUES (184, 13, '2026-01-07 08:20:00+00', '2026-01-08 00:50:00+00', '2026-01-08 01:00:01+00', 182, 1, 100, 'coalesced', NULL, '');
INSERT INTO tickbird.skips VALUES (190, 16, '2026-01-07 09:00:00+00', '2026-01-07 21:00:00+00', '2026-01-08 01:00:01+00', NULL, 1, 13, 'limit', NULL, '');
INSERT INTO tickbird.skips VALUES (223, 12, '2026-01-08 01:10:00+00', '2026-01-08 01:50:00+00', '2026-01-08 02:00:01+00', 222, 1, 5, 'overlap', NULL, '');
INSERT INTO tickbird.skips VALUES (226, 13, '2026-01-08 01:20:00+00', '2026-01-08 01:50:00+00', '2026-01-08 02:00:01+00', 224, 1, 4, 'coalesced', NULL, '');
INSERT INTO tickbird.skips VALUES (210, 22, '2026-01-08 01:00:00+00', '2026-01-08 03:00:00+00', '2026-01-08 03:00:01+00', NULL, 2, 3, 'operator', 'ada', 'not now');
INSERT INTO tickbird.skips VALUES (191, 16, '2026-01-08 01:00:00+00', '2026-01-08 07:00:00+00', '2026-01-08 07:00:01+00', 154, 1, 7, 'overlap', NULL, '');
INSERT INTO tickbird.skips VALUES (227, 17, '2026-01-08 02:00:00+00', '2026-01-08 07:00:00+00', '2026-01-08 07:00:01+00', 192, 1, 6, 'overlap', NULL, '');
INSERT INTO tickbird.skips VALUES (209, 18, '2026-01-08 01:00:00+00', '2026-01-08 07:00:00+00', '2026-01-08 07:00:01+00', 159, 1, 7, 'overlap', NULL, '');
INSERT INTO tickbird.skips VALUES (131, 8, '2026-01-06 00:00:00+00', '2026-01-09 00:00:00+00', '2026-01-09 01:00:01+00', 123, 1, 4, 'overlap', NULL, '');
INSERT INTO tickbird.skips VALUES (329, 12, '2026-01-08 07:10:00+00', '2026-01-09 00:50:00+00', '2026-01-09 01:00:01+00', 328, 1, 107, 'overlap', NULL, '');
INSERT INTO tickbird.skips VALUES (332, 13, '2026-01-08 07:20:00+00', '2026-01-09 00:50:00+00', '2026-01-09 01:00:01+00', 330, 1, 106, 'coalesced', NULL, '');
INSERT INTO tickbird.skips VALUES (336, 16, '2026-01-08 08:00:00+00', '2026-01-08 21:00:00+00', '2026-01-09 01:00:01+00', NULL, 1, 14, 'limit', NULL, '');
INSERT INTO tickbird.skips VALUES (337, 16, '2026-01-09 01:00:00+00', '2026-01-09 01:00:00+00', '2026-01-09 01:00:01+00', 154, 1, 1, 'overlap', NULL, '');
INSERT INTO tickbird.skips VALUES (338, 17, '2026-01-08 08:00:00+00', '2026-01-09 00:00:00+00', '2026-01-09 01:00:01+00', NULL, 1, 17, 'misfire', NULL, '');
INSERT INTO tickbird.skips VALUES (339, 17, '2026-01-09 01:00:00+00', '2026-01-09 01:00:00+00', '2026-01-09 01:00:01+00', 192, 1, 1, 'overlap', NULL, '');
INSERT INTO tickbird.skips VALUES (357, 18, '2026-01-09 01:00:00+00', '2026-01-09 01:00:00+00', '2026-01-09 01:00:01+00', 159, 1, 1, 'overlap', NULL, '');
INSERT INTO tickbird.skips VALUES (359, 20, '2026-01-08 09:00:00+00', '2026-01-09 00:00:00+00', '2026-01-09 01:00:01+00', 358, 3, 16, 'coalesced', NULL, '');
INSERT INTO tickbird.skips VALUES (362, 21, '2026-01-08 09:00:00+00', '2026-01-09 00:00:00+00', '2026-01-09 01:00:01+00', 361, 2, 16, 'coalesced', NULL, '');
INSERT INTO tickbird.skips VALUES (365, 22, '2026-01-08 09:00:00+00', '2026-01-09 00:00:00+00', '2026-01-09 01:00:01+00', 364, 2, 16, 'coalesced', NULL, '');
INSERT INTO tickbird.skips VALUES (368, 24, '2026-01-08 09:00:00+00', '2026-01-09 00:00:00+00', '2026-01-09 01:00:01+00', 367, 2, 16, 'coalesced', NULL, '');
INSERT INTO tickbird.skips VALUES (386, 29, '2026-01-10 01:00:00+00', '2026-01-10 09:00:00+00', '2026-01-10 09:00:01+00', NULL, 2, 9, 'paused', 'ada', 'paused by ada');
INSERT INTO tickbird.skips VALUES (119, 1, '2026-01-05 02:00:00+00', '2026-01-13 00:00:00+00', '2026-01-13 00:00:00+00', 117, 1, 191, 'overlap', NULL, '');
INSERT INTO tickbird.skips VALUES (143, 2, '2026-01-06 14:00:00+00', '2026-01-12 14:00:00+00', '2026-01-13 00:00:00+00', 128, 1, 5, 'overlap', NULL, '');
INSERT INTO tickbird.skips VALUES (144, 3, '2026-01-06 01:30:00+00', '2026-01-12 01:30:00+00', '2026-01-13 00:00:00+00', 120, 1, 5, 'overlap', NULL, '');
INSERT INTO tickbird.skips VALUES (129, 4, '2026-01-05 12:00:00+00', '2026-01-13 00:00:00+00', '2026-01-13 00:00:00+00', 121, 1, 12, 'overlap', NULL, '');
INSERT INTO tickbird.skips VALUES (130, 7, '2026-01-06 00:00:00+00', '2026-01-13 00:00:00+00', '2026-01-13 00:00:00+00', 122, 1, 8, 'overlap', NULL, '');
INSERT INTO tickbird.skips VALUES (145, 9, '2026-01-06 02:00:00+00', '2026-01-13 00:00:00+00', '2026-01-13 00:00:00+00', 132, 3, 84, 'overlap', NULL, '');
INSERT INTO tickbird.skips VALUES (136, 10, '2026-01-06 00:20:00+00', '2026-01-13 00:00:00+00', '2026-01-13 00:00:00+00', 124, 1, 1007, 'overlap', NULL, '');
INSERT INTO tickbird.skips VALUES (140, 11, '2026-01-06 00:30:00+00', '2026-01-13 00:00:00+00', '2026-01-13 00:00:00+00', 137, 1, 1006, 'overlap', NULL, '');
INSERT INTO tickbird.skips VALUES (241, 12, '2026-01-08 02:10:00+00', '2026-01-08 02:50:00+00', '2026-01-08 03:00:01+00', 240, 1, 5, 'overlap', NULL, '');
INSERT INTO tickbird.skips VALUES (244, 13, '2026-01-08 02:20:00+00', '2026-01-08 02:50:00+00', '2026-01-08 03:00:01+00', 242, 1, 4, 'coalesced', NULL, '');
INSERT INTO tickbird.skips VALUES (258, 12, '2026-01-08 03:10:00+00', '2026-01-08 03:50:00+00', '2026-01-08 04:00:01+00', 257, 1, 5, 'overlap', NULL, '');
INSERT INTO tickbird.skips VALUES (261, 13, '2026-01-08 03:20:00+00', '2026-01-08 03:50:00+00', '2026-01-08 04:00:01+00', 259, 1, 4, 'coalesced', NULL, '');
INSERT INTO tickbird.skips VALUES (275, 12, '2026-01-08 04:10:00+00', '2026-01-08 04:50:00+00', '2026-01-08 05:00:01+00', 274, 1, 5, 'overlap', NULL, '');
INSERT INTO tickbird.skips VALUES (278, 13, '2026-01-08 04:20:00+00', '2026-01-08 04:50:00+00', '2026-01-08 05:00:01+00', 276, 1, 4, 'coalesced', NULL, '');
INSERT INTO tickbird.skips VALUES (292, 12, '2026-01-08 05:10:00+00', '2026-01-08 05:50:00+00', '2026-01-08 06:00:01+00', 291, 1, 5, 'overlap', NULL, '');
INSERT INTO tickbird.skips VALUES (295, 13, '2026-01-08 05:20:00+00', '2026-01-08 05:50:00+00', '2026-01-08 06:00:01+00', 293, 1, 4, 'coalesced', NULL, '');
INSERT INTO tickbird.skips VALUES (297, 21, '2026-01-08 02:00:00+00', '2026-01-08 05:00:00+00', '2026-01-08 06:00:01+00', 296, 2, 4, 'rescheduled', NULL, '');
INSERT INTO tickbird.skips VALUES (298, 21, '2026-01-08 06:00:00+00', '2026-01-08 06:00:00+00', '2026-01-08 06:00:01+00', 296, 2, 1, 'overlap', NULL, '');
INSERT INTO tickbird.skips VALUES (314, 12, '2026-01-08 06:10:00+00', '2026-01-08 06:50:00+00', '2026-01-08 07:00:01+00', 313, 1, 5, 'overlap', NULL, '');
INSERT INTO tickbird.skips VALUES (317, 13, '2026-01-08 06:20:00+00', '2026-01-08 06:50:00+00', '2026-01-08 07:00:01+00', 315, 1, 4, 'coalesced', NULL, '');
INSERT INTO tickbird.skips VALUES (185, 14, '2026-01-07 09:00:00+00', '2026-01-13 00:00:00+00', '2026-01-13 00:00:00+00', 150, 1, 136, 'overlap', NULL, '');
INSERT INTO tickbird.skips VALUES (186, 15, '2026-01-07 09:00:00+00', '2026-01-13 00:00:00+00', '2026-01-13 00:00:00+00', 152, 1, 136, 'overlap', NULL, '');
INSERT INTO tickbird.skips VALUES (360, 20, '2026-01-09 01:00:00+00', '2026-01-13 00:00:00+00', '2026-01-13 00:00:00+00', 358, 3, 96, 'overlap', NULL, '');
INSERT INTO tickbird.skips VALUES (363, 21, '2026-01-09 01:00:00+00', '2026-01-13 00:00:00+00', '2026-01-13 00:00:00+00', 361, 2, 96, 'overlap', NULL, '');
INSERT INTO tickbird.skips VALUES (366, 22, '2026-01-09 01:00:00+00', '2026-01-13 00:00:00+00', '2026-01-13 00:00:00+00', 364, 2, 96, 'overlap', NULL, '');
INSERT INTO tickbird.skips VALUES (369, 24, '2026-01-09 01:00:00+00', '2026-01-13 00:00:00+00', '2026-01-13 00:00:00+00', 367, 2, 96, 'overlap', NULL, '');
INSERT INTO tickbird.skips VALUES (370, 25, '2026-01-08 09:00:00+00', '2026-01-13 00:00:00+00', '2026-01-13 00:00:00+00', 326, 1, 112, 'overlap', NULL, '');
INSERT INTO tickbird.skips VALUES (403, 8, '2026-01-10 00:00:00+00', '2026-01-11 00:00:00+00', '2026-01-13 00:00:00+00', NULL, 1, 2, 'calendar', NULL, '');
INSERT INTO tickbird.skips VALUES (404, 8, '2026-01-12 00:00:00+00', '2026-01-13 00:00:00+00', '2026-01-13 00:00:00+00', 123, 1, 2, 'overlap', NULL, '');
INSERT INTO tickbird.skips VALUES (406, 12, '2026-01-09 01:10:00+00', '2026-01-12 23:50:00+00', '2026-01-13 00:00:00+00', 405, 1, 569, 'overlap', NULL, '');
INSERT INTO tickbird.skips VALUES (409, 13, '2026-01-09 01:20:00+00', '2026-01-12 23:50:00+00', '2026-01-13 00:00:00+00', 407, 1, 568, 'coalesced', NULL, '');
INSERT INTO tickbird.skips VALUES (413, 16, '2026-01-09 02:00:00+00', '2026-01-12 20:00:00+00', '2026-01-13 00:00:00+00', NULL, 1, 91, 'limit', NULL, '');
INSERT INTO tickbird.skips VALUES (414, 16, '2026-01-13 00:00:00+00', '2026-01-13 00:00:00+00', '2026-01-13 00:00:00+00', 154, 1, 1, 'overlap', NULL, '');
INSERT INTO tickbird.skips VALUES (416, 17, '2026-01-09 02:00:00+00', '2026-01-12 23:00:00+00', '2026-01-13 00:00:00+00', NULL, 1, 94, 'misfire', NULL, '');
INSERT INTO tickbird.skips VALUES (511, 18, '2026-01-13 00:00:00+00', '2026-01-13 00:00:00+00', '2026-01-13 00:00:00+00', 159, 1, 1, 'overlap', NULL, '');
INSERT INTO tickbird.skips VALUES (514, 26, '2026-01-09 03:00:00+00', '2026-01-12 23:00:00+00', '2026-01-13 00:00:00+00', 512, 1, 93, 'coalesced', NULL, '');
INSERT INTO tickbird.skips VALUES (517, 27, '2026-01-09 03:00:00+00', '2026-01-12 23:00:00+00', '2026-01-13 00:00:00+00', 515, 1, 93, 'coalesced', NULL, '');
INSERT INTO tickbird.skips VALUES (520, 28, '2026-01-09 03:00:00+00', '2026-01-12 23:00:00+00', '2026-01-13 00:00:00+00', 518, 1, 93, 'coalesced', NULL, '');
INSERT INTO tickbird.skips VALUES (522, 29, '2026-01-10 12:00:00+00', '2026-01-12 23:00:00+00', '2026-01-13 00:00:00+00', 521, 3, 60, 'coalesced', NULL, '');
INSERT INTO tickbird.skips VALUES (523, 29, '2026-01-13 00:00:00+00', '2026-01-13 00:00:00+00', '2026-01-13 00:00:00+00', 521, 3, 1, 'overlap', NULL, '');
INSERT INTO tickbird.workers VALUES ('w9', 'default', 'app', 'worker', 'host', 1, '0', '{}', 0, '{"work": {"queue": "default"}}', '{}', false, '2026-01-13 00:00:00+00', '2026-01-13 00:00:00+00', '2026-01-13 00:01:00+00', '', '{}', NULL, NULL);
INSERT INTO tickbird.zone_data VALUES (1, '2026f', 'e2b0f0a4f982ce9c2a87d0f5404fc9c0', '2026-01-01 00:00:00+00', 'worker', NULL);
SELECT pg_catalog.setval('tickbird.audit_log_id_seq', 58, true);
SELECT pg_catalog.setval('tickbird.backfills_id_seq', 2, true);
SELECT pg_catalog.setval('tickbird.ledger_id_seq', 538, true);
SELECT pg_catalog.setval('tickbird.schedule_ids_id_seq', 30, true);
ALTER TABLE ONLY tickbird.attempts
    ADD CONSTRAINT attempts_pkey PRIMARY KEY (run_id, attempt);
ALTER TABLE ONLY tickbird.audit_log
    ADD CONSTRAINT audit_log_pkey PRIMARY KEY (id);
ALTER TABLE ONLY tickbird.backfills
    ADD CONSTRAINT backfills_pkey PRIMARY KEY (id);
ALTER TABLE ONLY tickbird.calendars
    ADD CONSTRAINT calendars_pkey PRIMARY KEY (namespace, name);
ALTER TABLE ONLY tickbird.concurrency_limits
    ADD CONSTRAINT concurrency_limits_pkey PRIMARY KEY (namespace, key);
ALTER TABLE ONLY tickbird.cursors
    ADD CONSTRAINT cursors_pkey PRIMARY KEY (schedule_id);
ALTER TABLE ONLY tickbird.dependency_waits
    ADD CONSTRAINT dependency_waits_pkey PRIMARY KEY (run_id, schedule_id);
ALTER TABLE ONLY tickbird.http_responses
    ADD CONSTRAINT http_responses_pkey PRIMARY KEY (namespace, idempotency_key);
ALTER TABLE ONLY tickbird.last_successes
    ADD CONSTRAINT last_successes_pkey PRIMARY KEY (schedule_id);
ALTER TABLE ONLY tickbird.meta
    ADD CONSTRAINT meta_pkey PRIMARY KEY (key);
ALTER TABLE ONLY tickbird.migrations
    ADD CONSTRAINT migrations_pkey PRIMARY KEY (number);
ALTER TABLE ONLY tickbird.pings
    ADD CONSTRAINT pings_pkey PRIMARY KEY (schedule_id, pinged_at);
ALTER TABLE ONLY tickbird.prune_horizons
    ADD CONSTRAINT prune_horizons_pkey PRIMARY KEY (schedule_id);
ALTER TABLE ONLY tickbird.queue_rates
    ADD CONSTRAINT queue_rates_pkey PRIMARY KEY (namespace, queue);
ALTER TABLE ONLY tickbird.revisions
    ADD CONSTRAINT revisions_pkey PRIMARY KEY (schedule_id, revision);
ALTER TABLE ONLY tickbird.run_logs
    ADD CONSTRAINT run_logs_pkey PRIMARY KEY (run_id, attempt, number);
ALTER TABLE ONLY tickbird.run_payloads
    ADD CONSTRAINT run_payloads_pkey PRIMARY KEY (run_id);
ALTER TABLE ONLY tickbird.run_progress
    ADD CONSTRAINT run_progress_pkey PRIMARY KEY (run_id);
ALTER TABLE ONLY tickbird.runs
    ADD CONSTRAINT runs_pkey PRIMARY KEY (id);
ALTER TABLE ONLY tickbird.schedule_ids
    ADD CONSTRAINT schedule_ids_namespace_name_key UNIQUE (namespace, name);
ALTER TABLE ONLY tickbird.schedule_ids
    ADD CONSTRAINT schedule_ids_pkey PRIMARY KEY (id);
ALTER TABLE ONLY tickbird.schedule_search
    ADD CONSTRAINT schedule_search_pkey PRIMARY KEY (namespace, name);
ALTER TABLE ONLY tickbird.schedules
    ADD CONSTRAINT schedules_namespace_name_key UNIQUE (namespace, name);
ALTER TABLE ONLY tickbird.schedules
    ADD CONSTRAINT schedules_pkey PRIMARY KEY (id);
ALTER TABLE ONLY tickbird.sessions
    ADD CONSTRAINT sessions_pkey PRIMARY KEY (id);
ALTER TABLE ONLY tickbird.skips
    ADD CONSTRAINT skips_pkey PRIMARY KEY (id);
ALTER TABLE ONLY tickbird.tokens
    ADD CONSTRAINT tokens_pkey PRIMARY KEY (id);
ALTER TABLE ONLY tickbird.workers
    ADD CONSTRAINT workers_pkey PRIMARY KEY (id);
ALTER TABLE ONLY tickbird.zone_data
    ADD CONSTRAINT zone_data_pkey PRIMARY KEY (generation);
CREATE INDEX attempts_ended_at_idx ON tickbird.attempts USING btree (ended_at);
CREATE INDEX audit_log_created_at_idx ON tickbird.audit_log USING btree (created_at);
CREATE INDEX audit_log_namespace_idx ON tickbird.audit_log USING btree (namespace, id DESC);
CREATE INDEX audit_log_schedule_id_idx ON tickbird.audit_log USING btree (schedule_id, id DESC) WHERE (schedule_id IS NOT NULL);
CREATE INDEX backfills_namespace_idx ON tickbird.backfills USING btree (namespace, id DESC);
CREATE INDEX backfills_schedule_id_idx ON tickbird.backfills USING btree (schedule_id, id);
CREATE INDEX cursors_inactive_idx ON tickbird.cursors USING btree (state, schedule_id) WHERE (state = ANY (ARRAY['paused'::text, 'parked'::text, 'ended'::text, 'deleted'::text]));
CREATE INDEX cursors_next_run_at_idx ON tickbird.cursors USING btree (next_run_at, schedule_id) WHERE (next_run_at IS NOT NULL);
CREATE INDEX cursors_unplanned_idx ON tickbird.cursors USING btree (schedule_id) WHERE ((next_run_at IS NULL) AND (state = 'active'::text));
CREATE INDEX dependency_waits_deadline_at_idx ON tickbird.dependency_waits USING btree (deadline_at);
CREATE INDEX dependency_waits_schedule_id_idx ON tickbird.dependency_waits USING btree (schedule_id);
CREATE INDEX http_responses_started_at_idx ON tickbird.http_responses USING btree (started_at);
CREATE INDEX pings_pinged_at_idx ON tickbird.pings USING btree (pinged_at);
CREATE INDEX runs_active_idx ON tickbird.runs USING btree (schedule_id, lane) WHERE ((finished_at IS NULL) AND (schedule_id IS NOT NULL));
CREATE INDEX runs_backfill_id_idx ON tickbird.runs USING btree (backfill_id, lane, id) WHERE (backfill_id IS NOT NULL);
CREATE INDEX runs_concurrency_slots_idx ON tickbird.runs USING btree (namespace, concurrency_key) WHERE ((concurrency_key IS NOT NULL) AND (status = ANY (ARRAY['queued'::text, 'running'::text])));
CREATE INDEX runs_concurrency_waits_idx ON tickbird.runs USING btree (namespace, concurrency_key, schedule_id, priority DESC, id) WHERE ((concurrency_key IS NOT NULL) AND (status = 'waiting'::text));
CREATE INDEX runs_covers_last_idx ON tickbird.runs USING btree (schedule_id, covers_last) WHERE (covers_last IS NOT NULL);
CREATE INDEX runs_deferred_idx ON tickbird.runs USING btree (deferred_until_minute) WHERE ((status = 'queued'::text) AND (deferred_until_minute > 0));
CREATE INDEX runs_dependency_waits_idx ON tickbird.runs USING btree (id) WHERE ((status = 'waiting'::text) AND (lane = '-1'::integer));
CREATE INDEX runs_finished_at_idx ON tickbird.runs USING btree (finished_at, id) WHERE (status = ANY (ARRAY['succeeded'::text, 'failed'::text, 'cancelled'::text]));
CREATE UNIQUE INDEX runs_idempotency_key_key ON tickbird.runs USING btree (namespace, idempotency_key) WHERE (idempotency_key IS NOT NULL);
CREATE INDEX runs_lease_until_idx ON tickbird.runs USING btree (lease_until) WHERE (status = 'running'::text);
CREATE INDEX runs_namespace_finished_at_idx ON tickbird.runs USING btree (namespace, finished_at, id) WHERE (status = ANY (ARRAY['succeeded'::text, 'failed'::text, 'cancelled'::text]));
CREATE INDEX runs_namespace_idx ON tickbird.runs USING btree (namespace, id);
CREATE INDEX runs_queued_idx ON tickbird.runs USING btree (namespace, queue, target, (((schedule_id IS NULL))::integer), priority, deferred_until_minute, available_at, id) WHERE (status = 'queued'::text);
CREATE INDEX runs_retries_idx ON tickbird.runs USING btree (schedule_id, revision) WHERE (retry_of IS NOT NULL);
CREATE INDEX runs_schedule_id_idx ON tickbird.runs USING btree (schedule_id, id DESC) WHERE (schedule_id IS NOT NULL);
CREATE INDEX runs_schedule_unsuccessful_idx ON tickbird.runs USING btree (schedule_id, status, id) WHERE (status = ANY (ARRAY['failed'::text, 'cancelled'::text]));
CREATE INDEX runs_start_by_idx ON tickbird.runs USING btree (start_by) WHERE ((status = ANY (ARRAY['waiting'::text, 'queued'::text])) AND (start_by IS NOT NULL));
CREATE UNIQUE INDEX runs_tick_key ON tickbird.runs USING btree (schedule_id, scheduled_for) WHERE (origin = ANY (ARRAY['schedule'::text, 'catch_up'::text, 'backfill'::text]));
CREATE INDEX runs_unsuccessful_idx ON tickbird.runs USING btree (namespace, status, id) WHERE (status = ANY (ARRAY['failed'::text, 'cancelled'::text]));
CREATE INDEX runs_waiting_idx ON tickbird.runs USING btree (schedule_id, lane, id) WHERE (status = 'waiting'::text);
CREATE INDEX schedules_app_idx ON tickbird.schedules USING btree (namespace, app) WHERE (app IS NOT NULL);
CREATE INDEX schedules_calendars_idx ON tickbird.schedules USING btree (namespace, name) WHERE (definition ? 'calendars'::text);
CREATE INDEX schedules_depends_on_idx ON tickbird.schedules USING btree (namespace, name) WHERE (definition ? 'depends_on'::text);
CREATE INDEX schedules_prunable_revisions_idx ON tickbird.schedules USING btree (id) WHERE (revision > 100);
CREATE INDEX sessions_ended_at_idx ON tickbird.sessions USING btree (COALESCE(closed_at, expires_at));
CREATE INDEX sessions_open_idx ON tickbird.sessions USING btree (token_id, expires_at) WHERE (closed_at IS NULL);
CREATE INDEX sessions_token_id_idx ON tickbird.sessions USING btree (token_id, id);
CREATE INDEX skips_decided_at_idx ON tickbird.skips USING btree (decided_at);
CREATE INDEX skips_schedule_id_idx ON tickbird.skips USING btree (schedule_id, last_at);
CREATE TRIGGER schedules_assign_id BEFORE INSERT ON tickbird.schedules FOR EACH ROW EXECUTE FUNCTION tickbird.assign_schedule_id();
CREATE TRIGGER schedules_create_cursor AFTER INSERT ON tickbird.schedules FOR EACH ROW EXECUTE FUNCTION tickbird.create_cursor();
CREATE TRIGGER schedules_index_insert AFTER INSERT ON tickbird.schedules FOR EACH ROW EXECUTE FUNCTION tickbird.index_schedule();
CREATE TRIGGER schedules_index_update AFTER UPDATE OF namespace, name, app, definition ON tickbird.schedules FOR EACH ROW WHEN (((new.definition IS DISTINCT FROM old.definition) OR (new.app IS DISTINCT FROM old.app) OR (new.name <> old.name) OR (new.namespace <> old.namespace))) EXECUTE FUNCTION tickbird.index_schedule();
CREATE TRIGGER schedules_record_edit BEFORE UPDATE OF definition ON tickbird.schedules FOR EACH ROW WHEN (((new.definition IS DISTINCT FROM old.definition) AND (new.revision <= old.revision))) EXECUTE FUNCTION tickbird.record_edit();
CREATE TRIGGER schedules_rename_id BEFORE UPDATE OF namespace, name ON tickbird.schedules FOR EACH ROW WHEN (((new.name <> old.name) OR (new.namespace <> old.namespace))) EXECUTE FUNCTION tickbird.assign_schedule_id();
ALTER TABLE ONLY tickbird.backfills
    ADD CONSTRAINT backfills_schedule_id_fkey FOREIGN KEY (schedule_id) REFERENCES tickbird.schedule_ids(id);
ALTER TABLE ONLY tickbird.cursors
    ADD CONSTRAINT cursors_schedule_id_fkey FOREIGN KEY (schedule_id) REFERENCES tickbird.schedules(id);
ALTER TABLE ONLY tickbird.revisions
    ADD CONSTRAINT revisions_schedule_id_fkey FOREIGN KEY (schedule_id) REFERENCES tickbird.schedules(id);
ALTER TABLE ONLY tickbird.schedule_search
    ADD CONSTRAINT schedule_search_schedule_id_fkey FOREIGN KEY (schedule_id) REFERENCES tickbird.schedules(id) ON DELETE CASCADE;
ALTER TABLE ONLY tickbird.schedules
    ADD CONSTRAINT schedules_id_fkey FOREIGN KEY (id) REFERENCES tickbird.schedule_ids(id);
ALTER TABLE ONLY tickbird.sessions
    ADD CONSTRAINT sessions_token_id_fkey FOREIGN KEY (token_id) REFERENCES tickbird.tokens(id);
