-- min_compatible: 1
-- Instants are timestamptz. Rows that change with every tick are narrow: `cursors` and `runs`.

CREATE SCHEMA IF NOT EXISTS tickbird;

-- About the store itself. `schema_generation`: versions of the schema are comparable only within one generation.
-- `incarnation`: a random number that is replaced when a copy is accepted. Every lease has the incarnation that it was
-- given under, so a worker of the original cannot finish a run that the copy has leased since.
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

-- Zone rules that the store goes by, or went by.
CREATE TABLE tickbird.zone_data (
    generation integer PRIMARY KEY,
    version text NOT NULL,
    digest text NOT NULL,
    adopted_at timestamptz NOT NULL,
    adopted_by text NOT NULL,
    -- When every cursor had been computed anew.
    recomputed_at timestamptz
);

-- Schedules

-- The id of a schedule stands for its name, and for no other one ever: a schedule that is created once more, or that no
-- row defines, has the runs that its name has, so that none of its ticks runs twice.
CREATE TABLE tickbird.schedule_ids (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    namespace text NOT NULL,
    name text NOT NULL,
    UNIQUE (namespace, name)
);

CREATE TABLE tickbird.schedules (
    -- Given by a trigger, from schedule_ids.
    id bigint PRIMARY KEY REFERENCES tickbird.schedule_ids (id),
    namespace text NOT NULL DEFAULT 'default',
    name text NOT NULL,
    app text,
    definition jsonb NOT NULL,
    revision integer NOT NULL DEFAULT 1,
    fingerprint text,
    field_overrides jsonb NOT NULL DEFAULT '{}',
    paused_by text,
    pause_note text,
    paused_until timestamptz,
    error text,
    created_at timestamptz NOT NULL DEFAULT now(),
    changed_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (namespace, name)
);
CREATE INDEX schedules_app_idx ON tickbird.schedules (namespace, app) WHERE app IS NOT NULL;
-- Only schedules that name a calendar, or depend on others, are in these.
CREATE INDEX schedules_calendars_idx ON tickbird.schedules (namespace, name) WHERE definition ? 'calendars';
CREATE INDEX schedules_depends_on_idx ON tickbird.schedules (namespace, name) WHERE definition ? 'depends_on';

-- The row that planning locks and writes with every tick. It writes `schedules` only where a pause ends, or where it parks a
-- schedule or is refused.
CREATE TABLE tickbird.cursors (
    schedule_id bigint PRIMARY KEY REFERENCES tickbird.schedules (id),
    revision integer NOT NULL,
    -- The format of the definition: planners that do not know it leave the schedule to others.
    format integer NOT NULL,
    -- By which generation of zone rules it was computed; null: all is in UTC.
    zone_generation integer,
    state text NOT NULL DEFAULT 'active'
        CONSTRAINT cursors_state_check CHECK (state IN ('active', 'paused', 'parked', 'ended', 'deleted')),
    next_run_at timestamptz,
    planned_until timestamptz,
    runs_planned integer NOT NULL DEFAULT 0,
    -- Minutes since the epoch, up to which its newest runs are deferred in their queue.
    deferred_until_minute integer NOT NULL DEFAULT 0,
    last_skip_id bigint,
    skip_until timestamptz,
    skip_by text,
    skip_note text NOT NULL DEFAULT '',
    -- Ticks that a person skipped or moved, in their order; null where there are none.
    tick_overrides json,
    -- Set while an edit by plain SQL awaits the planner: the revision before it, and when it was made.
    prior_revision integer,
    edited_at timestamptz,
    -- When the database last refused to plan it.
    refused_at timestamptz
) WITH (
    fillfactor = 80,
    autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_vacuum_threshold = 500,
    autovacuum_analyze_scale_factor = 0.1,
    autovacuum_vacuum_cost_delay = 0
);
-- The id makes the order total, so that the oldest half and the newest half of what is due do not meet too early.
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

-- What schedules are looked for by, without reading every definition.
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

-- Runs and skips share one sequence, so that a batch takes all of its ids with one statement.
CREATE SEQUENCE tickbird.ledger_id_seq AS bigint;

CREATE TABLE tickbird.runs (
    id bigint PRIMARY KEY DEFAULT nextval('tickbird.ledger_id_seq'),
    schedule_id bigint,
    scheduled_for timestamptz,
    due_at timestamptz NOT NULL,
    available_at timestamptz NOT NULL,
    lease_until timestamptz,
    created_at timestamptz NOT NULL,
    started_at timestamptz,
    finished_at timestamptz,
    start_by timestamptz,
    covers_first timestamptz,
    covers_last timestamptz,
    cancel_requested_at timestamptz,
    released_at timestamptz,
    retry_of bigint,
    backfill_id bigint,
    -- The transaction that inserted it, which may be a caller's long one; null for runs that the store itself inserts.
    created_xid bigint,
    revision integer,
    priority integer NOT NULL,
    attempt integer NOT NULL DEFAULT 0,
    -- Of the store that leased it last: with the attempt, the fencing token of the lease.
    incarnation integer,
    failures integer NOT NULL DEFAULT 0,
    crashes integer NOT NULL DEFAULT 0,
    crash_limit integer NOT NULL,
    covers_count integer,
    -- Minutes since the epoch, up to which others of its queue may pass it.
    deferred_until_minute integer NOT NULL DEFAULT 0,
    -- Where it waits: for another schedule (-1), in line (0), aside as part of a backfill (1), until released (2).
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
    -- json, not jsonb: it is only stored and given back, and may hold what jsonb refuses.
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
-- At most one run per tick, whatever else goes wrong.
CREATE UNIQUE INDEX runs_tick_key ON tickbird.runs (schedule_id, scheduled_for)
    WHERE origin IN ('schedule', 'catch_up', 'backfill');
CREATE UNIQUE INDEX runs_idempotency_key_key ON tickbird.runs (namespace, idempotency_key) WHERE idempotency_key IS NOT NULL;
-- In the order in which claims read it: by queue, task, scheduled or not, and priority. Within these, deferred runs come
-- last.
CREATE INDEX runs_queued_idx ON tickbird.runs (
    namespace, queue, target, (((schedule_id IS NULL))::integer), priority, deferred_until_minute, available_at, id
) WHERE status = 'queued';
CREATE INDEX runs_deferred_idx ON tickbird.runs (deferred_until_minute)
    WHERE status = 'queued' AND deferred_until_minute > 0;
CREATE INDEX runs_lease_until_idx ON tickbird.runs (lease_until) WHERE status = 'running';
-- Active runs. Told by their end, not by their status: else this index would tempt whoever looks for queued ones.
CREATE INDEX runs_active_idx ON tickbird.runs (schedule_id, lane) WHERE finished_at IS NULL AND schedule_id IS NOT NULL;
CREATE INDEX runs_waiting_idx ON tickbird.runs (schedule_id, lane, id) WHERE status = 'waiting';
CREATE INDEX runs_dependency_waits_idx ON tickbird.runs (id) WHERE status = 'waiting' AND lane = -1;
CREATE INDEX runs_start_by_idx ON tickbird.runs (start_by)
    WHERE status IN ('waiting', 'queued') AND start_by IS NOT NULL;
CREATE INDEX runs_schedule_id_idx ON tickbird.runs (schedule_id, id DESC) WHERE schedule_id IS NOT NULL;
CREATE INDEX runs_backfill_id_idx ON tickbird.runs (backfill_id, lane, id) WHERE backfill_id IS NOT NULL;
-- Of a concurrency key: who has a slot, and who waits for one.
CREATE INDEX runs_concurrency_slots_idx ON tickbird.runs (namespace, concurrency_key)
    WHERE concurrency_key IS NOT NULL AND status IN ('queued', 'running');
CREATE INDEX runs_concurrency_waits_idx ON tickbird.runs (namespace, concurrency_key, schedule_id, priority DESC, id)
    WHERE concurrency_key IS NOT NULL AND status = 'waiting';
CREATE INDEX runs_finished_at_idx ON tickbird.runs (finished_at, id) WHERE status IN ('succeeded', 'failed', 'cancelled');

-- Only of runs whose payload is their own and not their revision's.
CREATE TABLE tickbird.run_payloads (
    run_id bigint PRIMARY KEY,
    payload json NOT NULL
);

-- Only of attempts that did not end their run well.
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

-- What runs said.
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

-- Up to where runs of a schedule may have been pruned.
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

-- Of schedules that others depend on, and only of those: when a run of theirs last succeeded.
CREATE TABLE tickbird.last_successes (
    schedule_id bigint PRIMARY KEY,
    succeeded_at timestamptz
) WITH (fillfactor = 50);

-- What waiting runs wait for: that a schedule succeeds between two instants. They stand in lane -1 until then.
CREATE TABLE tickbird.dependency_waits (
    run_id bigint NOT NULL,
    schedule_id bigint NOT NULL,
    earliest_at timestamptz NOT NULL,
    deadline_at timestamptz NOT NULL,
    PRIMARY KEY (run_id, schedule_id)
);
CREATE INDEX dependency_waits_schedule_id_idx ON tickbird.dependency_waits (schedule_id);
CREATE INDEX dependency_waits_deadline_at_idx ON tickbird.dependency_waits (deadline_at);

-- When other systems really ran what a schedule in shadow mode is to do.
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
    -- Pairs of an instant and how many runs began then.
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

-- What requests with an idempotency key were answered.
CREATE TABLE tickbird.http_responses (
    namespace text NOT NULL,
    -- The caller's, behind the id of its token.
    idempotency_key text NOT NULL,
    -- A digest of what was asked.
    request_digest text NOT NULL,
    started_at timestamptz NOT NULL,
    -- None of these while somebody is at it.
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

-- The format of a definition; what is not a small number is 0, which every planner looks at and parks.
CREATE FUNCTION tickbird.definition_format(definition jsonb) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN definition ->> 'v' ~ '^[0-9]{1,9}$' THEN (definition ->> 'v')::integer ELSE 0 END;

-- Of which generation of zone rules a cursor is that is computed by the store's newest; null where all is in UTC.
CREATE FUNCTION tickbird.newest_zone_generation(definition jsonb) RETURNS integer
LANGUAGE sql STABLE
RETURN CASE
    WHEN jsonb_path_exists(definition, 'strict $.trigger.**.tz ? (@ != "UTC")', silent => true)
        THEN coalesce((SELECT max(generation) FROM tickbird.zone_data), 0)
END;

CREATE FUNCTION tickbird.assign_schedule_id() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        -- A conflict that is only looked at would not be seen while another transaction has just made the row.
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

-- A plain INSERT defines a schedule: its cursor has no next_run_at, so the planner gives it one and does not fire.
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

-- A plain UPDATE of the definition is an edit: the planner first decides what was due until now as it stood before.
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

-- Name, target and tags in small letters, each between two line ends. What is no proper definition has its name alone.
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

-- Those of these schedules whose successes are noted. Volatile, so that it looks once more, after the locks that the
-- statement which asks has waited for: a schedule that others begin to depend on just now must not be missed.
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

-- A schedule with its cursor, whose instants are whole seconds since the epoch.
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
    -- Until infinity is until somebody resumes it.
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
