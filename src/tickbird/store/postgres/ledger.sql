-- The ledger: every decision about a tick, in narrow rows and whole seconds.

-- name: ledger_runs
SELECT tickbird.epoch_seconds(scheduled_for), revision, origin, tickbird.epoch_seconds(created_at), id
FROM tickbird.runs
WHERE schedule_id = %(schedule_id)s
    AND origin IN ('schedule', 'catch_up', 'backfill')
    AND scheduled_for BETWEEN %(runs_from)s AND %(last)s
ORDER BY scheduled_for
LIMIT %(limit)s;

-- name: ledger_skips
SELECT
    tickbird.epoch_seconds(first_at), tickbird.epoch_seconds(last_at), count, revision, reason,
    tickbird.epoch_seconds(decided_at), id
FROM tickbird.skips
WHERE schedule_id = %(schedule_id)s AND last_at >= %(skips_from)s AND first_at <= %(last)s
ORDER BY last_at
LIMIT %(limit)s;

-- name: pruned_until
SELECT tickbird.epoch_seconds(pruned_until) FROM tickbird.prune_horizons WHERE schedule_id = %(schedule_id)s;
