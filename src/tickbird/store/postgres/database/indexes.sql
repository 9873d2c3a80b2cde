-- Indexes that no code relies on to be right, only to be quick: `migrate` builds those that are missing, one at a time,
-- while everybody works on. A table of ten million runs is not locked for the minute that this may take.

-- name: runs_unwell
CREATE INDEX CONCURRENTLY runs_unwell ON tickbird.runs (namespace, status, id)
    WHERE status IN ('failed', 'cancelled');

-- name: runs_unwell_of_schedule
CREATE INDEX CONCURRENTLY runs_unwell_of_schedule ON tickbird.runs (schedule_id, status, id)
    WHERE status IN ('failed', 'cancelled');

-- name: runs_covering
CREATE INDEX CONCURRENTLY runs_covering ON tickbird.runs (schedule_id, covers_last) WHERE covers_last IS NOT NULL;

-- name: attempts_by_age
CREATE INDEX CONCURRENTLY attempts_by_age ON tickbird.attempts (ended_at);

-- name: cursors_at_rest
CREATE INDEX CONCURRENTLY cursors_at_rest ON tickbird.cursors (state, schedule_id)
    WHERE state IN ('paused', 'parked', 'ended', 'deleted');

-- name: runs_of_namespace
CREATE INDEX CONCURRENTLY runs_of_namespace ON tickbird.runs (namespace, id);

-- name: runs_ended
CREATE INDEX CONCURRENTLY runs_ended ON tickbird.runs (namespace, finished_at, id)
    WHERE status IN ('succeeded', 'failed', 'cancelled');

-- name: runs_retried
CREATE INDEX CONCURRENTLY runs_retried ON tickbird.runs (schedule_id, revision) WHERE retry_of IS NOT NULL;

-- name: schedules_edited
CREATE INDEX CONCURRENTLY schedules_edited ON tickbird.schedules (id) WHERE revision > 100;
