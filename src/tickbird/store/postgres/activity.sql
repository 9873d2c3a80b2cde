-- Recent activity, newest first.

-- name: ended_since
SELECT * FROM tickbird.run_details
WHERE status IN ('succeeded', 'failed', 'cancelled')
    AND (namespace, finished_at) >= (%(namespace)s, %(since)s::timestamptz)
    AND (namespace, finished_at) <= (%(namespace)s, 'infinity'::timestamptz)
ORDER BY namespace DESC, finished_at DESC, id DESC
LIMIT %(limit)s;

-- name: skipped_since
SELECT
    n.name, s.id, s.schedule_id, s.revision, s.reason, s.first_at, s.last_at, s.count, s.run_id, s.actor, s.note,
    s.decided_at, s.term
FROM tickbird.skips AS s
JOIN tickbird.schedules AS n ON n.id = s.schedule_id
WHERE n.namespace = %(namespace)s AND s.decided_at >= %(since)s
ORDER BY s.decided_at DESC, s.id DESC
LIMIT %(limit)s;

-- name: open_transactions
-- The clock; the last id issued; an instant after this id was read and before the locks are; the start of the oldest
-- active statement, unless it takes long; the next transaction's number; and each transaction that has written to a table
-- with activity, or is about to. A transaction locks such a table before it dates a row, or in the same statement, and
-- takes the row's id after that date. A caller's transaction that enqueues runs also holds an advisory lock.
WITH locks AS MATERIALIZED (
    SELECT virtualtransaction, pid, locktype, relation, mode, transactionid, classid
    FROM pg_catalog.pg_locks
    WHERE pid IS DISTINCT FROM pg_backend_pid()
        AND (
            locktype = 'transactionid'
            OR database = (SELECT d.oid FROM pg_catalog.pg_database AS d WHERE d.datname = current_database())
        )
),
writing AS MATERIALIZED (
    SELECT DISTINCT virtualtransaction, pid
    FROM locks
    WHERE locktype = 'relation'
        AND mode IN ('RowShareLock', 'RowExclusiveLock')
        AND relation IN (
            'tickbird.runs'::regclass, 'tickbird.skips'::regclass, 'tickbird.audit_log'::regclass,
            'tickbird.cursors'::regclass
        )
)
SELECT
    coalesce(%(now)s::timestamptz, statement_timestamp()),
    ids.last,
    coalesce(%(now)s::timestamptz, ids.read_at),
    (
        SELECT min(query_start) FROM pg_catalog.pg_stat_activity
        WHERE datname = current_database()
            AND state = 'active'
            AND backend_type = 'client backend'
            AND pid <> pg_backend_pid()
            AND query_start > statement_timestamp() - interval '2 seconds'
    ),
    pg_snapshot_xmax(pg_current_snapshot())::text::bigint,
    w.virtualtransaction,
    (
        SELECT min(l.transactionid::text::bigint) FROM locks AS l
        WHERE l.virtualtransaction = w.virtualtransaction AND l.locktype = 'transactionid' AND l.mode = 'ExclusiveLock'
    ),
    EXISTS (
        SELECT FROM locks AS l
        WHERE l.virtualtransaction = w.virtualtransaction AND l.locktype = 'advisory' AND l.classid = 7311
    ),
    (SELECT a.xact_start FROM pg_catalog.pg_stat_activity AS a WHERE a.pid = w.pid)
FROM (
    SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS last, clock_timestamp() AS read_at FROM tickbird.ledger_id_seq
) AS ids
LEFT JOIN writing AS w ON true;

-- name: read_activity
-- Narrow rows in order: rank, instant, id, namespace. A row of rank -1 means that there are too many. Starts have no
-- index: they are read from running runs, and from attempts that have ended since.
WITH made AS MATERIALIZED (
    SELECT id, namespace, created_at, coalesce(created_xid, xmin::text::bigint) AS created_xid FROM tickbird.runs
    WHERE id > %(floor)s
    ORDER BY id LIMIT %(limit)s
),
ended AS MATERIALIZED (
    SELECT id, namespace, started_at, finished_at FROM tickbird.runs
    WHERE status IN ('succeeded', 'failed', 'cancelled') AND finished_at >= %(at)s
    ORDER BY finished_at, id LIMIT %(limit)s
),
tried AS MATERIALIZED (
    SELECT a.run_id, a.started_at, a.ended_at, r.namespace
    FROM (
        SELECT run_id, attempt, started_at, ended_at FROM tickbird.attempts
        WHERE ended_at >= %(at)s
        ORDER BY ended_at LIMIT %(limit)s
    ) AS a
    JOIN tickbird.runs AS r ON r.id = a.run_id
    -- The last attempt of a run is reported with the run.
    WHERE r.finished_at IS NULL OR r.attempt > a.attempt
),
found AS (
    (
        SELECT 0 AS rank, created_at AS at, id, namespace FROM tickbird.audit_log
        WHERE created_at >= %(at)s AND created_at <= %(until)s AND namespace = ANY(%(namespaces)s::text[])
            AND xmin::text::bigint <> ALL(%(passed)s::bigint[])
        ORDER BY created_at LIMIT %(limit)s
    )
    UNION ALL
    SELECT 1, created_at, id, namespace FROM made
    WHERE created_xid <> ALL(%(passed)s::bigint[])
    UNION ALL
    (
        SELECT 2, s.decided_at, s.id, n.namespace
        FROM tickbird.skips AS s
        JOIN tickbird.schedules AS n ON n.id = s.schedule_id
        WHERE s.decided_at >= %(at)s AND s.decided_at <= %(until)s
        ORDER BY s.decided_at LIMIT %(limit)s
    )
    UNION ALL
    SELECT 3, started_at, id, namespace FROM tickbird.runs WHERE status = 'running' AND lease_until IS NOT NULL
    UNION ALL
    SELECT 3, started_at, id, namespace FROM ended
    UNION ALL
    SELECT 3, started_at, run_id, namespace FROM tried
    UNION ALL
    SELECT 4, ended_at, run_id, namespace FROM tried
    UNION ALL
    SELECT 5, finished_at, id, namespace FROM ended
)
SELECT -1, %(at)s::timestamptz, 0::bigint, ''
WHERE %(limit)s IN (
    (SELECT count(*) FROM made), (SELECT count(*) FROM ended),
    (SELECT count(*) FROM (SELECT FROM tickbird.attempts WHERE ended_at >= %(at)s LIMIT %(limit)s) AS a),
    (SELECT count(*) FROM (SELECT FROM tickbird.skips WHERE decided_at >= %(at)s LIMIT %(limit)s) AS s),
    (SELECT count(*) FROM (SELECT FROM tickbird.audit_log WHERE created_at >= %(at)s LIMIT %(limit)s) AS s)
)
UNION ALL
(
    SELECT rank, at, id, namespace FROM found
    WHERE (at, rank, id) > (%(at)s, %(rank)s, %(id)s) AND at <= %(until)s AND namespace = ANY(%(namespaces)s::text[])
    ORDER BY at, rank, id
);

-- name: late_activity
-- Runs created in transactions that were open at the cursor and have ended since, each with the id of its audit_log row,
-- ordered by id. A row without an id means that there are too many to read.
SELECT
    u.xid, r.id, r.created_at, r.namespace,
    (SELECT min(a.id) FROM tickbird.audit_log AS a WHERE a.created_at = r.created_at AND a.run_id = r.id)
FROM unnest(%(xids)s::bigint[], %(floors)s::bigint[]) AS u(xid, floor)
CROSS JOIN LATERAL (
    SELECT id, created_at, namespace, created_xid, xmin::text::bigint AS written_in FROM tickbird.runs
    WHERE id > u.floor
    ORDER BY id LIMIT %(limit)s
) AS r
WHERE (r.created_xid = u.xid OR r.created_xid IS NULL AND r.written_in = u.xid %% 4294967296)
    AND (r.created_at, 1, r.id) <= (%(at)s, %(rank)s, %(id)s)
    AND r.namespace = ANY(%(namespaces)s::text[])
UNION ALL
SELECT u.xid, NULL, NULL, NULL, NULL
FROM unnest(%(xids)s::bigint[], %(floors)s::bigint[]) AS u(xid, floor)
WHERE EXISTS (SELECT FROM tickbird.runs WHERE id > u.floor ORDER BY id OFFSET %(limit)s LIMIT 1)
ORDER BY 1, 2;

-- name: activity_runs
-- Without large columns.
SELECT
    id, namespace, schedule_id, schedule, revision, target_kind, target, queue, priority, origin, status, scheduled_for,
    due_at, available_at, start_by, covers_first, covers_last, covers_count, attempt, failures, crashes, created_at,
    started_at, finished_at, lease_until, worker, retry_of, actor, reason, cancel_requested_at, cancel_requested_by,
    error, failure_kind, backfill_id, lane, released_at, released_by, concurrency_key, applied_override, first_started_at,
    cron_spec
FROM tickbird.run_details
WHERE id = ANY(%(ids)s::bigint[]);

-- name: activity_skips
SELECT
    n.name, s.id, s.schedule_id, s.revision, s.reason, s.first_at, s.last_at, s.count, s.run_id, s.actor, s.note,
    s.decided_at, s.term
FROM tickbird.skips AS s
JOIN tickbird.schedules AS n ON n.id = s.schedule_id
WHERE s.id = ANY(%(ids)s::bigint[]);

-- name: activity_audit
SELECT id, created_at AS at, actor, action, schedule, run_id, detail
FROM tickbird.audit_log
WHERE id = ANY(%(ids)s::bigint[]);
