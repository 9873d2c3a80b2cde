-- Workers: the live ones, and the schedules that they declare.

-- name: heartbeat
INSERT INTO workers (
    id, namespace, app, kind, coordination, host, pid, version, queues, slots, tasks, declared, draining, standby_reason,
    health, started_at, last_heartbeat_at, live_until
)
VALUES (
    :id, :namespace, :app, :kind, :coordination, :host, :pid, :version, :queues, :slots, :tasks, :declared, :draining,
    :standby_reason, :health, coalesce(:started_at, :now), :now, :live_until
)
ON CONFLICT (id) DO UPDATE
SET queues = excluded.queues,
    slots = excluded.slots,
    tasks = excluded.tasks,
    declared = excluded.declared,
    draining = excluded.draining,
    standby_reason = excluded.standby_reason,
    health = excluded.health,
    last_heartbeat_at = excluded.last_heartbeat_at,
    live_until = excluded.live_until
RETURNING coalesce(drain_requested_by, '');

-- name: find_worker
SELECT
    id, namespace, app, kind, coordination, host, pid, version, queues, slots, tasks, declared, draining, started_at,
    last_heartbeat_at, live_until, standby_reason, health, drain_requested_at, drain_requested_by
FROM workers
WHERE id = :id AND namespace = :namespace AND live_until > :now;

-- name: drain_worker
UPDATE workers SET drain_requested_at = :now, drain_requested_by = :actor WHERE id = :id;

-- name: call_for_heartbeats
UPDATE counters SET value = value + 1 WHERE name IN ('heartbeat_requests', 'wakeups');

-- name: delete_lost_workers
DELETE FROM workers WHERE live_until < :cutoff;

-- name: list_peers
SELECT id FROM workers WHERE namespace = :namespace AND app = :app AND id <> :id AND live_until > :now;

-- name: remove_worker
DELETE FROM workers WHERE id = :id;

-- name: published_tasks
-- The worker that started last has the newest code.
SELECT tasks FROM workers WHERE namespace = :namespace AND live_until > :now ORDER BY started_at DESC, id DESC;

-- name: list_lost_workers
SELECT
    id, namespace, app, kind, coordination, host, pid, version, queues, slots, tasks, declared, draining, started_at,
    last_heartbeat_at, live_until, standby_reason, health, drain_requested_at, drain_requested_by
FROM workers
WHERE namespace = :namespace AND live_until <= :now AND live_until > :cutoff
ORDER BY live_until DESC, id
LIMIT 100;

-- name: list_workers
SELECT
    id, namespace, app, kind, coordination, host, pid, version, queues, slots, tasks, declared, draining, started_at,
    last_heartbeat_at, live_until, standby_reason, health, drain_requested_at, drain_requested_by
FROM workers
WHERE namespace = :namespace AND live_until > :now
ORDER BY started_at, id;
