-- min_compatible: 1
-- Every instant is an INTEGER: microseconds since the epoch, also where it is always a whole second.

CREATE TABLE meta (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE migrations (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    checksum TEXT NOT NULL,
    applied_at INTEGER NOT NULL
) STRICT;

-- The last id given out of each kind, so that a plan can name its runs before they are written; `wake` only counts
-- how often work was made for others.
CREATE TABLE counters (
    name TEXT PRIMARY KEY,
    last INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

INSERT INTO counters (name, last) VALUES ('run', 0), ('skip', 0), ('wake', 0);

-- A deleted schedule leaves its row, so that its name goes on from its revision and cursor.
CREATE TABLE schedules (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    namespace TEXT NOT NULL DEFAULT 'default',
    name TEXT NOT NULL,
    app TEXT,
    definition TEXT NOT NULL CHECK (json_valid(definition)),
    revision INTEGER NOT NULL DEFAULT 1,
    fingerprint TEXT,
    overrides TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(overrides)),
    paused_by TEXT,
    pause_note TEXT,
    paused_until INTEGER,
    error TEXT,
    created_at INTEGER NOT NULL DEFAULT (
        CAST(strftime('%s', 'now') AS INTEGER) * 1000000 + CAST(substr(strftime('%f', 'now'), 4) AS INTEGER) * 1000
    ),
    changed_at INTEGER NOT NULL DEFAULT (
        CAST(strftime('%s', 'now') AS INTEGER) * 1000000 + CAST(substr(strftime('%f', 'now'), 4) AS INTEGER) * 1000
    ),
    UNIQUE (namespace, name)
) STRICT;

CREATE INDEX schedules_by_app ON schedules (namespace, app) WHERE app IS NOT NULL;

-- The only row of a schedule that planning writes.
CREATE TABLE cursors (
    schedule_id INTEGER PRIMARY KEY REFERENCES schedules (id),
    revision INTEGER NOT NULL,
    state TEXT NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'paused', 'parked', 'ended', 'deleted')),
    format INTEGER NOT NULL,
    next_run_at INTEGER,
    planned_until INTEGER,
    runs_planned INTEGER NOT NULL DEFAULT 0,
    moved_tick INTEGER,
    moved_due_at INTEGER,
    skip_until INTEGER,
    skip_by TEXT,
    skip_note TEXT NOT NULL DEFAULT '',
    last_skip_id INTEGER,
    -- Set while the planner has not yet seen an edit by plain SQL.
    prior_revision INTEGER,
    changed_at INTEGER
) STRICT;

CREATE INDEX cursors_due ON cursors (next_run_at) WHERE next_run_at IS NOT NULL;
CREATE INDEX cursors_new ON cursors (schedule_id) WHERE next_run_at IS NULL AND state = 'active';
-- Pruning must not take away the row that a skip may extend.
CREATE INDEX cursors_last_skip ON cursors (last_skip_id) WHERE last_skip_id IS NOT NULL;

CREATE TABLE revisions (
    schedule_id INTEGER NOT NULL REFERENCES schedules (id),
    revision INTEGER NOT NULL,
    definition TEXT NOT NULL,
    fingerprint TEXT,
    action TEXT NOT NULL,
    actor TEXT NOT NULL,
    detail TEXT NOT NULL DEFAULT '{}',
    at INTEGER NOT NULL,
    PRIMARY KEY (schedule_id, revision)
) STRICT, WITHOUT ROWID;

CREATE TABLE runs (
    id INTEGER PRIMARY KEY,
    namespace TEXT NOT NULL,
    schedule_id INTEGER,
    revision INTEGER,
    target_kind TEXT NOT NULL,
    target TEXT NOT NULL,
    queue TEXT NOT NULL,
    priority INTEGER NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('waiting', 'queued', 'running', 'succeeded', 'failed', 'cancelled')),
    origin TEXT NOT NULL,
    scheduled_for INTEGER,
    due_at INTEGER NOT NULL,
    available_at INTEGER NOT NULL,
    start_by INTEGER,
    covers_first INTEGER,
    covers_last INTEGER,
    covers_count INTEGER,
    attempt INTEGER NOT NULL DEFAULT 0,
    failures INTEGER NOT NULL DEFAULT 0,
    crashes INTEGER NOT NULL DEFAULT 0,
    crash_limit INTEGER NOT NULL,
    lease_until INTEGER,
    worker TEXT,
    created_at INTEGER NOT NULL,
    started_at INTEGER,
    finished_at INTEGER,
    retry_of INTEGER,
    actor TEXT,
    reason TEXT,
    cancel_requested_at INTEGER,
    cancel_requested_by TEXT,
    result TEXT,
    error TEXT,
    failure_kind TEXT
) STRICT;

CREATE UNIQUE INDEX runs_tick ON runs (schedule_id, scheduled_for)
    WHERE origin IN ('schedule', 'catch_up', 'backfill');
CREATE INDEX runs_queued ON runs (namespace, queue, priority, available_at, id, target) WHERE status = 'queued';
CREATE INDEX runs_running ON runs (lease_until) WHERE status = 'running';
CREATE INDEX runs_waiting ON runs (schedule_id, id) WHERE status = 'waiting';
CREATE INDEX runs_active ON runs (schedule_id, status, id, origin) WHERE status IN ('waiting', 'queued', 'running');
CREATE INDEX runs_start_by ON runs (start_by) WHERE start_by IS NOT NULL AND status IN ('waiting', 'queued');
CREATE INDEX runs_by_schedule ON runs (schedule_id, id);
CREATE INDEX runs_covering ON runs (schedule_id, covers_last) WHERE covers_last IS NOT NULL;
CREATE INDEX runs_final ON runs (finished_at) WHERE finished_at IS NOT NULL;

-- A run without a row here has the payload of its revision.
CREATE TABLE run_payloads (
    run_id INTEGER PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
    payload TEXT NOT NULL
) STRICT;

-- Only attempts that did not end their run well.
CREATE TABLE attempts (
    run_id INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    attempt INTEGER NOT NULL,
    worker TEXT,
    started_at INTEGER,
    ended_at INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    error TEXT,
    PRIMARY KEY (run_id, attempt)
) STRICT, WITHOUT ROWID;

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
    decided_at INTEGER NOT NULL
) STRICT;

CREATE INDEX skips_by_schedule ON skips (schedule_id, last_at);
CREATE INDEX skips_by_age ON skips (decided_at);

CREATE TABLE workers (
    id TEXT PRIMARY KEY,
    namespace TEXT NOT NULL,
    app TEXT NOT NULL,
    kind TEXT NOT NULL,
    host TEXT NOT NULL,
    pid INTEGER NOT NULL,
    version TEXT NOT NULL,
    queues TEXT NOT NULL,
    slots INTEGER NOT NULL,
    tasks TEXT NOT NULL,
    declares TEXT NOT NULL,
    draining INTEGER NOT NULL,
    started_at INTEGER NOT NULL,
    seen_at INTEGER NOT NULL,
    live_until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE audit (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL,
    actor TEXT NOT NULL,
    action TEXT NOT NULL,
    namespace TEXT NOT NULL,
    schedule_id INTEGER,
    schedule TEXT,
    run_id INTEGER,
    detail TEXT NOT NULL
) STRICT;

CREATE INDEX audit_by_namespace ON audit (namespace, id);
CREATE INDEX audit_by_schedule ON audit (namespace, schedule, id);

-- A schedule written by plain SQL is looked at once and does not fire for the past.
CREATE TRIGGER schedule_inserted AFTER INSERT ON schedules
BEGIN
    INSERT INTO cursors (schedule_id, revision, format)
    VALUES (
        NEW.id,
        NEW.revision,
        iif(json_type(NEW.definition, '$.v') = 'integer', json_extract(NEW.definition, '$.v'), 0)
    );
    INSERT INTO revisions (schedule_id, revision, definition, fingerprint, action, actor, at)
    VALUES (NEW.id, NEW.revision, NEW.definition, NEW.fingerprint, 'create', 'sql', NEW.created_at);
    UPDATE counters SET last = last + 1 WHERE name = 'wake';
END;

-- An edit by plain SQL leaves the revision alone; one by Tickbird raises it itself.
CREATE TRIGGER schedule_edited AFTER UPDATE OF definition ON schedules
WHEN NEW.revision = OLD.revision AND NEW.definition IS NOT OLD.definition
BEGIN
    UPDATE schedules
    SET revision = OLD.revision + 1,
        changed_at = CAST(strftime('%s', 'now') AS INTEGER) * 1000000
            + CAST(substr(strftime('%f', 'now'), 4) AS INTEGER) * 1000
    WHERE id = NEW.id;
    INSERT INTO revisions (schedule_id, revision, definition, fingerprint, action, actor, at)
    SELECT id, revision, definition, fingerprint, 'edit', 'sql', changed_at FROM schedules WHERE id = NEW.id;
    UPDATE cursors
    SET prior_revision = coalesce(prior_revision, OLD.revision),
        revision = OLD.revision + 1,
        format = iif(json_type(NEW.definition, '$.v') = 'integer', json_extract(NEW.definition, '$.v'), 0),
        changed_at = (SELECT changed_at FROM schedules WHERE id = NEW.id),
        next_run_at = (SELECT changed_at FROM schedules WHERE id = NEW.id)
    WHERE schedule_id = NEW.id;
    UPDATE counters SET last = last + 1 WHERE name = 'wake';
END;

CREATE TRIGGER schedule_deleted BEFORE DELETE ON schedules
BEGIN
    SELECT raise(ABORT, 'a schedule leaves a tombstone, so that its ticks never run again: use `tickbird rm`');
END;

-- Runs and schedules as people read them.
CREATE VIEW run_records AS
SELECT
    r.id, r.namespace, r.schedule_id, r.revision, r.target_kind, r.target, r.queue, r.priority, r.origin, r.status,
    r.scheduled_for, r.due_at, r.available_at, r.start_by, r.covers_first, r.covers_last, r.covers_count, r.attempt,
    r.failures, r.crashes, r.created_at, r.started_at, r.finished_at, r.lease_until, r.worker, r.retry_of, r.actor,
    r.reason, r.cancel_requested_at, r.cancel_requested_by, r.result, r.error, r.failure_kind,
    s.name AS schedule,
    coalesce(p.payload, json_extract(v.definition, '$.payload'), '{}') AS payload
FROM runs AS r
LEFT JOIN schedules AS s ON s.id = r.schedule_id
LEFT JOIN revisions AS v ON v.schedule_id = r.schedule_id AND v.revision = r.revision
LEFT JOIN run_payloads AS p ON p.run_id = r.id;

CREATE VIEW schedule_records AS
SELECT
    s.id, s.namespace, s.name, s.app, s.definition, s.revision, s.fingerprint, s.overrides, s.paused_by, s.pause_note,
    s.paused_until, s.error, s.created_at, s.changed_at, c.state, c.format, c.next_run_at, c.planned_until,
    c.runs_planned, c.moved_tick, c.moved_due_at, c.skip_until, c.skip_by, c.skip_note, c.last_skip_id,
    c.prior_revision, c.changed_at AS edited_at
FROM schedules AS s
JOIN cursors AS c ON c.schedule_id = s.id;
