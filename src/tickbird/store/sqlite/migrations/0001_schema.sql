-- min_compatible: 1
-- Instants are microseconds since the epoch, in UTC.

-- About the store itself. `identity`: which database it is. `schema_generation`: versions of the schema are comparable only
-- within one generation. `incarnation`: a random number that is replaced when a copy is accepted. Every lease has the
-- incarnation that it was given under, so a worker of the original cannot finish a run that the copy has leased since.
CREATE TABLE meta (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO meta (key, value) VALUES ('schema_generation', '1'), ('incarnation', abs(random() % 2147483646) + 1);

CREATE TABLE migrations (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    checksum TEXT NOT NULL,
    applied_at INTEGER NOT NULL
) STRICT;

-- run_id and skip_id: the last id that was given out. wakeups and heartbeat_requests: how often other processes were asked to
-- wake up, or to send a heartbeat at once; they poll both.
CREATE TABLE counters (
    name TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO counters (name, value) VALUES ('run_id', 0), ('skip_id', 0), ('wakeups', 0), ('heartbeat_requests', 0);

-- Versions of the tz database that the store has used, newest generation last. Planners with an older generation do not
-- plan schedules outside of UTC.
CREATE TABLE zone_data (
    generation INTEGER PRIMARY KEY,
    version TEXT NOT NULL,
    digest TEXT NOT NULL,
    adopted_at INTEGER NOT NULL,
    adopted_by TEXT NOT NULL,
    -- When the last cursor had been recomputed with this zone data; null while recomputation is under way.
    recomputed_at INTEGER
) STRICT;

-- Schedules

-- One id per namespace and name, never reused. A schedule that is deleted and created again has the same id, so the unique
-- key of its ticks still holds.
CREATE TABLE schedule_ids (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    namespace TEXT NOT NULL,
    name TEXT NOT NULL,
    UNIQUE (namespace, name)
) STRICT;

-- A deleted schedule keeps its row, so that a schedule of the same name continues from its revision and cursor.
CREATE TABLE schedules (
    -- Set by a trigger from schedule_ids.
    id INTEGER PRIMARY KEY REFERENCES schedule_ids (id),
    namespace TEXT NOT NULL DEFAULT 'default',
    name TEXT NOT NULL,
    app TEXT,
    definition TEXT NOT NULL CHECK (json_valid(definition)),
    revision INTEGER NOT NULL DEFAULT 1,
    -- Of the definition that code declares; null if no code declares the schedule.
    fingerprint TEXT,
    field_overrides TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(field_overrides)),
    paused_by TEXT,
    pause_note TEXT,
    paused_until INTEGER,
    -- Why the schedule is parked, or why the database refused its last plan.
    error TEXT,
    created_at INTEGER NOT NULL DEFAULT (
        CAST(strftime('%s', 'now') AS INTEGER) * 1000000 + CAST(substr(strftime('%f', 'now'), 4) AS INTEGER) * 1000
    ),
    changed_at INTEGER NOT NULL DEFAULT (
        CAST(strftime('%s', 'now') AS INTEGER) * 1000000 + CAST(substr(strftime('%f', 'now'), 4) AS INTEGER) * 1000
    ),
    UNIQUE (namespace, name)
) STRICT;
CREATE INDEX schedules_app_idx ON schedules (namespace, app) WHERE app IS NOT NULL;
-- Partial indexes: few schedules have calendars or dependencies.
CREATE INDEX schedules_calendars_idx ON schedules (namespace, name)
    WHERE json_type(definition, '$.calendars') = 'array';
CREATE INDEX schedules_depends_on_idx ON schedules (namespace, name)
    WHERE json_type(definition, '$.depends_on') = 'array';
CREATE INDEX schedules_prunable_revisions_idx ON schedules (id) WHERE revision > 100;

-- The narrow row that planning updates for each tick. Planning updates schedules only if a pause ends, or if it parks the
-- schedule or stores a refusal.
CREATE TABLE cursors (
    schedule_id INTEGER PRIMARY KEY REFERENCES schedules (id),
    revision INTEGER NOT NULL,
    -- The format version of the definition. A planner ignores schedules of a newer format than it knows.
    format INTEGER NOT NULL,
    -- The generation of zone data that next_run_at was computed with; null if the schedule uses UTC only.
    zone_generation INTEGER,
    state TEXT NOT NULL DEFAULT 'active'
        CONSTRAINT cursors_state_check CHECK (state IN ('active', 'paused', 'parked', 'ended', 'deleted')),
    -- The next planner pass: the due_at of the next tick, the end of a pause, or now after a plain-SQL edit. Null: never
    -- planned, or nothing to plan.
    next_run_at INTEGER,
    -- The last instant whose ticks are decided. It grows; only a change of the grid, or resuming a parked schedule, moves it
    -- back, to the instant of the change: later ticks that are decided are then kept in tick_overrides.
    planned_until INTEGER,
    runs_planned INTEGER NOT NULL DEFAULT 0,
    -- The minute of the schedule's last deferred run; the next run of a burst is deferred to the minute after it.
    deferred_until_minute INTEGER NOT NULL DEFAULT 0,
    last_skip_id INTEGER,
    skip_until INTEGER,
    skip_by TEXT,
    skip_note TEXT NOT NULL DEFAULT '',
    -- Overrides of single pending ticks, in tick order; null if there are none.
    tick_overrides TEXT,
    -- Set by the trigger of a plain-SQL edit until the planner has seen it: the revision before the edit, and its instant.
    prior_revision INTEGER,
    edited_at INTEGER,
    -- When the database last refused a plan of this schedule; the error is in schedules.error. Null after the next
    -- successful plan.
    refused_at INTEGER
) STRICT;
CREATE INDEX cursors_next_run_at_idx ON cursors (next_run_at) WHERE next_run_at IS NOT NULL;
CREATE INDEX cursors_unplanned_idx ON cursors (schedule_id) WHERE next_run_at IS NULL AND state = 'active';
CREATE INDEX cursors_inactive_idx ON cursors (state, schedule_id) WHERE state <> 'active';
CREATE INDEX cursors_last_skip_id_idx ON cursors (last_skip_id) WHERE last_skip_id IS NOT NULL;

CREATE TABLE revisions (
    schedule_id INTEGER NOT NULL REFERENCES schedules (id),
    revision INTEGER NOT NULL,
    definition TEXT NOT NULL,
    fingerprint TEXT,
    action TEXT NOT NULL,
    actor TEXT NOT NULL,
    detail TEXT NOT NULL DEFAULT '{}',
    created_at INTEGER NOT NULL,
    PRIMARY KEY (schedule_id, revision)
) STRICT, WITHOUT ROWID;

-- The searchable columns of schedules in a narrow table, so that a search does not read definitions. Filled by triggers.
CREATE TABLE schedule_search (
    namespace TEXT NOT NULL,
    name TEXT NOT NULL,
    schedule_id INTEGER NOT NULL REFERENCES schedules (id) ON DELETE CASCADE,
    app TEXT,
    queue TEXT NOT NULL,
    search_text TEXT NOT NULL,
    PRIMARY KEY (namespace, name)
) STRICT, WITHOUT ROWID;

-- Runs and skips

CREATE TABLE runs (
    id INTEGER PRIMARY KEY,
    namespace TEXT NOT NULL,
    schedule_id INTEGER,
    revision INTEGER,
    target_kind TEXT NOT NULL,
    target TEXT NOT NULL,
    queue TEXT NOT NULL,
    priority INTEGER NOT NULL,
    status TEXT NOT NULL
        CONSTRAINT runs_status_check CHECK (status IN ('waiting', 'queued', 'running', 'succeeded', 'failed', 'cancelled')),
    origin TEXT NOT NULL,
    scheduled_for INTEGER,
    -- due_at: the tick plus spread, or as rescheduled. available_at: not claimed before; later than due_at for a retry or a
    -- released run.
    due_at INTEGER NOT NULL,
    available_at INTEGER NOT NULL,
    start_by INTEGER,
    -- For a catch-up run: the range and the number of ticks that it stands for.
    covers_first INTEGER,
    covers_last INTEGER,
    covers_count INTEGER,
    attempt INTEGER NOT NULL DEFAULT 0,
    -- The store's incarnation when the run was leased. With the attempt, it is the fencing token of the lease.
    incarnation INTEGER,
    failures INTEGER NOT NULL DEFAULT 0,
    crashes INTEGER NOT NULL DEFAULT 0,
    -- A run fails when it has lost more workers than this; copied from the definition.
    crash_limit INTEGER NOT NULL,
    -- Where a waiting run waits: -1 for a dependency, 0 for a slot or another run, 1 for its turn in a backfill, 2 until an
    -- operator releases it (a held run). 0 in every other status. Free slots go to lane 0 first, then to lane 1.
    lane INTEGER NOT NULL DEFAULT 0,
    -- Minutes since the epoch. Until then, other runs of the queue are claimed first, so that a burst of one schedule does
    -- not starve them; 0: not deferred.
    deferred_until_minute INTEGER NOT NULL DEFAULT 0,
    concurrency_key TEXT,
    idempotency_key TEXT,
    backfill_id INTEGER,
    retry_of INTEGER,
    lease_until INTEGER,
    worker TEXT,
    created_at INTEGER NOT NULL,
    started_at INTEGER,
    finished_at INTEGER,
    actor TEXT,
    reason TEXT,
    cancel_requested_at INTEGER,
    cancel_requested_by TEXT,
    released_at INTEGER,
    released_by TEXT,
    applied_override TEXT,
    result TEXT,
    error TEXT,
    failure_kind TEXT,
    CONSTRAINT runs_finished_at_check CHECK ((finished_at IS NULL) = (status IN ('waiting', 'queued', 'running'))),
    CONSTRAINT runs_tick_check CHECK (
        origin NOT IN ('schedule', 'catch_up', 'backfill')
        OR (schedule_id IS NOT NULL AND scheduled_for IS NOT NULL AND revision IS NOT NULL)
    ),
    CONSTRAINT runs_lease_until_check CHECK ((status = 'running') = (lease_until IS NOT NULL)),
    CONSTRAINT runs_lane_check CHECK (lane BETWEEN -1 AND 2 AND (lane = 0 OR status = 'waiting')),
    CONSTRAINT runs_covers_check CHECK (
        (covers_first IS NULL) = (covers_last IS NULL) AND (covers_first IS NULL) = (covers_count IS NULL)
    ),
    CONSTRAINT runs_failure_kind_check CHECK (failure_kind IN ('raised', 'timeout', 'lost', 'reported'))
) STRICT;
-- Promise I1: at most one run per tick.
CREATE UNIQUE INDEX runs_tick_key ON runs (schedule_id, scheduled_for)
    WHERE origin IN ('schedule', 'catch_up', 'backfill');
CREATE UNIQUE INDEX runs_idempotency_key_key ON runs (namespace, idempotency_key) WHERE idempotency_key IS NOT NULL;
-- In the order of claims. A claim jumps from one (queue, target, scheduled or ad hoc, priority) to the next; within each,
-- deferred runs come last.
CREATE INDEX runs_queued_idx ON runs (
    namespace, queue, target, schedule_id IS NULL, priority, deferred_until_minute, available_at, id
) WHERE status = 'queued';
CREATE INDEX runs_deferred_idx ON runs (deferred_until_minute) WHERE status = 'queued' AND deferred_until_minute > 0;
CREATE INDEX runs_lease_until_idx ON runs (lease_until) WHERE status = 'running';
CREATE INDEX runs_active_idx ON runs (schedule_id, lane, status, id, origin)
    WHERE status IN ('waiting', 'queued', 'running');
CREATE INDEX runs_waiting_idx ON runs (schedule_id, lane, id) WHERE status = 'waiting';
CREATE INDEX runs_start_by_idx ON runs (start_by) WHERE start_by IS NOT NULL AND status IN ('waiting', 'queued');
CREATE INDEX runs_namespace_idx ON runs (namespace, id);
CREATE INDEX runs_schedule_id_idx ON runs (schedule_id, id);
CREATE INDEX runs_backfill_id_idx ON runs (backfill_id, lane, id) WHERE backfill_id IS NOT NULL;
CREATE INDEX runs_concurrency_key_idx ON runs (namespace, concurrency_key, status, schedule_id)
    WHERE concurrency_key IS NOT NULL AND finished_at IS NULL;
CREATE INDEX runs_covers_last_idx ON runs (schedule_id, covers_last) WHERE covers_last IS NOT NULL;
CREATE INDEX runs_retries_idx ON runs (schedule_id, revision) WHERE retry_of IS NOT NULL;
CREATE INDEX runs_finished_at_idx ON runs (finished_at) WHERE finished_at IS NOT NULL;
CREATE INDEX runs_namespace_finished_at_idx ON runs (namespace, finished_at, id) WHERE finished_at IS NOT NULL;
CREATE INDEX runs_unsuccessful_idx ON runs (namespace, status, id) WHERE status IN ('failed', 'cancelled');
CREATE INDEX runs_schedule_unsuccessful_idx ON runs (schedule_id, status, id) WHERE status IN ('failed', 'cancelled');

-- Payloads that differ from the definition's.
CREATE TABLE run_payloads (
    run_id INTEGER PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
    payload TEXT NOT NULL
) STRICT;

-- Attempts that did not succeed. A successful attempt is in runs itself.
CREATE TABLE attempts (
    run_id INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    attempt INTEGER NOT NULL,
    worker TEXT,
    started_at INTEGER,
    ended_at INTEGER NOT NULL,
    outcome TEXT NOT NULL
        CONSTRAINT attempts_outcome_check CHECK (outcome IN ('retried', 'drained', 'failed', 'cancelled', 'lost')),
    error TEXT,
    PRIMARY KEY (run_id, attempt)
) STRICT, WITHOUT ROWID;
CREATE INDEX attempts_ended_at_idx ON attempts (ended_at);

-- Log lines of attempts.
CREATE TABLE run_logs (
    run_id INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    attempt INTEGER NOT NULL,
    number INTEGER NOT NULL,
    logged_at INTEGER NOT NULL,
    level INTEGER NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (run_id, attempt, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE run_progress (
    run_id INTEGER PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
    attempt INTEGER NOT NULL,
    reported_at INTEGER NOT NULL,
    value TEXT
) STRICT;

CREATE TABLE skips (
    id INTEGER PRIMARY KEY,
    schedule_id INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    reason TEXT NOT NULL,
    first_at INTEGER NOT NULL,
    last_at INTEGER NOT NULL,
    count INTEGER NOT NULL,
    run_id INTEGER,
    actor TEXT,
    note TEXT NOT NULL DEFAULT '',
    decided_at INTEGER NOT NULL,
    CONSTRAINT skips_range_check CHECK (first_at <= last_at AND count > 0)
) STRICT;
CREATE INDEX skips_schedule_id_idx ON skips (schedule_id, last_at);
CREATE INDEX skips_decided_at_idx ON skips (decided_at);

-- Up to this tick, runs and skips may have been pruned, so a tick without a run is not proof that it never ran. Backfills
-- start after it.
CREATE TABLE prune_horizons (
    schedule_id INTEGER PRIMARY KEY,
    pruned_until INTEGER NOT NULL
) STRICT;

CREATE TABLE backfills (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    namespace TEXT NOT NULL,
    schedule_id INTEGER NOT NULL REFERENCES schedule_ids (id),
    revision INTEGER NOT NULL,
    first_at INTEGER NOT NULL,
    last_at INTEGER NOT NULL,
    total INTEGER NOT NULL,
    newest_first INTEGER NOT NULL,
    concurrency INTEGER NOT NULL,
    payload TEXT,
    actor TEXT NOT NULL,
    note TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    cancelled_at INTEGER,
    cancelled_by TEXT,
    CONSTRAINT backfills_range_check CHECK (first_at <= last_at AND total > 0 AND concurrency > 0)
) STRICT;
CREATE INDEX backfills_namespace_idx ON backfills (namespace, id);
CREATE INDEX backfills_schedule_id_idx ON backfills (schedule_id, id);

-- When a schedule last succeeded; only for schedules that others depend on. succeeded_at is null if it never has.
CREATE TABLE last_successes (
    schedule_id INTEGER PRIMARY KEY,
    succeeded_at INTEGER
) STRICT;

-- One row for each schedule that a waiting run (lane -1) waits for. A success from earliest_at to deadline_at deletes the
-- row; the run leaves lane -1 when its last row is deleted, and is cancelled when a deadline_at has passed.
CREATE TABLE dependency_waits (
    run_id INTEGER NOT NULL,
    schedule_id INTEGER NOT NULL,
    earliest_at INTEGER NOT NULL,
    deadline_at INTEGER NOT NULL,
    PRIMARY KEY (run_id, schedule_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX dependency_waits_schedule_id_idx ON dependency_waits (schedule_id);
CREATE INDEX dependency_waits_deadline_at_idx ON dependency_waits (deadline_at);

-- When the old scheduler ran the job of a shadow schedule.
CREATE TABLE pings (
    schedule_id INTEGER NOT NULL,
    pinged_at INTEGER NOT NULL,
    PRIMARY KEY (schedule_id, pinged_at)
) STRICT, WITHOUT ROWID;
CREATE INDEX pings_pinged_at_idx ON pings (pinged_at);

-- Limits and calendars

CREATE TABLE concurrency_limits (
    namespace TEXT NOT NULL,
    key TEXT NOT NULL,
    max_running INTEGER NOT NULL CONSTRAINT concurrency_limits_max_running_check CHECK (max_running > 0),
    PRIMARY KEY (namespace, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE queue_rates (
    namespace TEXT NOT NULL,
    queue TEXT NOT NULL,
    count INTEGER NOT NULL CONSTRAINT queue_rates_count_check CHECK (count > 0),
    seconds INTEGER NOT NULL CONSTRAINT queue_rates_seconds_check CHECK (seconds > 0),
    -- [[microseconds since the epoch, number of runs started], …] within the last period, oldest first.
    starts TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(starts)),
    PRIMARY KEY (namespace, queue)
) STRICT, WITHOUT ROWID;

CREATE TABLE calendars (
    namespace TEXT NOT NULL,
    name TEXT NOT NULL,
    definition TEXT NOT NULL,
    closed TEXT NOT NULL,
    source TEXT NOT NULL,
    revision INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    changed_at INTEGER NOT NULL,
    changed_by TEXT NOT NULL,
    PRIMARY KEY (namespace, name)
) STRICT, WITHOUT ROWID;

-- Workers, people and what they did

CREATE TABLE workers (
    id TEXT PRIMARY KEY,
    namespace TEXT NOT NULL,
    app TEXT NOT NULL,
    kind TEXT NOT NULL CONSTRAINT workers_kind_check CHECK (kind IN ('worker', 'planner', 'executor', 'sync')),
    host TEXT NOT NULL,
    pid INTEGER NOT NULL,
    version TEXT NOT NULL,
    queues TEXT NOT NULL,
    slots INTEGER NOT NULL,
    tasks TEXT NOT NULL,
    -- Name → fingerprint of the schedules that the code of this worker declares.
    declared TEXT NOT NULL,
    draining INTEGER NOT NULL,
    started_at INTEGER NOT NULL,
    last_heartbeat_at INTEGER NOT NULL,
    live_until INTEGER NOT NULL,
    standby_reason TEXT NOT NULL DEFAULT '',
    health TEXT NOT NULL DEFAULT '{}',
    drain_requested_at INTEGER,
    drain_requested_by TEXT
) STRICT, WITHOUT ROWID;

CREATE TABLE tokens (
    id TEXT NOT NULL PRIMARY KEY,
    digest TEXT NOT NULL,
    name TEXT NOT NULL,
    role TEXT NOT NULL CONSTRAINT tokens_role_check CHECK (role IN ('viewer', 'operator', 'editor', 'admin')),
    -- A JSON array of names.
    namespaces TEXT,
    created_at INTEGER NOT NULL,
    created_by TEXT NOT NULL,
    expires_at INTEGER,
    revoked_at INTEGER,
    revoked_by TEXT,
    last_used_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE sessions (
    id TEXT NOT NULL PRIMARY KEY,
    digest TEXT NOT NULL,
    token_id TEXT NOT NULL REFERENCES tokens (id),
    -- The User-Agent header; any client may send any text.
    user_agent TEXT NOT NULL,
    opened_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    closed_at INTEGER,
    closed_by TEXT,
    last_used_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX sessions_open_idx ON sessions (token_id, expires_at) WHERE closed_at IS NULL;
CREATE INDEX sessions_ended_at_idx ON sessions (coalesce(closed_at, expires_at));

-- Responses to requests with an idempotency key, kept for a day, so that a repeated request acts once.
CREATE TABLE http_responses (
    namespace TEXT NOT NULL,
    -- Of the API: the id of the caller's token, a colon, and the caller's key. Of a form of the dashboard: web, the id of
    -- the token and a digest of the form, with colons between.
    idempotency_key TEXT NOT NULL,
    -- Of the API: SHA-256 of path, query, If-Match header and body. Of a form: the name of its action. The same key with
    -- another request is refused.
    request_digest TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    -- Null until the request is finished.
    status INTEGER,
    headers TEXT,
    body TEXT,
    PRIMARY KEY (namespace, idempotency_key)
) STRICT, WITHOUT ROWID;
CREATE INDEX http_responses_started_at_idx ON http_responses (started_at);

CREATE TABLE audit_log (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    created_at INTEGER NOT NULL,
    actor TEXT NOT NULL,
    action TEXT NOT NULL,
    namespace TEXT NOT NULL,
    schedule_id INTEGER,
    schedule TEXT,
    run_id INTEGER,
    detail TEXT NOT NULL
) STRICT;
CREATE INDEX audit_log_namespace_idx ON audit_log (namespace, id);
CREATE INDEX audit_log_schedule_id_idx ON audit_log (schedule_id, id) WHERE schedule_id IS NOT NULL;
CREATE INDEX audit_log_created_at_idx ON audit_log (created_at);

-- Views

-- A run with its schedule's name and its payload.
CREATE VIEW run_details AS
SELECT
    r.id,
    r.namespace,
    r.schedule_id,
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
    r.started_at,
    r.finished_at,
    r.lease_until,
    r.worker,
    r.retry_of,
    r.actor,
    r.reason,
    r.cancel_requested_at,
    r.cancel_requested_by,
    r.result,
    r.error,
    r.failure_kind,
    i.name AS schedule,
    coalesce(p.payload, iif(json_valid(v.definition), json_extract(v.definition, '$.payload'), NULL), '{}') AS payload,
    r.backfill_id,
    r.lane,
    r.released_at,
    r.released_by,
    r.concurrency_key,
    r.applied_override,
    -- Lateness and duration count from the first attempt.
    CASE
        WHEN r.attempt > 1
            THEN coalesce((SELECT min(a.started_at) FROM attempts AS a WHERE a.run_id = r.id), r.started_at)
        ELSE r.started_at
    END AS first_started_at
FROM runs AS r
LEFT JOIN schedule_ids AS i ON i.id = r.schedule_id
LEFT JOIN revisions AS v ON v.schedule_id = r.schedule_id AND v.revision = r.revision
LEFT JOIN run_payloads AS p ON p.run_id = r.id;

-- A schedule with its cursor.
CREATE VIEW schedule_details AS
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
    s.paused_until,
    s.error,
    s.created_at,
    s.changed_at,
    c.state,
    c.format,
    c.next_run_at,
    c.planned_until,
    c.runs_planned,
    c.skip_until,
    c.skip_by,
    c.skip_note,
    c.last_skip_id,
    c.prior_revision,
    c.edited_at,
    c.tick_overrides
FROM schedules AS s
JOIN cursors AS c ON c.schedule_id = s.id;

-- Name, target and tags, each between two newlines, so that a tag matches as a whole. An invalid definition gives the name
-- only.
CREATE VIEW schedule_search_rows AS
SELECT
    s.namespace,
    s.name,
    s.id AS schedule_id,
    s.app,
    coalesce(CAST(json_extract(s.definition, '$.queue') AS TEXT), 'default') AS queue,
    char(10) || s.name || char(10)
        || coalesce(
            coalesce(
                CAST(json_extract(s.definition, '$.target.task') AS TEXT),
                CAST(json_extract(s.definition, '$.target.command.program') AS TEXT)
            ) || char(10),
            ''
        )
        || coalesce(
            (
                SELECT group_concat(t.value || char(10), '')
                FROM json_each(s.definition, '$.tags') AS t
                WHERE json_type(s.definition, '$.tags') = 'array'
            ),
            ''
        ) AS search_text
FROM schedules AS s;

-- Schedules by plain SQL

-- A plain INSERT defines a schedule. Its cursor has no next_run_at, so the first planner pass computes one and creates no
-- run. Whatever id the row was inserted with, it gets that of its name.
CREATE TRIGGER schedules_create_cursor AFTER INSERT ON schedules
BEGIN
    -- Not INSERT OR IGNORE: an outer INSERT OR REPLACE overrides the conflict clause of a trigger.
    INSERT INTO schedule_ids (namespace, name)
    SELECT NEW.namespace, NEW.name
    WHERE NOT EXISTS (SELECT 1 FROM schedule_ids AS i WHERE i.namespace = NEW.namespace AND i.name = NEW.name);
    UPDATE schedules
    SET id = (SELECT i.id FROM schedule_ids AS i WHERE i.namespace = NEW.namespace AND i.name = NEW.name)
    WHERE namespace = NEW.namespace AND name = NEW.name;
    -- OR REPLACE leaves the revisions of the row that it deletes, and runs refer to them.
    UPDATE schedules
    SET revision = coalesce(
        (SELECT max(v.revision) + 1 FROM revisions AS v WHERE v.schedule_id = schedules.id), NEW.revision
    )
    WHERE namespace = NEW.namespace AND name = NEW.name;
    INSERT INTO cursors (schedule_id, revision, format)
    SELECT id, revision, iif(json_type(definition, '$.v') = 'integer', json_extract(definition, '$.v'), 0)
    FROM schedules
    WHERE namespace = NEW.namespace AND name = NEW.name;
    INSERT INTO revisions (schedule_id, revision, definition, fingerprint, action, actor, created_at)
    SELECT id, revision, definition, fingerprint, 'create', 'sql', created_at
    FROM schedules
    WHERE namespace = NEW.namespace AND name = NEW.name;
    INSERT OR REPLACE INTO schedule_search
    SELECT * FROM schedule_search_rows WHERE namespace = NEW.namespace AND name = NEW.name;
    UPDATE counters SET value = value + 1 WHERE name = 'wakeups';
END;

-- A plain UPDATE of the definition is an edit. The planner first decides the ticks that were due before it under the prior
-- revision.
CREATE TRIGGER schedules_record_edit AFTER UPDATE OF definition ON schedules
WHEN NEW.revision <= OLD.revision AND NEW.definition IS NOT OLD.definition
BEGIN
    UPDATE schedules
    SET revision = OLD.revision + 1,
        changed_at = CAST(strftime('%s', 'now') AS INTEGER) * 1000000
            + CAST(substr(strftime('%f', 'now'), 4) AS INTEGER) * 1000
    WHERE id = NEW.id;
    INSERT INTO revisions (schedule_id, revision, definition, fingerprint, action, actor, created_at)
    SELECT id, revision, definition, fingerprint, 'update', 'sql', changed_at FROM schedules WHERE id = NEW.id;
    UPDATE cursors
    SET prior_revision = coalesce(prior_revision, OLD.revision),
        revision = OLD.revision + 1,
        format = iif(json_type(NEW.definition, '$.v') = 'integer', json_extract(NEW.definition, '$.v'), 0),
        edited_at = (SELECT changed_at FROM schedules WHERE id = NEW.id),
        next_run_at = (SELECT changed_at FROM schedules WHERE id = NEW.id)
    WHERE schedule_id = NEW.id;
    UPDATE counters SET value = value + 1 WHERE name = 'wakeups';
END;

CREATE TRIGGER schedules_rename_id AFTER UPDATE OF namespace, name ON schedules
WHEN NEW.name <> OLD.name OR NEW.namespace <> OLD.namespace
BEGIN
    UPDATE schedule_ids SET namespace = NEW.namespace, name = NEW.name WHERE id = NEW.id;
END;

CREATE TRIGGER schedules_index_update AFTER UPDATE OF namespace, name, app, definition ON schedules
WHEN NEW.definition IS NOT OLD.definition OR NEW.app IS NOT OLD.app OR NEW.name <> OLD.name
    OR NEW.namespace <> OLD.namespace
BEGIN
    DELETE FROM schedule_search WHERE namespace = OLD.namespace AND name = OLD.name;
    INSERT OR REPLACE INTO schedule_search SELECT * FROM schedule_search_rows WHERE schedule_id = NEW.id;
END;

CREATE TRIGGER schedules_refuse_delete BEFORE DELETE ON schedules
BEGIN
    SELECT raise(ABORT, 'a schedule leaves a tombstone, so that its ticks never run again: use `tickbird rm`');
END;

-- A new cursor gets the newest generation of zone data; null if the schedule uses UTC only.
CREATE TRIGGER cursors_set_zone_generation_insert AFTER INSERT ON cursors
BEGIN
    UPDATE cursors
    SET zone_generation = (
        SELECT coalesce((SELECT max(generation) FROM zone_data), 0)
        FROM schedules AS s
        WHERE s.id = NEW.schedule_id
            AND EXISTS (SELECT 1 FROM json_tree(s.definition, '$.trigger') AS t WHERE t.key = 'tz' AND t.atom <> 'UTC')
    )
    WHERE schedule_id = NEW.schedule_id;
END;

CREATE TRIGGER cursors_set_zone_generation_update AFTER UPDATE OF format ON cursors
BEGIN
    UPDATE cursors
    SET zone_generation = (
        SELECT coalesce((SELECT max(generation) FROM zone_data), 0)
        FROM schedules AS s
        WHERE s.id = NEW.schedule_id
            AND EXISTS (SELECT 1 FROM json_tree(s.definition, '$.trigger') AS t WHERE t.key = 'tz' AND t.atom <> 'UTC')
    )
    WHERE schedule_id = NEW.schedule_id;
END;
