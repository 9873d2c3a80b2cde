-- The ledger: every decision about a tick, in narrow rows and whole seconds.

-- name: ledger_runs
SELECT floor(extract(epoch FROM scheduled_for))::bigint, revision, origin, id
FROM tickbird.runs
WHERE schedule_id = %(schedule_id)s
    AND origin IN ('schedule', 'catch_up', 'backfill')
    AND scheduled_for BETWEEN %(runs_from)s AND %(last)s
ORDER BY scheduled_for
LIMIT %(limit)s;

-- name: ledger_skips
SELECT extract(epoch FROM first_at)::bigint, extract(epoch FROM last_at)::bigint, count, revision, reason, id
FROM tickbird.skips
WHERE schedule_id = %(schedule_id)s AND last_at >= %(skips_from)s AND first_at <= %(last)s
ORDER BY last_at
LIMIT %(limit)s;

-- name: pruned_until
SELECT extract(epoch FROM until)::bigint FROM tickbird.pruned WHERE schedule_id = %(schedule_id)s;
