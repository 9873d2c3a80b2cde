-- Runs: from queued to a final status.
-- `{name}` is replaced by the text below `-- fragment: name`.

-- fragment: same_incarnation
-- Together with the attempt, this is the fencing token of a lease.
(u.incarnation = 0 OR r.incarnation = u.incarnation)

-- fragment: now
coalesce(%(now)s::timestamptz, statement_timestamp())

-- name: insert_runs
-- Runs without a schedule.
WITH u AS MATERIALIZED (
    SELECT
        coalesce(u.given_id, nextval('tickbird.ledger_id_seq')) AS id,
        u.*,
        coalesce(u.at, {now} + make_interval(secs => u.delay)) AS due_at
    FROM unnest(
        %(kinds)s::text[], %(targets)s::text[], %(queues)s::text[], %(priorities)s::integer[],
        %(at)s::timestamptz[], %(delays)s::float8[], %(start_within)s::float8[], %(crash_limits)s::integer[],
        %(retries)s::bigint[], %(payloads)s::text[], %(ids)s::bigint[], %(concurrency_keys)s::text[],
        %(statuses)s::text[]
    ) WITH ORDINALITY AS u(
        kind, target, queue, priority, at, delay, start_within, crash_limit, retry_of, payload, given_id, key, status,
        place
    )
),
payloads AS (
    INSERT INTO tickbird.run_payloads (run_id, payload)
    SELECT u.id, u.payload::json FROM u WHERE u.payload IS NOT NULL
),
made AS (
    INSERT INTO tickbird.runs (
        id, namespace, target_kind, target, queue, priority, status, origin, due_at, available_at, start_by,
        crash_limit, retry_of, actor, concurrency_key, created_at
    )
    SELECT
        u.id, %(namespace)s, u.kind, u.target, u.queue, u.priority, coalesce(u.status, 'queued'),
        CASE WHEN u.retry_of IS NULL THEN 'manual' ELSE 'retry' END, u.due_at, u.due_at,
        u.due_at + make_interval(secs => u.start_within),
        coalesce((SELECT r.crash_limit FROM tickbird.runs AS r WHERE r.id = u.retry_of), u.crash_limit), u.retry_of, %(actor)s, u.key,
        {now}
    FROM u
    ORDER BY u.place
),
told AS (
    INSERT INTO tickbird.audit_log (created_at, actor, action, namespace, run_id, detail)
    SELECT {now}, %(actor)s, 'enqueue', %(namespace)s, u.id, %(detail)s::jsonb
    FROM u
    WHERE u.place = 1
)
SELECT u.id FROM u ORDER BY u.place;

-- name: enqueue_run
-- One run with its payload and its wake-up, on any connection; no row if its key was used before. A caller's transaction
-- may end much later: its number, and a shared advisory lock, make readers of activity aware of it.
WITH made AS (
    INSERT INTO tickbird.runs (
        namespace, target_kind, target, queue, priority, status, origin, due_at, available_at, start_by, crash_limit,
        retry_of, actor, created_at, idempotency_key, concurrency_key, created_xid
    )
    SELECT
        CAST(%(namespace)s AS text), CAST(%(kind)s AS text), CAST(%(target)s AS text), CAST(%(queue)s AS text),
        CAST(%(priority)s AS integer), CAST(%(status)s AS text), CASE WHEN new.retry_of IS NULL THEN 'manual' ELSE 'retry' END,
        new.due_at, new.due_at, new.due_at + make_interval(secs => CAST(%(start_within)s AS float8)),
        coalesce(
            (SELECT r.crash_limit FROM tickbird.runs AS r WHERE r.id = new.retry_of), CAST(%(crash_limit)s AS integer)
        ),
        new.retry_of, CAST(%(actor)s AS text), new.now,
        CAST(%(idempotency_key)s AS text), CAST(%(concurrency_key)s AS text),
        CAST(CAST(pg_current_xact_id() AS text) AS bigint)
    FROM (
        SELECT
            c.now,
            coalesce(
                CAST(CAST(%(at)s AS text) AS timestamptz), c.now + make_interval(secs => CAST(%(delay)s AS float8))
            ) AS due_at,
            CAST(%(retry_of)s AS bigint) AS retry_of
        FROM (SELECT coalesce(CAST(CAST(%(now)s AS text) AS timestamptz), statement_timestamp()) AS now) AS c
    ) AS new
    ON CONFLICT (namespace, idempotency_key) WHERE idempotency_key IS NOT NULL DO NOTHING
    RETURNING id
),
sent AS (
    INSERT INTO tickbird.run_payloads (run_id, payload)
    SELECT made.id, CAST(CAST(%(payload)s AS text) AS json) FROM made WHERE CAST(%(payload)s AS text) IS NOT NULL
)
SELECT
    made.id, CAST(pg_notify('tickbird', '') AS text),
    CAST(pg_advisory_xact_lock_shared(7311, CAST(CAST(CAST('tickbird.runs' AS regclass) AS oid) AS integer)) AS text)
FROM made;

-- name: audit_enqueued
INSERT INTO tickbird.audit_log (created_at, actor, action, namespace, run_id, detail)
SELECT r.created_at, r.actor, 'enqueue', r.namespace, r.id, %(detail)s::jsonb FROM tickbird.runs AS r WHERE r.id = %(id)s
RETURNING id;

-- name: keyed_run
-- Its payload as text, which every driver reads the same way.
SELECT r.id, r.schedule_id, r.target_kind, r.target, CAST(p.payload AS text)
FROM tickbird.runs AS r
LEFT JOIN tickbird.run_payloads AS p ON p.run_id = r.id
WHERE r.namespace = CAST(%(namespace)s AS text) AND r.idempotency_key = CAST(%(idempotency_key)s AS text);

-- name: key_run
UPDATE tickbird.runs SET idempotency_key = %(idempotency_key)s WHERE id = %(id)s;

-- name: renew_runs
-- An expired lease may still be renewed if the run was not rescued: attempt and incarnation are the fencing token.
-- Rows are locked by id and filtered afterwards: with a condition on the status, the query planner would choose the index
-- of running runs.
WITH locked AS MATERIALIZED (
    SELECT r.id, r.status, r.worker, r.attempt = u.attempt AND {same_incarnation} AS is_current
    FROM unnest(%(ids)s::bigint[], %(attempts)s::integer[], %(incarnations)s::integer[]) AS u(id, attempt, incarnation)
    JOIN tickbird.runs AS r ON r.id = u.id
    ORDER BY r.id
    FOR UPDATE OF r
),
held AS (
    SELECT id FROM locked WHERE status = 'running' AND is_current AND worker = %(worker)s
),
renewed AS (
    UPDATE tickbird.runs AS r
    SET lease_until = {now} + make_interval(secs => %(lease)s)
    WHERE r.id = ANY(ARRAY(SELECT held.id FROM held))
    RETURNING r.id, r.cancel_requested_at IS NOT NULL AS asked_to_stop
)
SELECT c.now, renewed.id, renewed.asked_to_stop
FROM (SELECT {now} AS now) AS c
LEFT JOIN renewed ON true;

-- name: succeed_runs
-- Like finish_runs, if every run succeeded: there are no attempts to store, and the rows need not be read before.
-- The status is hidden from the query planner, which would otherwise choose the index of running runs, as in renew_runs.
WITH done AS (
    UPDATE tickbird.runs AS r
    SET status = 'succeeded',
        lease_until = NULL,
        finished_at = {now},
        result = u.result::json,
        error = NULL,
        failure_kind = NULL,
        reason = NULL
    FROM unnest(%(ids)s::bigint[], %(attempts)s::integer[], %(incarnations)s::integer[], %(results)s::text[])
        AS u(id, attempt, incarnation, result)
    WHERE r.id = u.id AND r.attempt = u.attempt AND {same_incarnation} AND r.worker = coalesce(%(worker)s, r.worker) AND r.status || '' = 'running'
    RETURNING r.id, r.schedule_id, r.namespace, r.concurrency_key
)
SELECT
    {now},
    ARRAY(SELECT id FROM done),
    ARRAY(SELECT schedule_id FROM done WHERE schedule_id IS NOT NULL),
    tickbird.tracked_schedules(ARRAY(SELECT schedule_id FROM done)),
    ARRAY(SELECT namespace FROM done WHERE concurrency_key IS NOT NULL),
    ARRAY(SELECT concurrency_key FROM done WHERE concurrency_key IS NOT NULL);

-- name: finish_runs
-- Locked by id and filtered afterwards, as in renew_runs.
WITH u AS MATERIALIZED (
    SELECT * FROM unnest(
        %(ids)s::bigint[], %(attempts)s::integer[], %(incarnations)s::integer[], %(statuses)s::text[], %(delays)s::float8[],
        %(failures)s::integer[], %(results)s::text[], %(errors)s::text[], %(kinds)s::text[], %(reasons)s::text[],
        %(started)s::boolean[]
    ) AS u(id, attempt, incarnation, status, delay, failures, result, error, kind, reason, started)
),
locked AS MATERIALIZED (
    SELECT
        r.id, r.status AS found, r.attempt = u.attempt AND {same_incarnation} AS is_current, r.worker, r.started_at,
        r.cancel_requested_at IS NOT NULL AS asked_to_stop,
        u.attempt, u.status, u.delay, u.failures, u.result, u.error, u.kind, u.reason, u.started
    FROM u
    JOIN tickbird.runs AS r ON r.id = u.id
    ORDER BY r.id
    FOR UPDATE OF r
),
held AS MATERIALIZED (
    SELECT
        id, attempt, worker, started_at, delay, failures, result, error, kind, reason, started,
        CASE WHEN status = 'queued' AND asked_to_stop THEN 'cancelled' ELSE status END AS status,
        CASE
            WHEN status <> 'queued' THEN status
            WHEN asked_to_stop THEN 'cancelled'
            WHEN failures > 0 THEN 'retried'
            ELSE 'drained'
        END AS outcome
    FROM locked
    WHERE found = 'running' AND is_current AND worker = coalesce(%(worker)s, worker)
),
ended AS (
    INSERT INTO tickbird.attempts (run_id, attempt, worker, started_at, ended_at, outcome, error)
    SELECT h.id, h.attempt, h.worker, h.started_at, {now}, h.outcome, h.error
    FROM held AS h
    WHERE h.status <> 'succeeded'
    ON CONFLICT (run_id, attempt) DO NOTHING
),
done AS (
    UPDATE tickbird.runs AS r
    SET status = h.status,
        failures = r.failures + h.failures,
        lease_until = NULL,
        worker = CASE WHEN h.status <> 'queued' THEN r.worker END,
        -- A run that has started did so in time; further attempts may start later.
        start_by = CASE WHEN h.status <> 'queued' OR NOT h.started THEN r.start_by END,
        available_at = CASE WHEN h.status = 'queued' THEN {now} + make_interval(secs => h.delay) ELSE r.available_at END,
        -- A deferred run that waits for its next attempt would hide others from claims.
        deferred_until_minute = CASE WHEN h.failures > 0 THEN 0 ELSE r.deferred_until_minute END,
        finished_at = CASE WHEN h.status <> 'queued' THEN {now} END,
        result = h.result::json,
        error = h.error,
        failure_kind = h.kind,
        reason = coalesce(h.reason, CASE WHEN h.status = 'cancelled' THEN r.reason END)
    FROM held AS h
    WHERE r.id = h.id
    RETURNING r.id, r.schedule_id, r.status, r.namespace, r.concurrency_key
)
SELECT
    {now},
    ARRAY(SELECT id FROM done),
    ARRAY(SELECT schedule_id FROM done WHERE schedule_id IS NOT NULL AND status <> 'queued'),
    tickbird.tracked_schedules(ARRAY(SELECT schedule_id FROM done WHERE status = 'succeeded')),
    ARRAY(SELECT namespace FROM done WHERE concurrency_key IS NOT NULL AND status <> 'queued'),
    ARRAY(SELECT concurrency_key FROM done WHERE concurrency_key IS NOT NULL AND status <> 'queued');

-- name: lock_waiters
-- The first waiting run of each schedule represents all: its lock is the right to release some of them. Runs of backfills
-- come after the others; held runs are not released here.
SELECT s.schedule_id
FROM (SELECT DISTINCT u.schedule_id FROM unnest(%(ids)s::bigint[]) AS u(schedule_id) ORDER BY 1) AS s
CROSS JOIN LATERAL (
    SELECT r.id FROM tickbird.runs AS r
    WHERE r.schedule_id = s.schedule_id AND r.status = 'waiting' AND r.lane < 2
    ORDER BY r.lane, r.id LIMIT 1
    FOR UPDATE
) AS first;

-- name: try_waiters
-- Like lock_waiters, for schedules whose first waiting run is not locked.
SELECT s.schedule_id
FROM unnest(%(ids)s::bigint[]) AS s(schedule_id)
CROSS JOIN LATERAL (
    SELECT r.id FROM tickbird.runs AS r
    WHERE r.id = (
            SELECT w.id FROM tickbird.runs AS w
            WHERE w.schedule_id = s.schedule_id AND w.status = 'waiting' AND w.lane < 2
            ORDER BY w.lane, w.id LIMIT 1
        )
        AND r.status || '' = 'waiting'
    FOR UPDATE SKIP LOCKED
) AS first;

-- name: read_waiters
-- The oldest waiting runs, then as many of each backfill as might start.
SELECT w.id, s.schedule_id, w.revision, w.priority, w.namespace, w.concurrency_key, NULL::bigint, NULL::integer
FROM unnest(%(ids)s::bigint[]) AS s(schedule_id)
CROSS JOIN LATERAL (
    SELECT r.id, r.revision, r.priority, r.namespace, r.concurrency_key FROM tickbird.runs AS r
    WHERE r.schedule_id = s.schedule_id AND r.status = 'waiting' AND r.lane = 0
    ORDER BY r.id LIMIT %(limit)s
) AS w
UNION ALL
SELECT w.id, b.schedule_id, w.revision, w.priority, w.namespace, w.concurrency_key, b.id, b.concurrency
FROM tickbird.backfills AS b
CROSS JOIN LATERAL (
    SELECT r.id, r.revision, r.priority, r.namespace, r.concurrency_key FROM tickbird.runs AS r
    WHERE r.backfill_id = b.id AND r.lane = 1
    ORDER BY r.id LIMIT b.concurrency
) AS w
WHERE b.schedule_id = ANY(%(ids)s::bigint[]);

-- name: read_busy
-- The number of active runs of a schedule and of its backfills; the condition on the end comes first, because the index of
-- active runs has it.
SELECT schedule_id, backfill_id, count(*)
FROM tickbird.runs
WHERE schedule_id = ANY(%(ids)s::bigint[]) AND lane = 0 AND finished_at IS NULL AND status || '' <> 'waiting'
GROUP BY schedule_id, backfill_id;

-- name: release_runs
-- A waiting run that another session has locked is being cancelled; that session releases the next one.
UPDATE tickbird.runs
SET status = 'queued',
    lane = 0,
    available_at = greatest(available_at, %(now)s),
    deferred_until_minute = coalesce((%(until)s::integer[])[array_position(%(those)s::bigint[], id)], 0)
WHERE id = ANY(ARRAY(
    SELECT id FROM tickbird.runs WHERE id = ANY(%(ids)s::bigint[]) AND status || '' = 'waiting'
    ORDER BY id
    FOR UPDATE SKIP LOCKED
))
RETURNING id;

-- name: waits_of
-- The schedule whose runs this one waits for.
SELECT schedule_id FROM tickbird.runs
WHERE id = %(id)s AND status || '' = 'waiting' AND lane < 2 AND schedule_id IS NOT NULL;

-- name: lock_run
SELECT id, schedule_id, namespace, status, concurrency_key FROM tickbird.runs WHERE id = %(id)s FOR UPDATE;

-- name: cancel_run
UPDATE tickbird.runs
SET status = CASE WHEN status = 'running' THEN status ELSE 'cancelled' END,
    lane = 0,
    finished_at = CASE WHEN status = 'running' THEN finished_at ELSE %(now)s END,
    cancel_requested_at = coalesce(cancel_requested_at, %(now)s),
    cancel_requested_by = coalesce(cancel_requested_by, %(actor)s),
    reason = coalesce(%(reason)s, reason)
WHERE id = %(id)s;

-- name: rescue_runs
WITH lost AS MATERIALIZED (
    SELECT
        id, attempt, worker, started_at, namespace, target,
        CASE
            WHEN cancel_requested_at IS NOT NULL THEN 'cancelled'
            -- A negative limit: it waits for the answer whether it had its effect.
            WHEN crash_limit < 0 THEN 'waiting'
            WHEN crashes + 1 > crash_limit THEN 'failed'
            ELSE 'queued'
        END AS status,
        format('worker %%s was lost: its lease ended at %%s.', worker, lease_until AT TIME ZONE 'UTC') AS error
    FROM tickbird.runs
    WHERE status = 'running' AND lease_until < {now}
    ORDER BY lease_until
    LIMIT %(limit)s
    FOR UPDATE SKIP LOCKED
),
ended AS (
    INSERT INTO tickbird.attempts (run_id, attempt, worker, started_at, ended_at, outcome, error)
    SELECT id, attempt, worker, started_at, {now}, 'lost', error
    FROM lost
),
questions AS (
    INSERT INTO tickbird.lost_runs (run_id, namespace, target, attempt, lost_at)
    SELECT id, namespace, target, attempt, {now} FROM lost WHERE status = 'waiting'
    ON CONFLICT (run_id) DO UPDATE
    SET attempt = excluded.attempt, lost_at = excluded.lost_at, calls = 0, called_by = NULL, lease_until = NULL,
        effect = NULL, error = NULL, resolved_at = NULL, resolved_by = NULL, note = ''
)
UPDATE tickbird.runs AS r
SET status = lost.status,
    lane = CASE WHEN lost.status = 'waiting' THEN 2 ELSE r.lane END,
    crashes = r.crashes + 1,
    lease_until = NULL,
    worker = CASE WHEN lost.status NOT IN ('queued', 'waiting') THEN r.worker END,
    start_by = CASE WHEN lost.status NOT IN ('queued', 'waiting') THEN r.start_by END,
    available_at = CASE WHEN lost.status IN ('queued', 'waiting') THEN {now} ELSE r.available_at END,
    deferred_until_minute = CASE WHEN lost.status = 'waiting' THEN 0 ELSE r.deferred_until_minute END,
    finished_at = CASE WHEN lost.status NOT IN ('queued', 'waiting') THEN {now} END,
    error = lost.error,
    failure_kind = CASE WHEN lost.status = 'failed' THEN 'lost' END
FROM lost
WHERE r.id = lost.id
RETURNING r.id, r.schedule_id, r.status, r.namespace, r.concurrency_key;

-- name: join_lines
-- Deferred runs whose time has come join their line, by age.
UPDATE tickbird.runs
SET deferred_until_minute = 0
WHERE id = ANY(ARRAY(
    SELECT id FROM tickbird.runs
    WHERE status = 'queued' AND deferred_until_minute > 0
        AND deferred_until_minute < ceil(date_part('epoch', %(now)s::timestamptz) / 60)::integer
    ORDER BY deferred_until_minute
    LIMIT %(limit)s
    FOR UPDATE SKIP LOCKED
));

-- name: cancel_misfired
WITH late AS MATERIALIZED (
    SELECT id FROM tickbird.runs
    WHERE status IN ('waiting', 'queued')
        AND start_by IS NOT NULL
        AND start_by < {now}
    ORDER BY start_by
    LIMIT %(limit)s
    FOR UPDATE SKIP LOCKED
)
UPDATE tickbird.runs
SET status = 'cancelled',
    lane = 0,
    reason = 'misfire',
    finished_at = {now}
WHERE id = ANY(ARRAY(SELECT late.id FROM late))
RETURNING id, schedule_id, status, namespace, concurrency_key;

-- name: waiting_schedules
-- By jumping from one to the next, because many runs may wait for the same one.
WITH RECURSIVE waiting AS (
    (SELECT schedule_id FROM tickbird.runs WHERE status = 'waiting' AND lane < 2 ORDER BY schedule_id LIMIT 1)
    UNION ALL
    SELECT (
        SELECT r.schedule_id FROM tickbird.runs AS r
        WHERE r.status = 'waiting' AND r.lane < 2 AND r.schedule_id > w.schedule_id
        ORDER BY r.schedule_id LIMIT 1
    )
    FROM waiting AS w
    WHERE w.schedule_id IS NOT NULL
)
SELECT schedule_id FROM waiting WHERE schedule_id IS NOT NULL LIMIT %(limit)s;

-- name: next_rescue
-- The clock; the next instant at which a lease ends, a run is too late, a wait times out, or a deferred run joins its line;
-- whether any run waits; and whether a run was finished in a transaction of its task, and its worker may be lost.
SELECT
    {now},
    least(
        (
            SELECT lease_until FROM tickbird.runs WHERE status = 'running' AND lease_until IS NOT NULL
            ORDER BY lease_until LIMIT 1
        ),
        (
            SELECT start_by FROM tickbird.runs
            WHERE status IN ('waiting', 'queued') AND start_by IS NOT NULL
            ORDER BY start_by LIMIT 1
        ),
        (SELECT deadline_at FROM tickbird.dependency_waits ORDER BY deadline_at LIMIT 1),
        (
            SELECT to_timestamp(60.0 * deferred_until_minute) FROM tickbird.runs
            WHERE status = 'queued' AND deferred_until_minute > 0
            ORDER BY deferred_until_minute LIMIT 1
        )
    ),
    EXISTS (SELECT FROM tickbird.runs WHERE status = 'waiting' AND lane < 2),
    EXISTS (SELECT FROM tickbird.committed_runs);

-- fragment: delete_old
-- Deletes the runs `old` with everything that belongs to them, and marks how far the ledger of their schedules is pruned.
payloads AS (
    DELETE FROM tickbird.run_payloads WHERE run_id = ANY(ARRAY(SELECT old.id FROM old))
),
attempts AS (
    DELETE FROM tickbird.attempts WHERE run_id = ANY(ARRAY(SELECT old.id FROM old))
),
lines AS (
    DELETE FROM tickbird.run_logs WHERE run_id = ANY(ARRAY(SELECT old.id FROM old))
),
lost AS (
    DELETE FROM tickbird.lost_runs WHERE run_id = ANY(ARRAY(SELECT old.id FROM old))
),
progress AS (
    DELETE FROM tickbird.run_progress WHERE run_id = ANY(ARRAY(SELECT old.id FROM old))
),
gone AS (
    DELETE FROM tickbird.runs
    WHERE id = ANY(ARRAY(SELECT old.id FROM old))
    RETURNING schedule_id, CASE WHEN origin IN ('schedule', 'catch_up', 'backfill') THEN scheduled_for END AS tick
),
marks AS (
    INSERT INTO tickbird.prune_horizons (schedule_id, pruned_until)
    SELECT schedule_id, max(tick) FROM gone WHERE schedule_id IS NOT NULL AND tick IS NOT NULL
    GROUP BY schedule_id
    ORDER BY schedule_id
    ON CONFLICT (schedule_id) DO UPDATE SET pruned_until = greatest(prune_horizons.pruned_until, excluded.pruned_until)
)

-- name: prune_runs
-- Only final runs, oldest first, and never the newest of their schedule. Old runs that are retained would be read again in
-- each call, so a call reads a bounded number of them and returns the position for the next one.
WITH seen AS MATERIALIZED (
    SELECT id, schedule_id, finished_at, created_at, idempotency_key
    FROM tickbird.runs
    WHERE status IN ('succeeded', 'failed', 'cancelled')
        AND finished_at < {now} - make_interval(secs => %(older_than)s)
        AND (finished_at, id) > (%(since)s::timestamptz, %(after)s::bigint)
    ORDER BY finished_at, id
    LIMIT 10 * %(limit)s::integer
),
old AS MATERIALIZED (
    SELECT seen.id
    FROM seen
    LEFT JOIN LATERAL (
        SELECT n.id FROM tickbird.runs AS n
        WHERE n.schedule_id = seen.schedule_id
        ORDER BY n.id DESC
        OFFSET %(keep)s LIMIT 1
    ) AS edge ON true
    WHERE (seen.schedule_id IS NULL OR seen.id <= edge.id)
        AND (
            seen.idempotency_key IS NULL
            OR seen.created_at < {now} - make_interval(secs => %(key_seconds)s)
        )
    ORDER BY seen.finished_at, seen.id
    LIMIT %(limit)s
),
{delete_old}
SELECT (SELECT count(*) FROM gone), (SELECT count(*) FROM seen), last.finished_at, last.id
FROM (SELECT finished_at, id FROM seen ORDER BY finished_at DESC, id DESC LIMIT 1) AS last;

-- name: prune_job_runs
-- Jobs with a retention of their own. `changes` keeps runs whose outcome differs from that of the run before, `failures` those
-- that did not succeed; both keep the runs of the last hour. The newest run is always kept.
WITH old AS MATERIALIZED (
    SELECT r.id
    FROM tickbird.scheduled_jobs AS j
    CROSS JOIN LATERAL (
        SELECT
            n.id, n.status, n.finished_at, n.idempotency_key,
            row_number() OVER (ORDER BY n.id DESC) AS place,
            lag(n.status) OVER newest AS status_before,
            lag(n.result::text) OVER newest AS result_before,
            lag(n.error) OVER newest AS error_before,
            n.result::text AS result,
            n.error
        FROM tickbird.runs AS n
        WHERE n.schedule_id = j.id AND n.finished_at IS NOT NULL
        WINDOW newest AS (ORDER BY n.id)
        ORDER BY n.id DESC
        LIMIT coalesce(j.keep_runs, 10000) + %(limit)s::integer
    ) AS r
    WHERE (j.keep_runs IS NOT NULL OR j.keep_for IS NOT NULL OR j.log <> 'all')
        AND r.place > 1
        AND r.idempotency_key IS NULL
        AND (
            r.place > j.keep_runs
            -- A longer time is before the first date of PostgreSQL, which is an error.
            OR r.finished_at < {now} - least(j.keep_for, interval '1000 years')
            OR r.finished_at < {now} - interval '1 hour' AND CASE j.log
                WHEN 'failures' THEN r.status = 'succeeded'
                WHEN 'changes' THEN
                    (r.status, r.result, r.error) IS NOT DISTINCT FROM (r.status_before, r.result_before, r.error_before)
                ELSE false
            END
        )
    ORDER BY r.id
    LIMIT %(limit)s
),
{delete_old}
SELECT count(*) FROM gone;

-- name: prune_skips
WITH gone AS (
    DELETE FROM tickbird.skips
    WHERE id = ANY(ARRAY(
        SELECT s.id
        FROM tickbird.skips AS s
        JOIN tickbird.cursors AS c USING (schedule_id)
        WHERE s.decided_at < {now} - make_interval(secs => %(older_than)s)
            AND s.id IS DISTINCT FROM c.last_skip_id
        ORDER BY s.decided_at
        LIMIT %(limit)s
    ))
    RETURNING schedule_id, last_at
)
INSERT INTO tickbird.prune_horizons (schedule_id, pruned_until)
SELECT schedule_id, max(last_at) FROM gone
GROUP BY schedule_id
ORDER BY schedule_id
ON CONFLICT (schedule_id) DO UPDATE SET pruned_until = greatest(prune_horizons.pruned_until, excluded.pruned_until);

-- name: prune_audit
DELETE FROM tickbird.audit_log
WHERE id = ANY(ARRAY(
    SELECT id
    FROM tickbird.audit_log
    WHERE created_at < {now} - make_interval(secs => %(older_than)s)
    ORDER BY created_at
    LIMIT %(limit)s
));

-- name: schedules_with_old_revisions
-- Schedules with more revisions than are always retained; the number is that of the index.
SELECT id FROM tickbird.schedules
WHERE revision > 100 AND id > %(after)s
ORDER BY id
LIMIT %(limit)s;

-- name: lock_for_pruning
-- A retry locks it too, so that no revision is deleted while a run of it is created.
SELECT revision FROM tickbird.schedules WHERE id = %(id)s FOR UPDATE SKIP LOCKED;

-- name: prune_revisions
-- Revisions that were replaced before the cutoff and that nothing refers to, except the newest. A run is created while
-- its revision is in force, unless it is a retry: so only the oldest runs can have old revisions. Revisions that code has
-- declared are retained, because they decide which deploy wins.
WITH early AS MATERIALIZED (
    SELECT revision, created_at FROM tickbird.runs
    WHERE schedule_id = %(id)s
    ORDER BY id
    LIMIT 2000
),
used AS MATERIALIZED (
    SELECT revision FROM early
    UNION
    SELECT revision FROM tickbird.runs WHERE schedule_id = %(id)s AND retry_of IS NOT NULL
    UNION
    SELECT revision FROM tickbird.skips WHERE schedule_id = %(id)s AND last_at < %(cutoff)s
    UNION
    SELECT revision FROM tickbird.backfills WHERE schedule_id = %(id)s
    UNION
    SELECT max(revision) FROM tickbird.revisions
    WHERE schedule_id = %(id)s AND fingerprint IS NOT NULL
    GROUP BY fingerprint
    UNION
    SELECT max(revision) FROM tickbird.revisions WHERE schedule_id = %(id)s AND action IN ('create', 'sync')
),
old AS MATERIALIZED (
    SELECT v.revision
    FROM (
        SELECT revision, lead(created_at) OVER (ORDER BY revision) AS replaced_at
        FROM tickbird.revisions
        WHERE schedule_id = %(id)s
    ) AS v
    WHERE v.revision <= %(newest)s
        AND v.replaced_at < %(cutoff)s
        AND v.revision NOT IN (SELECT revision FROM used WHERE revision IS NOT NULL)
        -- More of the oldest runs must be pruned first.
        AND (SELECT count(*) FROM early WHERE created_at < %(cutoff)s) < 2000
    ORDER BY v.revision
    LIMIT %(limit)s
)
DELETE FROM tickbird.revisions AS v
USING old
WHERE v.schedule_id = %(id)s AND v.revision = old.revision;

-- name: prune_workers
DELETE FROM tickbird.workers
WHERE live_until < {now} - make_interval(secs => %(older_than)s);

-- name: get_run
SELECT * FROM tickbird.run_details WHERE id = %(id)s;

-- name: list_runs
-- Written for the index by namespace: with a bare condition on the namespace, the query planner might walk the primary key,
-- through the runs of all namespaces.
SELECT * FROM tickbird.run_details
WHERE (namespace, id) >= (%(namespace)s, 0)
    AND (namespace, id) < (%(namespace)s, coalesce(%(before)s::bigint, 9223372036854775807))
    AND (%(status)s::text IS NULL OR status = %(status)s)
ORDER BY namespace DESC, id DESC
LIMIT %(limit)s;

-- name: list_runs_of
-- The schedule is read first: in a join, all of its runs would be sorted for one page.
SELECT * FROM tickbird.run_details
WHERE schedule_id = (SELECT s.id FROM tickbird.schedules AS s WHERE s.namespace = %(namespace)s AND s.name = %(schedule)s)
    AND (%(status)s::text IS NULL OR status = %(status)s)
    AND id < coalesce(%(before)s::bigint, 9223372036854775807)
ORDER BY id DESC
LIMIT %(limit)s;

-- name: active_runs
SELECT * FROM tickbird.run_details
WHERE schedule_id = %(schedule_id)s AND lane <= 0 AND finished_at IS NULL
ORDER BY id;

-- name: runs_between
-- Runs of ticks in the range, and runs that cover ticks in it.
SELECT * FROM tickbird.run_details
WHERE id = ANY(ARRAY(
    (
        SELECT id FROM tickbird.runs
        WHERE schedule_id = %(schedule_id)s
            AND origin IN ('schedule', 'catch_up', 'backfill')
            AND scheduled_for BETWEEN %(first)s AND %(last)s
        ORDER BY scheduled_for
        LIMIT %(limit)s
    )
    UNION ALL
    SELECT id FROM tickbird.runs
    WHERE schedule_id = %(schedule_id)s
        AND covers_last IS NOT NULL
        AND covers_last >= %(first)s
        AND covers_first <= %(last)s
))
ORDER BY scheduled_for, id
LIMIT %(limit)s;

-- name: skips_between
SELECT id, schedule_id, revision, reason, first_at, last_at, count, run_id, actor, note, decided_at, term
FROM tickbird.skips
WHERE schedule_id = %(schedule_id)s AND last_at >= %(first)s AND first_at <= %(last)s
ORDER BY first_at, id
LIMIT %(limit)s;

-- name: list_attempts
SELECT attempt, worker, started_at, ended_at, outcome, error
FROM tickbird.attempts
WHERE run_id = %(id)s
ORDER BY attempt;
