BEGIN TRANSACTION;
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
INSERT INTO "attempts" VALUES(119,1,'w1',1767658202000000,1768089630000000,'lost','worker w1 was lost while it ran this');
INSERT INTO "attempts" VALUES(120,1,'w1',1767658202000000,1768089630000000,'lost','worker w1 was lost while it ran this');
INSERT INTO "attempts" VALUES(121,1,'w1',1767658202000000,1768089630000000,'lost','worker w1 was lost while it ran this');
INSERT INTO "attempts" VALUES(122,1,'w1',1767658202000000,1768089630000000,'lost','worker w1 was lost while it ran this');
INSERT INTO "attempts" VALUES(239,1,'w1',1767920402000000,1768089630000000,'lost','worker w1 was lost while it ran this');
INSERT INTO "attempts" VALUES(252,1,'w1',1768089601000000,1768089602000000,'retried','Boom: no data');
INSERT INTO "attempts" VALUES(252,2,'w1',1768089670000000,1768089671000000,'failed','Boom: still none');
INSERT INTO "attempts" VALUES(253,1,'w1',1768089601000000,1768089630000000,'lost','worker w1 was lost while it ran this');
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
INSERT INTO "audit_log" VALUES(4,1767225600000000,'ada','create','default',3,'berlin',NULL,'{"definition":{"v":1,"trigger":{"cron":"30 2 * * 1-5","tz":"Europe/Berlin"},"target":{"task":"work"},"spread":600,"retries":3,"timeout":60}}');
INSERT INTO "audit_log" VALUES(5,1767225600000000,'ada','create','default',4,'either',NULL,'{"definition":{"v":1,"trigger":{"any_of":[{"cron":"0 12 * * *"},{"every":{"days":2}}]},"target":{"task":"work"},"queue":"gpu"}}');
INSERT INTO "audit_log" VALUES(6,1767225600000000,'ada','create','default',5,'once',NULL,'{"definition":{"v":1,"trigger":{"at":"2026-01-01T05:00:00Z"},"target":{"task":"work"}}}');
INSERT INTO "audit_log" VALUES(7,1767225600000000,'ada','create','default',6,'window',NULL,'{"definition":{"v":1,"trigger":{"every":{"hours":6}},"target":{"task":"work"},"start_at":"2026-01-02T00:00:00Z","end_at":"2026-01-04T00:00:00Z","max_runs":4}}');
INSERT INTO "audit_log" VALUES(8,1767225600000000,'ada','create','default',7,'closed',NULL,'{"definition":{"v":1,"trigger":{"every":{"days":1}},"target":{"task":"work"},"calendars":["quiet"],"closed":{"quiet":["12-25","2026-01-02"]}}}');
INSERT INTO "audit_log" VALUES(9,1767225600000000,'ada','create','default',8,'weekends',NULL,'{"definition":{"v":1,"trigger":{"every":{"days":1}},"target":{"task":"work"},"exclude":["sat","sun"]}}');
INSERT INTO "audit_log" VALUES(10,1767571200000000,'ada','create','default',9,'declared',NULL,'{"definition":{"v":1,"trigger":{"every":{"hours":3}},"target":{"task":"coded"},"retries":2}}');
INSERT INTO "audit_log" VALUES(11,1767571260000000,'sync','sync','default',9,'declared',NULL,'{"before":{"retries":2,"target":{"task":"coded"},"trigger":{"every":{"hours":3}},"v":1},"after":{"v":1,"trigger":{"every":{"hours":2}},"target":{"task":"coded"},"retries":2}}');
INSERT INTO "audit_log" VALUES(12,1767571290000000,'ada','update','default',9,'declared',NULL,'{"before":{"retries":2},"after":{"retries":5}}');
INSERT INTO "audit_log" VALUES(13,1767657600000000,'ada','create','default',10,'overlap-skip',NULL,'{"definition":{"v":1,"trigger":{"every":{"minutes":10}},"target":{"task":"skip"}}}');
INSERT INTO "audit_log" VALUES(14,1767657600000000,'ada','create','default',11,'overlap-queue',NULL,'{"definition":{"v":1,"trigger":{"every":{"minutes":10}},"target":{"task":"queue"},"overlap":"queue"}}');
INSERT INTO "audit_log" VALUES(15,1767657600000000,'ada','create','default',12,'overlap-replace',NULL,'{"definition":{"v":1,"trigger":{"every":{"minutes":10}},"target":{"task":"replace"},"overlap":"replace"}}');
INSERT INTO "audit_log" VALUES(16,1767657600000000,'ada','create','default',13,'overlap-allow',NULL,'{"definition":{"v":1,"trigger":{"every":{"minutes":10}},"target":{"task":"allow"},"overlap":"allow"}}');
INSERT INTO "audit_log" VALUES(17,1767744000000000,'ada','create','default',14,'late-one',NULL,'{"definition":{"v":1,"trigger":{"every":{"hours":1}},"target":{"task":"late"},"catch_up_limit":3}}');
INSERT INTO "audit_log" VALUES(18,1767744000000000,'ada','create','default',15,'late-latest',NULL,'{"definition":{"v":1,"trigger":{"every":{"hours":1}},"target":{"task":"late"},"catch_up":"latest","catch_up_limit":3}}');
INSERT INTO "audit_log" VALUES(19,1767744000000000,'ada','create','default',16,'late-all',NULL,'{"definition":{"v":1,"trigger":{"every":{"hours":1}},"target":{"task":"late"},"catch_up":"all","catch_up_limit":3}}');
INSERT INTO "audit_log" VALUES(20,1767744000000000,'ada','create','default',17,'late-skip',NULL,'{"definition":{"v":1,"trigger":{"every":{"hours":1}},"target":{"task":"late"},"catch_up":"skip","catch_up_limit":3}}');
INSERT INTO "audit_log" VALUES(21,1767744000000000,'ada','create','default',18,'held',NULL,'{"definition":{"v":1,"trigger":{"every":{"hours":1}},"target":{"task":"late"},"catch_up":"all","hold_above":2}}');
INSERT INTO "audit_log" VALUES(22,1767776400000000,'ada','release_held','default',18,'held',NULL,'{"count":2,"note":"","per_minute":null}');
INSERT INTO "audit_log" VALUES(23,1767776400000000,'ada','drop_held','default',18,'held',NULL,'{"count":1,"note":"no"}');
INSERT INTO "audit_log" VALUES(24,1767830400000000,'ada','create','default',19,'paused',NULL,'{"definition":{"v":1,"trigger":{"every":{"hours":1}},"target":{"task":"changed"}}}');
INSERT INTO "audit_log" VALUES(25,1767830400000000,'ada','create','default',20,'resumed',NULL,'{"definition":{"v":1,"trigger":{"every":{"hours":1}},"target":{"task":"changed"}}}');
INSERT INTO "audit_log" VALUES(26,1767830400000000,'ada','create','default',21,'moved',NULL,'{"definition":{"v":1,"trigger":{"every":{"hours":1}},"target":{"task":"changed"}}}');
INSERT INTO "audit_log" VALUES(27,1767830400000000,'ada','create','default',22,'skipped',NULL,'{"definition":{"v":1,"trigger":{"every":{"hours":1}},"target":{"task":"changed"}}}');
INSERT INTO "audit_log" VALUES(28,1767830400000000,'ada','create','default',23,'deleted',NULL,'{"definition":{"v":1,"trigger":{"every":{"hours":1}},"target":{"task":"changed"}}}');
INSERT INTO "audit_log" VALUES(29,1767830400000000,'ada','create','default',24,'edited',NULL,'{"definition":{"v":1,"trigger":{"every":{"hours":1}},"target":{"task":"changed"}}}');
INSERT INTO "audit_log" VALUES(30,1767830400000000,'ada','create','default',25,'triggered',NULL,'{"definition":{"v":1,"trigger":{"every":{"hours":1}},"target":{"task":"changed"}}}');
INSERT INTO "audit_log" VALUES(31,1767834005000000,'ada','pause','default',19,'paused',NULL,'{"note":"quiet","until":1801785600}');
INSERT INTO "audit_log" VALUES(32,1767830405000000,'ada','pause','default',20,'resumed',NULL,'{"note":"","until":null}');
INSERT INTO "audit_log" VALUES(33,1767848400000000,'bob','resume','default',20,'resumed',NULL,'{"paused_by":"ada","note":"again"}');
INSERT INTO "audit_log" VALUES(34,1767830405000000,'ada','reschedule','default',21,'moved',NULL,'{"tick":1767834000,"to":1767848407,"note":""}');
INSERT INTO "audit_log" VALUES(35,1767830405000000,'ada','skip','default',22,'skipped',NULL,'{"first":1767834000,"last":1767841200,"note":"not now"}');
INSERT INTO "audit_log" VALUES(36,1767837605000000,'ada','delete','default',23,'deleted',NULL,'{"definition":{"target":{"task":"changed"},"trigger":{"every":{"hours":1}},"v":1}}');
INSERT INTO "audit_log" VALUES(37,1767837605000000,'ada','update','default',24,'edited',NULL,'{"before":{"payload":null},"after":{"payload":{"v":2}}}');
INSERT INTO "audit_log" VALUES(38,1767830409000000,'ada','trigger','default',25,'triggered',148,'{"payload":{"by":"hand"},"retry_of":null}');
INSERT INTO "audit_log" VALUES(39,1767859200000000,'ada','retry','default',25,'triggered',211,'{"payload":null,"retry_of":148}');
INSERT INTO "audit_log" VALUES(40,1767916800000000,'ada','limit','default',NULL,NULL,NULL,'{"key":"warehouse","before":null,"after":2}');
INSERT INTO "audit_log" VALUES(41,1767916800000000,'ada','create','default',26,'keyed-1',NULL,'{"definition":{"v":1,"trigger":{"every":{"hours":1}},"target":{"task":"keyed"},"overlap":"allow","concurrency_key":"warehouse"}}');
INSERT INTO "audit_log" VALUES(42,1767916800000000,'ada','create','default',27,'keyed-2',NULL,'{"definition":{"v":1,"trigger":{"every":{"hours":1}},"target":{"task":"keyed"},"overlap":"allow","concurrency_key":"warehouse"}}');
INSERT INTO "audit_log" VALUES(43,1767916800000000,'ada','create','default',28,'keyed-3',NULL,'{"definition":{"v":1,"trigger":{"every":{"hours":1}},"target":{"task":"keyed"},"overlap":"allow","concurrency_key":"warehouse"}}');
INSERT INTO "audit_log" VALUES(44,1767916800000000,'ada','enqueue','default',NULL,NULL,242,'{"count":1,"tasks":["later"]}');
INSERT INTO "audit_log" VALUES(45,1768003200000000,'ada','create','default',29,'filled',NULL,'{"definition":{"v":1,"trigger":{"every":{"hours":1}},"target":{"task":"filled"}}}');
INSERT INTO "audit_log" VALUES(46,1768003201000000,'ada','pause','default',29,'filled',NULL,'{"note":"","until":null}');
INSERT INTO "audit_log" VALUES(47,1768035601000000,'ada','resume','default',29,'filled',NULL,'{"paused_by":"ada","note":""}');
INSERT INTO "audit_log" VALUES(48,1768039200000000,'ben','backfill','default',29,'filled',NULL,'{"backfill":1,"first":1768006800,"last":1768017600,"count":4,"order":"oldest","concurrency":2,"payload":null,"note":"new column"}');
INSERT INTO "audit_log" VALUES(49,1768039200000000,'ben','backfill','default',29,'filled',NULL,'{"backfill":2,"first":1768024800,"last":1768035600,"count":4,"order":"oldest","concurrency":2,"payload":null,"note":"new column"}');
INSERT INTO "audit_log" VALUES(50,1768042800000000,'ben','cancel_backfill','default',29,'filled',NULL,'{"backfill":2,"cancelled":4,"asked_to_stop":0,"note":"enough"}');
INSERT INTO "audit_log" VALUES(51,1768089600000000,'ada','enqueue','default',NULL,NULL,252,'{"count":1,"tasks":["fails"]}');
INSERT INTO "audit_log" VALUES(52,1768089600000000,'ada','enqueue','default',NULL,NULL,253,'{"count":1,"tasks":["lost"]}');
INSERT INTO "audit_log" VALUES(53,1768089600000000,'ada','enqueue','default',NULL,NULL,254,'{"count":1,"tasks":["stops"]}');
INSERT INTO "audit_log" VALUES(54,1768089600000000,'ada','enqueue','default',NULL,NULL,255,'{"count":1,"tasks":["talks"]}');
INSERT INTO "audit_log" VALUES(55,1768089600000000,'ada','enqueue','default',NULL,NULL,256,'{"count":1,"tasks":["runs"]}');
INSERT INTO "audit_log" VALUES(56,1768089600000000,'ada','enqueue','default',NULL,NULL,257,'{"count":1,"tasks":["waits"]}');
INSERT INTO "audit_log" VALUES(57,1768089680000000,'ada','enqueue','default',NULL,NULL,258,'{"count":1,"tasks":["fails"],"retry_of":252}');
INSERT INTO "audit_log" VALUES(58,1768089640000000,'ada','cancel','default',NULL,NULL,254,'{"reason":"wrong day","status":"queued"}');
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
INSERT INTO "backfills" VALUES(1,'default',29,3,1768006800000000,1768017600000000,4,0,2,NULL,'ben','new column',1768039200000000,NULL,NULL);
INSERT INTO "backfills" VALUES(2,'default',29,3,1768024800000000,1768035600000000,4,0,2,NULL,'ben','new column',1768039200000000,1768042800000000,'ben');
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
INSERT INTO "calendars" VALUES('default','quiet','{"dates":["2026-01-02"]}','["12-25","2026-01-02"]','{"library":"days 1.0","years":[2025,2036]}',1,1767225600000000,1767225600000000,'cy');
CREATE TABLE concurrency_limits (
    namespace TEXT NOT NULL,
    key TEXT NOT NULL,
    max_running INTEGER NOT NULL CONSTRAINT concurrency_limits_max_running_check CHECK (max_running > 0),
    PRIMARY KEY (namespace, key)
) STRICT, WITHOUT ROWID;
INSERT INTO "concurrency_limits" VALUES('default','warehouse',2);
CREATE TABLE counters (
    name TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "counters" VALUES('heartbeat_requests',0);
INSERT INTO "counters" VALUES('run_id',366);
INSERT INTO "counters" VALUES('skip_id',171);
INSERT INTO "counters" VALUES('wakeups',224);
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
INSERT INTO "cursors" VALUES(1,1,1,NULL,'active',1768266000000000,1768262400000000,96,0,5,NULL,NULL,'',NULL,NULL,NULL,NULL);
INSERT INTO "cursors" VALUES(2,1,1,1,'active',1768312800000000,1768226400000000,3,0,14,NULL,NULL,'',NULL,NULL,NULL,NULL);
INSERT INTO "cursors" VALUES(3,1,1,1,'active',1768267979000000,1768181400000000,3,0,15,NULL,NULL,'',NULL,NULL,NULL,NULL);
INSERT INTO "cursors" VALUES(4,1,1,NULL,'active',1768305600000000,1768262400000000,6,0,6,NULL,NULL,'',NULL,NULL,NULL,NULL);
INSERT INTO "cursors" VALUES(5,1,1,NULL,'ended',NULL,1767243600000000,1,0,NULL,NULL,NULL,'',NULL,NULL,NULL,NULL);
INSERT INTO "cursors" VALUES(6,1,1,NULL,'ended',NULL,1767376800000000,4,0,NULL,NULL,NULL,'',NULL,NULL,NULL,NULL);
INSERT INTO "cursors" VALUES(7,1,1,NULL,'active',1768348800000000,1768262400000000,3,0,7,NULL,NULL,'',NULL,NULL,NULL,NULL);
INSERT INTO "cursors" VALUES(8,1,1,NULL,'active',1768348800000000,1768262400000000,2,0,145,NULL,NULL,'',NULL,NULL,NULL,NULL);
INSERT INTO "cursors" VALUES(9,3,1,NULL,'active',1768269600000000,1768262400000000,2,0,16,NULL,NULL,'',NULL,NULL,NULL,NULL);
INSERT INTO "cursors" VALUES(10,1,1,NULL,'active',1768263000000000,1768262400000000,1,0,11,NULL,NULL,'',NULL,NULL,NULL,NULL);
INSERT INTO "cursors" VALUES(11,1,1,NULL,'active',1768263000000000,1768262400000000,2,0,12,NULL,NULL,'',NULL,NULL,NULL,NULL);
INSERT INTO "cursors" VALUES(12,1,1,NULL,'active',1768263000000000,1768262400000000,13,0,146,NULL,NULL,'',NULL,NULL,NULL,NULL);
INSERT INTO "cursors" VALUES(13,1,1,NULL,'active',1768263000000000,1768262400000000,22,29471040,147,NULL,NULL,'',NULL,NULL,NULL,NULL);
INSERT INTO "cursors" VALUES(14,1,1,NULL,'active',1768266000000000,1768262400000000,1,0,34,NULL,NULL,'',NULL,NULL,NULL,NULL);
INSERT INTO "cursors" VALUES(15,1,1,NULL,'active',1768266000000000,1768262400000000,1,0,35,NULL,NULL,'',NULL,NULL,NULL,NULL);
INSERT INTO "cursors" VALUES(16,1,1,NULL,'active',1768266000000000,1768262400000000,12,0,149,NULL,NULL,'',NULL,NULL,NULL,NULL);
INSERT INTO "cursors" VALUES(17,1,1,NULL,'active',1768266000000000,1768262400000000,2,0,150,NULL,NULL,'',NULL,NULL,NULL,NULL);
INSERT INTO "cursors" VALUES(18,1,1,NULL,'active',1768266000000000,1768262400000000,135,0,151,NULL,NULL,'',NULL,NULL,NULL,NULL);
INSERT INTO "cursors" VALUES(19,2,1,NULL,'paused',1801785600000000,1767834000000000,1,0,NULL,NULL,NULL,'',NULL,NULL,NULL,NULL);
INSERT INTO "cursors" VALUES(20,3,1,NULL,'active',1768266000000000,1768262400000000,3,0,125,NULL,NULL,'',NULL,NULL,NULL,NULL);
INSERT INTO "cursors" VALUES(21,2,1,NULL,'active',1768266000000000,1768262400000000,3,0,127,NULL,NULL,'',NULL,NULL,NULL,NULL);
INSERT INTO "cursors" VALUES(22,2,1,NULL,'active',1768266000000000,1768262400000000,5,0,129,NULL,NULL,'',NULL,NULL,NULL,NULL);
INSERT INTO "cursors" VALUES(23,2,1,NULL,'deleted',NULL,1767837605000000,0,0,30,NULL,NULL,'',NULL,NULL,NULL,NULL);
INSERT INTO "cursors" VALUES(24,2,1,NULL,'active',1768266000000000,1768262400000000,7,0,131,NULL,NULL,'',NULL,NULL,NULL,NULL);
INSERT INTO "cursors" VALUES(25,1,1,NULL,'active',1768266000000000,1768262400000000,8,0,132,NULL,NULL,'',NULL,NULL,NULL,NULL);
INSERT INTO "cursors" VALUES(26,1,1,NULL,'active',1768266000000000,1768262400000000,3,0,152,NULL,NULL,'',NULL,NULL,NULL,NULL);
INSERT INTO "cursors" VALUES(27,1,1,NULL,'active',1768266000000000,1768262400000000,3,0,153,NULL,NULL,'',NULL,NULL,NULL,NULL);
INSERT INTO "cursors" VALUES(28,1,1,NULL,'active',1768266000000000,1768262400000000,3,0,154,NULL,NULL,'',NULL,NULL,NULL,NULL);
INSERT INTO "cursors" VALUES(29,3,1,NULL,'active',1768266000000000,1768262400000000,2,0,156,NULL,NULL,'',NULL,NULL,NULL,NULL);
INSERT INTO "cursors" VALUES(30,1,1,NULL,'parked',NULL,NULL,0,0,NULL,NULL,NULL,'',NULL,NULL,NULL,NULL);
CREATE TABLE dependency_waits (
    run_id INTEGER NOT NULL,
    schedule_id INTEGER NOT NULL,
    earliest_at INTEGER NOT NULL,
    deadline_at INTEGER NOT NULL,
    PRIMARY KEY (run_id, schedule_id)
) STRICT, WITHOUT ROWID;
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
CREATE TABLE last_successes (
    schedule_id INTEGER PRIMARY KEY,
    succeeded_at INTEGER
) STRICT;
CREATE TABLE meta (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "meta" VALUES('incarnation','955155156');
INSERT INTO "meta" VALUES('min_compatible','1');
INSERT INTO "meta" VALUES('schema_generation','1');
INSERT INTO "meta" VALUES('version','1');
CREATE TABLE migrations (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    checksum TEXT NOT NULL,
    applied_at INTEGER NOT NULL
) STRICT;
INSERT INTO "migrations" VALUES(1,'schema','ec4e4c8b3555808bad353bb523a0a30d6b03d1a5f65620827f3764df466a3139',1794961949361209);
CREATE TABLE pings (
    schedule_id INTEGER NOT NULL,
    pinged_at INTEGER NOT NULL,
    PRIMARY KEY (schedule_id, pinged_at)
) STRICT, WITHOUT ROWID;
CREATE TABLE prune_horizons (
    schedule_id INTEGER PRIMARY KEY,
    pruned_until INTEGER NOT NULL
) STRICT;
INSERT INTO "prune_horizons" VALUES(1,1767232800000000);
INSERT INTO "prune_horizons" VALUES(3,1767231000000000);
CREATE TABLE queue_rates (
    namespace TEXT NOT NULL,
    queue TEXT NOT NULL,
    count INTEGER NOT NULL CONSTRAINT queue_rates_count_check CHECK (count > 0),
    seconds INTEGER NOT NULL CONSTRAINT queue_rates_seconds_check CHECK (seconds > 0),
    -- [[microseconds since the epoch, number of runs started], …] within the last period, oldest first.
    starts TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(starts)),
    PRIMARY KEY (namespace, queue)
) STRICT, WITHOUT ROWID;
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
INSERT INTO "revisions" VALUES(1,1,'{"description":"“ü” every hour","priority":3,"tags":["mail","eu"],"target":{"task":"work"},"trigger":{"every":{"hours":1}},"v":1}',NULL,'create','ada','{"definition":{"v":1,"trigger":{"every":{"hours":1}},"target":{"task":"work"},"description":"\u201c\u00fc\u201d every hour","tags":["mail","eu"],"priority":3}}',1767225600000000);
INSERT INTO "revisions" VALUES(2,1,'{"payload":{"limit":5,"who":"ü"},"target":{"task":"work"},"trigger":{"cron":"0 9 * * 1-5","tz":"America/New_York"},"v":1}',NULL,'create','ada','{"definition":{"v":1,"trigger":{"cron":"0 9 * * 1-5","tz":"America/New_York"},"target":{"task":"work"},"payload":{"limit":5,"who":"\u00fc"}}}',1767225600000000);
INSERT INTO "revisions" VALUES(3,1,'{"retries":3,"spread":600,"target":{"task":"work"},"timeout":60,"trigger":{"cron":"30 2 * * 1-5","tz":"Europe/Berlin"},"v":1}',NULL,'create','ada','{"definition":{"v":1,"trigger":{"cron":"30 2 * * 1-5","tz":"Europe/Berlin"},"target":{"task":"work"},"spread":600,"retries":3,"timeout":60}}',1767225600000000);
INSERT INTO "revisions" VALUES(4,1,'{"queue":"gpu","target":{"task":"work"},"trigger":{"any_of":[{"cron":"0 12 * * *"},{"every":{"days":2}}]},"v":1}',NULL,'create','ada','{"definition":{"v":1,"trigger":{"any_of":[{"cron":"0 12 * * *"},{"every":{"days":2}}]},"target":{"task":"work"},"queue":"gpu"}}',1767225600000000);
INSERT INTO "revisions" VALUES(5,1,'{"target":{"task":"work"},"trigger":{"at":"2026-01-01T05:00:00Z"},"v":1}',NULL,'create','ada','{"definition":{"v":1,"trigger":{"at":"2026-01-01T05:00:00Z"},"target":{"task":"work"}}}',1767225600000000);
INSERT INTO "revisions" VALUES(6,1,'{"end_at":"2026-01-04T00:00:00Z","max_runs":4,"start_at":"2026-01-02T00:00:00Z","target":{"task":"work"},"trigger":{"every":{"hours":6}},"v":1}',NULL,'create','ada','{"definition":{"v":1,"trigger":{"every":{"hours":6}},"target":{"task":"work"},"start_at":"2026-01-02T00:00:00Z","end_at":"2026-01-04T00:00:00Z","max_runs":4}}',1767225600000000);
INSERT INTO "revisions" VALUES(7,1,'{"calendars":["quiet"],"closed":{"quiet":["12-25","2026-01-02"]},"target":{"task":"work"},"trigger":{"every":{"days":1}},"v":1}',NULL,'create','ada','{"definition":{"v":1,"trigger":{"every":{"days":1}},"target":{"task":"work"},"calendars":["quiet"],"closed":{"quiet":["12-25","2026-01-02"]}}}',1767225600000000);
INSERT INTO "revisions" VALUES(8,1,'{"exclude":["sat","sun"],"target":{"task":"work"},"trigger":{"every":{"days":1}},"v":1}',NULL,'create','ada','{"definition":{"v":1,"trigger":{"every":{"days":1}},"target":{"task":"work"},"exclude":["sat","sun"]}}',1767225600000000);
INSERT INTO "revisions" VALUES(9,1,'{"retries":2,"target":{"task":"coded"},"trigger":{"every":{"hours":3}},"v":1}','72241b7147c9aa7b9b2e88fb','create','ada','{"definition":{"v":1,"trigger":{"every":{"hours":3}},"target":{"task":"coded"},"retries":2}}',1767571200000000);
INSERT INTO "revisions" VALUES(9,2,'{"retries":2,"target":{"task":"coded"},"trigger":{"every":{"hours":2}},"v":1}','04e057ae994efb0866f5dd64','sync','sync','{"before":{"retries":2,"target":{"task":"coded"},"trigger":{"every":{"hours":3}},"v":1},"after":{"v":1,"trigger":{"every":{"hours":2}},"target":{"task":"coded"},"retries":2}}',1767571260000000);
INSERT INTO "revisions" VALUES(9,3,'{"retries":5,"target":{"task":"coded"},"trigger":{"every":{"hours":2}},"v":1}','04e057ae994efb0866f5dd64','update','ada','{"before":{"retries":2},"after":{"retries":5}}',1767571290000000);
INSERT INTO "revisions" VALUES(10,1,'{"target":{"task":"skip"},"trigger":{"every":{"minutes":10}},"v":1}',NULL,'create','ada','{"definition":{"v":1,"trigger":{"every":{"minutes":10}},"target":{"task":"skip"}}}',1767657600000000);
INSERT INTO "revisions" VALUES(11,1,'{"overlap":"queue","target":{"task":"queue"},"trigger":{"every":{"minutes":10}},"v":1}',NULL,'create','ada','{"definition":{"v":1,"trigger":{"every":{"minutes":10}},"target":{"task":"queue"},"overlap":"queue"}}',1767657600000000);
INSERT INTO "revisions" VALUES(12,1,'{"overlap":"replace","target":{"task":"replace"},"trigger":{"every":{"minutes":10}},"v":1}',NULL,'create','ada','{"definition":{"v":1,"trigger":{"every":{"minutes":10}},"target":{"task":"replace"},"overlap":"replace"}}',1767657600000000);
INSERT INTO "revisions" VALUES(13,1,'{"overlap":"allow","target":{"task":"allow"},"trigger":{"every":{"minutes":10}},"v":1}',NULL,'create','ada','{"definition":{"v":1,"trigger":{"every":{"minutes":10}},"target":{"task":"allow"},"overlap":"allow"}}',1767657600000000);
INSERT INTO "revisions" VALUES(14,1,'{"catch_up_limit":3,"target":{"task":"late"},"trigger":{"every":{"hours":1}},"v":1}',NULL,'create','ada','{"definition":{"v":1,"trigger":{"every":{"hours":1}},"target":{"task":"late"},"catch_up_limit":3}}',1767744000000000);
INSERT INTO "revisions" VALUES(15,1,'{"catch_up":"latest","catch_up_limit":3,"target":{"task":"late"},"trigger":{"every":{"hours":1}},"v":1}',NULL,'create','ada','{"definition":{"v":1,"trigger":{"every":{"hours":1}},"target":{"task":"late"},"catch_up":"latest","catch_up_limit":3}}',1767744000000000);
INSERT INTO "revisions" VALUES(16,1,'{"catch_up":"all","catch_up_limit":3,"target":{"task":"late"},"trigger":{"every":{"hours":1}},"v":1}',NULL,'create','ada','{"definition":{"v":1,"trigger":{"every":{"hours":1}},"target":{"task":"late"},"catch_up":"all","catch_up_limit":3}}',1767744000000000);
INSERT INTO "revisions" VALUES(17,1,'{"catch_up":"skip","catch_up_limit":3,"target":{"task":"late"},"trigger":{"every":{"hours":1}},"v":1}',NULL,'create','ada','{"definition":{"v":1,"trigger":{"every":{"hours":1}},"target":{"task":"late"},"catch_up":"skip","catch_up_limit":3}}',1767744000000000);
INSERT INTO "revisions" VALUES(18,1,'{"catch_up":"all","hold_above":2,"target":{"task":"late"},"trigger":{"every":{"hours":1}},"v":1}',NULL,'create','ada','{"definition":{"v":1,"trigger":{"every":{"hours":1}},"target":{"task":"late"},"catch_up":"all","hold_above":2}}',1767744000000000);
INSERT INTO "revisions" VALUES(19,1,'{"target":{"task":"changed"},"trigger":{"every":{"hours":1}},"v":1}',NULL,'create','ada','{"definition":{"v":1,"trigger":{"every":{"hours":1}},"target":{"task":"changed"}}}',1767830400000000);
INSERT INTO "revisions" VALUES(19,2,'{"target":{"task":"changed"},"trigger":{"every":{"hours":1}},"v":1}',NULL,'pause','ada','{"note":"quiet","until":1801785600}',1767834005000000);
INSERT INTO "revisions" VALUES(20,1,'{"target":{"task":"changed"},"trigger":{"every":{"hours":1}},"v":1}',NULL,'create','ada','{"definition":{"v":1,"trigger":{"every":{"hours":1}},"target":{"task":"changed"}}}',1767830400000000);
INSERT INTO "revisions" VALUES(20,2,'{"target":{"task":"changed"},"trigger":{"every":{"hours":1}},"v":1}',NULL,'pause','ada','{"note":"","until":null}',1767830405000000);
INSERT INTO "revisions" VALUES(20,3,'{"target":{"task":"changed"},"trigger":{"every":{"hours":1}},"v":1}',NULL,'resume','bob','{"paused_by":"ada","note":"again"}',1767848400000000);
INSERT INTO "revisions" VALUES(21,1,'{"target":{"task":"changed"},"trigger":{"every":{"hours":1}},"v":1}',NULL,'create','ada','{"definition":{"v":1,"trigger":{"every":{"hours":1}},"target":{"task":"changed"}}}',1767830400000000);
INSERT INTO "revisions" VALUES(21,2,'{"target":{"task":"changed"},"trigger":{"every":{"hours":1}},"v":1}',NULL,'reschedule','ada','{"tick":1767834000,"to":1767848407,"note":""}',1767830405000000);
INSERT INTO "revisions" VALUES(22,1,'{"target":{"task":"changed"},"trigger":{"every":{"hours":1}},"v":1}',NULL,'create','ada','{"definition":{"v":1,"trigger":{"every":{"hours":1}},"target":{"task":"changed"}}}',1767830400000000);
INSERT INTO "revisions" VALUES(22,2,'{"target":{"task":"changed"},"trigger":{"every":{"hours":1}},"v":1}',NULL,'skip','ada','{"first":1767834000,"last":1767841200,"note":"not now"}',1767830405000000);
INSERT INTO "revisions" VALUES(23,1,'{"target":{"task":"changed"},"trigger":{"every":{"hours":1}},"v":1}',NULL,'create','ada','{"definition":{"v":1,"trigger":{"every":{"hours":1}},"target":{"task":"changed"}}}',1767830400000000);
INSERT INTO "revisions" VALUES(23,2,'{"target":{"task":"changed"},"trigger":{"every":{"hours":1}},"v":1}',NULL,'delete','ada','{"definition":{"target":{"task":"changed"},"trigger":{"every":{"hours":1}},"v":1}}',1767837605000000);
INSERT INTO "revisions" VALUES(24,1,'{"target":{"task":"changed"},"trigger":{"every":{"hours":1}},"v":1}',NULL,'create','ada','{"definition":{"v":1,"trigger":{"every":{"hours":1}},"target":{"task":"changed"}}}',1767830400000000);
INSERT INTO "revisions" VALUES(24,2,'{"payload":{"v":2},"target":{"task":"changed"},"trigger":{"every":{"hours":1}},"v":1}',NULL,'update','ada','{"before":{"payload":null},"after":{"payload":{"v":2}}}',1767837605000000);
INSERT INTO "revisions" VALUES(25,1,'{"target":{"task":"changed"},"trigger":{"every":{"hours":1}},"v":1}',NULL,'create','ada','{"definition":{"v":1,"trigger":{"every":{"hours":1}},"target":{"task":"changed"}}}',1767830400000000);
INSERT INTO "revisions" VALUES(26,1,'{"concurrency_key":"warehouse","overlap":"allow","target":{"task":"keyed"},"trigger":{"every":{"hours":1}},"v":1}',NULL,'create','ada','{"definition":{"v":1,"trigger":{"every":{"hours":1}},"target":{"task":"keyed"},"overlap":"allow","concurrency_key":"warehouse"}}',1767916800000000);
INSERT INTO "revisions" VALUES(27,1,'{"concurrency_key":"warehouse","overlap":"allow","target":{"task":"keyed"},"trigger":{"every":{"hours":1}},"v":1}',NULL,'create','ada','{"definition":{"v":1,"trigger":{"every":{"hours":1}},"target":{"task":"keyed"},"overlap":"allow","concurrency_key":"warehouse"}}',1767916800000000);
INSERT INTO "revisions" VALUES(28,1,'{"concurrency_key":"warehouse","overlap":"allow","target":{"task":"keyed"},"trigger":{"every":{"hours":1}},"v":1}',NULL,'create','ada','{"definition":{"v":1,"trigger":{"every":{"hours":1}},"target":{"task":"keyed"},"overlap":"allow","concurrency_key":"warehouse"}}',1767916800000000);
INSERT INTO "revisions" VALUES(29,1,'{"target":{"task":"filled"},"trigger":{"every":{"hours":1}},"v":1}',NULL,'create','ada','{"definition":{"v":1,"trigger":{"every":{"hours":1}},"target":{"task":"filled"}}}',1768003200000000);
INSERT INTO "revisions" VALUES(29,2,'{"target":{"task":"filled"},"trigger":{"every":{"hours":1}},"v":1}',NULL,'pause','ada','{"note":"","until":null}',1768003201000000);
INSERT INTO "revisions" VALUES(29,3,'{"target":{"task":"filled"},"trigger":{"every":{"hours":1}},"v":1}',NULL,'resume','ada','{"paused_by":"ada","note":""}',1768035601000000);
INSERT INTO "revisions" VALUES(30,1,'{"v": 1, "trigger": {"cron": "61 * * * *"}, "target": {"task": "work"}}',NULL,'create','sql','{}',1794961949712000);
CREATE TABLE run_logs (
    run_id INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    attempt INTEGER NOT NULL,
    number INTEGER NOT NULL,
    logged_at INTEGER NOT NULL,
    level INTEGER NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (run_id, attempt, number)
) STRICT, WITHOUT ROWID;
INSERT INTO "run_logs" VALUES(255,1,1,1768089651000000,20,'line 1 “ü”');
INSERT INTO "run_logs" VALUES(255,1,2,1768089652000000,20,'line 2 “ü”');
INSERT INTO "run_logs" VALUES(255,1,3,1768089653000000,20,'line 3 “ü”');
CREATE TABLE run_payloads (
    run_id INTEGER PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
    payload TEXT NOT NULL
) STRICT;
INSERT INTO "run_payloads" VALUES(148,'{"by":"hand"}');
INSERT INTO "run_payloads" VALUES(211,'{"by":"hand"}');
INSERT INTO "run_payloads" VALUES(242,'{"order":7}');
CREATE TABLE run_progress (
    run_id INTEGER PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
    attempt INTEGER NOT NULL,
    reported_at INTEGER NOT NULL,
    value TEXT
) STRICT;
INSERT INTO "run_progress" VALUES(255,1,1768089654000000,'{"done":3,"of":4}');
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
INSERT INTO "runs" VALUES(4,'default',1,1,'task','work','default',3,'succeeded','schedule',1767236400000000,1767236400000000,1767236400000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767236401000000,1767236402000000,1767236402000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(5,'default',1,1,'task','work','default',3,'succeeded','schedule',1767240000000000,1767240000000000,1767240000000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767240001000000,1767240002000000,1767240002000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(6,'default',1,1,'task','work','default',3,'succeeded','schedule',1767243600000000,1767243600000000,1767243600000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767243601000000,1767243602000000,1767243602000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(7,'default',5,1,'task','work','default',0,'succeeded','schedule',1767243600000000,1767243600000000,1767243600000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767243601000000,1767243602000000,1767243602000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(8,'default',1,1,'task','work','default',3,'succeeded','schedule',1767247200000000,1767247200000000,1767247200000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767247201000000,1767247202000000,1767247202000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(9,'default',1,1,'task','work','default',3,'succeeded','schedule',1767250800000000,1767250800000000,1767250800000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767250801000000,1767250802000000,1767250802000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(10,'default',1,1,'task','work','default',3,'succeeded','schedule',1767254400000000,1767254400000000,1767254400000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767254401000000,1767254402000000,1767254402000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(11,'default',1,1,'task','work','default',3,'succeeded','schedule',1767258000000000,1767258000000000,1767258000000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767258001000000,1767258002000000,1767258002000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(12,'default',1,1,'task','work','default',3,'succeeded','schedule',1767261600000000,1767261600000000,1767261600000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767261601000000,1767261602000000,1767261602000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(13,'default',1,1,'task','work','default',3,'succeeded','schedule',1767265200000000,1767265200000000,1767265200000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767265201000000,1767265202000000,1767265202000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(14,'default',1,1,'task','work','default',3,'succeeded','schedule',1767268800000000,1767268800000000,1767268800000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767268801000000,1767268802000000,1767268802000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(15,'default',4,1,'task','work','gpu',0,'succeeded','schedule',1767268800000000,1767268800000000,1767268800000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767268801000000,1767268802000000,1767268802000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(16,'default',1,1,'task','work','default',3,'succeeded','schedule',1767272400000000,1767272400000000,1767272400000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767272401000000,1767272402000000,1767272402000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(17,'default',1,1,'task','work','default',3,'succeeded','schedule',1767276000000000,1767276000000000,1767276000000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767276001000000,1767276002000000,1767276002000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(18,'default',2,1,'task','work','default',0,'succeeded','schedule',1767276000000000,1767276000000000,1767276000000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767276001000000,1767276002000000,1767276002000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(19,'default',1,1,'task','work','default',3,'succeeded','schedule',1767279600000000,1767279600000000,1767279600000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767279601000000,1767279602000000,1767279602000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(20,'default',1,1,'task','work','default',3,'succeeded','schedule',1767283200000000,1767283200000000,1767283200000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767283201000000,1767283202000000,1767283202000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(21,'default',1,1,'task','work','default',3,'succeeded','schedule',1767286800000000,1767286800000000,1767286800000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767286801000000,1767286802000000,1767286802000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(22,'default',1,1,'task','work','default',3,'succeeded','schedule',1767290400000000,1767290400000000,1767290400000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767290401000000,1767290402000000,1767290402000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(23,'default',1,1,'task','work','default',3,'succeeded','schedule',1767294000000000,1767294000000000,1767294000000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767294001000000,1767294002000000,1767294002000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(24,'default',1,1,'task','work','default',3,'succeeded','schedule',1767297600000000,1767297600000000,1767297600000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767297601000000,1767297602000000,1767297602000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(25,'default',1,1,'task','work','default',3,'succeeded','schedule',1767301200000000,1767301200000000,1767301200000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767301201000000,1767301202000000,1767301202000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(26,'default',1,1,'task','work','default',3,'succeeded','schedule',1767304800000000,1767304800000000,1767304800000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767304801000000,1767304802000000,1767304802000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(27,'default',1,1,'task','work','default',3,'succeeded','schedule',1767308400000000,1767308400000000,1767308400000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767308401000000,1767308402000000,1767308402000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(28,'default',1,1,'task','work','default',3,'succeeded','schedule',1767312000000000,1767312000000000,1767312000000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767312001000000,1767312002000000,1767312002000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(29,'default',6,1,'task','work','default',0,'succeeded','schedule',1767312000000000,1767312000000000,1767312000000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767312001000000,1767312002000000,1767312002000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(30,'default',8,1,'task','work','default',0,'succeeded','schedule',1767312000000000,1767312000000000,1767312000000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767312001000000,1767312002000000,1767312002000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(31,'default',1,1,'task','work','default',3,'succeeded','schedule',1767315600000000,1767315600000000,1767315600000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767315601000000,1767315602000000,1767315602000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(32,'default',1,1,'task','work','default',3,'succeeded','schedule',1767319200000000,1767319200000000,1767319200000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767319201000000,1767319202000000,1767319202000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(33,'default',3,1,'task','work','default',0,'succeeded','catch_up',1767317400000000,1767317579000000,1767317579000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767319201000000,1767319202000000,1767319202000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(34,'default',1,1,'task','work','default',3,'succeeded','schedule',1767322800000000,1767322800000000,1767322800000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767322801000000,1767322802000000,1767322802000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(35,'default',1,1,'task','work','default',3,'succeeded','schedule',1767326400000000,1767326400000000,1767326400000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767326401000000,1767326402000000,1767326402000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(36,'default',1,1,'task','work','default',3,'succeeded','schedule',1767330000000000,1767330000000000,1767330000000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767330001000000,1767330002000000,1767330002000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(37,'default',1,1,'task','work','default',3,'succeeded','schedule',1767333600000000,1767333600000000,1767333600000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767333601000000,1767333602000000,1767333602000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(38,'default',6,1,'task','work','default',0,'succeeded','schedule',1767333600000000,1767333600000000,1767333600000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767333601000000,1767333602000000,1767333602000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(39,'default',1,1,'task','work','default',3,'succeeded','schedule',1767337200000000,1767337200000000,1767337200000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767337201000000,1767337202000000,1767337202000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(40,'default',1,1,'task','work','default',3,'succeeded','schedule',1767340800000000,1767340800000000,1767340800000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767340801000000,1767340802000000,1767340802000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(41,'default',1,1,'task','work','default',3,'succeeded','schedule',1767344400000000,1767344400000000,1767344400000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767344401000000,1767344402000000,1767344402000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(42,'default',1,1,'task','work','default',3,'succeeded','schedule',1767348000000000,1767348000000000,1767348000000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767348001000000,1767348002000000,1767348002000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(43,'default',1,1,'task','work','default',3,'succeeded','schedule',1767351600000000,1767351600000000,1767351600000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767351601000000,1767351602000000,1767351602000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(44,'default',1,1,'task','work','default',3,'succeeded','schedule',1767355200000000,1767355200000000,1767355200000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767355201000000,1767355202000000,1767355202000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(45,'default',4,1,'task','work','gpu',0,'succeeded','schedule',1767355200000000,1767355200000000,1767355200000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767355201000000,1767355202000000,1767355202000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(46,'default',6,1,'task','work','default',0,'succeeded','schedule',1767355200000000,1767355200000000,1767355200000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767355201000000,1767355202000000,1767355202000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(47,'default',1,1,'task','work','default',3,'succeeded','schedule',1767358800000000,1767358800000000,1767358800000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767358801000000,1767358802000000,1767358802000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(48,'default',1,1,'task','work','default',3,'succeeded','schedule',1767362400000000,1767362400000000,1767362400000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767362401000000,1767362402000000,1767362402000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(49,'default',2,1,'task','work','default',0,'succeeded','schedule',1767362400000000,1767362400000000,1767362400000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767362401000000,1767362402000000,1767362402000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(50,'default',1,1,'task','work','default',3,'succeeded','schedule',1767366000000000,1767366000000000,1767366000000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767366001000000,1767366002000000,1767366002000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(51,'default',1,1,'task','work','default',3,'succeeded','schedule',1767369600000000,1767369600000000,1767369600000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767369601000000,1767369602000000,1767369602000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(52,'default',1,1,'task','work','default',3,'succeeded','schedule',1767373200000000,1767373200000000,1767373200000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767373201000000,1767373202000000,1767373202000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(53,'default',1,1,'task','work','default',3,'succeeded','schedule',1767376800000000,1767376800000000,1767376800000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767376801000000,1767376802000000,1767376802000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(54,'default',6,1,'task','work','default',0,'succeeded','schedule',1767376800000000,1767376800000000,1767376800000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767376801000000,1767376802000000,1767376802000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(55,'default',1,1,'task','work','default',3,'succeeded','schedule',1767380400000000,1767380400000000,1767380400000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767380401000000,1767380402000000,1767380402000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(56,'default',1,1,'task','work','default',3,'succeeded','schedule',1767384000000000,1767384000000000,1767384000000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767384001000000,1767384002000000,1767384002000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(57,'default',1,1,'task','work','default',3,'succeeded','schedule',1767387600000000,1767387600000000,1767387600000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767387601000000,1767387602000000,1767387602000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(58,'default',1,1,'task','work','default',3,'succeeded','schedule',1767391200000000,1767391200000000,1767391200000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767391201000000,1767391202000000,1767391202000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(59,'default',1,1,'task','work','default',3,'succeeded','schedule',1767394800000000,1767394800000000,1767394800000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767394801000000,1767394802000000,1767394802000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(60,'default',1,1,'task','work','default',3,'succeeded','schedule',1767398400000000,1767398400000000,1767398400000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767398401000000,1767398402000000,1767398402000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(61,'default',4,1,'task','work','gpu',0,'succeeded','schedule',1767398400000000,1767398400000000,1767398400000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767398401000000,1767398402000000,1767398402000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(62,'default',7,1,'task','work','default',0,'succeeded','schedule',1767398400000000,1767398400000000,1767398400000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767398401000000,1767398402000000,1767398402000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(63,'default',1,1,'task','work','default',3,'succeeded','schedule',1767402000000000,1767402000000000,1767402000000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767402001000000,1767402002000000,1767402002000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(64,'default',1,1,'task','work','default',3,'succeeded','schedule',1767405600000000,1767405600000000,1767405600000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767405601000000,1767405602000000,1767405602000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(65,'default',1,1,'task','work','default',3,'succeeded','schedule',1767409200000000,1767409200000000,1767409200000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767409201000000,1767409202000000,1767409202000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(66,'default',1,1,'task','work','default',3,'succeeded','schedule',1767412800000000,1767412800000000,1767412800000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767412801000000,1767412802000000,1767412802000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(67,'default',1,1,'task','work','default',3,'succeeded','schedule',1767416400000000,1767416400000000,1767416400000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767416401000000,1767416402000000,1767416402000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(68,'default',1,1,'task','work','default',3,'succeeded','schedule',1767420000000000,1767420000000000,1767420000000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767420001000000,1767420002000000,1767420002000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(69,'default',1,1,'task','work','default',3,'succeeded','schedule',1767423600000000,1767423600000000,1767423600000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767423601000000,1767423602000000,1767423602000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(70,'default',1,1,'task','work','default',3,'succeeded','schedule',1767427200000000,1767427200000000,1767427200000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767427201000000,1767427202000000,1767427202000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(71,'default',1,1,'task','work','default',3,'succeeded','schedule',1767430800000000,1767430800000000,1767430800000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767430801000000,1767430802000000,1767430802000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(72,'default',1,1,'task','work','default',3,'succeeded','schedule',1767434400000000,1767434400000000,1767434400000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767434401000000,1767434402000000,1767434402000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(73,'default',1,1,'task','work','default',3,'succeeded','schedule',1767438000000000,1767438000000000,1767438000000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767438001000000,1767438002000000,1767438002000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(74,'default',1,1,'task','work','default',3,'succeeded','schedule',1767441600000000,1767441600000000,1767441600000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767441601000000,1767441602000000,1767441602000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(75,'default',4,1,'task','work','gpu',0,'succeeded','schedule',1767441600000000,1767441600000000,1767441600000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767441601000000,1767441602000000,1767441602000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(76,'default',1,1,'task','work','default',3,'succeeded','schedule',1767445200000000,1767445200000000,1767445200000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767445201000000,1767445202000000,1767445202000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(77,'default',1,1,'task','work','default',3,'succeeded','schedule',1767448800000000,1767448800000000,1767448800000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767448801000000,1767448802000000,1767448802000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(78,'default',1,1,'task','work','default',3,'succeeded','schedule',1767452400000000,1767452400000000,1767452400000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767452401000000,1767452402000000,1767452402000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(79,'default',1,1,'task','work','default',3,'succeeded','schedule',1767456000000000,1767456000000000,1767456000000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767456001000000,1767456002000000,1767456002000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(80,'default',1,1,'task','work','default',3,'succeeded','schedule',1767459600000000,1767459600000000,1767459600000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767459601000000,1767459602000000,1767459602000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(81,'default',1,1,'task','work','default',3,'succeeded','schedule',1767463200000000,1767463200000000,1767463200000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767463201000000,1767463202000000,1767463202000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(82,'default',1,1,'task','work','default',3,'succeeded','schedule',1767466800000000,1767466800000000,1767466800000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767466801000000,1767466802000000,1767466802000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(83,'default',1,1,'task','work','default',3,'succeeded','schedule',1767470400000000,1767470400000000,1767470400000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767470401000000,1767470402000000,1767470402000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(84,'default',1,1,'task','work','default',3,'succeeded','schedule',1767474000000000,1767474000000000,1767474000000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767474001000000,1767474002000000,1767474002000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(85,'default',1,1,'task','work','default',3,'succeeded','schedule',1767477600000000,1767477600000000,1767477600000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767477601000000,1767477602000000,1767477602000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(86,'default',1,1,'task','work','default',3,'succeeded','schedule',1767481200000000,1767481200000000,1767481200000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767481201000000,1767481202000000,1767481202000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(87,'default',1,1,'task','work','default',3,'succeeded','schedule',1767484800000000,1767484800000000,1767484800000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767484801000000,1767484802000000,1767484802000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(88,'default',7,1,'task','work','default',0,'succeeded','schedule',1767484800000000,1767484800000000,1767484800000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767484801000000,1767484802000000,1767484802000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(89,'default',1,1,'task','work','default',3,'succeeded','schedule',1767488400000000,1767488400000000,1767488400000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767488401000000,1767488402000000,1767488402000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(90,'default',1,1,'task','work','default',3,'succeeded','schedule',1767492000000000,1767492000000000,1767492000000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767492001000000,1767492002000000,1767492002000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(91,'default',1,1,'task','work','default',3,'succeeded','schedule',1767495600000000,1767495600000000,1767495600000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767495601000000,1767495602000000,1767495602000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(92,'default',1,1,'task','work','default',3,'succeeded','schedule',1767499200000000,1767499200000000,1767499200000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767499201000000,1767499202000000,1767499202000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(93,'default',1,1,'task','work','default',3,'succeeded','schedule',1767502800000000,1767502800000000,1767502800000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767502801000000,1767502802000000,1767502802000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(94,'default',1,1,'task','work','default',3,'succeeded','schedule',1767506400000000,1767506400000000,1767506400000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767506401000000,1767506402000000,1767506402000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(95,'default',1,1,'task','work','default',3,'succeeded','schedule',1767510000000000,1767510000000000,1767510000000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767510001000000,1767510002000000,1767510002000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(96,'default',1,1,'task','work','default',3,'succeeded','schedule',1767513600000000,1767513600000000,1767513600000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767513601000000,1767513602000000,1767513602000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(97,'default',1,1,'task','work','default',3,'succeeded','schedule',1767517200000000,1767517200000000,1767517200000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767517201000000,1767517202000000,1767517202000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(98,'default',1,1,'task','work','default',3,'succeeded','schedule',1767520800000000,1767520800000000,1767520800000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767520801000000,1767520802000000,1767520802000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(99,'default',1,1,'task','work','default',3,'succeeded','schedule',1767524400000000,1767524400000000,1767524400000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767524401000000,1767524402000000,1767524402000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(100,'default',1,1,'task','work','default',3,'succeeded','schedule',1767528000000000,1767528000000000,1767528000000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767528001000000,1767528002000000,1767528002000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(101,'default',4,1,'task','work','gpu',0,'succeeded','schedule',1767528000000000,1767528000000000,1767528000000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767528001000000,1767528002000000,1767528002000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(102,'default',1,1,'task','work','default',3,'succeeded','schedule',1767531600000000,1767531600000000,1767531600000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767531601000000,1767531602000000,1767531602000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(103,'default',1,1,'task','work','default',3,'succeeded','schedule',1767535200000000,1767535200000000,1767535200000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767535201000000,1767535202000000,1767535202000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(104,'default',1,1,'task','work','default',3,'succeeded','schedule',1767538800000000,1767538800000000,1767538800000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767538801000000,1767538802000000,1767538802000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(105,'default',1,1,'task','work','default',3,'succeeded','schedule',1767542400000000,1767542400000000,1767542400000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767542401000000,1767542402000000,1767542402000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(106,'default',1,1,'task','work','default',3,'succeeded','schedule',1767546000000000,1767546000000000,1767546000000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767546001000000,1767546002000000,1767546002000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(107,'default',1,1,'task','work','default',3,'succeeded','schedule',1767549600000000,1767549600000000,1767549600000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767549601000000,1767549602000000,1767549602000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(108,'default',1,1,'task','work','default',3,'succeeded','schedule',1767553200000000,1767553200000000,1767553200000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767553201000000,1767553202000000,1767553202000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(109,'default',1,1,'task','work','default',3,'succeeded','schedule',1767556800000000,1767556800000000,1767556800000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767556801000000,1767556802000000,1767556802000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(110,'default',1,1,'task','work','default',3,'succeeded','schedule',1767560400000000,1767560400000000,1767560400000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767560401000000,1767560402000000,1767560402000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(111,'default',1,1,'task','work','default',3,'succeeded','schedule',1767564000000000,1767564000000000,1767564000000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767564001000000,1767564002000000,1767564002000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(112,'default',1,1,'task','work','default',3,'succeeded','schedule',1767567600000000,1767567600000000,1767567600000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767567601000000,1767567602000000,1767567602000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(113,'default',9,3,'task','coded','default',0,'succeeded','schedule',1767578400000000,1767578400000000,1767578400000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767578401000000,1767578402000000,1767578402000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(114,'default',1,1,'task','work','default',3,'queued','catch_up',1767571200000000,1767571200000000,1767571200000000,NULL,1767571200000000,1767574800000000,2,0,NULL,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,NULL,1767578401000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(115,'default',3,1,'task','work','default',0,'queued','catch_up',1767576600000000,1767576779000000,1767576779000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,NULL,1767578401000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(116,'default',4,1,'task','work','gpu',0,'queued','catch_up',1767571200000000,1767571200000000,1767571200000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,NULL,1767578401000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(117,'default',7,1,'task','work','default',0,'queued','catch_up',1767571200000000,1767571200000000,1767571200000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,NULL,1767578401000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(118,'default',8,1,'task','work','default',0,'queued','catch_up',1767571200000000,1767571200000000,1767571200000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,NULL,1767578401000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(119,'default',10,1,'task','skip','default',0,'queued','schedule',1767658200000000,1767658200000000,1768089630000000,NULL,NULL,NULL,NULL,1,955155156,0,1,3,0,0,NULL,NULL,NULL,NULL,NULL,NULL,1767658201000000,1767658202000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'worker w1 was lost while it ran this','lost');
INSERT INTO "runs" VALUES(120,'default',11,1,'task','queue','default',0,'queued','schedule',1767658200000000,1767658200000000,1768089630000000,NULL,NULL,NULL,NULL,1,955155156,0,1,3,0,0,NULL,NULL,NULL,NULL,NULL,NULL,1767658201000000,1767658202000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'worker w1 was lost while it ran this','lost');
INSERT INTO "runs" VALUES(121,'default',12,1,'task','replace','default',0,'cancelled','schedule',1767658200000000,1767658200000000,1767658200000000,NULL,NULL,NULL,NULL,1,955155156,0,1,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767658201000000,1767658202000000,1768089630000000,NULL,'replaced',1767658801000000,'planner',NULL,NULL,NULL,NULL,'worker w1 was lost while it ran this','lost');
INSERT INTO "runs" VALUES(122,'default',13,1,'task','allow','default',0,'queued','schedule',1767658200000000,1767658200000000,1768089630000000,NULL,NULL,NULL,NULL,1,955155156,0,1,3,0,0,NULL,NULL,NULL,NULL,NULL,NULL,1767658201000000,1767658202000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'worker w1 was lost while it ran this','lost');
INSERT INTO "runs" VALUES(123,'default',2,1,'task','work','default',0,'queued','catch_up',1767621600000000,1767621600000000,1767621600000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,NULL,1767658201000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(124,'default',9,3,'task','coded','default',0,'queued','catch_up',1767585600000000,1767585600000000,1767585600000000,NULL,1767585600000000,1767657600000000,11,0,NULL,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,NULL,1767658201000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(125,'default',13,1,'task','allow','default',0,'queued','schedule',1767658800000000,1767658800000000,1767658800000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,NULL,1767658801000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(126,'default',11,1,'task','queue','default',0,'waiting','schedule',1767658800000000,1767658800000000,1767658800000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,NULL,1767658801000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(127,'default',12,1,'task','replace','default',0,'cancelled','schedule',1767658800000000,1767658800000000,1767658800000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,NULL,1767658801000000,NULL,1767659401000000,NULL,'replaced',1767659401000000,'planner',NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(128,'default',13,1,'task','allow','default',0,'queued','schedule',1767659400000000,1767659400000000,1767659400000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,NULL,1767659401000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(129,'default',12,1,'task','replace','default',0,'cancelled','schedule',1767659400000000,1767659400000000,1767659400000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,NULL,1767659401000000,NULL,1767772830000000,NULL,'replaced',1767772830000000,'planner',NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(130,'default',12,1,'task','replace','default',0,'cancelled','catch_up',1767660000000000,1767660000000000,1767660000000000,NULL,1767660000000000,1767772800000000,189,0,NULL,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,NULL,1767772830000000,NULL,1767834001000000,NULL,'replaced',1767834001000000,'planner',NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(131,'default',13,1,'task','allow','default',0,'queued','catch_up',1767660000000000,1767660000000000,1767660000000000,NULL,1767660000000000,1767772800000000,189,0,NULL,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,NULL,1767772830000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(132,'default',14,1,'task','late','default',0,'queued','catch_up',1767747600000000,1767747600000000,1767747600000000,NULL,1767747600000000,1767772800000000,8,0,NULL,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,NULL,1767772830000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(133,'default',15,1,'task','late','default',0,'queued','catch_up',1767772800000000,1767772800000000,1767772800000000,NULL,1767747600000000,1767772800000000,8,0,NULL,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,NULL,1767772830000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(134,'default',16,1,'task','late','default',0,'queued','catch_up',1767765600000000,1767765600000000,1767765600000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,NULL,1767772830000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(135,'default',16,1,'task','late','default',0,'waiting','catch_up',1767769200000000,1767769200000000,1767769200000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,NULL,1767772830000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(136,'default',16,1,'task','late','default',0,'waiting','catch_up',1767772800000000,1767772800000000,1767772800000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,NULL,1767772830000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(137,'default',18,1,'task','late','default',0,'queued','catch_up',1767747600000000,1767747600000000,1767776400000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,NULL,1767772830000000,NULL,NULL,NULL,NULL,NULL,NULL,1767776400000000,'ada',NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(138,'default',18,1,'task','late','default',0,'waiting','catch_up',1767751200000000,1767751200000000,1767776400000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,NULL,1767772830000000,NULL,NULL,NULL,NULL,NULL,NULL,1767776400000000,'ada',NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(139,'default',18,1,'task','late','default',0,'cancelled','catch_up',1767754800000000,1767754800000000,1767754800000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,NULL,1767772830000000,NULL,1767776400000000,NULL,'dropped',1767776400000000,'ada',NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(140,'default',18,1,'task','late','default',0,'waiting','catch_up',1767758400000000,1767758400000000,1767758400000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1767772830000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(141,'default',18,1,'task','late','default',0,'waiting','catch_up',1767762000000000,1767762000000000,1767762000000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1767772830000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(142,'default',18,1,'task','late','default',0,'waiting','catch_up',1767765600000000,1767765600000000,1767765600000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1767772830000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(143,'default',18,1,'task','late','default',0,'waiting','catch_up',1767769200000000,1767769200000000,1767769200000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1767772830000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(144,'default',18,1,'task','late','default',0,'waiting','catch_up',1767772800000000,1767772800000000,1767772800000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1767772830000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(145,'default',19,1,'task','changed','default',0,'succeeded','schedule',1767834000000000,1767834000000000,1767834000000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767834005000000,1767834002000000,1767834002000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(146,'default',23,1,'task','changed','default',0,'succeeded','catch_up',1767834000000000,1767834000000000,1767834000000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767837605000000,1767834002000000,1767834002000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(147,'default',24,1,'task','changed','default',0,'succeeded','catch_up',1767834000000000,1767834000000000,1767834000000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767837605000000,1767834002000000,1767834002000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(148,'default',25,1,'task','changed','default',0,'succeeded','manual',NULL,1767830409000000,1767830409000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767830409000000,1767834002000000,1767834002000000,'ada',NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(149,'default',12,1,'task','replace','default',0,'cancelled','schedule',1767834000000000,1767834000000000,1767834000000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,NULL,1767834001000000,NULL,1767837601000000,NULL,'replaced',1767837601000000,'planner',NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(150,'default',13,1,'task','allow','default',0,'queued','catch_up',1767773400000000,1767773400000000,1767773400000000,NULL,1767773400000000,1767833400000000,101,0,NULL,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,NULL,1767834001000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(151,'default',13,1,'task','allow','default',0,'queued','schedule',1767834000000000,1767834000000000,1767834000000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,NULL,1767834001000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(152,'default',16,1,'task','late','default',0,'waiting','catch_up',1767823200000000,1767823200000000,1767823200000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,NULL,1767834001000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(153,'default',16,1,'task','late','default',0,'waiting','catch_up',1767826800000000,1767826800000000,1767826800000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,NULL,1767834001000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(154,'default',16,1,'task','late','default',0,'waiting','catch_up',1767830400000000,1767830400000000,1767830400000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,NULL,1767834001000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(155,'default',17,1,'task','late','default',0,'cancelled','schedule',1767834000000000,1767834000000000,1767834000000000,1767834010000000,NULL,NULL,NULL,0,NULL,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,NULL,1767834001000000,NULL,1768089630000000,NULL,'misfire',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(156,'default',18,1,'task','late','default',0,'waiting','catch_up',1767776400000000,1767776400000000,1767776400000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1767834001000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(157,'default',18,1,'task','late','default',0,'waiting','catch_up',1767780000000000,1767780000000000,1767780000000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1767834001000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(158,'default',18,1,'task','late','default',0,'waiting','catch_up',1767783600000000,1767783600000000,1767783600000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1767834001000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(159,'default',18,1,'task','late','default',0,'waiting','catch_up',1767787200000000,1767787200000000,1767787200000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1767834001000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(160,'default',18,1,'task','late','default',0,'waiting','catch_up',1767790800000000,1767790800000000,1767790800000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1767834001000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(161,'default',18,1,'task','late','default',0,'waiting','catch_up',1767794400000000,1767794400000000,1767794400000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1767834001000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(162,'default',18,1,'task','late','default',0,'waiting','catch_up',1767798000000000,1767798000000000,1767798000000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1767834001000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(163,'default',18,1,'task','late','default',0,'waiting','catch_up',1767801600000000,1767801600000000,1767801600000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1767834001000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(164,'default',18,1,'task','late','default',0,'waiting','catch_up',1767805200000000,1767805200000000,1767805200000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1767834001000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(165,'default',18,1,'task','late','default',0,'waiting','catch_up',1767808800000000,1767808800000000,1767808800000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1767834001000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(166,'default',18,1,'task','late','default',0,'waiting','catch_up',1767812400000000,1767812400000000,1767812400000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1767834001000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(167,'default',18,1,'task','late','default',0,'waiting','catch_up',1767816000000000,1767816000000000,1767816000000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1767834001000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(168,'default',18,1,'task','late','default',0,'waiting','catch_up',1767819600000000,1767819600000000,1767819600000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1767834001000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(169,'default',18,1,'task','late','default',0,'waiting','catch_up',1767823200000000,1767823200000000,1767823200000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1767834001000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(170,'default',18,1,'task','late','default',0,'waiting','catch_up',1767826800000000,1767826800000000,1767826800000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1767834001000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(171,'default',18,1,'task','late','default',0,'waiting','catch_up',1767830400000000,1767830400000000,1767830400000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1767834001000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(172,'default',25,1,'task','changed','default',0,'succeeded','schedule',1767834000000000,1767834000000000,1767834002000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767834001000000,1767834002000000,1767834002000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(173,'default',25,1,'task','changed','default',0,'succeeded','schedule',1767837600000000,1767837600000000,1767837600000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767837601000000,1767837602000000,1767837602000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(174,'default',12,1,'task','replace','default',0,'cancelled','schedule',1767837600000000,1767837600000000,1767837600000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,NULL,1767837601000000,NULL,1767841201000000,NULL,'replaced',1767841201000000,'planner',NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(175,'default',13,1,'task','allow','default',0,'queued','catch_up',1767834600000000,1767834600000000,1767834600000000,NULL,1767834600000000,1767837000000000,5,0,NULL,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,NULL,1767837601000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(176,'default',13,1,'task','allow','default',0,'queued','schedule',1767837600000000,1767837600000000,1767837600000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,NULL,1767837601000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(177,'default',24,2,'task','changed','default',0,'succeeded','schedule',1767841200000000,1767841200000000,1767841200000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767841201000000,1767841202000000,1767841202000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(178,'default',25,1,'task','changed','default',0,'succeeded','schedule',1767841200000000,1767841200000000,1767841200000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767841201000000,1767841202000000,1767841202000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(179,'default',12,1,'task','replace','default',0,'cancelled','schedule',1767841200000000,1767841200000000,1767841200000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,NULL,1767841201000000,NULL,1767844801000000,NULL,'replaced',1767844801000000,'planner',NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(180,'default',13,1,'task','allow','default',0,'queued','catch_up',1767838200000000,1767838200000000,1767838200000000,NULL,1767838200000000,1767840600000000,5,0,NULL,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,NULL,1767841201000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(181,'default',13,1,'task','allow','default',0,'queued','schedule',1767841200000000,1767841200000000,1767841200000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,NULL,1767841201000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(182,'default',22,2,'task','changed','default',0,'succeeded','schedule',1767844800000000,1767844800000000,1767844800000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767844801000000,1767844802000000,1767844802000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(183,'default',24,2,'task','changed','default',0,'succeeded','schedule',1767844800000000,1767844800000000,1767844800000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767844801000000,1767844802000000,1767844802000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(184,'default',25,1,'task','changed','default',0,'succeeded','schedule',1767844800000000,1767844800000000,1767844800000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767844801000000,1767844802000000,1767844802000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(185,'default',12,1,'task','replace','default',0,'cancelled','schedule',1767844800000000,1767844800000000,1767844800000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,NULL,1767844801000000,NULL,1767848401000000,NULL,'replaced',1767848401000000,'planner',NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(186,'default',13,1,'task','allow','default',0,'queued','catch_up',1767841800000000,1767841800000000,1767841800000000,NULL,1767841800000000,1767844200000000,5,0,NULL,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,NULL,1767844801000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(187,'default',13,1,'task','allow','default',0,'queued','schedule',1767844800000000,1767844800000000,1767844800000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,NULL,1767844801000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(188,'default',22,2,'task','changed','default',0,'succeeded','schedule',1767848400000000,1767848400000000,1767848400000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767848401000000,1767848402000000,1767848402000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(189,'default',24,2,'task','changed','default',0,'succeeded','schedule',1767848400000000,1767848400000000,1767848400000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767848401000000,1767848402000000,1767848402000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(190,'default',25,1,'task','changed','default',0,'succeeded','schedule',1767848400000000,1767848400000000,1767848400000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767848401000000,1767848402000000,1767848402000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(191,'default',12,1,'task','replace','default',0,'cancelled','schedule',1767848400000000,1767848400000000,1767848400000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,NULL,1767848401000000,NULL,1767852001000000,NULL,'replaced',1767852001000000,'planner',NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(192,'default',13,1,'task','allow','default',0,'queued','catch_up',1767845400000000,1767845400000000,1767845400000000,NULL,1767845400000000,1767847800000000,5,0,NULL,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,NULL,1767848401000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(193,'default',13,1,'task','allow','default',0,'queued','schedule',1767848400000000,1767848400000000,1767848400000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,NULL,1767848401000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(194,'default',20,3,'task','changed','default',0,'succeeded','schedule',1767852000000000,1767852000000000,1767852000000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767852001000000,1767852002000000,1767852002000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(195,'default',22,2,'task','changed','default',0,'succeeded','schedule',1767852000000000,1767852000000000,1767852000000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767852001000000,1767852002000000,1767852002000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(196,'default',24,2,'task','changed','default',0,'succeeded','schedule',1767852000000000,1767852000000000,1767852000000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767852001000000,1767852002000000,1767852002000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(197,'default',25,1,'task','changed','default',0,'succeeded','schedule',1767852000000000,1767852000000000,1767852000000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767852001000000,1767852002000000,1767852002000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(198,'default',12,1,'task','replace','default',0,'cancelled','schedule',1767852000000000,1767852000000000,1767852000000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,NULL,1767852001000000,NULL,1767855601000000,NULL,'replaced',1767855601000000,'planner',NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(199,'default',13,1,'task','allow','default',0,'queued','catch_up',1767849000000000,1767849000000000,1767849000000000,NULL,1767849000000000,1767851400000000,5,0,NULL,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,NULL,1767852001000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(200,'default',13,1,'task','allow','default',0,'queued','schedule',1767852000000000,1767852000000000,1767852000000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,NULL,1767852001000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(201,'default',21,2,'task','changed','default',0,'succeeded','catch_up',1767834000000000,1767848407000000,1767848407000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767852001000000,1767852002000000,1767852002000000,NULL,NULL,NULL,NULL,NULL,NULL,'{"actor":"ada","created_at":1767830405,"moved":true,"payload":false,"note":""}','{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(202,'default',20,3,'task','changed','default',0,'succeeded','schedule',1767855600000000,1767855600000000,1767855600000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767855601000000,1767855602000000,1767855602000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(203,'default',21,2,'task','changed','default',0,'succeeded','schedule',1767855600000000,1767855600000000,1767855600000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767855601000000,1767855602000000,1767855602000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(204,'default',22,2,'task','changed','default',0,'succeeded','schedule',1767855600000000,1767855600000000,1767855600000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767855601000000,1767855602000000,1767855602000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(205,'default',24,2,'task','changed','default',0,'succeeded','schedule',1767855600000000,1767855600000000,1767855600000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767855601000000,1767855602000000,1767855602000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(206,'default',25,1,'task','changed','default',0,'succeeded','schedule',1767855600000000,1767855600000000,1767855600000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1767855601000000,1767855602000000,1767855602000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"n":1}',NULL,NULL);
INSERT INTO "runs" VALUES(207,'default',12,1,'task','replace','default',0,'cancelled','schedule',1767855600000000,1767855600000000,1767855600000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,NULL,1767855601000000,NULL,1767920401000000,NULL,'replaced',1767920401000000,'planner',NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(208,'default',13,1,'task','allow','default',0,'queued','catch_up',1767852600000000,1767852600000000,1767852600000000,NULL,1767852600000000,1767855000000000,5,0,NULL,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,NULL,1767855601000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(209,'default',13,1,'task','allow','default',0,'queued','schedule',1767855600000000,1767855600000000,1767855600000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,NULL,1767855601000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(210,'default',25,1,'task','changed','default',0,'queued','schedule',1767859200000000,1767859200000000,1767859200000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,NULL,1767859200000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(211,'default',25,1,'task','changed','default',0,'waiting','retry',NULL,1767859200000000,1767859200000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,0,0,NULL,NULL,NULL,148,NULL,NULL,1767859200000000,NULL,NULL,'ada',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(212,'default',12,1,'task','replace','default',0,'cancelled','schedule',1767920400000000,1767920400000000,1768089630000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,NULL,1767920401000000,NULL,1768262400000000,NULL,'replaced',1768262400000000,'planner',NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(213,'default',13,1,'task','allow','default',0,'queued','catch_up',1767856200000000,1767856200000000,1767856200000000,NULL,1767856200000000,1767919800000000,107,0,NULL,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,NULL,1767920401000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(214,'default',13,1,'task','allow','default',0,'queued','schedule',1767920400000000,1767920400000000,1767920400000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,NULL,1767920401000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(215,'default',16,1,'task','late','default',0,'waiting','catch_up',1767909600000000,1767909600000000,1767909600000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,NULL,1767920401000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(216,'default',16,1,'task','late','default',0,'waiting','catch_up',1767913200000000,1767913200000000,1767913200000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,NULL,1767920401000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(217,'default',16,1,'task','late','default',0,'waiting','catch_up',1767916800000000,1767916800000000,1767916800000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,NULL,1767920401000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(218,'default',18,1,'task','late','default',0,'waiting','catch_up',1767859200000000,1767859200000000,1767859200000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1767920401000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(219,'default',18,1,'task','late','default',0,'waiting','catch_up',1767862800000000,1767862800000000,1767862800000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1767920401000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(220,'default',18,1,'task','late','default',0,'waiting','catch_up',1767866400000000,1767866400000000,1767866400000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1767920401000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(221,'default',18,1,'task','late','default',0,'waiting','catch_up',1767870000000000,1767870000000000,1767870000000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1767920401000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(222,'default',18,1,'task','late','default',0,'waiting','catch_up',1767873600000000,1767873600000000,1767873600000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1767920401000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(223,'default',18,1,'task','late','default',0,'waiting','catch_up',1767877200000000,1767877200000000,1767877200000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1767920401000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(224,'default',18,1,'task','late','default',0,'waiting','catch_up',1767880800000000,1767880800000000,1767880800000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1767920401000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(225,'default',18,1,'task','late','default',0,'waiting','catch_up',1767884400000000,1767884400000000,1767884400000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1767920401000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(226,'default',18,1,'task','late','default',0,'waiting','catch_up',1767888000000000,1767888000000000,1767888000000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1767920401000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(227,'default',18,1,'task','late','default',0,'waiting','catch_up',1767891600000000,1767891600000000,1767891600000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1767920401000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(228,'default',18,1,'task','late','default',0,'waiting','catch_up',1767895200000000,1767895200000000,1767895200000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1767920401000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(229,'default',18,1,'task','late','default',0,'waiting','catch_up',1767898800000000,1767898800000000,1767898800000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1767920401000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(230,'default',18,1,'task','late','default',0,'waiting','catch_up',1767902400000000,1767902400000000,1767902400000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1767920401000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(231,'default',18,1,'task','late','default',0,'waiting','catch_up',1767906000000000,1767906000000000,1767906000000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1767920401000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(232,'default',18,1,'task','late','default',0,'waiting','catch_up',1767909600000000,1767909600000000,1767909600000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1767920401000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(233,'default',18,1,'task','late','default',0,'waiting','catch_up',1767913200000000,1767913200000000,1767913200000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1767920401000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(234,'default',18,1,'task','late','default',0,'waiting','catch_up',1767916800000000,1767916800000000,1767916800000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1767920401000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(235,'default',20,3,'task','changed','default',0,'queued','catch_up',1767859200000000,1767859200000000,1767859200000000,NULL,1767859200000000,1767916800000000,17,0,NULL,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,NULL,1767920401000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(236,'default',21,2,'task','changed','default',0,'queued','catch_up',1767859200000000,1767859200000000,1767859200000000,NULL,1767859200000000,1767916800000000,17,0,NULL,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,NULL,1767920401000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(237,'default',22,2,'task','changed','default',0,'queued','catch_up',1767859200000000,1767859200000000,1767859200000000,NULL,1767859200000000,1767916800000000,17,0,NULL,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,NULL,1767920401000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(238,'default',24,2,'task','changed','default',0,'queued','catch_up',1767859200000000,1767859200000000,1767859200000000,NULL,1767859200000000,1767916800000000,17,0,NULL,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,NULL,1767920401000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(239,'default',26,1,'task','keyed','default',0,'queued','schedule',1767920400000000,1767920400000000,1768089630000000,NULL,NULL,NULL,NULL,1,955155156,0,1,3,0,0,'warehouse',NULL,NULL,NULL,NULL,NULL,1767920401000000,1767920402000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'worker w1 was lost while it ran this','lost');
INSERT INTO "runs" VALUES(240,'default',27,1,'task','keyed','default',0,'queued','schedule',1767920400000000,1767920400000000,1767920400000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,0,0,'warehouse',NULL,NULL,NULL,NULL,NULL,1767920401000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(241,'default',28,1,'task','keyed','default',0,'waiting','schedule',1767920400000000,1767920400000000,1767920400000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,0,0,'warehouse',NULL,NULL,NULL,NULL,NULL,1767920401000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(242,'default',NULL,NULL,'task','later','default',0,'queued','manual',NULL,1767916800000000,1767916800000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,0,0,NULL,'order-7',NULL,NULL,NULL,NULL,1767916800000000,NULL,NULL,'ada',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(243,'default',29,3,'task','filled','default',0,'succeeded','schedule',1768039200000000,1768039200000000,1768039200000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1768039200000000,1768039200000000,1768039200000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(244,'default',29,3,'task','filled','default',0,'queued','backfill',1768006800000000,1768006800000000,1768039200000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,0,0,NULL,NULL,1,NULL,NULL,NULL,1768039200000000,NULL,NULL,'ben',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(245,'default',29,3,'task','filled','default',0,'waiting','backfill',1768010400000000,1768010400000000,1768039200000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,1,0,NULL,NULL,1,NULL,NULL,NULL,1768039200000000,NULL,NULL,'ben',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(246,'default',29,3,'task','filled','default',0,'waiting','backfill',1768014000000000,1768014000000000,1768039200000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,1,0,NULL,NULL,1,NULL,NULL,NULL,1768039200000000,NULL,NULL,'ben',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(247,'default',29,3,'task','filled','default',0,'waiting','backfill',1768017600000000,1768017600000000,1768039200000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,1,0,NULL,NULL,1,NULL,NULL,NULL,1768039200000000,NULL,NULL,'ben',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(248,'default',29,3,'task','filled','default',0,'cancelled','backfill',1768024800000000,1768024800000000,1768039200000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,0,0,NULL,NULL,2,NULL,NULL,NULL,1768039200000000,NULL,1768042800000000,'ben','backfill 2 cancelled by ben: enough',1768042800000000,'ben',NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(249,'default',29,3,'task','filled','default',0,'cancelled','backfill',1768028400000000,1768028400000000,1768039200000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,0,0,NULL,NULL,2,NULL,NULL,NULL,1768039200000000,NULL,1768042800000000,'ben','backfill 2 cancelled by ben: enough',1768042800000000,'ben',NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(250,'default',29,3,'task','filled','default',0,'cancelled','backfill',1768032000000000,1768032000000000,1768039200000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,0,0,NULL,NULL,2,NULL,NULL,NULL,1768039200000000,NULL,1768042800000000,'ben','backfill 2 cancelled by ben: enough',1768042800000000,'ben',NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(251,'default',29,3,'task','filled','default',0,'cancelled','backfill',1768035600000000,1768035600000000,1768039200000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,0,0,NULL,NULL,2,NULL,NULL,NULL,1768039200000000,NULL,1768042800000000,'ben','backfill 2 cancelled by ben: enough',1768042800000000,'ben',NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(252,'default',NULL,NULL,'task','fails','default',0,'failed','manual',NULL,1768089600000000,1768089662000000,NULL,NULL,NULL,NULL,2,955155156,2,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1768089600000000,1768089670000000,1768089671000000,'ada',NULL,NULL,NULL,NULL,NULL,NULL,NULL,'Boom: still none','raised');
INSERT INTO "runs" VALUES(253,'default',NULL,NULL,'task','lost','default',0,'queued','manual',NULL,1768089600000000,1768089630000000,NULL,NULL,NULL,NULL,1,955155156,0,1,3,0,0,NULL,NULL,NULL,NULL,NULL,NULL,1768089600000000,1768089601000000,NULL,'ada',NULL,NULL,NULL,NULL,NULL,NULL,NULL,'worker w1 was lost while it ran this','lost');
INSERT INTO "runs" VALUES(254,'default',NULL,NULL,'task','stops','default',0,'cancelled','manual',NULL,1768089600000000,1768089600000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,NULL,1768089600000000,NULL,1768089640000000,'ada','wrong day',1768089640000000,'ada',NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(255,'default',NULL,NULL,'task','talks','default',0,'succeeded','manual',NULL,1768089600000000,1768089600000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,'w1',1768089600000000,1768089650000000,1768089655000000,'ada',NULL,NULL,NULL,NULL,NULL,NULL,'{"rows":3}',NULL,NULL);
INSERT INTO "runs" VALUES(256,'default',NULL,NULL,'task','runs','default',0,'running','manual',NULL,1768089600000000,1768089600000000,NULL,NULL,NULL,NULL,1,955155156,0,0,3,0,0,NULL,NULL,NULL,NULL,1768176060000000,'w1',1768089600000000,1768089660000000,NULL,'ada',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(257,'default',NULL,NULL,'task','waits','default',0,'queued','manual',NULL,1768089600000000,1768089600000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,NULL,1768089600000000,NULL,NULL,'ada',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(258,'default',NULL,NULL,'task','fails','default',0,'queued','retry',NULL,1768089680000000,1768089680000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,0,0,NULL,NULL,NULL,252,NULL,NULL,1768089680000000,NULL,NULL,'ada',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(259,'default',12,1,'task','replace','default',0,'queued','schedule',1768262400000000,1768262400000000,1768262400000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(260,'default',13,1,'task','allow','default',0,'queued','catch_up',1767921000000000,1767921000000000,1767921000000000,NULL,1767921000000000,1768261800000000,569,0,NULL,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(261,'default',13,1,'task','allow','default',0,'queued','schedule',1768262400000000,1768262400000000,1768262400000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(262,'default',16,1,'task','late','default',0,'waiting','catch_up',1768251600000000,1768251600000000,1768251600000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(263,'default',16,1,'task','late','default',0,'waiting','catch_up',1768255200000000,1768255200000000,1768255200000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(264,'default',16,1,'task','late','default',0,'waiting','catch_up',1768258800000000,1768258800000000,1768258800000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(265,'default',17,1,'task','late','default',0,'queued','schedule',1768262400000000,1768262400000000,1768262400000000,1768262410000000,NULL,NULL,NULL,0,NULL,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(266,'default',18,1,'task','late','default',0,'waiting','catch_up',1767924000000000,1767924000000000,1767924000000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(267,'default',18,1,'task','late','default',0,'waiting','catch_up',1767927600000000,1767927600000000,1767927600000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(268,'default',18,1,'task','late','default',0,'waiting','catch_up',1767931200000000,1767931200000000,1767931200000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(269,'default',18,1,'task','late','default',0,'waiting','catch_up',1767934800000000,1767934800000000,1767934800000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(270,'default',18,1,'task','late','default',0,'waiting','catch_up',1767938400000000,1767938400000000,1767938400000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(271,'default',18,1,'task','late','default',0,'waiting','catch_up',1767942000000000,1767942000000000,1767942000000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(272,'default',18,1,'task','late','default',0,'waiting','catch_up',1767945600000000,1767945600000000,1767945600000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(273,'default',18,1,'task','late','default',0,'waiting','catch_up',1767949200000000,1767949200000000,1767949200000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(274,'default',18,1,'task','late','default',0,'waiting','catch_up',1767952800000000,1767952800000000,1767952800000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(275,'default',18,1,'task','late','default',0,'waiting','catch_up',1767956400000000,1767956400000000,1767956400000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(276,'default',18,1,'task','late','default',0,'waiting','catch_up',1767960000000000,1767960000000000,1767960000000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(277,'default',18,1,'task','late','default',0,'waiting','catch_up',1767963600000000,1767963600000000,1767963600000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(278,'default',18,1,'task','late','default',0,'waiting','catch_up',1767967200000000,1767967200000000,1767967200000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(279,'default',18,1,'task','late','default',0,'waiting','catch_up',1767970800000000,1767970800000000,1767970800000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(280,'default',18,1,'task','late','default',0,'waiting','catch_up',1767974400000000,1767974400000000,1767974400000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(281,'default',18,1,'task','late','default',0,'waiting','catch_up',1767978000000000,1767978000000000,1767978000000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(282,'default',18,1,'task','late','default',0,'waiting','catch_up',1767981600000000,1767981600000000,1767981600000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(283,'default',18,1,'task','late','default',0,'waiting','catch_up',1767985200000000,1767985200000000,1767985200000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(284,'default',18,1,'task','late','default',0,'waiting','catch_up',1767988800000000,1767988800000000,1767988800000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(285,'default',18,1,'task','late','default',0,'waiting','catch_up',1767992400000000,1767992400000000,1767992400000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(286,'default',18,1,'task','late','default',0,'waiting','catch_up',1767996000000000,1767996000000000,1767996000000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(287,'default',18,1,'task','late','default',0,'waiting','catch_up',1767999600000000,1767999600000000,1767999600000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(288,'default',18,1,'task','late','default',0,'waiting','catch_up',1768003200000000,1768003200000000,1768003200000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(289,'default',18,1,'task','late','default',0,'waiting','catch_up',1768006800000000,1768006800000000,1768006800000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(290,'default',18,1,'task','late','default',0,'waiting','catch_up',1768010400000000,1768010400000000,1768010400000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(291,'default',18,1,'task','late','default',0,'waiting','catch_up',1768014000000000,1768014000000000,1768014000000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(292,'default',18,1,'task','late','default',0,'waiting','catch_up',1768017600000000,1768017600000000,1768017600000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(293,'default',18,1,'task','late','default',0,'waiting','catch_up',1768021200000000,1768021200000000,1768021200000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(294,'default',18,1,'task','late','default',0,'waiting','catch_up',1768024800000000,1768024800000000,1768024800000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(295,'default',18,1,'task','late','default',0,'waiting','catch_up',1768028400000000,1768028400000000,1768028400000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(296,'default',18,1,'task','late','default',0,'waiting','catch_up',1768032000000000,1768032000000000,1768032000000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(297,'default',18,1,'task','late','default',0,'waiting','catch_up',1768035600000000,1768035600000000,1768035600000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(298,'default',18,1,'task','late','default',0,'waiting','catch_up',1768039200000000,1768039200000000,1768039200000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(299,'default',18,1,'task','late','default',0,'waiting','catch_up',1768042800000000,1768042800000000,1768042800000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(300,'default',18,1,'task','late','default',0,'waiting','catch_up',1768046400000000,1768046400000000,1768046400000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(301,'default',18,1,'task','late','default',0,'waiting','catch_up',1768050000000000,1768050000000000,1768050000000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(302,'default',18,1,'task','late','default',0,'waiting','catch_up',1768053600000000,1768053600000000,1768053600000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(303,'default',18,1,'task','late','default',0,'waiting','catch_up',1768057200000000,1768057200000000,1768057200000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(304,'default',18,1,'task','late','default',0,'waiting','catch_up',1768060800000000,1768060800000000,1768060800000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(305,'default',18,1,'task','late','default',0,'waiting','catch_up',1768064400000000,1768064400000000,1768064400000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(306,'default',18,1,'task','late','default',0,'waiting','catch_up',1768068000000000,1768068000000000,1768068000000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(307,'default',18,1,'task','late','default',0,'waiting','catch_up',1768071600000000,1768071600000000,1768071600000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(308,'default',18,1,'task','late','default',0,'waiting','catch_up',1768075200000000,1768075200000000,1768075200000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(309,'default',18,1,'task','late','default',0,'waiting','catch_up',1768078800000000,1768078800000000,1768078800000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(310,'default',18,1,'task','late','default',0,'waiting','catch_up',1768082400000000,1768082400000000,1768082400000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(311,'default',18,1,'task','late','default',0,'waiting','catch_up',1768086000000000,1768086000000000,1768086000000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(312,'default',18,1,'task','late','default',0,'waiting','catch_up',1768089600000000,1768089600000000,1768089600000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(313,'default',18,1,'task','late','default',0,'waiting','catch_up',1768093200000000,1768093200000000,1768093200000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(314,'default',18,1,'task','late','default',0,'waiting','catch_up',1768096800000000,1768096800000000,1768096800000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(315,'default',18,1,'task','late','default',0,'waiting','catch_up',1768100400000000,1768100400000000,1768100400000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(316,'default',18,1,'task','late','default',0,'waiting','catch_up',1768104000000000,1768104000000000,1768104000000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(317,'default',18,1,'task','late','default',0,'waiting','catch_up',1768107600000000,1768107600000000,1768107600000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(318,'default',18,1,'task','late','default',0,'waiting','catch_up',1768111200000000,1768111200000000,1768111200000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(319,'default',18,1,'task','late','default',0,'waiting','catch_up',1768114800000000,1768114800000000,1768114800000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(320,'default',18,1,'task','late','default',0,'waiting','catch_up',1768118400000000,1768118400000000,1768118400000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(321,'default',18,1,'task','late','default',0,'waiting','catch_up',1768122000000000,1768122000000000,1768122000000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(322,'default',18,1,'task','late','default',0,'waiting','catch_up',1768125600000000,1768125600000000,1768125600000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(323,'default',18,1,'task','late','default',0,'waiting','catch_up',1768129200000000,1768129200000000,1768129200000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(324,'default',18,1,'task','late','default',0,'waiting','catch_up',1768132800000000,1768132800000000,1768132800000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(325,'default',18,1,'task','late','default',0,'waiting','catch_up',1768136400000000,1768136400000000,1768136400000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(326,'default',18,1,'task','late','default',0,'waiting','catch_up',1768140000000000,1768140000000000,1768140000000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(327,'default',18,1,'task','late','default',0,'waiting','catch_up',1768143600000000,1768143600000000,1768143600000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(328,'default',18,1,'task','late','default',0,'waiting','catch_up',1768147200000000,1768147200000000,1768147200000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(329,'default',18,1,'task','late','default',0,'waiting','catch_up',1768150800000000,1768150800000000,1768150800000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(330,'default',18,1,'task','late','default',0,'waiting','catch_up',1768154400000000,1768154400000000,1768154400000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(331,'default',18,1,'task','late','default',0,'waiting','catch_up',1768158000000000,1768158000000000,1768158000000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(332,'default',18,1,'task','late','default',0,'waiting','catch_up',1768161600000000,1768161600000000,1768161600000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(333,'default',18,1,'task','late','default',0,'waiting','catch_up',1768165200000000,1768165200000000,1768165200000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(334,'default',18,1,'task','late','default',0,'waiting','catch_up',1768168800000000,1768168800000000,1768168800000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(335,'default',18,1,'task','late','default',0,'waiting','catch_up',1768172400000000,1768172400000000,1768172400000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(336,'default',18,1,'task','late','default',0,'waiting','catch_up',1768176000000000,1768176000000000,1768176000000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(337,'default',18,1,'task','late','default',0,'waiting','catch_up',1768179600000000,1768179600000000,1768179600000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(338,'default',18,1,'task','late','default',0,'waiting','catch_up',1768183200000000,1768183200000000,1768183200000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(339,'default',18,1,'task','late','default',0,'waiting','catch_up',1768186800000000,1768186800000000,1768186800000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(340,'default',18,1,'task','late','default',0,'waiting','catch_up',1768190400000000,1768190400000000,1768190400000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(341,'default',18,1,'task','late','default',0,'waiting','catch_up',1768194000000000,1768194000000000,1768194000000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(342,'default',18,1,'task','late','default',0,'waiting','catch_up',1768197600000000,1768197600000000,1768197600000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(343,'default',18,1,'task','late','default',0,'waiting','catch_up',1768201200000000,1768201200000000,1768201200000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(344,'default',18,1,'task','late','default',0,'waiting','catch_up',1768204800000000,1768204800000000,1768204800000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(345,'default',18,1,'task','late','default',0,'waiting','catch_up',1768208400000000,1768208400000000,1768208400000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(346,'default',18,1,'task','late','default',0,'waiting','catch_up',1768212000000000,1768212000000000,1768212000000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(347,'default',18,1,'task','late','default',0,'waiting','catch_up',1768215600000000,1768215600000000,1768215600000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(348,'default',18,1,'task','late','default',0,'waiting','catch_up',1768219200000000,1768219200000000,1768219200000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(349,'default',18,1,'task','late','default',0,'waiting','catch_up',1768222800000000,1768222800000000,1768222800000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(350,'default',18,1,'task','late','default',0,'waiting','catch_up',1768226400000000,1768226400000000,1768226400000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(351,'default',18,1,'task','late','default',0,'waiting','catch_up',1768230000000000,1768230000000000,1768230000000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(352,'default',18,1,'task','late','default',0,'waiting','catch_up',1768233600000000,1768233600000000,1768233600000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(353,'default',18,1,'task','late','default',0,'waiting','catch_up',1768237200000000,1768237200000000,1768237200000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(354,'default',18,1,'task','late','default',0,'waiting','catch_up',1768240800000000,1768240800000000,1768240800000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(355,'default',18,1,'task','late','default',0,'waiting','catch_up',1768244400000000,1768244400000000,1768244400000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(356,'default',18,1,'task','late','default',0,'waiting','catch_up',1768248000000000,1768248000000000,1768248000000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(357,'default',18,1,'task','late','default',0,'waiting','catch_up',1768251600000000,1768251600000000,1768251600000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(358,'default',18,1,'task','late','default',0,'waiting','catch_up',1768255200000000,1768255200000000,1768255200000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(359,'default',18,1,'task','late','default',0,'waiting','catch_up',1768258800000000,1768258800000000,1768258800000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,2,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(360,'default',26,1,'task','keyed','default',0,'waiting','catch_up',1767924000000000,1767924000000000,1767924000000000,NULL,1767924000000000,1768258800000000,94,0,NULL,0,0,3,0,0,'warehouse',NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(361,'default',26,1,'task','keyed','default',0,'waiting','schedule',1768262400000000,1768262400000000,1768262400000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,0,0,'warehouse',NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(362,'default',27,1,'task','keyed','default',0,'waiting','catch_up',1767924000000000,1767924000000000,1767924000000000,NULL,1767924000000000,1768258800000000,94,0,NULL,0,0,3,0,0,'warehouse',NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(363,'default',27,1,'task','keyed','default',0,'waiting','schedule',1768262400000000,1768262400000000,1768262400000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,0,0,'warehouse',NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(364,'default',28,1,'task','keyed','default',0,'waiting','catch_up',1767924000000000,1767924000000000,1767924000000000,NULL,1767924000000000,1768258800000000,94,0,NULL,0,0,3,0,0,'warehouse',NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(365,'default',28,1,'task','keyed','default',0,'waiting','schedule',1768262400000000,1768262400000000,1768262400000000,NULL,NULL,NULL,NULL,0,NULL,0,0,3,0,0,'warehouse',NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "runs" VALUES(366,'default',29,3,'task','filled','default',0,'waiting','catch_up',1768042800000000,1768042800000000,1768042800000000,NULL,1768042800000000,1768258800000000,61,0,NULL,0,0,3,0,0,NULL,NULL,NULL,NULL,NULL,NULL,1768262400000000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
CREATE TABLE schedule_ids (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    namespace TEXT NOT NULL,
    name TEXT NOT NULL,
    UNIQUE (namespace, name)
) STRICT;
INSERT INTO "schedule_ids" VALUES(1,'default','hourly');
INSERT INTO "schedule_ids" VALUES(2,'default','new-york');
INSERT INTO "schedule_ids" VALUES(3,'default','berlin');
INSERT INTO "schedule_ids" VALUES(4,'default','either');
INSERT INTO "schedule_ids" VALUES(5,'default','once');
INSERT INTO "schedule_ids" VALUES(6,'default','window');
INSERT INTO "schedule_ids" VALUES(7,'default','closed');
INSERT INTO "schedule_ids" VALUES(8,'default','weekends');
INSERT INTO "schedule_ids" VALUES(9,'default','declared');
INSERT INTO "schedule_ids" VALUES(10,'default','overlap-skip');
INSERT INTO "schedule_ids" VALUES(11,'default','overlap-queue');
INSERT INTO "schedule_ids" VALUES(12,'default','overlap-replace');
INSERT INTO "schedule_ids" VALUES(13,'default','overlap-allow');
INSERT INTO "schedule_ids" VALUES(14,'default','late-one');
INSERT INTO "schedule_ids" VALUES(15,'default','late-latest');
INSERT INTO "schedule_ids" VALUES(16,'default','late-all');
INSERT INTO "schedule_ids" VALUES(17,'default','late-skip');
INSERT INTO "schedule_ids" VALUES(18,'default','held');
INSERT INTO "schedule_ids" VALUES(19,'default','paused');
INSERT INTO "schedule_ids" VALUES(20,'default','resumed');
INSERT INTO "schedule_ids" VALUES(21,'default','moved');
INSERT INTO "schedule_ids" VALUES(22,'default','skipped');
INSERT INTO "schedule_ids" VALUES(23,'default','deleted');
INSERT INTO "schedule_ids" VALUES(24,'default','edited');
INSERT INTO "schedule_ids" VALUES(25,'default','triggered');
INSERT INTO "schedule_ids" VALUES(26,'default','keyed-1');
INSERT INTO "schedule_ids" VALUES(27,'default','keyed-2');
INSERT INTO "schedule_ids" VALUES(28,'default','keyed-3');
INSERT INTO "schedule_ids" VALUES(29,'default','filled');
INSERT INTO "schedule_ids" VALUES(30,'default','broken');
CREATE TABLE schedule_search (
    namespace TEXT NOT NULL,
    name TEXT NOT NULL,
    schedule_id INTEGER NOT NULL REFERENCES schedules (id) ON DELETE CASCADE,
    app TEXT,
    queue TEXT NOT NULL,
    search_text TEXT NOT NULL,
    PRIMARY KEY (namespace, name)
) STRICT, WITHOUT ROWID;
INSERT INTO "schedule_search" VALUES('default','berlin',3,NULL,'default','
berlin
work
');
INSERT INTO "schedule_search" VALUES('default','broken',30,NULL,'default','
broken
work
');
INSERT INTO "schedule_search" VALUES('default','closed',7,NULL,'default','
closed
work
');
INSERT INTO "schedule_search" VALUES('default','declared',9,'shop','default','
declared
coded
');
INSERT INTO "schedule_search" VALUES('default','deleted',23,NULL,'default','
deleted
changed
');
INSERT INTO "schedule_search" VALUES('default','edited',24,NULL,'default','
edited
changed
');
INSERT INTO "schedule_search" VALUES('default','either',4,NULL,'gpu','
either
work
');
INSERT INTO "schedule_search" VALUES('default','filled',29,NULL,'default','
filled
filled
');
INSERT INTO "schedule_search" VALUES('default','held',18,NULL,'default','
held
late
');
INSERT INTO "schedule_search" VALUES('default','hourly',1,NULL,'default','
hourly
work
mail
eu
');
INSERT INTO "schedule_search" VALUES('default','keyed-1',26,NULL,'default','
keyed-1
keyed
');
INSERT INTO "schedule_search" VALUES('default','keyed-2',27,NULL,'default','
keyed-2
keyed
');
INSERT INTO "schedule_search" VALUES('default','keyed-3',28,NULL,'default','
keyed-3
keyed
');
INSERT INTO "schedule_search" VALUES('default','late-all',16,NULL,'default','
late-all
late
');
INSERT INTO "schedule_search" VALUES('default','late-latest',15,NULL,'default','
late-latest
late
');
INSERT INTO "schedule_search" VALUES('default','late-one',14,NULL,'default','
late-one
late
');
INSERT INTO "schedule_search" VALUES('default','late-skip',17,NULL,'default','
late-skip
late
');
INSERT INTO "schedule_search" VALUES('default','moved',21,NULL,'default','
moved
changed
');
INSERT INTO "schedule_search" VALUES('default','new-york',2,NULL,'default','
new-york
work
');
INSERT INTO "schedule_search" VALUES('default','once',5,NULL,'default','
once
work
');
INSERT INTO "schedule_search" VALUES('default','overlap-allow',13,NULL,'default','
overlap-allow
allow
');
INSERT INTO "schedule_search" VALUES('default','overlap-queue',11,NULL,'default','
overlap-queue
queue
');
INSERT INTO "schedule_search" VALUES('default','overlap-replace',12,NULL,'default','
overlap-replace
replace
');
INSERT INTO "schedule_search" VALUES('default','overlap-skip',10,NULL,'default','
overlap-skip
skip
');
INSERT INTO "schedule_search" VALUES('default','paused',19,NULL,'default','
paused
changed
');
INSERT INTO "schedule_search" VALUES('default','resumed',20,NULL,'default','
resumed
changed
');
INSERT INTO "schedule_search" VALUES('default','skipped',22,NULL,'default','
skipped
changed
');
INSERT INTO "schedule_search" VALUES('default','triggered',25,NULL,'default','
triggered
changed
');
INSERT INTO "schedule_search" VALUES('default','weekends',8,NULL,'default','
weekends
work
');
INSERT INTO "schedule_search" VALUES('default','window',6,NULL,'default','
window
work
');
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
INSERT INTO "schedules" VALUES(1,'default','hourly',NULL,'{"description":"“ü” every hour","priority":3,"tags":["mail","eu"],"target":{"task":"work"},"trigger":{"every":{"hours":1}},"v":1}',1,NULL,'{}',NULL,NULL,NULL,NULL,1767225600000000,1767225600000000);
INSERT INTO "schedules" VALUES(2,'default','new-york',NULL,'{"payload":{"limit":5,"who":"ü"},"target":{"task":"work"},"trigger":{"cron":"0 9 * * 1-5","tz":"America/New_York"},"v":1}',1,NULL,'{}',NULL,NULL,NULL,NULL,1767225600000000,1767225600000000);
INSERT INTO "schedules" VALUES(3,'default','berlin',NULL,'{"retries":3,"spread":600,"target":{"task":"work"},"timeout":60,"trigger":{"cron":"30 2 * * 1-5","tz":"Europe/Berlin"},"v":1}',1,NULL,'{}',NULL,NULL,NULL,NULL,1767225600000000,1767225600000000);
INSERT INTO "schedules" VALUES(4,'default','either',NULL,'{"queue":"gpu","target":{"task":"work"},"trigger":{"any_of":[{"cron":"0 12 * * *"},{"every":{"days":2}}]},"v":1}',1,NULL,'{}',NULL,NULL,NULL,NULL,1767225600000000,1767225600000000);
INSERT INTO "schedules" VALUES(5,'default','once',NULL,'{"target":{"task":"work"},"trigger":{"at":"2026-01-01T05:00:00Z"},"v":1}',1,NULL,'{}',NULL,NULL,NULL,NULL,1767225600000000,1767225600000000);
INSERT INTO "schedules" VALUES(6,'default','window',NULL,'{"end_at":"2026-01-04T00:00:00Z","max_runs":4,"start_at":"2026-01-02T00:00:00Z","target":{"task":"work"},"trigger":{"every":{"hours":6}},"v":1}',1,NULL,'{}',NULL,NULL,NULL,NULL,1767225600000000,1767225600000000);
INSERT INTO "schedules" VALUES(7,'default','closed',NULL,'{"calendars":["quiet"],"closed":{"quiet":["12-25","2026-01-02"]},"target":{"task":"work"},"trigger":{"every":{"days":1}},"v":1}',1,NULL,'{}',NULL,NULL,NULL,NULL,1767225600000000,1767225600000000);
INSERT INTO "schedules" VALUES(8,'default','weekends',NULL,'{"exclude":["sat","sun"],"target":{"task":"work"},"trigger":{"every":{"days":1}},"v":1}',1,NULL,'{}',NULL,NULL,NULL,NULL,1767225600000000,1767225600000000);
INSERT INTO "schedules" VALUES(9,'default','declared','shop','{"retries":5,"target":{"task":"coded"},"trigger":{"every":{"hours":2}},"v":1}',3,'04e057ae994efb0866f5dd64','{"retries":5}',NULL,NULL,NULL,NULL,1767571200000000,1767571290000000);
INSERT INTO "schedules" VALUES(10,'default','overlap-skip',NULL,'{"target":{"task":"skip"},"trigger":{"every":{"minutes":10}},"v":1}',1,NULL,'{}',NULL,NULL,NULL,NULL,1767657600000000,1767657600000000);
INSERT INTO "schedules" VALUES(11,'default','overlap-queue',NULL,'{"overlap":"queue","target":{"task":"queue"},"trigger":{"every":{"minutes":10}},"v":1}',1,NULL,'{}',NULL,NULL,NULL,NULL,1767657600000000,1767657600000000);
INSERT INTO "schedules" VALUES(12,'default','overlap-replace',NULL,'{"overlap":"replace","target":{"task":"replace"},"trigger":{"every":{"minutes":10}},"v":1}',1,NULL,'{}',NULL,NULL,NULL,NULL,1767657600000000,1767657600000000);
INSERT INTO "schedules" VALUES(13,'default','overlap-allow',NULL,'{"overlap":"allow","target":{"task":"allow"},"trigger":{"every":{"minutes":10}},"v":1}',1,NULL,'{}',NULL,NULL,NULL,NULL,1767657600000000,1767657600000000);
INSERT INTO "schedules" VALUES(14,'default','late-one',NULL,'{"catch_up_limit":3,"target":{"task":"late"},"trigger":{"every":{"hours":1}},"v":1}',1,NULL,'{}',NULL,NULL,NULL,NULL,1767744000000000,1767744000000000);
INSERT INTO "schedules" VALUES(15,'default','late-latest',NULL,'{"catch_up":"latest","catch_up_limit":3,"target":{"task":"late"},"trigger":{"every":{"hours":1}},"v":1}',1,NULL,'{}',NULL,NULL,NULL,NULL,1767744000000000,1767744000000000);
INSERT INTO "schedules" VALUES(16,'default','late-all',NULL,'{"catch_up":"all","catch_up_limit":3,"target":{"task":"late"},"trigger":{"every":{"hours":1}},"v":1}',1,NULL,'{}',NULL,NULL,NULL,NULL,1767744000000000,1767744000000000);
INSERT INTO "schedules" VALUES(17,'default','late-skip',NULL,'{"catch_up":"skip","catch_up_limit":3,"target":{"task":"late"},"trigger":{"every":{"hours":1}},"v":1}',1,NULL,'{}',NULL,NULL,NULL,NULL,1767744000000000,1767744000000000);
INSERT INTO "schedules" VALUES(18,'default','held',NULL,'{"catch_up":"all","hold_above":2,"target":{"task":"late"},"trigger":{"every":{"hours":1}},"v":1}',1,NULL,'{}',NULL,NULL,NULL,NULL,1767744000000000,1767744000000000);
INSERT INTO "schedules" VALUES(19,'default','paused',NULL,'{"target":{"task":"changed"},"trigger":{"every":{"hours":1}},"v":1}',2,NULL,'{}','ada','quiet',1801785600000000,NULL,1767830400000000,1767834005000000);
INSERT INTO "schedules" VALUES(20,'default','resumed',NULL,'{"target":{"task":"changed"},"trigger":{"every":{"hours":1}},"v":1}',3,NULL,'{}',NULL,NULL,NULL,NULL,1767830400000000,1767848400000000);
INSERT INTO "schedules" VALUES(21,'default','moved',NULL,'{"target":{"task":"changed"},"trigger":{"every":{"hours":1}},"v":1}',2,NULL,'{}',NULL,NULL,NULL,NULL,1767830400000000,1767830405000000);
INSERT INTO "schedules" VALUES(22,'default','skipped',NULL,'{"target":{"task":"changed"},"trigger":{"every":{"hours":1}},"v":1}',2,NULL,'{}',NULL,NULL,NULL,NULL,1767830400000000,1767830405000000);
INSERT INTO "schedules" VALUES(23,'default','deleted',NULL,'{"target":{"task":"changed"},"trigger":{"every":{"hours":1}},"v":1}',2,NULL,'{}',NULL,NULL,NULL,NULL,1767830400000000,1767837605000000);
INSERT INTO "schedules" VALUES(24,'default','edited',NULL,'{"payload":{"v":2},"target":{"task":"changed"},"trigger":{"every":{"hours":1}},"v":1}',2,NULL,'{}',NULL,NULL,NULL,NULL,1767830400000000,1767837605000000);
INSERT INTO "schedules" VALUES(25,'default','triggered',NULL,'{"target":{"task":"changed"},"trigger":{"every":{"hours":1}},"v":1}',1,NULL,'{}',NULL,NULL,NULL,NULL,1767830400000000,1767830400000000);
INSERT INTO "schedules" VALUES(26,'default','keyed-1',NULL,'{"concurrency_key":"warehouse","overlap":"allow","target":{"task":"keyed"},"trigger":{"every":{"hours":1}},"v":1}',1,NULL,'{}',NULL,NULL,NULL,NULL,1767916800000000,1767916800000000);
INSERT INTO "schedules" VALUES(27,'default','keyed-2',NULL,'{"concurrency_key":"warehouse","overlap":"allow","target":{"task":"keyed"},"trigger":{"every":{"hours":1}},"v":1}',1,NULL,'{}',NULL,NULL,NULL,NULL,1767916800000000,1767916800000000);
INSERT INTO "schedules" VALUES(28,'default','keyed-3',NULL,'{"concurrency_key":"warehouse","overlap":"allow","target":{"task":"keyed"},"trigger":{"every":{"hours":1}},"v":1}',1,NULL,'{}',NULL,NULL,NULL,NULL,1767916800000000,1767916800000000);
INSERT INTO "schedules" VALUES(29,'default','filled',NULL,'{"target":{"task":"filled"},"trigger":{"every":{"hours":1}},"v":1}',3,NULL,'{}',NULL,NULL,NULL,NULL,1768003200000000,1768035601000000);
INSERT INTO "schedules" VALUES(30,'default','broken',NULL,'{"v": 1, "trigger": {"cron": "61 * * * *"}, "target": {"task": "work"}}',1,NULL,'{}',NULL,NULL,NULL,'cron ''61 * * * *'': minute: 61 is not within 0-59.',1794961949712000,1794961949712000);
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
INSERT INTO "skips" VALUES(1,7,1,'calendar',1767312000000000,1767312000000000,1,NULL,NULL,'',1767312001000000);
INSERT INTO "skips" VALUES(2,8,1,'calendar',1767398400000000,1767484800000000,2,NULL,NULL,'',1767484801000000);
INSERT INTO "skips" VALUES(4,1,1,'coalesced',1767574800000000,1767574800000000,1,114,NULL,'',1767578401000000);
INSERT INTO "skips" VALUES(5,1,1,'overlap',1767578400000000,1768262400000000,191,114,NULL,'',1768262400000000);
INSERT INTO "skips" VALUES(6,4,1,'overlap',1767614400000000,1768262400000000,12,116,NULL,'',1768262400000000);
INSERT INTO "skips" VALUES(7,7,1,'overlap',1767657600000000,1768262400000000,8,117,NULL,'',1768262400000000);
INSERT INTO "skips" VALUES(8,8,1,'overlap',1767657600000000,1767916800000000,4,118,NULL,'',1767920401000000);
INSERT INTO "skips" VALUES(9,9,3,'coalesced',1767592800000000,1767657600000000,10,124,NULL,'',1767658201000000);
INSERT INTO "skips" VALUES(11,10,1,'overlap',1767658800000000,1768262400000000,1007,119,NULL,'',1768262400000000);
INSERT INTO "skips" VALUES(12,11,1,'overlap',1767659400000000,1768262400000000,1006,126,NULL,'',1768262400000000);
INSERT INTO "skips" VALUES(14,2,1,'overlap',1767708000000000,1768226400000000,5,123,NULL,'',1768262400000000);
INSERT INTO "skips" VALUES(15,3,1,'overlap',1767663000000000,1768181400000000,5,115,NULL,'',1768262400000000);
INSERT INTO "skips" VALUES(16,9,3,'overlap',1767664800000000,1768262400000000,84,124,NULL,'',1768262400000000);
INSERT INTO "skips" VALUES(17,12,1,'coalesced',1767660600000000,1767772800000000,188,130,NULL,'',1767772830000000);
INSERT INTO "skips" VALUES(18,13,1,'coalesced',1767660600000000,1767772800000000,188,131,NULL,'',1767772830000000);
INSERT INTO "skips" VALUES(19,14,1,'coalesced',1767751200000000,1767772800000000,7,132,NULL,'',1767772830000000);
INSERT INTO "skips" VALUES(20,15,1,'coalesced',1767747600000000,1767769200000000,7,133,NULL,'',1767772830000000);
INSERT INTO "skips" VALUES(21,16,1,'limit',1767747600000000,1767762000000000,5,NULL,NULL,'',1767772830000000);
INSERT INTO "skips" VALUES(22,17,1,'misfire',1767747600000000,1767830400000000,24,NULL,NULL,'',1767834001000000);
INSERT INTO "skips" VALUES(29,20,2,'paused',1767834000000000,1767848400000000,5,NULL,'ada','paused by ada',1767848400000000);
INSERT INTO "skips" VALUES(30,23,1,'overlap',1767837600000000,1767837600000000,1,146,NULL,'',1767837605000000);
INSERT INTO "skips" VALUES(31,24,1,'overlap',1767837600000000,1767837600000000,1,147,NULL,'',1767837605000000);
INSERT INTO "skips" VALUES(32,12,1,'overlap',1767773400000000,1767833400000000,101,149,NULL,'',1767834001000000);
INSERT INTO "skips" VALUES(33,13,1,'coalesced',1767774000000000,1767833400000000,100,150,NULL,'',1767834001000000);
INSERT INTO "skips" VALUES(34,14,1,'overlap',1767776400000000,1768262400000000,136,132,NULL,'',1768262400000000);
INSERT INTO "skips" VALUES(35,15,1,'overlap',1767776400000000,1768262400000000,136,133,NULL,'',1768262400000000);
INSERT INTO "skips" VALUES(36,16,1,'limit',1767776400000000,1767819600000000,13,NULL,NULL,'',1767834001000000);
INSERT INTO "skips" VALUES(37,16,1,'overlap',1767834000000000,1767855600000000,7,134,NULL,'',1767855601000000);
INSERT INTO "skips" VALUES(38,18,1,'overlap',1767834000000000,1767855600000000,7,137,NULL,'',1767855601000000);
INSERT INTO "skips" VALUES(39,22,2,'operator',1767834000000000,1767841200000000,3,NULL,'ada','not now',1767841201000000);
INSERT INTO "skips" VALUES(49,12,1,'overlap',1767834600000000,1767837000000000,5,174,NULL,'',1767837601000000);
INSERT INTO "skips" VALUES(50,13,1,'coalesced',1767835200000000,1767837000000000,4,175,NULL,'',1767837601000000);
INSERT INTO "skips" VALUES(51,17,1,'overlap',1767837600000000,1767855600000000,6,155,NULL,'',1767855601000000);
INSERT INTO "skips" VALUES(62,12,1,'overlap',1767838200000000,1767840600000000,5,179,NULL,'',1767841201000000);
INSERT INTO "skips" VALUES(63,13,1,'coalesced',1767838800000000,1767840600000000,4,180,NULL,'',1767841201000000);
INSERT INTO "skips" VALUES(73,12,1,'overlap',1767841800000000,1767844200000000,5,185,NULL,'',1767844801000000);
INSERT INTO "skips" VALUES(74,13,1,'coalesced',1767842400000000,1767844200000000,4,186,NULL,'',1767844801000000);
INSERT INTO "skips" VALUES(84,12,1,'overlap',1767845400000000,1767847800000000,5,191,NULL,'',1767848401000000);
INSERT INTO "skips" VALUES(85,13,1,'coalesced',1767846000000000,1767847800000000,4,192,NULL,'',1767848401000000);
INSERT INTO "skips" VALUES(94,12,1,'overlap',1767849000000000,1767851400000000,5,198,NULL,'',1767852001000000);
INSERT INTO "skips" VALUES(95,13,1,'coalesced',1767849600000000,1767851400000000,4,199,NULL,'',1767852001000000);
INSERT INTO "skips" VALUES(96,21,2,'rescheduled',1767837600000000,1767848400000000,4,201,NULL,'',1767852001000000);
INSERT INTO "skips" VALUES(97,21,2,'overlap',1767852000000000,1767852000000000,1,201,NULL,'',1767852001000000);
INSERT INTO "skips" VALUES(107,12,1,'overlap',1767852600000000,1767855000000000,5,207,NULL,'',1767855601000000);
INSERT INTO "skips" VALUES(108,13,1,'coalesced',1767853200000000,1767855000000000,4,208,NULL,'',1767855601000000);
INSERT INTO "skips" VALUES(117,12,1,'overlap',1767856200000000,1767919800000000,107,212,NULL,'',1767920401000000);
INSERT INTO "skips" VALUES(118,13,1,'coalesced',1767856800000000,1767919800000000,106,213,NULL,'',1767920401000000);
INSERT INTO "skips" VALUES(119,16,1,'limit',1767859200000000,1767906000000000,14,NULL,NULL,'',1767920401000000);
INSERT INTO "skips" VALUES(120,16,1,'overlap',1767920400000000,1767920400000000,1,134,NULL,'',1767920401000000);
INSERT INTO "skips" VALUES(121,17,1,'misfire',1767859200000000,1767916800000000,17,NULL,NULL,'',1767920401000000);
INSERT INTO "skips" VALUES(122,17,1,'overlap',1767920400000000,1767920400000000,1,155,NULL,'',1767920401000000);
INSERT INTO "skips" VALUES(123,18,1,'overlap',1767920400000000,1767920400000000,1,137,NULL,'',1767920401000000);
INSERT INTO "skips" VALUES(124,20,3,'coalesced',1767862800000000,1767916800000000,16,235,NULL,'',1767920401000000);
INSERT INTO "skips" VALUES(125,20,3,'overlap',1767920400000000,1768262400000000,96,235,NULL,'',1768262400000000);
INSERT INTO "skips" VALUES(126,21,2,'coalesced',1767862800000000,1767916800000000,16,236,NULL,'',1767920401000000);
INSERT INTO "skips" VALUES(127,21,2,'overlap',1767920400000000,1768262400000000,96,236,NULL,'',1768262400000000);
INSERT INTO "skips" VALUES(128,22,2,'coalesced',1767862800000000,1767916800000000,16,237,NULL,'',1767920401000000);
INSERT INTO "skips" VALUES(129,22,2,'overlap',1767920400000000,1768262400000000,96,237,NULL,'',1768262400000000);
INSERT INTO "skips" VALUES(130,24,2,'coalesced',1767862800000000,1767916800000000,16,238,NULL,'',1767920401000000);
INSERT INTO "skips" VALUES(131,24,2,'overlap',1767920400000000,1768262400000000,96,238,NULL,'',1768262400000000);
INSERT INTO "skips" VALUES(132,25,1,'overlap',1767862800000000,1768262400000000,112,210,NULL,'',1768262400000000);
INSERT INTO "skips" VALUES(143,29,2,'paused',1768006800000000,1768035600000000,9,NULL,'ada','paused by ada',1768035601000000);
INSERT INTO "skips" VALUES(144,8,1,'calendar',1768003200000000,1768089600000000,2,NULL,NULL,'',1768262400000000);
INSERT INTO "skips" VALUES(145,8,1,'overlap',1768176000000000,1768262400000000,2,118,NULL,'',1768262400000000);
INSERT INTO "skips" VALUES(146,12,1,'overlap',1767921000000000,1768261800000000,569,259,NULL,'',1768262400000000);
INSERT INTO "skips" VALUES(147,13,1,'coalesced',1767921600000000,1768261800000000,568,260,NULL,'',1768262400000000);
INSERT INTO "skips" VALUES(148,16,1,'limit',1767924000000000,1768248000000000,91,NULL,NULL,'',1768262400000000);
INSERT INTO "skips" VALUES(149,16,1,'overlap',1768262400000000,1768262400000000,1,134,NULL,'',1768262400000000);
INSERT INTO "skips" VALUES(150,17,1,'misfire',1767924000000000,1768258800000000,94,NULL,NULL,'',1768262400000000);
INSERT INTO "skips" VALUES(151,18,1,'overlap',1768262400000000,1768262400000000,1,137,NULL,'',1768262400000000);
INSERT INTO "skips" VALUES(152,26,1,'coalesced',1767927600000000,1768258800000000,93,360,NULL,'',1768262400000000);
INSERT INTO "skips" VALUES(153,27,1,'coalesced',1767927600000000,1768258800000000,93,362,NULL,'',1768262400000000);
INSERT INTO "skips" VALUES(154,28,1,'coalesced',1767927600000000,1768258800000000,93,364,NULL,'',1768262400000000);
INSERT INTO "skips" VALUES(155,29,3,'coalesced',1768046400000000,1768258800000000,60,366,NULL,'',1768262400000000);
INSERT INTO "skips" VALUES(156,29,3,'overlap',1768262400000000,1768262400000000,1,366,NULL,'',1768262400000000);
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
INSERT INTO "workers" VALUES('w9','default','app','worker','host',1,'0','[]',0,'{"work":{"queue":"default"}}','{}',0,1768262400000000,1768262400000000,1768262460000000,'','{}',NULL,NULL);
CREATE TABLE zone_data (
    generation INTEGER PRIMARY KEY,
    version TEXT NOT NULL,
    digest TEXT NOT NULL,
    adopted_at INTEGER NOT NULL,
    adopted_by TEXT NOT NULL,
    -- When the last cursor had been recomputed with this zone data; null while recomputation is under way.
    recomputed_at INTEGER
) STRICT;
INSERT INTO "zone_data" VALUES(1,'2026f','e2b0f0a4f982ce9c2a87d0f5404fc9c0',1767225600000000,'worker',NULL);
CREATE INDEX schedules_app_idx ON schedules (namespace, app) WHERE app IS NOT NULL;
CREATE INDEX schedules_calendars_idx ON schedules (namespace, name)
    WHERE json_type(definition, '$.calendars') = 'array';
CREATE INDEX schedules_depends_on_idx ON schedules (namespace, name)
    WHERE json_type(definition, '$.depends_on') = 'array';
CREATE INDEX schedules_prunable_revisions_idx ON schedules (id) WHERE revision > 100;
CREATE INDEX cursors_next_run_at_idx ON cursors (next_run_at) WHERE next_run_at IS NOT NULL;
CREATE INDEX cursors_unplanned_idx ON cursors (schedule_id) WHERE next_run_at IS NULL AND state = 'active';
CREATE INDEX cursors_inactive_idx ON cursors (state, schedule_id) WHERE state <> 'active';
CREATE INDEX cursors_last_skip_id_idx ON cursors (last_skip_id) WHERE last_skip_id IS NOT NULL;
CREATE UNIQUE INDEX runs_tick_key ON runs (schedule_id, scheduled_for)
    WHERE origin IN ('schedule', 'catch_up', 'backfill');
CREATE UNIQUE INDEX runs_idempotency_key_key ON runs (namespace, idempotency_key) WHERE idempotency_key IS NOT NULL;
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
CREATE INDEX attempts_ended_at_idx ON attempts (ended_at);
CREATE INDEX skips_schedule_id_idx ON skips (schedule_id, last_at);
CREATE INDEX skips_decided_at_idx ON skips (decided_at);
CREATE INDEX backfills_namespace_idx ON backfills (namespace, id);
CREATE INDEX backfills_schedule_id_idx ON backfills (schedule_id, id);
CREATE INDEX dependency_waits_schedule_id_idx ON dependency_waits (schedule_id);
CREATE INDEX dependency_waits_deadline_at_idx ON dependency_waits (deadline_at);
CREATE INDEX pings_pinged_at_idx ON pings (pinged_at);
CREATE INDEX sessions_open_idx ON sessions (token_id, expires_at) WHERE closed_at IS NULL;
CREATE INDEX sessions_ended_at_idx ON sessions (coalesce(closed_at, expires_at));
CREATE INDEX http_responses_started_at_idx ON http_responses (started_at);
CREATE INDEX audit_log_namespace_idx ON audit_log (namespace, id);
CREATE INDEX audit_log_schedule_id_idx ON audit_log (schedule_id, id) WHERE schedule_id IS NOT NULL;
CREATE INDEX audit_log_created_at_idx ON audit_log (created_at);
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
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('audit_log',58);
INSERT INTO "sqlite_sequence" VALUES('schedule_ids',30);
INSERT INTO "sqlite_sequence" VALUES('backfills',2);
COMMIT;
