-- Queries of the dashboard; runs are in `dashboard_runs.sql`. Each statement reads no more rows than its bounds allow,
-- whatever the size of the store. Exception: searches for schedules may walk the narrow table `schedule_search`.
-- `{name}` is replaced by the text below `-- fragment: name`.

-- fragment: from_matching_schedules
FROM tickbird.schedule_search AS l
JOIN tickbird.cursors AS c ON c.schedule_id = l.schedule_id
WHERE l.namespace = %(namespace)s
    AND (%(contains)s = '' OR strpos(l.search_text, lower(%(contains)s)) > 0)
    AND (%(app)s::text IS NULL OR l.app = %(app)s)
    AND (%(queue)s::text IS NULL OR l.queue = %(queue)s)
    AND (%(among)s::bigint[] IS NULL OR l.schedule_id IN (SELECT unnest(%(among)s::bigint[])))
    AND (%(tag)s::text IS NULL OR strpos(l.search_text, E'\n' || lower(%(tag)s) || E'\n') > 0)
    AND c.state = ANY(%(states)s::text[])
    -- The search text contains words and tags, so the tags are read too, but only if a tag is requested.
    AND CASE WHEN %(tag)s::text IS NULL THEN true ELSE (
        SELECT s.definition -> 'tags' ? %(tag)s FROM tickbird.schedules AS s WHERE s.id = l.schedule_id
    ) END

-- name: find_schedules_before
SELECT l.schedule_id
{from_matching_schedules} AND l.name < %(before)s
ORDER BY l.name DESC
LIMIT %(limit)s;

-- name: count_schedules
SELECT count(*) FROM (SELECT {from_matching_schedules} LIMIT %(limit)s) AS found;

-- name: idle_schedules
SELECT schedule_id FROM tickbird.cursors
WHERE state = ANY(%(states)s::text[]) AND state IN ('paused', 'parked', 'ended', 'deleted')
LIMIT %(maximum)s;

-- name: failing_schedules
-- Schedules that failed recently and have not succeeded since. If there are more failures than are read, one schedule that
-- always fails must not hide others: the statement then steps from schedule to schedule.
WITH RECURSIVE failures AS MATERIALIZED (
    SELECT schedule_id FROM tickbird.runs
    WHERE namespace = %(namespace)s AND status = 'failed' AND status IN ('failed', 'cancelled')
    ORDER BY id DESC
    LIMIT %(maximum)s
),
others AS (
    (
        SELECT r.schedule_id, 1 AS step FROM tickbird.runs AS r
        WHERE
            (SELECT count(*) FROM failures) = %(maximum)s
            AND r.status = 'failed' AND r.status IN ('failed', 'cancelled') AND r.schedule_id IS NOT NULL
        ORDER BY r.schedule_id
        LIMIT 1
    )
    UNION ALL
    SELECT r.schedule_id, others.step + 1
    FROM others
    CROSS JOIN LATERAL (
        SELECT r.schedule_id FROM tickbird.runs AS r
        WHERE r.status = 'failed' AND r.status IN ('failed', 'cancelled') AND r.schedule_id > others.schedule_id
        ORDER BY r.schedule_id
        LIMIT 1
    ) AS r
    WHERE others.step < %(maximum)s
)
SELECT lately.schedule_id
FROM (
    SELECT schedule_id FROM failures WHERE schedule_id IS NOT NULL
    UNION
    SELECT schedule_id FROM others
    -- Not a join: the query planner would scan all schedules of the namespace, instead of reading each by its key.
    WHERE (SELECT s.namespace FROM tickbird.schedules AS s WHERE s.id = others.schedule_id) = %(namespace)s
) AS lately
CROSS JOIN LATERAL (
    SELECT r.status FROM tickbird.runs AS r
    WHERE r.schedule_id = lately.schedule_id AND r.status IN ('succeeded', 'failed')
    ORDER BY r.id DESC LIMIT 1
) AS newest
WHERE newest.status = 'failed';

-- fragment: ended_runs
-- Of a schedule s: the newest hundred runs that succeeded or failed; `good` counts the successes since each.
SELECT told.*, count(*) FILTER (WHERE told.status = 'succeeded') OVER (ORDER BY told.id DESC) AS good
FROM (
    SELECT r.id, r.status, r.finished_at FROM tickbird.runs AS r
    WHERE r.schedule_id = s.id AND r.status IN ('succeeded', 'failed')
    ORDER BY r.id DESC LIMIT 100
) AS told

-- fragment: last_run_at
-- The start of the newest run or of one of the hundred before it; otherwise of the newest that succeeded or failed.
coalesce(
    (
        SELECT n.started_at
        FROM (
            SELECT r.id, r.started_at FROM tickbird.runs AS r
            WHERE r.schedule_id = s.id
            ORDER BY r.id DESC LIMIT 100
        ) AS n
        WHERE n.started_at IS NOT NULL
        ORDER BY n.id DESC LIMIT 1
    ),
    (
        SELECT r.started_at FROM tickbird.runs AS r
        WHERE r.schedule_id = s.id AND r.status IN ('succeeded', 'failed')
        ORDER BY r.id DESC LIMIT 1
    )
)

-- fragment: failure_streak
(SELECT count(*) FROM ({ended_runs}) AS f WHERE f.good = 0)

-- fragment: held_runs
(SELECT count(*) FROM tickbird.runs AS r WHERE r.schedule_id = s.id AND r.status = 'waiting' AND r.lane = 2 AND r.attempt = 0)

-- name: list_versions
-- A page of schedules, each with a version text that changes with every change of a listed value: the transactions that
-- wrote its rows and its newest run, and the values that depend on other runs.
SELECT
    s.id,
    CASE
        WHEN newest.id IS NULL THEN ROW(s.xmin, page.cursor_version)::text
        ELSE ROW(
            s.xmin,
            page.cursor_version,
            newest.id,
            newest.xmin,
            CASE WHEN newest.started_at IS NULL THEN {last_run_at} END,
            CASE WHEN told.status = 'failed' THEN {failure_streak} END,
            {held_runs}
        )::text
    END AS version
FROM (
    SELECT l.schedule_id, l.name, c.xmin AS cursor_version
    {from_matching_schedules} AND l.name > %(after)s
    ORDER BY l.name
    LIMIT %(limit)s
) AS page
-- Read each by its key, whatever the estimate for the page.
CROSS JOIN LATERAL (SELECT s.id, s.xmin FROM tickbird.schedules AS s WHERE s.id = page.schedule_id OFFSET 0) AS s
LEFT JOIN LATERAL (
    SELECT r.id, r.xmin, r.started_at FROM tickbird.runs AS r
    WHERE r.schedule_id = page.schedule_id
    ORDER BY r.id DESC LIMIT 1
) AS newest ON true
LEFT JOIN LATERAL (
    SELECT r.status FROM tickbird.runs AS r
    WHERE newest.id IS NOT NULL AND r.schedule_id = page.schedule_id AND r.status IN ('succeeded', 'failed')
    ORDER BY r.id DESC LIMIT 1
) AS told ON true
ORDER BY page.name;

-- name: summarize_schedules
SELECT
    s.*,
    (SELECT r.id FROM tickbird.runs AS r WHERE r.schedule_id = s.id ORDER BY r.id DESC LIMIT 1) AS last_run_id,
    {last_run_at} AS last_run_at,
    {failure_streak} AS failure_streak,
    {held_runs} AS held
FROM tickbird.schedule_details AS s
WHERE s.id = ANY(%(ids)s::bigint[]);

-- name: streaks
-- Of failing schedules: the number of failures since the last success, and their start.
SELECT s.name, count(*)::integer, min(f.finished_at), max(f.id)
FROM tickbird.schedules AS s
JOIN tickbird.cursors AS c ON c.schedule_id = s.id AND c.state <> 'deleted'
CROSS JOIN LATERAL ({ended_runs}) AS f
WHERE s.id = ANY(%(ids)s::bigint[]) AND f.good = 0
GROUP BY s.name
ORDER BY max(f.id) DESC
LIMIT %(limit)s;

-- fragment: first_start
-- The start of the first attempt of a run n.
CASE
    WHEN n.attempt > 1
        THEN coalesce((SELECT min(a.started_at) FROM tickbird.attempts AS a WHERE a.run_id = n.id), n.started_at)
    ELSE n.started_at
END

-- name: run_points
-- The newest of each schedule; of these, the ones that overlap the requested range.
SELECT r.*
FROM unnest(%(ids)s::bigint[]) AS wanted(id)
CROSS JOIN LATERAL (
    SELECT schedule_id, id, status, origin, scheduled_for, due_at, {first_start} AS started_at, finished_at
    FROM tickbird.runs AS n
    WHERE schedule_id = wanted.id
    ORDER BY id DESC
    LIMIT %(each)s
) AS r
WHERE (r.finished_at IS NULL OR r.finished_at >= coalesce(%(first)s::timestamptz, '-infinity'))
    AND r.due_at <= coalesce(%(last)s::timestamptz, 'infinity');

-- name: skip_points
SELECT s.*
FROM unnest(%(ids)s::bigint[]) AS wanted(id)
CROSS JOIN LATERAL (
    SELECT schedule_id, id, reason, first_at, last_at, count
    FROM tickbird.skips
    WHERE schedule_id = wanted.id
    ORDER BY last_at DESC
    LIMIT %(each)s
) AS s
WHERE s.last_at >= coalesce(%(first)s::timestamptz, '-infinity')
    AND s.first_at <= coalesce(%(last)s::timestamptz, 'infinity');

-- name: active_schedules
-- Schedules with runs in a range: failed ones first, then running ones, then the others, most recently active first.
WITH seen AS MATERIALIZED (
    (
        SELECT schedule_id, namespace, finished_at AS at, status = 'failed' AS failed, false AS running
        FROM tickbird.runs
        WHERE status IN ('succeeded', 'failed', 'cancelled')
            AND (namespace, finished_at) >= (%(namespace)s, %(first)s::timestamptz)
            AND (namespace, finished_at) <= (%(namespace)s, 'infinity'::timestamptz)
        ORDER BY namespace DESC, finished_at DESC
        LIMIT %(maximum)s
    )
    UNION ALL
    (
        SELECT schedule_id, namespace, started_at, false, true
        FROM tickbird.runs
        WHERE status = 'running' AND lease_until IS NOT NULL
        LIMIT %(maximum)s
    )
    UNION ALL
    (
        SELECT schedule_id, namespace, available_at, false, false
        FROM tickbird.runs
        WHERE status = 'queued' AND namespace = %(namespace)s AND available_at <= %(last)s
        LIMIT %(maximum)s
    )
    UNION ALL
    (
        SELECT k.schedule_id, s.namespace, k.decided_at, false, false
        FROM (
            SELECT schedule_id, decided_at FROM tickbird.skips
            WHERE decided_at >= %(first)s
            ORDER BY decided_at DESC
            LIMIT %(maximum)s
        ) AS k
        JOIN tickbird.schedules AS s ON s.id = k.schedule_id
    )
)
SELECT schedule_id
FROM seen
WHERE namespace = %(namespace)s AND schedule_id IS NOT NULL
GROUP BY schedule_id
ORDER BY bool_or(failed) DESC, bool_or(running) DESC, max(at) DESC, schedule_id
LIMIT %(limit)s;

-- name: upcoming_schedules
SELECT c.schedule_id
FROM (
    SELECT schedule_id, next_run_at FROM tickbird.cursors
    WHERE next_run_at <= %(last)s
    ORDER BY next_run_at, schedule_id
    LIMIT %(maximum)s
) AS c
JOIN tickbird.schedules AS s ON s.id = c.schedule_id
WHERE s.namespace = %(namespace)s
ORDER BY c.next_run_at, c.schedule_id
LIMIT %(limit)s;

-- name: timings
SELECT schedule_id, id, status, due_at, {first_start} AS started_at, finished_at
FROM (
    SELECT * FROM tickbird.runs
    WHERE status IN ('succeeded', 'failed', 'cancelled')
        AND (namespace, finished_at) >= (%(namespace)s, %(since)s::timestamptz)
        AND (namespace, finished_at) <= (%(namespace)s, 'infinity'::timestamptz)
    ORDER BY namespace DESC, finished_at DESC, id DESC
    LIMIT %(maximum)s
) AS n
WHERE started_at IS NOT NULL AND due_at >= %(since)s
ORDER BY finished_at DESC, id DESC
LIMIT %(limit)s;

-- name: timings_of
SELECT schedule_id, id, status, due_at, {first_start} AS started_at, finished_at
FROM (
    SELECT * FROM tickbird.runs
    WHERE schedule_id = %(schedule_id)s AND namespace = %(namespace)s
    ORDER BY id DESC
    LIMIT %(maximum)s
) AS n
WHERE started_at IS NOT NULL AND due_at >= %(since)s
ORDER BY id DESC
LIMIT %(limit)s;

-- name: errors_of
SELECT id, left(coalesce(error, ''), 10000) FROM tickbird.runs WHERE id = ANY(%(ids)s::bigint[]);

-- name: load_page
SELECT
    s.id,
    s.name,
    jsonb_strip_nulls(jsonb_build_object(
        'v', 1,
        'target', '{"task": "any"}'::jsonb,
        'trigger', s.definition -> 'trigger',
        'spread', s.definition -> 'spread',
        'start_at', s.definition -> 'start_at',
        'end_at', s.definition -> 'end_at',
        'exclude', s.definition -> 'exclude',
        'calendars', s.definition -> 'calendars',
        'closed', s.definition -> 'closed',
        'roll', s.definition -> 'roll'
    ))::text AS definition,
    coalesce(s.definition ->> 'queue', 'default') AS queue,
    c.next_run_at,
    CASE WHEN %(durations)s THEN (
        SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY date_part('epoch', r.finished_at - r.started_at))
        FROM (
            SELECT status, {first_start} AS started_at, finished_at
            FROM tickbird.runs AS n
            WHERE schedule_id = s.id
            ORDER BY id DESC LIMIT 20
        ) AS r
        WHERE r.status = 'succeeded'
    ) END AS duration
FROM (
    SELECT id, name, namespace, definition FROM tickbird.schedules WHERE id > %(after)s ORDER BY id
) AS s
-- A bound on both sides: a late page must not start with the first cursor.
JOIN tickbird.cursors AS c ON c.schedule_id = s.id AND c.schedule_id > %(after)s
WHERE s.namespace = %(namespace)s AND c.state = 'active' AND NOT s.definition @> '{"shadow": true}'
ORDER BY s.id
LIMIT %(limit)s;

-- name: key_of_run
SELECT idempotency_key FROM tickbird.runs WHERE id = %(id)s AND namespace = %(namespace)s;

-- Pages of the audit log: at most `maximum` entries are read. The last of these is returned even if it does not match, so
-- that the next page can start after it.

-- fragment: audit_columns
id, created_at, actor, action, schedule, run_id, detail

-- fragment: audit_filter
(%(actor)s = '' OR strpos(lower(actor), lower(%(actor)s)) > 0)
    AND (%(action)s::text IS NULL OR action = %(action)s)
    AND (%(since)s::timestamptz IS NULL OR created_at >= %(since)s)
    AND (%(until)s::timestamptz IS NULL OR created_at < %(until)s)

-- fragment: audit_page
SELECT {audit_columns}, place, wanted FROM seen
WHERE wanted OR place = %(maximum)s
LIMIT %(limit)s

-- fragment: of_schedule
schedule_id = (
    SELECT i.id FROM tickbird.schedule_ids AS i WHERE i.namespace = %(namespace)s AND i.name = %(schedule)s
)

-- fragment: before
coalesce(%(before)s::bigint, 9223372036854775807)

-- name: find_audit
WITH seen AS (
    SELECT {audit_columns}, row_number() OVER (ORDER BY id DESC) AS place, {audit_filter} AS wanted
    FROM tickbird.audit_log
    WHERE namespace = %(namespace)s AND id < {before}
    ORDER BY id DESC
    LIMIT %(maximum)s
)
{audit_page};

-- name: find_audit_after
WITH seen AS (
    SELECT {audit_columns}, row_number() OVER (ORDER BY id) AS place, {audit_filter} AS wanted
    FROM tickbird.audit_log
    WHERE namespace = %(namespace)s AND id > %(after)s::bigint
    ORDER BY id
    LIMIT %(maximum)s
)
{audit_page};

-- name: find_audit_of
WITH seen AS (
    SELECT {audit_columns}, row_number() OVER (ORDER BY id DESC) AS place, {audit_filter} AS wanted
    FROM tickbird.audit_log
    WHERE {of_schedule} AND id < {before}
    ORDER BY id DESC
    LIMIT %(maximum)s
)
{audit_page};

-- name: find_audit_of_after
WITH seen AS (
    SELECT {audit_columns}, row_number() OVER (ORDER BY id) AS place, {audit_filter} AS wanted
    FROM tickbird.audit_log
    WHERE {of_schedule} AND id > %(after)s::bigint
    ORDER BY id
    LIMIT %(maximum)s
)
{audit_page};

-- name: last_lines
SELECT run_id, attempt, number, logged_at, level, text
FROM tickbird.run_logs
WHERE run_id = %(id)s AND (attempt, number) < (%(attempt)s, %(number)s)
ORDER BY attempt DESC, number DESC
LIMIT %(limit)s;
