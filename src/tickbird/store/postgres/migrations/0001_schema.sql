-- min_compatible: 1
-- Instants are timestamptz. Rows that change with every tick are narrow: `cursors` and `runs`.

CREATE SCHEMA IF NOT EXISTS tickbird;

-- About the store itself. `identity`: which database it is. `schema_generation`: versions of the schema are comparable only
-- within one generation. `incarnation`: a random number that is replaced when a copy is accepted. Every lease has the
-- incarnation that it was given under, so a worker of the original cannot finish a run that the copy has leased since.
CREATE TABLE tickbird.meta (
    key text PRIMARY KEY,
    value text NOT NULL
);
INSERT INTO tickbird.meta (key, value)
VALUES ('schema_generation', '1'), ('incarnation', (floor(random() * 2147483646) + 1)::integer::text);

CREATE TABLE tickbird.migrations (
    number integer PRIMARY KEY,
    name text NOT NULL,
    checksum text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now()
);

-- Whole seconds since the epoch, or those of the nearest instant that Python has: no infinity, no year beyond 9999.
CREATE FUNCTION tickbird.epoch_seconds(instant timestamptz) RETURNS bigint
LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE
    WHEN instant IS NOT NULL
        THEN floor(least(greatest(date_part('epoch', instant), -62135596800), 253402300799))::bigint
END;

-- Versions of the tz database that the store has used, newest generation last. Planners with an older generation do not
-- plan schedules outside of UTC.
CREATE TABLE tickbird.zone_data (
    generation integer PRIMARY KEY,
    version text NOT NULL,
    digest text NOT NULL,
    adopted_at timestamptz NOT NULL,
    adopted_by text NOT NULL,
    -- When the last cursor had been recomputed with this zone data; null while recomputation is under way.
    recomputed_at timestamptz
);

-- Schedules

-- One id per namespace and name, never reused. A schedule that is deleted and created again has the same id, so the unique
-- key of its ticks still holds.
CREATE TABLE tickbird.schedule_ids (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    namespace text NOT NULL,
    name text NOT NULL,
    UNIQUE (namespace, name)
);

CREATE TABLE tickbird.schedules (
    -- Set by a trigger from schedule_ids.
    id bigint PRIMARY KEY REFERENCES tickbird.schedule_ids (id),
    namespace text NOT NULL DEFAULT 'default',
    name text NOT NULL,
    app text,
    definition jsonb NOT NULL,
    revision integer NOT NULL DEFAULT 1,
    -- Of the definition that code declares; null if no code declares the schedule.
    fingerprint text,
    field_overrides jsonb NOT NULL DEFAULT '{}',
    paused_by text,
    pause_note text,
    paused_until timestamptz,
    -- Why the schedule is parked, or why the database refused its last plan.
    error text,
    created_at timestamptz NOT NULL DEFAULT now(),
    changed_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (namespace, name)
);
CREATE INDEX schedules_app_idx ON tickbird.schedules (namespace, app) WHERE app IS NOT NULL;
-- Partial indexes: few schedules have calendars or dependencies.
CREATE INDEX schedules_calendars_idx ON tickbird.schedules (namespace, name) WHERE definition ? 'calendars';
CREATE INDEX schedules_depends_on_idx ON tickbird.schedules (namespace, name) WHERE definition ? 'depends_on';

-- The narrow row that planning locks and updates for each tick. Planning updates schedules only if a pause ends, or if it
-- parks the schedule or stores a refusal.
CREATE TABLE tickbird.cursors (
    schedule_id bigint PRIMARY KEY REFERENCES tickbird.schedules (id),
    revision integer NOT NULL,
    -- The format version of the definition. A planner ignores schedules of a newer format than it knows.
    format integer NOT NULL,
    -- The generation of zone data that next_run_at was computed with; null if the schedule uses UTC only.
    zone_generation integer,
    state text NOT NULL DEFAULT 'active'
        CONSTRAINT cursors_state_check CHECK (state IN ('active', 'paused', 'parked', 'ended', 'deleted')),
    -- The next planner pass: the due_at of the next tick, the end of a pause, or now after a plain-SQL edit. Null: never
    -- planned, or nothing to plan.
    next_run_at timestamptz,
    -- The last instant whose ticks are decided. It grows; only a change of the grid, or resuming a parked schedule, moves it
    -- back, to the instant of the change: later ticks that are decided are then kept in tick_overrides.
    planned_until timestamptz,
    runs_planned integer NOT NULL DEFAULT 0,
    -- The minute of the schedule's last deferred run; the next run of a burst is deferred to the minute after it.
    deferred_until_minute integer NOT NULL DEFAULT 0,
    last_skip_id bigint,
    skip_until timestamptz,
    skip_by text,
    skip_note text NOT NULL DEFAULT '',
    -- Overrides of single pending ticks, in tick order; null if there are none.
    tick_overrides json,
    -- Set by the trigger of a plain-SQL edit until the planner has seen it: the revision before the edit, and its instant.
    prior_revision integer,
    edited_at timestamptz,
    -- When the database last refused a plan of this schedule; the error is in schedules.error. Null after the next
    -- successful plan.
    refused_at timestamptz
) WITH (
    fillfactor = 80,
    autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_vacuum_threshold = 500,
    autovacuum_analyze_scale_factor = 0.1,
    autovacuum_vacuum_cost_delay = 0
);
-- schedule_id makes the order total: planning takes half of a batch from each end, and ties must not be skipped or taken
-- twice.
CREATE INDEX cursors_next_run_at_idx ON tickbird.cursors (next_run_at, schedule_id) WHERE next_run_at IS NOT NULL;
CREATE INDEX cursors_unplanned_idx ON tickbird.cursors (schedule_id) WHERE next_run_at IS NULL AND state = 'active';

CREATE TABLE tickbird.revisions (
    schedule_id bigint NOT NULL REFERENCES tickbird.schedules (id),
    revision integer NOT NULL,
    -- json, not jsonb: a run's payload comes from here and is given back as it was written.
    definition json NOT NULL,
    fingerprint text,
    action text NOT NULL,
    actor text NOT NULL,
    detail jsonb NOT NULL DEFAULT '{}',
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (schedule_id, revision)
);

-- The searchable columns of schedules in a narrow table, so that a search does not read definitions. Filled by triggers.
CREATE TABLE tickbird.schedule_search (
    namespace text NOT NULL,
    name text NOT NULL,
    schedule_id bigint NOT NULL REFERENCES tickbird.schedules (id) ON DELETE CASCADE,
    app text,
    queue text NOT NULL,
    search_text text NOT NULL,
    PRIMARY KEY (namespace, name)
);

-- Runs and skips

-- Ids of runs and skips. They share a sequence, so that a plan reserves all of its ids with one statement.
CREATE SEQUENCE tickbird.ledger_id_seq AS bigint;

CREATE TABLE tickbird.runs (
    id bigint PRIMARY KEY DEFAULT nextval('tickbird.ledger_id_seq'),
    schedule_id bigint,
    scheduled_for timestamptz,
    -- due_at: the tick plus spread, or as rescheduled. available_at: not claimed before; later than due_at for a retry or a
    -- released run.
    due_at timestamptz NOT NULL,
    available_at timestamptz NOT NULL,
    lease_until timestamptz,
    created_at timestamptz NOT NULL,
    started_at timestamptz,
    finished_at timestamptz,
    start_by timestamptz,
    -- For a catch-up run: the range and the number of ticks (covers_count) that it stands for.
    covers_first timestamptz,
    covers_last timestamptz,
    cancel_requested_at timestamptz,
    released_at timestamptz,
    retry_of bigint,
    backfill_id bigint,
    -- The transaction id of a run that was enqueued in the caller's own transaction, which may commit late; the activity
    -- feed uses it. Null for all other runs.
    created_xid bigint,
    revision integer,
    priority integer NOT NULL,
    attempt integer NOT NULL DEFAULT 0,
    -- The store's incarnation when the run was leased. With the attempt, it is the fencing token of the lease.
    incarnation integer,
    failures integer NOT NULL DEFAULT 0,
    crashes integer NOT NULL DEFAULT 0,
    -- A run fails when it has lost more workers than this; copied from the definition.
    crash_limit integer NOT NULL,
    covers_count integer,
    -- Minutes since the epoch. Until then, other runs of the queue are claimed first, so that a burst of one schedule does
    -- not starve them; 0: not deferred.
    deferred_until_minute integer NOT NULL DEFAULT 0,
    -- Where a waiting run waits: -1 for a dependency, 0 for a slot or another run, 1 for its turn in a backfill, 2 until an
    -- operator releases it (a held run). 0 in every other status. Free slots go to lane 0 first, then to lane 1.
    lane smallint NOT NULL DEFAULT 0,
    status text NOT NULL
        CONSTRAINT runs_status_check CHECK (status IN ('waiting', 'queued', 'running', 'succeeded', 'failed', 'cancelled')),
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
    -- json, not jsonb: it is never searched, and jsonb refuses values such as \u0000.
    result json,
    applied_override json,
    CONSTRAINT runs_finished_at_check CHECK ((finished_at IS NULL) = (status IN ('waiting', 'queued', 'running'))),
    CONSTRAINT runs_tick_check CHECK (
        origin NOT IN ('schedule', 'catch_up', 'backfill')
        OR (schedule_id IS NOT NULL AND scheduled_for IS NOT NULL AND revision IS NOT NULL)
    ),
    CONSTRAINT runs_lease_until_check CHECK ((status = 'running') = (lease_until IS NOT NULL)),
    CONSTRAINT runs_lane_check CHECK (lane BETWEEN -1 AND 2 AND (lane = 0 OR status = 'waiting')),
    CONSTRAINT runs_covers_check CHECK (num_nulls(covers_first, covers_last, covers_count) IN (0, 3)),
    CONSTRAINT runs_failure_kind_check CHECK (failure_kind IN ('raised', 'timeout', 'lost', 'reported'))
) WITH (
    fillfactor = 80,
    autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_vacuum_threshold = 1000,
    autovacuum_vacuum_insert_scale_factor = 0.1,
    autovacuum_analyze_scale_factor = 0.05,
    autovacuum_vacuum_cost_delay = 0
);
-- Promise I1: at most one run per tick.
CREATE UNIQUE INDEX runs_tick_key ON tickbird.runs (schedule_id, scheduled_for)
    WHERE origin IN ('schedule', 'catch_up', 'backfill');
CREATE UNIQUE INDEX runs_idempotency_key_key ON tickbird.runs (namespace, idempotency_key) WHERE idempotency_key IS NOT NULL;
-- In the order of claims. A claim jumps from one (queue, target, scheduled or ad hoc, priority) to the next; within each,
-- deferred runs come last.
CREATE INDEX runs_queued_idx ON tickbird.runs (
    namespace, queue, target, (((schedule_id IS NULL))::integer), priority, deferred_until_minute, available_at, id
) WHERE status = 'queued';
CREATE INDEX runs_deferred_idx ON tickbird.runs (deferred_until_minute)
    WHERE status = 'queued' AND deferred_until_minute > 0;
CREATE INDEX runs_lease_until_idx ON tickbird.runs (lease_until) WHERE status = 'running';
-- By finished_at, not by status: with a condition on status, the planner would use this index for statements about queued
-- runs.
CREATE INDEX runs_active_idx ON tickbird.runs (schedule_id, lane) WHERE finished_at IS NULL AND schedule_id IS NOT NULL;
CREATE INDEX runs_waiting_idx ON tickbird.runs (schedule_id, lane, id) WHERE status = 'waiting';
CREATE INDEX runs_dependency_waits_idx ON tickbird.runs (id) WHERE status = 'waiting' AND lane = -1;
CREATE INDEX runs_start_by_idx ON tickbird.runs (start_by)
    WHERE status IN ('waiting', 'queued') AND start_by IS NOT NULL;
CREATE INDEX runs_schedule_id_idx ON tickbird.runs (schedule_id, id DESC) WHERE schedule_id IS NOT NULL;
CREATE INDEX runs_backfill_id_idx ON tickbird.runs (backfill_id, lane, id) WHERE backfill_id IS NOT NULL;
-- Runs that occupy a slot of a concurrency key. Runs that wait for one are in the next index.
CREATE INDEX runs_concurrency_slots_idx ON tickbird.runs (namespace, concurrency_key)
    WHERE concurrency_key IS NOT NULL AND status IN ('queued', 'running');
CREATE INDEX runs_concurrency_waits_idx ON tickbird.runs (namespace, concurrency_key, schedule_id, priority DESC, id)
    WHERE concurrency_key IS NOT NULL AND status = 'waiting';
CREATE INDEX runs_finished_at_idx ON tickbird.runs (finished_at, id) WHERE status IN ('succeeded', 'failed', 'cancelled');

-- Payloads that differ from the definition's. No foreign key to runs, here and below: prune deletes from all of these tables
-- in one statement, and a key would cost a lookup for each row.
CREATE TABLE tickbird.run_payloads (
    run_id bigint PRIMARY KEY,
    payload json NOT NULL
);

-- Attempts that did not succeed. A successful attempt is in runs itself.
CREATE TABLE tickbird.attempts (
    run_id bigint NOT NULL,
    attempt integer NOT NULL,
    worker text,
    started_at timestamptz,
    ended_at timestamptz NOT NULL,
    outcome text NOT NULL
        CONSTRAINT attempts_outcome_check CHECK (outcome IN ('retried', 'drained', 'failed', 'cancelled', 'lost')),
    error text,
    PRIMARY KEY (run_id, attempt)
);

-- Log lines of attempts.
CREATE TABLE tickbird.run_logs (
    run_id bigint NOT NULL,
    attempt integer NOT NULL,
    number integer NOT NULL,
    logged_at timestamptz NOT NULL,
    level smallint NOT NULL,
    text text NOT NULL,
    PRIMARY KEY (run_id, attempt, number)
);

CREATE TABLE tickbird.run_progress (
    run_id bigint PRIMARY KEY,
    attempt integer NOT NULL,
    reported_at timestamptz NOT NULL,
    value json
) WITH (fillfactor = 70);

CREATE TABLE tickbird.skips (
    id bigint PRIMARY KEY DEFAULT nextval('tickbird.ledger_id_seq'),
    schedule_id bigint NOT NULL,
    first_at timestamptz NOT NULL,
    last_at timestamptz NOT NULL,
    decided_at timestamptz NOT NULL,
    run_id bigint,
    revision integer NOT NULL,
    count bigint NOT NULL,
    reason text NOT NULL,
    actor text,
    note text NOT NULL DEFAULT '',
    CONSTRAINT skips_range_check CHECK (first_at <= last_at AND count > 0)
) WITH (fillfactor = 90);
CREATE INDEX skips_schedule_id_idx ON tickbird.skips (schedule_id, last_at);
CREATE INDEX skips_decided_at_idx ON tickbird.skips (decided_at);

-- Up to this tick, runs and skips may have been pruned, so a tick without a run is not proof that it never ran. Backfills
-- start after it.
CREATE TABLE tickbird.prune_horizons (
    schedule_id bigint PRIMARY KEY,
    pruned_until timestamptz NOT NULL
);

CREATE TABLE tickbird.backfills (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    namespace text NOT NULL,
    schedule_id bigint NOT NULL REFERENCES tickbird.schedule_ids (id),
    revision integer NOT NULL,
    first_at timestamptz NOT NULL,
    last_at timestamptz NOT NULL,
    total integer NOT NULL,
    newest_first boolean NOT NULL,
    concurrency integer NOT NULL,
    payload json,
    actor text NOT NULL,
    note text NOT NULL,
    created_at timestamptz NOT NULL,
    cancelled_at timestamptz,
    cancelled_by text,
    CONSTRAINT backfills_range_check CHECK (first_at <= last_at AND total > 0 AND concurrency > 0)
);
CREATE INDEX backfills_namespace_idx ON tickbird.backfills (namespace, id DESC);
CREATE INDEX backfills_schedule_id_idx ON tickbird.backfills (schedule_id, id);

-- When a schedule last succeeded; only for schedules that others depend on. succeeded_at is null if it never has.
CREATE TABLE tickbird.last_successes (
    schedule_id bigint PRIMARY KEY,
    succeeded_at timestamptz
) WITH (fillfactor = 50);

-- One row for each schedule that a waiting run (lane -1) waits for. A success from earliest_at to deadline_at deletes the
-- row; the run leaves lane -1 when its last row is deleted, and is cancelled when a deadline_at has passed.
CREATE TABLE tickbird.dependency_waits (
    run_id bigint NOT NULL,
    schedule_id bigint NOT NULL,
    earliest_at timestamptz NOT NULL,
    deadline_at timestamptz NOT NULL,
    PRIMARY KEY (run_id, schedule_id)
);
CREATE INDEX dependency_waits_schedule_id_idx ON tickbird.dependency_waits (schedule_id);
CREATE INDEX dependency_waits_deadline_at_idx ON tickbird.dependency_waits (deadline_at);

-- When the old scheduler ran the job of a shadow schedule.
CREATE TABLE tickbird.pings (
    schedule_id bigint NOT NULL,
    pinged_at timestamptz NOT NULL,
    PRIMARY KEY (schedule_id, pinged_at)
);
CREATE INDEX pings_pinged_at_idx ON tickbird.pings (pinged_at);

-- Limits and calendars

CREATE TABLE tickbird.concurrency_limits (
    namespace text NOT NULL,
    key text NOT NULL,
    max_running integer NOT NULL CONSTRAINT concurrency_limits_max_running_check CHECK (max_running > 0),
    PRIMARY KEY (namespace, key)
);

CREATE TABLE tickbird.queue_rates (
    namespace text NOT NULL,
    queue text NOT NULL,
    count integer NOT NULL CONSTRAINT queue_rates_count_check CHECK (count > 0),
    seconds integer NOT NULL CONSTRAINT queue_rates_seconds_check CHECK (seconds > 0),
    -- [[microseconds since the epoch, number of runs started], …] within the last period, oldest first.
    starts json NOT NULL DEFAULT '[]',
    PRIMARY KEY (namespace, queue)
) WITH (fillfactor = 50);

CREATE TABLE tickbird.calendars (
    namespace text NOT NULL,
    name text NOT NULL,
    definition jsonb NOT NULL,
    closed jsonb NOT NULL,
    source jsonb NOT NULL,
    revision integer NOT NULL,
    created_at timestamptz NOT NULL,
    changed_at timestamptz NOT NULL,
    changed_by text NOT NULL,
    PRIMARY KEY (namespace, name)
);

-- Workers, people and what they did

CREATE TABLE tickbird.workers (
    id text PRIMARY KEY,
    namespace text NOT NULL,
    app text NOT NULL,
    kind text NOT NULL CONSTRAINT workers_kind_check CHECK (kind IN ('worker', 'planner', 'executor', 'sync')),
    host text NOT NULL,
    pid integer NOT NULL,
    version text NOT NULL,
    queues text[] NOT NULL,
    slots integer NOT NULL,
    tasks jsonb NOT NULL,
    -- Name → fingerprint of the schedules that the code of this worker declares.
    declared jsonb NOT NULL,
    draining boolean NOT NULL,
    started_at timestamptz NOT NULL,
    last_heartbeat_at timestamptz NOT NULL,
    live_until timestamptz NOT NULL,
    standby_reason text NOT NULL DEFAULT '',
    health jsonb NOT NULL DEFAULT '{}',
    drain_requested_at timestamptz,
    drain_requested_by text
) WITH (fillfactor = 50);

CREATE TABLE tickbird.tokens (
    id text PRIMARY KEY,
    digest text NOT NULL,
    name text NOT NULL,
    role text NOT NULL CONSTRAINT tokens_role_check CHECK (role IN ('viewer', 'operator', 'editor', 'admin')),
    namespaces text[],
    created_at timestamptz NOT NULL,
    created_by text NOT NULL,
    expires_at timestamptz,
    revoked_at timestamptz,
    revoked_by text,
    last_used_at timestamptz
);

CREATE TABLE tickbird.sessions (
    id text PRIMARY KEY,
    digest text NOT NULL,
    token_id text NOT NULL REFERENCES tickbird.tokens (id),
    -- The User-Agent header; any client may send any text.
    user_agent text NOT NULL,
    opened_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    closed_at timestamptz,
    closed_by text,
    last_used_at timestamptz
);
CREATE INDEX sessions_token_id_idx ON tickbird.sessions (token_id, id);
CREATE INDEX sessions_open_idx ON tickbird.sessions (token_id, expires_at) WHERE closed_at IS NULL;
CREATE INDEX sessions_ended_at_idx ON tickbird.sessions (coalesce(closed_at, expires_at));

-- Responses to requests with an idempotency key, kept for a day, so that a repeated request acts once.
CREATE TABLE tickbird.http_responses (
    namespace text NOT NULL,
    -- Of the API: the id of the caller's token, a colon, and the caller's key. Of a form of the dashboard: web, the id of
    -- the token and a digest of the form, with colons between.
    idempotency_key text NOT NULL,
    -- Of the API: SHA-256 of path, query, If-Match header and body. Of a form: the name of its action. The same key with
    -- another request is refused.
    request_digest text NOT NULL,
    started_at timestamptz NOT NULL,
    -- Null until the request is finished.
    status integer,
    headers jsonb,
    body text,
    PRIMARY KEY (namespace, idempotency_key)
);
CREATE INDEX http_responses_started_at_idx ON tickbird.http_responses (started_at);

CREATE TABLE tickbird.audit_log (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    created_at timestamptz NOT NULL,
    actor text NOT NULL,
    action text NOT NULL,
    namespace text NOT NULL,
    schedule_id bigint,
    schedule text,
    run_id bigint,
    detail jsonb NOT NULL DEFAULT '{}'
);
CREATE INDEX audit_log_namespace_idx ON tickbird.audit_log (namespace, id DESC);
CREATE INDEX audit_log_schedule_id_idx ON tickbird.audit_log (schedule_id, id DESC) WHERE schedule_id IS NOT NULL;
CREATE INDEX audit_log_created_at_idx ON tickbird.audit_log (created_at);

-- Schedules by plain SQL

-- The format version of a definition; 0 if it is not a small whole number: every planner accepts 0, fails to decode it, and
-- parks the schedule.
CREATE FUNCTION tickbird.definition_format(definition jsonb) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN definition ->> 'v' ~ '^[0-9]{1,9}$' THEN (definition ->> 'v')::integer ELSE 0 END;

-- The newest generation of zone data; null if the definition uses UTC only.
CREATE FUNCTION tickbird.newest_zone_generation(definition jsonb) RETURNS integer
LANGUAGE sql STABLE
RETURN CASE
    WHEN jsonb_path_exists(definition, 'strict $.trigger.**.tz ? (@ != "UTC")', silent => true)
        THEN coalesce((SELECT max(generation) FROM tickbird.zone_data), 0)
END;

CREATE FUNCTION tickbird.assign_schedule_id() RETURNS trigger LANGUAGE plpgsql AS $$
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
CREATE TRIGGER schedules_assign_id BEFORE INSERT ON tickbird.schedules
    FOR EACH ROW EXECUTE FUNCTION tickbird.assign_schedule_id();
CREATE TRIGGER schedules_rename_id BEFORE UPDATE OF namespace, name ON tickbird.schedules
    FOR EACH ROW WHEN (NEW.name <> OLD.name OR NEW.namespace <> OLD.namespace)
    EXECUTE FUNCTION tickbird.assign_schedule_id();

-- A plain INSERT defines a schedule. Its cursor has no next_run_at, so the first planner pass computes one and creates no
-- run.
CREATE FUNCTION tickbird.create_cursor() RETURNS trigger LANGUAGE plpgsql AS $$
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
CREATE TRIGGER schedules_create_cursor AFTER INSERT ON tickbird.schedules
    FOR EACH ROW EXECUTE FUNCTION tickbird.create_cursor();

-- A plain UPDATE of the definition is an edit. The planner first decides the ticks that were due before it under the prior
-- revision.
CREATE FUNCTION tickbird.record_edit() RETURNS trigger LANGUAGE plpgsql AS $$
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
CREATE TRIGGER schedules_record_edit BEFORE UPDATE OF definition ON tickbird.schedules
    FOR EACH ROW WHEN (NEW.definition IS DISTINCT FROM OLD.definition AND NEW.revision <= OLD.revision)
    EXECUTE FUNCTION tickbird.record_edit();

-- Name, target and tags in lower case, each between two newlines, so that a tag matches as a whole. An invalid definition
-- gives the name only.
CREATE FUNCTION tickbird.schedule_search_text(name text, definition jsonb) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN lower(
    E'\n' || name || E'\n'
    || coalesce(
        coalesce(definition -> 'target' ->> 'task', definition -> 'target' -> 'command' ->> 'program') || E'\n', ''
    )
    || coalesce(
        (
            SELECT string_agg(t.tag || E'\n', '' ORDER BY t.place)
            FROM jsonb_array_elements_text(
                CASE WHEN jsonb_typeof(definition -> 'tags') = 'array' THEN definition -> 'tags' ELSE '[]' END
            ) WITH ORDINALITY AS t(tag, place)
        ),
        ''
    )
);

CREATE FUNCTION tickbird.index_schedule() RETURNS trigger LANGUAGE plpgsql AS $$
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
CREATE TRIGGER schedules_index_insert AFTER INSERT ON tickbird.schedules
    FOR EACH ROW EXECUTE FUNCTION tickbird.index_schedule();
CREATE TRIGGER schedules_index_update AFTER UPDATE OF namespace, name, app, definition ON tickbird.schedules
    FOR EACH ROW
    WHEN (
        NEW.definition IS DISTINCT FROM OLD.definition
        OR NEW.app IS DISTINCT FROM OLD.app
        OR NEW.name <> OLD.name
        OR NEW.namespace <> OLD.namespace
    )
    EXECUTE FUNCTION tickbird.index_schedule();

-- Which of these schedules other schedules depend on. VOLATILE, so that it takes a new snapshot after the row locks of the
-- calling statement: a schedule that became a dependency in the meantime must be seen.
CREATE FUNCTION tickbird.tracked_schedules(ids bigint[]) RETURNS bigint[]
LANGUAGE plpgsql VOLATILE
AS $$
BEGIN
    RETURN ARRAY(SELECT l.schedule_id FROM tickbird.last_successes AS l WHERE l.schedule_id = ANY(ids));
END $$;

-- Views

-- A run with its schedule's name and its payload.
CREATE VIEW tickbird.run_details AS
SELECT
    r.id,
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
    -- Lateness and duration count from the first attempt.
    CASE
        WHEN r.attempt > 1
            THEN coalesce((SELECT min(a.started_at) FROM tickbird.attempts AS a WHERE a.run_id = r.id), r.started_at)
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
    coalesce(p.payload, v.definition -> 'payload', '{}'::json) AS payload,
    r.result,
    r.error,
    r.failure_kind,
    r.backfill_id,
    r.lane,
    r.released_at,
    r.released_by,
    r.concurrency_key,
    r.applied_override
FROM tickbird.runs AS r
LEFT JOIN tickbird.schedule_ids AS i ON i.id = r.schedule_id
LEFT JOIN tickbird.run_payloads AS p ON p.run_id = r.id
LEFT JOIN tickbird.revisions AS v ON v.schedule_id = r.schedule_id AND v.revision = r.revision;

-- A schedule with its cursor. Internal: next_run_at, planned_until, paused_until, skip_until and edited_at are bigint epoch
-- seconds, unlike those of the tables.
CREATE VIEW tickbird.schedule_details AS
SELECT
    s.id,
    s.namespace,
    s.name,
    s.app,
    s.definition,
    s.revision,
    s.fingerprint,
    s.field_overrides,
    s.paused_by,
    s.pause_note,
    -- infinity, which plain SQL may write, means: until it is resumed.
    CASE WHEN s.paused_until <> 'infinity' THEN tickbird.epoch_seconds(s.paused_until) END AS paused_until,
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
FROM tickbird.schedules AS s
JOIN tickbird.cursors AS c ON c.schedule_id = s.id;
