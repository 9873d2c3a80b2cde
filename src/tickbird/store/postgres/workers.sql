-- Workers: the live ones, the tasks that they serve and the schedules that their code declares.

-- name: heartbeat
INSERT INTO tickbird.workers AS w (
    id, namespace, app, kind, coordination, host, pid, version, queues, slots, tasks, declared, draining, standby_reason,
    health, started_at, last_heartbeat_at, live_until
)
SELECT
    %(id)s, %(namespace)s, %(app)s, %(kind)s, %(coordination)s, %(host)s, %(pid)s, %(version)s, %(queues)s::text[],
    %(slots)s, %(tasks)s, %(declared)s, %(draining)s, %(standby_reason)s, %(health)s, coalesce(%(started_at)s::timestamptz, c.now), c.now,
    c.now + make_interval(secs => %(live_for)s)
FROM (SELECT coalesce(%(now)s::timestamptz, statement_timestamp()) AS now) AS c
ON CONFLICT (id) DO UPDATE
SET namespace = excluded.namespace,
    app = excluded.app,
    kind = excluded.kind,
    coordination = excluded.coordination,
    host = excluded.host,
    pid = excluded.pid,
    version = excluded.version,
    queues = excluded.queues,
    slots = excluded.slots,
    tasks = excluded.tasks,
    declared = excluded.declared,
    draining = excluded.draining,
    standby_reason = excluded.standby_reason,
    health = excluded.health,
    last_heartbeat_at = excluded.last_heartbeat_at,
    live_until = excluded.live_until
RETURNING
    last_heartbeat_at,
    ARRAY(
        SELECT o.id FROM tickbird.workers AS o
        WHERE o.namespace = w.namespace AND o.app = w.app AND o.id <> w.id AND o.live_until > w.last_heartbeat_at
    ),
    coalesce((SELECT max(generation) FROM tickbird.zone_data), 0),
    (SELECT value FROM tickbird.meta WHERE key = 'identity'),
    (SELECT value FROM tickbird.meta WHERE key = 'version'),
    (SELECT value FROM tickbird.meta WHERE key = 'min_compatible'),
    coalesce(drain_requested_by, ''),
    (
        SELECT count(*)::integer FROM tickbird.workers AS o
        WHERE o.id <> w.id AND o.kind IN ('worker', 'planner') AND NOT o.draining AND o.live_until > w.last_heartbeat_at
    ) + (kind IN ('worker', 'planner') AND NOT draining)::integer;

-- fragment: worker_columns
id, namespace, app, kind, coordination, host, pid, version, queues, slots, tasks, declared, draining, standby_reason,
    health, started_at, last_heartbeat_at, live_until, drain_requested_at, drain_requested_by

-- name: find_worker
SELECT {worker_columns}
FROM tickbird.workers
WHERE id = %(id)s AND namespace = %(namespace)s AND live_until > coalesce(%(now)s::timestamptz, statement_timestamp())
FOR UPDATE;

-- name: drain_worker
UPDATE tickbird.workers
SET drain_requested_at = coalesce(%(now)s::timestamptz, statement_timestamp()), drain_requested_by = %(actor)s
WHERE id = %(id)s
RETURNING drain_requested_at;

-- name: call_for_heartbeats
-- Workers must get the result of a heartbeat now, not only when the next one is due.
SELECT pg_notify('tickbird', 'schema');

-- name: remove_worker
DELETE FROM tickbird.workers WHERE id = %(id)s;

-- name: published_task
-- As text, which every driver reads the same way; from the worker that started last, which has the newest code.
SELECT CAST(tasks -> CAST(%(task)s AS text) AS text)
FROM tickbird.workers
WHERE namespace = CAST(%(namespace)s AS text)
    AND live_until > statement_timestamp()
    AND tasks -> CAST(%(task)s AS text) IS NOT NULL
ORDER BY started_at DESC, id DESC
LIMIT 1;

-- name: list_workers
SELECT {worker_columns}
FROM tickbird.workers
WHERE namespace = %(namespace)s AND live_until > coalesce(%(now)s::timestamptz, statement_timestamp())
ORDER BY started_at, id;

-- name: list_lost_workers
SELECT {worker_columns}
FROM tickbird.workers
WHERE namespace = %(namespace)s
    AND live_until <= coalesce(%(now)s::timestamptz, statement_timestamp())
    AND live_until > coalesce(%(now)s::timestamptz, statement_timestamp()) - interval '1 day'
ORDER BY live_until DESC, id
LIMIT 100;

-- name: snapshot_workers
SELECT c.clock, {worker_columns}
FROM (SELECT coalesce(%(now)s::timestamptz, statement_timestamp()) AS clock) AS c
LEFT JOIN tickbird.workers AS w ON w.namespace = %(namespace)s AND w.live_until > c.clock
ORDER BY started_at, id;
