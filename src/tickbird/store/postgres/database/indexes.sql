-- Indexes for speed only. migrate builds the missing ones with CREATE INDEX CONCURRENTLY, one at a time, so that workers keep
-- writing.

-- name: runs_unsuccessful_idx
CREATE INDEX CONCURRENTLY runs_unsuccessful_idx ON tickbird.runs (namespace, status, id)
    WHERE status IN ('failed', 'cancelled');

-- name: runs_schedule_unsuccessful_idx
CREATE INDEX CONCURRENTLY runs_schedule_unsuccessful_idx ON tickbird.runs (schedule_id, status, id)
    WHERE status IN ('failed', 'cancelled');

-- name: runs_covers_last_idx
CREATE INDEX CONCURRENTLY runs_covers_last_idx ON tickbird.runs (schedule_id, covers_last) WHERE covers_last IS NOT NULL;

-- name: attempts_ended_at_idx
CREATE INDEX CONCURRENTLY attempts_ended_at_idx ON tickbird.attempts (ended_at);

-- name: cursors_inactive_idx
CREATE INDEX CONCURRENTLY cursors_inactive_idx ON tickbird.cursors (state, schedule_id)
    WHERE state IN ('paused', 'parked', 'ended', 'deleted');

-- name: runs_namespace_idx
CREATE INDEX CONCURRENTLY runs_namespace_idx ON tickbird.runs (namespace, id);

-- name: runs_namespace_finished_at_idx
CREATE INDEX CONCURRENTLY runs_namespace_finished_at_idx ON tickbird.runs (namespace, finished_at, id)
    WHERE status IN ('succeeded', 'failed', 'cancelled');

-- name: runs_retries_idx
CREATE INDEX CONCURRENTLY runs_retries_idx ON tickbird.runs (schedule_id, revision) WHERE retry_of IS NOT NULL;

-- name: schedules_prunable_revisions_idx
CREATE INDEX CONCURRENTLY schedules_prunable_revisions_idx ON tickbird.schedules (id) WHERE revision > 100;

-- name: runs_queued_target_idx
-- In the order of claims. A claim jumps from one (queue, kind and name of the target, scheduled or ad hoc, priority) to the
-- next; within each, deferred runs come last. It replaces runs_queued_idx, which workers of schema 2 use.
CREATE INDEX CONCURRENTLY runs_queued_target_idx ON tickbird.runs (
    namespace, queue, target_kind, target, (((schedule_id IS NULL))::integer), priority, deferred_until_minute, available_at,
    id
) WHERE status = 'queued';
