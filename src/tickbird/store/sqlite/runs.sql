-- Runs: from insertion to pruning.
-- `{name}` is replaced by the text below `-- fragment: name`.

-- fragment: planning_term
-- In leader mode, the term of the current planning transaction.
(SELECT value FROM counters WHERE name = 'planning_term')

-- fragment: unless_planned
ON CONFLICT (schedule_id, scheduled_for) WHERE origin IN ('schedule', 'catch_up', 'backfill') DO NOTHING

-- name: insert_run
INSERT INTO runs (
    id, namespace, schedule_id, revision, target_kind, target, queue, priority, status, origin, scheduled_for, due_at,
    available_at, start_by, covers_first, covers_last, covers_count, crash_limit, retry_of, actor, lane, concurrency_key,
    deferred_until_minute, created_at, term
)
VALUES (
    ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11 * 1000000, coalesce(?12 * 1000000, ?23),
    coalesce(?12 * 1000000, ?23), ?13 * 1000000, ?14 * 1000000, ?15 * 1000000, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23,
    {planning_term}
)
{unless_planned};

-- name: insert_on_time
INSERT INTO runs (
    id, created_at, schedule_id, revision, scheduled_for, due_at, available_at, start_by, namespace, target_kind, target,
    queue, priority, crash_limit, status, origin, term
)
VALUES (
    ?1, ?2, ?3, ?4, ?5 * 1000000, ?6 * 1000000, ?6 * 1000000, ?7 * 1000000, ?8, ?9, ?10, ?11, ?12, ?13, 'queued',
    'schedule', {planning_term}
)
{unless_planned};

-- name: insert_leased
-- Like insert_on_time, already running on the planning worker.
INSERT INTO runs (
    id, created_at, schedule_id, revision, scheduled_for, due_at, available_at, start_by, namespace, target_kind, target,
    queue, priority, crash_limit, status, origin, attempt, incarnation, worker, started_at, lease_until, term
)
VALUES (
    ?1, ?2, ?3, ?4, ?5 * 1000000, ?6 * 1000000, ?6 * 1000000, ?7 * 1000000, ?8, ?9, ?10, ?11, ?12, ?13, 'running',
    'schedule', 1, ?14, ?15, ?2, ?16, {planning_term}
)
{unless_planned};

-- name: enqueue_run
INSERT INTO runs (
    id, namespace, target_kind, target, queue, priority, status, origin, due_at, available_at, start_by, crash_limit,
    retry_of, actor, created_at, idempotency_key, concurrency_key
)
VALUES (
    :id, :namespace, :kind, :target, :queue, :priority, :status, iif(:retry_of IS NULL, 'manual', 'retry'), :due_at,
    :due_at, :start_by, coalesce((SELECT crash_limit FROM runs WHERE id = :retry_of), :crash_limit), :retry_of, :actor, :now, :idempotency_key,
    :concurrency_key
);

-- name: enqueue_payload
INSERT INTO run_payloads (run_id, payload) VALUES (:run_id, :payload);

-- name: keyed_run
SELECT r.id, r.schedule_id, r.target_kind, r.target, p.payload
FROM runs AS r
LEFT JOIN run_payloads AS p ON p.run_id = r.id
WHERE r.namespace = :namespace AND r.idempotency_key = :idempotency_key;

-- name: key_run
UPDATE runs SET idempotency_key = :idempotency_key WHERE id = :id;

-- name: insert_payload
INSERT INTO run_payloads (run_id, payload) VALUES (?1, ?2);

-- name: queued_lines
-- The queued runs of one target, queue and priority form two lines: runs of schedules, and runs without a schedule.
-- Read by jumping through the index, so that neither runs for later nor runs of other targets are walked. With each line:
-- whether it has deferred runs, and the rate limit of its queue, if any.
WITH RECURSIVE kinds (queue, kind) AS (
    SELECT
        q.value,
        (
            SELECT min(r.target_kind) FROM runs AS r
            WHERE r.status = 'queued' AND r.namespace = :namespace AND r.queue = q.value
        )
    FROM json_each(:queues) AS q
    UNION ALL
    SELECT
        k.queue,
        (
            SELECT min(r.target_kind) FROM runs AS r
            WHERE r.status = 'queued' AND r.namespace = :namespace AND r.queue = k.queue AND r.target_kind > k.kind
        )
    FROM kinds AS k
    WHERE k.kind IS NOT NULL
),
targets (queue, kind, target) AS (
    SELECT
        k.queue,
        k.kind,
        (
            SELECT min(r.target) FROM runs AS r
            WHERE r.status = 'queued' AND r.namespace = :namespace AND r.queue = k.queue AND r.target_kind = k.kind
        )
    FROM kinds AS k
    WHERE k.kind IS NOT NULL
    UNION ALL
    SELECT
        t.queue,
        t.kind,
        (
            SELECT min(r.target)
            FROM runs AS r
            WHERE r.status = 'queued'
                AND r.namespace = :namespace
                AND r.queue = t.queue
                AND r.target_kind = t.kind
                AND r.target > t.target
        )
    FROM targets AS t
    WHERE t.target IS NOT NULL
),
lines (queue, kind, target, ad_hoc, priority) AS (
    SELECT
        t.queue,
        t.kind,
        t.target,
        k.value,
        (
            SELECT max(r.priority)
            FROM runs AS r
            WHERE r.status = 'queued'
                AND r.namespace = :namespace
                AND r.queue = t.queue
                AND r.target_kind = t.kind
                AND r.target = t.target
                AND (r.schedule_id IS NULL) = k.value
        )
    FROM targets AS t
    CROSS JOIN json_each('[0, 1]') AS k
    WHERE (t.kind, t.target) IN (
        SELECT json_extract(w.value, '$[0]'), json_extract(w.value, '$[1]') FROM json_each(:targets) AS w
    )
    UNION ALL
    SELECT
        l.queue,
        l.kind,
        l.target,
        l.ad_hoc,
        (
            SELECT max(r.priority)
            FROM runs AS r
            WHERE r.status = 'queued'
                AND r.namespace = :namespace
                AND r.queue = l.queue
                AND r.target_kind = l.kind
                AND r.target = l.target
                AND (r.schedule_id IS NULL) = l.ad_hoc
                AND r.priority < l.priority
        )
    FROM lines AS l
    WHERE l.priority IS NOT NULL
)
SELECT
    l.queue,
    l.kind,
    l.target,
    l.ad_hoc,
    l.priority,
    (
        SELECT max(r.deferred_until_minute) FROM runs AS r
        WHERE r.status = 'queued'
            AND r.namespace = :namespace
            AND r.queue = l.queue
            AND r.target_kind = l.kind
            AND r.target = l.target
            AND (r.schedule_id IS NULL) = l.ad_hoc
            AND r.priority = l.priority
    ) > 0,
    t.count,
    t.seconds,
    t.starts
FROM lines AS l
LEFT JOIN queue_rates AS t ON t.namespace = :namespace AND t.queue = l.queue
WHERE l.priority IS NOT NULL
ORDER BY l.priority DESC;

-- fragment: in_line
-- A run r of a line, unless this process cannot read it.
r.status = 'queued'
    AND r.namespace = :namespace
    AND r.queue = :queue
    AND r.target_kind = :kind
    AND r.target = :target
    AND (r.schedule_id IS NULL) = :ad_hoc
    AND r.priority = :priority
    AND (:unread_runs = '[]' OR r.id NOT IN (SELECT value FROM json_each(:unread_runs)))
    AND (
        :unread = '[]'
        OR coalesce(r.schedule_id || ':' || r.revision, '') NOT IN (SELECT value FROM json_each(:unread))
    )

-- fragment: select_available
SELECT
    r.id, r.available_at, r.schedule_id, r.revision, r.attempt, r.failures, r.target, r.origin, r.due_at,
    r.scheduled_for, r.covers_first, r.covers_last, r.covers_count, p.payload, r.concurrency_key, r.deferred_until_minute,
    r.target_kind
FROM runs AS r
LEFT JOIN run_payloads AS p ON p.run_id = r.id
WHERE {in_line}
    AND r.available_at <= :now
    AND (r.start_by IS NULL OR r.start_by >= :believed)
    AND (
        r.available_at <= :believed
        OR (r.attempt = 0 AND r.released_at IS NULL AND r.due_at <= max(r.created_at, :believed))
    )

-- name: available_runs
{select_available} AND r.deferred_until_minute = 0
ORDER BY r.available_at, r.id
LIMIT :limit;

-- name: available_deferred
-- Like available_runs, for deferred runs.
{select_available} AND r.deferred_until_minute > 0
ORDER BY r.deferred_until_minute, r.available_at, r.id
LIMIT :limit;

-- name: next_available
SELECT r.available_at
FROM runs AS r
WHERE {in_line} AND r.deferred_until_minute = 0 AND (r.start_by IS NULL OR r.start_by >= :now)
ORDER BY r.available_at, r.id
LIMIT 1;

-- name: next_deferred
SELECT r.available_at
FROM runs AS r
WHERE {in_line} AND r.deferred_until_minute > 0 AND (r.start_by IS NULL OR r.start_by >= :now)
ORDER BY r.deferred_until_minute, r.available_at, r.id
LIMIT 1;

-- name: lease_runs
UPDATE runs
SET status = 'running', attempt = attempt + 1, incarnation = :incarnation, worker = :worker, lease_until = :until,
    started_at = :started
WHERE id IN (SELECT value FROM json_each(:ids));

-- name: held_runs
SELECT id, attempt, incarnation, cancel_requested_at IS NOT NULL
FROM runs
WHERE id IN (SELECT value FROM json_each(:ids)) AND status = 'running' AND worker = :worker;

-- name: renew_leases
UPDATE runs SET lease_until = :until WHERE id IN (SELECT value FROM json_each(:ids));

-- name: running_runs
SELECT
    id, attempt, incarnation, schedule_id, cancel_requested_at IS NOT NULL AS asked_to_stop, worker, started_at, reason,
    namespace, concurrency_key
FROM runs
WHERE id IN (SELECT value FROM json_each(:ids)) AND status = 'running' AND worker = ifnull(:worker, worker);

-- name: end_run
UPDATE runs
SET status = ?2, finished_at = ?3, result = ?4, error = ?5, failure_kind = ?6, reason = ?7, failures = failures + ?8,
    lease_until = NULL
WHERE id = ?1;

-- name: requeue_run
-- A run that has started did so in time, so `start_by` no longer applies.
UPDATE runs
SET status = 'queued', available_at = ?2, error = ?3, failure_kind = ?4, reason = ?5, failures = failures + ?6,
    crashes = crashes + ?7, lease_until = NULL, worker = NULL, start_by = iif(?8, NULL, start_by),
    deferred_until_minute = iif(?6 > 0, 0, deferred_until_minute)
WHERE id = ?1;

-- name: insert_attempt
INSERT INTO attempts (run_id, attempt, worker, started_at, ended_at, outcome, error)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
ON CONFLICT (run_id, attempt) DO NOTHING;

-- name: with_waiters
SELECT value
FROM json_each(:ids)
WHERE EXISTS (SELECT 1 FROM runs AS r WHERE r.status = 'waiting' AND r.schedule_id = value AND r.lane < 2);

-- name: all_with_waiters
WITH RECURSIVE waiting (id) AS (
    SELECT min(schedule_id) FROM runs WHERE status = 'waiting' AND lane < 2
    UNION ALL
    SELECT (
        SELECT min(r.schedule_id) FROM runs AS r WHERE r.status = 'waiting' AND r.lane < 2 AND r.schedule_id > w.id
    )
    FROM waiting AS w
    WHERE w.id IS NOT NULL
)
SELECT id FROM waiting WHERE id IS NOT NULL;

-- name: waiters_of_schedule
SELECT id, schedule_id, revision, priority, namespace, concurrency_key, NULL, NULL
FROM runs
WHERE status = 'waiting' AND schedule_id = :schedule_id AND lane = 0
ORDER BY id
LIMIT :limit;

-- name: release_run
UPDATE runs
SET status = 'queued', lane = 0, available_at = max(available_at, :now), deferred_until_minute = :deferred_until_minute
WHERE id = :id AND status = 'waiting';

-- fragment: cancel
UPDATE runs
SET status = 'cancelled', lane = 0, finished_at = :now, reason = :reason, cancel_requested_at = :now,
    cancel_requested_by = :actor

-- name: cancel_runs
{cancel}
WHERE id IN (SELECT value FROM json_each(:ids)) AND status IN ('waiting', 'queued');

-- name: clear_lanes
-- Waiting runs of backfills, and held ones.
{cancel}
WHERE schedule_id = :schedule_id AND status = 'waiting' AND lane > 0;

-- name: stop_runs
UPDATE runs
SET cancel_requested_at = :now, cancel_requested_by = :actor, reason = :reason
WHERE id IN (SELECT value FROM json_each(:ids)) AND status = 'running' AND cancel_requested_at IS NULL;

-- name: expired_runs
SELECT id, attempt, crashes, crash_limit, worker, started_at, cancel_requested_at IS NOT NULL, reason
FROM runs
WHERE status = 'running' AND lease_until < :now
ORDER BY lease_until
LIMIT :limit;

-- name: fail_lost_run
UPDATE runs
SET status = ?2, finished_at = ?3, error = ?4, failure_kind = ?5, crashes = crashes + 1, lease_until = NULL
WHERE id = ?1;

-- name: join_lines
-- Deferred runs whose time has come join their line, by age.
UPDATE runs SET deferred_until_minute = 0
WHERE status = 'queued' AND deferred_until_minute > 0 AND deferred_until_minute < :minute;

-- name: misfired_runs
UPDATE runs
SET status = 'cancelled', lane = 0, finished_at = :now, reason = 'misfire'
WHERE id IN (
    SELECT id
    FROM runs
    WHERE start_by IS NOT NULL AND start_by < :now AND status IN ('waiting', 'queued')
    ORDER BY start_by
    LIMIT :limit
)
RETURNING id;

-- name: next_rescue
SELECT
    (SELECT min(lease_until) FROM runs WHERE status = 'running'),
    (SELECT min(start_by) FROM runs WHERE start_by IS NOT NULL AND status IN ('waiting', 'queued')),
    (SELECT min(deadline_at) FROM dependency_waits),
    (SELECT min(deferred_until_minute) * 60000000 FROM runs WHERE status = 'queued' AND deferred_until_minute > 0);

-- name: prune_runs
DELETE FROM runs
WHERE id IN (
    SELECT r.id
    FROM runs AS r
    WHERE r.finished_at IS NOT NULL
        AND r.finished_at < :cutoff
        AND (r.idempotency_key IS NULL OR r.created_at < :key_cutoff)
        AND (
            r.schedule_id IS NULL
            OR :keep = 0
            OR r.id < (
                SELECT k.id
                FROM runs AS k
                WHERE k.schedule_id = r.schedule_id
                ORDER BY k.id DESC
                LIMIT 1 OFFSET :keep - 1
            )
        )
    ORDER BY r.finished_at
    LIMIT :limit
)
RETURNING schedule_id, iif(origin IN ('schedule', 'catch_up', 'backfill'), scheduled_for, NULL);

-- name: prune_skips
DELETE FROM skips
WHERE id IN (
    SELECT s.id
    FROM skips AS s
    WHERE s.decided_at < :cutoff AND NOT EXISTS (SELECT 1 FROM cursors AS c WHERE c.last_skip_id = s.id)
    ORDER BY s.decided_at
    LIMIT :limit
)
RETURNING schedule_id, last_at;

-- name: schedules_with_old_revisions
-- Schedules with more revisions than are always retained; the number is that of the index.
SELECT id, revision FROM schedules
WHERE revision > 100 AND id > :after
ORDER BY id
LIMIT :limit;

-- name: prune_revisions
-- Revisions that were replaced before the cutoff and that nothing refers to, except the newest. A run is created while
-- its revision is in force, unless it is a retry: so only the oldest runs can have old revisions. Revisions that code has
-- declared are retained, because they decide which deploy wins.
WITH early AS (
    SELECT revision, created_at FROM runs
    WHERE schedule_id = :id
    ORDER BY id
    LIMIT 2000
),
used AS (
    SELECT revision FROM early
    UNION
    SELECT revision FROM runs WHERE schedule_id = :id AND retry_of IS NOT NULL
    UNION
    SELECT revision FROM skips WHERE schedule_id = :id AND last_at < :cutoff
    UNION
    SELECT revision FROM backfills WHERE schedule_id = :id
    UNION
    SELECT max(revision) FROM revisions
    WHERE schedule_id = :id AND fingerprint IS NOT NULL
    GROUP BY fingerprint
    UNION
    SELECT max(revision) FROM revisions WHERE schedule_id = :id AND action IN ('create', 'sync')
),
old AS (
    SELECT v.revision
    FROM (
        SELECT revision, lead(created_at) OVER (ORDER BY revision) AS replaced_at
        FROM revisions
        WHERE schedule_id = :id
    ) AS v
    WHERE v.revision <= :newest
        AND v.replaced_at < :cutoff
        AND v.revision NOT IN (SELECT revision FROM used WHERE revision IS NOT NULL)
        -- More of the oldest runs must be pruned first.
        AND (SELECT count(*) FROM early WHERE created_at < :cutoff) < 2000
    ORDER BY v.revision
    LIMIT :limit
)
DELETE FROM revisions WHERE schedule_id = :id AND revision IN (SELECT revision FROM old)
RETURNING revision;

-- name: prune_audit
DELETE FROM audit_log
WHERE created_at < :cutoff AND id IN (SELECT id FROM audit_log ORDER BY id LIMIT :limit);

-- name: get_run
SELECT * FROM run_details WHERE id = :id;

-- name: runs_by_id
SELECT * FROM run_details WHERE id IN (SELECT value FROM json_each(:ids));

-- name: list_runs
SELECT *
FROM run_details
WHERE namespace = :namespace AND (:status IS NULL OR status = :status) AND id < coalesce(:before, 9223372036854775807)
ORDER BY id DESC
LIMIT :limit;

-- name: list_runs_of
SELECT *
FROM run_details
WHERE schedule_id = (SELECT id FROM schedules WHERE namespace = :namespace AND name = :schedule)
    AND (:status IS NULL OR status = :status)
    AND id < coalesce(:before, 9223372036854775807)
ORDER BY id DESC
LIMIT :limit;

-- name: active_runs
SELECT *
FROM run_details
WHERE id IN (
    SELECT id FROM runs WHERE schedule_id = :schedule_id AND lane <= 0 AND status IN ('waiting', 'queued', 'running')
)
ORDER BY id;

-- name: runs_of_ticks
SELECT *
FROM run_details
WHERE id IN (
    SELECT id
    FROM runs
    WHERE schedule_id = :schedule_id
        AND origin IN ('schedule', 'catch_up', 'backfill')
        AND scheduled_for BETWEEN :first AND :last
    UNION
    SELECT id FROM runs WHERE schedule_id = :schedule_id AND covers_last >= :first AND covers_first <= :last
)
ORDER BY scheduled_for, id
LIMIT :limit;

-- name: list_attempts
SELECT attempt, worker, started_at, ended_at, outcome, error FROM attempts WHERE run_id = :run_id ORDER BY attempt;
